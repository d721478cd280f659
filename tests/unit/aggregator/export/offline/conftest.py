"""A closed survey in two revisions and waves, with every type of question, written as a folder of reports."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.export.offline.write_parquet import write_reports
from sottovoce.aggregator.storage import Storage
from sottovoce.shared.spec import Survey

from tests.exported import TODAY, drawn, published, send, source
from tests.surveys import every_type, months, survey

FIRST: Survey = survey(questions=every_type(), waves=months(2), privacy={"release_batch": 5})
SECOND: Survey = survey(
    questions=every_type()[1:], waves=months(2), revision=2, title={"en": "Again"}, privacy={"release_batch": 5}
)


def fill(storage: Storage, reverse: bool = False) -> None:
    """Reports of both revisions and waves, in one order or the other, under ids of their own; then it is closed."""
    for asked in (FIRST, SECOND):
        for wave, count in enumerate((120, 40)):
            reports = drawn(asked, count, f"{asked.revision}-{wave}")
            send(storage, asked, reversed(reports) if reverse else reports, wave)
    storage.close_survey("exam", TODAY)


@dataclass(frozen=True)
class Written:
    folder: Path
    source: Source


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Written]:
    place = tmp_path_factory.mktemp("offline")
    storage = published(place, FIRST, SECOND)
    fill(storage)
    yield Written(write(source(storage, SECOND), place / "work" / "out", part_rows=50), source(storage, SECOND))
    storage.close()


def write(source: Source, folder: Path, public: bool = False, part_rows: int = 1 << 21) -> Path:
    folder.mkdir(parents=True)
    write_reports(source, folder, public, part_rows=part_rows)
    return folder
