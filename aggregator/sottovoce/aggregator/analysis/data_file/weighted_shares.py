"""Estimate the weighted shares and means of a file's columns, with linearised errors by strata and clusters.

Point       m = sum w y / sum w over the rows with an answer, y the unbiased score of a report.
Error       u_i = w_i (y_i - m) / sum w, 0 of a row without an answer; in stratum h of n_h clusters with sums u_hc the
            variance is sum_h n_h / (n_h - 1) sum_c (u_hc - mean_c u_hc)^2, as of clusters drawn with replacement. A row
            is a cluster of its own unless a column names clusters; equal names in two strata are two clusters.
Limits      Of Student's t with as many degrees of freedom as clusters less strata, on the logit of the share of reports
            that support an option, b + (a - b) m; of a mean, on its own scale. Where m is not within 0 to 1, or fewer
            than 10 effective reports are of one kind, these do not hold (.87 of 100 people of whom .13 are expected to
            say yes): the limits are those of the rule, with the effective number of reports, times (z / t)^2.
Source      Binder 1983; Korn and Graubard 1998.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sottovoce.aggregator.analysis.data_file.column_channel import as_number
from sottovoce.aggregator.analysis.data_file.read_table import FileTable
from sottovoce.aggregator.analysis.estimates import QuestionResult
from sottovoce.aggregator.analysis.innocuous_shares import facts_of, moved_columns
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.variable_columns import answers_of
from sottovoce.aggregator.analysis.weights import checked_weights
from sottovoce.aggregator.estimators.by_hand.uncertain_share import over_share
from sottovoce.aggregator.estimators.intervals import METHODS, normal_quantile, t_quantile
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.support import Estimate, IntervalRule
from sottovoce.aggregator.estimators.variable import Floats
from sottovoce.aggregator.file_formats.csv_lines import wrong_at

METHOD, OF_MEANS = "logit-t", "t"
FEW = 10
ALONE = "its stratum has one cluster only, which does not show how much it varies; join strata"


@dataclass(frozen=True)
class SampleDesign:
    """Weights of the rows, (n,), the number of each row's cluster, (n,), and of each cluster's stratum, (clusters,)."""

    weights: Floats
    clusters: NDArray[np.intp]
    strata: NDArray[np.intp]

    def error(self, parts: Floats) -> float:
        """Return the standard error of the sum of linearised parts, (n,)."""
        sums, sizes = np.bincount(self.clusters, parts), np.bincount(self.strata)
        apart = sums - (np.bincount(self.strata, sums) / sizes)[self.strata]
        return math.sqrt(float(apart**2 @ (sizes / (sizes - 1))[self.strata]))


def weights_of(table: FileTable, weights: ArrayLike | None) -> Floats:
    """Return the weights of a column that is named, or those given, (n,); 1 for None.

    Raises SurveyError if there is no such column, or as ``checked_weights``.
    """
    if isinstance(named := weights, str):
        codes = codes_of(table, named, np.arange(0))
        numbers = [as_number(text) for text in table.columns[named].values]
        weights = np.array([math.nan if each is None else float(each) for each in numbers])[codes]
        wrong = np.flatnonzero(~(weights > 0))
        if len(wrong):
            raise wrong_at(table.place(named, int(wrong[0])), "is not a number above 0, as a weight must be")
    return checked_weights(np.ones(len(table)) if weights is None else weights, len(table))


def sample_design(
    table: FileTable, weights: ArrayLike | None, strata: str | None, clusters: str | None
) -> SampleDesign:
    """Return the design that columns of a file describe; raise SurveyError if a stratum has only one cluster."""
    rows = np.arange(len(table))
    of_rows, within = codes_of(table, strata, 0 * rows), codes_of(table, clusters, rows)
    _, firsts, numbers = np.unique(of_rows * len(table) + within, return_index=True, return_inverse=True)
    alone = firsts[np.bincount(of_rows[firsts])[of_rows[firsts]] < 2]
    if len(alone):
        raise wrong_at(f"{table.file}, {table.unit} {table.lines[alone[0]]}", ALONE)
    return SampleDesign(weights_of(table, weights), numbers, of_rows[firsts])


def codes_of(table: FileTable, name: str | None, default: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the place of each row's text among those of a column, (n,); raise SpecError if a cell is empty."""
    if name is None:
        return default
    codes = table.column(name).rows.astype(np.intp)
    if codes.min(initial=0) < 0:
        raise wrong_at(table.place(name, int(codes.argmin())), "is empty; weights and designs need all cells")
    return codes


