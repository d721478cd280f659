"""Both doors are one: whatever is sent, they answer alike, count alike and store alike; and what waves add to that."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.intake.asgi_gate import Gate
from sottovoce.aggregator.intake.group_commit import Submitted, completed_job
from sottovoce.aggregator.intake.request_limits import FAILURES
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.housekeeping import close_due
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.errors import REJECTIONS, EstimateError, ReportRejected, StorageError
from sottovoce.shared.redemption import token_hash
from sottovoce.shared.report import Report, dump_report
from werkzeug.test import EnvironBuilder

from tests.conftest import FakeClock
from tests.recount import recount
from tests.surveys import ANSWERS, survey
from tests.unit.aggregator.intake.test_asgi_gate import ask_raw, run

OPEN = survey(opens="2026-01-01T00:00:00Z", closes="2027-01-01T00:00:00Z")
INVITED = survey(name="invited", access="token")
CLOSED = survey(name="over")
STRANGER = "203.0.113.9"
TOKENS = ["0" * 15 + letter for letter in "123"]

Answer = tuple[int, frozenset[tuple[str, str]], bytes]


@dataclass(frozen=True)
class Request:
    """One request, as both doors are asked it."""

    path: str
    body: bytes = b""
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = ()
    peer: str = "127.0.0.1"
    length: bool = True
    host: str = "x"

    @property
    def head(self) -> list[tuple[str, str]]:
        written = {name.lower() for name, _ in self.headers}
        found = [] if "content-type" in written or not self.body else [("Content-Type", "application/json")]
        if self.length and self.method in {"POST", "PUT"} and "content-length" not in written:
            found.append(("Content-Length", str(len(self.body))))
        return [("Host", self.host), *found, *self.headers]


@dataclass(frozen=True)
class Door:
    """An aggregator of its own, and one way into it."""

    app: Flask
    gate: Gate | None
    storage: SQLiteStorage

    def ask(self, request: Request) -> Answer:
        if self.gate is not None:
            status, headers, body = run(ask_raw(self.gate, request.method, request.path, request.head, request.body,
                                                request.peer))  # fmt: skip
            given = [(name.lower(), value) for name, value in headers]
        else:
            builder = EnvironBuilder(request.path, method=request.method, data=request.body)
            environ = builder.get_environ()
            for name in ("CONTENT_LENGTH", "CONTENT_TYPE", "HTTP_HOST"):
                environ.pop(name, None)
            for name, value in request.head:
                key = name.upper().replace("-", "_")
                environ[key if key in {"CONTENT_LENGTH", "CONTENT_TYPE"} else f"HTTP_{key}"] = value
            environ["REMOTE_ADDR"] = request.peer
            started: list[Any] = []
            body = b"".join(self.app(environ, lambda *found: started.append(found)))
            status, given = int(started[0][0][:3]), [(name.lower(), value) for name, value in started[0][1]]
        assert len(dict(given)) == len(given), "a header twice"
        # Whether a connection goes on is the business of who holds it.
        return status, frozenset(pair for pair in given if pair[0] != "connection"), body

    @property
    def rejected(self) -> Counter[str]:
        return self.app.extensions["admission"].rejected


@pytest.fixture(params=[3])
def doors(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Iterator[list[Door]]:
    """The same surveys behind the gate, and behind any WSGI server; so many requests a minute, 0 for any number."""
    made = []
    for name in ("gate", "flask"):
        storage = SQLiteStorage(tmp_path / f"{name}.sqlite")
        for published in (OPEN, INVITED, CLOSED):
            storage.publish(published)
        storage.add_tokens(storage.revisions("invited")[0].key, [token_hash(token, "invited") for token in TOKENS])
        storage.close_survey("over", 20_000)
        settings = Settings(rate_limit=request.param, trusted_hosts="x")
        app = create_app(settings, storage, clock, {})
        made.append(Door(app, Gate(app, settings, storage) if name == "gate" else None, storage))
    yield made
    for door in made:
        door.storage.close()


def both(doors: list[Door], request: Request) -> Answer:
    answers = [door.ask(request) for door in doors]
    assert answers[0] == answers[1]
    # What never gets as far as admission the gate counts too, and the application without it does not.
    behind_gate, bare = sorted(doors, key=lambda door: door.gate is None)
    assert not bare.rejected - behind_gate.rejected
    assert [row.reports for row in doors[0].storage.surveys()] == [row.reports for row in doors[1].storage.surveys()]
    return answers[0]


def sent(number: int, asked: Any = OPEN, **changes: Any) -> bytes:
    report = Report(asked.name, asked.digest, 0, f"{number:032x}", (number % 2, number % 3, 0))
    return dump_report(replace(report, **changes), asked)


def path(name: str, end: str = "") -> str:
    return f"/api/v1/surveys/{name}/reports{end}"


def bearer(token: str) -> tuple[tuple[str, str], ...]:
    return (("Authorization", f"Bearer {token}"),)


def of(*reports: bytes) -> bytes:
    items = ",".join(f'{{"report":{report.decode().rstrip()}}}' for report in reports)
    return f'{{"format":"sottovoce-batch/1","items":[{items}]}}'.encode()


def code(answer: Answer) -> str:
    return str(json.loads(answer[2] or b"{}").get("code", ""))


ASKED_FOR = '{{"token_sha256":"{}"}}'

OUTCOMES = [
    ("", Request(path("exam"), sent(1))),
    ("", Request(path("exam"), sent(1))),
    ("id_conflict", Request(path("exam"), sent(1, values=(0, 0, 1)))),
    ("malformed", Request(path("exam"), b"{}")),
    ("malformed", Request(path("exam"), sent(2) + b" ")),
    ("malformed", Request(path("exam"), b"")),
    ("unknown_survey", Request(path("none"), sent(2))),
    ("unknown_survey", Request(path("none"), sent(2, survey="none"))),
    ("digest_mismatch", Request(path("exam"), sent(2, digest="0" * 64))),
    ("out_of_range", Request(path("exam"), sent(2, values=(2, 0, 0)))),
    ("out_of_range", Request(path("exam"), sent(2, wave=7))),
    ("out_of_range", Request(path("exam"), sent(1, values=(2, 0, 0), report_id="f" * 32))),
    ("closed", Request(path("over"), sent(2, CLOSED))),
    ("token_invalid", Request(path("invited"), sent(3, INVITED))),
    ("", Request(path("invited"), sent(3, INVITED), headers=bearer(TOKENS[0]))),
    ("", Request(path("invited"), sent(3, INVITED), headers=bearer(TOKENS[0]))),
    ("token_invalid", Request(path("invited"), sent(4, INVITED), headers=bearer(TOKENS[0]))),
    ("token_invalid", Request(path("invited"), sent(4, INVITED, values=(9, 0, 0)))),
    ("too_large", Request(path("exam"), b" " * 65_537)),
    ("too_large", Request(path("exam", "/batch"), b" " * 524_289)),
    ("unsupported_type", Request(path("exam"), sent(5), headers=(("Content-Type", "text/plain"),))),
    ("unsupported_type", Request(path("exam"), sent(5), headers=(("Content-Encoding", "gzip"),))),
    ("length_required", Request(path("exam"), sent(5), length=False)),
    ("malformed", Request(path("exam"), sent(5), headers=(("Content-Length", "9" * 13),))),
    ("", Request(path("exam", "/batch"), of(sent(6), sent(7), sent(1)))),
    ("", Request(path("exam", "/batch"), of(sent(6), sent(7, values=(9, 0, 0)), sent(1, values=(0, 0, 1))))),
    ("", Request(path("over", "/batch"), of(sent(8, CLOSED)))),
    ("", Request(path("invited", "/batch"), of(sent(8, INVITED)))),
    ("malformed", Request(path("exam", "/batch"), b"[]")),
    ("", Request("/api/v1/surveys/exam/withdraw", b'{"report_id":"%032x"}' % 1)),
    ("withdrawn", Request(path("exam"), sent(1))),
    ("", Request(path("invited"), sent(30, INVITED), headers=(("Authorization", f"bearer  {TOKENS[2]}"),))),
    ("token_invalid", Request(path("invited"), sent(31, INVITED), headers=(("Authorization", TOKENS[1]),))),
    ("token_invalid", Request(path("invited"), sent(31, INVITED), headers=(("Authorization", f"Basic {TOKENS[1]}"),))),
    ("", Request("/api/v1/surveys/exam/revisions", method="GET")),
    ("", Request("/api/v1/surveys/exam/status", method="GET")),
    ("unknown_survey", Request("/api/v1/surveys/none/status", method="GET")),
    ("", Request("/api/v1/surveys/invited/token", ASKED_FOR.format(sha256(TOKENS[1].encode()).hexdigest()).encode())),
    ("token_invalid", Request("/api/v1/surveys/invited/token", ASKED_FOR.format("0" * 64).encode())),
    ("malformed", Request("/api/v1/surveys/invited/token", b"{}")),
    ("method_not_allowed", Request("/api/v1/surveys/invited/token", method="GET")),
    ("", Request("/api/v1/surveys/invited/token", method="OPTIONS")),
    ("", Request(path("exam"), method="OPTIONS")),
    ("", Request(path("exam", "/batch"), method="OPTIONS")),
    ("", Request(path("exam"), method="HEAD")),
    ("method_not_allowed", Request(path("exam"), method="GET")),
    ("method_not_allowed", Request(path("exam"), sent(9), method="PUT")),
    ("method_not_allowed", Request(path("exam", "/batch"), method="GET")),
    ("method_not_allowed", Request(path("exam"), method="PROPFIND")),
    ("method_not_allowed", Request(path("exam"), method="TRACE")),
    ("not_found", Request(f"{path('exam')}/", sent(9))),
    ("not_found", Request("/api/v1/surveys//reports", sent(9))),
    ("unknown_survey", Request(path("é"), sent(9))),
    ("unauthorized", Request("/api/v1/surveys/exam/close", b"")),
]  # fmt: skip


def test_person_sees_the_same_page_through_both_doors(doors: list[Door]) -> None:
    """Whatever is refused: a body too large, a report that is none, the sixth request of a network, an address."""
    person = (("Accept", "text/html,*/*;q=0.8"), ("Accept-Language", "de"))
    asked = [
        (413, Request(path("exam"), b" " * 65_537, headers=person)),
        (400, Request(path("exam"), b"{}", headers=person)),
        (404, Request("/nothing", method="GET", headers=person)),
        *((404, Request("/nothing", b"", peer=STRANGER, headers=person)) for _ in range(3)),
        (429, Request("/nothing", b"", peer=STRANGER, headers=person)),
    ]
    for status, request in asked:
        found, headers, body = both(doors, request)
        assert found == status
        assert {("content-type", "text/html; charset=utf-8"), ("content-language", "de")} <= headers
        assert b'<html lang="de" dir="ltr">' in body


def test_every_outcome_is_the_same_through_both_doors(doors: list[Door]) -> None:
    """One after the other on one survey, so that known, withdrawn and spent ones are among them."""
    reasons = [code(both(doors, request)) for _, request in OUTCOMES]

    assert reasons == [expected for expected, _ in OUTCOMES]
    assert {*reasons, "busy"} >= set(REJECTIONS)
    assert doors[0].storage.live_counts(1) == doors[1].storage.live_counts(1)


def test_report_may_be_sent_under_any_name(doors: list[Door]) -> None:
    """As from a page of any site; the survey is told under the server's names only."""
    asked = Request(path("exam"), sent(1)), Request(path("exam").removesuffix("/reports"), method="GET")
    assert [both(doors, replace(each, host="y"))[0] for each in asked] == [200, 400]


