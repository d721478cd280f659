import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.intake.admission import Admission, Pending, SurveyRules, check_values, decode_fast_batch
from sottovoce.aggregator.intake.decode import MOST_ITEMS, decode_batch, decode_report, dump
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.errors import REJECTIONS, ReportRejected
from sottovoce.shared.redemption import token_hash
from sottovoce.shared.report import MAX_WAVE, Report, dump_report, parse_report
from sottovoce.shared.spec import Survey

from tests.conftest import FakeClock
from tests.recount import recount
from tests.surveys import ANSWERS, document, months, survey
from tests.unit.shared.test_schema import validator

SURVEY = survey(opens="2026-01-01T00:00:00Z", closes="2027-01-01T00:00:00Z")


@pytest.fixture
def admission(storage: SQLiteStorage, clock: FakeClock) -> Admission:
    storage.publish(SURVEY)
    return Admission(storage, clock)


def report() -> Report:
    return randomize(SURVEY, encode(SURVEY, ANSWERS), Draws())


def reason(admission: Admission, body: bytes, name: str = "exam", act: Any = Admission.admit) -> str:
    with pytest.raises(ReportRejected) as rejected:
        act(admission, name, body)
    return rejected.value.code


def test_admit_gives_the_same_receipt_to_every_copy(admission: Admission, storage: SQLiteStorage) -> None:
    """A retry is acknowledged like the first try and counted once."""
    body = dump_report(report(), SURVEY)

    assert admission.admit("exam", body) == admission.admit("exam", body)
    assert storage.surveys()[0].reports == 1


def test_admit_acknowledges_a_known_report_after_close(admission: Admission, storage: SQLiteStorage) -> None:
    """Who lost the receipt gets it even when the survey has closed meanwhile."""
    body = dump_report(report(), SURVEY)
    first = admission.admit("exam", body)
    storage.close_survey("exam", 20_000)

    assert admission.admit("exam", body) == first
    assert reason(admission, dump_report(report(), SURVEY)) == "closed"


