"""Codes of a question that was asked by a link, in a column of a file: they become the columns of its answers."""

from dataclasses import replace

from sottovoce.aggregator.analysis.data_file.read_table import FileTable, TableColumn
from sottovoce.aggregator.file_formats.cell_columns import CodedCells
from sottovoce.shared.by_link.link_question import ONCE, LinkQuestion
from sottovoce.shared.errors import SpecError


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
