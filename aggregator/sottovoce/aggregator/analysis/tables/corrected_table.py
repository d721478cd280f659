"""Correct tables for careless people, who answer both questions at random; ``careless.anchors`` has the model.

Share       Of people who count, a share W = P(row) P(the column's question is answered | row), a part lambda Q is
            careless, Q = q_row (1 - q_none). With c_j = q_j / (1 - q_none) and s the share of the column within the
            row, corrected = (s W - lambda Q c_j) / (W - lambda Q). A cell has W = P(both are answered), Q = 1 where
            everybody answers, and c = q_row q_column / Q.
Limits      MOVER: the distances of s and of lambda to their own limits, which hold for few people and few careless
            ones, and z standard errors of W, each times the derivative, as the root of their sum of squares. A
            difference of two rows takes lambda's part once. What s and lambda have in common makes these limits wider
            than necessary, not narrower. Shares of randomized groups depend on each other: one report raises one row
            and lowers the other, so limits of their difference are at least z standard errors from it.
Source      Zou and Donner 2008 (MOVER).
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.careless_results import anchors_of, careless_of, is_correctable
from sottovoce.aggregator.analysis.report_columns import Columns, check_one_wave, strata_of
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.selection import SelectedPair, SelectedVariable, count_strata
from sottovoce.aggregator.analysis.tables.pair_moments import Products, ScoredPairs, ScorePart, answered_part, joint
from sottovoce.aggregator.analysis.tables.table import SUPPRESSED, Rule, TwoWayTable
from sottovoce.aggregator.estimators.careless.anchors import Careless
from sottovoce.aggregator.estimators.intervals import clip
from sottovoce.aggregator.estimators.variable import Floats, Variable
from sottovoce.shared.answers import random_answers
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError, Sentence

METHOD = "mover"

NO_ANCHOR = "these reports have no anchor, a question with a known answer, so nothing is known of careless answers"
NOT_CORRECTED = (
    "'{variable}' is not corrected for careless answers, only questions with one of some options that everyone is asked"
)
WEIGHTED = "figures that are corrected for careless answers have no weights"
CORRECTED = (
    "corrected for careless answers: {share}% ({low} to {high}%) of these people answered at random, by {anchors}"
)
ASSUMED = "careless people are assumed to choose evenly among the options shown, at each question anew"
BOTH = "the limits of the share of careless people include 0: report the uncorrected figures too"


def careless_in(columns: Columns, confidence: float) -> Careless:
    """Estimate the share of careless people in the reports, with limits of this confidence.

    Raises EstimateError if the reports have no anchor, or several waves share one that devices remember.
    """
    known = [each for each in anchors_of(columns.survey) if each.name in columns.values]
    # Everyone answers a public anchor, so missing answers are rare ones, which files leave out.
    whole = [each for each in known if each.mechanism is not None or _is_whole(columns, each.name)]
    shown = [each for each in whole if each.name not in columns.withheld]
    for each in shown:
        check_one_wave(columns, each)
    found = careless_of({each.name: strata_of(columns, each) for each in shown}, shown, confidence, columns.repeats)
    if found is None:
        raise EstimateError(NO_ANCHOR)
    return found


def _is_whole(columns: Columns, name: str) -> bool:
    asking = [number for number in range(len(columns.revisions)) if columns.question(name, number) is not None]
    return bool(columns.asked(name)[np.isin(columns.revision, asking)].all())


def correction_notes(careless: Careless) -> tuple[str, ...]:
    """Return notes for the reader on the share of careless people, and on what is assumed of them."""
    low, high = careless.limits
    shares = {"share": careless.clipped, "low": low, "high": high}
    written = {name: f"{100 * value:.1f}" for name, value in shares.items()}
    anchors = tuple(each.name for each in careless.anchors)
    return (Sentence(CORRECTED, **written, anchors=anchors), ASSUMED, *([BOTH] if low <= 0 else []))


def corrected_table(
    columns: Columns, pair: SelectedPair, weights: object, rule: Rule
) -> "tuple[TwoWayTable, CorrectedTable]":
    """Return the table of two variables, and its corrected shares.

    Raises EstimateError if there are weights, no anchors, or a variable that is not corrected.
    """
    if weights is not None:
        raise EstimateError(WEIGHTED)
    for each in pair:
        if not all(is_correctable(survey, each.question) for survey in columns.revisions):
            raise EstimateError(NOT_CORRECTED, variable=each.newest.full_name)
    careless = careless_in(columns, rule.confidence)
    table = TwoWayTable(joint(count_strata(columns, pair), len(columns), columns.repeats), rule)
    drawn = tuple(bool(columns.survey.arms) and each.question.name == ARM for each in pair)
    return table, CorrectedTable(table, pair, careless, drawn)


class CorrectedShare(NamedTuple):
    """A corrected figure.

    Attributes:
        raw, shown: unclipped, and as displayed.
        down, up: distances to the limits, without what is unknown of lambda.
        error: standard error, without the same.
        slope: derivative by lambda.
        rest: share of careful people who count.
    """

    raw: float
    shown: float
    down: float
    up: float
    error: float
    slope: float
    rest: float = 1.0


class CorrectedTable:
    """Corrected shares of a table without weights; ``drawn`` is True for a variable that devices drew (the random arm).

    Raises EstimateError if a variable has no categories of which each person chooses one.
    """

    def __init__(
        self, table: TwoWayTable, pair: SelectedPair, careless: Careless, drawn: Sequence[bool] = (False, False)
    ) -> None:
        self._table, self.careless, self._z = table, careless, table.rule.z
        self.notes = correction_notes(careless)
        both = table.joint.first, table.joint.second
        # Careless people are in each arm as often as others are.
        margins = table.raw.sum(axis=1), table.raw.sum(axis=0)
        self._rows, self._columns = (
            margin if by_device else _chances(*each)
            for by_device, margin, each in zip(drawn, margins, zip(pair, both, strict=True), strict=True)
        )

    def share(self, row: int, column: int) -> Result:
        """Return the corrected share of a column within a row."""
        found = self._table.share(row, column)
        return self._corrected(found, self._of_row(found, row, column))

    def cell(self, row: int, column: int) -> Result:
        """Return the corrected share of a cell."""
        found = self._table.cell(row, column)
        first, second = self._table.joint.first.absent, self._table.joint.second.absent
        answered = (1 - self._rows[-1] * first) * (1 - self._columns[-1] * second)
        careless = float(self._rows[row] * self._columns[column] / answered)
        whole = self._whole(
            lambda each: each.product(answered_part(each.first, first), answered_part(each.second, second))[:, None]
        )
        return self._corrected(found, self._part(found, float(answered), careless, whole))

    def difference(self, rows: tuple[int, int], column: int) -> Result:
        """Return the corrected share of a column in the second row minus the share in the first one."""
        first, later = (self.part(row, column) for row in rows)
        found = self._table.share(rows[1], column)
        if first is None or later is None or self._table.joint.first.public:
            return corrected_difference(found, self.careless, (first, later))
        signed = ((rows[0], -1 / first.rest, first.shown), (rows[1], 1 / later.rest, later.shown))

        def products(each: ScoredPairs) -> Floats:
            parts = (
                times * (each.cell(row, column) - share * self._counting(each, row)) for row, times, share in signed
            )
            return np.asarray(sum(parts))[:, None]

        return corrected_difference(found, self.careless, (first, later), self._whole(products)[1], self._z)

    def part(self, row: int, column: int) -> CorrectedShare | None:
        """Return the corrected share of a column within a row as a part of a difference; None if it has no figure."""
        return self._of_row(self._table.share(row, column), row, column)

    def _of_row(self, found: Result, row: int, column: int) -> CorrectedShare | None:
        answered = 1 - self._columns[-1] * self._table.joint.second.absent
        whole = self._whole(lambda each: self._counting(each, row)[:, None])
        return self._part(found, float(self._rows[row] * answered), float(self._columns[column] / answered), whole)

    def _counting(self, each: ScoredPairs, row: int) -> Floats:
        """Return the scores of being in a row and having answered the question of the columns, (m,)."""
        second = answered_part(each.second, self._table.joint.second.absent)
        return each.product(ScorePart(each.first[:, row], 1), second)

    def _whole(self, products: Products) -> tuple[float, float]:
        """Return the estimated share of people who count, and its standard error."""
        found = self._table.joint.moments(products)
        return float(found.mean[0]), math.sqrt(max(float(found.covariance[0, 0]), 0.0))

    def _part(self, found: Result, chance: float, careless: float, whole: tuple[float, float]) -> CorrectedShare | None:
        """Correct a share with Q, c, and W with its standard error; None without careful people, or without a share."""
        size, error = whole
        rest = size - self.careless.raw * chance
        if found.estimate is None or found.raw is None or rest <= 0:
            return None
        taken = self.careless.raw * chance * careless
        raw = (found.raw * size - taken) / rest
        # Clipped first: a share outside [0, 1] would give limits of no width.
        shown, steep = clip(raw), size / rest
        of_whole = abs(found.estimate - shown) / rest * error
        low, high = found.low or 0.0, 1.0 if found.high is None else found.high
        down, up = ((found.estimate - low) * steep, (high - found.estimate) * steep)
        return CorrectedShare(
            raw,
            shown,
            math.hypot(down, self._z * of_whole),
            math.hypot(up, self._z * of_whole),
            math.hypot((found.std_error or 0.0) * steep, of_whole),
            chance * (shown - careless) / rest,
            rest,
        )

    def _corrected(self, found: Result, part: CorrectedShare | None) -> Result:
        if found.method == SUPPRESSED:
            return found
        if part is None:
            return replace(found, estimate=None, raw=None, std_error=None, low=0.0, high=1.0, method=METHOD)
        return _result(found, self.careless, part, 0.0)


def corrected_difference(
    found: Result, careless: Careless, parts: Sequence[CorrectedShare | None], error: float = 0.0, z: float = 0.0
) -> Result:
    """Return one corrected share minus another one, corrected by the same share of careless people.

    Args:
        found: the later share, uncorrected.
        parts: the corrected share that is subtracted, and the later one; None if it has no figure.
        error: standard error of the difference of shares that depend on each other; 0 for independent ones.
        z: quantile of the limits, for such shares.
    """
    first, later = parts
    if first is None or later is None:
        return replace(found, estimate=None, raw=None, std_error=None, low=-1.0, high=1.0, method=METHOD)
    joined = CorrectedShare(
        later.raw - first.raw,
        later.shown - first.shown,
        max(math.hypot(later.down, first.up), z * error),
        max(math.hypot(later.up, first.down), z * error),
        error or math.hypot(later.error, first.error),
        later.slope - first.slope,
    )
    return _result(found, careless, joined, -1.0)


def _result(found: Result, careless: Careless, part: CorrectedShare, least: float) -> Result:
    low, high = careless.limits
    apart = careless.clipped - low, high - careless.clipped
    # A share above the careless one grows with lambda, a smaller one falls.
    below, above = apart if part.slope > 0 else apart[::-1]
    return replace(
        found,
        estimate=part.shown,
        raw=part.raw,
        std_error=math.hypot(part.error, part.slope * careless.std_error),
        low=max(part.shown - math.hypot(part.down, part.slope * below), least),
        high=min(part.shown + math.hypot(part.up, part.slope * above), 1.0),
        method=METHOD,
    )


def _chances(selected: SelectedVariable, shown: Variable) -> Floats:
    """Return the probabilities of the shown categories for a careless person; small categories may be merged."""
    question, variable = selected.question, selected.newest
    if variable.name or not question.kind.takes_category:
        raise EstimateError(NOT_CORRECTED, variable=variable.full_name)
    own = dict(zip(variable.categories, map(float, random_answers(question.domain, question.absent)), strict=True))
    merged = math.fsum(share for name, share in own.items() if name not in shown.categories)
    return np.array([own.get(name, merged) for name in shown.categories])
