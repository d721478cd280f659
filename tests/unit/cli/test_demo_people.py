"""The demonstration's people answer at once and stop when it does; invented people do not wait."""

import json
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import requests
from sottovoce.aggregator.planning.simulated_survey import invent
from sottovoce.aggregator.planning.vectorized_randomizers import seeded
from sottovoce.aggregator.storage.models import SESSION_IDLE, SESSION_MOST
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.client.draws import Draws
from sottovoce.client.link import Link
from sottovoce.client.transport import TRIES, Transport
from sottovoce.demo import respondents
from sottovoce.demo.run import (
    ComparedCell,
    compare_cells,
    demo_answers,
    demo_survey,
    in_words,
    keep_signed_in,
    mixed,
    prepare,
)
from sottovoce.shared.errors import TransportError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import question, survey as document
from tests.unit.client.fakes import Reply, Session, acknowledge
from tests.vectors.arms import fact_arms


def test_nobody_goes_on_answering_once_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[Any] = []

    class Person:
        def __init__(self, *_: object) -> None:
            pass

        def answer(self, answers: dict[str, str]) -> None:
            if answers["cheated"] == "fails":
                raise TransportError("refused")
            time.sleep(0.001)
            answered.append(answers)

    monkeypatch.setattr(respondents, "Respondent", Person)
    people = [{"cheated": "fails"}, *({"cheated": "yes"} for _ in range(10_000))]
    with pytest.raises(TransportError):
        respondents.send_all("http://nowhere.invalid", demo_survey(), people)
    assert len(answered) < 5_000


def test_nobody_answers_who_would_begin_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told to end after the third report: each of those who answer at once brings theirs to its end."""
    is_over, arrived = threading.Event(), []

    class Person:
        def __init__(self, *_: object) -> None:
            pass

        def answer(self, _: dict[str, str]) -> None:
            pass

    def count() -> None:
        arrived.append(1)
        if len(arrived) == 3:
            is_over.set()

    monkeypatch.setattr(respondents, "Respondent", Person)
    respondents.send_all("http://nowhere.invalid", demo_survey(), [{"cheated": "yes"}] * 10_000, count, is_over)
    assert 3 <= len(arrived) <= 3 + respondents.AT_ONCE


def test_nobody_waits_for_another_try_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The aggregator heard the same Ctrl-C, and is gone: the seconds between tries are not waited for."""
    is_over = threading.Event()

    def gone(_: object) -> Reply:
        is_over.set()
        raise requests.ConnectionError

    session, waited = Session(gone), []

    def connect(origin: str, sleep: Callable[[float], bool]) -> Transport:
        return Transport(origin, session, lambda seconds: waited.append(sleep(seconds)))

    monkeypatch.setattr(respondents, "Transport", connect)
    with pytest.raises(TransportError, match="cannot be reached"):
        respondents.send_all("http://nowhere.invalid", demo_survey(), demo_answers()[:1], is_over=is_over)
    assert waited == [True] * (TRIES - 1)


def test_whoever_watches_sees_the_share_of_all() -> None:
    """Everybody answers once, and each 500 who follow one another have nearly the share of all, which is 32.2 %."""
    people = mixed(demo_answers())
    assert sorted(map(str, people)) == sorted(map(str, demo_answers()))
    for begin in range(0, 5_866, 100):
        assert 0.3 < sum(each["affair_coin"] == "yes" for each in people[begin : begin + 500]) / 500 < 0.345


def test_researcher_who_reads_on_stays_signed_in(storage: SQLiteStorage) -> None:
    """For the twelve hours of a session; elsewhere it ends after half an hour without use."""
    owner = prepare(storage)
    assert storage.access.start_session(b"s" * 32, owner.id, "link", 0)
    for moment in range(0, SESSION_MOST, SESSION_IDLE // 2):
        keep_signed_in(storage, owner, moment)
    assert storage.access.session(b"s" * 32, SESSION_MOST) is not None
    assert storage.access.session(b"s" * 32, SESSION_MOST + 1) is None


def test_one_report_has_half_the_interval_and_finds_the_truth() -> None:
    """In all four cells, whose truths are those of the file; the text says what it costs for one answer."""
    people = demo_answers()
    cells = compare_cells(people, Draws(seeded("together")))
    assert round(sum(cell.truth for cell in cells), 9) == 1
    yes = sum(each["affair_coin"] == "yes" for each in people)
    assert round((cells[0].truth + cells[1].truth) * len(people)) == yes
    for cell in cells:
        low, high = cell.together
        assert low <= cell.truth <= high
        assert 0.4 < (high - low) / (cell.apart[1] - cell.apart[0]) < 0.65
    told = in_words(cells)
    assert len(told) == 7
    assert "9:1 for people who know the other, and 5:1 for anyone else, instead of 3:1" in told[-1]


def test_terminal_rounds_ties_as_pages_do() -> None:
    """A double of .0125 is above the tie, and one of .0065 below it; both tell the truth and the limits."""
    (line,) = in_words([ComparedCell(("yes", "no"), 0.0125, (0.0065, 0.0125), (0.0065, 0.5))])[2:-1]
    assert line.split() == ["yes", "and", "no", "1.3%", *["0.6%", "to", "1.3%"], *["0.6%", "to", "50.0%"]]


SURVEY = parse_survey(document(question({"name": "coin_flip"}), privacy={"send_within_hours": 168}))


def test_invented_people_do_not_wait_for_a_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A survey whose reports wait for days is tried out in one go."""
    session = Session(Reply(content=SURVEY.canonical), acknowledge)
    monkeypatch.setattr(respondents, "Transport", lambda origin, **_: Transport(origin, session))
    arrived: list[int] = []
    link = Link("https://a.example", SURVEY.name, SURVEY.digest[:32])
    respondents.send_invented(link, SURVEY, invent(SURVEY, 2, 1), 1, lambda: arrived.append(1))
    respondents.send_all("https://a.example", SURVEY, [{"q": "yes"}], lambda: arrived.append(1))
    reports = [json.loads(options["data"]) for _, url, options in session.requests if url.endswith("/reports")]

    assert len(arrived) == len(reports) == 3
    assert {report["digest"] for report in reports} == {SURVEY.digest}


def test_invented_people_of_every_arm_hide_answers_by_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each device draws its arm anew, so that there is a typed answer for each question."""
    asked = parse_survey(fact_arms())
    session = Session(Reply(content=asked.canonical), acknowledge)
    monkeypatch.setattr(respondents, "Transport", lambda origin, **_: Transport(origin, session))
    link = Link("https://a.example", asked.name, asked.digest[:32])
    respondents.send_invented(link, asked, invent(asked, 40, 1), 1, lambda: None)
    reports = [
        json.loads(options["data"])["values"] for _, url, options in session.requests if url.endswith("/reports")
    ]

    assert all(asked.asks_for(values) for values in reports)
    assert {values[-1] for values in reports} == {0, 1, 2}
    assert {values[values[-1] + 1] for values in reports if values[-1] < 2} == {0, 1}
