"""Joint randomized response: its law, its epsilon and the figures that were worked out before it was built."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product

import pytest
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR, JointYesNo

BLOCKS = [
    (Fraction(9), 0, (2, 2)),
    (Fraction(7, 2), 0, (2, 2, 2)),
    (Fraction(27), 1, (2, 2, 2)),
    (Fraction(5), 1, (2, 3, 4)),
    (Fraction(20), 1, (2,) * 5),
    (Fraction(20), 2, (2,) * 5),
]


@pytest.mark.parametrize("given", BLOCKS)
def test_each_row_sums_to_one_and_two_differ_by_the_odds(given: tuple[Fraction, int, tuple[int, ...]]) -> None:
    """Epsilon is the logarithm of the odds, neither more nor less."""
    block = JointRR(*given)
    cells = [*product(*map(range, block.sizes))]
    rows = {true: [block.probability(true, reported) for reported in cells] for true in cells}
    assert all(sum(row) == 1 for row in rows.values())
    ratios = {max(column) / min(column) for column in zip(*rows.values(), strict=True)}
    assert ratios == {block.odds}
    assert block.epsilon == pytest.approx(math.log(block.odds), abs=1e-15)
    for position, size in enumerate(block.sizes):
        own, other = block.marginal(position)
        assert own + (size - 1) * other == 1


@pytest.mark.parametrize("given", BLOCKS)
def test_match_patterns_are_sums_of_the_whole_law(given: tuple[Fraction, int, tuple[int, ...]]) -> None:
    block = JointRR(*given)
    cells = [*product(*map(range, block.sizes))]
    for count in range(1, len(block.sizes) + 1):
        for positions in combinations(range(len(block.sizes)), count):
            for pattern, chance in block.match_patterns(positions).items():
                wanted = [0 if match else 1 for match in pattern]
                seen = [cell for cell in cells if [cell[place] for place in positions] == wanted]
                assert sum(block.probability(cells[0], cell) for cell in seen) == chance


def test_figures_of_the_mechanism() -> None:
    """Marginal channels as fractions, and variances to four decimals."""
    pair = JointRR(Fraction(9), 0, (2, 2))
    assert pair.marginal(0) == (Fraction(5, 6), Fraction(1, 6))
    assert _variance(pair) == pytest.approx(0.5625, abs=5e-5)
    assert _pair_table(pair) == pytest.approx(1.6875, abs=5e-5)
    three = JointRR(Fraction(27), 0, (2, 2, 2))
    assert (_variance(three), _pair_table(three)) == pytest.approx((0.4275, 1.2825), abs=5e-5)
    five = JointRR(Fraction(20), 1, (2,) * 5)
    assert five.marginal(0)[0] / five.marginal(0)[1] == Fraction(111, 35)  # 3.171
    assert (_variance(five), _pair_table(five)) == pytest.approx((0.9226, 5.5357), abs=5e-5)
    ten = JointRR(Fraction(148), 2, (2,) * 10)
    assert (_variance(ten), _pair_table(ten)) == pytest.approx((0.7648, 4.0075), abs=5e-5)
    assert _variance(JointRR(Fraction(3), 4, (2,) * 10)) == pytest.approx(12.6985, abs=5e-5)
    assert _pair_table(JointRR(Fraction(20), 0, (2,) * 5)) == pytest.approx(5.4037, abs=5e-5)
    assert _pair_table(JointRR(Fraction(148), 1, (2,) * 10)) == pytest.approx(3.6393, abs=5e-5)
    options = JointRR(Fraction(27), 1, (5, 5, 5))
    assert (_variance(options), _pair_table(options)) == pytest.approx((1.1035, 24.14), abs=5e-3)


@pytest.mark.parametrize("given", BLOCKS[:4])
def test_belief_about_one_answer_grows_by_the_odds_at_most(given: tuple[Fraction, int, tuple[int, ...]]) -> None:
    """Over all priors of the other answers, whose extreme points are those that know them, and mixtures of these."""
    block = JointRR(*given)
    cells = [*product(*map(range, block.sizes))]
    others = [*product(*map(range, block.sizes[1:]))]
    least = max(block.marginal(0)) / min(block.marginal(0))
    ratios = []
    for reported in cells:
        # The likelihood of one answer is a mean over the others, so that two certain priors bound every ratio.
        chances = [[block.probability((own, *rest), reported) for rest in others] for own in range(block.sizes[0])]
        ratios += [max(one) / min(other) for one, other in product(chances, repeat=2)]
    assert least < max(ratios) == block.odds


def test_sets_of_questions_that_no_table_can_be_made_of() -> None:
    """Three yes/no with radius 1 have no pairs, five no triples, ten with radius 2 no fourfolds."""
    assert JointRR(Fraction(27), 1, (2,) * 3).condition([0, 1]) == math.inf
    five, ten = JointRR(Fraction(20), 1, (2,) * 5), JointRR(Fraction(148), 2, (2,) * 10)
    assert five.condition([0, 1]) < 1000 <= five.condition([0, 1, 2])
    assert ten.condition([0, 1, 2]) < 1000 <= ten.condition([0, 1, 2, 3])


def test_one_question_of_a_block() -> None:
    block = JointRR(Fraction(5), 1, (2, 3, 4))
    for position, size in enumerate(block.sizes):
        member = JointMember(block, position, "block")
        own, other = block.marginal(position)
        assert [member.probability(reported, 1) for reported in range(size)] == [
            own if reported == 1 else other for reported in range(size)
        ]
        assert member.likelihood_ratio == 5 > member.marginal_odds == own / other
        assert member.epsilon == block.epsilon
    alone = dict(zip(("yes", "no"), block.marginal(0), strict=True))
    assert JointYesNo(block, 0, "block").explain() == {**alone, "all": Fraction(5, 52), "questions": 3}


@pytest.mark.parametrize(
    ("epsilon", "sizes", "odds", "radius"),
    [
        ("2.2", (2, 2), Fraction(9), 0),
        ("3", (2,) * 5, Fraction(241, 12), 1),
        ("5", (2,) * 10, Fraction(2523, 17), 2),
        ("3.3", (2, 2, 2), Fraction(244, 9), 0),
        ("0.05", (2, 12), Fraction(21, 20), 1),
    ],
)
def test_epsilon_becomes_odds_and_the_best_radius(
    epsilon: str, sizes: tuple[int, ...], odds: Fraction, radius: int
) -> None:
    """Never more than was asked for, nor by much less."""
    block = JointRR.parse({"epsilon": epsilon}, sizes)
    assert block == JointRR.parse(block.dump(), sizes) == JointRR(odds, radius, sizes)
    assert float(epsilon) - 0.02 < block.epsilon <= float(epsilon)


@pytest.mark.parametrize(
    ("odds", "radius", "sizes", "words"),
    [
        ("1", 0, (2, 2), "above 1"),
        ("3", 2, (2, 2), "radius must be less"),
        ("3", 0, (2,), "2 to 12 questions"),
        ("3", 0, (2,) * 13, "2 to 12 questions"),
        ("3", 0, (2, 1), "two categories"),
        ("3", 0, (257, 256), "65,536"),
        ("65537/65536", 0, (256, 256), "2^32"),
        ("1000001/1000000", 0, (70, 70), "2^32"),
    ],
)
def test_impossible_blocks_are_refused(odds: str, radius: int, sizes: tuple[int, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("^", r"\^")):
        JointRR.parse({"name": "joint_rr", "odds": odds, "radius": radius}, sizes)


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3, 4), (2,) * 12, (40, 40, 40)])
def test_shares_are_identified_with_every_radius(sizes: tuple[int, ...]) -> None:
    """Up to one less than the number of questions: so there is nothing to refuse for it."""
    for radius in range(len(sizes)):
        block = JointRR(Fraction(3, 2), radius, sizes)
        assert all(own > other for own, other in map(block.marginal, range(len(sizes))))


def _variance(block: JointRR, share: Fraction = Fraction(1, 2)) -> float:
    """Variance of a share at 1/2, times n."""
    own, other = block.marginal(0)
    reported = other + (own - other) * share
    return float(reported * (1 - reported) / (own - other) ** 2)


def _pair_table(block: JointRR) -> float:
    """Sum over the cells of the pair's table of the variances of unbiased estimates at uniform truth, times n."""
    first, second = block.sizes[:2]
    # In each eigenspace of the channel the scores are the reports divided by its eigenvalue.
    spaces: Sequence[tuple[tuple[int, ...], int]] = [
        ((0,), first - 1),
        ((1,), second - 1),
        ((0, 1), (first - 1) * (second - 1)),
    ]
    squares = sum(count / block.contrast(positions) ** 2 for positions, count in spaces)
    return float(squares) / (first * second)
