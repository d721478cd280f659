"""Fixtures that start the real thing."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.access.keys import new_key
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite import SQLiteStorage
from sottovoce.cli.process import aggregator, free_port
from sottovoce.shared.spec import Survey

from tests.surveys import survey


@dataclass(frozen=True)
class Running:
    """An aggregator process: its address, its data folder, a researcher's token, and its survey."""

    url: str
    data: Path
    token: str
    survey: Survey

    @property
    def link(self) -> str:
        """The respondents' link."""
        return f"{self.url}/s/{self.survey.name}#d={self.survey.digest[:32]}"

    @property
    def api(self) -> str:
        """The survey's address for programs."""
        return f"{self.url}/api/v1/surveys/{self.survey.name}"

    @property
    def researcher(self) -> dict[str, str]:
        """A researcher's headers."""
        return {"Authorization": f"Bearer {self.token}"}

    def storage(self) -> SQLiteStorage:
        """The database, opened beside the running process."""
        return SQLiteStorage(self.data / "sottovoce.sqlite")

    def reports(self) -> int:
        """Reports stored so far."""
        storage = self.storage()
        try:
            return storage.revisions(self.survey.name)[-1].reports
        finally:
            storage.close()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    """A real aggregator on an embedded database, with the small survey published."""
    with start(tmp_path / "data", survey()) as process:
        yield process


class start:  # noqa: N801 - reads as a verb
    """Start an aggregator with this survey and these settings; ends it on exit."""

    def __init__(self, data: Path, published: Survey, **settings: Any) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self._settings = Settings(data=data, **{"port": free_port(), **settings})
        storage = SQLiteStorage(data / "sottovoce.sqlite")
        token, digest = new_key()
        storage.publish(published)
        storage.add_researcher("tester", digest)
        storage.close()
        self._running = Running(self._settings.url, data, token, published)
        self._process = aggregator(self._settings)

    def __enter__(self) -> Running:
        self._process.__enter__()
        return self._running

    def __exit__(self, *error: object) -> None:
        self._process.__exit__(*error)  # type: ignore[arg-type]


def processes(url: str) -> list[int]:
    """All processes of the aggregator at this address, those that it was started from before their workers."""
    port = url.rsplit(":", 1)[1]
    marks = (f"SOTTOVOCE_PORT={port}\0".encode(), f"--port\0{port}\0".encode())
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if any(mark in words for mark in marks):
            found.append(int(folder.name))
    return sorted(found)


class FakeClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 6, 1, 12, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> FakeClock:
    """A clock that stands still."""
    return FakeClock()


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[SQLiteStorage]:
    """An empty embedded database."""
    database = SQLiteStorage(tmp_path / "sottovoce.sqlite")
    yield database
    database.close()
