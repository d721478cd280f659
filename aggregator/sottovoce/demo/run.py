"""Run the demonstration from its survey to its verdict: sent, closed, estimated, and held against the truth.

Its answers are Fair's data on extramarital affairs: R. C. Fair, "A Theory of Extramarital Affairs", Journal of
Political Economy 86 (1978): 6,366 women who answered a magazine's survey. Public domain; four of its nine columns are
kept here. Two real answers in one report are compared with a coin flip each: the same people, epsilon and answers.
"""

import csv
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from itertools import product
from threading import Event
from typing import Any, NamedTuple

from sottovoce.aggregator.analysis.estimates import SurveyResults, analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.crosstab import crosstab
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.i18n.translator import ENGLISH
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.audit_log.events import MACHINE
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import perturb
from sottovoce.client.transport import Transport
from sottovoce.demo.respondents import Arrived, DemoAnswers, send_all
from sottovoce.shared.errors import StorageError
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.spec import Survey

MOST_ERRORS = 4.5
"""Standard errors beyond which an estimate would be a bug rather than bad luck: 1 in 150,000 for one estimate."""
_STEP = 2459
"""A prime, so that steps of this length around the circle of people reach each of them once."""


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
    send_all(url, survey, mixed(people), arrived, is_over)


def mixed(people: Sequence[DemoAnswers]) -> list[DemoAnswers]:
    """Return all people in another order: the file has its affairs first, so those who watch would see 100 %."""
    return [people[_STEP * place % len(people)] for place in range(len(people))]


def close(storage: Storage) -> SurveyResults:
    """Close the survey, so that every report counts, and estimate."""
    name = demo_survey().name
    storage.close_survey(name, day_of(now()), MACHINE)
    return analyse(revisions_of(storage, name))


def keep_signed_in(storage: Storage, owner: Account, seconds: int) -> None:
    """Count a session of the demonstration as used at a time since 1970: people read for as long as they like."""
    for session in storage.access.sessions(owner.id, seconds):
        storage.access.session(session.hash, seconds)


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


FIRST, SECOND = "affair", "hardly_religious"
_HARDLY = ("not_at_all", "mildly")
_COIN = {"mechanism": {"name": "coin_flip"}}
_BLOCK = {"name": "joint_rr", "odds": "9", "radius": 0}


class ComparedCell(NamedTuple):
    """A cell of the table of two yes/no answers.

    Attributes:
        answers: answer to the first and to the second question.
        truth: its true share.
        apart: low and high end of the 95 % interval from two coin flips.
        together: the same from one report of both answers.
    """

    answers: tuple[str, str]
    truth: float
    apart: tuple[float, float]
    together: tuple[float, float]


def compare_cells(people: Sequence[DemoAnswers], draws: Draws | None = None) -> list[ComparedCell]:
    """Randomize two answers of everybody both ways, and return the cells of both tables.

    ``people`` has true answers, as option names by question name; ``draws`` of None are the system's.
    """
    truths = [(int(each["affair_coin"] == "yes"), int(each["religious"] in _HARDLY)) for each in people]
    asked = [{"type": "boolean", "name": name, "label": {"en": name}} for name in (FIRST, SECOND)]
    apart = _survey([{**each, **_COIN} for each in asked])
    together = _survey([{"block": "both", "mechanism": _BLOCK, "items": asked}])
    first, second = (_table(survey, truths, draws or Draws()) for survey in (apart, together))
    return [
        ComparedCell(
            (("no", "yes")[row], ("no", "yes")[column]),
            truths.count((row, column)) / len(truths),
            first[row][column],
            second[row][column],
        )
        for row, column in product((1, 0), repeat=2)
    ]


def _survey(questions: list[dict[str, Any]]) -> Survey:
    return parse_survey({**demo_survey().document, "questions": questions})


def _table(survey: Survey, truths: Sequence[tuple[int, int]], draws: Draws) -> list[list[tuple[float, float]]]:
    first, second = zip(*(perturb(survey, truth, draws, {}) for truth in truths), strict=True)
    cells = crosstab(Columns.from_arrays(survey, {FIRST: list(first), SECOND: list(second)}), FIRST, SECOND).cells
    return [[(cell.low or 0.0, 1.0 if cell.high is None else cell.high) for cell in row] for row in cells]


def in_words(cells: Sequence[ComparedCell]) -> list[str]:
    """Return the comparison as lines of text, with the widths of the intervals."""
    rows = [
        f"  {' and '.join(cell.answers):12}{ENGLISH.percent(cell.truth):>8}"
        f"{interval(cell.apart):>18}{interval(cell.together):>18}"
        for cell in cells
    ]
    wide, narrow = (
        sum(high - low for low, high in ends) for ends in ([c.apart for c in cells], [c.together for c in cells])
    )
    return [
        f"Two answers, {FIRST.replace('_', ' ')} and {SECOND.replace('_', ' ')}, at the same epsilon, 2.20:",
        f"  {'':12}{'truth':>8}{'two coin flips':>18}{'one report':>18}",
        *rows,
        f"One report of both (a block) has intervals of {ENGLISH.percent(narrow / wide, 0)} of the width; the "
        "odds of one answer are 9:1 for people who know the other, and 5:1 for anyone else, instead of 3:1.",
    ]


def interval(ends: tuple[float, float]) -> str:
    """Write two shares as all pages do, in English."""
    return ENGLISH.interval(*map(ENGLISH.percent, ends))
