"""The error of an innocuous share is one parameter of all groups, rows and arms that use the fact."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from sottovoce.aggregator.analysis.one_sample_test import EXACT, one_sample_test
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms, compare_arms
from sottovoce.aggregator.analysis.tables.crosstab import crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.group_comparison import compare
from sottovoce.aggregator.analysis.tables.table import Rule
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.surveys import document
from tests.unit.aggregator.analysis.innocuous_surveys import (
    SHARE,
    grouped_columns,
    innocuous,
    innocuous_survey,
    reported,
)
from tests.vectors.arms import COIN, arms, asks

Z = 1.959964
APART = (0.1, 0.6)


def _width(found: Result) -> float:
    return (found.high or 0.0) - (found.low or 0.0)


def _reports(error: str | None, *yes: int, size: int = 500, procedure: str = "crosswise") -> Columns:
    """Reports of two groups, of whom so many say yes."""
    y = np.repeat([1, 0, 1, 0], [yes[0], size - yes[0], yes[1], size - yes[1]])
    return Columns.from_arrays(innocuous_survey(error, procedure), {"g": np.repeat([0, 1], size), "y": y})


@pytest.mark.parametrize("procedure", ["crosswise", "unrelated_question"])
def test_difference_of_equal_groups_is_as_sure_as_with_an_exact_share(procedure: str) -> None:
    """Its width to 2 %, the test of independence and that of all pairs to the last digit; the shares are less sure."""
    exact, wide = (_reports(error, 200, 203, procedure=procedure) for error in (None, "1/50"))
    one, other = (compare(each, "y", "g") for each in (exact, wide))
    assert _width(other.differences[0]) == pytest.approx(_width(one.differences[0]), rel=0.02)
    assert all(_width(b) > 1.02 * _width(a) for a, b in zip(one.values, other.values, strict=True))
    assert other.independence == pytest.approx(one.independence, rel=1e-12)
    pairs = [every_pair(each).tests[0].independence for each in (exact, wide)]
    assert pairs[1] == pytest.approx(pairs[0], rel=1e-12)


@pytest.mark.parametrize("yes", range(225, 245, 4))
def test_no_difference_is_excluded_exactly_where_an_exact_share_excludes_it(yes: int) -> None:
    """So limits say what p says, at either side of its limit; likewise of ratios and phi."""
    exact, wide = (_reports(error, 195, yes) for error in (None, "1/25"))
    one, other = (crosstab(each, "g", "y").measures for each in (exact, wide))
    assert one is not None
    assert other is not None
    for a, b, null in zip(one, other, (0.0, 1.0, 1.0, 0.0), strict=True):
        assert ((a.low or 0.0) > null) == ((b.low or 0.0) > null)


def _profile(columns: Columns, error: float) -> tuple[float, float]:
    """Profile likelihood limits of the difference of two crosswise shares, over one share and the fact's error."""
    g, y = columns.values["g"], columns.values["y"]
    counts = [(int(((g == group) & (y == 1)).sum()), int((g == group).sum())) for group in (0, 1)]
    u = np.linspace(-3, 3, 81)[:, None]
    first = np.linspace(0, 1, 301)[None, :]

    def log(count: tuple[int, int], share: np.ndarray) -> np.ndarray:
        p = SHARE + u * error
        told = p + (1 - 2 * p) * share
        return np.asarray(count[0] * np.log(told) + (count[1] - count[0]) * np.log1p(-told))

    alone = log(counts[0], first) - u**2 / 2
    apart = np.linspace(-0.2, 1, 241)
    found = []
    for t in apart:
        share = first + t
        likelihood = np.where((share >= 0) & (share <= 1), alone + log(counts[1], np.clip(share, 0, 1)), -np.inf)
        found.append(likelihood.max())
    inside = apart[np.array(found) >= max(found) - Z**2 / 2]
    return float(inside[0]), float(inside[-1])


def test_limits_of_a_difference_are_those_of_a_profile_likelihood() -> None:
    """Of unequal groups, in eight samples: each limit within a twentieth of the width, which is at most 1.10 of its."""
    widths = []
    for seed in range(8):
        columns = grouped_columns(innocuous_survey("1/50"), 1000, APART, SHARE, seed)
        found, (low, high) = compare(columns, "y", "g").differences[0], _profile(columns, 1 / 50)
        assert found.low == pytest.approx(low, abs=(high - low) / 15)
        assert found.high == pytest.approx(high, abs=(high - low) / 15)
        widths.append(_width(found) / (high - low))
    assert np.mean(widths) <= 1.10


