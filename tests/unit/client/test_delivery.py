"""A drawn report is sent, sent again, or taken back; and what was taken back or forgotten is drawn by nobody."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from sottovoce.client.delivery import drawn_for, readable
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Key
from sottovoce.client.ledger_entry import name_of
from sottovoce.client.link import parse_link
from sottovoce.client.respondent import Respondent
from sottovoce.client.terminal import earlier
from sottovoce.client.transport import Transport
from sottovoce.client.waiting import draw_send_at
from sottovoce.shared.errors import BudgetExhausted, NotYet, SurveyError, TransportError

from tests.surveys import ANSWERS, months, survey
from tests.unit.client.fakes import Reply, Session, acknowledge

ORIGIN = "https://a.example"
KEY = Key(ORIGIN, "exam")


def confirm(body):
    report_id = json.loads(body)["report_id"]
    return Reply(content={"format": "sottovoce-withdrawal/1", "survey": "exam", "report_id": report_id})


@pytest.fixture
def ledger(tmp_path):
    return FileLedger(tmp_path)


def person(ledger, *replies, asks=None, **options):
    """(respondent, session)."""
    session = Session(*replies)
    return Respondent(asks or survey(), Transport(ORIGIN, session, lambda _: None), ledger, **options), session


def refused(me):
    """The words with which every way to another report is refused; nothing goes out."""
    said = set()
    for way in (me.send, lambda: me.answer(ANSWERS), lambda: me.answer({})):
        with pytest.raises(BudgetExhausted) as caught:
            way()
        said.add(str(caught.value))
    return " ".join(said)


def test_receipt_is_known_without_the_network(ledger):
    me, session = person(ledger, Reply(500), Reply(500), Reply(500), Reply(500), Reply(500), acknowledge)
    with pytest.raises(TransportError):
        me.answer(ANSWERS)
    assert me.receipt is None
    sent = me.send()

    assert (person(ledger, Reply(500))[0].receipt, len(session.requests)) == (sent, 6)


@pytest.mark.parametrize(("ended", "why"), [("", "wave 0: .*closed"), ("forgotten", "forgotten")])
def test_report_of_a_wave_that_is_over_keeps_no_other_from_being_withdrawn(ledger, monkeypatch, ended, why):
    """Nor one that was forgotten; the wave that is refused is told at the end."""
    asks = survey(waves=months(2))
    for wave in (0, 1):
        person(ledger, acknowledge, asks=asks, wave=wave)[0].answer(ANSWERS)
    if ended:
        ledger.end(KEY, ended)
    session = Session(confirm, Reply(409, {"code": "closed"}))
    monkeypatch.setattr(earlier, "notifying_transport", lambda origin: Transport(origin, session))
    link = parse_link(f"{ORIGIN}/s/exam#d={asks.digest[:32]}&w=1")

    with pytest.raises(SurveyError, match=why):
        list(earlier.withdraw(ledger, link, earlier.reports_to_withdraw(ledger, link)))
    assert {record.key.wave: record.entry.ended for record in readable(ledger)[0]} == {0: ended, 1: "withdrawn"}


@pytest.mark.parametrize("wave", [False, 0.0, "0", None])
def test_receipt_that_only_python_thinks_equal_is_refused(ledger, wave):
    """False is 0 to Python, and to no other reader."""
    honest = lambda body: Reply(content={**json.loads(acknowledge(body).content), "wave": wave})  # noqa: E731
    me, _ = person(ledger, honest)

    with pytest.raises(TransportError, match="not for the report"):
        me.answer(ANSWERS)
    assert me.receipt is None


def test_withdrawn_report_is_neither_sent_nor_drawn_again(ledger):
    me, session = person(ledger, acknowledge, confirm)
    me.answer(ANSWERS)
    me.withdraw()
    with pytest.raises(BudgetExhausted, match="withdrawn"):
        me.withdraw()
    again, silent = person(ledger, acknowledge)

    assert "withdrawn" in refused(again)
    assert (again.drawn, again.receipt, silent.requests) == (True, None, [])
    assert ledger.spent(ORIGIN) == survey().epsilon
    assert len(session.requests) == 2


@pytest.mark.parametrize(
    "reply",
    [Reply(409, {"code": "closed"}), Reply(404, {"code": "not_found"}), Reply(404), Reply(503), Reply(content={}),
     Reply(content={"format": "sottovoce-withdrawal/1", "survey": "exam", "report_id": "0" * 32})],
    ids=str,
)  # fmt: skip
def test_withdrawal_that_is_not_confirmed_changes_nothing(ledger, reply):
    me, _ = person(ledger, acknowledge, reply)
    me.answer(ANSWERS)

    with pytest.raises(TransportError):
        me.withdraw()
    assert not ledger.get(KEY).ended


@pytest.mark.parametrize(("code", "kept"), [("not_found", False), ("unknown_survey", True), (None, True)])
def test_report_that_never_arrived_is_withdrawn_here(ledger, code, kept):
    """The aggregator knows no such report: it is not sent any more. Another 404 says nothing about the report."""
    me, _ = person(ledger, Reply(400), Reply(404, {"code": code}))
    with pytest.raises(TransportError):
        me.answer(ANSWERS)
    if kept:
        with pytest.raises(TransportError):
            me.withdraw()
    else:
        me.withdraw()

    assert ledger.get(KEY).waiting is kept


def test_forgotten_report_is_not_drawn_again(ledger):
    me, session = person(ledger, acknowledge)
    me.answer(ANSWERS)
    ledger.forget(name_of(KEY))

    assert "forgotten" in refused(me)
    with pytest.raises(BudgetExhausted, match="forgotten"):
        me.withdraw()
    assert len(session.requests) == 1


@pytest.mark.parametrize("body", ["{}", "x", "\\ud800"])
def test_what_is_no_report_is_not_sent(ledger, body):
    me, session = person(ledger, acknowledge)
    me.answer(ANSWERS)
    path = next(ledger.folder.glob("*.json"))
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "body": "@"}).replace('"@"', f'"{body}"'))

    assert "no report" in refused(me)
    assert len(session.requests) == 1


def test_reports_of_a_link_are_found_whatever_the_revision(ledger):
    """By origin, name and token, in any wave; a damaged file of another survey is in nobody's way."""
    token = "0123456789ABCDEF"
    invited = {"access": "token"}
    for wave in (0, 1):
        person(ledger, acknowledge, asks=survey(waves=months(2)), wave=wave)[0].answer(ANSWERS)
    session = Session(acknowledge)
    Respondent(survey(**invited), Transport(ORIGIN, session), ledger, token=token).answer(ANSWERS)
    (ledger.folder / "damaged.json").write_text("{")

    def waves(link):
        return [(key.wave, key.token) for key, _ in drawn_for(ledger, parse_link(link))]

    assert waves(f"{ORIGIN}/s/exam") == [(0, ""), (1, "")]
    assert sorted(waves(f"{ORIGIN}/s/exam#t={token}")) == [(0, ""), (0, token), (1, "")]
    assert waves(f"{ORIGIN}/s/exam#t={token[::-1]}") == [(0, ""), (1, "")]
    assert waves("https://b.example/s/exam") == waves(f"{ORIGIN}/s/other") == []
    assert readable(ledger)[1] == ["damaged"]


