"""The error of an innocuous share is one parameter of all groups, rows, arms and models that use the fact."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.one_sample_test import EXACT, one_sample_test
from sottovoce.aggregator.analysis.regression.marginal_effects import predict
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.regression.regression_result import Regression
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.result import Result
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms
from sottovoce.aggregator.analysis.tables.crosstab import compare, crosstab, crosstab_within
from sottovoce.aggregator.export.results_client.open_data import open_data
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

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
    y = np.repeat([1, 0, 1, 0], [yes[0], size - yes[0], yes[1], size - yes[1]])
    return Columns.from_arrays(innocuous_survey(error, procedure), {"g": np.repeat([0, 1], size), "y": y})


CONSTANT, SLOPE = -1.0, 1.0


def _columns(survey: Survey, n: int, share: float, seed: int, procedure: str = "crosswise") -> Columns:
    """Reports of people of whom ``share`` have the fact."""
    return grouped_columns(survey, n, (_logistic(CONSTANT), _logistic(CONSTANT + SLOPE)), share, seed, procedure)


def _logistic(odds: float) -> float:
    return float(1 / (1 + np.exp(-odds)))


def _error(found: Regression, place: int) -> float:
    return found.coefficients[place].std_error or 0.0


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


@pytest.mark.slow
@pytest.mark.parametrize("procedure", ["crosswise", "unrelated_question"])
def test_limits_cover_in_many_samples(procedure: str) -> None:
    """At least .9345 of 2,000 samples whose fact has another share each time; with an exact share it is .38 to .71."""
    dice, held, scale = np.random.default_rng(5), np.zeros(4), 50 if procedure == "crosswise" else 25
    survey = innocuous_survey(f"1/{scale}", procedure)
    everybody = 0.6 * APART[0] + 0.4 * APART[1]
    among = 0.4 * APART[1] / everybody - 0.4 * (1 - APART[1]) / (1 - everybody)
    for seed in range(2000):
        columns = grouped_columns(survey, 1000, APART, SHARE + dice.normal() / scale, seed, procedure)
        one, other = compare(columns, "y", "g"), compare(columns, "g", "y")
        figures = zip((*one.values, *one.differences, *other.differences),
                      (*APART, APART[1] - APART[0], among), strict=True)  # fmt: skip
        held += [(each.low or 0.0) <= truth <= (each.high or 0.0) for each, truth in figures]
    assert held.min() / 2000 >= 0.9345


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
        found = compare_across_arms(Columns.from_arrays(survey, {"y": y, "arm": arm}), ("y",))
        widths.append(_width(found.differences[0]))
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


def _several(*errors: str | None) -> Columns:
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


def test_alarm_takes_in_that_the_share_may_be_another() -> None:
    """Fewer say yes than the stated share brings, and no fewer than one within its error does."""
    exact, wide = (crosstab(_reports(error, 400, 380, size=2000), "g", "y").alarm for error in (None, "1/25"))
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


@pytest.mark.parametrize("procedure", ["crosswise", "unrelated_question"])
def test_errors_grow_by_the_derivative_times_the_error_of_the_share(procedure: str) -> None:
    """Of coefficients, marginal effects, the linear model and predictions; estimates stay as they are."""
    exact, wide = (
        regress(_columns(innocuous_survey(error, procedure), 4000, SHARE, 1, procedure), "y", ("g",))
        for error in (None, "1/50")
    )
    for one, other in zip(exact.coefficients, wide.coefficients, strict=True):
        assert one.estimate == other.estimate
        assert (other.std_error or 0) > (one.std_error or 0)
        assert (other.low or 0) < (one.low or 0)
    assert _error(wide.linear, 0) > _error(exact.linear, 0)
    grown = (wide.ame[0].std_error or 0) / (exact.ame[0].std_error or 1)
    # An unrelated question adds the same to both shares, so their difference does not depend on it.
    assert grown == pytest.approx(1) if procedure == "unrelated_question" else grown > 1
    assert wide.covariance is not None
    assert np.sqrt(np.diag(wide.covariance)) == pytest.approx([_error(wide, 0), _error(wide, 1)])
    [(narrow,)], [(broad,)] = (predict(each, [{"g": "yes"}]) for each in (exact, wide))
    assert broad.high - broad.low > narrow.high - narrow.low


def test_constant_of_a_linear_model_moves_as_the_share_itself() -> None:
    """Of one group: the derivative of the estimated share by the innocuous one is (2 p - 1) / (1 - 2 share)."""
    survey = innocuous_survey("1/50")
    found = regress(_columns(survey, 4000, SHARE, 2), "y", ("g",), model="linear")
    exact = regress(_columns(innocuous_survey(None), 4000, SHARE, 2), "y", ("g",), model="linear")
    added = np.sqrt(_error(found, 0) ** 2 - _error(exact, 0) ** 2)
    slope = (2 * (found.coefficients[0].estimate or 0) - 1) / (1 - 2 * SHARE)
    assert added == pytest.approx(abs(slope) / 50, rel=0.01)


RARE, COMMON = (0.076, 0.269), (0.269, 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("shares", [RARE, COMMON])
def test_limits_of_terms_cover_in_many_samples(shares: tuple[float, float]) -> None:
    """At least .9345 of 2,000 samples; of a rare answer some have no maximum at a share that is a bit larger."""
    dice, held = np.random.default_rng(4), np.zeros(2)
    survey = innocuous_survey("1/50")
    odds = [np.log(share / (1 - share)) for share in shares]
    for seed in range(2000):
        columns = grouped_columns(survey, 1000, shares, SHARE + dice.normal() / 50, seed)
        terms = zip(regress(columns, "y", ("g",)).coefficients, (odds[0], odds[1] - odds[0]), strict=True)
        held += [(one.low is None or one.low <= true) and (one.high is None or true <= one.high) for one, true in terms]
    assert held.min() / 2000 >= 0.9345


def test_limits_without_a_maximum_take_in_the_share() -> None:
    """Fewer report yes in a group than the fact alone brings: its limit by likelihood ratio moves out."""
    exact, wide = (regress(_reports(error, 200, 118), "y", ("g",)) for error in (None, "1/50"))
    assert not exact.converged
    assert wide.coefficients[1].low is None
    assert (wide.coefficients[1].high or 0) > (exact.coefficients[1].high or 0)
    assert _error(wide.linear, 0) > _error(exact.linear, 0)


def test_share_that_leaves_a_model_no_estimate_leaves_its_limits_out(tmp_path: Path) -> None:
    """Six people of a group, 1/4 +- 1/20: the coefficients of the exact share stay, and the linear model has limits."""

    def fitted(no: int, yes: int, error: str, confidence: float = 0.95) -> Any:
        rows = [*["a,no"] * no, *["a,yes"] * yes, *["c,no"] * 4, *["c,yes"] * 2]
        (tmp_path / "a.csv").write_text("\n".join(["g,y", *rows]), encoding="utf-8")
        data = open_data(tmp_path / "a.csv", {"y": f"crosswise 1/4 {error} same=yes"})
        return data.regress("g ~ y", confidence=confidence).document

    exact, found = (fitted(80, 65, error) for error in ("", "se=1/20 fact=spring"))
    pairs = [*zip(exact["coefficients"], found["coefficients"], strict=True)]
    assert [one["estimate"] for one, _ in pairs] == pytest.approx([other["estimate"] for _, other in pairs])
    assert all(other["low"] is other["high"] is None for _, other in pairs)
    assert all(each["low"] < each["estimate"] < each["high"] for each in found["linear"]["coefficients"])
    # At a share farther away there is no linear model either.
    exact, farther = fitted(160, 89, ""), fitted(160, 89, "se=1/20 fact=spring", 0.999)
    assert farther["linear"] is None
    estimates = [[each["estimate"] for each in one["coefficients"]] for one in (exact, farther)]
    assert estimates[0] == pytest.approx(estimates[1])


def test_model_whose_maximum_depends_on_the_share_predicts_nothing() -> None:
    """Its limits stand, but no covariance could give those of a prediction."""
    found = regress(_reports("1/50", 200, 131), "y", ("g",))
    assert found.converged
    assert found.coefficients[1].low is None
    assert found.covariance is None


def test_test_of_no_effect_stays_as_it_is() -> None:
    """Without an effect no share of the fact matters, in either likelihood."""
    exact, wide = (regress(_reports(error, 200, 240), "y", ("g",)) for error in (None, "1/50"))
    assert wide.tests[0].statistic == pytest.approx(exact.tests[0].statistic, rel=1e-4)


def test_test_of_a_model_has_both_likelihoods_at_their_own_share() -> None:
    """Of a logit in two predictors without their interaction the reports tell of the fact: an own search over u."""
    dice = np.random.default_rng(8)
    asked = [asks("g", public=True), asks("h", public=True), asks("y", **innocuous("1/30"))]
    survey = parse_survey(document(questions=asked))
    g, h = dice.integers(0, 2, (2, 4000))
    y = reported(dice, dice.random(4000) < 1 / (1 + np.exp(1.5 - g - h)), SHARE + 0.03)
    columns = Columns.from_arrays(survey, {"g": g, "h": h, "y": y})
    found = {each.predictor: each.statistic for each in regress(columns, "y", ("g", "h")).tests}
    moved = {}
    for u in np.linspace(-1.5, 1.5, 31):
        share = Fraction(SHARE + u / 30).limit_denominator(10**5)
        fact = {**innocuous(None)["innocuous"], "share": f"{share.numerator}/{share.denominator}"}
        asked[2]["innocuous"] = fact
        at = regress(replace(columns, revisions=(parse_survey(document(questions=asked)),)), "y", ("g", "h"))
        moved[u] = at.log_likelihood or 0.0, {each.predictor: each.statistic for each in at.tests}
    for name, statistic in found.items():
        whole = max(log - u**2 / 2 for u, (log, _) in moved.items())
        nested = max(log - tests[name] / 2 - u**2 / 2 for u, (log, tests) in moved.items())
        assert statistic == pytest.approx(2 * (whole - nested), rel=0.02)
