"""
A rehearsal: a survey answered by invented people, in memory, through the very channels that real people will use.

Nothing of it is stored or sent, and it is worked out anew whenever it is looked at: the survey's digest and the setting
decide every answer and every die, so that all pages and files of one setting speak of the same people. What is made
of their reports is made by the functions that make real results.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sottovoce.aggregator.analysis.estimates import QuestionResult, RevisionCounts
from sottovoce.aggregator.authoring.simulation_settings import Setting, set_figures
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.planning.simulated_reports import InventedReports, reports_of
from sottovoce.aggregator.planning.simulated_survey import Tally, invent_as_set, true_figure, true_tallies
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.shared import canonical
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-rehearsal/1"


@dataclass(frozen=True)
class Beside:
    """
    An estimate beside what it should find.

    Attributes:
        estimate: from the reports.
        was_set: the share or mean that was set; None where none could be.
        invented: that of the people who were invented.
    """

    estimate: Estimate
    was_set: float | None
    invented: float


@dataclass(frozen=True)
class Rehearsal:
    """
    One rehearsal.

    Attributes:
        survey: that is rehearsed.
        setting: all that decides it.
        reports: of the invented people.
        truths: tallies of their true values, for each question; what ``true_figure`` takes.
    """

    survey: Survey
    setting: Setting
    reports: InventedReports
    truths: Sequence[Sequence[Tally]]

    @property
    def revisions(self) -> list[RevisionCounts]:
        """For ``results.analysis.analyse``: one, closed."""
        return [self.reports.revision]

    def source(self, now: datetime) -> Source:
        """What its files are written from; each of them says that it is a rehearsal."""
        return Source(self.reports, self.revisions, now, set_up=self.document)

    @property
    def document(self) -> Mapping[str, Any]:
        """What was set, for the manifest."""
        asked = {question.name: self._set(index) for index, question in enumerate(self.survey.questions)}
        return {"format": FORMAT, "people": self.setting.people, "again": self.setting.again, "questions": asked}

    def beside(self, result: QuestionResult) -> list[Beside]:
        """The estimates of one question beside what they should find; none that nothing can be told of."""
        index = self.survey.questions.index(result.question)
        found = []
        for estimate in result.estimates:
            invented = true_figure(result.question, self.truths[index], estimate)
            if invented is not None:
                found.append(Beside(estimate, self._set(index).get(estimate.option), float(invented)))
        return found

    def _set(self, index: int) -> dict[str, float]:
        question, wanted = self.survey.questions[index], self.setting.wanted[index]
        names = question.options if question.domain.options else ("mean",)
        return dict(zip(names, set_figures(question, wanted), strict=True))


def rehearse(survey: Survey, setting: Setting) -> Rehearsal:
    """
    Let invented people answer a survey.

    Args:
        survey: a draft's, or a published one.
        setting: how many, and with what shares.
    """
    told = canonical.dump([survey.digest, setting.query])
    seed = hashlib.sha256(b"rehearsal people " + told).digest()
    truths = invent_as_set(survey, setting.people, int.from_bytes(seed), setting.wanted)
    dice = hashlib.sha256(b"rehearsal dice " + told).hexdigest()
    tallies = [true_tallies(question, truth) for question, truth in zip(survey.questions, truths, strict=True)]
    return Rehearsal(survey, setting, reports_of(survey, truths, BatchDraws(seeded(dice))), tallies)
