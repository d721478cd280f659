"""Logit, multinomial and ordered logit and least squares: the worked examples, and what must not change a result."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.corrected_least_squares import Correction, solve
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import evaluate, inverse, maximize
from sottovoce.aggregator.analysis.regression.ordered_logit import Ordered
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.estimators.intervals import t_quantile
from sottovoce.shared.errors import EstimateError

from tests.documents import question
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
from tests.unit.aggregator.analysis.samples import COIN as FLIP, asked, public

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
    """By a difference quotient of each report's own likelihood."""
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
    """Observed errors by category 1, 2, 3; likelihood rows of 3 or 1."""
    model = Multinomial(columns(ONES, X), masks(), MASK_LIKELIHOOD)
    expected = [0.337362, 0.286631, 0.321494, 0.274805, 0.697441, 0.650471]

    assert errors(model, "observed") == pytest.approx(expected, abs=6e-7)
    assert maximize(model).log_likelihood == pytest.approx(419.180201, abs=5e-7)


def test_likelihood_rows_may_have_any_scale() -> None:
    """Only their ratios tell anything."""
    scaled = maximize(Multinomial(LOGIT.columns, SAID, COIN * [[7.0], [0.01]]))
    assert scaled.theta == pytest.approx(maximize(LOGIT).theta, abs=1e-9)


def test_unit_of_a_predictor_changes_nothing_but_its_coefficient() -> None:
    """Also one in cents of a million."""
    cents = maximize(Multinomial(columns(ONES, 4e8 + 1e8 * X, GROUP), SAID, COIN))
    plain = maximize(LOGIT)

    assert cents.converged
    assert cents.theta[1] * 1e8 == pytest.approx(plain.theta[1], rel=1e-6)
    assert cents.log_likelihood == pytest.approx(plain.log_likelihood, abs=1e-7)


def test_reports_that_tell_nothing_change_nothing() -> None:
    """A row of ones for what was not asked."""
    more = Multinomial(
        np.hstack([LOGIT.columns, LOGIT.columns[:, :50]]),
        np.concatenate([SAID, np.full(50, 2)]),
        np.vstack([COIN, [1.0, 1.0]]),
    )
    assert maximize(more).theta == pytest.approx(maximize(LOGIT).theta, abs=1e-9)
    assert errors(more, "expected") == pytest.approx(errors(LOGIT, "expected"), abs=1e-9)


def test_direct_answers_and_other_channels_stand_in_one_likelihood() -> None:
    """Direct rows give what logistic regression of the truth gives; rows of two channels add up as the formula says."""
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
    """In every sum that is made of them."""
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
    """Away from the maximum, with weights; of single reports they add up to the gradient."""
    found = check_derivatives(model, theta)
    assert model.scores(theta, slice(None)) @ WEIGHTS == pytest.approx(found.gradient, abs=1e-9)


def test_columns_that_follow_from_each_other_are_refused() -> None:
    """A sum of two others has no coefficient of its own."""
    with pytest.raises(EstimateError, match="cannot tell the parameters apart"):
        maximize(Multinomial(columns(ONES, X, ONES + X), SAID, COIN))


def test_expected_errors_are_for_two_reports_only() -> None:
    """Of masks the expected information is another sum."""
    with pytest.raises(EstimateError, match="choose observed"):
        errors(Multinomial(columns(ONES, X), masks(), MASK_LIKELIHOOD), "expected")


def test_inverse_of_what_is_not_positive_is_none() -> None:
    """Flat, falling and broken matrices."""
    assert inverse(np.array([[1.0, 1.0], [1.0, 1.0]])) is None
    assert inverse(np.array([[1.0, 2.0], [2.0, 1.0]])) is None
    assert inverse(np.array([[np.nan]])) is None
    assert inverse(np.diag([1e-310, 1.0])) is None
    assert inverse(np.array([[4.0]])) == pytest.approx(np.array([[0.25]]))


def test_two_categories_are_a_logit() -> None:
    """With the same slopes, and the cut as minus its constant."""
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
    """With the score of its square; and its mean and variance."""
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
        assert linear is not None
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