def test_what_was_asked_for_its_head_has_no_body_at_either_door(doors: list[Door]) -> None:
    """And the headers of what GET would be answered; also where it is the gate that refuses."""
    for asked, expected in (("/api/v1/surveys/exam", 200), ("/nothing", 404), ("/healthz", 200)):
        status, headers, body = both(doors, Request(asked, method="HEAD"))
        whole = both(doors, Request(asked, method="GET"))
        assert (status, body, whole[0]) == (expected, b"", expected)
        assert dict(headers)["content-length"] == dict(whole[1])["content-length"] == str(len(whole[2]))
    gate = doors[0].gate
    gate._settings = replace(gate._settings, max_requests=0)
    status, _, body = doors[0].ask(Request("/api/v1/surveys/exam", method="HEAD"))
    assert (status, body) == (503, b"")


def test_strangers_who_send_too_often_are_refused_at_both_doors(doors: list[Door]) -> None:
    """The fourth request of a minute, if three are allowed; the limit counts once, not at each door."""
    requests = [Request(path("exam"), sent(number), peer=STRANGER) for number in range(4)]

    assert [code(both(doors, request)) for request in requests] == ["", "", "", "too_many"]
    assert code(both(doors, replace(requests[3], method="OPTIONS", body=b""))) == ""


