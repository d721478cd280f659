"""The year of one survey: an aggregator whose clock is moved, people with links and devices of their own, and what each
of them is told.
"""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.main import main
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.terminal import screen

from tests.conftest import FakeClock
from tests.journey.one_answer import serving

ANSWERS = {"cheated": "yes", "helped": "no", "year": "second"}


def document(revision: int = 1, **changes: Any) -> dict[str, Any]:
    """The survey of the year: two coins and one public question, asked in spring and again in autumn."""
    coin = {"type": "boolean", "mechanism": {"name": "coin_flip"}}
    return {
        "format": "sottovoce-survey/1", "name": "exam", "revision": revision, "default_language": "en",
        "title": {"en": "Exams"}, "consent": {"en": "For a study."}, "access": "token",
        "researcher": {"name": {"en": "Dr A. Example"}, "contact": "a@example.org"},
        "waves": [
            {"opens": "2026-02-01T00:00:00Z", "closes": "2026-07-01T00:00:00Z"},
            {"opens": "2026-09-01T00:00:00Z", "closes": "2026-12-01T00:00:00Z"},
        ],
        "questions": [
            {**coin, "name": "cheated", "label": {"en": "Have you cheated in an exam?"}},
            {**coin, "name": "helped", "label": {"en": "Have you helped somebody to cheat?"}},
            {
                "type": "select_one", "name": "year", "label": {"en": "Year of study"}, "public": True,
                "choices": [{"name": each, "label": {"en": each.title()}} for each in ("first", "second", "later")],
            },
        ],
        **changes,
    }  # fmt: skip


@dataclass
class Person:
    """Somebody with a link and a device: what they were told each time, and what their device holds."""

    folder: Path
    link: str
    told: list[str] = field(default_factory=list)

    @property
    def entries(self) -> list[Any]:
        ledger = FileLedger(self.folder / "ledger")
        return [ledger.read(name).entry for name in ledger.names()]

    @property
    def body(self) -> str:
        """The bytes of the one report that the device has drawn; "" if it has drawn none, or has ended it."""
        bodies = {entry.body for entry in self.entries if entry.body}
        assert len(bodies) <= 1, "a second draw"
        return bodies.pop() if bodies else ""

    def run(self, *words: str, given: str | None = None) -> str:
        """The command on this device; what it tells, also kept in ``told``."""
        done = CliRunner().invoke(main, words, input=given, env={"SOTTOVOCE_LEDGER": str(self.folder / "ledger")})
        assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
        self.told.append(done.stderr)
        return done.stderr

    def answer(self, link: str = "", given: str | None = None) -> str:
        """Open the link and answer, from a file unless something is typed."""
        path = self.folder / "answers.json"
        self.folder.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(ANSWERS))
        how = ("--answers", str(path), "--yes") if given is None else ()
        return self.run("respond", link or self.link, *how, given=given)


class Year:
    """One data folder, one clock, and an aggregator that can be out of reach; devices try again without a wait."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.unit = 1
        self.posts = 0
        self.lost: list[str] = []
        self.url = ""
        patch.setattr(screen, "time", SimpleNamespace(sleep=lambda _: None))
        self.people: list[Person] = []

    @contextmanager
    def open(self) -> Iterator["Year"]:
        """The aggregator behind a real socket of this machine; what is ``lost`` on the way, report or receipt."""
        data = self.folder / "data"
        data.mkdir(parents=True)
        self.storage = SQLiteStorage(data / "sottovoce.sqlite")
        app = create_app(Settings(data=data, rate_limit=0), self.storage, self.clock, {})
        inner = app.wsgi_app

        def gate(environ: Any, start: Any) -> Any:
            if not environ["PATH_INFO"].endswith("/reports"):
                return inner(environ, start)
            self.posts += 1
            if not self.lost:
                return inner(environ, start)
            if self.lost == ["receipt"]:
                b"".join(inner(environ, lambda *_: None))
            start("503 Service Unavailable", [("Content-Length", "0")])
            return [b""]

        app.wsgi_app = gate  # type: ignore[method-assign]
        with serving(app) as self.url:
            yield self
        self.storage.close()

    @contextmanager
    def losing(self, what: str) -> Iterator[None]:
        self.lost.append(what)
        yield
        self.lost.clear()

    def is_stored(self, body: str) -> bool:
        report = json.loads(body)
        rows = {row.digest: row.key for row in self.storage.revisions("exam")}
        return self.storage.find_report(rows[report["digest"]], bytes.fromhex(report["report_id"])) is not None

    def stored(self) -> int:
        return sum(row.reports for row in self.storage.revisions("exam"))

    @property
    def today(self) -> str:
        """The day, such as 2026-03-01."""
        return self.clock.moment.date().isoformat()

    def on(self, month: int, day: int) -> None:
        self.clock.moment = datetime(2026, month, day, 12, tzinfo=UTC)

    def command(self, *words: str) -> str:
        """A researcher's command, in the data folder; what it prints and tells."""
        environment = {"SOTTOVOCE_DATA": str(self.folder / "data"), "SOTTOVOCE_PUBLIC_URL": self.url}
        done = CliRunner().invoke(main, words, env=environment)
        assert done.exit_code == 0, done.output
        return done.output

    def publish(self, asked: dict[str, Any], *words: str) -> str:
        path = self.folder / "survey.json"
        path.write_text(json.dumps(asked))
        told = self.command("survey", "publish", str(path), *words)
        # What is told of revisions is read again after a second.
        self.clock.moment += timedelta(seconds=2)
        return told

    def invite(self, count: int, wave: int = 0) -> list[Person]:
        path = self.folder / f"links{len(self.people)}.csv"
        self.command("link", "create", "exam", "--count", str(count), "--out", str(path), "--wave", str(wave))
        with path.open(newline="") as file:
            links = [row["link"] for row in csv.DictReader(file)]
        made = [Person(self.folder / f"person{len(self.people) + i}", link) for i, link in enumerate(links)]
        self.people += made
        return made
