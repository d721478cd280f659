"""Prepare the simulation that its pages share: survey, settings, frame, and estimates compared with the true values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from flask import current_app, request
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.analysis.estimates import QuestionResult, SurveyResults, analyse
from sottovoce.aggregator.authoring.simulation import MOST_PEOPLE, Field, Rehearsal, Setting, read_setting, rehearse
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.planning.question_channels import drawn_from, measure_of
from sottovoce.aggregator.planning.sample_size import widest_margin
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.labels import labels_of, title_of
from sottovoce.aggregator.studio.request_context import figure, interval, words
from sottovoce.aggregator.studio.results.run_analysis import AskedAnalysis
from sottovoce.aggregator.studio.survey_frame import SurveyPage, draft_page, published_page, stage_of
from sottovoce.aggregator.surveys.lifecycle import survey_of, unknown_survey
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Question, Survey

ENDPOINT_PREFIX = "studio.rehearse_"
"""Prefix of the endpoints of a simulation; endpoints of real results begin with ``studio.``."""


@dataclass(frozen=True)
class Subject:
    """Survey to simulate.

    Attributes:
        survey: survey of a draft, or a published survey; None if it cannot be simulated.
        why: reason why it cannot: ``unfinished`` or ``closed``; "" if it can.
    """

    frame: SurveyPage
    survey: Survey | None
    plan: PlannedSize = PlannedSize()
    why: str = ""


@dataclass(frozen=True)
class SettingComparison:
    """Row of the table that compares settings, simulated people and estimates, all formatted as text."""

    label: str
    was_set: str
    invented: str
    estimate: str
    limits: str


@dataclass(frozen=True)
class Rehearsed:
    """Simulated survey, prepared for the templates."""

    made: Rehearsal

    @property
    def setting(self) -> Setting:
        """Settings that the URL chose for the simulation."""
        return self.made.setting

    @property
    def mark(self) -> str:
        """Mark on every page and in every file, the same in every language."""
        return self.about.prefix.rstrip("-")

    @property
    def most(self) -> int:
        """Largest number of people that can be simulated."""
        return MOST_PEOPLE

    @property
    def query(self) -> Mapping[str, str]:
        """Parameters that reproduce the simulation, for URLs and hidden fields."""
        return self.setting.query

    @property
    def about(self) -> About:
        """Provenance that its files carry, marked as a simulation."""
        return About.of(self.made.survey, rehearsal=True)

    @cached_property
    def results(self) -> SurveyResults:
        """Results over all simulated people."""
        return analyse(self.made.revisions)

    @property
    def questions(self) -> Sequence[tuple[str, Question, Sequence[tuple[str, Field]]]]:
        """Each question that has settings, with its text, and the settings with their labels."""
        survey = self.made.survey
        found = []
        for question in survey.questions:
            labels = labels_of(survey, question, words())
            fields = [(labels.get(field.option or "mean", field.option), field) for field in self.setting.of(question)]
            if fields:
                found.append((self.title(question), question, fields))
        return found

    def title(self, question: Question) -> str:
        """Return the text of a question, with what tells it from others of the same text."""
        return title_of(self.made.survey, question, words())

    def asked_in(self, asked: AskedAnalysis | None) -> Sequence[QuestionResult]:
        """Return the results of the questions used in the analysis; all of them if none is named."""
        used = {name.partition(".")[0] for name in (asked.named if asked else ())}
        results = self.results.questions
        return [each for each in results if each.question.name in used] or results

    def compare(self, result: QuestionResult) -> list[SettingComparison]:
        """Compare the estimates of a question with its settings."""
        return [*self._lines(result)]

    def lost(self, result: QuestionResult) -> str:
        """List the options whose true share is below the margin of error; "" if there are none.

        Such shares cannot be told from zero with this number of people.
        """
        question = result.question
        if question.mechanism is None or not result.n or question.domain.grid is not None:
            return ""
        margin = widest_margin(measure_of(question), result.n / drawn_from(question))
        small = [each.estimate.option for each in self.made.comparisons(result) if 0 < (each.was_set or 0) < margin]
        labels = labels_of(self.made.survey, question, words())
        return ", ".join(labels.get(option, option) for option in small)

    def _lines(self, result: QuestionResult) -> Iterator[SettingComparison]:
        grid, labels = result.question.domain.grid, labels_of(self.made.survey, result.question, words())
        for each in self.made.comparisons(result):
            found = each.estimate
            if found.kind != "quantile":
                was_set = "" if each.was_set is None else figure(each.was_set, found, grid)
                shown = figure(found.clipped, found, grid), interval(found, False, grid)
                label = labels.get(found.option, found.option)
                yield SettingComparison(label, was_set, figure(each.invented, found, grid), *shown)


def subject_of(name: str) -> Subject:
    """Find the survey to simulate: the draft of this name, else the published survey if it is still open.

    Raises ReportRejected (``unknown_survey``) if there is neither.
    """
    stored, revisions = drafts.find_draft(name), storage().revisions(name)
    if stored is not None:
        frame = draft_page(name, "rehearse")
        try:
            survey = survey_of_draft(stored.draft, name)
        except SpecError:
            return Subject(frame, None, why="unfinished")
        return Subject(frame, survey, PlannedSize(stored.draft.people, stored.draft.group))
    if not revisions:
        raise unknown_survey()
    frame = published_page(name, "rehearse")
    # A closed survey has real tables, so a simulation could only be confused with them.
    if stage_of(revisions) not in ("few", "open"):
        return Subject(frame, None, why="closed")
    return Subject(frame, survey_of(revisions[-1].document), storage().drafts.plan(name))


def rehearsed_of(subject: Subject) -> Rehearsed | None:
    """Run the simulation that the URL requests; None if the survey cannot be simulated. Raises Refusal (``busy``)."""
    if subject.survey is None:
        return None
    setting = read_setting(subject.survey, request.args, subject.plan.people)
    with current_app.extensions["joint_results"].turn(subject.frame.name):
        return Rehearsed(rehearse(subject.survey, setting))


def rehearsed_file(name: str) -> tuple[Subject, Rehearsed]:
    """Run the simulation for a file; raise Refusal if it cannot run or, unlike on a page, a setting is invalid."""
    subject = subject_of(name)
    found = rehearsed_of(subject)
    if found is None:
        raise Refusal("not_found", "there is nothing to rehearse")
    if found.setting.refused:
        raise Refusal("malformed", "a number of people is a whole number, a share 0 to 100, a mean within its range")
    return subject, found