@pytest.mark.parametrize("doors", [0], indirect=True)
def test_strangers_who_try_tokens_are_refused_at_both_doors(doors: list[Door]) -> None:
    """A good one costs nothing; the failures of a minute are counted once, and apart from the requests."""
    good, bad = (ASKED_FOR.format(sha256(token.encode()).hexdigest()).encode() for token in (TOKENS[1], "0" * 16))
    asked = Request("/api/v1/surveys/invited/token", bad, peer=STRANGER)
    codes = [code(both(doors, asked)) for _ in range(FAILURES + 1)]

    assert codes == ["token_invalid"] * FAILURES + ["too_many"]
    assert code(both(doors, replace(asked, body=good))) == "too_many"
    assert code(both(doors, replace(asked, body=good, peer="198.51.100.7"))) == ""
    assert code(both(doors, Request(path("exam"), sent(1), peer=STRANGER))) == ""


FAILING: dict[str, Exception] = {
    "busy": ReportRejected("busy", "too many reports are waiting to be stored"),
    "storage": StorageError("sentinel"),
    "internal": RuntimeError("sentinel"),
}


@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "later"])
@pytest.mark.parametrize("end", ["", "/batch"])
def test_what_goes_wrong_behind_is_told_alike(doors: list[Door], at_once: bool, end: str) -> None:
    """A full queue, a database that fails, a bug: on the way in or once the group is under way."""
    for expected, error in FAILING.items():

        def fails(_: object, error: Exception = error) -> Submitted:
            if at_once:
                raise error
            return completed_job(error)

        for door in doors:
            door.app.extensions["admission"]._submit = fails
        answer = both(doors, Request(path("exam", end), of(sent(1)) if end else sent(1)))
        assert code(answer) == expected
        assert b"sentinel" not in answer[2]


