"""Estimate two-way tables: shares of cells, shares within rows, and suppression of small groups by public answers.

Cells are means of products of scores over the reports that carry both variables. Raw shares may be negative; displayed
shares are clipped into [0, 1] and never rescaled to sum to 1.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.availability import LEAST, hidden, left_out, merged
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.answered_cells import share_among_answered
from sottovoce.aggregator.analysis.tables.likeliest_cells import METHOD as PROFILE, MOST_LIKELIHOODS, LikeliestTable
from sottovoce.aggregator.analysis.tables.ml_table import (
    ObservedReports,
    climb,
    likeliest_table,
    seen_reports,
    seen_together,
)
from sottovoce.aggregator.analysis.tables.pair_moments import (
    HalfSeen,
    Independence,
    Joint,
    Numbers,
    Pairs,
    Products,
    ScoredPairs,
    ScorePart,
    across_waves,
    answered_part,
    independence,
    inverse,
    joint,
)
from sottovoce.aggregator.analysis.tables.score_intervals import CellChannel, edge, score_limits
from sottovoce.aggregator.analysis.tables.test_inversion_intervals import METHOD as INVERSION, Inverted
from sottovoce.aggregator.estimators import IntervalRule, public
from sottovoce.aggregator.estimators.intervals import clip, normal_quantile, upper_tail
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Floats, Variable
from sottovoce.shared.answers import Domain
from sottovoce.shared.errors import Sentence

SCORE = "score"
SCORE_PRODUCTS = "score-products"
SUPPRESSED = "suppressed"
# Such limits do not even show in which half of the range a share is.
TOO_WIDE = 0.5
FEW_EFFECTIVE = "the weights leave fewer than {least} effective people in {categories} of '{variable}'"
FEW_PEOPLE = 10
TOO_FEW = "too few reports: the limits are more than half of the range apart"

_MOST_FOR_A_TEST = 1_000_000
"""Most likelihoods of reports by cells for a test, as of two questions with 30 options each."""

_ROUNDS = 2000
_FLOOR = 1e-300
_SETTLED = 1e-8
"""Change of a share per step at which both searches end; the statistic is right to a hundredth of its df then."""
# EM multiplies shares, so a category without support approaches 0 but need not reach it.
_EMPTY = 1e-9


def answered_independence(joint: Joint) -> Independence | None:
    """Test independence among the people who answered both variables, by likelihood ratio.

    Hypothesis  P(i, j) = a_i b_j P(both answered) for answers i and j; the cells of people who gave no answer to one
                or both are free, so declining may go with the other variable.
    Statistic   2 (l_free - l_independent), chi-square with (rows - 1)(columns - 1) degrees of freedom; rows and columns
                that no report supports are not counted. Both maxima by the EM algorithm, which keeps shares within
                [0, 1], so that the test holds its level or is conservative in small samples.

    Args:
        joint: the reports.

    Returns:
        The test; None if one of the variables has a single answer that occurs, or for too large tables.
    """
    cells = len(joint.first.categories) * len(joint.second.categories)
    if cells * sum(len(pairs.weights) for pairs in joint.strata) > _MOST_FOR_A_TEST:
        return None
    seen, (rows, columns) = seen_together(joint), joint.answered_shape
    # Rescale the weights to sum to the effective number of reports.
    seen = ObservedReports(seen.rows, seen.weights * sum(pairs.size for pairs in joint.strata) / seen.weights.sum())
    free = likeliest_table(seen, (len(joint.first.categories), len(joint.second.categories)), settled=_SETTLED)
    block = free[:rows, :columns]
    occurring = [int((block.sum(axis=axis) > _EMPTY).sum()) for axis in (1, 0)]
    df = (occurring[0] - 1) * (occurring[1] - 1)
    if df < 1:
        return None

    def step(table: Floats) -> Floats:
        # A jump can leave the hypothesis, so it is put back on it first.
        return _bound(seen.shares(_bound(table, (rows, columns))), (rows, columns))

    # The likeliest table in which the answers are independent.
    bound = climb(seen.log_likelihood, step, _bound(free, (rows, columns)), _SETTLED)
    statistic = max(0.0, 2 * (seen.log_likelihood(free) - seen.log_likelihood(bound)))
    # Rao and Scott 1984: what weights that go with the answers do to this statistic, and Kish's factor does not tell.
    statistic /= joint.design_effect(_from_independence(block / block.sum()))
    return Independence(statistic, df, upper_tail(statistic, df))


def answered_means(joint: Joint) -> Independence | None:
    """Test whether the people of each answer have the same mean of a number; None if only one answer occurs.

    Maths: s_k the share of answer k and y_k the mean of its score times the number, S and Y their sums over all
    answers. t_k = y_k S - s_k Y is 0 under the hypothesis; Q = t' V^- t by the delta method. With two answers it is the
    test that the limits of their difference invert.
    """
    answers = joint.first if joint.first.categories else joint.second
    size = len(answers.answered)

    def products(each: ScoredPairs) -> Floats:
        own, number = (each.first, each.second) if answers is joint.first else (each.second, each.first)
        return np.column_stack([own[:, :size] * number, own[:, :size]])

    mean, covariance = joint.moments(products)
    there = np.flatnonzero(mean[size:] > 0)
    taken = np.append(there, size + there)
    (y, s), covariance = mean[taken].reshape(2, -1), covariance[np.ix_(taken, taken)]
    slopes = [s.sum() * np.eye(len(s)) - s[:, None], y[:, None] - y.sum() * np.eye(len(s))]
    t, gradient = y * s.sum() - s * y.sum(), np.hstack(slopes)
    size = (np.abs(gradient) @ np.abs(covariance) @ np.abs(gradient.T)).max(initial=0.0)
    precision, df = inverse(gradient @ covariance @ gradient.T, size)
    statistic = float(t @ precision @ t)
    return Independence(statistic, df, upper_tail(statistic, df)) if df else None


def _from_independence(table: Floats) -> Products:
    """Return the scores of P(i, j) P - P(i) P(j) among answers, linear in those of the cells at a table, (m, cells)."""
    rows, columns = table.sum(axis=1), table.sum(axis=0)

    def products(each: ScoredPairs) -> Floats:
        cells = np.stack([[each.cell(i, j) for j in range(len(columns))] for i in range(len(rows))])
        found = cells - cells.sum(axis=1, keepdims=True) * columns[None, :, None]
        found = found - (cells.sum(axis=0) - cells.sum(axis=(0, 1)) * columns[:, None]) * rows[:, None, None]
        return np.asarray(found.reshape(table.size, -1).T)

    return products


def _bound(table: Floats, shape: tuple[int, int]) -> Floats:
    """Replace the answers by the product of their margins."""
    rows, columns = shape
    block, found = table[:rows, :columns], table.copy()
    total = float(block.sum())
    if total > 0:
        found[:rows, :columns] = np.outer(block.sum(axis=1), block.sum(axis=0)) / total
    return found


@dataclass(frozen=True)
class Rule:
    """Options of a table.

    Attributes:
        confidence: nominal coverage of each interval, in (0, 1).
        least: smallest group by public answers; 0 for analysts who have the rows anyway.
        counted: an arm's direct answers are shown at every count, to the survey's own people.
        among: "answered" for people who answered, or were asked, None for the same where known; "all"; "careful".
        kept: groups to compare, () for those that occur, in an analysis at moved innocuous shares; else None.
    """

    confidence: float = 0.95
    least: int = LEAST
    among: str | None = None
    kept: tuple[str, ...] | None = None
    counted: bool = False

    @property
    def z(self) -> float:
        """Normal quantile for the limits of each cell."""
        return normal_quantile(self.confidence)


DEFAULT_RULE = Rule()


class TwoWayTable:
    """Table of two variables, and its estimates; small groups by public answers are left out or merged by the rule.

    ``impossible`` holds (row, column) of each cell that skip logic excludes, ``left_out`` notes on small groups.
    """

    def __init__(self, whole: Joint, rule: Rule, impossible: frozenset[tuple[int, int]] = frozenset()) -> None:
        self.joint, self.left_out = _merged(whole, rule)
        self.rule = rule
        self.among_answered = self.joint.may_decline
        self.shape = self.joint.answered_shape
        self._z = rule.z
        self.raw, self._raw_rows, self._errors, self._in_row_errors = _shares(self.joint)
        self._rows = [max(float(share), _FLOOR) for share in self._raw_rows]
        self.hidden = _hidden(self.joint, self.raw.shape, rule)
        # Merged categories have other indices than those of skip logic, so structural zeros are dropped then.
        names = [(each.first.categories, each.second.categories) for each in (whole, self.joint)]
        self.impossible = impossible if names[0] == names[1] else frozenset()

    @cached_property
    def channels(self) -> dict[tuple[int, int], list[CellChannel]]:
        """Channels of each (row, column), by stratum."""
        rows, columns = self.raw.shape
        return {(i, j): self.joint.channels(i, j) for i in range(rows) for j in range(columns)}

    def cell(self, row: int, column: int) -> Result:
        """Return the share of a cell."""
        if self.hidden[row, column]:
            return _suppressed(self.joint)
        raw, error = float(self.raw[row, column]), float(self._errors[row, column])
        people = self._people_of_cell(row, raw)
        if self.among_answered:
            found = self._among_answered(row, column, people, in_row=False)
        elif self.likeliest is not None:
            shown, low, high = self.likeliest.cell(row, column)
            found = _result(self.joint, (shown, raw, error), (low, high), PROFILE)
        else:
            margins = float(self._raw_rows[row]), float(self.raw[:, column].sum())
            channels, added = self.channels[row, column], self._repeated_by(people)
            limits = score_limits(raw, 1.0, CellChannel.cell_variance, channels, margins, self._z, added)
            found = _result(self.joint, (clip(raw), raw, error), limits, SCORE)
        return self.of_waves(found, people)

    def share(self, row: int, column: int) -> Result:
        """Return the share of a column within a row."""
        if self.hidden[row, column]:
            return _suppressed(self.joint)
        people = self.people(row)
        found = (self._among_answered if self.joint.second.absent else self._of_row)(row, column, people)
        return self.of_waves(found, people)

    def people(self, row: int) -> float:
        """Return the effective number of reports in a row of people who answered the column's question."""
        declined = float(self.raw[row, -1]) / self._rows[row] if self.joint.second.absent else 0.0
        return self.joint.people(row) * min(max(1 - declined, 0.0), 1.0)

    def _people_of_cell(self, row: int, raw: float) -> float:
        if self.joint.waves == 1:
            return 1.0
        answered = float(self.raw[: self.shape[0], : self.shape[1]].sum())
        reports, people, share = sum(p.size for p in self.joint.strata), self.joint.people(row), clip(raw)
        # Weights that go with the rows: E[w^2] in the cell's row, and in the whole for its square.
        heavy = reports * self._rows[row] / people if people else 1.0
        heavy += (1 - heavy) * share / max(1 - share, 0.5)
        return answered * reports / heavy

    def repeated(self, value: float, reports: float) -> float:
        """Return the variance that several waves of the same people add to a share or mean of so many reports."""
        least, most = self.bounds
        spread = min(max((value - least) * (most - value), 0.0), self._spread)
        return (self.joint.waves - 1) * spread / max(reports, 1.0)

    def _repeated_by(self, reports: float) -> Callable[[float], float]:
        return (lambda value: self.repeated(value, reports)) if self.joint.waves > 1 else lambda _: 0.0

    @property
    def counts_numbers(self) -> bool:
        """True for a public number in rows of public answers, in one stratum whose reports count alike."""
        pairs, *others = self.joint.strata
        return self._is_public_number and not others and bool((pairs.squares == pairs.numbers).all())

    def public_mean(self, row: int, domain: Domain) -> Result:
        """Return the mean of a public number in a row as the results of a question have it."""
        (pairs,), rule = self.joint.strata, IntervalRule(confidence=self.rule.confidence, waves=self.joint.waves)
        inside = pairs.first.scores(pairs.reported[0])[:, row] > 0
        values, places = np.unique(pairs.reported[1][inside], return_inverse=True)
        counts = np.bincount(places, pairs.numbers[inside]).astype(int).tolist()
        (found,) = public.estimate(dict(zip(values.tolist(), counts, strict=True)), domain, rule)
        figures, limits = (found.clipped, found.raw, found.std_error), (float(found.low or 0.0), found.high)
        return _result(self.joint, figures, limits, found.method)

    @property
    def _is_public_number(self) -> bool:
        first, second = self.joint.first, self.joint.second
        return first.public and second.public and not (second.categories or second.absent)

    @cached_property
    def _spread(self) -> float:
        """Largest variance of a public number in a row of public answers, as these show it; infinite for others."""
        if not self._is_public_number:
            return math.inf
        sums = np.zeros((3, len(self._rows)))
        for pairs in self.joint.strata:
            rows, number = pairs.first.scores(pairs.reported[0]), pairs.second.scores(pairs.reported[1]).ravel()
            sums += pairs.weights * np.stack([number**0, number, number**2]) @ rows
        size, total, squares = sums[:, sums[0] > 0]
        return float((squares / size - (total / size) ** 2).max())

    def of_waves(self, found: Result, reports: float) -> Result:
        """Return a share or mean of so many reports with an error and limits that take in the waves of the same people.

        Maths: of its variance, the part of people who differ from each other is ``waves`` times as large if they answer
        alike in all waves. Score limits have it in their variance; others are where (t - point)^2 is that at the own
        limit + z^2 (waves - 1) var(t) / n.
        """
        if self.joint.waves == 1 or found.low is None or found.high is None:
            return found
        point = (found.low + found.high) / 2 if found.estimate is None else found.estimate

        def limit(own: float, end: float) -> float:
            more = self._z**2
            return edge(lambda t: (t - point) ** 2 <= (own - point) ** 2 + more * self.repeated(t, reports), own, end)

        error = found.std_error and math.hypot(found.std_error, math.sqrt(self.repeated(point, reports)))
        if found.method == SCORE:
            return replace(found, std_error=error)
        low, high = (limit(own, end) for own, end in zip((found.low, found.high), self.bounds, strict=True))
        few = found.method == PROFILE and high - low > TOO_WIDE
        return replace(found, low=low, high=high, std_error=error, warnings=(TOO_FEW,) if few else found.warnings)

    def declined(self, row: int) -> Result:
        """Return the share of people in a row who gave no answer to the column's question, where some did not."""
        column = self.raw.shape[1] - 1
        people = self.joint.people(row)
        found = _suppressed(self.joint) if self.hidden[row, column] else self._of_row(row, column, people)
        return self.of_waves(found, people)

    def few_people(self) -> tuple[Sentence, ...]:
        """Return notes on groups left out, and on rows in which weights leave few effective people."""
        if not any(pairs.is_weighted for pairs in self.joint.strata):
            return self.left_out
        first, people = self.joint.first, self.joint.people
        few = [name for row, name in enumerate(first.answered) if self.occurs(row) and people(row) < FEW_PEOPLE]
        if not few:
            return self.left_out
        note = Sentence(FEW_EFFECTIVE, least=FEW_PEOPLE, categories=tuple(few), variable=first.full_name)
        return (*self.left_out, note)

    def occurs(self, row: int) -> bool:
        """Return True if an estimated share above 0 of the people is in a row."""
        return float(self._raw_rows[row]) > 0

    def _among_answered(self, row: int, column: int, people: float, in_row: bool = True) -> Result:
        """Return the share of a cell among the people of its row, or of all, who answered.

        It is the ratio of the means of two products of scores, with its standard error by the delta method.
        """
        first, second = self.joint.first, self.joint.second

        def products(each: ScoredPairs) -> Floats:
            own = ScorePart(each.first[:, row], 1) if in_row else answered_part(each.first, first.absent)
            whole = each.product(own, answered_part(each.second, second.absent))
            return np.column_stack([each.cell(row, column), whole])

        limits = share_among_answered(self.joint, self.raw, (row, column), self._z, in_row, self._repeated_by(people))
        mean, covariance = self.joint.moments(products)
        part, whole = mean.tolist()
        # An unbiased share can be 0 or negative by chance; a quotient has no meaning then, while its limits hold.
        if whole <= 0:
            return _result(self.joint, (None, None, None), limits, SCORE)
        gradient = np.array([1 / whole, -part / whole**2])
        error = math.sqrt(max(float(gradient @ covariance @ gradient), 0.0))
        return _result(self.joint, (clip(part / whole), part / whole, error), limits, SCORE)

    def _of_row(self, row: int, column: int, people: float) -> Result:
        cell, group = float(self.raw[row, column]), float(self._raw_rows[row])
        raw, error = (cell / group, float(self._in_row_errors[row, column])) if group > 0 else (None, None)
        if self.likeliest is not None:
            found = self.likeliest.share(row, column)
            if found is None:
                return _result(self.joint, (None, None, None), (0.0, 1.0), PROFILE)
            return _result(self.joint, (found[0], raw, error), found[1:], PROFILE)
        margins = group, float(self.raw[:, column].sum())
        channels, added = self.channels[row, column], self._repeated_by(people)
        limits = score_limits(cell, group, CellChannel.share_variance, channels, margins, self._z, added)
        return _result(self.joint, (None if raw is None else clip(raw), raw, error), limits, SCORE)

    @cached_property
    def likeliest(self) -> LikeliestTable | None:
        """Likeliest table of all people, where reports with one question or impossible cells tell more; else None."""
        # Weighted reports have no true likelihood, and a suppressed cell could follow from a likeliest table.
        more = self.impossible or any(pairs.halves for pairs in self.joint.strata)
        if (
            not more
            or self.half_seen_only()
            or self.among_answered
            or self.hidden.any()
            or any(pairs.n != pairs.weights.sum() for pairs in self.joint.strata)
        ):
            return None
        seen = seen_reports(self.joint)
        return None if seen.rows.size > MOST_LIKELIHOODS else LikeliestTable(seen, self.shape, self.impossible, self._z)

    def half_seen_only(self) -> bool:
        """Return True if no report of a public category has the other answer: any shares in its row are as likely."""
        empty = [self.raw.sum(axis=axis) == 0 for axis in (0, 1)]
        return any(
            own.public and own.scores(half.reported)[:, empty[half.first]].any()
            for pairs in self.joint.strata
            for half in pairs.halves
            for own in [pairs.first if half.first else pairs.second]
        )

    def added(self, values: Mapping[int, Result], slope: Callable[[float], float] = lambda _: 1.0) -> float:
        """Return the standard error that several waves of the same people add to a figure of some rows' values.

        ``slope`` is its derivative by a value, which is taken to be half a person away from its bounds at least.
        """
        least, most = self.bounds
        variance = 0.0
        for row, found in values.items():
            reports, value = max(self.people(row), 1.0), least if found.estimate is None else found.estimate
            half = min(self.joint.waves / reports, 1.0) * (most - least) / 2
            value = min(max(value, least + half), most - half)
            variance += self.repeated(value, reports) * slope(value) ** 2
        return math.sqrt(variance)

    @property
    def by_mover(self) -> bool:
        """True if differences of rows have limits made of those of their values."""
        first, second = self.joint.first, self.joint.second
        return first.public and (second.absent or (second.public and bool(second.categories)))

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest value of a row: of a share, or of a mean."""
        second = self.joint.second
        return (0.0, 1.0) if second.categories else (second.levels[0], second.levels[-1])


def shown_reports(whole: Joint, rule: Rule = DEFAULT_RULE) -> Joint | None:
    """Return the reports without small public groups, or with these merged; None if a public cell is suppressed."""
    if not (whole.first.public or whole.second.public):
        return whole
    found, _ = _merged(whole, rule)
    shape = max(len(found.first.categories), 1), max(len(found.second.categories), 1)
    return None if _hidden(found, shape, rule).any() else found


def widened(found: Inverted, added: float, bounds: tuple[float, float], z: float) -> Inverted:
    """Return a figure with a standard error added to its own, and z times to the distances of its limits.

    All are added as roots of squares; limits of a ratio by logarithms, of which ``added`` is the error then.
    """
    is_ratio = bounds[1] == math.inf
    there, back = (math.log, math.exp) if is_ratio else (float, float)

    def end(own: float, side: int) -> float:
        if not added * z or (is_ratio and not 0 < own < math.inf):
            return own
        point = own if found.raw is None else min(max(found.raw, bounds[0]), bounds[1])
        # An estimate of 0 has no logarithm.
        point = there(point or own)
        return min(max(back(point + side * math.hypot(there(own) - point, added * z)), bounds[0]), bounds[1])

    error = found.std_error and math.hypot(found.std_error, added * (abs(found.raw or 0.0) if is_ratio else 1.0))
    return found._replace(std_error=error, low=end(found.low, -1), high=end(found.high, 1))


def between(found: Inverted, first: Result, later: Result) -> Inverted:
    """Return the difference of the two displayed values, which are clipped, and limits that hold it."""
    if found.raw is None or first.estimate is None or later.estimate is None:
        return found
    shown = later.estimate - first.estimate
    return found._replace(shown=shown, low=min(found.low, shown), high=max(found.high, shown))


def inverted_result(whole: Joint, found: Inverted, bounds: tuple[float, float]) -> Result:
    """Convert an estimate with limits by test inversion into a result, clipped into ``bounds``, its possible range."""
    shown = found.shown if found.raw is None or found.shown is not None else min(max(found.raw, bounds[0]), bounds[1])
    high = None if found.high == np.inf else found.high
    return _result(whole, (shown, found.raw, found.std_error), (found.low, high), INVERSION)


def _result(whole: Joint, figures: tuple[float | None, ...], limits: tuple[float, float | None], method: str) -> Result:
    (shown, raw, error), (low, high) = figures, limits
    wide = method in {SCORE, PROFILE} and high is not None and high - low > TOO_WIDE
    warnings = (TOO_FEW,) if wide else ()
    return Result(shown, raw, error, SCORE_PRODUCTS, low, high, method, whole.reports, whole.n, whole.deff, warnings)


def _suppressed(whole: Joint) -> Result:
    return Result(None, None, None, "", None, None, SUPPRESSED, whole.reports, whole.n, whole.deff)


def independence_of(joint: Joint) -> Independence | None:
    """Return the test of independence, among the people who answered where some did not; None if it is not possible."""
    # A number has no cells, but means.
    of_answered = answered_independence if joint.first.categories and joint.second.categories else answered_means
    test = of_answered(joint) if joint.may_decline else independence(joint.strata)
    return across_waves(test, joint.strata, joint.waves)


def _merged(whole: Joint, rule: Rule) -> tuple[Joint, tuple[Sentence, ...]]:
    """Return the reports without small public groups beside a randomized variable, or merged beside a public one."""
    pair = whole.first, whole.second
    shown: list[Variable] = []
    notes: tuple[Sentence, ...] = ()
    for place, own in enumerate(pair):
        people, least = _respondents(whole, own, place), 0 if place and rule.counted else rule.least
        found, left = (own, ()) if pair[1 - place].public else left_out(own, people, least)
        if left and isinstance(found, ChoiceVariable):
            # Of a revision that few people answered, nothing may be left.
            whole = joint([_without(pairs, found, place) for pairs in whole.strata], whole.reports, whole.waves)
        shown.append(found if left else merged(own, people, least))
        notes = left or notes
    strata = []
    for pairs in whole.strata:
        # A randomized variable keeps the channel of its stratum.
        one, other = (
            changed if changed.public else own for own, changed in zip((pairs.first, pairs.second), shown, strict=True)
        )
        strata.append(replace(pairs, first=one, second=other))
    return replace(whole, strata=tuple(strata)), notes


def _without(pairs: Pairs, shown: ChoiceVariable, place: int) -> Pairs:
    """Return the reports whose public answer, in the rows (0) or columns (1), is among the categories shown."""

    def kept(column: Numbers) -> NDArray[np.bool_]:
        return np.asarray(shown.supports(column).any(axis=1))

    # Reports without this answer do not tell whether they belong to a group that is left out.
    halves = [(each, kept(each.reported)) for each in pairs.halves if each.first == (place == 0)]
    seen = tuple(HalfSeen(each.first, each.reported[own], each.numbers[own]) for each, own in halves)
    return replace(pairs.among(kept(pairs.reported[place])), halves=seen)


def _respondents(whole: Joint, variable: Variable, place: int) -> list[int]:
    """Return the number of respondents for each public answer; empty for a randomized or numeric variable."""
    if not variable.public or not variable.categories:
        return []
    counts = np.zeros(len(variable.categories))
    for pairs in whole.strata:
        counts += np.bincount(pairs.reported[place].astype(np.int64), pairs.numbers, len(counts))
    return [int(count) for count in counts]


def _shares(whole: Joint) -> tuple[Floats, Floats, Floats, Floats]:
    """Return raw shares of cells, (k, m), and rows, (k,), and errors of cells and of shares within rows, (k, m)."""
    end = 1 + len(whole.first.categories)
    found = [
        (share / pairs.products.once[0, 0], pairs.products, pairs.products.cells(end, pairs.score))
        for share, pairs in zip(whole.shares, whole.strata, strict=True)
    ]
    cells = np.sum([part * own.once for part, _, own in found], axis=0)
    rows = np.sum([part * sums.once[1:end, 0] for part, sums, _ in found], axis=0)
    # Sums of w^2 times the centred squares of a cell's score, its products with z_A, and the squares of z_A.
    centred = []
    for part, sums, own in found:
        total, in_rows = sums.twice[0, 0], sums.twice[1:end, 0]
        squares = own.squares - 2 * cells * own.twice + cells**2 * total
        products = own.by_row - cells * in_rows[:, None] - rows[:, None] * own.twice
        variance = sums.squared[1:end, 0] - 2 * rows * in_rows + rows**2 * total
        parts = squares, products + cells * rows[:, None] * total, variance
        centred.append([part**2 * each for each in parts])
    spread, crossed, of_rows = (np.sum(column, axis=0) for column in zip(*centred, strict=True))
    # A row with an estimated share of 0 has no shares within it, and no errors: NaN.
    groups = np.where(rows == 0, np.nan, rows)[:, None]
    share = cells / groups
    # Delta method: the derivatives of T_ij / T_i are 1 / T_i and -T_ij / T_i^2.
    within = (spread - 2 * share * crossed + share**2 * of_rows[:, None]) / groups**2
    # As for any sample variance, since the mean is estimated from the same reports.
    factor = whole.n / max(whole.n - 1, 1)
    errors, in_row_errors = (np.sqrt(np.maximum(each, 0.0) * factor) for each in (spread, within))
    return cells, rows, errors, in_row_errors


def _hidden(whole: Joint, shape: tuple[int, int], rule: Rule) -> NDArray[np.bool_]:
    # Randomized cells need no smallest size, since each report is protected by itself; public counts have no noise.
    both = whole.first.categories and whole.second.categories
    if not (both and whole.first.public and whole.second.public and rule.least):
        return np.zeros(shape, dtype=bool)
    counts = np.zeros(shape)
    for pairs in whole.strata:
        one, other = pairs.first.scores(pairs.reported[0]), pairs.second.scores(pairs.reported[1])
        counts += (one * pairs.numbers[:, None]).T @ other
    if rule.counted:
        # Arms of fewer people were joined; alone, they would be known with their answers.
        return np.broadcast_to(counts.sum(axis=1, keepdims=True) < rule.least, shape)
    people = counts.round().astype(np.int64)
    # One pattern whichever of the two is in the rows: two could be subtracted.
    turned = whole.first.full_name > whole.second.full_name
    return hidden(people.T, rule.least).T if turned else hidden(people, rule.least)


def main_answer(names: Sequence[str]) -> str:
    """Return the answer whose share is shown unless another one is named: yes, or the last one."""
    return "yes" if {*names} == {"yes", "no"} else names[-1]
