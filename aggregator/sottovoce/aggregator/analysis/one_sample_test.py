"""Test one question against known values: goodness of fit of its shares, or a known mean.

Shares      H0: the shares of the answers among those who answered are pi. A report has scores z_j of its answers and
            h_j = z_j - pi_j (1 - z_absent), E[h] = 0 under H0. Q = n h- V^- h- is chi-square with rank V degrees of
            freedom. V is the covariance of h under H0, from the channel and not from the sample:
            Cov(z) = Cov(support) / (a - b)^2, with E[s_i s_j] = both_in (p_i + p_j) + both_out (1 - p_i - p_j).
            Without noise, and for any square channel, Q is Pearson's chi-square of the reported values.
Exact       Two answers that everybody gave, through one channel: the reports of one are Bin(n, b + (a - b) pi) under
            H0; p is the probability of all counts that are at most as likely as the observed one.
One side    The known share 0 (did anybody at all?) has one side only: p = P(X >= x), X ~ Bin(n, b), however many
            declined; of 1 the other answer is so tested. Where noise makes no such report, p of one is 0: impossible.
            With an innocuous share that has a standard error s it is the mean of this p over the share p + s u, u
            standard normal: the chance of such reports when the share is drawn from its prior.
Waves       W waves of the same people: the covariance of the truth, diag(pi) - pi pi', is added W - 1 times; the exact
            test is for known shares of 0 and 1 only.
Strata      Revisions with channels of their own: information n V^- adds up, as in ``pair_moments``.
Mean        p is the smallest alpha at which the interval of the results leaves the known mean out; likewise of a share
            that hides behind an innocuous one with a standard error, which this interval takes in.
Figures     Estimates and limits are those of the results, so a page and its test never differ.
Sources     Pearson 1900; van den Hout and van der Heijden 2002 (misclassified by design).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from sottovoce.aggregator.analysis.estimates import QuestionResult, question_result
from sottovoce.aggregator.analysis.innocuous_shares import facts_of, moved_columns
from sottovoce.aggregator.analysis.report_columns import Columns, answers_of, strata_of
from sottovoce.aggregator.analysis.selection import (
    ALL,
    SAME_PEOPLE,
    DescribedPeople,
    SelectedVariable,
    choose,
    described_people,
)
from sottovoce.aggregator.analysis.tables.pair_moments import inverse, pooled_test
from sottovoce.aggregator.estimators import Estimate, IntervalRule
from sottovoce.aggregator.estimators.fixed_population import binomial
from sottovoce.aggregator.estimators.intervals import halved
from sottovoce.aggregator.estimators.variable import Floats, Variable
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.types.base import DayGrid

EXACT, SCORE, INVERSION = "exact-binomial", "score", "inversion"

MOST_EXACT = 1_000_000
"""Most reports for an exact test; beyond it the two tests agree to all shown digits."""
FEWEST_EXPECTED = 5
"""Reports expected of each answer, from which chi-square is a good approximation (Cochran's rule)."""

PUBLIC_SUBSET = "'{variable}' is public: for a subset of people make a table of both questions, which hides small cells"
MEAN_NEEDED = "'{variable}' is a number: give the known mean"
SHARES_NEEDED = "'{variable}' has answers and no mean: give known shares"
NO_ANSWER_CALLED = "'{variable}' has no category of this name; it has: {categories}"
SUM_TO_ONE = "the known shares must sum to 1; at most one of them may be left out"
ONE_ANSWER = "known shares of 0 and 1 are tested for two answers, through one channel"
IMPOSSIBLE = "reports as these are impossible under the known shares"
MEAN_OUTSIDE = "the known mean lies outside the values of '{variable}'"
FEW_EXPECTED = "fewer than 5 reports are expected of an answer, so p is approximate"

_NEAR = 1e-6
_NONE = 1e-12
_RELATIVE = 1 + 1e-7
_LEAST = 1e-12
_HALVINGS = 30
_STEPS = np.linspace(-6, 6, 241)
"""Standard errors of an innocuous share from its value, over which p is averaged."""


@dataclass(frozen=True)
class TestedValue:
    """A known value, under the hypothesis, beside its estimate with limits; ``category`` is "" for a mean."""

    category: str
    known: float
    estimate: Estimate


@dataclass(frozen=True)
class OneSampleTest:
    """A test of known values.

    Attributes:
        statistic, df: chi-square and its degrees of freedom; None for a mean, and for known shares of 0 and 1.
        p: probability of reports at least as far from the known values.
        method: ``EXACT``, ``SCORE`` or ``INVERSION``.
        people: people whom the values describe.
    """

    variable: str
    n: int
    values: tuple[TestedValue, ...]
    statistic: float | None
    df: int | None
    p: float
    method: str
    people: str = ALL
    warnings: tuple[str, ...] = ()


def one_sample_test(
    columns: Columns,
    name: str,
    known: Mapping[str, float] | float | str | None = None,
    confidence: float = 0.95,
    among: str | None = None,
) -> OneSampleTest:
    """Test the shares of a question's answers, or the mean of a number.

    Args:
        known: shares by category, of which one may be left out; a mean, of days as a date too; None for equal shares,
            of arms for those by their weights.
        confidence: nominal coverage of the limits.
        among: people whom shares describe, as for ``described_people``.

    Raises:
        EstimateError: the values do not fit the variable, or the reports allow no test.
    """
    chosen = choose(columns, name)
    people = described_people(columns, chosen.question, among)
    inside = columns if people.asked is None else columns.among(people.asked)
    if not chosen.newest.categories:
        return _of_mean(inside, chosen, known, confidence)
    if isinstance(known, int | float | str):
        raise EstimateError(SHARES_NEEDED, variable=name)
    result = _result(inside, chosen, confidence)
    categories = people.categories(chosen.newest)
    if known is None and name == ARM and columns.survey.arms:
        weights = {arm.name: arm.weight for arm in columns.survey.arms if arm.name in categories}
        known = {each: weight / sum(weights.values()) for each, weight in weights.items()}
    shares = _known_shares(name, categories, known)
    found = _of_shares(inside, chosen.newest, people, shares, result)
    facts = facts_of(columns, [name])
    if facts and max(shares.values()) > 1 - _NEAR:
        return replace(found, p=_over_share(inside, chosen.newest.full_name, facts[0], np.array(list(shares.values()))))
    return _by_limits(inside, chosen, found) if facts else found


def _over_share(columns: Columns, name: str, fact: str, pi: Floats) -> float:
    """Return the mean of the exact p of a known share of 0 or 1 over the prior of the innocuous share."""
    chances = np.exp(-(_STEPS**2) / 2)
    moved = (next(_strata(moved_columns(columns, fact, float(u)), name, answered=False)) for u in _STEPS)
    return float(np.average([_exact(each, pi) or 0.0 for each in moved], weights=chances))


def _by_limits(columns: Columns, chosen: SelectedVariable, found: OneSampleTest) -> OneSampleTest:
    """Return a test of a yes/no question with an inexact innocuous share, which only its limits take in."""

    def estimate(level: float) -> Estimate:
        return _result(columns, chosen, level).estimates[-1]

    p = _inverted(estimate, found.values[-1].known)
    return replace(found, statistic=None, df=None, p=p, method=INVERSION, warnings=())


def _of_shares(
    columns: Columns, newest: Variable, people: DescribedPeople, shares: Mapping[str, float], result: QuestionResult
) -> OneSampleTest:
    strata, pi = list(_strata(columns, newest.full_name, people.answered)), np.array(list(shares.values()))
    tested = [_moments(each, pi) for each in strata]
    at_end = float(pi.max()) > 1 - _NEAR
    # Where all people give one answer, their waves are as good as those of other people.
    exact = _exact(strata[0], pi) if len(strata) == 1 and (at_end or columns.repeats == 1) else None
    estimates = {each.option: each for each in (result.answered if people.answered else result.estimates)}
    # Of an option of a multiple choice, the estimate has the option's name; its share is the one of yes.
    own = {"yes": estimates[newest.name]} if newest.name else estimates
    few = exact is None and min(each.expected for each in tested) < FEWEST_EXPECTED
    several = [SAME_PEOPLE] if columns.repeats > 1 else []
    # Of many reports p can be too small for a number, which is not impossible.
    never = at_end and exact == 0 and strata[0].variable.channels[-1][int(pi[-1] < _NEAR)] in {0, 1}
    never = never or (not at_end and any(each.impossible for each in tested))
    notes = [*several, *([IMPOSSIBLE] if never else [FEW_EXPECTED] if few else [])]
    return OneSampleTest(
        newest.full_name,
        sum(each.n for each in strata),
        tuple(TestedValue(category, share, own[category]) for category, share in shares.items() if category in own),
        *_with_p(tested, exact, at_end),
        SCORE if exact is None else EXACT,
        people.people,
        (*people.cautions, *notes),
    )


def _known_shares(name: str, categories: Sequence[str], known: Mapping[str, float] | None) -> dict[str, float]:
    """Return the share of each category under the hypothesis, in the question's order."""
    if known is None:
        return {each: 1 / len(categories) for each in categories}
    if set(known) - set(categories):
        raise EstimateError(NO_ANSWER_CALLED, variable=name, categories=tuple(categories))
    rest, left = 1 - math.fsum(known.values()), len(categories) - len(known)
    if min(known.values()) < 0 or left > 1 or rest < -_NEAR or (not left and rest > _NEAR):
        raise EstimateError(SUM_TO_ONE)
    return {each: known.get(each, max(rest, 0.0)) for each in categories}


class _ReportedStratum(NamedTuple):
    """Reports of one channel: the variable, scores of its reported values, (u, k), their numbers, and who counts."""

    variable: Variable
    scores: Floats
    numbers: Floats
    answered: bool
    waves: int

    @property
    def n(self) -> int:
        return int(self.numbers.sum())

    @property
    def means(self) -> Floats:
        """Unbiased shares of all categories."""
        return self.numbers @ self.scores / self.n


class _Moments(NamedTuple):
    """Reports, mean of h, its covariance in one report, and the smallest expected number of supporting reports."""

    n: int
    mean: Floats
    covariance: Floats
    expected: float

    @property
    def impossible(self) -> bool:
        """True if there are reports of an answer that no one has, and that noise never makes."""
        return bool(((np.diag(self.covariance) < _NONE) & (np.abs(self.mean) > _NONE)).any())


def _strata(columns: Columns, name: str, answered: bool) -> Iterator[_ReportedStratum]:
    answers = answers_of(columns, name)
    sizes = [len(values) for _, values in answers.tables]
    numbers = np.bincount(answers.codes[answers.observed], minlength=sum(sizes)).astype(float)
    for (variable, values), counted in zip(answers.tables, np.split(numbers, np.cumsum(sizes)[:-1]), strict=True):
        yield _ReportedStratum(
            variable, variable.scores(values), counted, answered and variable.absent, columns.repeats
        )


def _moments(stratum: _ReportedStratum, pi: Floats) -> _Moments:
    means = stratum.means
    if not stratum.answered:
        return _Moments(stratum.n, means - pi, *_scored(stratum, pi))
    share = min(max(1 - float(means[-1]), 0.0), 1.0)
    if not share:
        raise EstimateError("no report contains '{variable}'", variable=stratum.variable.full_name)
    turned = np.column_stack([np.eye(len(pi)), pi])
    covariance, expected = _scored(stratum, np.append(share * pi, 1 - share))
    return _Moments(stratum.n, turned @ means - pi, turned @ covariance @ turned.T, expected)


def _scored(stratum: _ReportedStratum, shares: Floats) -> tuple[Floats, float]:
    """Return the covariance of the scores, (k, k), and the smallest expected number of supports, for true shares."""
    a, b = np.array(stratum.variable.channels).T
    support = b + (a - b) * shares
    within, without = stratum.variable.both
    pairs = shares[:, None] + shares[None, :]
    together = within * pairs + without * (1 - pairs)
    np.fill_diagonal(together, support)
    covariance: Floats = (together - np.outer(support, support)) / np.outer(a - b, a - b)
    covariance += (stratum.waves - 1) * (np.diag(shares) - np.outer(shares, shares))
    return covariance, float(stratum.n * support[: len(stratum.variable.answered)].min())


def _with_p(tested: Sequence[_Moments], exact: float | None, at_end: bool) -> tuple[float | None, int | None, float]:
    """Return chi-square, its degrees of freedom and p; no chi-square, which has two sides, of shares 0 and 1."""
    if at_end:
        if exact is None:
            raise EstimateError(ONE_ANSWER)
        return None, None, exact
    if any(each.impossible for each in tested):
        return None, None, 0.0
    found = pooled_test([(each.mean, each.n * inverse(each.covariance)[0]) for each in tested])
    return found.statistic, found.df, found.p if exact is None else exact


def _exact(stratum: _ReportedStratum, pi: Floats) -> float | None:
    """Return the exact p value of two answers of which each report supports one; None for other reports."""
    one_of_two = len(pi) == 2 and stratum.variable.both == (0, 0)
    at_end = float(pi.max()) > 1 - _NEAR
    if not one_of_two or (stratum.answered and not at_end) or stratum.n > MOST_EXACT:
        return None
    # All of one answer are none of the other one, whose reports are then noise alone.
    place = int(pi.argmin()) if at_end else 1
    a, b = stratum.variable.channels[place]
    count = round(stratum.n * (b + (a - b) * float(stratum.means[place])))
    chances = binomial(stratum.n, b + (a - b) * (0.0 if at_end else pi[1]))
    return min(1.0, float(chances[count:].sum())) if at_end else float(two_sided(chances)[count])


def two_sided(chances: Floats) -> Floats:
    """Return the two-sided p value of each count, from the probabilities of all."""
    ordered = np.sort(chances)
    below: Floats = np.append(0.0, np.cumsum(ordered))[np.searchsorted(ordered, chances * _RELATIVE, "right")]
    return np.minimum(below, 1.0)


def _of_mean(
    columns: Columns, chosen: SelectedVariable, known: Mapping[str, float] | float | str | None, confidence: float
) -> OneSampleTest:
    newest = chosen.newest
    if isinstance(known, str) and isinstance(grid := chosen.question.domain.grid, DayGrid):
        known = float(grid.read(known))
    if not isinstance(known, int | float):
        raise EstimateError(MEAN_NEEDED, variable=newest.full_name)
    if not newest.levels[0] <= known <= newest.levels[-1]:
        raise EstimateError(MEAN_OUTSIDE, variable=newest.full_name)

    def estimate(level: float) -> Estimate:
        means = _result(columns, chosen, level).of_kind("mean")
        return next(each for each in means if each.option in {"mean", newest.name})

    shown = estimate(confidence)
    value = TestedValue("", float(known), shown)
    notes = (SAME_PEOPLE,) if columns.repeats > 1 else ()
    found = OneSampleTest(newest.full_name, shown.n, (value,), None, None, _inverted(estimate, known), INVERSION)
    return replace(found, warnings=notes)


def _inverted(estimate: Callable[[float], Estimate], known: float) -> float:
    """Return the smallest alpha, to a relative millionth, at which the interval leaves the known mean out."""

    def holds(log_alpha: float) -> bool:
        least, most = estimate(1 - math.exp(log_alpha)).ends
        return least <= known <= most

    return math.exp(halved(holds, math.log(_LEAST), 0.0, _HALVINGS)[1])


def _result(columns: Columns, chosen: SelectedVariable, confidence: float) -> QuestionResult:
    """Return the estimates of the results page, of these reports."""
    rule = IntervalRule(confidence=confidence, waves=columns.repeats)
    return question_result(chosen.question, strata_of(columns, chosen.question), rule)