def test_begin_from_memory_does_without_the_database_or_does_nothing(
    admission: Admission, storage: SQLiteStorage, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A survey that is not remembered, a report that fails a check: whoever must not wait is told so, and no more."""

    def begin(sent: Report) -> Pending | None:
        return admission.begin_from_memory(admission.read("exam", dump_report(sent, SURVEY)))

    assert begin(report()) is None
    admission.admit("exam", dump_report(report(), SURVEY))
    monkeypatch.setattr(storage, "read", None)  # whatever reads now fails
    begun = begin(report())
    assert json.loads(begun.reply())["format"] == "sottovoce-receipt/1"
    assert begin(replace(report(), values=(9, 0, 0))) is None
    assert begin(replace(report(), digest="0" * 64)) is None
    clock.moment = clock.moment.replace(year=2020)
    assert begin(report()) is None
    monkeypatch.undo()
    assert not admission.rejected
    assert storage.surveys()[0].reports == 2


def test_admit_refuses_another_report_under_a_known_id(admission: Admission, storage: SQLiteStorage) -> None:
    first = report()
    admission.admit("exam", dump_report(first, SURVEY))
    other = replace(first, values=(1 - (first.values[0] or 0), *first.values[1:]))

    assert reason(admission, dump_report(other, SURVEY)) == "id_conflict"
    assert list(storage.rows(1)) == [first.values]


def test_admit_names_the_reason(admission: Admission) -> None:
    good = report()
    other_text = survey(title={"en": "Changed"})
    cases = [
        ("unknown_survey", dump_report(good, SURVEY), "nothing"),
        ("unknown_survey", dump_report(replace(good, survey="axem"), SURVEY), "exam"),
        ("digest_mismatch", dump_report(replace(good, digest=other_text.digest), SURVEY), "exam"),
        ("out_of_range", dump_report(replace(good, values=(2, 0, 0)), SURVEY), "exam"),
        ("out_of_range", dump_report(replace(good, values=(0, 3, 0)), SURVEY), "exam"),
        ("out_of_range", dump_report(replace(good, values=(0, 0)), SURVEY), "exam"),
        ("malformed", dump_report(replace(good, values=(None, 0, 0)), SURVEY), "exam"),
        ("malformed", dump_report(good, SURVEY) + b" ", "exam"),
        ("malformed", dump_report(good, SURVEY).rstrip()[:-1], "exam"),
    ]

    assert [reason(admission, body, name) for _, body, name in cases] == [code for code, _, _ in cases]
    assert admission.rejected == {"unknown_survey": 2, "digest_mismatch": 1, "out_of_range": 3, "malformed": 3}
    assert set(admission.rejected) <= set(REJECTIONS)


def test_admit_wants_exactly_as_many_answers_as_are_asked(storage: SQLiteStorage, clock: FakeClock) -> None:
    asking = survey(ask=1)
    storage.publish(asking)
    admission = Admission(storage, clock)
    base = Report("exam", asking.digest, 0, "0" * 32, (1, None, 0))

    def body(number: int, *values: int | None) -> bytes:
        return dump_report(replace(base, report_id=f"{number:032x}", values=values), asking)

    admission.admit("exam", body(1, 1, None, 0))
    admission.admit("exam", body(2, None, 2, 0))
    for number, values in enumerate([(1, 2, 0), (1, 2, None), (None, 3, 0)], 3):
        assert reason(admission, body(number, *values)) == "out_of_range"
    # More nulls make a report longer than any honest one.
    for number, values in enumerate([(None, None, 0), (1, None, None)], 6):
        assert reason(admission, body(number, *values)) == "malformed"
        with pytest.raises(ReportRejected, match="as many questions"):
            check_values(asking, values)
    assert recount(storage, storage.surveys()[0]) == storage.live_counts(1) == {0: {1: 1}, 1: {2: 1}, 2: {0: 2}}


def mutants(body: str) -> list[bytes]:
    document: dict[str, Any] = json.loads(body)
    waves = ("-0", "0.0", "0e0", "false", "null", '"0"', "10000", '0,"wave":0', " 0", '0,"extra":1')
    texts = [
        *(body.replace('"wave":0', f'"wave":{wave}') for wave in waves),
        body.replace('"wave":0,', ""),
        *(body.replace('"values":[', f'"values":[{value},') for value in ("true", "NaN", "1e999", "00", "[]")),
        body.replace('"values":[', '"values":{'),
        body.replace("sottovoce-report/1", "sottovoce-report/2"),
        body.replace("sottovoce-report/1", "sottovoce\\u002dreport/1"),
        body.replace('"survey":"exam"', '"survey":"\\ud800"'),
        body.replace(document["report_id"], document["report_id"].upper().replace("0", "A")),
        body.replace(document["report_id"], document["report_id"][:-1]),
        body.replace(document["report_id"], "g" * 32),
        body.replace(document["digest"], document["digest"].upper()),
        json.dumps(document),
        json.dumps(document, sort_keys=True, separators=(",", ":")),
        f"[{body}]",
        f" {body}",
        f"{body}\n",
        f"{body}{body}",
        "\ufeff" + body,
        "",
        "null",
        "1",
        '"x"',
        "[" * 60_000,
        '{"a":' * 12_000,
    ]
    bytes_only = [body.encode("utf-16"), body.encode() + b"\xff", body.encode() + b"\0", b"\xed\xa0\x80"]
    return [text.encode() for text in texts] + bytes_only


def test_both_parsers_refuse_every_mutant() -> None:
    body = dump_report(report(), SURVEY)
    fast, reference = decode_report(body), parse_report(body)
    assert all(getattr(fast, field) == value for field, value in vars(reference).items())
    for mutant in mutants(body.decode().rstrip()):
        for parse in (decode_report, parse_report):
            with pytest.raises(ReportRejected) as rejected:
                parse(mutant)
            assert rejected.value.code == "malformed", mutant[:200]


@pytest.mark.parametrize("question", ["is_withdrawn", "find_report"])
def test_withdrawal_that_another_overtakes_is_confirmed(
    admission: Admission, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch, question: str
) -> None:
    """Somebody else withdraws the report just after one of the questions, whether it is there or withdrawn."""
    sent = report()
    admission.admit("exam", dump_report(sent, SURVEY))
    body = json.dumps({"report_id": sent.report_id}, separators=(",", ":")).encode()
    original = getattr(storage, question)

    def overtaken(*where: Any) -> Any:
        told = original(*where)
        monkeypatch.setattr(storage, question, original)
        assert admission.withdraw("exam", body) is not None
        return told

    monkeypatch.setattr(storage, question, overtaken)
    assert admission.withdraw("exam", body) == admission.withdraw("exam", body) is not None


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
    text = dump_report(report, asked).decode().rstrip()
    item = f'{{"report":{text},"token":"{token}"}}' if token else f'{{"report":{text}}}'
    body = f'{{"format":"sottovoce-batch/1","items":[{item}]}}'.encode()
    assert (decode_fast_batch(body, MOST_ITEMS) is not None) is fast
    (reply,) = json.loads(admission.begin_batch(asked.name, body).reply())["items"]
    return str(reply.get("code", ""))


def in_a_fast_batch(admission: Admission, asked: Survey, report: Report, token: str = "") -> str:
    return batched(admission, asked, report, token, fast=not token)


def in_a_slow_batch(admission: Admission, asked: Survey, report: Report, token: str = "") -> str:
    """The same for one that is: a token, of use or not, makes it so."""
    return batched(admission, asked, report, token or TOKEN)


DOORS = [alone, in_a_fast_batch, in_a_slow_batch]

doors = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)


def sent(number: int, asked: Survey = ASKED, **changes: object) -> Report:
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
    storage.publish(ASKED)
    admission = Admission(storage, clock)

    assert door(admission, ASKED, sent(1, values=values), "") in {"out_of_range", "malformed"}
    assert storage.surveys()[0].reports == 0


@doors
@pytest.mark.parametrize("broken", ["_check_values", "check_open", "check"])
def test_no_door_passes_by_the_rules(
    storage: SQLiteStorage, clock: FakeClock, door: Door, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
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

    assert reason(admission, short, ASKED.name) == "malformed"


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
    days = ["2026-01-01", "2026-05-01", "2026-09-01"]
    waves = [{"opens": f"{day}T00:00:00Z", "closes": f"{end}T00:00:00Z"} for day, end in pairwise(days)]
    asked = survey(questions=[document()["questions"][0], AGE], waves=waves)
    storage.publish(asked)
    admission = Admission(storage, clock)

    assert [door(admission, asked, sent(wave, asked, wave=wave), "") for wave in range(3)] == [
        "closed", "", "out_of_range",
    ]  # fmt: skip
    known = storage.find_report(1, bytes.fromhex(f"{1:032x}"))
    assert known.wave == 1
    clock.moment = clock.moment.replace(month=2)
    assert [door(admission, asked, sent(8 + wave, asked, wave=wave), "") for wave in range(2)] == ["", "closed"]


def item(sent: Report, token: str = "") -> str:
    text = dump_report(sent, SURVEY).decode().rstrip()
    return f'{{"report":{text},"token":"{token}"}}' if token else f'{{"report":{text}}}'


def batch(*items: str) -> bytes:
    return f'{{"format":"sottovoce-batch/1","items":[{",".join(items)}]}}'.encode()


def replies(admission: Admission, *items: str) -> list[Any]:
    document = json.loads(admission.begin_batch("exam", batch(*items)).reply())
    validator("batch-receipt").validate(document)
    return list(document["items"])


def test_batch_answers_each_item_in_order_and_keeps_the_good_ones(admission: Admission, storage: SQLiteStorage) -> None:
    good, known = report(), report()
    admission.admit("exam", dump_report(known, SURVEY))
    other = survey(title={"en": "Changed"})
    answered = replies(
        admission,
        "1",
        '{"reports":{}}',
        item(replace(report(), values=(2, 0, 0))),
        item(replace(report(), digest=other.digest)),
        item(replace(report(), survey="axem")),
        item(good),
        item(good).replace('"wave":0', '"wave":-0'),
        item(good).replace(":{", ": {"),
        item(replace(known, values=(1 - (known.values[0] or 0), *known.values[1:]))),
        item(known),
        item(good),
    )

    receipt = admission.admit("exam", dump_report(good, SURVEY))
    assert [reply.get("code", "-") for reply in answered] == [
        "malformed", "malformed", "out_of_range", "digest_mismatch", "unknown_survey", "-", "malformed", "malformed",
        "id_conflict", "-", "-",
    ]  # fmt: skip
    assert answered[5] == answered[10] == receipt
    assert storage.surveys()[0].reports == 2
    assert admission.rejected["malformed"] == 4


def test_batch_whose_ids_are_all_too_short_stores_nothing(admission: Admission, storage: SQLiteStorage) -> None:
    """Ids of one length are looked at together; the wrong length must fail then too."""
    short = [item(one).replace(one.report_id, one.report_id[1:]) for one in (report(), report())]

    assert [reply["code"] for reply in replies(admission, *short)] == ["malformed", "malformed"]
    assert storage.surveys()[0].reports == 0


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        batch(),
        batch(*["1"] * 1001),
        batch("1") + b" ",
        batch("1").replace(b":[", b": ["),
        batch("1").replace(b"batch/1", b"batch/2"),
        batch("1").replace(b'{"format', b'{"items":[],"format'),
        batch("[" * 200_000),
        b"\xff" + batch("1"),
    ],
    ids=lambda body: body[:40],
)
def test_batch_that_is_none_is_refused_as_a_whole(admission: Admission, body: bytes) -> None:
    assert reason(admission, body, act=Admission.begin_batch) == "malformed"


def test_withdraw_takes_a_report_back_until_close(admission: Admission, storage: SQLiteStorage) -> None:
    first, second = report(), report()
    for sent in (first, second):
        admission.admit("exam", dump_report(sent, SURVEY))
    asked = json.dumps({"report_id": first.report_id}, separators=(",", ":")).encode()
    confirmation = admission.withdraw("exam", asked)
    validator("withdrawal").validate(confirmation)
    assert reason(admission, dump_report(first, SURVEY)) == "withdrawn"
    storage.close_survey("exam", 20_000)

    assert admission.withdraw("exam", asked) == confirmation
    assert admission.withdraw("exam", asked.replace(first.report_id.encode(), b"0" * 32)) is None
    other = asked.replace(first.report_id.encode(), second.report_id.encode())
    assert reason(admission, other, act=Admission.withdraw) == "closed"
    assert reason(admission, dump_report(first, SURVEY)) == "withdrawn"


def test_report_of_a_wave_that_is_over_is_not_taken_back(storage: SQLiteStorage, clock: FakeClock) -> None:
    """While the survey goes on: tables of the wave read before and after would differ by that report."""
    panel = survey(waves=[{"opens": "2026-05-01T00:00:00Z", "closes": "2026-06-02T00:00:00Z"}, months(11)[10]])
    storage.publish(panel)
    admission, sent = Admission(storage, clock), randomize(panel, encode(panel, ANSWERS), Draws())
    admission.admit("exam", dump_report(sent, panel))
    clock.moment += timedelta(days=1)

    asked = json.dumps({"report_id": sent.report_id}, separators=(",", ":")).encode()
    assert reason(admission, asked, act=Admission.withdraw) == "closed"


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"report_id":1}', b'{"report_id": "x"}', b'{"report_id":"' + b"F" * 32 + b'"}']
)
def test_withdraw_refuses_what_is_no_withdrawal(admission: Admission, body: bytes) -> None:
    assert reason(admission, body, act=Admission.withdraw) == "malformed"


def test_purged_survey_answers_closed_to_everything(admission: Admission, storage: SQLiteStorage) -> None:
    """Once ids are gone no report is known again, whatever was remembered before."""
    sent = report()
    admission.admit("exam", dump_report(sent, SURVEY))
    storage.close_survey("exam", 20_000)
    storage.purge(1)
    asked = json.dumps({"report_id": sent.report_id}, separators=(",", ":")).encode()

    assert reason(admission, dump_report(sent, SURVEY)) == "closed"
    assert replies(admission, item(sent)) == [{"code": "closed"}]
    assert reason(admission, asked, act=Admission.withdraw) == "closed"


WHOLE = survey()


@pytest.fixture
def node(storage: SQLiteStorage, clock: FakeClock) -> Admission:
    """A node that has admitted a report, and so remembers the survey."""
    storage.publish(WHOLE)
    admission = Admission(storage, clock)
    admission.admit("exam", body(0))
    return admission


def body(number: int) -> bytes:
    return dump_report(Report("exam", WHOLE.digest, 0, f"{number:032x}", (1, 2, 0)), WHOLE)


def test_reopened_survey_is_open_at_a_node_that_saw_it_closed(node: Admission, storage: SQLiteStorage) -> None:
    """What it remembers of the closed one is read again."""
    storage.close_survey("exam", 1)
    assert [reason(node, body(1)), reason(node, body(1))] == ["closed", "closed"]
    storage.reopen_survey("exam")

    assert node.admit("exam", body(1))["report_id"] == f"{1:032x}"


@pytest.mark.parametrize("closed", [False, True])
def test_deleted_survey_is_unknown_at_a_node_that_remembers_it(
    node: Admission, storage: SQLiteStorage, closed: bool
) -> None:
    """Also a report that it admitted; a withdrawal finds nothing; nothing is stored for the next survey."""
    if closed:
        storage.close_survey("exam", 1)
        assert reason(node, body(1)) == "closed"
    storage.delete_survey("exam")
    other = storage.publish(survey(name="other")).key
    found = [reason(node, body(2)), reason(node, body(2)), reason(node, body(0))]
    with pytest.raises(ReportRejected) as rejected:
        node.withdraw("exam", json.dumps({"report_id": f"{0:032x}"}, separators=(",", ":")).encode())

    assert [*found, rejected.value.code] == ["unknown_survey"] * 4
    assert list(storage.rows(other)) == []


REPORTS = [Report("exam", SURVEY.digest, 0, f"{number:032x}", (number % 2, number % 3, 0)) for number in range(5)]
GOOD = batch(*map(item, REPORTS))
A, B = (REPORTS[number].report_id for number in (1, 2))


def test_batch_comes_apart_into_what_the_parser_finds() -> None:
    fast = decode_fast_batch(GOOD, MOST_ITEMS)
    parsed = [found.report for found in decode_batch(GOOD) if found is not None]

    assert (fast.survey, fast.digest, fast.wave) == ("exam", SURVEY.digest, 0)
    assert fast.ids == "".join([found.report_id for found in parsed])
    assert [fast.head + rest + b"]}" for rest in fast.rests] == [dump(found) for found in parsed]


@pytest.mark.parametrize("sizes", [(1,), (5,), (1000,)])
def test_both_ways_give_the_same_reply(storage: SQLiteStorage, clock: FakeClock, sizes: tuple[int]) -> None:
    storage.publish(SURVEY)
    admission = Admission(storage, clock)
    sent = [report() for _ in range(*sizes)]
    longer = batch(*[item(one, "0" * 16) for one in sent])
    assert decode_fast_batch(longer, MOST_ITEMS) is None
    first = admission.begin_batch("exam", batch(*map(item, sent))).reply()

    assert json.loads(first)["items"][0] == admission.admit("exam", dump_report(sent[0], SURVEY))
    assert first == admission.begin_batch("exam", longer).reply()
    assert first == admission.begin_batch("exam", batch(*map(item, sent))).reply()
    assert storage.surveys()[0].reports == len(sent)
    sent[-1] = replace(sent[-1], values=(1 - (sent[-1].values[0] or 0), *sent[-1].values[1:]))
    mixed = json.loads(admission.begin_batch("exam", batch(*map(item, sent))).reply())["items"]
    assert mixed == [*json.loads(first)["items"][:-1], {"code": "id_conflict"}]
    assert admission.rejected == {"id_conflict": 1}


def test_values_of_different_sizes_are_stored_as_they_came(storage: SQLiteStorage, clock: FakeClock) -> None:
    """One byte, two bytes, a number that one byte keeps for what was not answered: each report is itself."""
    age = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "public": True, "min": 0, "max": 10_000}
    asked = survey(questions=[document()["questions"][0], age])
    storage.publish(asked)
    admission = Admission(storage, clock)
    values = [(number % 2, value) for number, value in enumerate([3, 254, 255, 256, 9_999, 10_000, 300, 0, 255])]
    sent = [Report(asked.name, asked.digest, 0, f"{9 - number:032x}", pair) for number, pair in enumerate(values)]
    body = batch(*[f'{{"report":{dump_report(one, asked).decode().rstrip()}}}' for one in sent])
    assert decode_fast_batch(body, MOST_ITEMS) is not None
    receipts = json.loads(admission.begin_batch(asked.name, body).reply())["items"]

    assert receipts == [admission.admit(asked.name, dump_report(one, asked)) for one in sent]
    assert list(storage.rows(1)) == values[::-1]
    assert storage.live_counts(1) == recount(storage, storage.surveys()[0])


VALUES, SENT = "[1,1,0]", GOOD.decode()
CHANGES = [
    (A, A.upper().replace("1", "A")), (A, A[1:]), (A, A + "0"), (A, A[:-1] + "g"), (A, A[:-2] + "é"),
    *((VALUES, wrong) for wrong in (
        "[1, 1,0]", "[1,01,0]", "[1,-0,0]", "[1,true,0]", "[1,1.0,0]", "[1,1,0,]", "[1,1,0]]", "[1,1,[0]]",
        '[1,1,0],"values":[0,0,0]', '[1,1,0],"x":[0]', "[1,1,\x000]", "[1,1,9]", "[1,1]", "[]", "[null,1,0]",
        f"[1,1,{2**70}]",
    )),
    (f'0,"report_id":"{B}', f'-0,"report_id":"{B}'), ('"wave":0', f'"wave":{MAX_WAVE + 1}'), ('"wave":0', '"wave":00'),
    (f'"{A}","', f'"{A}", "'), (SURVEY.digest, "0" * 64), ('"exam"', '"axem"'),
]  # fmt: skip
WRONG = [
    *(SENT.replace(right, wrong) for right, wrong in CHANGES), SENT + " ", SENT[:-1], SENT[:-2] + ",]}",
    SENT[:-2] + "{}]}", SENT[:-2] + ',{"report":{}}]}', SENT.replace('"report":{', '"report":{"x":1,', 1),
    SENT.replace(f'0,"report_id":"{A}', f'1,"report_id":"{A}').replace(B, "x"),
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_judged_by_the_parser(storage: SQLiteStorage, clock: FakeClock, wrong: str) -> None:
    """Whatever is changed, both ways agree: here the shorter one is shut."""
    storage.publish(SURVEY)
    quick, slow = Admission(storage, clock), Admission(storage, clock)
    slow._begin_fast = lambda *_: None  # type: ignore[method-assign]
    body = wrong.encode()
    assert body != GOOD
    replies = []
    for admission in (quick, slow):
        try:
            replies.append(admission.begin_batch("exam", body).reply())
        except ReportRejected as rejection:
            replies.append(rejection.code.encode())

    assert replies[0] == replies[1]
    assert quick.rejected == slow.rejected
    assert sum(quick.rejected.values()) > 0
