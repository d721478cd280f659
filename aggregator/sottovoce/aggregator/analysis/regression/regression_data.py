"""The reports that take part in a regression, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.regression.covariance import Codes
from sottovoce.aggregator.analysis.regression.design_matrix import (
    SMALLEST_GROUP,
    Design,
    make_design,
    refuse_small_cells,
)
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of
from sottovoce.aggregator.analysis.weights import checked_weights
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence


@dataclass(frozen=True)
class RegressionOptions:
    """
    How a regression is to be made.

    Attributes:
        errors: the kind of standard errors, one of ``standard_errors.KINDS``.
        weights: (n,) of all reports, or None.
        cluster: a public question, or (n,) anything that is equal within a cluster; None for independent reports.
        strata: waves and revisions are predictors of their own.
        confidence: of the intervals.
        smallest_group: fewest people with one public answer, or with two of them.
    """

    errors: str = "observed"
    weights: ArrayLike | None = None
    cluster: str | NDArray[Any] | None = None
    strata: bool = True
    confidence: float = 0.95
    smallest_group: int = SMALLEST_GROUP


@dataclass(frozen=True)
class Sample:
    """
    What a model is fitted to.

    Attributes:
        outcome: what is explained.
        rows: (m,), the reports in which everything was observed.
        design: the columns, of these rows; randomized predictors by their scores.
        public: the columns without randomized predictors.
        randomized: the randomized predictors.
        weights: (m,) positive, or None.
        clusters: (m,) numbers 0, 1, .., or None.
        errors: the kind asked for.
        confidence: of the intervals.
    """

    outcome: Answers
    rows: NDArray[np.intp]
    design: Design
    public: Design
    randomized: tuple[Answers, ...]
    weights: Array | None
    clusters: Codes | None
    errors: str
    confidence: float

    @property
    def n(self) -> int:
        """Reports that take part."""
        return len(self.rows)

    @property
    def plain(self) -> bool:
        """Independent reports of equal weight, so that likelihoods may be compared."""
        return self.weights is None and self.clusters is None


def take_sample(
    columns: Columns, outcome: Answers, predictors: Sequence[Answers], choices: RegressionOptions
) -> Sample:
    """
    The reports in which the outcome and all predictors were observed.

    Args:
        columns: all reports.
        outcome: what is to be explained.
        predictors: by what.
        choices: how.

    Raises:
        EstimateError: no report tells of all of them; weights, clusters or groups are unfit.
    """
    weights = None if choices.weights is None else checked_weights(choices.weights, len(columns))
    clusters, clustered = _clusters(columns, choices.cluster)
    rows = np.flatnonzero(np.logical_and.reduce([clustered, *(each.observed for each in (outcome, *predictors))]))
    if not len(rows):
        raise EstimateError("no report contains all of these questions: they are never asked of the same person")
    refuse_small_cells(outcome, predictors, rows, choices.smallest_group)
    strata, names = _strata(columns, rows, choices.strata)
    randomized = tuple(each for each in predictors if not each.variable.public)
    known = [each for each in predictors if each.variable.public]
    public = make_design(known, rows, strata, names, choices.smallest_group)
    design = make_design(predictors, rows, strata, names, choices.smallest_group) if randomized else public
    return Sample(
        outcome,
        rows,
        design,
        public,
        randomized,
        None if weights is None else weights[rows],
        None if clusters is None else np.unique(clusters[rows], return_inverse=True)[1],
        choices.errors,
        choices.confidence,
    )


def _clusters(columns: Columns, cluster: str | NDArray[Any] | None) -> tuple[NDArray[Any] | None, NDArray[np.bool_]]:
    """What is equal within each cluster, and of which reports it is known."""
    everybody = np.ones(len(columns), bool)
    if cluster is None:
        return None, everybody
    if not isinstance(cluster, str):
        if len(cluster) != len(columns):
            raise EstimateError(f"there are {len(cluster)} clusters for {len(columns)} reports; give each report one")
        return cluster, everybody
    answers = answers_of(columns, cluster)
    if not answers.variable.public:
        raise EstimateError(
            Sentence(
                "'{variable}' is randomized, so its clusters are not known; choose a public question",
                variable=cluster,
            )
        )
    truth = answers.scores if answers.scores.ndim == 1 else answers.scores.argmax(axis=1)
    return truth[answers.codes], answers.observed


def _strata(columns: Columns, rows: NDArray[np.intp], wanted: bool) -> tuple[NDArray[np.intp], list[str]]:
    """The stratum of each report that takes part, and the names of all; a single one if they are not wanted."""
    if not wanted:
        return np.zeros(len(rows), np.intp), ["all"]
    waves = int(columns.wave.max()) + 1
    strata = columns.revision[rows].astype(np.intp) * waves + columns.wave[rows]
    people = np.bincount(strata, minlength=len(columns.revisions) * waves)
    # A handful of people tell nothing about how their stratum drifted; they stand with the largest.
    strata = np.where(people < SMALLEST_GROUP, people.argmax(), np.arange(len(people)))[strata]
    revisions = [survey.revision for survey in columns.revisions]
    return strata, [f"revision {revisions[each // waves]}, wave {each % waves}" for each in range(len(people))]
