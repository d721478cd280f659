from statistics import NormalDist

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression import fit_likelihood, newton
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Correction, solve
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.likelihood_ratio import likelihood_ratio, profile_limits
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import Fit, Model, evaluate, inverse, maximize, score_products
from sottovoce.aggregator.analysis.regression.ordered_logit import Ordered
from sottovoce.aggregator.analysis.regression.regression import NO_SPREAD, regress
from sottovoce.aggregator.analysis.regression.regression_result import detectable_effects, people_needed
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.estimators.intervals import t_quantile
from sottovoce.aggregator.planning.simulated_survey import invent, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.shared.errors import EstimateError

from tests.documents import number, question
from tests.random_surveys import random_survey
from tests.unit.aggregator.analysis.reports import (
    COIN,
    GROUP,
    MASK_LIKELIHOOD,
    ONES,
    ROW,
    SAID,
    SAWTOOTH,
    SCORE,
    WEIGHTS,
    X,
    check_derivatives,
    columns,
    masks,
    noisy_numbers,
    ratings,
)
from tests.unit.aggregator.analysis.samples import COIN as FLIP, asked, columns as tabulated, public
from tests.unit.aggregator.analysis.survey_of_reports import reports
from tests.unit.shared.test_schema import validator

LOGIT = Multinomial(columns(ONES, X, GROUP), SAID, COIN)


def roots(covariance: np.ndarray) -> np.ndarray:
    return np.sqrt(np.diag(covariance))


def errors(model: Multinomial, kind: str, clusters: np.ndarray | None = None) -> np.ndarray:
    return roots(covariance(model, maximize(model), kind, clusters))


ODDS_3 = np.ones((4, 4)) + 2 * np.eye(4)


R, M = 0.8, 10

Z1 = np.array([-R / (1 - R), *range(1, M), M + R / (1 - R)])

Z2 = np.array(
    [-R / (1 - R), *(y * y - 2 * R / (1 - R) ** 2 for y in range(1, M)), M * M + 2 * M * R / (1 - R) - R / (1 - R)]
)


@pytest.mark.parametrize(
    ("kind", "expected"), [("expected", [0.254889, 0.226650, 0.485854]), ("sandwich", [0.257462, 0.221489, 0.471810])]
)
def test_standard_errors_meet_the_worked_example(kind: str, expected: list[float]) -> None:
    assert errors(LOGIT, kind) == pytest.approx(expected, abs=5e-7)


def test_score_products_are_added_up_from_each_report() -> None:
    theta, step = maximize(LOGIT).theta, 1e-5

    def logs(at: np.ndarray) -> np.ndarray:
        yes = 1 / (1 + np.exp(-at @ LOGIT.columns))
        return np.log(COIN[SAID, 0] * (1 - yes) + COIN[SAID, 1] * yes)

    scores = np.array([(logs(theta + step * unit) - logs(theta - step * unit)) / (2 * step) for unit in np.eye(3)])
    assert errors(LOGIT, "opg") == pytest.approx(roots(np.linalg.inv(scores @ scores.T)), rel=1e-6)


def test_one_cluster_has_no_error() -> None:
    """There is nothing to compare it with."""
    with pytest.raises(EstimateError, match="two clusters or more"):
        errors(LOGIT, "observed", np.zeros(600, int))


def test_multinomial_logit_through_masks_meets_the_worked_example() -> None:
    model = Multinomial(columns(ONES, X), masks(), MASK_LIKELIHOOD)
    expected = [0.337362, 0.286631, 0.321494, 0.274805, 0.697441, 0.650471]

    assert errors(model, "observed") == pytest.approx(expected, abs=6e-7)
    assert maximize(model).log_likelihood == pytest.approx(419.180201, abs=5e-7)


def test_likelihood_rows_may_have_any_scale() -> None:
    """Only their ratios tell anything."""
    scaled = maximize(Multinomial(LOGIT.columns, SAID, COIN * [[7.0], [0.01]]))
    assert scaled.theta == pytest.approx(maximize(LOGIT).theta, abs=1e-9)


def test_unit_of_a_predictor_changes_nothing_but_its_coefficient() -> None:
    cents = maximize(Multinomial(columns(ONES, 4e8 + 1e8 * X, GROUP), SAID, COIN))
    plain = maximize(LOGIT)

    assert cents.converged
    assert cents.theta[1] * 1e8 == pytest.approx(plain.theta[1], rel=1e-6)
    assert cents.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-7)


