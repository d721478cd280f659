"""Analyze an uploaded file, in the process that computes analyses: the server's own process never reads the file.

columns    names of the columns, with their values, and the channels that stand beside them
shares     the same, with the shares of all columns, and the columns as questions
others     tables and models, as ``requests`` has them

A column may hold the codes of a question that was asked by a link: they become the columns of its answers.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

from sottovoce.aggregator.analysis.data_file.data_columns import (
    CHANNEL,
    data_columns,
    described_questions,
    is_attribute_column,
)
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, TableColumn, read_bytes
from sottovoce.aggregator.analysis.data_file.shares import shares_of_file
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.file_formats.cell_columns import CodedCells
from sottovoce.shared.by_link.link_question import ONCE, LinkQuestion, parse_link
from sottovoce.shared.errors import EstimateError, SpecError


def decode_codes(table: FileTable, link: LinkQuestion) -> FileTable:
    """Return the table with three columns for each question instead of the one that holds the codes.

    Raises:
        SpecError: no column holds codes of the question, or a cell beside them is none; the message names its line.
    """
    holders = [name for name, column in table.columns.items() if any(map(link.can_read, column.values))]
    if len(holders) != 1:
        count = "more than one column holds" if holders else "no column holds"
        raise SpecError(f"{table.file}: {count} codes of the question with digest {link.digest}")
    name, *_ = holders
    coded = table.columns[name]
    rows = []
    for text, row in zip(coded.values, coded.firsts, strict=True):
        try:
            rows.append(_cells(link, text))
        except ValueError as error:
            raise SpecError(f"{table.place(name, row)}: {error}; empty the cell, or the whole row") from None
    columns = {other: column for other, column in table.columns.items() if other != name}
    for decoded in dict.fromkeys(cell for cells in rows for cell in cells):
        if decoded in columns:
            raise SpecError(f"{table.file}: has a column '{decoded}' beside the codes of that question; rename it")
        columns[decoded] = TableColumn()
        columns[decoded].add(CodedCells([*(cells.get(decoded, "") for cells in rows), ""], coded.rows))
    return replace(table, columns=columns)


def _cells(link: LinkQuestion, code: str) -> dict[str, str]:
    reports, once = link.read(code)
    found: dict[str, str] = {}
    for asked, report in zip(link.asked, reports, strict=True):
        values = [""] * len(asked.questions) if report is None else asked.values_of(report)
        for question, value in zip(asked.questions, values, strict=True):
            found |= {question.name: value, f"{question.name}_channel": asked.channel}
            found[f"{question.name}_once"] = ONCE[once]
    return found


COLUMNS, SHARES = "columns", "shares"
SHOWN_VALUES = 5

Document = dict[str, Any]


@dataclass(frozen=True)
class UploadedFile:
    """A file as it was uploaded; its name tells the kind, and ``channels`` are text, by name of the column.

    ``links`` are canonical questions with ``then``, whose codes the file holds.
    """

    name: str
    data: bytes
    channels: Mapping[str, str]
    links: tuple[str, ...] = ()

    def table(self) -> FileTable:
        """Read the table in the file, with answers in the place of codes."""
        return reduce(decode_codes, map(parse_link, map(json.loads, self.links)), read_bytes(self.data, self.name))


@dataclass(frozen=True)
class FileAnalysis:
    """An analysis of an uploaded file: ``columns``, ``shares`` or a kind of request, with its options."""

    kind: str
    options: Mapping[str, Any]

    def document(self, file: UploadedFile) -> Document:
        """Read the file, run the analysis and return its document, or raise EstimateError, whose message says why."""
        try:
            if self.kind == COLUMNS:
                return _columns(file.table())
            if self.kind == SHARES:
                table = file.table()
                found = data_columns(table, file.channels)
                shares = shares_of_file(table, found)
                return {**_columns(table), "questions": described_questions(found), "shares": shares}
            columns = partial(data_columns, channels=file.channels)
            return parse_request(self.kind, dict(self.options)).of_file(file.table(), columns)
        except SpecError as error:
            told = [problem.message for problem in error.problems]
            raise EstimateError(told[0] if len(told) == 1 else "; ".join(told)) from None


def _columns(table: FileTable) -> Document:
    names = [name for name in table.columns if not is_attribute_column(name, table)]
    return {"rows": len(table), "notes": table.notes, "columns": [_column(table, name) for name in names]}


def _column(table: FileTable, name: str) -> Document:
    column, channels = table.columns[name], table.columns.get(f"{name}{CHANNEL}")
    frequent = Counter(column.rows[column.rows >= 0].tolist()).most_common(SHOWN_VALUES)
    return {
        "name": name,
        "different": len(column.values),
        # A column of names has as many texts as people, and showing some would help no choice of a channel.
        "values": [column.values[at][:60] for at, _ in frequent] if len(column.values) <= len(table) // 2 else [],
        "channels": [] if channels is None else channels.values[:SHOWN_VALUES],
    }
