"""A database with reports of a survey, and what its files are written from: for tests of files."""

import os
from collections.abc import Iterable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.export.catalogue import SINGLE, Source
from sottovoce.aggregator.planning.simulated_survey import invent, randomized
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws
from sottovoce.aggregator.storage import Cell, ReportBatch, Storage, StoragePlan, StoredSurvey
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.spec import Survey

from tests.vectors.tape import Tape

NOW = datetime(2026, 6, 15, tzinfo=UTC)
TODAY = 20_600


def published(folder: Path, *surveys: Survey) -> SQLiteStorage:
    storage = SQLiteStorage(folder / "sottovoce.sqlite")
    for survey in surveys:
        storage.publish(survey)
    return storage


def send(storage: Storage, survey: Survey, reports: Iterable[Sequence[int | None]], wave: int = 0) -> None:
    """Store reports under random ids."""
    key = next(row.key for row in storage.revisions(survey.name) if row.digest == survey.digest)
    plan = StoragePlan(key, survey.cohort, survey.release_batch, None, survey.masks)
    storage.store([ReportBatch(plan, wave, os.urandom(16), pack(tuple(values))) for values in reports])


def answered(storage: Storage, survey: Survey, reports: Iterable[Sequence[int | None]], wave: int = 0) -> None:
    storage.publish(survey)
    send(storage, survey, reports, wave)
    storage.close_survey(survey.name, TODAY)


def counted(survey: Survey, *cells: Cell, closed: bool = True, reports: int = 0, **more: Any) -> RevisionCounts:
    """A revision with these shown counts, of so many reports."""
    document = survey.name, survey.revision, survey.digest, survey.canonical
    return RevisionCounts(StoredSurvey(survey.revision, *document, closed, reports), survey, cells, **more)


def drawn(survey: Survey, count: int, name: str = "files") -> list[tuple[int, ...]]:
    """So many reports of invented respondents, randomized; the same ones in every run."""
    (truths,) = invent(survey, count, seed=1)
    columns = randomized(survey, truths, BatchDraws(Tape(name)))
    return [tuple(int(value) for value in row) for row in zip(*columns, strict=True)]


def files_of(folder: Path, *sent: tuple[Any, ...], names: Iterable[str] = ()) -> Path:
    """The folder of a closed survey's files, all or those named; of the last revision, wave 0 unless given."""
    with closing(published(folder, *{each[0].digest: each[0] for each in sent}.values())) as storage:
        for asked, reports, *wave in sent:
            send(storage, asked, reports, *wave)
        storage.close_survey(asked.name, TODAY)
        found = source(storage, asked)
        for name in names:
            SINGLE[name](found, folder / name)
        if not names:
            folder /= "files"
            folder.mkdir()
            write_folder(found, folder)
    return folder


def source(storage: Storage, survey: Survey, **changes: Any) -> Source:
    """What its files are written from, as of one day."""
    return Source(storage, revisions_of(storage, survey.name), **{"now": NOW, **changes})
