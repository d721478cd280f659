"""Read CSV and TSV of any origin in blocks of rows: answers, a curator's records, and reports.

In UTF-8, with or without a byte order mark, with lines in LF, CR LF or CR. Messages name line and column, never a cell.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import BinaryIO

from sottovoce.aggregator.file_formats.cell_columns import CodedCells, text_cells
from sottovoce.shared.errors import Sentence, SpecError

CHUNK = 1 << 15
LONGEST_LINE = 1 << 16
_BATCH_BYTES = 1 << 20


def wrong_at(place: str, reason: str) -> SpecError:
    """Return the error of a place in a file, whose reason can be translated."""
    return SpecError(Sentence("{place}: {reason}", place=place, reason=reason))


class DelimitedFile:
    """A file of cells, whose header is read at once and whose rows are read in blocks.

    Attributes:
        comments: lines above the header that begin with #, each with its place.
        names: cells of the header as they are; empty for an empty file.
        line: line that the header ends in, from 1.
        header, row: place of the header, and of a row before its line, in messages.
        delimiter: as given, or recognized in the header.
    """

    def __init__(self, file: BinaryIO, name: str, delimiter: str = "", comments: bool = True,
                 skip_blank: bool = False) -> None:  # fmt: skip
        """Read the header; raise SpecError, which names the line, if it cannot be read.

        Args:
            file: open at its beginning, and seekable.
            name: of the file, for messages.
            delimiter: between the cells; "" for a comma, a semicolon or a tab, whichever the header has, or ``sep=``.
            comments: lines with # and blank lines may stand above the header.
            skip_blank: blank lines may stand below it.
        """
        self.name, self.delimiter, self._skip_blank = name, delimiter, skip_blank
        self.comments: list[tuple[str, str]] = []
        self.row = f"{name}, line"
        self.names: list[str] = []
        self._source = self._lines(_with_line_feeds(file))
        above, first = 1, next(self._source, "")
        while comments and first and (first.startswith("#") or not first.strip()):
            self.comments += [(f"{self.row} {above}", first)] * first.startswith("#")
            above, first = above + 1, next(self._source, "")
        if not delimiter and first[:4].lower() == "sep=":
            self.delimiter = first[4:5]
            above, first = above + 1, next(self._source, "")
        if not self.delimiter.strip(" \r\n"):
            self.delimiter = "\t" if "\t" in first else ";" if first.count(";") > first.count(",") else ","
        self._above, self.line = above - 1, above
        self._reader = csv.reader(chain([first], self._source), delimiter=self.delimiter, strict=True)
        self.names = next(iter(self._rows(1)), [])
        self.line = self._above + self._reader.line_num
        self.header = f"{self.row} {self.line}"

    def columns(self, names: Sequence[str]) -> Iterator[tuple[Sequence[int], list[CodedCells]]]:
        """Yield the lines of rows, and their cells in these columns; raise as ``blocks`` does."""
        places = [*map(self.names.index, names)]
        for lines, rows in self.blocks():
            cells = [*zip(*rows, strict=True)]
            yield lines, [text_cells(cells[place]) for place in places]

    def counted(self, names: Sequence[str]) -> Iterator[tuple[int, list[CodedCells]]]:
        """Yield how often each row stands there, which is once, and the cells in these columns."""
        return ((1, cells) for _, cells in self.columns(names))

    def blocks(self) -> Iterator[tuple[Sequence[int], list[list[str]]]]:
        """Yield rows, which have as many cells as the header, and the line of each.

        Raises SpecError, which names line and, if it is known, column, for what is not UTF-8 or no CSV, for a row of
        another length, and for a blank line unless these are to be skipped.
        """
        width = len(self.names)
        while True:
            first = self._above + self._reader.line_num + 1
            rows = self._rows(CHUNK)
            if not rows:
                return
            lines = _lines_of(rows, first, self._above + self._reader.line_num + 1)
            if self._skip_blank and (width == 1 or [*map(len, rows)].count(width) < len(rows)):
                # A row of one empty cell looks like a blank line.
                filled = [place for place, row in enumerate(rows) if len(row) > 1 or any(map(str.strip, row))]
                lines, rows = [lines[place] for place in filled], [rows[place] for place in filled]
            lengths = [*map(len, rows)]
            if lengths.count(width) < len(rows):
                line, length = next(each for each in zip(lines, lengths, strict=True) if each[1] != width)
                cells = Sentence("{count} cells where the header has {width}", count=str(length), width=str(width))
                raise wrong_at(f"{self.name}, line {line}", cells if length else "is empty")
            if rows:
                yield lines, rows

    def _rows(self, count: int) -> list[list[str]]:
        try:
            return list(islice(self._reader, count))
        except csv.Error:
            line = self._above + self._reader.line_num
            raise wrong_at(f"{self.name}, line {line}", "cannot be read as CSV; check the quotation marks") from None

    def _lines(self, file: BinaryIO) -> Iterator[str]:
        """Yield the lines, decoded many at once below the header."""
        number = 1
        while batch := file.readlines(_BATCH_BYTES if self.names else 1):
            yield from io.StringIO(self._decoded(batch, number))
            number += len(batch)

    def _decoded(self, batch: Sequence[bytes], first: int) -> str:
        joined = b"".join(batch)
        if first == 1 and joined[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            raise wrong_at(f"{self.name}, line 1", "the file is in UTF-16; save it as CSV in UTF-8")
        if max(map(len, batch)) >= LONGEST_LINE:
            number = first + next(place for place, line in enumerate(batch) if len(line) >= LONGEST_LINE)
            raise wrong_at(
                f"{self.name}, line {number}", Sentence("is longer than {most} bytes", most=LONGEST_LINE - 1)
            )
        if b"\0" in joined:
            number = first + next(place for place, line in enumerate(batch) if b"\0" in line)
            raise wrong_at(f"{self.name}, line {number}", "cannot be read as CSV")
        try:
            return joined.decode("utf-8-sig" if first == 1 else "utf-8")
        except UnicodeDecodeError as error:
            ends = accumulate(map(len, batch))
            place = next(place for place, end in enumerate(ends) if end > error.start)
            before = joined[sum(map(len, batch[:place])) : error.start].decode()
            where = f"{self.name}, line {first + place}{self._column(before)}"
            raise wrong_at(where, "is not UTF-8; save the whole file as CSV in UTF-8") from None

    def _column(self, before: str) -> str:
        """Return the column of a place in a line, in words, by the text before it."""
        place = len(next(csv.reader([before], delimiter=self.delimiter), [])) - 1 if before else 0
        return f", column '{self.names[place]}'" if place < len(self.names) else ""


def _lines_of(rows: Sequence[Sequence[str]], first: int, after: int) -> Sequence[int]:
    """Return the line of each row: one after the other, unless a cell has several lines."""
    if after - first == len(rows):
        return range(first, after)
    return [*accumulate((1 + sum(cell.count("\n") for cell in row) for row in rows[:-1]), initial=first)]


def _with_line_feeds(file: BinaryIO) -> BinaryIO:
    """Return the file, or, of old programs whose lines end in CR, its bytes with LF in their place."""
    beginning = file.read(LONGEST_LINE)
    file.seek(0)
    return io.BytesIO(file.read().replace(b"\r", b"\n")) if b"\r" in beginning and b"\n" not in beginning else file
