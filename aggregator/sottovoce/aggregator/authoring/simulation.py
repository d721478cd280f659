"""Simulate a survey: people answer in memory, through the mechanisms that real respondents will use.

Nothing is stored or sent, and each view computes the simulation again. The settings are the number of simulated people,
and their true shares and means. The seeds are a function of the survey's digest and the settings, so that all pages and
files with the same settings show the same simulated people. The functions that compute real results compute those of a
simulation too.
"""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from fractions import Fraction
from typing import Any, Self

from sottovoce.aggregator.analysis.estimates import QuestionResult, RevisionCounts
from sottovoce.aggregator.authoring.draft import whole_number
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.planning import simulated_survey
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.shared import canonical
from sottovoce.shared.answers import ABSENT
from sottovoce.shared.spec import Question, Survey

FORMAT = "sottovoce-rehearsal/1"

MOST_PEOPLE = 100_000
"""Largest number of simulated people; more would take the server's time from other users."""

PEOPLE = 1_000
"""Number of simulated people if the expected number of respondents is unknown."""

YES = 10.0
"""Default percentage of people for whom an option is true."""

LOWER = Fraction(1, 4)
"""Default mean as a position between minimum and maximum; low, because most distributions are right-skewed."""

MOST_DRAWS = 9_999

_LONGEST = 24


@dataclass(frozen=True)
class Field:
    """Share or mean that can be set.

    Attributes:
        name: name of its parameter in the URL.
        option: name of the option or coordinate; "" for the mean of a number.
        written: value in its canonical spelling, or the default.
        kept: the value is the default, so that URLs need not contain it.
        refused: the given value is invalid; ``written`` is the default.
    """

    name: str
    question: Question
    option: str
    written: str
    is_default: bool
    refused: bool = False


@dataclass(frozen=True)
class Setting:
    """Everything that determines a simulation, apart from the survey.

    Attributes:
        people: number of simulated people.
        again: number of the draw, from 1; another number gives other people with the same settings.
        fields: shares and means that can be set, question by question.
        wanted: the same values for each question, as shares and places.
        refused: names of parameters with invalid values, for which the defaults are used.
    """

    people: int
    again: int
    fields: Sequence[Field]
    wanted: tuple[simulated_survey.SetShares, ...]
    refused: tuple[str, ...]

    @property
    def query(self) -> dict[str, str]:
        """URL parameters of the same simulation."""
        written = {field.name: field.written for field in self.fields if not field.is_default}
        again = {"again": str(self.again)} if self.again > 1 else {}
        return {"n": str(self.people), **again, **written}

    def of(self, question: Question) -> list[Field]:
        """Return the fields of a question."""
        return [field for field in self.fields if field.question is question]


def read_setting(survey: Survey, query: Mapping[str, str], people: int | None) -> Setting:
    """Read the settings from URL parameters; missing and invalid ones get their defaults.

    Args:
        query: ``n``, ``again``, and ``set.question.option`` in percent or ``set.question`` as a mean.
        people: expected number of respondents; None if unknown.
    """
    expected = min(people or PEOPLE, MOST_PEOPLE)
    number, again = _parse_int(query.get("n", ""), MOST_PEOPLE), _parse_int(query.get("again", ""), MOST_DRAWS)
    fields: list[Field] = []
    answered = [survey.questions[first] for first in simulated_survey.answered_once(survey)]
    # The arms' weights are part of the survey, so there is nothing to set.
    for question, own in zip(survey.questions, answered, strict=True):
        if own is not question or simulated_survey.arm_shares(survey, question):
            continue
        fields += _possible([_field(question, option, query) for option in options_to_set(question)])
    refused = [field.name for field in fields if field.refused]
    if query.get("n", "").strip() and number is None:
        refused.insert(0, "n")
    wanted = tuple(
        simulated_survey.SetShares(simulated_survey.arm_shares(survey, question))
        if simulated_survey.arm_shares(survey, question)
        else _set_shares(question, [f for f in fields if f.question is question])
        for question in answered
    )
    return Setting(number or expected, again or 1, fields, wanted, tuple(refused))


def options_to_set(question: Question) -> tuple[str, ...]:
    """Return the options whose share can be set (not "no", it has the rest), or coordinates; ("",) for a number."""
    # A number alone has no options.
    return question.options[question.kind.truth == "yes_no" :] or ("",)


def _field(question: Question, option: str, query: Mapping[str, str]) -> Field:
    name = f"set.{question.name}.{option}" if option else f"set.{question.name}"
    usual, given = _default(question, option), query.get(name, "").strip()
    if not given or given == usual:
        return Field(name, question, option, usual, is_default=True)
    written = _canonical_value(question, given[:_LONGEST])
    if written is None:
        return Field(name, question, option, usual, is_default=True, refused=True)
    return Field(name, question, option, written, is_default=written == usual)


