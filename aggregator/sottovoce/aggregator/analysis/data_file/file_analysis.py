"""Analyze an uploaded file, in the process that computes analyses: the server's own process never reads the file.

columns    names of the columns, with their values, and the channels that stand beside them
shares     the same, with the shares of all columns, and the columns as questions
others     tables and models, as ``requests`` has them
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

from sottovoce.aggregator.analysis.data_file.answer_codes import decode_codes
from sottovoce.aggregator.analysis.data_file.data_columns import (
    CHANNEL,
    data_columns,
    described_questions,
    is_attribute_column,
)
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, read_bytes
from sottovoce.aggregator.analysis.data_file.shares import shares_of_file
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.shared.by_link.link_question import parse_link
from sottovoce.shared.errors import EstimateError, SpecError

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
