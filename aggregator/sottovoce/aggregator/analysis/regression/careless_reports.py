"""Model the reports of those who answer with care, where some people may answer at random.

Model       A person is careless with probability D(x), and then chooses the answer evenly among the options shown,
            as in ``estimators.careless.anchors``. A report on outcome and anchors has the likelihood
            D L_careless + (1 - D) L_careful: ``CarelessModel``. Both parts are products of the outcome's likelihood
            and the anchors', so one search finds the coefficients and the careless people, and the standard errors
            take in that their share is estimated.
D(x)        A logit on the public predictors: careless people answer these at random too, so their share differs from
            one answer to another. The random arm is no answer, so it is left out of this logit.
Anchor      Careful people say yes with the known share pi. Of a public anchor only yes or not is used; of a randomized
            one with declining the share of careful people who decline is taken as estimated.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.careless_results import anchors_of, is_correctable
from sottovoce.aggregator.analysis.regression.declining import DecliningModel, LatentModel
from sottovoce.aggregator.analysis.regression.latent_cells import with_constant
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.regression.regression_data import Sample
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.corrected_table import NOT_CORRECTED, careless_in
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of
from sottovoce.aggregator.estimators.blocks.joint_channel import blocks_of
from sottovoce.aggregator.estimators.careless.anchors import YES, Careless
from sottovoce.shared.answers import random_answers
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence
from sottovoce.shared.spec import Question

_TINY = 1e-30

NOT_THIS_MODEL = "a model is corrected for careless answers with public predictors only, and not if it is linear"


class CarelessModel(DecliningModel):
    """The likelihood in the module docstring: ``absent`` is L_careless, ``answered`` the model of careful people."""


@dataclass(frozen=True)
class CarelessReports:
    """Anchors of the reports, and answers of people who choose at random.

    Attributes:
        known: share of careless people by the anchors alone.
        codes: (n,), combination of anchor reports of each report.
        careful: (a,), likelihood of each combination for careful people.
        careless: (a,), the same for careless people.
        chances: (k,), probability of each category of the outcome for a careless person.
        drawn: names of the predictors that are no answers.
    """

    known: Careless
    codes: NDArray[np.intp]
    careful: Array
    careless: Array
    chances: Array
    drawn: frozenset[str]


def careless_reports(
    columns: Columns, outcome: Answers, predictors: Sequence[Answers], confidence: float, linear: bool
) -> CarelessReports:
    """Return what the anchors say of each report; ``linear`` for a linear model.

    Raises EstimateError if there is no anchor, the outcome is not corrected, or the model is not.
    """
    question = columns.question(outcome.variable.question)
    known = careless_in(columns, confidence)
    named = {each.name for each in known.anchors}
    anchors = [each for each in anchors_of(columns.survey) if each.name in named]
    answers = [answers_of(columns, each.name) for each in anchors]
    alone = len(blocks_of([each.variable for each in (outcome, *answers)])) == 1 + len(answers)
    fit = question is not None and all(is_correctable(survey, question) for survey in columns.revisions)
    if question is None or not fit or not alone or outcome.variable.name:
        raise EstimateError(Sentence(NOT_CORRECTED, variable=outcome.name))
    if linear or not all(each.variable.public for each in predictors):
        raise EstimateError(NOT_THIS_MODEL)
    codes, careful, careless = np.zeros(len(columns), np.intp), np.ones(1), np.ones(1)
    for asked, each in zip(anchors, answers, strict=True):
        own = _anchor(asked, each, known)
        # A report that was not asked this anchor has the last row, which says nothing.
        codes = codes * len(own) + np.where(each.observed, each.codes, len(own) - 1)
        careful, careless = (
            np.outer(before, column).ravel() for before, column in zip((careful, careless), own.T, strict=True)
        )
    chances = np.array([float(each) for each in random_answers(question.domain, question.absent)])
    drawn = frozenset({ARM} if columns.survey.arms else ())
    # A likelihood of 0 among careful people would have no logarithm.
    return CarelessReports(known, codes, np.maximum(careful, _TINY), careless, chances, drawn)


def _anchor(question: Question, answers: Answers, known: Careless) -> Array:
    """Return the likelihood of each different report for careful and careless people, and a row of ones, (u + 1, 2)."""
    own = next(each for each in known.anchors if each.name == question.name)
    chances = np.array([float(each) for each in random_answers(question.domain, question.absent)])
    if question.mechanism is None:
        yes = answers.likelihood[:, YES]
        found = np.stack([np.where(yes, share, 1 - share) for share in (own.known, chances[YES])], axis=1)
        return np.vstack([found, np.ones(2)])
    careful = np.array([1 - own.known, own.known])
    if question.domain.absent:
        declined = float(answers.scores[answers.codes[answers.observed], -1].mean())
        rest = (declined - known.clipped * chances[-1]) / max(1 - known.clipped, 1e-9)
        rest = min(max(rest, 0.0), 1 - own.known)
        careful = np.array([1 - own.known - rest, own.known, rest])
    return np.vstack([answers.likelihood @ np.stack([careful, chances], axis=1), np.ones(2)])


def among_careful(model: LatentModel, sample: Sample, reports: CarelessReports) -> CarelessModel:
    """Return the likelihood of all reports, whose parameters are those of ``model`` (of careful people), then D's."""
    columns, *_ = with_constant(sample.design.without(reports.drawn))
    careless = np.outer(sample.outcome.likelihood @ reports.chances, reports.careless).ravel()
    codes = sample.outcome.codes[sample.rows] * len(reports.careful) + reports.codes[sample.rows]
    return CarelessModel(_with_anchors(model, codes, reports.careful), columns, careless, reports.known.clipped)


def _with_anchors(model: LatentModel, codes: NDArray[np.intp], careful: Array) -> LatentModel:
    """Return the model of the reports on outcome and anchors, whose combinations are numbered by ``codes``."""
    if isinstance(model, DecliningModel):
        absent = np.outer(model.absent, careful).ravel()
        return replace(model, answered=_with_anchors(model.answered, codes, careful), absent=absent)
    likelihood = (model.likelihood[:, None] * careful[:, None]).reshape(-1, model.likelihood.shape[1])
    return replace(model, codes=codes, likelihood=likelihood)
