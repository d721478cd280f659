"""The likelihood of items with one trait: its derivatives."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.newton import Sums, evaluate
from sottovoce.aggregator.analysis.regression.person_model import PersonModel

GENERATOR = np.random.Generator(np.random.PCG64(3))
KNOWN = GENERATOR.uniform(0.1, 0.9, (3, 11, 2))
PEOPLE = np.arange(1.0, 12.0)


@pytest.mark.parametrize(("kind", "theta"), [("rasch", [0.3, -0.4, 1.2, 0.8]), ("2pl", [0.3, -0.4, 1, 0.8, -0.5, 1.4])])
def test_gradient_and_information_are_the_derivatives_of_the_likelihood(kind: str, theta: list[float]) -> None:
    """By central differences at a point that is no maximum, with a weight for each combination."""
    own = np.tile(np.eye(3), 11)
    loads = np.ones((1, 33)) if kind == "rasch" else own
    model = PersonModel(-own, loads, KNOWN.swapaxes(0, 1).reshape(-1, 2), np.arange(12) * 3, 30, PEOPLE)

    def sums(point: np.ndarray) -> Sums:
        return evaluate(model, point)

    at, step = np.array(theta), 1e-5
    found = sums(at)
    for place, unit in enumerate(np.eye(len(at)) * step):
        above, below = sums(at + unit), sums(at - unit)
        slope = (above.log_likelihood - below.log_likelihood) / (2 * step)
        assert found.gradient[place] == pytest.approx(slope, abs=1e-6)
        assert found.information[place] == pytest.approx((below.gradient - above.gradient) / (2 * step), abs=1e-5)
    assert model.scores(at, slice(0, 11)) @ PEOPLE == pytest.approx(found.gradient)