def weighted_result(
    columns: Columns, result: QuestionResult, design: SampleDesign, rule: IntervalRule
) -> QuestionResult:
    """Return the shares and means of a column by this design; without quantiles and ranges, which have no weights."""
    able = [each for each in result.estimates if each.kind == "mean" or result.question.options]
    facts = facts_of(columns, [result.question.name])

    def at(u: float, by: IntervalRule) -> list[Estimate]:
        moved = moved_columns(columns, facts[0], u) if u else columns
        return [_weighted(moved, result.question.name, each, design, by, len(able)) for each in able]

    return replace(result, estimates=[*(over_share(at, rule) if facts else at(0.0, rule))])


def _weighted(
    columns: Columns, question: str, found: Estimate, design: SampleDesign, rule: IntervalRule, together: int
) -> Estimate:
    if not found.n:
        return found
    scores, channel = _scores(columns, question, found.option)
    weights = np.where(np.isnan(scores), 0.0, design.weights)
    weights, scores = weights / weights.sum(), np.nan_to_num(scores)
    raw = float(weights @ scores)
    figures = raw, design.error(weights * (scores - raw)), 1 / float(weights @ weights)
    df = len(design.strata) - int(design.strata.max()) - 1
    (method, low, high), (_, least, most) = (
        _limits(figures, channel, t_quantile(level, df), replace(rule, confidence=level))
        for level in (rule.confidence, rule.joint_confidence(together))
    )
    shown, *ends = (min(max(each, found.lowest), found.highest) for each in (raw, low, high, least, most))
    told = replace(found, method=method, count=None, std_error=figures[1], std_error_fixed=None, raw=raw, clipped=shown)
    return replace(told, low=ends[0], high=ends[1], simultaneous_low=ends[2], simultaneous_high=ends[3])


def _limits(
    figures: tuple[float, float, float], channel: tuple[float, float] | None, t: float, rule: IntervalRule
) -> tuple[str, float, float]:
    """Return method and limits from raw figure, error and effective reports; ``channel`` is (a, b), None of a mean."""
    raw, error, size = figures
    if channel is None:
        return OF_MEANS, raw - t * error, raw + t * error
    a, b = channel
    share = b + (a - b) * raw
    spread, error = share * (1 - share), (a - b) * error
    known = spread / error**2 if spread > 0 < error else size
    # What few people say shows neither how much weights differ among all nor how far the share may be from it.
    if few := min(size, known) * min(share, 1 - share) < FEW:
        known = min(size, known) * (normal_quantile(rule.confidence) / t) ** 2
    if 0 < raw < 1 and spread > 0 < error and not few:
        low, high = (1 / (1 + (1 - share) / share * math.exp(-side * t * error / spread)) for side in (-1, 1))
        return METHOD, (low - b) / (a - b), (high - b) / (a - b)
    ends = METHODS[rule.method](share * known, known, a, b, rule.confidence)
    return rule.method, float(ends[0]), float(ends[1])


def _scores(columns: Columns, name: str, option: str) -> tuple[Floats, tuple[float, float] | None]:
    """Return the score of each row for an option, (n,), NaN without one, and its (a, b); None for a number."""
    asked = columns.question(name)
    parts = () if asked is None else variables_of(asked)
    variable = next(each for each in parts if each.name in {"", option})
    answers = answers_of(columns, variable.full_name)
    place = variable.categories.index(option) if option in variable.categories else -1
    scores = answers.scores.reshape(len(answers.scores), -1)[:, place][answers.codes]
    return np.where(answers.observed, scores, np.nan), variable.channels[place] if variable.channels else None
