"""What adds up adds up, to the digits worked out beforehand: with delta, shuffled, and by instructions of a coin."""

import math
from collections.abc import Callable, Iterator, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import comb
from typing import Any

import pytest
from sottovoce.shared import shuffling
from sottovoce.shared.accounting import (
    advanced_epsilon,
    belief_after,
    group_epsilon,
    optimal_epsilon,
    report_epsilon,
    waves_epsilon,
)
from sottovoce.shared.by_hand.own_coin import Part, Procedure, procedure
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.shuffling import clone_weight, pair_weight, shuffled_binary, shuffled_bound

from tests.absences import COIN, asks
from tests.documents import names, survey, wrong_places

LN2, LN3 = math.log(2), math.log(3)

FLIP = BinaryRR(Fraction(3, 4), Fraction(1, 4))

NONSENSE = [-1e-9, math.nan, math.inf, -math.inf]

DELTA = 1e-6


def optimal_delta(epsilon: float, releases: int, total: float) -> float:
    """The hockey-stick of so many randomized responses, summed with 60 digits."""
    with localcontext(Context(prec=60)):
        odds, limit = Decimal(epsilon).exp(), Decimal(total).exp()
        terms = (
            math.comb(releases, count) * max(odds**count - limit * odds ** (releases - count), Decimal(0))
            for count in range(releases + 1)
        )
        return float(sum(terms, Decimal(0)) / (1 + odds) ** releases)


COMPOSED = [
    (LN3, 10, 2, "10.99"), (LN3, 50, 1, "52.7"), (LN2, 50, 1, "30.3"), (0.1, 100, 2, "4.77"), (0.01, 1000, 2, "1.37"),
]  # fmt: skip


def test_questions_and_waves_add_up() -> None:
    """Five coin questions cost 5 ln 3 = 5.49, ten waves of the coin flip 10.99."""
    assert report_epsilon([LN3] * 5) == pytest.approx(5.4930614433)
    assert report_epsilon([]) == 0
    assert round(waves_epsilon(LN3, 10), 2) == 10.99


def test_joint_answers_cost_the_sum() -> None:
    """The product channel of two questions, as one table, has the sum as its epsilon."""
    warner = BinaryRR(Fraction(2, 3), Fraction(1, 3))
    pairs = list(product((0, 1), repeat=2))

    worst = max(
        FLIP.probability(y, x) * warner.probability(z, w) / (FLIP.probability(y, u) * warner.probability(z, v))
        for (y, z), (x, w), (u, v) in product(pairs, repeat=3)
    )
    assert worst == 6
    assert report_epsilon([LN3, LN2]) == pytest.approx(math.log(worst))


def test_processing_costs_nothing() -> None:
    """Whatever two reported values are merged, the worst ratio of the merged table is no larger."""
    rows = [[Fraction(w, 12) for w in row] for row in ((6, 2, 2, 2), (2, 6, 2, 2), (1, 2, 6, 3))]
    worst = max(max(c) / min(c) for c in zip(*rows, strict=True))

    for i, j in product(range(4), repeat=2):
        merged = [row[i] + row[j] for row in rows if i != j]
        assert not merged or max(merged) / min(merged) <= worst


def test_questions_drawn_cost_the_largest() -> None:
    """With ``ask: 2`` the charge is that of the two dearest questions, in whatever order they stand."""
    assert report_epsilon([0.5, LN3, 0.0, 1.0], ask=2) == pytest.approx(LN3 + 1)
    assert report_epsilon([0.5, 0.25], ask=2) == pytest.approx(0.75)


def test_group_pays_for_each_of_its_people() -> None:
    """It is k epsilon, and no delta comes of it."""
    assert [group_epsilon(1.0, people) for people in (1, 4, 1000)] == [1.0, 4.0, 1000.0]


BELIEFS = [
    (0.01, LN3, "2.9"), (0.1, LN3, "25.0"), (0.3, LN3, "56.2"), (0.5, LN3, "75.0"),
    (0.01, LN2, "2.0"), (0.1, LN2, "18.2"), (0.3, LN2, "46.2"), (0.5, LN2, "66.7"),
]  # fmt: skip


def test_belief_grows_by_the_odds() -> None:
    assert [(p, epsilon, f"{100 * belief_after(p, epsilon):.1f}") for p, epsilon, _ in BELIEFS] == BELIEFS


def test_certainty_stays_certainty() -> None:
    """What was believed fully or not at all does not move, even with an epsilon that overflows."""
    assert [belief_after(before, 5000.0) for before in (0.0, 1e-300, 1.0)] == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(("epsilon", "releases", "digits", "expected"), COMPOSED)
