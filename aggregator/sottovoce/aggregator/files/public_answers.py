"""
The public answers of a closed survey as a curator's data set: declared by its canonical survey, read from the database.

Public answers are not randomized, so that a table of them can name a person. Through the budget they get central noise.
The data set is named by the survey's digest: whoever opens the survey again and closes it has the same budget, and the
records of then and now share it. What was not asked, or answered before a revision asked it, is ``other``, or the
middle of the grid.
"""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import numpy as np
from sottovoce.aggregator.access.journal import snapshot_of
from sottovoce.aggregator.closed import check_closed
from sottovoce.aggregator.curator.budget import ENDING, Budget
from sottovoce.aggregator.curator.declaration import Categories, Declaration, Kind, Number
from sottovoce.aggregator.curator.heads import Heads
from sottovoce.aggregator.curator.records import Records, Values
from sottovoce.aggregator.files.data_set import DataSet, kept_heads
from sottovoce.aggregator.files.reports import Column, read_reports
from sottovoce.aggregator.results.analysis import revisions_of
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.columns import is_null
from sottovoce.aggregator.storage.journal_words import MACHINE, RESULTS_READ
from sottovoce.shared.errors import StorageError
from sottovoce.shared.spec import Question, Survey

FOLDER = "budgets"
"""In the data folder; the heads are elsewhere."""


def survey_declaration(survey: Survey) -> Declaration:
    """
    What the public answers of a survey may be.

    Raises:
        StorageError: it has no public question.
    """
    kinds = {question.name: _kind(question) for question in survey.questions if question.mechanism is None}
    used = {name: kind for name, kind in kinds.items() if kind is not None}
    if not used:
        raise StorageError("the survey has no public question whose answers could be published")
    return Declaration("one report", used)


def _kind(question: Question) -> Kind | None:
    domain = question.domain
    if domain.grid is not None and not domain.options:
        low, step = domain.grid.low, domain.grid.step
        return Number(low, domain.grid.high, step, low + domain.steps // 2 * step)
    return Categories(domain.options) if domain.options and domain.grid is None else None


def survey_data_set(storage: Storage, name: str, now: datetime, data: Path, heads: str) -> DataSet:
    """
    The public answers of a survey, under its budget.

    Args:
        storage: the database.
        name: of the survey.
        now: the present moment.
        data: the data folder, in which budgets lie.
        heads: the folder of heads, as the setting names it.

    Raises:
        EstimateError: there is no such survey, or it is not closed.
        StorageError: it has no public question, or the folder of heads cannot be used.
    """
    revisions = revisions_of(storage, name)
    check_closed(storage, [each.stored for each in revisions], None, now)
    storage.journal.append_once(RESULTS_READ, MACHINE, f"{name} {snapshot_of(revisions)}")
    survey = revisions[-1].survey
    declared = survey_declaration(survey)
    path = budget_path(data, survey)
    kept = kept_heads(heads, data)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)

    def read(names: Sequence[str] | None) -> Records:
        reports = read_reports(storage, revisions, public=True)
        wanted = declared.columns if names is None else names
        columns = {each: _values(reports.columns[each], declared.column(each)) for each in wanted}
        return Records(len(reports), columns, {each: _missing(reports.columns[each]) for each in wanted})

    return DataSet(read, declared, _budget(path, survey, declared, kept))


def _budget(path: Path, survey: Survey, declared: Declaration, heads: Heads) -> Budget:
    return Budget(path, hashlib.sha256(survey.digest.encode()).hexdigest(), declared.digest, heads)


def budget_path(data: Path, survey: Survey) -> Path:
    """Where the budget of a survey lies, if there is one."""
    return data / FOLDER / f"{survey.name}-{survey.digest[:16]}{ENDING}"


def check_no_budget(survey: Survey, data: Path) -> None:
    """
    Refuse exact public answers where noisy ones were published: both together would undo the noise.

    Raises:
        StorageError: the survey has a budget.
    """
    if budget_path(data, survey).exists():
        told = "sottovoce curator with --survey answers questions about its public answers"
        raise StorageError(f"a budget for this survey's public answers was opened; {told}")


def _values(column: Column, kind: Kind) -> Values:
    missing = is_null(column)
    values: Values = np.where(missing, kind.place("").value, np.where(missing, 0, column).astype(np.int64))
    return values


def _missing(column: Column) -> int:
    return int(np.count_nonzero(is_null(column)))
