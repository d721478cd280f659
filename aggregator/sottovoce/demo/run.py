"""Run the demonstration from its survey to its verdict: sent, closed, estimated, and held against the truth.

Its answers are Fair's data on extramarital affairs: R. C. Fair, "A Theory of Extramarital Affairs", Journal of
Political Economy 86 (1978): 6,366 women who answered a magazine's survey. Public domain; four of its nine columns are
kept here.
"""

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from threading import Event
from typing import NamedTuple

from sottovoce.aggregator.analysis.estimates import SurveyResults, analyse, revisions_of
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.client.transport import Transport
from sottovoce.demo.respondents import Arrived, DemoAnswers, send_all
from sottovoce.shared.errors import StorageError
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.spec import Survey

MOST_ERRORS = 4.5
"""Standard errors beyond which an estimate would be a bug rather than bad luck: 1 in 150,000 for one estimate."""


class DemoEstimate(NamedTuple):
    """An estimate of the share of one answer, and the true share, which only this demonstration knows.

    Attributes:
        off: how many standard errors lie between them.
        is_public: the question is not randomized, so that there is no standard error of chance.
    """

    question: str
    estimate: Estimate
    truth: float
    off: float
    is_public: bool


def prepare(storage: Storage) -> Account:
    """Publish the demonstration's survey and return its owner; raises StorageError if the database holds it already."""
    survey = demo_survey()
    if storage.revisions(survey.name):
        raise StorageError("this folder holds the demonstration's survey already; choose another")
    storage.publish(survey, who=MACHINE)
    return storage.access.by(MACHINE).add_owner("demo")


def send(url: str, people: Sequence[DemoAnswers], arrived: Arrived, is_over: Event) -> None:
    """Fetch the survey as a device would, and answer it for everybody.

    ``people`` has true answers, as option names by question name; ``is_over`` stops the respondents.
    """
    survey = load_survey(Transport(url, sleep=is_over.wait).fetch_survey(demo_survey().name))
    send_all(url, survey, people, arrived, is_over)


def close(storage: Storage) -> SurveyResults:
    """Close the survey, so that every report counts, and estimate."""
    name = demo_survey().name
    storage.close_survey(name, day_of(now()), MACHINE)
    return analyse(revisions_of(storage, name))


def compare(results: SurveyResults, people: Sequence[DemoAnswers]) -> list[DemoEstimate]:
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
    """Return the distance of the raw estimate from the truth in standard errors; infinite if either is unknown."""
    if estimate.raw is None or estimate.std_error is None:
        return float("inf")
    gap = abs(estimate.raw - truth)
    return 0.0 if gap == 0 else gap / estimate.std_error if estimate.std_error else float("inf")


_OCCUPATIONS = ("student", "manual", "office", "skilled", "manager", "professional")
_RELIGIOUS = ("not_at_all", "mildly", "fairly", "strongly")
_AGES = ((25, "under_25"), (30, "from_25"), (35, "from_30"), (1000, "from_35"))


def demo_survey() -> Survey:
    """Return the survey that the demonstration asks."""
    return parse_survey(parse_yaml(files(__package__).joinpath("survey.yaml").read_bytes()))


def demo_answers() -> list[dict[str, str]]:
    """Return 6,366 respondents' true answers, as option names by question name."""
    text = files(__package__).joinpath("fair.csv").read_text(encoding="ascii")
    return [_answers(row) for row in csv.DictReader(text.splitlines())]


def _answers(row: dict[str, str]) -> dict[str, str]:
    affair = "yes" if float(row["affairs"]) > 0 else "no"
    return {
        "affair_coin": affair,
        "affair_warner": affair,
        "occupation": _OCCUPATIONS[int(float(row["occupation"])) - 1],
        "religious": _RELIGIOUS[int(float(row["religious"])) - 1],
        "age_group": next(name for limit, name in _AGES if float(row["age"]) < limit),
    }