def test_optimal_epsilon_is_the_printed_one(epsilon: float, releases: int, digits: int, expected: str) -> None:
    """To the digits of the specification (4.78 there is 4.7746, rounded up)."""
    assert f"{optimal_epsilon(epsilon, releases, DELTA):.{digits}f}" == expected


@pytest.mark.parametrize(("epsilon", "releases"), [(LN3, 10), (0.1, 100), (0.01, 1000), (1.0, 1), (2.0, 3)])
def test_optimal_epsilon_is_the_least(epsilon: float, releases: int) -> None:
    """Its delta is allowed, and that of a slightly smaller one is not."""
    least = optimal_epsilon(epsilon, releases, DELTA)

    assert optimal_delta(epsilon, releases, least) <= DELTA * (1 + 1e-9)
    assert optimal_delta(epsilon, releases, least * (1 - 1e-6)) > DELTA


@pytest.mark.parametrize(("epsilon", "first"), [(LN3, 45), (LN2, 30), (0.1, 15)])
def test_composition_gains_one_per_cent_only_late(epsilon: float, first: int) -> None:
    gains = [optimal_epsilon(epsilon, k, DELTA) < 0.99 * k * epsilon for k in range(1, first + 1)]

    assert gains == [False] * (first - 1) + [True]


@pytest.mark.parametrize(("epsilon", "releases", "figure"), [(LN3, 10, 40.2), (LN3, 50, 151), (LN2, 50, 60.4)])
def test_advanced_composition_is_not_shown_above_the_sum(epsilon: float, releases: int, figure: float) -> None:
    """It would look like a guarantee, and be larger than the one there is."""
    formula = math.sqrt(2 * releases * math.log(1e6)) * epsilon + releases * epsilon * math.expm1(epsilon)

    assert formula == pytest.approx(figure, rel=5e-3)
    assert advanced_epsilon(epsilon, releases, DELTA) is None


@pytest.mark.parametrize(("epsilon", "releases", "figure"), [(0.1, 100, "6.31"), (0.01, 1000, "1.76")])
def test_advanced_composition_is_shown_below_the_sum(epsilon: float, releases: int, figure: str) -> None:
    """And is never better than the optimal account."""
    found = advanced_epsilon(epsilon, releases, DELTA)

    assert f"{found:.2f}" == figure
    assert optimal_epsilon(epsilon, releases, DELTA) < found


COMPOSE = (optimal_epsilon, advanced_epsilon)
WRONG: list[tuple[str, Sequence[Any], Sequence[Callable[[Any], object]]]] = [
    (
        "epsilon must be at least 0 and finite",
        NONSENSE,
        (
            lambda epsilon: report_epsilon([1.0, epsilon]),
            lambda epsilon: waves_epsilon(epsilon, 2),
            lambda epsilon: group_epsilon(epsilon, 2),
            lambda epsilon: belief_after(0.5, epsilon),
        ),
    ),
    (
        "must be a whole number from 1 to",
        (0, -1, 1.0, True, 10**9),
        (
            lambda number: group_epsilon(1.0, number),
            lambda number: waves_epsilon(1.0, number),
            lambda number: report_epsilon([1.0] * 3, number),
        ),
    ),
    ("belief", (-0.1, 1.1, math.nan), (lambda before: belief_after(before, 1.0),)),
    (
        "delta must lie between 0 and 1",
        (0.0, 1.0, -1e-9, math.nan),
        [partial(lambda made, delta: made(0.1, 10, delta), made) for made in COMPOSE],
    ),
    ("epsilon", NONSENSE, [partial(lambda made, epsilon: made(epsilon, 10, 0.5), made) for made in COMPOSE]),
    (
        "number of releases",
        (0, -1, 1.5, 10**6),
        [partial(lambda made, releases: made(0.1, releases, 0.5), made) for made in COMPOSE],
    ),
]
"""What is said, of which values, by which accounts."""


@pytest.mark.parametrize(("said", "values", "accounts"), WRONG, ids=[each[0] for each in WRONG])
def test_nonsense_has_no_account(said: str, values: Sequence[Any], accounts: Sequence[Callable[[Any], object]]) -> None:
    for value, account in product(values, accounts):
        with pytest.raises(ValueError, match=said):
            account(value)


def keep(epsilon: float) -> float:
    """The probability of the truth in binary randomized response."""
    return math.exp(epsilon) / (1 + math.exp(epsilon))


FIGURES = [
    (LN2, 1000, 3, "0.082", "0.093"),
    (LN3, 1000, 3, "0.142", "0.168"),
    (LN3, 10_000, 3, "0.040", "0.049"),
    (2.0, 1000, 3, "0.323", "0.397"),
    (LN3, 100, 3, "0.550", "0.588"),
]


