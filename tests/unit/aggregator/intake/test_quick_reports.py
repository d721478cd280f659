"""A report that is checked by comparing bytes gets what it gets when it is decoded: reply, rows and counts."""

import asyncio
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.intake import request_limits
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.intake.asgi_gate import Gate
from sottovoce.aggregator.intake.request_limits import LARGER, MAX_BODY
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import ReportRejected, StorageError
from sottovoce.shared.redemption import token_hash
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Survey

from tests.conftest import FakeClock
from tests.surveys import document, months, survey
from tests.unit.aggregator.intake.test_admission import mutants
from tests.unit.aggregator.intake.test_asgi_gate import PATH, ask_raw, run

DAYS = {"type": "integer", "name": "days", "label": {"en": "Days?"}, "public": True, "min": 0, "max": 100}
QUESTIONS = [*document()["questions"], DAYS]
OPEN, TWIN = survey(questions=QUESTIONS), survey(name="twin", questions=QUESTIONS)
INVITED = survey(name="invited", access="token", questions=QUESTIONS)
MONTHLY = survey(name="monthly", questions=QUESTIONS, waves=months(6))
TOKEN = "0" * 16
TOGETHER = 40
"""Requests that are under way at once, so that turns of the loop have several."""


@dataclass(frozen=True)
class Sent:
    """One request: where to, what, and with which headers; by default those of a browser's report."""

    body: bytes
    path: str = PATH
    headers: tuple[tuple[str, str], ...] = ()
    length: str | None = None

    @property
    def head(self) -> list[tuple[str, str]]:
        length = str(len(self.body)) if self.length is None else self.length
        return [("host", "x"), ("content-type", "application/json"), ("content-length", length), *self.headers]


KEPT = [
    "SELECT * FROM reports",
    "SELECT * FROM cells",
    "SELECT * FROM counts",
    "SELECT * FROM tombstones",
    "SELECT * FROM tokens",
]

Answer = tuple[int, list[tuple[str, str]], bytes]
Step = Sequence[Sent] | Callable[[SQLiteStorage], object]