@pytest.mark.parametrize(
    ("elapsed", "waits"), [(0, 180), (20, 160), (150, 30), (177.9, 2), (178, 182), (179.9, 180), (400, 140)]
)
def test_report_is_sent_at_a_multiple_of_the_seconds_since_opening(elapsed, waits):
    """How long a person took shows only as the number of the multiple; one that is too near is left out."""
    opened = datetime(2026, 11, 2, 12, tzinfo=UTC)
    present = opened + timedelta(seconds=elapsed)
    asked = survey(privacy={"send_at_seconds": 180})
    moment = draw_send_at(asked, 0, Draws(lambda _: pytest.fail("drew")), present, opened)

    assert (moment - opened.timestamp()) % 180 == 0
    assert round(moment - present.timestamp()) == waits


@pytest.mark.parametrize(("closes", "waits"), [(600, 180), (400, 100), (300, None), (200, None)])
def test_moment_comes_before_the_wave_ends(closes, waits):
    """Five minutes before it at the latest, and in these a report does not wait."""
    opened = datetime(2026, 11, 2, 12, tzinfo=UTC)
    end = f"{opened + timedelta(seconds=closes):%Y-%m-%dT%H:%M:%SZ}"
    asked = survey(closes=end, privacy={"send_at_seconds": 180})

    moment = draw_send_at(asked, 0, Draws(), opened, opened)
    assert moment == (0 if waits is None else opened.timestamp() + waits)


def test_waiting_report_is_sent_once_its_moment_has_come(ledger):
    """Not before; counted from when the survey was opened, by the device's clock."""
    now = [datetime(2026, 11, 2, 12, tzinfo=UTC)]
    asked = survey(privacy={"send_at_seconds": 180})
    me, session = person(ledger, acknowledge, asks=asked, clock=lambda: now[0])
    now[0] += timedelta(seconds=150)
    with pytest.raises(NotYet) as told:
        me.answer(ANSWERS)
    assert (told.value.send_at, session.requests) == ((now[0] + timedelta(seconds=30)).timestamp(), [])
    now[0] += timedelta(seconds=30)
    me.send()
    assert len(session.requests) == 1