@pytest.mark.parametrize(("epsilon", "people", "digits", "exact", "bound"), FIGURES)
def test_shuffling_gives_the_printed_figures(epsilon: float, people: int, digits: int, exact: str, bound: str) -> None:
    """Exact, and by clones; the specification's .094 is the .0933 here in coarser blocks."""
    assert f"{shuffled_binary(keep(epsilon), people, DELTA):.{digits}f}" == exact
    assert f"{shuffled_bound(epsilon, pair_weight(epsilon), people, DELTA):.{digits}f}" == bound


def distribution(n: int, p: float) -> list[float]:
    return [comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)]


def plain_delta(others: list[float], a: float, total: float) -> float:
    """The hockey-stick of both directions, term by term."""
    padded = [0.0, *others, 0.0]
    rows = [(a * x + (1 - a) * y, (1 - a) * x + a * y) for x, y in pairwise(padded)]
    limit = math.exp(total)
    return max(sum(max(p - limit * q, 0) for p, q in rows), sum(max(q - limit * p, 0) for p, q in rows))


def convolved(one: list[float], other: list[float]) -> list[float]:
    result = [0.0] * (len(one) + len(other) - 1)
    for i, p in enumerate(one):
        for j, q in enumerate(other):
            result[i + j] += p * q
    return result


@pytest.mark.parametrize(("epsilon", "people"), [(LN3, 40), (LN2, 25), (2.0, 60), (0.3, 30)])
def test_exact_figure_is_the_worst_of_all_populations(epsilon: float, people: int) -> None:
    """Its delta is allowed for every number of true yes among the others, and it is the least such figure."""
    a, delta = keep(epsilon), 1e-3
    total = shuffled_binary(a, people, delta)

    def worst(value: float) -> float:
        others = people - 1
        return max(
            plain_delta(convolved(distribution(t, a), distribution(others - t, 1 - a)), a, value)
            for t in range(others + 1)
        )

    assert worst(total) <= delta * (1 + 1e-9)
    assert worst(total * (1 - 1e-6)) > delta


def test_bound_is_the_plain_sum_over_clones() -> None:
    """E over C ~ Bin(n - 1, w) of the hockey-stick with C fair coins."""
    people, delta, weight = 30, 1e-3, pair_weight(LN3)
    total = shuffled_bound(LN3, weight, people, delta)

    def mean(value: float) -> float:
        shares = distribution(people - 1, weight)
        return sum(share * plain_delta(distribution(c, 0.5), keep(LN3), value) for c, share in enumerate(shares))

    assert mean(total) <= delta * (1 + 1e-9)
    assert mean(total * (1 - 1e-6)) > delta


@pytest.mark.parametrize("least", [1 / 3, 0.5, 0.7])
def test_least_total_is_rounded_up(least: float) -> None:
    """However the search ends, the total that it gives is allowed."""
    assert least <= shuffling._least(1.0, DELTA, lambda total: 0.0 if total >= least else 1.0) < least + 1e-11


def test_blocks_only_raise_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """For very many people numbers of clones are taken together; the figure is then larger, never smaller."""
    one_by_one = shuffled_bound(LN3, pair_weight(LN3), 500, DELTA)
    monkeypatch.setattr(shuffling, "_WORK", 3000)

    assert one_by_one < shuffled_bound(LN3, pair_weight(LN3), 500, DELTA) < 1.2 * one_by_one


def test_order_of_the_bounds() -> None:
    """Exact, clones of k-ary response, clones of anything, the local epsilon; and nobody else means no gain."""
    exact = shuffled_binary(keep(LN3), 1000, DELTA)
    pairs, anything = (shuffled_bound(LN3, weight(LN3), 1000, DELTA) for weight in (pair_weight, clone_weight))

    assert exact < pairs < anything < LN3
    assert shuffled_binary(keep(LN3), 1, DELTA) == pytest.approx(LN3, abs=1e-5)
    assert shuffled_bound(LN3, 1e-9, 1000, DELTA) == pytest.approx(LN3, abs=1e-5)


@pytest.mark.parametrize(("people", "delta"), [(0, 1e-6), (-1, 1e-6), (1.5, 1e-6), (10**7, 1e-6), (10, 0.0), (10, 1.0),
                                               (10, math.nan), (10, 1e-16)])  # fmt: skip
def test_nonsense_gives_no_figure(people: int, delta: float) -> None:
    for account in (lambda: shuffled_binary(0.75, people, delta), lambda: shuffled_bound(1.0, 0.5, people, delta)):
        with pytest.raises(ValueError, match=r"respondents|delta"):
            account()


