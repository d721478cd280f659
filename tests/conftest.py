"""Fixtures that start the real thing."""

import gc
import itertools
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from jinja2 import FileSystemBytecodeCache, StrictUndefined, Undefined
from jinja2.utils import missing
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.invitations.tokens import create_tokens
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.process import aggregator, free_port
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey
from werkzeug.routing import Rule

from tests.surveys import survey
from tests.zygote import forked_starts

# The terminal speaks the reader's language, and its sentences are compared in English.
os.environ["LC_ALL"] = "C.UTF-8"
# Where it is installed, jsonschema builds 38 grammars of addresses at its import: 3 s for a format that we do not use.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]


# Nothing that is collected is garbage, and searching for it took a tenth of the time, without bytecode a quarter.
gc.disable()


def pytest_collection_finish() -> None:
    """Keep 10,000 tests out of searches for garbage, half a second each; by usual thresholds all took twice as long."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


class UndefinedInTemplate(StrictUndefined):
    """What a template asks for in vain is an error here; the product shows nothing, but no test may miss it."""

    def __new__(cls, hint: str | None = None, obj: Any = missing, name: str | None = None, *more: Any) -> Any:
        """Return the silent kind for a key of a mapping."""
        return Undefined(hint, obj, name, *more) if isinstance(obj, Mapping) else super().__new__(cls)


@pytest.fixture(scope="session", autouse=True)
def compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Compile templates once a run, routes once a process: for each test's application it took longer than all else."""
    compile_rule, compiled = Rule.compile, dict[tuple[Any, ...], Any]()

    def once(rule: Rule) -> None:
        of = (rule.rule, rule.subdomain, rule.merge_slashes, repr(rule.defaults))
        if of not in compiled:
            compile_rule(rule)
            built = rule._build.__func__, rule._build_unknown.__func__  # type: ignore[attr-defined]
            compiled[of] = rule._parts, rule._trace, rule._converters, rule.arguments, *built
        rule._parts, rule._trace, rule._converters, rule.arguments, *built = compiled[of]
        rule._build, rule._build_unknown = (each.__get__(rule) for each in built)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "compile", once)
        folder = tmp_path_factory.getbasetemp()
        # The processes of one run share it.
        folder = (folder.parent if folder.name.startswith(("process", "popen")) else folder) / "templates"
        folder.mkdir(exist_ok=True)
        options = {"bytecode_cache": FileSystemBytecodeCache(str(folder)), "undefined": UndefinedInTemplate}
        patch.setattr(Flask, "jinja_options", options)
        yield


@pytest.fixture(scope="session", autouse=True)
def forked() -> Iterator[None]:
    """Fork the program where its start is not what is tested."""
    with forked_starts():
        yield


@dataclass(frozen=True)
class Running:
    """An aggregator process: its address, its data folder, a researcher's token, and its survey."""

    url: str
    data: Path
    token: str
    survey: Survey

    @property
    def link(self) -> str:
        return f"{self.url}/s/{self.survey.name}#d={self.survey.digest[:32]}"

    @property
    def api(self) -> str:
        return f"{self.url}/api/v1/surveys/{self.survey.name}"

    @property
    def researcher(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def storage(self) -> SQLiteStorage:
        """The database, opened beside the running process."""
        return SQLiteStorage(self.data / "sottovoce.sqlite")

    def reports(self) -> int:
        with closing(self.storage()) as storage:
            return storage.revisions(self.survey.name)[-1].reports

    def close(self) -> None:
        """Close the survey, as of a day long gone."""
        with closing(self.storage()) as storage:
            storage.close_survey(self.survey.name, 20_000)

    def invite(self, count: int = 1) -> list[str]:
        with closing(self.storage()) as storage:
            return create_tokens(storage, self.survey.name, count)


class SharedServer:
    """An aggregator process for many tests, which publish a survey each under a name of its own."""

    def __init__(self, process: Running) -> None:
        self._process, self._numbers = process, itertools.count(1)

    def publish(self, asked: Survey) -> Running:
        """Publish the survey under a name of its own, which makes another digest, and add a researcher."""
        number = next(self._numbers)
        renamed = parse_survey({**asked.document, "name": f"{asked.name}{number}"})
        token, digest = new_key()
        with closing(self._process.storage()) as storage:
            storage.publish(renamed)
            storage.add_researcher(f"tester{number}", digest)
        return replace(self._process, token=token, survey=renamed)


@pytest.fixture(scope="session")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """One aggregator on an embedded database for each process that runs tests."""
    with start(tmp_path_factory.mktemp("shared") / "data", survey(name="shared")) as process:
        yield SharedServer(process)


@pytest.fixture
def running(shared_server: SharedServer) -> Running:
    """The shared aggregator, with the small survey published under a name of the test's own."""
    return shared_server.publish(survey())


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Running]:
    """An aggregator for one test that stops it, limits it, or looks at its whole database."""
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
    return FakeClock()


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[SQLiteStorage]:
    database = SQLiteStorage(tmp_path / "sottovoce.sqlite")
    yield database
    database.close()