def _coverage(procedure: str, samples: int) -> np.ndarray:
    """Shares of samples, whose fact has another share each time, in which limits cover: two shares, their difference,
    the difference of g among those with y and without.
    """
    dice, held, error = np.random.default_rng(5), np.zeros(4), "1/50" if procedure == "crosswise" else "1/25"
    survey, scale = innocuous_survey(error, procedure), 50 if procedure == "crosswise" else 25
    everybody = 0.6 * APART[0] + 0.4 * APART[1]
    among = 0.4 * APART[1] / everybody - 0.4 * (1 - APART[1]) / (1 - everybody)
    for seed in range(samples):
        columns = grouped_columns(survey, 1000, APART, SHARE + dice.normal() / scale, seed, procedure)
        one, other = compare(columns, "y", "g"), compare(columns, "g", "y")
        figures = zip((*one.values, *one.differences, *other.differences),
                      (*APART, APART[1] - APART[0], among), strict=True)  # fmt: skip
        held += [(each.low or 0.0) <= truth <= (each.high or 0.0) for each, truth in figures]
    return held / samples


@pytest.mark.slow
@pytest.mark.parametrize("procedure", ["crosswise", "unrelated_question"])
def test_limits_cover_in_many_samples(procedure: str) -> None:
    """At least .9345 of 2,000 samples; with the share taken as exact it is .38 to .71."""
    assert _coverage(procedure, 2000).min() >= 0.9345


def test_p_of_a_known_value_is_that_of_the_limits() -> None:
    """The smallest level whose limits exclude it: .05 at a limit, less beyond it, and 1 at the estimate."""
    columns = _reports("1/50", 200, 203)
    shown = one_sample_test(columns, "y", {"yes": 0.3}).values[0].estimate
    p = {known: one_sample_test(columns, "y", {"yes": known}).p for known in (shown.low, shown.high, shown.raw)}
    assert p[shown.low] == pytest.approx(0.05, abs=1e-4)
    assert p[shown.high] == pytest.approx(0.05, abs=1e-4)
    assert p[shown.raw] > 0.9
    assert one_sample_test(columns, "y", {"yes": shown.low - 0.01}).p < 0.05
    assert one_sample_test(_reports(None, 200, 203), "y", {"yes": shown.low}).p < 0.02


def _experiment(error: str | None) -> Columns:
    """Half are asked openly, of whom .2 say yes, and half behind the fact, of whom .3 do."""
    asked = [asks("direct", "direct", public=True), asks("hidden", "protected", **innocuous(error))]
    survey = parse_survey(document(questions=asked, arms=arms(1, 1)))
    arm = np.repeat([0, 1], 500)
    direct = np.ma.masked_array(np.repeat([1, 0, 0], [100, 400, 500]), mask=arm == 1)
    hidden = np.ma.masked_array(np.repeat([0, 1, 0], [500, 200, 300]), mask=arm == 0)
    return Columns.from_arrays(survey, {"direct": direct, "hidden": hidden, "arm": arm})


def test_difference_of_arms_has_the_whole_error_of_the_one_share() -> None:
    """Nothing of it cancels: the square of the derivative times the error's is added; the ratio is less sure too."""
    exact, wide = (compare_across_arms(_experiment(error), ("hidden", "direct")) for error in (None, "1/25"))
    slope = (2 * 0.3 - 1) / (1 - 2 * SHARE)
    expected = math.hypot(exact.differences[0].std_error or 0.0, slope / 25)
    assert wide.differences[0].std_error == pytest.approx(expected, rel=1e-3)
    assert wide.differences[0].raw == exact.differences[0].raw
    for one, other in ((exact.differences, wide.differences), (exact.ratios, wide.ratios)):
        assert _width(other[0]) > 1.1 * _width(one[0])
    assert _width(wide.values[0]) == pytest.approx(_width(exact.values[0]), rel=1e-9)


def test_arms_with_one_question_share_its_fact() -> None:
    """The same shares in both arms: their difference is as sure as with an exact share."""
    widths = []
    for error in (None, "1/50"):
        survey = parse_survey(document(questions=[asks("y", **innocuous(error))], arms=arms(1, 1)))
        arm, y = np.repeat([0, 1], 500), np.tile(np.repeat([1, 0], [200, 300]), 2)
        widths.append(_width(compare_arms(Columns.from_arrays(survey, {"y": y, "arm": arm}), "y").differences[0]))
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


def _several(*errors: str | None) -> Columns:
    """Reports on a, b, c behind facts of their own."""
    asked = [asks(name, **innocuous(error, statement=name)) for name, error in zip("abc", errors, strict=True)]
    dice = np.random.default_rng(7)
    truth = dice.random(1500) < 0.4
    return Columns.from_arrays(
        parse_survey(document(questions=asked)), {name: reported(dice, truth, SHARE) for name in "abc"}
    )


def test_two_facts_are_two_parameters() -> None:
    """Each makes the cells of a table less sure; what a third would make is refused by name."""
    widths = [_width(crosstab(_several(*errors), "a", "b").cells[1][1])
              for errors in ((None, None, None), ("1/25", None, None), ("1/25", "1/25", None))]  # fmt: skip
    assert widths[0] < widths[1] < widths[2]
    with pytest.raises(EstimateError, match="more than 2 innocuous shares that have a standard error do not go togeth"):
        crosstab_within(_several("1/25", "1/25", "1/25"), "a", "b", "c")