def test_nonsense_is_no_channel() -> None:
    """Less truth than chance, a weight beyond 1, an epsilon that is no number."""
    for a in (0.5, 1.0, 0.2, math.nan):
        with pytest.raises(ValueError, match="a must lie"):
            shuffled_binary(a, 100, DELTA)
    for epsilon, weight in ((1.0, 0.0), (1.0, 1.1), (math.nan, 0.5)):
        with pytest.raises(ValueError, match=r"weight|epsilon"):
            shuffled_bound(epsilon, weight, 100, DELTA)


def channels(whole: int) -> Iterator[BinaryRR]:
    for high in range(2, whole):
        for low in range(1, high):
            yield BinaryRR(Fraction(high, whole), Fraction(low, whole))


def coin_distribution(made: Procedure, truth: int) -> Fraction:
    """P(yes is reported) when the instructions are followed."""
    total = Fraction(0)
    for action, outcomes in made.parts:
        if made.flips:
            weight = sum((Fraction(1, 2 ** len(beginning)) for beginning in outcomes), Fraction(0))
        else:
            weight = Fraction(outcomes[1] - outcomes[0] + 1, 6)
        total += weight * {"truth": truth, "opposite": 1 - truth, "yes": 1, "no": 0}[action]
    return total


@pytest.mark.parametrize("whole", [3, 4, 6, 8])
def test_procedure_is_the_channel_with_one_instruction_for_each_outcome(whole: int) -> None:
    """Yes with exactly its probabilities; a row of flips begins with one beginning, a number of a die is named once."""
    for channel in channels(whole):
        made = procedure(channel)
        assert made is not None
        assert (coin_distribution(made, 1), coin_distribution(made, 0)) == (channel.a, channel.b)
        if made.flips:
            rows = [f"{row:0{made.flips}b}".replace("0", "H").replace("1", "T") for row in range(2**made.flips)]
            named = [[row for b in part.outcomes for row in rows if row.startswith(b)] for part in made.parts]
            assert sorted(row for part in named for row in part) == sorted(rows)
        else:
            faces = [range(part.outcomes[0], part.outcomes[1] + 1) for part in made.parts]
            assert [face for part in faces for face in part] == [1, 2, 3, 4, 5, 6]


def test_textbook_designs_have_procedures_and_other_channels_none() -> None:
    third, sixth = Fraction(1, 3), Fraction(1, 6)

    assert procedure(BinaryRR(Fraction(3, 4), Fraction(1, 4))) == Procedure(
        2, (Part("truth", ("H",)), Part("yes", ("TH",)), Part("no", ("TT",)))
    )
    assert procedure(BinaryRR(2 * third, third)) == Procedure(0, (Part("truth", (1, 4)), Part("opposite", (5, 6))))
    assert procedure(BinaryRR(5 * sixth, third)) == Procedure(
        0, (Part("truth", (1, 3)), Part("yes", (4, 5)), Part("no", (6, 6)))
    )

    for whole in (5, 7, 9, 12, 16):
        assert procedure(BinaryRR(Fraction(whole - 1, whole), Fraction(1, whole))) is None
    assert procedure(KaryRR(Fraction(3), 2)) is None


OWN = {"privacy": {"procedure": "own_coin"}}
GOOD = asks("boolean", "q", mechanism=COIN)


@pytest.mark.parametrize(
    ("question", "place"),
    [
        (asks("boolean", "r", mechanism={"name": "warner", "truth": "3/5"}), "/questions/1/mechanism"),
        (asks("boolean", "r", mechanism={"epsilon": "1"}), "/questions/1/mechanism"),
        (asks("select_one", "r", choices=names(2), mechanism={"epsilon": "1"}), "/questions/1/mechanism"),
        (asks("boolean", "r", mechanism=COIN, when_absent="no"), "/questions/1"),
        (asks("note", "r", visible_if={"q": "yes"}), "/questions/1/visible_if"),
        (asks("matrix", "r", rows=names(2), of={"type": "boolean", "mechanism": {"epsilon": "1"}}),
         "/questions/1/of/mechanism"),
    ],
)  # fmt: skip
def test_survey_for_coins_asks_nothing_else(question: dict, place: str) -> None:
    assert wrong_places(survey(GOOD, question, **OWN)) == [place]


def test_survey_for_coins_is_of_its_own_kind() -> None:
    """Notes, public questions and matrices of such channels go with it; its epsilon is the channels'."""
    matrix = asks("matrix", "m", rows=names(2), of={"type": "boolean", "mechanism": {"name": "warner", "truth": "2/3"}})
    public = asks("rating", "p", choices=names(3), public=True)
    made = parse_survey(survey(asks("note", "n"), GOOD, public, matrix, **OWN))

    assert made.own_coin
    assert made.document["privacy"]["procedure"] == "own_coin"
    assert made.epsilon == sum(question.epsilon for question in made.questions) > 0