def test_reply_names_the_limits_and_nobody_learns_what_others_left(doors: list[Door]) -> None:
    """The size of a limit on whatever counts for it; what is left of it is the same text until nothing is."""
    told = []
    for number in range(4):
        status, headers, _ = both(doors, Request(path("exam"), sent(number), peer=STRANGER))
        told.append((status, {name: value for name, value in headers if name.startswith("ratelimit")}))
    policy = {"ratelimit-policy": '"writes";q=3;w=60'}
    _, read, _ = both(doors, Request("/api/v1/surveys/exam", method="GET", peer=STRANGER))
    _, asked, _ = both(doors, Request("/api/v1/surveys/invited/token", b'{"token_sha256":""}'))

    assert told == [(200, policy)] * 3 + [(429, policy | {"ratelimit": '"writes";r=0;t=5'})]
    assert not [name for name, _ in read if name.startswith("ratelimit")]
    assert ("ratelimit-policy", f'"writes";q=3;w=60, "failed-tokens";q={FAILURES};w=60') in asked


WAVES = [
    {"opens": "2026-01-01T00:00:00Z", "closes": "2026-02-01T00:00:00Z"},
    {"opens": "2026-02-01T00:00:00Z", "closes": "2026-03-01T00:00:00Z"},
    {"opens": "2026-06-01T00:00:00Z", "closes": "2026-07-01T00:00:00Z"},
]
SURVEY = survey(waves=WAVES, privacy={"release_batch": 5})


def at(month: int, day: int = 1) -> datetime:
    return datetime(2026, month, day, tzinfo=UTC)


def body(wave: int) -> bytes:
    return dump_report(randomize(SURVEY, encode(SURVEY, ANSWERS), Draws(), wave), SURVEY)


@pytest.fixture
def admission(storage: SQLiteStorage, clock: FakeClock) -> Admission:
    storage.publish(SURVEY)
    return Admission(storage, clock)


@pytest.mark.parametrize(
    ("moment", "reasons"),
    [
        (datetime(2025, 12, 31, 23, 59, 59, tzinfo=UTC), ["closed", "closed", "closed"]),
        (at(1), ["", "closed", "closed"]),
        (at(2), ["closed", "", "closed"]),
        (at(4), ["closed", "closed", "closed"]),
        (at(6, 30), ["closed", "closed", ""]),
        (at(7), ["closed", "closed", "closed"]),
    ],
)
def test_clock_of_the_aggregator_decides_which_wave_is_open(
    admission: Admission, clock: FakeClock, moment: datetime, reasons: list[str]
) -> None:
    clock.moment = moment
    found = []
    for wave in range(5):
        try:
            admission.admit("exam", body(wave))
            found.append("")
        except ReportRejected as rejection:
            found.append(rejection.code)

    assert found == [*reasons, "out_of_range", "out_of_range"]


