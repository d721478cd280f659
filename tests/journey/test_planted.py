"""Faults that such a server might have, each planted on purpose: the check that passes here must fail there."""

import asyncio
import hashlib
import json
import logging
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flask import request
from sottovoce.aggregator import app as web_app
from sottovoce.aggregator.accounts import authentication
from sottovoce.aggregator.api.survey_status import PublishedSurveys
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.http import headers as http_headers
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.intake.asgi_gate import Gate
from sottovoce.aggregator.intake.decode import ReportDocument
from sottovoce.aggregator.intake.group_commit import Submitted, completed_job
from sottovoce.aggregator.intake.request_limits import RateLimits
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Outcome, ReportBatch
from sottovoce.aggregator.storage.define_tables import definition
from sottovoce.aggregator.storage.sqlite.storage import _INSERT, SQLiteStorage
from sottovoce.shared.errors import ReportRejected, StorageError

from tests.journey.test_collection import reports
from tests.storage.test_contract import arrival, identity, plan
from tests.surveys import survey
from tests.unit.aggregator.intake.test_admission import mutants
from tests.unit.aggregator.intake.test_asgi_gate import ask_raw

ADDRESS = "203.0.113.77"
Patch = Callable[[pytest.MonkeyPatch], None]


def check_parser(storage: SQLiteStorage) -> None:
    """No text but the canonical one is admitted."""
    admission = Admission(storage, now)
    for mutant in mutants(reports(1)[0].decode().rstrip()):
        with pytest.raises(ReportRejected):
            admission.begin("exam", mutant)


def check_copies(storage: SQLiteStorage) -> None:
    admission = Admission(storage, now)
    (body,) = reports(1)
    for _ in range(3):
        admission.admit("exam", body)
    assert sum(storage.live_counts(1)[0].values()) == 1


def check_routes(storage: SQLiteStorage) -> None:
    """Researchers' routes let nobody in, and every reply carries the headers."""
    client = create_app(Settings(), storage, now, {}).test_client()
    assert client.get("/api/v1/surveys").status_code == 401
    for path in ("/nothing", "/api/v1/surveys/exam", "/healthz"):
        reply = client.get(path)
        assert reply.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert reply.headers["X-Content-Type-Options"] == "nosniff"


def check_survey(storage: SQLiteStorage) -> None:
    client = create_app(Settings(), storage, now, {}).test_client()
    seen = {client.get("/api/v1/surveys/exam", headers={"User-Agent": agent}).data for agent in ("a", "b", "curl")}
    assert seen == {survey().canonical}


def check_log(storage: SQLiteStorage) -> None:
    """An address is in no log and reaches no view."""
    gate = Gate(create_app(Settings(), storage, now, {}), Settings(), storage)
    records: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    (body,) = reports(1)
    head = [("content-type", "application/json"), ("content-length", str(len(body)))]
    sent = ask_raw(gate, "POST", "/api/v1/surveys/exam/reports", head, body, peer=ADDRESS)

    try:
        # In a thread of its own: the browser's driver may keep an event loop in this one.
        with ThreadPoolExecutor(1) as thread:
            status, *_ = thread.submit(asyncio.run, sent).result()
    finally:
        logging.getLogger().removeHandler(handler)
    assert status == 200
    assert not any(ADDRESS in record for record in records)


def check_order(storage: SQLiteStorage) -> None:
    """Stored order says little of arrival, and no column is finer than the wave."""
    for number in range(80):
        storage.store([arrival(1, number)])
    with sqlite3.connect(storage._path) as connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(fresh)")]
        stored = [row[0] for row in connection.execute('SELECT report_id, wave, "values" FROM fresh')]
    ranks = [stored.index(identity(number)) for number in range(80)]
    mean = (80 - 1) / 2
    spread = sum((rank - mean) ** 2 for rank in ranks)
    correlation = sum((rank - mean) * (number - mean) for number, rank in enumerate(ranks)) / spread
    assert abs(correlation) < 0.35
    assert columns == ["survey", "report_id", "wave", "values"]