def test_reports_that_tell_nothing_change_nothing() -> None:
    more = Multinomial(
        np.hstack([LOGIT.columns, LOGIT.columns[:, :50]]),
        np.concatenate([SAID, np.full(50, 2)]),
        np.vstack([COIN, [1.0, 1.0]]),
    )
    assert maximize(more).theta == pytest.approx(maximize(LOGIT).theta, abs=1e-9)
    assert errors(more, "expected") == pytest.approx(errors(LOGIT, "expected"), abs=1e-9)


def test_direct_answers_and_other_channels_stand_in_one_likelihood() -> None:
    direct = Multinomial(LOGIT.columns, SAID, np.eye(2))
    b = maximize(direct).theta
    assert LOGIT.columns @ (SAID - 1 / (1 + np.exp(-b @ LOGIT.columns))) == pytest.approx(0, abs=1e-6)

    rows = np.vstack([COIN, np.eye(2), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]]])
    channel = 2 * (ROW % 3)
    mixed = Multinomial(LOGIT.columns, SAID + channel, rows)
    yes = 1 / (1 + np.exp(-b @ LOGIT.columns))
    said = rows[SAID + channel, 0] * (1 - yes) + rows[SAID + channel, 1] * yes
    assert evaluate(mixed, b).log_likelihood == pytest.approx(np.log(said).sum(), abs=1e-9)
    assert maximize(mixed).converged


def test_whole_weights_are_as_repeated_rows() -> None:
    times = 1 + ROW % 3
    weighted = Multinomial(LOGIT.columns, SAID, COIN, times.astype(float))
    repeated = Multinomial(np.repeat(LOGIT.columns, times, axis=1), np.repeat(SAID, times), COIN)

    assert maximize(weighted).theta == pytest.approx(maximize(repeated).theta, abs=1e-9)
    for kind in ("observed", "expected", "opg"):
        assert errors(weighted, kind) == pytest.approx(errors(repeated, kind), rel=1e-7)


@pytest.mark.parametrize(
    ("model", "theta"),
    [
        (Multinomial(columns(ONES, X), masks(), MASK_LIKELIHOOD, WEIGHTS), np.linspace(-0.4, 0.5, 6)),
        (Ordered(columns(X, GROUP), ratings(), ODDS_3, WEIGHTS), np.array([0.3, -0.2, -1.0, 0.1, 1.4])),
    ],
    ids=["multinomial", "ordered"],
)
def test_derivatives_are_those_of_the_likelihood(model: Multinomial | Ordered, theta: np.ndarray) -> None:
    found = check_derivatives(model, theta)
    assert model.scores(theta, slice(None)) @ WEIGHTS == pytest.approx(found.gradient, abs=1e-9)


def test_columns_that_follow_from_each_other_are_refused() -> None:
    """A sum of two others has no coefficient of its own."""
    with pytest.raises(EstimateError, match="cannot tell the parameters apart"):
        maximize(Multinomial(columns(ONES, X, ONES + X), SAID, COIN))


