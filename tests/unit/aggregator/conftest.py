from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.spec import Survey

from tests.conftest import FakeClock
from tests.exported import TODAY, drawn, published, send, source
from tests.surveys import every_type, survey


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for an analysis until it has ended, however busy this machine is: no test is about that by accident."""
    monkeypatch.setattr("sottovoce.aggregator.api.joint_results.WAIT_SECONDS", 120)


SITE = "https://survey.example.org"


@pytest.fixture
def public_app(storage: SQLiteStorage, clock: FakeClock) -> Flask:
    """The application on the test's database, for a server that everybody reaches."""
    return create_app(Settings(public_url=SITE), storage, clock, {})


@pytest.fixture
def app(public_app: Flask) -> Flask:
    return public_app


REPORTS = 300

EVERY: Survey = survey(
    questions=every_type(),
    title={"en": "=1+1 & <b>", "de": "Alles"},
    description={"en": "About everything."},
    opens="2026-01-01T00:00:00Z",
    closes="2026-06-01T00:00:00Z",
)


@pytest.fixture(scope="session")
def closed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStorage]:
    storage = published(tmp_path_factory.mktemp("closed"), EVERY)
    send(storage, EVERY, drawn(EVERY, REPORTS))
    storage.close_survey(EVERY.name, TODAY)
    yield storage
    storage.close()


@pytest.fixture(scope="session")
def every(closed: SQLiteStorage) -> Source:
    return source(closed, EVERY)


@pytest.fixture(scope="session")
def folder(every: Source, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("folder")
    write_folder(every, place)
    return place