def report(number: int, asked: Survey = OPEN, **changes: Any) -> bytes:
    digits = sha256(f"{number}".encode()).hexdigest()[:32]
    sent = Report(asked.name, asked.digest, 0, digits, (number % 2, number % 3, number // 2 % 2, number % 101))
    return dump_report(replace(sent, **changes), asked)


def check_head_one_by_one(method: str, path: str, headers: Sequence[tuple[str, str]]) -> int:
    """What ``check_head`` says, as it was written first: header by header."""
    seen: dict[str, str] = {}
    for name, value in headers:
        if name in seen and name in {"content-length", "content-type", "authorization"}:
            raise Refusal("malformed")
        seen[name] = value
    if method != "POST":
        return 0
    declared = seen.get("content-length")
    if declared is None or "transfer-encoding" in seen:
        raise Refusal("length_required")
    if not (declared.isascii() and declared.isdigit()) or len(declared) > 12:
        raise Refusal("malformed")
    kinds = {"application/json", "application/json;charset=utf-8", "application/json; charset=utf-8"}
    if (int(declared) > 0 and seen.get("content-type", "").lower() not in kinds) or "content-encoding" in seen:
        raise Refusal("unsupported_type")
    if int(declared) > next((limit for end, limit in LARGER.items() if path.endswith(end)), MAX_BODY):
        raise Refusal("too_large")
    return int(declared)


class Node:
    """An aggregator with a database of its own; with ``decodes`` it decodes every report."""

    def __init__(self, folder: Path, clock: FakeClock, decodes: bool = False) -> None:
        self.path = folder / f"{decodes}.sqlite"
        self.storage = SQLiteStorage(self.path)
        for published in (OPEN, INVITED, TWIN, MONTHLY):
            self.storage.publish(published)
        self.storage.add_tokens(self.storage.revisions("invited")[0].key, [token_hash(TOKEN, "invited")])
        self.app = create_app(Settings(), self.storage, clock, {})
        self.gate = Gate(self.app, Settings(), self.storage)
        self.decodes = decodes
        self.quick = 0

    def answers(self, steps: Sequence[Step], patch: pytest.MonkeyPatch, together: int = TOGETHER) -> list[Answer]:
        original = Admission.read_quick

        def counted(admission: Admission, name: str, body: bytes) -> Any:
            quick = None if self.decodes else original(admission, name, body)
            self.quick += quick is not None
            return quick

        async def ask(step: Sequence[Sent]) -> list[Answer]:
            found: list[Answer] = []
            for at in range(0, len(step), together):
                some = step[at : at + together]
                found += await asyncio.gather(
                    *(ask_raw(self.gate, "POST", sent.path, sent.head, sent.body) for sent in some)
                )
            return found

        found: list[Answer] = []
        with patch.context() as inner:
            inner.setattr(Admission, "read_quick", counted)
            if self.decodes:
                inner.setattr(request_limits, "check_head", check_head_one_by_one)
            for step in steps:
                if callable(step):
                    step(self.storage)
                else:
                    found += run(ask(step), 900)
        return found

    def kept(self) -> dict[str, Any]:
        """All that is left of them: rows, counts, spent tokens, and reasons of refusals."""
        with sqlite3.connect(f"file:{self.path}?mode=ro", uri=True) as db:
            rows = {text: sorted(db.execute(text), key=repr) for text in KEPT}
        return {**rows, "rejected": self.app.extensions["admission"].rejected}


@pytest.fixture
def nodes(tmp_path: Path, clock: FakeClock) -> Iterator[tuple[Node, Node]]:
    """One that compares bytes where it can, and one that decodes everything."""
    pair = Node(tmp_path, clock), Node(tmp_path, clock, decodes=True)
    yield pair
    for node in pair:
        node.storage.close()


def check_equal(
    nodes: tuple[Node, Node], steps: Sequence[Step], patch: pytest.MonkeyPatch, together: int = TOGETHER
) -> list[int]:
    """Compare status, headers, body, rows and counts of both nodes; return the statuses."""
    quick, decoding = (node.answers(steps, patch, together) for node in nodes)
    sent = [one for step in steps if not callable(step) for one in step]
    assert [one for one, *answers in zip(sent, quick, decoding, strict=True) if answers[0] != answers[1]] == []
    assert nodes[0].kept() == nodes[1].kept()
    return [status for status, *_ in quick]


def hostile() -> list[Sent]:
    """Requests that nearly are a report, each in one way."""
    body = report(1)
    bare, spaces = body.rstrip(), len(body) - len(body.rstrip())
    twin = report(1, TWIN)
    bodies = [
        *(text.ljust(len(body)) for text in mutants(bare.decode())),
        body[:-1], body + b" ", body[:-1] + b"\n", body[:-1] + b"\0", bare + b"\t" * spaces, b" " + body[:-1],
        bare[:-2] + b" ]}" + body[len(bare) + 1 :], bare[:-1] + b" }" + body[len(bare) + 1 :],
        bare.replace(b'"values":[', b'"values":[ ').ljust(len(body)),
        bare.replace(b'"values":[1', b'"values":[+1').ljust(len(body)),
        bare.replace(b'"values":[1', b'"values":[1.0').ljust(len(body)),
        bare.replace(b'"values":[1', b'"values":[-1').ljust(len(body)),
        bare.replace(b'"values":[1', b'"values":["1"').ljust(len(body)),
        bare.replace(b'"values":[1', b'"values":[null').ljust(len(body)),
        bare.replace(b'"values":[1', b'"values":[9').ljust(len(body)),
        bare.replace(b"]}", b"],}").ljust(len(body)), bare.replace(b"]}", b"]}}").ljust(len(body)),
        bare.replace(b"]}", b',0]}').ljust(len(body)), bare.replace(b"]}", b"]}]}").ljust(len(body)),
        bare.replace(b'","values":[', b'","values":[0],"values":[').ljust(len(body)),
        bare.replace(b'","values":[', b'" ,"values":[').ljust(len(body)),
        body.replace(b'"report_id":"', b'"report_id":"\xc3\xa9')[: len(body)], body[:100] + b"\xff" + body[101:],
        body.replace(b'"wave":0', b'"wave":1'), body.replace(b'"wave":0', b'"wave":9'), twin, b'","values":[]}',
        body[:-40], b'"values":[' + body, bytes(len(body)), bytes(reversed(body)),
    ]  # fmt: skip
    heads = [
        [("content-length", str(len(body)))], [("content-type", "application/json")], [("authorization", "Bearer x")],
        [("authorization", "")], [("authorization", ""), ("authorization", "")], [("authorization", "Blind abc")],
        [("content-encoding", "identity")], [("content-encoding", "")], [("transfer-encoding", "chunked")],
        [("transfer-encoding", "")], [("expect", "100-continue")], [("x-forwarded-for", "203.0.113.1")],
        [("x-forwarded-for", "203.0.113.1"), ("x-forwarded-for", "203.0.113.2")], [("accept", "a"), ("accept", "b")],
        [("accept", "text/html")], [("content_length", "7")], [("content-length ", "7")],
    ]  # fmt: skip
    lengths = ["", "0", "00", f"0{len(body)}", f"+{len(body)}", f" {len(body)}", f"{len(body)}.0", "9" * 13, "٣",
               "70000", str(len(body) - 1), str(len(body) + 1), "-1", "1_0"]  # fmt: skip
    paths = ["/api/v1/surveys/twin/reports", "/api/v1/surveys/none/reports", "/api/v1/surveys/invited/reports",
             "/api/v1/surveys/EXAM/reports",
             "/api/v1/surveys/exam%20/reports", "/api/v1/surveys/é/reports"]  # fmt: skip
    invited = "/api/v1/surveys/invited/reports"
    return [
        *(Sent(one) for one in bodies),
        Sent(report(77, values=(9, 0, 0, 0))),
        Sent(report(78, wave=9)),
        *(Sent(body, headers=tuple(head)) for head in heads),
        *(Sent(body, length=length) for length in lengths),
        *(Sent(body, path) for path in paths),
        Sent(report(5, INVITED), invited), Sent(report(5, INVITED), invited, (("authorization", f"Bearer {TOKEN}"),)),
        Sent(report(5, INVITED), invited), Sent(report(6, INVITED), invited, (("authorization", f"Bearer {TOKEN}"),)),
        Sent(report(7, INVITED), invited),
    ]  # fmt: skip


def mutated(number: int, draws: random.Random) -> Sent:
    body, place, byte = bytearray(report(number)), draws.randrange(len(report(0))), draws.randrange(256)
    kind = draws.choice(["changed", "inserted", "deleted", "moved", "digit", "length", "header", "whole"])
    if kind in {"deleted", "moved"}:
        byte = body.pop(place)
    if kind == "moved":
        body.insert(draws.randrange(len(body) - 3, len(body) + 1), byte)
    elif kind == "inserted":
        body.insert(place, byte)
    elif kind == "changed":
        body[place] = byte
    elif kind == "digit":
        body[place] = draws.choice(b'0123456789abcdefn,[]{}" -')
    sent = Sent(bytes(body))
    if kind == "length":
        return replace(sent, length=str(len(body) + draws.randrange(-2, 3)))
    if kind == "header":
        name, value = draws.choice([*sent.head, ("authorization", f"Bearer {TOKEN}"), ("content-encoding", "gzip")])
        at, letter = draws.randrange(len(name)), chr(draws.randrange(33, 127)).lower()
        return replace(sent, headers=((draws.choice([name, name[:at] + letter + name[at + 1 :]]), value),))
    return sent


def many(number: int, seed: int) -> list[Step]:
    """So many mutated reports; before some of them comes the report that they were made of, before others a copy."""
    draws = random.Random(seed)  # noqa: S311 - which byte is changed is no secret
    steps: list[Step] = [[Sent(report(0))]]
    for start in range(1, number + 1, 500):
        numbers = range(start, min(start + 500, number + 1))
        steps += [
            [Sent(report(one)) for one in numbers if draws.random() < 0.3],
            [mutated(one, draws) for one in numbers],
            [Sent(report(one, values=(0, 0, 0, 0))) for one in numbers if draws.random() < 0.1],
        ]
    return steps


def test_hostile_requests_get_the_same_by_both_ways(nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch) -> None:
    requests = hostile()
    assert len(requests) >= 67 + 40
    honest = [Sent(report(1))], [Sent(report(one)) for one in range(40)]
    # One by one: of two reports with one id that come together, either may be the first.
    statuses = check_equal(nodes, [requests, honest[0], requests, honest[1], requests], monkeypatch, together=1)

    assert {200, 400, 404, 409, 411, 413, 415, 422} <= {*statuses}
    assert nodes[0].quick > 40


@pytest.mark.parametrize("number", [2_000, pytest.param(100_000, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])])
def test_mutated_reports_get_the_same_by_both_ways(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    statuses = check_equal(nodes, many(number, seed=number), monkeypatch)

    assert len(statuses) > 1.3 * number
    assert nodes[0].quick > number / 3


def test_survey_that_changes_between_two_reports_is_the_same_by_both_ways(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Corrected, one withdrawn, closed, reopened, closed and deleted, each time after reports that fill the cache."""
    corrected = survey(questions=QUESTIONS, revision=2, title={"en": "Exams, corrected"})
    old = [Sent(report(one)) for one in range(30)]
    new = [Sent(report(100 + one, corrected)) for one in range(30)]

    def withdraw(storage: SQLiteStorage) -> None:
        key = storage.revisions("exam")[0].key
        plan = next(rules.plan for rules in Admission(storage, FakeClock())._load("exam") if rules.stored.key == key)
        storage.withdraw(plan, bytes.fromhex(sha256(b"3").hexdigest()[:32]))

    steps: list[Step] = [
        old[:20], withdraw, old[:22], lambda storage: storage.publish(corrected), [*old[:24], *new[:10], *old[20:26]],
        new[5:15], lambda storage: storage.close_survey("exam", 20_000), [*old, *new[:20]], new,
        lambda storage: storage.reopen_survey("exam"), [*old, *new],
        [Sent(report(9, TWIN), "/api/v1/surveys/twin/reports")],
        lambda storage: storage.close_survey("exam", 20_001), lambda storage: storage.delete_survey("exam"),
        [*old, *new],
    ]  # fmt: skip
    statuses = check_equal(nodes, steps, monkeypatch)

    assert {*statuses} == {200, 404, 409, 410}
    assert nodes[0].quick > 60


def test_wave_that_ends_between_two_reports_is_the_same_by_both_ways(
    nodes: tuple[Node, Node], clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock says so and no database; the next wave is not open yet, or is, and copies get their receipts."""
    june, july = clock.moment, clock.moment + timedelta(days=31)
    sent = [
        [Sent(report(one, MONTHLY, wave=wave), PATH.replace("exam", "monthly")) for one in range(9)] for wave in (5, 4)
    ]
    more = [Sent(report(one, MONTHLY, wave=5), PATH.replace("exam", "monthly")) for one in range(20, 29)]

    def at(moment: datetime) -> Step:
        return lambda _: setattr(clock, "moment", moment)

    statuses = check_equal(nodes, [at(june), *sent, sent[0], at(july), [*sent[0], *more], more], monkeypatch)

    assert statuses == [200] * 9 + [409] * 9 + [200] * 18 + [409] * 18
    assert nodes[0].quick >= 9


@pytest.mark.parametrize(
    ("error", "status"),
    [(ReportRejected("busy", "full"), 200), (StorageError("the disk is full"), 503), (KeyError("bug"), 200)],
)
def test_turn_that_fails_as_a_whole_fails_none_for_another(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch, error: Exception, status: int
) -> None:
    """A queue without room for all, or a report that meets a bug: each is tried by itself. A disk that fails, fails."""
    storage, admission = nodes[0].storage, nodes[0].app.extensions["admission"]
    original, submit = storage.store, admission._submit

    def store(arrivals: Any) -> Any:
        if sum(map(len, arrivals)) > 1:
            raise error
        return original(arrivals)

    def submit_few(job: Any) -> Any:
        if sum(map(len, job)) > 1:
            raise error
        return submit(job)

    check = [Sent(report(0))]
    nodes[0].answers([check], monkeypatch)
    if isinstance(error, ReportRejected):
        monkeypatch.setattr(admission, "_submit", submit_few)
    else:
        monkeypatch.setattr(storage, "store", store)
    answers = nodes[0].answers([[Sent(report(one)) for one in range(1, 20)]], monkeypatch)

    assert {found for found, *_ in answers} == {status}
    assert len(nodes[0].kept()[KEPT[0]]) == (1 if status == 503 else 20)


def test_reports_of_one_turn_are_one_job_and_one_who_leaves_leaves_alone(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others get their receipts, and no byte stays counted."""
    gate, admission = nodes[0].gate, nodes[0].app.extensions["admission"]
    nodes[0].answers([[Sent(report(0))]], monkeypatch)
    jobs: list[int] = []
    submit = admission._submit
    monkeypatch.setattr(admission, "_submit", lambda job: jobs.append(sum(map(len, job))) or submit(job))

    async def leave() -> list[Any]:
        sent = [Sent(report(one)) for one in range(1, 11)]
        tasks = [asyncio.create_task(ask_raw(gate, "POST", one.path, one.head, one.body)) for one in sent]
        while not jobs:
            await asyncio.sleep(0)
        tasks[4].cancel()
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = run(leave())
    assert jobs == [10]
    assert [type(answer) is tuple and answer[0] for answer in answers] == [200] * 4 + [False] + [200] * 5
    assert gate._bytes == 0


def test_copies_in_one_turn_get_what_copies_one_by_one_get(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first stays, its copy gets the receipt again, and another report with its id is refused; one row is left."""
    other = report(1, values=(0, 0, 0, 0))
    sent = [Sent(report(1)), Sent(report(1)), Sent(other), Sent(report(1)), Sent(report(2))]
    nodes[0].answers([[Sent(report(0))]], monkeypatch)
    answers = nodes[0].answers([sent], monkeypatch)

    assert [status for status, *_ in answers] == [200, 200, 409, 200, 200]
    assert len({body for status, _, body in answers[:4] if status == 200}) == 1
    assert len(nodes[0].kept()[KEPT[0]]) == 3
    assert nodes[0].app.extensions["admission"].rejected == {"id_conflict": 1}


@pytest.mark.parametrize("change", ["correct", "close", "delete", "end"])
def test_change_between_check_and_transaction_decides_as_for_a_decoded_report(
    nodes: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """A corrected survey still takes reports of its first revision; of one closed, deleted or ending no row is left."""
    storage, admission = nodes[0].storage, nodes[0].app.extensions["admission"]
    nodes[0].answers([[Sent(report(0))]], monkeypatch)
    submit, changes = admission._submit, []

    def end(_job: Any) -> Any:
        raise StorageError("the aggregator is ending")

    def late(job: Any) -> Any:
        if not changes:
            changes.append(change)
            if change == "correct":
                storage.publish(survey(questions=QUESTIONS, revision=2, title={"en": "Corrected"}))
            elif change in {"close", "delete"}:
                storage.close_survey("exam", 20_000)
            if change == "delete":
                storage.delete_survey("exam")
        return (end if change == "end" else submit)(job)

    monkeypatch.setattr(admission, "_submit", late)
    answers = nodes[0].answers([[Sent(report(one)) for one in range(1, 6)]], monkeypatch)

    expected = {"correct": 200, "close": 409, "delete": 404, "end": 503}[change]
    assert [status for status, *_ in answers] == [expected] * 5
    assert len(nodes[0].kept()[KEPT[0]]) == {"correct": 6, "close": 1, "delete": 0, "end": 1}[change]
    assert nodes[0].gate._bytes == 0
