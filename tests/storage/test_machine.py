"""A state machine: what respondents, researchers, time and failures may do, in any order, against a plain model.

The model knows what was acknowledged. Requests and replies get lost, the disk fails, the process is killed between any
two steps (the database is opened anew, without a close), and the clock moves both ways.
"""

import hashlib
import itertools
import json
import shutil
import tempfile
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.intake.admission import Admission
from sottovoce.aggregator.invitations.tokens import create_tokens, revoke_tokens
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.storage.verify_counts import wrong_counts
from sottovoce.aggregator.surveys.housekeeping import Housekeeping
from sottovoce.shared.errors import ReportRejected, StorageError
from sottovoce.shared.report import Report, dump_report

from tests.conftest import FakeClock
from tests.recount import recount
from tests.surveys import survey

NUMBERS = st.integers(0, 11)
_NUMBERS = itertools.count()
VALUES = st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 1))


class Collection(RuleBasedStateMachine):
    """One survey of one database; ``stored`` is what the respondents may rely on."""

    @initialize(token=st.booleans(), batch=st.integers(1, 4), days=st.integers(0, 3))
    def publish(self, token: bool, batch: int, days: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.survey = survey(
            access="token" if token else "open", privacy={"release_batch": batch}, retention={"ids_days": days},
            closes="2026-07-01T00:00:00Z",
        )  # fmt: skip
        self.clock = FakeClock()
        self.path = Path(self.folder.name) / "db.sqlite"
        self.opened: list[SQLiteStorage] = []
        self.reopen()
        self.storage.publish(self.survey)
        self.tokens: list[str] = []
        self.good: set[str] = set()
        self.made = self.spent = self.revoked = 0
        self.stored: dict[str, tuple[int, ...]] = {}
        self.withdrawn: set[str] = set()
        self.closed_on: int | None = None
        self.purged = False
        self.shown = 0

    def reopen(self) -> None:
        self.storage = self.opens()
        self.admission = Admission(self.storage, self.clock)
        self.housekeeping = Housekeeping(self.storage, self.clock, lambda: True)

    def opens(self) -> SQLiteStorage:
        """A process's own way into the database; without syncing, since nothing here cuts the power."""
        storage = SQLiteStorage(self.path)
        storage._handle().execute("PRAGMA synchronous = OFF")
        self.opened.append(storage)
        return storage

    def identity(self, number: int) -> str:
        """A report id made from a number."""
        return hashlib.sha256(b"%d" % number).hexdigest()[:32]

    def expected(self, report_id: str, values: tuple[int, ...], token: str) -> str:
        """What admission must say, by the order of its checks."""
        over = self.closed_on is not None or self.clock.moment >= self.survey.closes  # type: ignore[operator]
        if not self.purged:
            if report_id in self.stored:
                return "" if self.stored[report_id] == values else "id_conflict"
            if report_id in self.withdrawn:
                return "withdrawn"
        if over:
            return "closed"
        return "token_invalid" if self.survey.asks_for_token and token not in self.good else ""

    def admitted(self, report_id: str, values: tuple[int, ...], token: str) -> None:
        if report_id not in self.stored:
            self.stored[report_id] = values
            self.spent += token in self.good
            self.good.discard(token)

    def body(self, report_id: str, values: tuple[int, ...]) -> bytes:
        return dump_report(Report("exam", self.survey.digest, 0, report_id, values), self.survey)

    def token(self, number: int) -> str:
        return self.tokens[number % len(self.tokens)] if self.tokens and self.survey.asks_for_token else ""

    @rule(number=NUMBERS, values=VALUES, token=NUMBERS)
    def send(self, number: int, values: tuple[int, ...], token: int) -> None:
        report_id, word = self.identity(number), self.token(token)
        expected = self.expected(report_id, values, word)
        try:
            self.admission.admit("exam", self.body(report_id, values), word)
        except ReportRejected as rejection:
            assert rejection.code == expected  # noqa: PT017 - some sequences end here, others do not
        else:
            assert not expected
            self.admitted(report_id, values, word)

    @rule(number=NUMBERS, values=VALUES, token=NUMBERS)
    def send_and_lose_the_reply(self, number: int, values: tuple[int, ...], token: int) -> None:
        """The respondent does not know, sends again, and gets the receipt."""
        report_id, word = self.identity(number), self.token(token)
        if not self.expected(report_id, values, word):
            self.admission.begin("exam", self.body(report_id, values), word)
            self.admitted(report_id, values, word)
            self.reopen()
            if not self.purged:
                assert self.admission.admit("exam", self.body(report_id, values), word)["report_id"] == report_id

    @rule(numbers=st.lists(NUMBERS, min_size=1, max_size=6), values=VALUES, token=NUMBERS)
    def send_batch(self, numbers: list[int], values: tuple[int, ...], token: int) -> None:
        """Several at once, copies among them; the first of two with one id or one token wins."""
        items, expected = [], []
        for index, number in enumerate(numbers):
            report_id, word = self.identity(number), self.token(token + index)
            item: dict[str, Any] = {"report": json.loads(self.body(report_id, values))}
            items.append({**item, "token": word} if word else item)
            expected.append(self.expected(report_id, values, word))
            if not expected[-1]:
                self.admitted(report_id, values, word)
        text = json.dumps({"format": "sottovoce-batch/1", "items": items}, separators=(",", ":"))
        replies = json.loads(self.admission.begin_batch("exam", text.encode()).reply())["items"]
        assert [reply.get("code", "") for reply in replies] == expected

    @rule(number=NUMBERS, values=VALUES, token=NUMBERS, step=st.integers(0, 12))
    def disk_fails(self, number: int, values: tuple[int, ...], token: int, step: int) -> None:
        """The n-th statement of a transaction fails: nothing of it is kept, and the next try is as the first."""
        report_id, word = self.identity(number), self.token(token)
        if self.expected(report_id, values, word) or report_id in self.stored:
            return
        failing = _Failing(step)
        self.storage._handle().connection.set_progress_handler(failing, 15)
        try:
            self.admission.admit("exam", self.body(report_id, values), word)
        except StorageError:
            pass
        else:
            self.admitted(report_id, values, word)
        finally:
            failing.left = 10**9

    @rule()
    def crash(self) -> None:
        self.reopen()

    @rule(number=NUMBERS, values=VALUES, token=NUMBERS, step=st.integers(0, 12))
    def killed_at_a_step(self, number: int, values: tuple[int, ...], token: int, step: int) -> None:
        """What the files hold at the n-th statement of a transaction is all of it or nothing; there all goes on."""
        report_id, word = self.identity(number), self.token(token)
        if self.expected(report_id, values, word) or report_id in self.stored:
            return
        copying = _Copying(step, self.path)
        self.storage._handle().connection.set_progress_handler(copying, 15)
        self.admission.admit("exam", self.body(report_id, values), word)
        self.storage._handle().connection.set_progress_handler(None, 0)
        if copying.made:
            self.path = copying.path
            self.reopen()
        if self.storage.find_report(1, bytes.fromhex(report_id)) is not None:
            self.admitted(report_id, values, word)

    @rule(number=NUMBERS, step=st.integers(0, 12))
    def disk_fails_while_withdrawing(self, number: int, step: int) -> None:
        """The report is there or it is gone, with its tombstone and its counts."""
        report_id = self.identity(number)
        if report_id not in self.stored or self.purged or self.clock.moment >= self.survey.closes:  # type: ignore[operator]
            return
        failing = _Failing(step)
        self.storage._handle().connection.set_progress_handler(failing, 15)
        with suppress(ReportRejected, StorageError):
            self.admission.withdraw("exam", json.dumps({"report_id": report_id}, separators=(",", ":")).encode())
        failing.left = 10**9
        if self.storage.is_withdrawn(1, bytes.fromhex(report_id)):
            del self.stored[report_id]
            self.withdrawn.add(report_id)

    @rule(step=st.integers(0, 30))
    def disk_fails_while_keeping_house(self, step: int) -> None:
        """Whatever was left undone is done by the next round."""
        failing = _Failing(step)
        self.storage._handle().connection.set_progress_handler(failing, 15)
        with suppress(StorageError):
            self.housekeeping()
        failing.left = 10**9
        self.keep_house()

    @rule(number=NUMBERS, values=VALUES, token=NUMBERS)
    def send_to_another_process(self, number: int, values: tuple[int, ...], token: int) -> None:
        """A second one has the same file open, and both know what either has stored."""
        mine = self.admission
        self.admission = Admission(self.opens(), self.clock)
        self.send(number, values, token)
        self.admission = mine
        self.send(number, values, token)

    @rule(number=NUMBERS, at=st.integers(0, 400), byte=st.integers(0, 255))
    def send_a_damaged_report(self, number: int, at: int, byte: int) -> None:
        """One byte is another: nothing of it is kept, unless it is another report that is possible."""
        body = bytearray(self.body(self.identity(number), (0, 0, 0)))
        if body[at % len(body)] == byte or chr(byte) in "0123456789abcdef":
            return
        body[at % len(body)] = byte
        with pytest.raises(ReportRejected):
            self.admission.admit("exam", bytes(body), self.token(number))

    @rule()
    def publish_again(self) -> None:
        assert self.storage.publish(self.survey).key == 1

    @rule()
    def scrub(self) -> None:
        """The log is emptied at any moment."""
        self.storage.scrub()

    @rule()
    def move(self) -> None:
        path = Path(self.folder.name) / f"moved{len(self.opened)}.sqlite"
        there = SQLiteStorage(path)
        there.copy_from(self.storage)
        there.close()
        self.path = path
        self.reopen()

    @rule(number=NUMBERS)
    def withdraw(self, number: int) -> None:
        """A report is taken back, perhaps twice, perhaps one that never came."""
        report_id = self.identity(number)
        over = self.closed_on is not None or self.clock.moment >= self.survey.closes  # type: ignore[operator]
        known = report_id in self.stored and not self.purged
        text = json.dumps({"report_id": report_id}, separators=(",", ":")).encode()
        try:
            confirmation = self.admission.withdraw("exam", text)
        except ReportRejected as rejection:
            assert rejection.code == "closed"  # noqa: PT017 - as above
            assert self.purged or (known and over)
            return
        if confirmation is None:
            assert not known
            assert report_id not in self.withdrawn
        elif report_id in self.stored:
            del self.stored[report_id]
            self.withdrawn.add(report_id)

    @rule(count=st.integers(1, 3))
    def make_tokens(self, count: int) -> None:
        if not self.purged:
            made = create_tokens(self.storage, "exam", count)
            self.tokens += made
            self.good |= set(made)
            self.made += count

    @rule(number=NUMBERS)
    @precondition(lambda self: self.tokens)
    def revoke(self, number: int) -> None:
        """A token is taken back, which may be spent already."""
        token = self.tokens[number % len(self.tokens)]
        assert revoke_tokens(self.storage, "exam", [token]) == (token in self.good)
        self.revoked += token in self.good
        self.good.discard(token)

    @rule(hours=st.integers(-30, 400))
    def time_passes(self, hours: int) -> None:
        """Also backwards; somebody says each time that the clock is right, or forgetting would wait for most of it."""
        self.clock.moment += timedelta(hours=hours)
        self.storage.trust_clock(int(self.clock.moment.timestamp()))

    @rule()
    def keep_house(self) -> None:
        self.housekeeping()
        self.note_time()

    def note_time(self) -> None:
        if self.closed_on is None and self.clock.moment >= self.survey.closes:  # type: ignore[operator]
            self.closed_on = day_of(self.survey.closes)  # type: ignore[arg-type]
        if self.closed_on is not None and day_of(self.clock.moment) > self.closed_on + self.survey.ids_days:
            if not self.purged:
                self.good.clear()
            self.purged = True

    @rule()
    def close(self) -> None:
        self.storage.close_survey("exam", day_of(self.clock.moment))
        if self.closed_on is None:
            self.closed_on = day_of(self.clock.moment)

    @rule()
    def backup_and_restore(self) -> None:
        copy = Path(self.folder.name) / "copy"
        self.storage.backup(copy)
        restored = SQLiteStorage(copy)
        assert restored.live_counts(1) == self.storage.live_counts(1)
        assert restored.verify() == []
        restored.close()
        for path in Path(self.folder.name).glob("copy*"):
            path.unlink()

    @invariant()
    def counts_are_those_of_what_was_acknowledged(self) -> None:
        if not hasattr(self, "storage"):
            return
        row = self.storage.surveys()[0]
        assert sorted(self.storage.rows(1)) == sorted(self.stored.values())
        assert row.reports == len(self.stored)
        assert self.storage.live_counts(1) == recount(self.storage, row)
        assert wrong_counts(self.storage) == []
        assert row.purged == self.purged
        counted = self.storage.token_counts(1)
        assert counted[:3] == (self.made, self.spent, self.revoked)
        assert counted.unspent == len(self.good)

    @invariant()
    def snapshots_lag_by_less_than_a_batch_and_are_whole(self) -> None:
        """What is shown adds up, and everything is shown once the survey has closed."""
        if not hasattr(self, "storage"):
            return
        for cell in self.storage.cells(1):
            assert all(sum(tally.values()) == cell.reports for tally in cell.tallies.values())
            if self.closed_on is not None and cell.cohort == ALL:
                assert cell.reports == len(self.stored)

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            for storage in self.opened:
                storage.close()
            self.folder.cleanup()


class _Copying:
    """Copies the files of a database at a step, as a process that is killed there leaves them."""

    def __init__(self, step: int, path: Path) -> None:
        self._left, self._from = step, path
        self.path = path.with_name(f"killed{next(_NUMBERS)}.sqlite")
        self.made = False

    def __call__(self) -> int:
        self._left -= 1
        if self._left == -1:
            for end in ("", "-wal"):
                shutil.copy(f"{self._from}{end}", f"{self.path}{end}")
            self.made = True
        return 0


class _Failing:
    """Interrupts SQLite at a step."""

    def __init__(self, step: int) -> None:
        self.left = step

    def __call__(self) -> int:
        self.left -= 1
        return int(self.left < 0)


CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


class TestCollection(Collection.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=CHECKS)


@pytest.mark.slow
class TestCollectionAtLength(Collection.TestCase):  # type: ignore[name-defined,misc]
    settings = settings(max_examples=2000, stateful_step_count=25, deadline=None, suppress_health_check=CHECKS)