def check_acknowledgement(storage: SQLiteStorage) -> None:
    """What a client has been told is in the database at that moment, for another connection too."""
    app = create_app(Settings(), storage, now, {})
    client = app.test_client()
    original = storage.store

    def slow(arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        with storage._writing:
            pass
        return original(arrivals)

    storage.store = slow  # type: ignore[method-assign]
    with ThreadPoolExecutor(1) as thread:
        for body in reports(5):
            # The writer is held up: an answer that does not wait for it comes too early.
            with storage._writing:
                post = partial(client.post, data=body, content_type="application/json")
                waiting = thread.submit(post, "/api/v1/surveys/exam/reports")
                early = wait([waiting], timeout=0.05).done
            assert waiting.result().status_code == 200
            assert not early
            report_id = bytes.fromhex(json.loads(body)["report_id"])
            assert storage.find_report(1, report_id) is not None


def check_sync(storage: SQLiteStorage) -> None:
    with storage.read() as db:
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 2


def check_deletion(storage: SQLiteStorage) -> None:
    """A withdrawn report's id is in no file."""
    storage.store([arrival(1, number) for number in range(50)])
    for number in range(50):
        storage.withdraw(plan(1), identity(number))
    content = b"".join(path.read_bytes() for path in storage._path.parent.iterdir())
    assert not any(identity(number) in content for number in range(50))


CHECKS = [check_parser, check_copies, check_routes, check_survey, check_log, check_order, check_acknowledgement,
          check_sync, check_deletion]  # fmt: skip


def naive_parser(patch: pytest.MonkeyPatch) -> None:
    """Whatever JSON reads."""

    def naive(body: bytes) -> ReportDocument:
        document = json.loads(body)
        return ReportDocument(**{**document, "values": tuple(document["values"])})

    patch.setattr("sottovoce.aggregator.intake.admission.decode_report", naive)


def no_dedup(patch: pytest.MonkeyPatch) -> None:
    """A copy is stored over the first one and counted again."""
    patch.setattr("sottovoce.aggregator.storage.sqlite.storage._INSERT", _INSERT.replace("OR IGNORE", "OR REPLACE"))


def open_route(patch: pytest.MonkeyPatch) -> None:
    """One researchers' route on the public list."""
    patch.setattr(authentication, "PUBLIC", authentication.PUBLIC | {"results.surveys"})


def no_headers(patch: pytest.MonkeyPatch) -> None:
    original = http_headers.security_headers
    patch.setattr(http_headers, "security_headers", lambda secure: original(secure)[2:])


def survey_by_agent(patch: pytest.MonkeyPatch) -> None:
    def varied(self: PublishedSurveys, name: str) -> bytes:  # noqa: ARG001 - the method's signature
        return survey().canonical + b" " * (request.headers.get("User-Agent", "") == "curl")

    patch.setattr(PublishedSurveys, "newest", varied)


def address_in_a_log(patch: pytest.MonkeyPatch) -> None:
    original = RateLimits.check_sender

    def noted(self: RateLimits, method: str, peer: str | None, forwarded: str) -> None:
        logging.getLogger("sottovoce").error("request from %s", peer)
        original(self, method, peer, forwarded)

    patch.setattr(RateLimits, "check_sender", noted)


def ordered_rows(patch: pytest.MonkeyPatch) -> None:
    """A table with a rowid keeps the order of arrival."""
    key = "PRIMARY KEY (survey, report_id)) STRICT, WITHOUT ROWID"
    _schema(patch, key, "UNIQUE (survey, report_id)) STRICT")


def time_of_arrival(patch: pytest.MonkeyPatch) -> None:
    _schema(patch, '"values" BLOB NOT NULL,', '"values" BLOB NOT NULL, at TEXT DEFAULT CURRENT_TIMESTAMP,')
    named = _INSERT.replace("INTO fresh", 'INTO fresh (survey, report_id, wave, "values")')
    patch.setattr("sottovoce.aggregator.storage.sqlite.storage._INSERT", named)


def early_acknowledgement(patch: pytest.MonkeyPatch) -> None:
    original = web_app.GroupCommit.submit

    def early(self: Any, job: Sequence[ReportBatch]) -> Submitted:
        original(self, job)
        return completed_job([Outcome.NEW] * sum(map(len, job)))

    patch.setattr(web_app.GroupCommit, "submit", early)


def synchronous_normal(patch: pytest.MonkeyPatch) -> None:
    """Commits that a power cut may lose."""
    from sottovoce.aggregator.storage.sqlite import storage as sqlite

    original = sqlite._Handle.__init__

    def relaxed(self: Any, path: Path) -> None:
        original(self, path)
        self.execute("PRAGMA synchronous = NORMAL")

    patch.setattr(sqlite._Handle, "__init__", relaxed)


def log_left(patch: pytest.MonkeyPatch) -> None:
    """Deleted rows stay in the log."""
    patch.setattr(SQLiteStorage, "_empty_log", lambda self: True)  # noqa: ARG005 - the method's signature


def _schema(patch: pytest.MonkeyPatch, old: str, new: str) -> None:
    from sottovoce.aggregator.storage.sqlite import schema

    def changed(table: str, dialect: Any, name: str = "") -> str:
        text = definition(table, dialect, name)
        assert name != "fresh" or old in text
        return text.replace(old, new) if name == "fresh" else text

    patch.setattr(schema, "definition", changed)


FAULTS: list[tuple[Patch, Any]] = [
    (naive_parser, check_parser), (no_dedup, check_copies), (open_route, check_routes), (no_headers, check_routes),
    (survey_by_agent, check_survey), (address_in_a_log, check_log), (ordered_rows, check_order),
    (time_of_arrival, check_order), (early_acknowledgement, check_acknowledgement), (synchronous_normal, check_sync),
    (log_left, check_deletion),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def prepared(folder: Path) -> SQLiteStorage:
    """A database with the survey, made after the fault was planted."""
    storage = SQLiteStorage(folder / "db.sqlite")
    storage.publish(survey())
    return storage


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_check_passes_on_the_real_server(folder: Path, check: Any) -> None:
    storage = prepared(folder)
    check(storage)
    storage.close()


@pytest.mark.parametrize(("fault", "check"), FAULTS, ids=lambda item: item.__name__)
def test_check_finds_the_planted_fault(folder: Path, monkeypatch: pytest.MonkeyPatch, fault: Patch, check: Any) -> None:
    fault(monkeypatch)
    storage = prepared(folder)
    with pytest.raises((AssertionError, pytest.fail.Exception, KeyError, ValueError, TypeError, StorageError)):
        check(storage)
    storage.close()


SYNCED = """
import sys
from functools import partial
from pathlib import Path
from sottovoce.aggregator.storage.sqlite.storage import _INSERT, SQLiteStorage
from tests.storage.test_contract import arrival
from tests.surveys import survey
storage = SQLiteStorage(Path(sys.argv[1]))
storage.publish(survey())
for number in range(40):
    storage.store([arrival(1, number)])
    sys.stderr.write("acknowledged\\n")
    sys.stderr.flush()
"""


def test_sync_precedes_every_acknowledgement(tmp_path: Path) -> None:
    """Forty of forty, by the system calls where strace is present, else by the setting that asks for them."""
    if shutil.which("strace") is None:
        storage = prepared(tmp_path)
        check_sync(storage)
        storage.close()
        return
    trace = tmp_path / "trace"
    subprocess.run(
        ["strace", "-f", "-e", "trace=fsync,fdatasync,write", "-o", str(trace), sys.executable, "-c", SYNCED,
         str(tmp_path / "db.sqlite")],
        check=True, capture_output=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    synced, acknowledged = False, 0
    for line in trace.read_text().splitlines():
        if "sync(" in line:
            synced = True
        elif '"acknowledged' in line:
            assert synced
            synced = False
            acknowledged += 1
    assert acknowledged == 40


def test_identity_of_these_tests_is_random() -> None:
    """The order of the ids is not that of the numbers, or the check of the order would show nothing."""
    assert sorted(range(80), key=identity) != list(range(80))
    assert identity(1) == hashlib.sha256(b"1").digest()[:16]
