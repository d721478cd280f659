"""The demonstration from its survey to its verdict: sent, closed, estimated, and held against the truth."""

from collections import Counter
from collections.abc import Sequence
from threading import Event
from typing import NamedTuple

from sottovoce.aggregator.analysis.estimates import SurveyResults, analyse, revisions_of
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.client.transport import Transport
from sottovoce.demo.data import demo_survey
from sottovoce.demo.respondents import Answers, Arrived, send_all
from sottovoce.shared.errors import StorageError
from sottovoce.shared.parse_survey import load_survey

MOST_ERRORS = 4.5
"""Standard errors beyond which an estimate would be a bug rather than bad luck: 1 in 150,000 for one estimate."""


class DemoEstimate(NamedTuple):
    """
    An estimate and the true value, which only this demonstration knows.

    Attributes:
        question: its name.
        estimate: of one of its answers.
        truth: the true share.
        off: how many standard errors lie between them.
        is_public: the question is not randomized, so that there is no standard error of chance.
    """

    question: str
    estimate: Estimate
    truth: float
    off: float
    is_public: bool


def prepare(storage: Storage) -> Account:
    """
    Publish the demonstration's survey; returns the account that owns it.

    Raises:
        StorageError: the database holds it already.
    """
    survey = demo_survey()
    if storage.revisions(survey.name):
        raise StorageError("this folder holds the demonstration's survey already; choose another")
    storage.publish(survey, who=MACHINE)
    return storage.access.by(MACHINE).add_owner("demo")


def send(url: str, people: Sequence[Answers], arrived: Arrived, is_over: Event) -> None:
    """
    Fetch the survey as a device would, and answer it for everybody.

    Args:
        url: the aggregator's address.
        people: true answers, as option names by question name.
        arrived: called after each report.
        is_over: set to stop the simulated respondents.
    """
    survey = load_survey(Transport(url, sleep=is_over.wait).fetch_survey(demo_survey().name))
    send_all(url, survey, people, arrived, is_over)


def close(storage: Storage) -> SurveyResults:
    """Close the survey, so that every report counts, and estimate."""
    name = demo_survey().name
    storage.close_survey(name, day_of(now()), MACHINE)
    return analyse(revisions_of(storage, name))


def compare(results: SurveyResults, people: Sequence[Answers]) -> list[DemoEstimate]:
    """Compare every estimate with the truth."""
    rows = []
    for result in results.questions:
        name = result.question.name
        counts = Counter(person[name] for person in people)
        for estimate in result.estimates:
            truth = counts[estimate.option] / len(people)
            rows.append(DemoEstimate(name, estimate, truth, distance(estimate, truth), result.epsilon is None))
    return rows


def distance(estimate: Estimate, truth: float) -> float:
    """Distance of the raw estimate from the truth in standard errors; infinite if either is unknown."""
    if estimate.raw is None or estimate.std_error is None:
        return float("inf")
    gap = abs(estimate.raw - truth)
    return 0.0 if gap == 0 else gap / estimate.std_error if estimate.std_error else float("inf")
