"""Choose the course of events that whole runs of a client go through, as visits and what the aggregator does.

Each vector of reports goes through one of them, so that all its runs go through the same: a plain report, one that is
refused or cut off and sent again, the corrected survey afterwards, a second wave, another survey before, and an answer
in vain before the right one.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property

from sottovoce.audit.client_process import Visit, link_to
from sottovoce.audit.listener import MockReply
from sottovoce.audit.mock_aggregator import BUSY, CUT, REFUSED, MockAggregator
from sottovoce.audit.python_code import standing_in
from sottovoce.audit.runs import Run, VectorPlan, plan_runs, present_of
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey

PLAIN = "plain"
RETRY = "a retry"
CORRECTION = "a correction"
SECOND_WAVE = "a second wave"
EARLIER = "an earlier survey"
IN_VAIN = "an answer in vain"

WITHDRAW, FORGET = "withdraw", "forget"

_NO_QUESTION = {"no question at all": ""}
_OF_BUSY: tuple[tuple[MockReply | None, ...], ...] = ((BUSY, CUT), (REFUSED, BUSY))


@dataclass(frozen=True)
class Course:
    """A sequence of events that every run of one vector goes through.

    Attributes:
        kind: one of the kinds above.
        wave: that the report is for, or the first of them.
        end: what the person does last.
    """

    kind: str
    survey: Survey
    vector: VectorPlan
    wave: int
    end: str

    def reports(self, place: int) -> list[Report]:
        """Return the reports that leave the device in one run of the vector, one for each wave."""
        given = [self.vector.runs[place], *([self._other(place)] if self.kind == SECOND_WAVE else [])]
        about = (self.survey.name, self.survey.digest)
        return [
            Report(*about, self.wave + turn, self.vector.id_in(self.survey, self.wave + turn, turn > 0), run.outputs)
            for turn, run in enumerate(given)
        ]

    @property
    def cost(self) -> float:
        """Return epsilon of these reports, including the part that all waves share."""
        return self.survey.epsilon + (self.survey.epsilon_of_wave if self.kind == SECOND_WAVE else 0.0)

    @property
    def surveys(self) -> list[Survey]:
        """Return the latest revision of each survey that the aggregator serves."""
        return [versions[-1] for versions in self.site().surveys.values()]

    def _other(self, place: int) -> Run:
        """Return the next run, whose answers come before or after those of one run."""
        return self.vector.runs[(place + 1) % len(self.vector.runs)]

    @cached_property
    def corrected(self) -> Survey:
        """The next revision, with another title."""
        survey = self.survey
        title = {**survey.title, survey.default_language: f"{survey.text(survey.title)}."}
        document = {**survey.document, "title": title, "revision": survey.revision + 1, "replaces": survey.digest}
        return parse_survey(document)

    def site(self) -> MockAggregator:
        """Return the aggregator of one run."""
        versions = [self.corrected, self.survey] if self.kind == CORRECTION else [self.survey]
        earlier = _earlier(self.survey.name).survey
        failures = _OF_BUSY[self.vector.number % 2] if self.kind == RETRY else ()
        return MockAggregator({self.survey.name: versions, earlier.name: [earlier]}, list(failures))

    def visits(self, origin: str, place: int) -> list[Visit]:
        """Return the visits of one run; earlier and later visits take their answers from other runs."""
        runs = self.vector.runs
        other = self._other(place)
        if self.kind == CORRECTION:
            again = self._visit(origin, self.corrected, other, end=self.end)
            return [self._visit(origin, self.survey, runs[place]), again]
        if self.kind == SECOND_WAVE:
            again = self._visit(origin, self.survey, other, is_again=True, end=self.end)
            return [self._visit(origin, self.survey, runs[place]), again]
        if self.kind == EARLIER:
            return [self._before(origin, place), self._visit(origin, self.survey, runs[place], end=self.end)]
        before = {**other.answers, **_NO_QUESTION} if self.kind == IN_VAIN else None
        return [self._visit(origin, self.survey, runs[place], before=before, end=self.end)]

    def _visit(
        self,
        origin: str,
        survey: Survey,
        run: Run,
        *,
        before: dict[str, object] | None = None,
        is_again: bool = False,
        end: str = "",
    ) -> Visit:
        wave = self.wave + is_again
        tape = self.vector.tape(run, is_again).hex()
        present = present_of(survey, wave)
        return Visit(link_to(origin, survey, wave), tape, run.answers, before, None, present, end)

    def _before(self, origin: str, place: int) -> Visit:
        """Return the visit to another survey: yes in one run and no in the next."""
        earlier = _earlier(self.survey.name)
        run = earlier.vector.runs[place % 2]
        return Visit(link_to(origin, earlier.survey), earlier.vector.tape(run).hex(), run.answers)


def course_of(survey: Survey, vector: VectorPlan) -> Course:
    """Choose the sequence of events for the runs of one vector."""
    kinds = [PLAIN, RETRY, CORRECTION, IN_VAIN, EARLIER]
    last = len(survey.waves) - 1
    if last:
        kinds.insert(1, SECOND_WAVE)
    number = vector.number
    turn, place = divmod(number, len(kinds))
    kind = kinds[place]
    # Each kind meets both ends, whether the number of kinds is odd or even.
    end = (FORGET, WITHDRAW)[(turn + place) % 2]
    return Course(kind, survey, vector, 0 if kind == SECOND_WAVE or number % 4 < 2 else last, end)


@cache
def _earlier(name: str) -> Course:
    """Return a survey of one coin with another name, and two runs: with either answer, and the same report."""
    own = "earlier" if name != "earlier" else "before"
    survey = standing_in({"type": "boolean", "name": "q", "mechanism": {"name": "coin_flip"}}, name=own)
    vector = plan_runs(survey).vectors[0]
    no, yes = (next(run for run in vector.runs if (run.answers["q"], run.outputs) == (each, (1,))) for each in _ANSWERS)
    return Course(PLAIN, survey, replace(vector, runs=(no, yes)), 0, "")


_ANSWERS = ("no", "yes")
