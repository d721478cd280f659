"""Logit and multinomial logit: the worked examples to their printed digits, and what must not change a result."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.covariance import covariance
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.regression.newton import evaluate, inverse, maximize
from sottovoce.shared.errors import EstimateError

from tests.unit.aggregator.analysis.reports import (
    COIN,
    GROUP,
    MASK_LIKELIHOOD,
    ONES,
    ROW,
    SAID,
    WEIGHTS,
    X,
    columns,
    masks,
)

LOGIT = Multinomial(columns(ONES, X, GROUP), SAID, COIN)


def errors(model: Multinomial, kind: str, clusters: np.ndarray | None = None) -> np.ndarray:
    """Standard errors at the maximum."""
    return np.sqrt(np.diag(covariance(model, maximize(model), kind, clusters)))


def test_logit_meets_the_worked_example() -> None:
    """Coefficients and log likelihood."""
    fit = maximize(LOGIT)

    assert fit.converged
    assert fit.theta == pytest.approx([-0.430324, 0.905493, -0.948907], abs=5e-7)
    assert fit.log_likelihood == pytest.approx(-394.296809, abs=5e-7)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("observed", [0.255904, 0.224050, 0.479036]),
        ("expected", [0.254889, 0.226650, 0.485854]),
        ("sandwich", [0.257462, 0.221489, 0.471810]),
    ],
)
def test_standard_errors_meet_the_worked_example(kind: str, expected: list[float]) -> None:
    """Each kind its own."""
    assert errors(LOGIT, kind) == pytest.approx(expected, abs=5e-7)


def test_score_products_are_added_up_from_each_report() -> None:
    """By a difference quotient of each report's own likelihood."""
    theta, step = maximize(LOGIT).theta, 1e-5

    def logs(at: np.ndarray) -> np.ndarray:
        yes = 1 / (1 + np.exp(-at @ LOGIT.columns))
        return np.log(COIN[SAID, 0] * (1 - yes) + COIN[SAID, 1] * yes)

    scores = np.array([(logs(theta + step * unit) - logs(theta - step * unit)) / (2 * step) for unit in np.eye(3)])
    assert errors(LOGIT, "opg") == pytest.approx(np.sqrt(np.diag(np.linalg.inv(scores @ scores.T))), rel=1e-6)


def test_errors_by_cluster_meet_the_worked_example() -> None:
    """A hundred clusters of six."""
    assert errors(LOGIT, "observed", ROW // 6) == pytest.approx([0.128551, 0.161633, 0.285684], abs=5e-7)


def test_one_cluster_has_no_error() -> None:
    """There is nothing to compare it with."""
    with pytest.raises(EstimateError, match="two clusters or more"):
        errors(LOGIT, "observed", np.zeros(600, int))


def test_weighted_logit_meets_the_worked_example() -> None:
    """With the sandwich."""
    weighted = Multinomial(LOGIT.columns, SAID, COIN, WEIGHTS)

    assert maximize(weighted).theta == pytest.approx([-0.476765, 0.847357, -0.974589], abs=5e-7)
    assert errors(weighted, "sandwich") == pytest.approx([0.262555, 0.222850, 0.508987], abs=5e-7)


def test_multinomial_logit_through_masks_meets_the_worked_example() -> None:
    """Coefficients by category 1, 2, 3; observed errors; likelihood rows of 3 or 1."""
    model = Multinomial(columns(ONES, X), masks(), MASK_LIKELIHOOD)
    fit = maximize(model)

    assert fit.theta == pytest.approx([-0.173613, 0.158880, -0.087332, 0.045364, -1.177921, 0.011442], abs=5e-7)
    assert errors(model, "observed") == pytest.approx(
        [0.337362, 0.286631, 0.321494, 0.274805, 0.697441, 0.650471], abs=6e-7
    )
    assert fit.log_likelihood == pytest.approx(419.180201, abs=5e-7)


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


def test_derivatives_are_those_of_the_likelihood() -> None:
    """Gradient and information against difference quotients, away from the maximum, with weights."""
    model = Multinomial(columns(ONES, X), masks(), MASK_LIKELIHOOD, WEIGHTS)
    theta, step = np.linspace(-0.4, 0.5, 6), 1e-5
    ahead, behind = ([evaluate(model, theta + sign * step * unit) for unit in np.eye(6)] for sign in (1, -1))
    here = evaluate(model, theta)

    slopes = [
        (one.log_likelihood - other.log_likelihood) / (2 * step) for one, other in zip(ahead, behind, strict=True)
    ]
    curves = [(other.gradient - one.gradient) / (2 * step) for one, other in zip(ahead, behind, strict=True)]
    assert here.gradient == pytest.approx(np.array(slopes), abs=1e-6)
    assert here.information == pytest.approx(np.array(curves), abs=1e-6)


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
    assert inverse(np.array([[4.0]])) == pytest.approx(np.array([[0.25]]))
