"""One function judges whatever comes, by whichever way: no way in without its looks at length, window and values."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from sottovoce.aggregator.intake.admission import Admission, SurveyRules, decode_fast_batch
from sottovoce.aggregator.intake.decode import MOST_ITEMS
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.redemption import token_hash
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Survey

from tests.conftest import FakeClock
from tests.surveys import document, survey

AGE = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "public": True, "min": 0, "max": 10_000}
WINDOW = {"opens": "2026-01-01T00:00:00Z", "closes": "2027-01-01T00:00:00Z"}
ASKED = survey(questions=[document()["questions"][0], AGE], **WINDOW)
TOKEN = "0" * 16

Door = Callable[[Admission, Survey, Report, str], str]


def alone(admission: Admission, asked: Survey, report: Report, token: str = "") -> str:
    """The reason for a report sent alone; empty if it was admitted."""
    try:
        admission.admit(asked.name, dump_report(report, asked), token)
    except ReportRejected as rejection:
        return rejection.code
    return ""


def batched(admission: Admission, asked: Survey, report: Report, token: str = "", fast: bool = False) -> str:
    """The same for the only report of a batch."""
    text = dump_report(report, asked).decode().rstrip()
    item = f'{{"report":{text},"token":"{token}"}}' if token else f'{{"report":{text}}}'
    body = f'{{"format":"sottovoce-batch/1","items":[{item}]}}'.encode()
    assert (decode_fast_batch(body, MOST_ITEMS) is not None) is fast
    (reply,) = json.loads(admission.begin_batch(asked.name, body).reply())["items"]
    return str(reply.get("code", ""))


def in_a_fast_batch(admission: Admission, asked: Survey, report: Report, token: str = "") -> str:
    """The same for one of the batches that are not decoded."""
    return batched(admission, asked, report, token, fast=not token)


def in_a_slow_batch(admission: Admission, asked: Survey, report: Report, token: str = "") -> str:
    """The same for one that is: a token, of use or not, makes it so."""
    return batched(admission, asked, report, token or TOKEN)


DOORS = [alone, in_a_fast_batch, in_a_slow_batch]
doors = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)


def sent(number: int, asked: Survey = ASKED, **changes: object) -> Report:
    """The report of this number."""
    report = Report(asked.name, asked.digest, 0, f"{number:032x}", (number % 2, number))
    return replace(report, **changes)  # type: ignore[arg-type]


@doors
@pytest.mark.parametrize(
    ("seconds", "expected"), [(-1, "closed"), (0, ""), (365 * 86400 - 1, ""), (365 * 86400, "closed")]
)
def test_every_door_keeps_the_window(
    storage: SQLiteStorage, clock: FakeClock, door: Door, seconds: int, expected: str
) -> None:
    """Also if another report was let in before, with the same values."""
    storage.publish(ASKED)
    admission = Admission(storage, clock)
    assert door(admission, ASKED, sent(1), "") == ""
    assert ASKED.opens is not None
    clock.moment = ASKED.opens + timedelta(seconds=seconds)

    assert door(admission, ASKED, sent(2, values=sent(1).values), "") == expected
    assert storage.surveys()[0].reports == (1 if expected else 2)
    assert door(admission, ASKED, sent(1), "") == ""


@doors
def test_every_door_looks_at_the_length(
    storage: SQLiteStorage, clock: FakeClock, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One byte more than this survey's reports have is too long, whatever the values say."""
    storage.publish(ASKED)
    admission = Admission(storage, clock)
    longest = sent(10_000)
    assert door(admission, ASKED, longest, "") == ""
    monkeypatch.setattr(SurveyRules, "length", lambda *_: len(dump_report(longest, ASKED)) - 1)

    assert door(admission, ASKED, replace(longest, report_id="f" * 32), "") == "malformed"
    assert storage.surveys()[0].reports == 1


@doors
@pytest.mark.parametrize("values", [(2, 0), (0, 10_001), (0,), (0, 1, 1), ()])
def test_every_door_looks_at_the_values(
    storage: SQLiteStorage, clock: FakeClock, door: Door, values: tuple[int, ...]
) -> None:
    """Impossible ones are refused as such, or for their length where there are too many of them."""
    storage.publish(ASKED)
    admission = Admission(storage, clock)

    assert door(admission, ASKED, sent(1, values=values), "") in {"out_of_range", "malformed"}
    assert storage.surveys()[0].reports == 0


