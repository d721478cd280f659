"""Release noisy tables of a survey's public answers under the survey's budget, and write them from its ledger; count
sample uniques in public answers, to warn before a file with them is written.

Files are made from the ledger's entries alone, for every command and page. Writing a file draws no noise, reads no
report and costs nothing.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, ReportedColumn
from sottovoce.aggregator.curator.budget import Answered
from sottovoce.aggregator.curator.data.data_set import DataSet
from sottovoce.aggregator.curator.data.useless_answers import useless_words
from sottovoce.aggregator.curator.declaration import Declaration, NumberColumn
from sottovoce.aggregator.curator.ledger.ledger_format import PLAN, ReleaseLedger, parse_ledger
from sottovoce.aggregator.curator.questions import CuratorQuestion, cell_names, histogram_question, number_question
from sottovoce.aggregator.curator.reidentification import MOST_COLUMNS, unique_in_some
from sottovoce.aggregator.curator.release import Neighbours, ReleaseTerms
from sottovoce.aggregator.curator.text_report import answer_document, budget_document, entry_document
from sottovoce.aggregator.file_formats.csv_cells import write_csv
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-release/1"
MOST_POINTS = 1000
"""Number of grid steps from which a number is published as a mean instead of a histogram."""

COLUMNS = ("entry", "verb", "columns", "cell", "value", "error_below", "epsilon", "neighbours")


def count_sample_uniques(reports: ReportColumns, survey: Survey) -> list[tuple[int, int]]:
    """Count reports unique in some combination of 1, 2 and 3 public answers: (answers known, unique reports)."""
    columns = _public(reports, survey)
    return [(known, int(unique_in_some(columns, known).sum())) for known in range(1, min(3, len(columns)) + 1)]


def in_words(reports: ReportColumns, survey: Survey) -> list[str]:
    """Return one sentence for each row of ``count_sample_uniques``."""
    return [
        f"Who knows {known} public answer{'s' * (known > 1)} of a person: {count:,} of {len(reports):,} people are the "
        f"only one with theirs, so that their whole report is found."
        for known, count in count_sample_uniques(reports, survey)
    ]


def _public(reports: ReportColumns, survey: Survey) -> list[ReportedColumn]:
    """Return the answered public columns; of too many, those with the most distinct answers."""
    columns = [reports.columns[q.name] for q in survey.questions if q.mechanism is None and q.name in reports.columns]
    answered = [column for column in columns if not is_null(column).all()]
    return sorted(answered, key=lambda column: -len(np.unique(column)))[:MOST_COLUMNS]


def release(data: DataSet, epsilon: Fraction, columns: Sequence[str] = ()) -> list[tuple[CuratorQuestion, Answered]]:
    """Release tables of public answers, or find them in the ledger: one for each question, or one of several questions.

    Args:
        epsilon: total for all tables, shared equally.
        columns: columns of one table; empty for one table for each public question.

    Raises:
        BudgetExhausted: a table costs more than is left; tables released before it stay published.
        StorageError: there is no budget, or its ledger is damaged.
    """
    asked = _tables_of(data.declaration, columns)
    return [(each, data.ask(each, epsilon / len(asked))) for each in asked]


def useless_tables(
    data: DataSet, epsilon: Fraction, columns: Sequence[str] = (), reports: int | None = None
) -> list[str]:
    """Say of each table that would say nothing why, and which epsilon would do, before anything is opened or charged.

    ``reports`` is the number of reports if the budget is not open yet, else None; other arguments are as of
    ``release``.
    """
    asked = _tables_of(data.declaration, columns)
    share = epsilon / len(asked)
    if reports is None:
        found = [data.useless(each, share) for each in asked]
    else:
        terms = ReleaseTerms(share, Neighbours.REPLACE)
        found = [useless_words(each, data.declaration, terms, reports) for each in asked]
    return [each for each in found if each]


def _tables_of(declared: Declaration, columns: Sequence[str]) -> list[CuratorQuestion]:
    apart = [] if columns else [_of_one(declared, name) for name in declared.columns]
    return apart or [histogram_question(declared, columns)]


def _of_one(declared: Declaration, name: str) -> CuratorQuestion:
    kind = declared.column(name)
    if isinstance(kind, NumberColumn) and kind.steps >= MOST_POINTS:
        return number_question("mean", declared, name)
    return histogram_question(declared, [name])


def answers_document(answers: Sequence[tuple[CuratorQuestion, Answered]]) -> dict[str, Any]:
    """Return the released tables as JSON, each as in the output of ``curator --json``."""
    return {"format": FORMAT, "tables": [answer_document(answered, question.names) for question, answered in answers]}


def released_document(lines: bytes, declared: Declaration, about: About) -> dict[str, Any]:
    """Return everything that was released of a survey's public answers as JSON; StorageError if a line was changed.

    Args:
        lines: lines of its ledger; their hash chain is checked, and the head in the anchor folder is not.
        declared: declaration of the public answers when the budget was opened.
        about: provenance, with the survey.
    """
    ledger = parse_ledger(lines)
    return {
        "format": FORMAT,
        "survey": about.survey.name,
        "digest": about.survey.digest,
        **budget_document(ledger),
        "tables": list(_tables(ledger, declared)),
    }


def _tables(ledger: ReleaseLedger, declared: Declaration) -> Iterator[dict[str, Any]]:
    for entry in ledger.entries:
        if entry.question["verb"] != PLAN:
            names = cell_names(declared, entry.question["columns"]) if entry.question["verb"] == "histogram" else []
            yield {"entry": entry.number, **entry_document(entry, names)}


def write_released_csv(path: Path, document: dict[str, Any], about: About) -> None:
    """Write the tables of ``released_document`` as CSV, one row for each number, with the columns ``COLUMNS``."""
    relation = document["budget"]["neighbours"]
    write_csv(path, about, COLUMNS, (row for table in document["tables"] for row in _rows(table, relation)))


def _rows(table: dict[str, Any], relation: str) -> Iterator[Sequence[object]]:
    asked = table["question"]
    before = (table["entry"], asked["verb"], " x ".join(asked.get("columns", [asked.get("column", "")])))
    after = (table["error"].get("t"), table["charge"]["epsilon"], relation)
    for key, value in table["values"].items():
        values = value if isinstance(value, list) else [value]
        names = table["names"] if len(table["names"]) == len(values) else [key] * len(values)
        yield from ((*before, name, each, *after) for name, each in zip(names, values, strict=True))