def test_simultaneous_limits_are_refused() -> None:
    """They have another quantile, and no part of the error of a share."""
    with pytest.raises(EstimateError, match="limits of each cell by itself do"):
        crosstab(_reports("1/25", 200, 203), "g", "y", rule=Rule(simultaneous=True))


def test_alarm_takes_in_that_the_share_may_be_another() -> None:
    """Fewer say yes than the stated share brings, and no fewer than one within its error does."""
    exact, wide = (crosstab(_reports(error, 400, 380, size=2000), "g", "y").alarm for error in (None, "1/25"))
    assert exact is not None
    assert wide is not None
    assert exact.statistic < exact.limit
    assert wide.statistic >= wide.limit


@pytest.mark.parametrize("analysis", [
    lambda columns: crosstab(columns, "g", "y").cells[0][1],
    lambda columns: crosstab(columns, "g", "y").conditional[0][1],
    lambda columns: crosstab_within(columns, "y", "h", "g").tables["no"].cells[1][1],
    lambda columns: crosstab_within(columns, "g", "z", "y").tables["yes"].cells[1][1],
    lambda columns: compare(columns, "h", "y", weights=np.linspace(1, 2, 1000)).values[1],
])  # fmt: skip
def test_every_table_takes_in_the_error(analysis: Callable[[Columns], Result]) -> None:
    """In rows and columns, within a public question and within the hidden one, with weights."""
    dice = np.random.default_rng(2)
    g, h = dice.integers(0, 2, (2, 1000))
    y = reported(dice, dice.random(1000) < 0.3 + 0.3 * h, SHARE)
    survey = parse_survey(document(questions=[
        asks("g", public=True), asks("h", public=True), asks("y", **innocuous("1/25")), asks("z", mechanism=COIN),
    ]))  # fmt: skip
    columns = Columns.from_arrays(survey, {"g": g, "h": h, "y": y, "z": h ^ g})
    exact = replace(columns, revisions=(replace(survey, questions=tuple(
        replace(each, mechanism=replace(each.mechanism, std_error=0)) if each.name == "y" else each
        for each in survey.questions
    )),))  # fmt: skip
    one, other = analysis(exact), analysis(columns)
    assert other.raw == one.raw
    assert (other.std_error or 0) > (one.std_error or 0)
    assert _width(other) > 1.005 * _width(one)


@pytest.mark.parametrize(("procedure", "error"), [("crosswise", 1 / 50), ("unrelated_question", 1 / 25)])
@pytest.mark.parametrize("yes", [0, 1])
def test_nobody_and_everybody_are_tested_on_one_side_over_the_prior_of_the_share(
    procedure: str, error: float, yes: int
) -> None:
    """Such reports have this chance, averaged over the share by Gauss's rule; not that of two-sided limits."""
    u, chances = np.polynomial.hermite_e.hermegauss(60)
    share = np.clip(SHARE + u * error, 0.001, 0.499)
    chance = share if procedure == "crosswise" else (share if not yes else 1 - share) / 3
    right = sum(
        each * math.fsum(math.comb(200, k) * p**k * (1 - p) ** (200 - k) for k in range(60, 201))
        for p, each in zip(chance, chances / chances.sum(), strict=True)
    )
    count = 140 if yes else 60
    columns = _reports(f"1/{round(1 / error)}", count // 2, count // 2, size=100, procedure=procedure)
    found = one_sample_test(columns, "y", {"yes": yes})
    assert found.p == pytest.approx(right, rel=2e-3)
    assert (found.method, found.statistic, found.warnings) == (EXACT, None, ())


def test_nobody_is_rejected_as_often_as_said_with_a_share_from_its_prior() -> None:
    """At most .05 of 2,000 samples and three standard errors; with the share taken as exact it is three times that."""
    dice = np.random.default_rng(8)
    counts = dice.binomial(2000, np.clip(SHARE + dice.normal(size=2000) / 50, 0.001, 0.499))
    p = {k: [one_sample_test(_reports(error, k, 0, size=1000), "y", {"yes": 0}).p for error in ("1/50", None)]
         for k in range(480, 600, 12)}  # fmt: skip
    within, alone = (np.interp(counts, [*p], [each[place] for each in p.values()]) for place in (0, 1))
    assert np.mean(within < 0.05) <= 0.05 + 3 * (0.05 * 0.95 / 2000) ** 0.5
    assert np.mean(alone < 0.05) > 0.15


def test_many_reports_that_noise_can_make_are_not_called_impossible() -> None:
    """Where p is too small for a number: a hidden answer can always be one by the fact."""
    found = one_sample_test(_reports(None, 50_000, 50_000, size=50_000), "y", {"yes": 0})
    assert (found.p, found.warnings) == (0.0, ())
