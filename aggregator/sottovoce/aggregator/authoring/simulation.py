"""Simulate a survey: people answer in memory, through the mechanisms that real respondents will use.

Nothing is stored or sent, and each view computes the simulation again. The seeds are a function of the survey's digest
and the settings, so that all pages and files with the same settings show the same simulated people. The functions that
compute real results compute those of a simulation too.
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
from sottovoce.aggregator.planning.simulated_survey import (
    InventedReports,
    Tally,
    invent_as_set,
    reports_of,
    true_figure,
    true_tallies,
)
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.shared import canonical
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-rehearsal/1"


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
    reports: InventedReports
    truths: Sequence[Sequence[Tally]]

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
            invented = true_figure(result.question, self.truths[index], estimate)
            if invented is not None:
                found.append(ComparedEstimate(estimate, self._set(index).get(estimate.option), float(invented)))
        return found

    def _set(self, index: int) -> dict[str, float]:
        question, wanted = self.survey.questions[index], self.setting.wanted[index]
        names = question.options if question.domain.options else ("mean",)
        return dict(zip(names, set_figures(question, wanted), strict=True))


def rehearse(survey: Survey, setting: Setting) -> Rehearsal:
    """Simulate a survey, of a draft or published."""
    seed_data = canonical.dump([survey.digest, setting.query])
    seed = hashlib.sha256(b"rehearsal people " + seed_data).digest()
    truths = invent_as_set(survey, setting.people, int.from_bytes(seed), setting.wanted)
    dice = hashlib.sha256(b"rehearsal dice " + seed_data).hexdigest()
    tallies = [true_tallies(question, truth) for question, truth in zip(survey.questions, truths, strict=True)]
    return Rehearsal(survey, setting, reports_of(survey, truths, BatchDraws(seeded(dice))), tallies)
