"""Clients that go beyond what their person allows, or take another survey than the link's, are found."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from sottovoce.audit.check import PASSED
from sottovoce.audit.limits import check_limits
from sottovoce.client import respondent
from sottovoce.client.link import parse_link
from sottovoce.client.transport import Transport

from tests.surveys import survey

ONE = survey()


@pytest.mark.parametrize("asked", [ONE, survey(ask=1), survey(access="token")], ids=["one", "ask", "token"])
def test_honest_client_keeps_to_its_limits(asked: Any) -> None:
    """In all kinds of surveys."""
    assert [check.outcome for check in check_limits(asked)] == [PASSED, PASSED, PASSED]


def half_checked(asked: Any, allowance: Any) -> None:
    """Each question by itself, and not their sum."""
    if any(question.epsilon > allowance.question for question in asked.questions):
        raise respondent.BudgetExhausted("too dear")


@pytest.mark.parametrize("fault", [lambda *_: None, half_checked])
def test_limit_that_is_not_looked_at_is_found(monkeypatch: pytest.MonkeyPatch, fault: Any) -> None:
    """Whichever of the two."""
    monkeypatch.setattr(respondent, "_check_budget", fault)
    assert check_limits(ONE)[0].message == "a survey is begun that costs more than the person allows"


def test_other_survey_than_the_links_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that takes whatever is served."""
    honest = respondent.survey_for
    monkeypatch.setattr(
        respondent,
        "survey_for",
        lambda transport, link: honest(transport, parse_link(f"{link.origin}/s/{link.survey}")),
    )
    assert check_limits(ONE)[1].message == "another survey is taken than the one that the link names"


def test_request_that_names_the_version_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each could be given a link of their own."""
    honest = respondent.survey_for

    def telling(transport: Transport, link: Any) -> Any:
        transport.fetch_file(f"/{link.digest[:4]}")
        return honest(transport, link)

    monkeypatch.setattr(respondent, "survey_for", telling)
    assert check_limits(ONE)[1].message == "what is asked of the aggregator tells which version the link names"


@pytest.mark.parametrize("tell", [logging.getLogger("x").warning, print])
def test_wrong_answer_that_is_told_is_found(monkeypatch: pytest.MonkeyPatch, tell: Callable[[str], None]) -> None:
    """It is refused all the same."""
    honest = respondent.encode

    def encode(asked: Any, answers: Any, places: Any = None) -> Any:
        try:
            return honest(asked, answers, places)
        except respondent.AnswerError:
            tell(str(dict(answers)))
            raise

    monkeypatch.setattr(respondent, "encode", encode)
    assert check_limits(ONE)[2].message == "what was entered and is no answer is repeated, printed, sent or kept"
