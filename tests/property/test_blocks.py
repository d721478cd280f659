"""The law of a block's report, from the running code: every way through it, for every true combination."""

from fractions import Fraction
from itertools import product

import pytest
from sottovoce.client.randomizers import perturb, randomize_joint_rr
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.property.channels import distribution, paths

BLOCKS = [
    (Fraction(9), 0, (2, 2)),
    (Fraction(7, 2), 0, (2, 2, 2)),
    (Fraction(27), 1, (2, 2, 2)),
    (Fraction(5), 1, (2, 3, 4)),
    (Fraction(20), 1, (2,) * 5),
    (Fraction(20), 2, (2,) * 5),
    (Fraction(4294967293), 0, (2, 2)),
    (Fraction(27), 1, (3, 3, 3, 3), 2),
]


@pytest.mark.parametrize("given", BLOCKS)
def test_report_has_the_declared_law(given):
    """No combination is likelier or rarer than the weights say, and none has another range."""
    block = JointRR(*given)
    combinations = [*product(*map(range, block.asked_sizes))]
    for true in combinations:
        found = distribution(lambda draws, true=true: randomize_joint_rr(block, true, draws))
        assert found == {reported: block.probability(true, reported) for reported in combinations}


@pytest.mark.parametrize("given", BLOCKS)
def test_what_is_read_depends_neither_on_the_truth_nor_on_the_report(given):
    """One integer below the total, always."""
    block = JointRR(*given)
    for truth in [tuple(0 for _ in block.asked_sizes), tuple(size - 1 for size in block.asked_sizes)]:
        assert {path.bounds for path in paths(lambda draws, truth=truth: randomize_joint_rr(block, truth, draws))} == {
            (block.total,)
        }


def test_block_is_drawn_where_it_begins_and_all_at_once():
    """Among other questions; a hidden question inside has its fixed category as its truth."""
    coin = {"name": "binary_rr", "a": "3/4", "b": "1/4"}
    asks = {"type": "boolean", "label": {"en": "Q"}}
    inside = {"type": "select_one", "label": {"en": "Q"}, "choices": names(2), "absent_category": True}
    asked = parse_survey(survey(
        {**asks, "name": "x", "mechanism": coin},
        {"block": "b", "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
         "items": [{**asks, "name": "p"}, {**inside, "name": "q", "visible_if": {"p": "yes"}}]},
        {**asks, "name": "z", "public": True},
    ))  # fmt: skip
    block = asked.blocks[0].mechanism
    for p, truth in (("no", (0, 2)), ("yes", (1, 1))):
        values = asked.encode({"x": "yes", "p": p, "q": "c1", "z": "no"})
        assert values[1:3] == truth
        found = distribution(lambda draws, values=values: perturb(asked, values, draws, {}))
        assert found == {
            (x, *pair, 0): Fraction(3 if x else 1, 4) * block.probability(truth, pair)
            for x in range(2)
            for pair in product(range(2), range(3))
        }