def test_inverse_of_what_is_not_positive_is_none() -> None:
    assert inverse(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
    assert inverse(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
    assert inverse(np.array([[np.nan]])) is None
    assert inverse(np.diag([1e-310, 1.0])) is None
    assert inverse(np.array([[4.0]])) == pytest.approx(np.array([[0.25]]))


def test_two_categories_are_a_logit() -> None:
    ordered = maximize(Ordered(columns(X, GROUP), SAID, COIN))
    logit = maximize(Multinomial(columns(ONES, X, GROUP), SAID, COIN))

    assert ordered.theta == pytest.approx([*logit.theta[1:], -logit.theta[0]], abs=1e-7)
    assert ordered.log_likelihood == pytest.approx(logit.log_likelihood, abs=1e-9)


def test_category_that_nobody_can_have_has_no_maximum() -> None:
    """Of 4-ary reports fewer than noise alone gives: its two cuts would meet, or its end be infinitely far."""
    for rare in range(4):
        reports = np.concatenate([np.full(10 if value == rare else 90, value) for value in range(4)])
        fit = maximize(Ordered(columns(np.arange(280) % 2), reports, ODDS_3))

        assert not fit.converged, rare
        assert fit.runs_off is not None


def test_geometric_number_as_predictor_meets_the_worked_example() -> None:
    truth, reported = noisy_numbers()
    z1, z2 = Z1[reported], Z2[reported]
    fit = solve(columns(ONES, z1), 0.3 * truth + SAWTOOTH, [Correction(1, 1, z2)])

    assert (z1.mean(), z2.mean(), z2.mean() - z1.mean() ** 2) == pytest.approx(
        (4.988333, 33.628333, 8.744864), abs=5e-7
    )
    assert fit.coefficients == pytest.approx([-0.234011, 0.346352], abs=5e-7)
    assert roots(fit.covariance) == pytest.approx([0.374018, 0.073234], abs=5e-7)


def test_correction_without_noise_changes_nothing() -> None:
    """The indicators of a public answer are their own squares."""
    indicators = np.array([ROW % 3 == 1, ROW % 3 == 2]).astype(float)
    design = np.vstack([columns(ONES, X), indicators])
    plain = solve(design, SCORE, weights=WEIGHTS, clusters=ROW // 6)
    known = [Correction(2, 2, indicators[0]), Correction(3, 3, indicators[1]), Correction(2, 3, None)]
    corrected = solve(design, SCORE, known, WEIGHTS, ROW // 6)

    assert corrected.coefficients == pytest.approx(plain.coefficients, abs=1e-12)
    assert corrected.covariance == pytest.approx(plain.covariance, abs=1e-12)


def test_clusters_are_summed_before_they_are_squared() -> None:
    """Each report twice, each pair a cluster, is as the reports once, but for G / (G - 1)."""
    design = columns(ONES, X, GROUP)
    once = solve(design, SCORE)
    twice = solve(np.repeat(design, 2, axis=1), np.repeat(SCORE, 2), clusters=np.repeat(ROW, 2))

    assert twice.coefficients == pytest.approx(once.coefficients, abs=1e-12)
    assert twice.covariance == pytest.approx(once.covariance * 600 / 599, rel=1e-10)


def test_predictor_of_clusters_has_the_error_of_two_samples_of_their_means() -> None:
    """Five clusters of 12 against five others: the standard error and the limits are those of Student's t test."""
    rng, group = np.random.default_rng(8), np.repeat([0.0, 1.0], 5)
    z, held = t_quantile(0.95, 8), 0
    for _ in range(2000):
        yes = rng.binomial(12, 1 / (1 + np.exp(0.5 - 0.8 * rng.standard_normal(10)))) / 12
        said = np.concatenate([np.arange(12) < round(12 * each) for each in yes]).astype(float)
        found = solve(columns(np.ones(120), np.repeat(group, 12)), said, clusters=np.repeat(np.arange(10), 12), df=8)
        error = np.sqrt(found.covariance[1, 1])
        held += abs(found.coefficients[1]) <= z * error

    spread = yes[:5].var(ddof=1) + yes[5:].var(ddof=1)
    assert error == pytest.approx(np.sqrt(spread / 5), rel=1e-9)
    assert held / 2000 >= 0.9345


@pytest.mark.parametrize("model", ["linear", "logit"])
def test_models_by_clusters_count_the_columns_that_are_the_same_within_each(model: str) -> None:
    """Of ten clusters eight are left with a predictor that is the same within each, nine with one that is not."""
    openly = public(question(FLIP))
    within, by = np.tile([0, 1, 1, 0, 1, 0], 20), np.repeat(np.arange(10), 12)
    for answers, df in ((np.repeat([0, 1], 60), 8), (within, 9)):
        said = (np.arange(120) * 7 % 12 < 4 + by % 3).astype(np.uint8)
        whole = Columns.from_arrays(asked(openly, openly), {"a": answers.astype(np.uint8), "b": said})
        found = regress(whole, "b", ["a"], model=model, cluster=by)
        assert found.df == df
        fit = solve(columns(np.ones(120), answers.astype(float)), said.astype(float), clusters=by)
        linear = found if model == "linear" else found.linear
        assert linear.covariance == pytest.approx(fit.covariance * 9 / df, rel=1e-9)


def test_predictor_drowned_by_its_noise_is_refused() -> None:
    """Its own variance is negative, and no coefficient means anything."""
    noise = columns(ONES, np.where(ROW % 2, 1.5, -0.5))
    with pytest.raises(EstimateError, match="drowned by its own noise"):
        solve(noise, SCORE, [Correction(1, 1, np.full(600, 0.1))])


def test_public_predictors_are_not_drowned_by_a_noise() -> None:
    """Where no predictor was randomized, one follows from the others."""
    with pytest.raises(EstimateError, match="one follows from the others; leave one out"):
        solve(columns(ONES, X, X), SCORE)


@pytest.mark.parametrize("n", [40, 100])
def test_missing_maximum_is_found_for_every_count(n: int) -> None:
    """One group of coin reports: there is a maximum if and only if the reported share lies inside (1/4, 3/4)."""
    for yes in range(n + 1):
        reports = (np.arange(n) < yes).astype(int)
        fit = maximize(Multinomial(np.ones((1, n)), reports, COIN))

        assert fit.converged == (n < 4 * yes < 3 * n), yes
        assert (fit.runs_off is None) == fit.converged


def test_missing_maximum_is_found_in_samples_of_three_groups() -> None:
    """There is one if and only if every group's reported share lies inside (1/4, 3/4)."""
    generator, group = np.random.Generator(np.random.PCG64(5)), np.repeat([0, 1, 2], 30)
    design = columns(np.ones(90), group == 1, group == 2)
    found = []
    for _ in range(100):
        said = generator.random(90) < np.array([0.3, 0.4, 0.5])[group]
        shares = np.bincount(group, weights=said) / 30
        found.append(bool(np.all((shares > 0.25) & (shares < 0.75))))
        assert maximize(Multinomial(design, said.astype(int), COIN)).converged == found[-1]
    assert 20 < sum(found) < 80


def test_missing_maximum_of_one_group_of_three_is_found() -> None:
    """The direction in which it lies is that group's."""
    group = np.repeat([0, 1, 2], 80)
    said = np.concatenate([np.arange(80) < yes for yes in (40, 35, 15)]).astype(int)
    fit = maximize(Multinomial(columns(np.ones(240), group == 1, group == 2), said, COIN))

    assert not fit.converged
    assert np.abs(fit.runs_off).argmax() == 2


def test_outlier_of_a_predictor_is_no_missing_maximum() -> None:
    """Somebody a hundred times as rich has a linear predictor beyond 12, and a coefficient exists all the same."""
    x = np.append(X, 100.0)
    fit = maximize(Multinomial(columns(np.ones(601), x), np.append(SAID, 1), COIN))

    assert fit.converged
    assert fit.theta[1] * 100 > newton.BEYOND
    assert evaluate(Multinomial(columns(np.ones(601), x), np.append(SAID, 1), COIN), fit.theta).gradient == (
        pytest.approx(0, abs=1e-4)
    )


def test_blocks_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Multinomial(columns(ONES, X, GROUP), SAID, COIN, WEIGHTS)
    whole, products = maximize(model), score_products(model, np.array([0.1, -0.2, 0.3]), power=2)
    monkeypatch.setattr(newton, "BLOCK", 7)
    in_blocks = maximize(model)

    assert in_blocks.theta == pytest.approx(whole.theta, abs=1e-10)
    assert in_blocks.information == pytest.approx(whole.information, rel=1e-10)
    assert score_products(model, np.array([0.1, -0.2, 0.3]), power=2) == pytest.approx(products, rel=1e-12)


def test_no_step_moves_a_linear_predictor_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a start where nearly everybody would say yes, where the likelihood is all but flat."""
    tried = []

    def noting(model: Multinomial, theta: np.ndarray) -> newton.Sums:
        tried.append(float(theta[0]))
        return evaluate(model, theta)

    monkeypatch.setattr(newton, "evaluate", noting)
    fit = maximize(Multinomial(np.ones((1, 100)), np.arange(100) % 2, COIN), np.array([9.0]))

    assert tried[:2] == pytest.approx([9, 5])
    assert fit.theta == pytest.approx([0], abs=1e-6)


def test_parameter_that_must_not_move_stays() -> None:
    model = Multinomial(columns(ONES, X, GROUP), SAID, COIN)
    free = np.array([True, False, True])
    fit = maximize(model, np.array([0.0, 0.5, 0.0]), free)

    assert fit.theta[1] == 0.5
    assert evaluate(model, fit.theta).gradient[free] == pytest.approx([0, 0], abs=1e-6)
    assert abs(evaluate(model, fit.theta).gradient[1]) > 1


ONE_SIDED = Multinomial(columns(np.ones(120), np.repeat([0, 1], 60)), np.repeat([0, 1, 0, 1], [48, 12, 30, 30]), COIN)

"""Of the first sixty too few say yes for any share."""


def test_smallest_effect_is_2_80_standard_errors() -> None:
    """Of each slope, and of no constant; with so many people an odds ratio of 2 is found with power .8."""
    fitted = regress(reports(), "said", ["x", "g"])
    found = detectable_effects(fitted)

    assert [each.term for each in found] == ["x", "g=yes"]
    assert found[0].smallest == pytest.approx(2.8015852 * 0.224050, abs=2e-6)
    assert found[0].people == people_needed(600, 0.2240499 * X.std())
    error = 0.224050 * X.std() * (600 / (found[0].people or 1)) ** 0.5
    assert NormalDist().cdf(0.693147 / error - 1.959964) == pytest.approx(0.8, abs=2e-3)


def test_people_for_an_odds_ratio_do_not_depend_on_the_unit_of_a_number() -> None:
    """One more year of age is a small step: by it, two people would do. Categories have no unit."""
    one, other = (
        detectable_effects(regress(reports(), "said", parse_formula(f"said ~ {x} + g + {x}:g")))
        for x in ("x", "I(x / 1000)")
    )
    assert other[0].smallest == pytest.approx(1000 * one[0].smallest)
    assert [each.people for each in one] == [each.people for each in other]
    assert one[1].people == people_needed(600, one[1].smallest / 2.8015852)


def test_linear_model_has_no_people_for_odds() -> None:
    """And a model without a maximum has no smallest effect; documents fit the schema."""
    linear = parse_request("regression", {"formula": "x ~ noisy"}).document(reports())
    logit = parse_request("regression", {"formula": "said ~ x"}).document(reports())

    assert set(linear["detectable"][0]) == {"term", "smallest"}
    assert set(logit["detectable"][0]) == {"term", "smallest", "people"}
    for document in (linear, logit):
        validator("regression").validate(document)


def test_limits_are_where_the_likelihood_has_lost_enough() -> None:
    fit = maximize(LOGIT)
    for index in range(3):
        free = np.arange(3) != index
        for limit in profile_limits(LOGIT, fit, index):
            assert limit is not None
            fixed = np.where(free, fit.theta, limit)
            loss = 2 * (fit.log_likelihood - maximize(LOGIT, fixed, free).log_likelihood)
            assert loss == pytest.approx(3.841459, abs=1e-4)


def test_side_without_limit_is_none() -> None:
    """A reported share below noise alone: the constant has no lower limit, the difference no upper one."""
    fit = maximize(ONE_SIDED)
    assert fit.runs_off is not None

    low, high = profile_limits(ONE_SIDED, fit, 0)
    assert low is None
    # One group of 60 with 12 yes: twice the log likelihood of p falls by 3.84 from that of p = 0 where p = .150694.
    assert high == pytest.approx(np.log(_upper_share() / (1 - _upper_share())), abs=1e-4)
    low, high = profile_limits(ONE_SIDED, fit, 1)
    assert low == pytest.approx(1.464069, abs=1e-4)
    assert high is None


def test_model_with_one_parameter_has_limits_too() -> None:
    """There is nothing else to be at its best."""
    alone = Multinomial(np.ones((1, 60)), (np.arange(60) < 12).astype(int), COIN)
    low, high = profile_limits(alone, maximize(alone), 0)

    assert low is None
    assert high == pytest.approx(np.log(_upper_share() / (1 - _upper_share())), abs=1e-4)


@pytest.mark.parametrize(
    ("people", "outcome", "predictor", "wanted"),
    [
        (60, "m1_log0", "m1_pi1", {1: (None, None), 2: (None, 0.13417), 6: (None, 0.67068), 9: (None, None)}),
        (500, "m1_rows2", "m1_log0", {1: (-1.52812, None), 3: (-0.79805, 5.1254), 8: (None, 0.63653)}),
    ],
)
def test_limits_beside_separation_are_those_of_the_profile(
    people: int,
    outcome: str,
    predictor: str,
    wanted: dict[int, tuple[float | None, float | None]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By an own profile: on a grid of the coefficient, the others at their best from ten starts."""

    def some(model: Model, fit: Fit, index: int, confidence: float) -> tuple[float | None, float | None]:
        return profile_limits(model, fit, index, confidence) if index in wanted else (None, None)

    monkeypatch.setattr(fit_likelihood, "profile_limits", some)
    made = random_survey(2)
    seed = 1 if people == 60 else 2
    (truths,) = invent(made, people, seed)
    answers = reports_of(made, truths, BatchDraws(seeded(f"random2{seed}"))).columns
    fitted = regress(answers, outcome, parse_formula(f"{outcome} ~ {predictor}"))
    for place, limits in wanted.items():
        found = fitted.coefficients[place]
        assert (found.low, found.high) == tuple(end if end is None else pytest.approx(end, rel=2e-3) for end in limits)


def test_limits_of_cuts_that_meet_are_those_of_shares_of_which_one_is_empty() -> None:
    """Reports of the second category are fewer than noise alone brings, so its two cuts are one and move together."""
    counts = np.array([70, 25, 80, 65])
    model = Ordered(np.empty((0, 240)), np.repeat(np.arange(4), counts), ODDS_3 / 6)
    fit = maximize(model)

    def logs(some: np.ndarray, share: float) -> float:
        """Of the best shares of these categories, which have this one together: reported is 1/6 + share / 3."""
        free = np.ones(len(some), bool)
        for _ in some:
            reported = np.where(free, some * (free.sum() / 6 + share / 3) / some[free].sum(), 1 / 6)
            free &= reported > 1 / 6
        return float(some @ np.log(reported))

    shares = np.arange(1, 2000) / 2000
    for cut, limits in enumerate(profile_limits(model, fit, cut) for cut in range(3)):
        low, high = (np.nan if end is None else 1 / (1 + np.exp(-end)) for end in limits)
        profile = np.array([logs(counts[: cut + 1], each) + logs(counts[cut + 1 :], 1 - each) for each in shares])
        inside = shares[profile > profile.max() - 1.959964**2 / 2]
        assert (low, high) == pytest.approx((inside.min(), inside.max()), abs=1e-3)


def _upper_share() -> float:
    """By bisection on the closed form."""

    def loss(share: float) -> float:
        said = 0.25 + share / 2
        return 2 * (12 * np.log(0.25 / said) + 48 * np.log(0.75 / (1 - said)))

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) < 3.841458820694124 else (low, middle)
    return low


def test_models_without_maximum_are_not_compared() -> None:
    """There is no likelihood at its best."""
    with pytest.raises(EstimateError, match="has none"):
        likelihood_ratio(ONE_SIDED, maximize(ONE_SIDED), "group", np.array([False, True]))


@pytest.mark.parametrize(("counts", "flat"), [([[60, 0], [50, 0]], [True, True]), ([[60, 0], [50, 9]], [True, False])])
def test_answers_that_are_all_the_same_tell_no_limits(counts: list[list[int]], flat: list[bool]) -> None:
    """Nobody of the first group says yes, or nobody at all: no interval of zero width, and predictions alike."""
    openly = public(question(FLIP))
    options = {"outcome": "b", "on": ["a"], "model": "linear", "at": [{"a": "no"}, {"a": "yes"}]}
    found = parse_request("regression", options).document(tabulated(counts, openly, openly))

    validator("regression").validate(found)
    rows = [*found["coefficients"], *found["predictions"]]
    assert [each["low"] is None and each["high"] is None for each in rows] == flat * 2
    assert [each["std_error"] is None for each in found["coefficients"]] == flat
    assert [each["estimate"] for each in rows] == pytest.approx([0, 0 if flat[1] else 9 / 59] * 2, abs=1e-12)
    assert NO_SPREAD in found["warnings"]


def test_small_coefficient_of_large_numbers_has_limits() -> None:
    """Of an income squared, in whose unit the standard error is below a billionth."""
    income = np.arange(200) % 50 * 20_000
    made = asked(public(number(0, 1_000_000, 1, FLIP)), public(question(FLIP)))
    said = (np.arange(200) * 7 % 11 < 5).astype(np.uint8)
    fitted = regress(
        Columns.from_arrays(made, {"a": income, "b": said}), "b", parse_formula("b ~ I(a^2)"), model="linear"
    )
    slope = fitted.coefficients[1]
    assert 0 < (slope.std_error or 0) < 1e-9
    assert fitted.warnings == ()
