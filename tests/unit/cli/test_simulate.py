"""Invented people answer a survey as its respondents would, but for what only a person needs."""

import json

import pytest
from sottovoce.aggregator.planning.simulated_survey import invent
from sottovoce.client.link import Link
from sottovoce.client.transport import Transport
from sottovoce.demo import respondents
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import question, survey as document
from tests.unit.client.fakes import Reply, Session, acknowledge

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