def test_report_of_a_past_wave_is_acknowledged_again_but_not_withdrawn(admission: Admission, clock: FakeClock) -> None:
    """Its receipt may have been lost; its wave is over."""
    clock.moment = at(1)
    sent = body(0)
    first = admission.admit("exam", sent)
    clock.moment = at(2)

    assert admission.admit("exam", sent) == first
    with pytest.raises(ReportRejected) as rejected:
        admission.withdraw("exam", b'{"report_id":"%s"}' % first["report_id"].encode())
    assert rejected.value.code == "closed"


@pytest.mark.parametrize("wave", [0, 1])
def test_one_id_is_one_report_in_all_waves(admission: Admission, clock: FakeClock, wave: int) -> None:
    """The same id and values in a later wave, or in one that is over, are a conflict, not a report that is known."""
    clock.moment = at(wave + 1)
    report = Report("exam", SURVEY.digest, wave, "0" * 32, (1, 2, 0))
    admission.admit("exam", dump_report(report, SURVEY))
    clock.moment = at(2)
    with pytest.raises(ReportRejected) as rejected:
        admission.admit("exam", dump_report(replace(report, wave=1 - wave), SURVEY))

    assert rejected.value.code == "id_conflict"


def test_results_are_had_for_each_wave_and_for_all(
    admission: Admission, storage: SQLiteStorage, clock: FakeClock
) -> None:
    sizes = (7, 12, 4)
    for wave, (size, moment) in enumerate(zip(sizes, (at(1), at(2), at(6)), strict=True)):
        clock.moment = moment
        for number in range(size):
            report = Report("exam", SURVEY.digest, wave, f"{wave:016x}{number:016x}", (wave % 2, 1, 0))
            admission.admit("exam", dump_report(report, SURVEY))
    clock.moment = at(7)
    close_due(storage, clock())
    revisions = revisions_of(storage, "exam")
    both = analyse(revisions)
    each = [analyse(revisions, wave=wave) for wave in range(3)]

    assert both.closed
    assert both.waves == sizes
    assert (both.reports, both.questions[0].n, both.questions[0].tally) == (23, 23, {0: 11, 1: 12})
    assert [result.reports for result in each] == list(sizes)
    assert [result.questions[0].tally for result in each] == [{0: 7}, {1: 12}, {0: 4}]
    assert [export_document(result)["wave"] for result in [both, *each]] == [None, 0, 1, 2]
    assert recount(storage, storage.surveys()[0]) == storage.live_counts(1)
    # A group of four is too small to be shown by itself, and in the other waves it would be told by subtracting.
    assert [result.cohorts for result in [both, *each]] == [()] * 4
    for wave in (-1, 3):
        with pytest.raises(EstimateError, match="no such wave"):
            analyse(revisions, wave=wave)


def test_waves_under_one_memo_are_not_estimated_together() -> None:
    """Their reports hang together, so an interval for the sum would be too narrow; each wave by itself is estimated."""
    flip = {"name": "coin_flip"}
    memo = {"name": "memoized_rr", "permanent": flip, "instantaneous": flip, "waves": 3}
    boolean = SURVEY.document["questions"][0]
    asked = survey(questions=[{**boolean, "mechanism": memo}, {**boolean, "name": "fresh"}], waves=WAVES)
    stored = StoredSurvey(0, asked.name, asked.revision, asked.digest, asked.canonical, True, 200)
    tallies = {0: {0: 50, 1: 50}, 1: {0: 60, 1: 40}}
    cells = tuple(Cell(wave, ALL, 100, 0, tallies) for wave in (0, 2))

    def estimated(chosen: tuple[Cell, ...], wave: int | None = None) -> list[int]:
        results = analyse([RevisionCounts(stored, asked, chosen)], wave=wave)
        export_document(results)
        return [len(question.estimates) for question in results.questions]

    assert estimated(cells) == [0, 1]
    assert estimated(cells, 0) == estimated(cells, 2) == estimated(cells[:1]) == [1, 1]
