"""Prepare the simulation that its pages share: survey, settings, frame, and estimates compared with the true values."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from flask import current_app, request
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.analysis.estimates import QuestionResult, SurveyResults, analyse
from sottovoce.aggregator.authoring.simulation import MOST_PEOPLE, ComparedEstimate, Field, Rehearsal, read_setting
from sottovoce.aggregator.authoring.validation import survey_of_draft
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.planning.question_channels import drawn_from, measure_of
from sottovoce.aggregator.planning.sample_size import widest_margin
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.labels import labels_of, title_of
from sottovoce.aggregator.studio.request_context import words
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
class Rehearsed(Rehearsal):
    """Simulated survey, prepared for the templates."""

    most: ClassVar[int] = MOST_PEOPLE

    @property
    def mark(self) -> str:
        """Mark on every page and in every file, the same in every language."""
        return self.about.prefix.rstrip("-")

    @property
    def about(self) -> About:
        """Provenance that its files carry, marked as a simulation."""
        return About.of(self.survey, rehearsal=True)

    @cached_property
    def results(self) -> SurveyResults:
        """Results over all simulated people."""
        return analyse(self.revisions)

    @property
    def questions(self) -> Sequence[tuple[str, Question, Sequence[tuple[str, Field]]]]:
        """Each question that has settings, with its text, and the settings with their labels."""
        found = []
        for question in self.survey.questions:
            labels = labels_of(self.survey, question, words())
            fields = [(labels.get(field.option or "mean", field.option), field) for field in self.setting.of(question)]
            if fields:
                found.append((self.title(question), question, fields))
        return found

    def title(self, question: Question) -> str:
        """Return the text of a question, with what tells it from others of the same text."""
        return title_of(self.survey, question, words())

    def asked_in(self, asked: AskedAnalysis | None) -> Sequence[QuestionResult]:
        """Return the results of the questions used in the analysis; all of them if none is named."""
        used = {name.partition(".")[0] for name in (asked.named if asked else ())}
        results = self.results.questions
        return [each for each in results if each.question.name in used] or results

    def compare(self, result: QuestionResult) -> list[tuple[str, ComparedEstimate]]:
        """Compare the estimates of a question with its settings, each with the label of its option."""
        labels = labels_of(self.survey, result.question, words())
        compared = [each for each in self.comparisons(result) if each.estimate.kind != "quantile"]
        return [(labels.get(each.estimate.option, each.estimate.option), each) for each in compared]

    def lost(self, result: QuestionResult) -> str:
        """List the options whose true share is below the margin of error; "" if there are none.

        Such shares cannot be told from zero with this number of people.
        """
        question = result.question
        if question.mechanism is None or not result.n or question.domain.grid is not None:
            return ""
        margin = widest_margin(measure_of(question), result.n / drawn_from(question))
        return ", ".join(label for label, each in self.compare(result) if 0 < (each.was_set or 0) < margin)


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
        return Rehearsed.of(subject.survey, setting)


def rehearsed_file(name: str) -> tuple[Subject, Rehearsed]:
    """Run the simulation for a file; raise Refusal if it cannot run or, unlike on a page, a setting is invalid."""
    subject = subject_of(name)
    found = rehearsed_of(subject)
    if found is None:
        raise Refusal("not_found", "there is nothing to rehearse")
    if found.setting.refused:
        raise Refusal("malformed", "a number of people is a whole number, a share 0 to 100, a mean within its range")
    return subject, found
