"""What all pages of a rehearsal share: the survey, what was set, the frame, and what is shown beside the estimates."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from flask import current_app, request
from sottovoce.aggregator.analysis.estimates import QuestionResult, SurveyResults, analyse
from sottovoce.aggregator.authoring.simulation import Rehearsal, rehearse
from sottovoce.aggregator.authoring.simulation_settings import MOST_PEOPLE, Field, Setting, read_setting
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Query
from sottovoce.aggregator.planning.margin_of_error import widest_margin
from sottovoce.aggregator.planning.question_channels import drawn_from, is_number, measure_of
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.labels import labels_of
from sottovoce.aggregator.studio.language import words
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.studio.results.format_numbers import figure, interval
from sottovoce.aggregator.studio.results.run_analysis import AskedAnalysis
from sottovoce.aggregator.studio.survey_frame import SurveyPage, draft_page, published_page, stage_of
from sottovoce.aggregator.surveys.stored_surveys import survey_of, unknown_survey
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Question, Survey

ROOM = "studio.rehearse_"
"""What the names of the routes of a rehearsal begin with, where those of real results begin with ``studio.``."""

SETTING = (
    Query("n", "How many people are invented."),
    Query("again", "The same setting with other people, counted from 1."),
    Query("set.question.option", "The share in percent of an option, by the names of both; of a number its mean."),
)
"""Parameters of every address of a rehearsal."""


_OF_ANALYSES = ("rows", "columns", "within", "outcome", "groups", "cluster")


@dataclass(frozen=True)
class Subject:
    """
    What is rehearsed.

    Attributes:
        frame: of its pages.
        survey: a draft's, or a published one; None where there is nothing to rehearse.
        plan: for how many people it is.
        why: why there is nothing: ``unfinished`` or ``closed``; "" if there is.
    """

    frame: SurveyPage
    survey: Survey | None
    plan: PlannedSize = PlannedSize()
    why: str = ""


@dataclass(frozen=True)
class SetBeside:
    """A line of the table that compares: everything in words."""

    label: str
    was_set: str
    invented: str
    estimate: str
    limits: str


@dataclass(frozen=True)
class Rehearsed:
    """
    One rehearsal, for templates.

    Attributes:
        made: the rehearsal.
    """

    made: Rehearsal

    @property
    def setting(self) -> Setting:
        """What was set."""
        return self.made.setting

    @property
    def mark(self) -> str:
        """The word on every page and in every file, the same in every language."""
        return self.about.prefix.rstrip("-")

    @property
    def most(self) -> int:
        """The most people that can be invented."""
        return MOST_PEOPLE

    @property
    def query(self) -> Mapping[str, str]:
        """What leads to the same rehearsal, for addresses and hidden fields."""
        return self.setting.query

    @property
    def about(self) -> About:
        """What its files say of themselves."""
        return About.of(self.made.survey, rehearsal=True)

    @cached_property
    def results(self) -> SurveyResults:
        """Of all people."""
        return analyse(self.made.revisions)

    @property
    def questions(self) -> Sequence[tuple[str, Question, Sequence[tuple[str, Field]]]]:
        """Each question's text, and its fields with their labels."""
        survey = self.made.survey
        found = []
        for question in survey.questions:
            labels = labels_of(survey, question, words())
            fields = [(labels.get(field.option or "mean", field.option), field) for field in self.setting.of(question)]
            found.append((words().text(question.label, survey.default_language), question, fields))
        return found

    def asked_in(self, asked: AskedAnalysis | None) -> Sequence[QuestionResult]:
        """Of the questions that an analysis is of; of all, where it is of all, or there is none."""
        given = asked.options if asked else {}
        names = [given.get(key, "") for key in _OF_ANALYSES] + [*given.get("on", ())]
        chosen = {name.partition(".")[0] for name in names}
        results = self.results.questions
        return [each for each in results if each.question.name in chosen] or results

    def beside(self, result: QuestionResult) -> list[SetBeside]:
        """The estimates of a question beside what was set."""
        return [*self._lines(result)]

    def lost(self, result: QuestionResult) -> str:
        """Which of the shares that were set are smaller than the margin with so many people; "" if none is."""
        question = result.question
        if question.mechanism is None or not result.n or is_number(question):
            return ""
        margin = widest_margin(measure_of(question), result.n / drawn_from(question))
        small = [each.estimate.option for each in self.made.beside(result) if 0 < (each.was_set or 0) < margin]
        labels = labels_of(self.made.survey, question, words())
        return ", ".join(labels.get(option, option) for option in small)

    def _lines(self, result: QuestionResult) -> Iterator[SetBeside]:
        grid, labels = result.question.domain.grid, labels_of(self.made.survey, result.question, words())
        for each in self.made.beside(result):
            found = each.estimate
            if found.kind != "quantile":
                was_set = "" if each.was_set is None else figure(each.was_set, found, grid)
                shown = figure(found.clipped, found, grid), interval(found, False, grid)
                label = labels.get(found.option, found.option)
                yield SetBeside(label, was_set, figure(each.invented, found, grid), *shown)


def subject_of(name: str) -> Subject:
    """
    What is rehearsed under a name: a draft; without one, a published survey that is not closed.

    Raises:
        ReportRejected: ``unknown_survey``.
    """
    kept, revisions = drafts.kept_draft(name), storage().revisions(name)
    if kept is not None:
        frame = draft_page(name, "rehearse", kept.draft.title)
        try:
            survey = survey_of_draft(kept.draft, name)
        except SpecError:
            return Subject(frame, None, why="unfinished")
        return Subject(frame, survey, PlannedSize(kept.draft.people, kept.draft.group))
    if not revisions:
        raise unknown_survey()
    frame = published_page(name, "rehearse")
    # Until then nobody knows what its tables will look like; from then on they are there.
    if stage_of(revisions) not in ("few", "open"):
        return Subject(frame, None, why="closed")
    return Subject(frame, survey_of(revisions[-1].document), storage().drafts.plan(name))


def rehearsed_of(subject: Subject) -> Rehearsed | None:
    """
    The rehearsal that the address asks for, worked out now; None if there is nothing to rehearse.

    Raises:
        Refusal: ``busy``.
    """
    if subject.survey is None:
        return None
    setting = read_setting(subject.survey, request.args, subject.plan.people)
    with current_app.extensions["joint_results"].turn():
        return Rehearsed(rehearse(subject.survey, setting))


def rehearsed_file(name: str) -> tuple[Subject, Rehearsed]:
    """
    The same for a file: it takes nothing else than what was asked for.

    Raises:
        Refusal: there is nothing to rehearse, or something is set that cannot be.
    """
    subject = subject_of(name)
    found = rehearsed_of(subject)
    if found is None:
        raise Refusal("not_found", "there is nothing to rehearse")
    if found.setting.refused:
        raise Refusal("malformed", "a number of people is a whole number, a share 0 to 100, a mean within its range")
    return subject, found