def _default(question: Question, option: str) -> str:
    grid = question.domain.grid
    if grid is not None:
        return grid.text(math.floor(grid.steps * LOWER))
    if question.domain.absent and option == ABSENT:
        return "0"
    if question.known_share is not None and question.kind.truth == "yes_no":
        return _percent(100 * float(question.known_share if option == "yes" else 1 - question.known_share))
    if question.kind.truth == "option":
        return _percent(100 / (question.domain.size - question.domain.absent))
    return _percent(YES)


def _canonical_value(question: Question, given: str) -> str | None:
    """Return a value in its canonical spelling; None unless it is a percentage or a mean within the bounds."""
    grid = question.domain.grid
    try:
        if grid is not None:
            mean = given.replace(",", ".")
            return mean if grid.low <= grid.read(mean) <= grid.high else None
        percent = float(given.removesuffix("%").strip().replace(",", "."))
    except ValueError:
        return None
    return _percent(percent) if 0 <= percent <= 100 else None


def _percent(percent: float) -> str:
    return f"{percent:.2f}".rstrip("0").rstrip(".")


def _possible(fields: list[Field]) -> list[Field]:
    """Return the fields of a question, or all its defaults if the shares cannot hold together."""
    total = sum(float(field.written) for field in fields if field.question.domain.grid is None)
    kind = fields[0].question.kind.truth
    if not ((kind == "yes_no" and total > 100) or (kind == "option" and not total)):
        return fields
    return [replace(f, written=_default(f.question, f.option), is_default=True, refused=True) for f in fields]


def _set_shares(question: Question, fields: Sequence[Field]) -> simulated_survey.SetShares:
    grid = question.domain.grid
    if grid is not None:
        return simulated_survey.SetShares(
            places=tuple(float((grid.read(f.written) - grid.low) / (grid.high - grid.low)) for f in fields)
        )
    shares = [float(field.written) / 100 for field in fields]
    if question.kind.truth == "yes_no":
        return simulated_survey.SetShares((max(1 - sum(shares), 0.0), *shares))
    if question.kind.truth == "option":
        return simulated_survey.SetShares(tuple(share / sum(shares) for share in shares))
    return simulated_survey.SetShares(tuple(shares))


def _parse_int(written: str, most: int) -> int | None:
    found = whole_number(written.strip(), 11) or 0
    return found if 1 <= found <= most else None


def set_figures(question: Question, wanted: simulated_survey.SetShares) -> Iterator[float]:
    """Yield the true values of a question by option: shares; for numbers, means in the question's unit."""
    grid = question.domain.grid
    if grid is None:
        yield from wanted.shares
    else:
        yield from (float(grid.low + Fraction(place) * (grid.high - grid.low)) for place in wanted.places)


@dataclass(frozen=True)
class ComparedEstimate:
    """Estimate with the value in the settings (None if it cannot be set), and the simulated people's."""

    estimate: Estimate
    was_set: float | None
    invented: float


@dataclass(frozen=True)
class Rehearsal:
    """Simulation of a survey: its reports, and for ``true_figure`` the tallies of true values for each question."""

    survey: Survey
    setting: Setting
    reports: simulated_survey.InventedReports
    truths: Sequence[Sequence[simulated_survey.Tally]]

    @classmethod
    def of(cls, survey: Survey, setting: Setting) -> Self:
        """Simulate a survey, of a draft or published."""
        seed_data = canonical.dump([survey.digest, setting.query])
        seed = hashlib.sha256(b"rehearsal people " + seed_data).digest()
        truths = simulated_survey.invent_as_set(survey, setting.people, int.from_bytes(seed), setting.wanted)
        dice = hashlib.sha256(b"rehearsal dice " + seed_data).hexdigest()
        tallies = [
            simulated_survey.true_tallies(question, truth)
            for question, truth in zip(survey.questions, truths, strict=True)
        ]
        return cls(survey, setting, simulated_survey.reports_of(survey, truths, BatchDraws(seeded(dice))), tallies)

    @property
    def revisions(self) -> list[RevisionCounts]:
        """One closed revision, for the functions that compute results."""
        return [self.reports.revision]

    def source(self, now: datetime) -> Source:
        """Return the source of the exported files, each of which has the warning that it is simulated."""
        return Source(self.reports, self.revisions, now, set_up=self.document)

    @property
    def document(self) -> Mapping[str, Any]:
        """Settings as JSON, for the manifest."""
        asked = {question.name: self._set(index) for index, question in enumerate(self.survey.questions)}
        return {"format": FORMAT, "people": self.setting.people, "again": self.setting.again, "questions": asked}

    def comparisons(self, result: QuestionResult) -> list[ComparedEstimate]:
        """Return the estimates of one question with their true values; estimates without a true value are left out."""
        index = self.survey.questions.index(result.question)
        found = []
        for estimate in result.estimates:
            invented = simulated_survey.true_figure(result.question, self.truths[index], estimate)
            if invented is not None:
                found.append(ComparedEstimate(estimate, self._set(index).get(estimate.option), float(invented)))
        return found

    def _set(self, index: int) -> dict[str, float]:
        question, wanted = self.survey.questions[index], self.setting.wanted[index]
        names = question.options if question.domain.options else ("mean",)
        return dict(zip(names, set_figures(question, wanted), strict=True))
