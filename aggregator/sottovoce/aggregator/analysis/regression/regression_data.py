"""Select the reports that a regression uses, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.described_people import EVERYBODY, DescribedPeople
from sottovoce.aggregator.analysis.regression.covariance import Codes
from sottovoce.aggregator.analysis.regression.design_builder import make_design
from sottovoce.aggregator.analysis.regression.design_matrix import SMALLEST_GROUP, Design, refuse_small_cells
from sottovoce.aggregator.analysis.regression.formula_terms import Formula
from sottovoce.aggregator.analysis.regression.newton import Array
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of
from sottovoce.aggregator.analysis.weights import checked_weights
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

_SORTABLE = 2**62


@dataclass(frozen=True)
class RegressionOptions:
    """Options of a regression, as for ``regress``.

    Attributes:
        weights: (n,), for all reports, or None.
        cluster: a public question, or (n,) cluster labels; None for independent reports.
        described: people whom the model describes.
        declining: "modelled" or "common": declining has the public predictors, or one share; None chooses.
    """

    errors: str = "observed"
    weights: ArrayLike | None = None
    cluster: str | NDArray[Any] | None = None
    strata: bool = True
    confidence: float = 0.95
    smallest_group: int = SMALLEST_GROUP
    described: DescribedPeople = EVERYBODY
    declining: str | None = None


@dataclass(frozen=True)
class Sample:
    """Data for fitting a model to the complete reports, with ``RegressionOptions``.

    Attributes:
        rows: (m,), indices of the complete reports.
        weights: (m,) positive, or None.
        clusters: (m,) cluster numbers 0, 1, .., or None.
    """

    outcome: Answers
    rows: NDArray[np.intp]
    design: Design
    weights: Array | None
    clusters: Codes | None
    errors: str
    confidence: float
    described: DescribedPeople = EVERYBODY
    declining: str | None = None

    @property
    def declines(self) -> bool:
        """True if people may have declined, and the model describes those who answered."""
        return self.described.answered and self.outcome.variable.absent

    @property
    def categories(self) -> tuple[str, ...]:
        """Categories of the outcome among the people described."""
        return self.described.categories(self.outcome.variable)

    @property
    def answered(self) -> Array | None:
        """Unbiased scores of having answered, (m,); None if everybody described did."""
        if not self.declines:
            return None
        scores: Array = 1 - self.outcome.scores[:, -1][self.outcome.codes[self.rows]]
        return scores

    @property
    def n(self) -> int:
        """Number m of reports used."""
        return len(self.rows)

    @property
    def plain(self) -> bool:
        """True for independent reports of equal weight; only then are likelihood ratios valid."""
        return self.weights is None and self.clusters is None


def take_sample(
    columns: Columns, outcome: Answers, formula: Formula, predictors: Sequence[Answers], choices: RegressionOptions
) -> Sample:
    """Select the reports in which the outcome and all predictors were observed.

    Raises EstimateError if no report carries all variables, or weights, clusters or groups are invalid.
    """
    weights = None if choices.weights is None else checked_weights(choices.weights, len(columns))
    clusters, clustered = _clusters(columns, choices.cluster)
    asked = [] if choices.described.asked is None else [choices.described.asked]
    rows = np.flatnonzero(
        np.logical_and.reduce([clustered, *asked, *(each.observed for each in (outcome, *predictors))])
    )
    if not len(rows):
        raise EstimateError("no report contains all of these questions: they are never asked of the same person")
    rows = _in_one_order(columns, rows, (outcome, *predictors))
    refuse_small_cells(outcome, predictors, rows, choices.smallest_group)
    # The model of all people less this one would describe those who were not asked.
    if choices.described.asked is not None:
        refuse_small_cells(outcome, predictors, np.flatnonzero(~choices.described.asked), choices.smallest_group)
    return Sample(
        outcome,
        rows,
        make_design(formula, predictors, rows, _strata(columns, rows, choices.strata), choices.smallest_group),
        None if weights is None else weights[rows],
        None if clusters is None else np.unique(clusters[rows], return_inverse=True)[1],
        choices.errors,
        choices.confidence,
        choices.described,
        choices.declining,
    )


def _in_one_order(columns: Columns, rows: NDArray[np.intp], used: Sequence[Answers]) -> NDArray[np.intp]:
    """Return the rows in an order that follows from their values.

    A search without a maximum ends where rounding takes it, and files have the same reports in another order.
    """
    keys = [*(each.codes[rows] for each in used), columns.revision[rows], columns.wave[rows]]
    sizes = [int(key.max()) + 1 for key in keys]
    if prod(sizes) >= _SORTABLE:
        return rows[np.lexsort(keys)]
    # One number for each combination sorts faster than its parts.
    return rows[np.argsort(np.ravel_multi_index(keys, sizes), kind="stable")]


def _clusters(columns: Columns, cluster: str | NDArray[Any] | None) -> tuple[NDArray[Any] | None, NDArray[np.bool_]]:
    """Return the cluster labels, (n,) or None, and a mask of the reports that have one, (n,)."""
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
                "'{variable}' is randomized, so its clusters are not known; choose a public question", variable=cluster
            )
        )
    truth = answers.scores if answers.scores.ndim == 1 else answers.scores.argmax(axis=1)
    return truth[answers.codes], answers.observed


def _strata(columns: Columns, rows: NDArray[np.intp], wanted: bool) -> tuple[NDArray[np.intp], list[str]]:
    """Return the stratum of each report used, and the names of all strata; a single one if ``wanted`` is False."""
    if not wanted:
        return np.zeros(len(rows), np.intp), ["all"]
    waves = int(columns.wave.max()) + 1
    # One number per (revision, wave).
    strata = columns.revision[rows].astype(np.intp) * waves + columns.wave[rows]
    people = np.bincount(strata, minlength=len(columns.revisions) * waves)
    # Strata with a handful of people join the largest one: their own effect could not be estimated.
    strata = np.where(people < SMALLEST_GROUP, people.argmax(), np.arange(len(people)))[strata]
    revisions = [survey.revision for survey in columns.revisions]
    return strata, [f"revision {revisions[each // waves]}, wave {each % waves}" for each in range(len(people))]