@doors
@pytest.mark.parametrize("broken", ["_check_values", "check_open", "check"])
def test_no_door_passes_by_the_rules(
    storage: SQLiteStorage, clock: FakeClock, door: Door, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule that says no to everything is heard at every door."""

    def refuse(*_: object) -> None:
        raise ReportRejected("out_of_range", "no")

    storage.publish(ASKED)
    monkeypatch.setattr(SurveyRules, broken, refuse)
    assert door(Admission(storage, clock), ASKED, sent(1), "") == "out_of_range"
    assert storage.surveys()[0].reports == 0


@doors
def test_report_after_close_is_refused_at_once(tmp_path: Path, clock: FakeClock, door: Door) -> None:
    """Though the rules are remembered, and another process has closed; from then on no transaction is needed for it."""
    ours, other = SQLiteStorage(tmp_path / "db.sqlite"), SQLiteStorage(tmp_path / "db.sqlite")
    ours.publish(ASKED)
    admission = Admission(ours, clock)
    assert door(admission, ASKED, sent(1), "") == ""
    other.close_survey(ASKED.name, 20_000)

    assert door(admission, ASKED, sent(2), "") == "closed"
    admission._submit = None  # type: ignore[assignment] # whatever submits now fails
    assert door(admission, ASKED, sent(3), "") == "closed"
    assert door(admission, ASKED, sent(1), "") == ""
    assert admission.rejected == {"closed": 2}
    assert [row.reports for row in other.surveys()] == [1]
    for storage in (ours, other):
        storage.close()


@doors
def test_token_buys_no_second_draw_on_an_open_survey(storage: SQLiteStorage, clock: FakeClock, door: Door) -> None:
    """The first report under an id stays, whatever token comes with another one; and nothing is spent."""
    storage.publish(ASKED)
    storage.add_tokens(1, [token_hash(TOKEN, "exam")])
    admission = Admission(storage, clock)
    assert door(admission, ASKED, sent(1), "") == ""

    assert door(admission, ASKED, sent(1, values=(0, 1)), TOKEN) == "id_conflict"
    assert door(admission, ASKED, sent(1), TOKEN) == ""
    assert list(storage.rows(1)) == [sent(1).values]
    assert storage.token_counts(1).spent == 0
    assert storage.has_token(1, token_hash(TOKEN, "exam"))


@pytest.mark.parametrize("door", [alone, in_a_slow_batch], ids=lambda door: door.__name__)
def test_token_buys_one_report(storage: SQLiteStorage, clock: FakeClock, door: Door) -> None:
    """Another id under the same token is refused; the first report again is not."""
    asked = survey(questions=[document()["questions"][0], AGE], access="token")
    storage.publish(asked)
    storage.add_tokens(1, [token_hash(TOKEN, "exam")])
    admission = Admission(storage, clock)

    assert door(admission, asked, sent(1, asked), TOKEN) == ""
    assert door(admission, asked, sent(2, asked), TOKEN) == "token_invalid"
    assert door(admission, asked, sent(1, asked), TOKEN) == ""
    assert in_a_fast_batch(admission, asked, sent(3, asked)) == "token_invalid"
    assert list(storage.rows(1)) == [(1, 1)]


def test_report_alone_needs_its_padding(storage: SQLiteStorage, clock: FakeClock) -> None:
    """A length of its own would tell about the values in it."""
    storage.publish(ASKED)
    admission = Admission(storage, clock)
    short = dump_report(sent(1), ASKED).rstrip()
    assert len(short) < len(dump_report(sent(1), ASKED))

    with pytest.raises(ReportRejected) as rejected:
        admission.admit(ASKED.name, short)
    assert rejected.value.code == "malformed"


def test_longest_report_of_a_fast_batch_is_looked_at(
    storage: SQLiteStorage, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is too long among others that are not is refused, and they are stored."""
    storage.publish(ASKED)
    reports = [dump_report(sent(number), ASKED).decode().rstrip() for number in (1, 10_000, 2)]
    monkeypatch.setattr(SurveyRules, "length", lambda *_: len(reports[1]) - 1)
    items = ",".join(f'{{"report":{report}}}' for report in reports)
    body = f'{{"format":"sottovoce-batch/1","items":[{items}]}}'.encode()
    assert decode_fast_batch(body, MOST_ITEMS) is not None
    replies = json.loads(Admission(storage, clock).begin_batch(ASKED.name, body).reply())["items"]

    assert [reply.get("code", "") for reply in replies] == ["", "malformed", ""]
    assert storage.surveys()[0].reports == 2


@doors
def test_every_door_knows_the_waves_apart(storage: SQLiteStorage, clock: FakeClock, door: Door) -> None:
    """Each wave has its own window, and each report keeps its wave."""
    days = ["2026-01-01", "2026-05-01", "2026-09-01"]
    waves = [{"opens": f"{day}T00:00:00Z", "closes": f"{end}T00:00:00Z"} for day, end in pairwise(days)]
    asked = survey(questions=[document()["questions"][0], AGE], waves=waves)
    storage.publish(asked)
    admission = Admission(storage, clock)

    assert [door(admission, asked, sent(wave, asked, wave=wave), "") for wave in range(3)] == [
        "closed", "", "out_of_range",
    ]  # fmt: skip
    known = storage.find_report(1, bytes.fromhex(f"{1:032x}"))
    assert known is not None
    assert known.wave == 1
    clock.moment = clock.moment.replace(month=2)
    assert [door(admission, asked, sent(8 + wave, asked, wave=wave), "") for wave in range(2)] == ["", "closed"]
