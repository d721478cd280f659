import math
from math import log
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.pair_moments import Pairs, independence
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.planning.block_choice import (
    SHARES,
    TABLES,
    BlockDesign,
    PairChannel,
    block_hint,
    block_plan,
    cell_reports,
    joinable,
    joint_words,
    pair_plan,
    pair_share,
    pair_words,
    power_reports,
)
from sottovoce.aggregator.planning.question_channels import ShareChannel, measure_of
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question, Survey

from tests.blocks import block, blocks, in_block
from tests.documents import Document, names, number, one_of, question, survey
from tests.unit.aggregator.analysis.survey_of_reports import COIN, asked

FIGURES = [
    ((2, 2), 9, SHARES, (1.0, 0.7812, 0.5625, None)),
    ((2, 2), 9, TABLES, (6.0, None, 1.6875, None)),
    ((2, 2, 2), 27, SHARES, (1.0, 0.8177, 0.4275, None)),
    ((2, 2, 2), 27, TABLES, (6.0, None, 1.2825, None)),
    ((2,) * 5, 20, SHARES, (2.9538, 1.5270, 0.9226, 0.8414)),
    ((2,) * 5, 20, TABLES, (None, None, 5.4037, None)),
    ((2,) * 10, 148, SHARES, (4.1722, 1.7379, 0.7648, None)),
    ((2,) * 10, 148, TABLES, (None, None, 3.6393, None)),
    ((5, 5, 5), 27, SHARES, (2.5, 1.0562, 1.1035, None)),
    ((5, 5, 5), 27, TABLES, (None, None, 24.1359, 11.0812)),
    ((2,) * 10, 3, SHARES, (83.02, 10.0, 12.6985, None)),
]


def variance(design: BlockDesign, sizes: tuple[int, ...], goal: str) -> float:
    """Variance of one report for a share of 1/2, or of all cells of a table together."""
    assert design.people is not None
    per_person = design.people * (0.05 / 1.959963984540054) ** 2
    return per_person * (1 if goal == SHARES else sizes[0] * sizes[1])


@pytest.mark.parametrize(("sizes", "odds", "goal", "figures"), FIGURES)
def test_designs_have_the_published_variances(
    sizes: tuple[int, ...], odds: int, goal: str, figures: tuple[float | None, ...]
) -> None:
    """To four digits, but for the rounding to whole people."""
    designs = block_plan(sizes, log(odds), goal).same_total.designs
    kinds = [(each.kind, each.drawn > 0) for each in designs]
    best = [
        min((each for each, of in zip(designs, kinds, strict=True) if of == kind), key=_people, default=None)
        for kind in (("separate", False), ("ask", False), ("joint", False), ("joint", True))
    ]
    for design, figure in zip(best, figures, strict=True):
        if figure is not None and design is not None:
            assert variance(design, sizes, goal) == pytest.approx(figure, rel=2e-3)


def _people(design: BlockDesign) -> float:
    return design.people or float("inf")


def test_block_wins_at_the_same_total_and_not_at_the_same_worst_case() -> None:
    """Two yes/no questions: 9:1 in the place of 3:1 for .5625 of the people, 2.25 times as many at 3:1."""
    made = block_plan((2, 2), log(9), SHARES)
    total, one = made.same_total, made.same_question

    assert (total.best.name, total.best.one, total.best.alone) == ("joint, radius 0", 9, 5)
    assert total.best.ratios == pytest.approx((0.5625, 0.5625), abs=1e-6)
    assert (one.best.name, one.worse) == ("separate", (0, 1))
    assert one.designs[1].ratios == pytest.approx((2.25, 2.25), abs=1e-6)
    assert one.epsilon == pytest.approx(log(3))


def test_radius_that_does_not_tell_tables_has_no_people() -> None:
    [radius] = [
        each for each in block_plan((2, 2, 2), log(27), TABLES).same_total.designs if each.name == "joint, radius 1"
    ]
    assert (radius.people, radius.ratios) == (None, ())


def test_questions_that_no_radius_helps_are_named() -> None:
    found = block_plan((2, 60), 2.2, SHARES).same_total
    assert (found.best.name, found.worse) == ("separate", (1,))


@pytest.mark.parametrize(
    ("sizes", "total", "half_width", "message"),
    [
        ((2,), 2.2, 0.05, "2 to 12"),
        ((2,) * 13, 2.2, 0.05, "2 to 12"),
        ((2, 2), 0.01, 0.05, "between 0.02 and 10"),
        ((2, 2), 11, 0.05, "between 0.02 and 10"),
        ((2, 2), 2.2, 1.0, "half-width"),
    ],
)
def test_impossible_plans_are_refused(sizes: tuple[int, ...], total: float, half_width: float, message: str) -> None:
    with pytest.raises(EstimateError, match=message):
        block_plan(sizes, total, SHARES, half_width)


def test_questions_with_one_category_in_a_report_can_be_joined() -> None:
    survey = blocks(
        block(in_block("a"), in_block("b", 3)),
        {**question({"name": "coin_flip"}), "name": "c"},
        {**one_of(4, {"name": "subset_selection", "odds": "3", "size": 2}), "name": "d"},
        {**number(0, 10, 1, {"epsilon": "1"}), "name": "e"},
    )
    assert [each.name for each in joinable(survey)] == ["a", "b", "c", "d"]


def test_lint_names_people_and_odds_of_a_block_in_one_sentence() -> None:
    def coins(count: int) -> list[Document]:
        return [{**question({"name": "coin_flip"}), "name": f"q{place}"} for place in range(count)]

    [hint] = block_hint(blocks(*coins(2)))
    assert hint.startswith("/questions/0: randomize it together with q1, in one block: shares to within 5 points")
    assert "need 865 people instead of 1,537 at" in hint
    assert "odds of one answer are 9:1 at worst instead of 3:1" in hint
    [three] = block_hint(blocks(*coins(3)))
    assert "at a total epsilon of 3.00 instead of 3.30" in three
    assert "20.1:1 at worst instead of 3:1" in three
    assert block_hint(blocks(*coins(1), {**coins(2)[1], "anchor": True, "known_share": "0"})) == []
    fact = {"label": {"en": "Born in spring?"}, "share": "1/4", "source": {"en": "The calendar."}}
    assert block_hint(blocks(*coins(1), in_block("a", procedure="crosswise", innocuous=fact))) == []
    assert block_hint(blocks(*coins(1), {**number(0, 10, 1, {"epsilon": "1"}), "name": "n"})) == []
    assert block_hint(blocks(block(in_block("a"), in_block("b")))) == []


PUBLIC = ShareChannel(1.0, 0.0)

DRAWN = {"name": "sampled_option", "a": "3/4", "b": "1/4"}


def channel(mechanism: dict[str, Any], options: int = 0) -> ShareChannel:
    kind = asked("q", "select_one", mechanism, choices=names(options)) if options else asked("q", "boolean", mechanism)
    found = measure_of(parse_survey(survey(kind)).questions[0])
    assert isinstance(found, ShareChannel)
    return found


@pytest.mark.parametrize(
    ("one", "other", "reports"),
    [
        (PUBLIC, channel(COIN), 427),
        (channel(COIN), channel(COIN), 1637),
        (channel({"name": "subset_selection", "odds": "3", "size": 2}, 8), channel(COIN), 4196),
        (channel({"name": "hadamard_response", "odds": "3"}, 60), channel(COIN), 6439),
        (channel({"name": "kary_rr", "odds": "20"}, 2), channel({"name": "kary_rr", "odds": "20"}, 2), 190),
    ],
)
def test_reports_for_a_cell_of_a_tenth_are_the_known_ones(one: ShareChannel, other: ShareChannel, reports: int) -> None:
    """To within five points, with margins .25 and .3."""
    assert math.ceil(cell_reports(PairChannel(one, other), 0.1, (0.25, 0.3), 0.05)) == reports


def test_power_without_noise_is_the_textbooks() -> None:
    """Two groups of equal size, .3 against .5, pooled variance, 80 %: (1.96 + .8416)^2 2 (.4 .6) / .2^2 each."""
    each = (1.959964 + 0.841621) ** 2 * 2 * 0.4 * 0.6 / 0.2**2
    assert power_reports(PairChannel(PUBLIC, PUBLIC), 0.5, (0.3, 0.5), 0.8) == pytest.approx(2 * each, rel=1e-6)


def test_planned_number_of_reports_finds_what_it_is_for() -> None:
    """Of 600 samples of two coin flips about eight in ten are significant: between .74 and .86, five errors wide."""
    coins = parse_survey(survey(asked("one", "boolean", COIN), asked("two", "boolean", COIN))).questions
    n = round(power_reports(PairChannel(channel(COIN), channel(COIN)), 0.25, (0.25, 0.45), 0.8))
    truth = np.array([0.75 * 0.75, 0.75 * 0.25, 0.25 * 0.55, 0.25 * 0.45])
    flip = np.array([[0.75, 0.25], [0.25, 0.75]])
    seen = truth @ np.kron(flip, flip)
    found = sum(p_of(coins, counts) < 0.05 for counts in np.random.default_rng(7).multinomial(n, seen, 600))

    assert 0.74 < found / 600 < 0.86


def p_of(coins: tuple[Question, ...], counts: np.ndarray) -> float:
    """The p value of the test of a table of reported values 00, 01, 10, 11."""
    first, second = (variables_of(coin)[0] for coin in coins)
    values = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    return independence([Pairs(first, second, values, counts, counts.astype(float), counts.astype(float))]).p


def of(ask: int | None, *more: dict[str, Any]) -> Survey:
    """Ten coins and a public question."""
    coins = [asked(f"coin{number}", "boolean", COIN) for number in range(10)]
    return parse_survey(survey(*coins, asked("g", "boolean", None), *more, **({} if ask is None else {"ask": ask})))


@pytest.mark.parametrize(("ask", "share"), [(5, 20 / 90), (3, 6 / 90), (1, 0.0), (None, 1.0)])
def test_share_of_reports_with_a_pair_under_ask(ask: int | None, share: float) -> None:
    """22 % at 5 of 10, 6.7 % at 3 of 10, none at 1; with a public question as often as the private one is asked."""
    asks = of(ask)
    first, second = asks.questions[:2]

    assert pair_share(asks, first, second) == pytest.approx(share)
    assert pair_share(asks, first, asks.questions[10]) == (1 if ask is None else ask / 10)


def test_two_drawn_options_are_rarely_in_one_report() -> None:
    """1 / (kA kB)."""
    drawn = [asked(name, "select_multiple", DRAWN, choices=names(4)) for name in ("one", "two")]
    asks = parse_survey(survey(*drawn))

    assert pair_share(asks, *asks.questions) == 1 / 16
    assert "6.2% of the reports will contain both" in pair_words(pair_plan(asks, *asks.questions), Words("en"))[0]


def test_words_say_what_will_be_possible_and_what_will_not() -> None:
    rounded = asked("age", "integer", {"name": "rounding_rr", "a": "3/4", "b": "1/4"}, min=0, max=10)
    told = "\n".join(joint_words(of(3, rounded)))
    one = joint_words(of(1))

    assert "a pair of private questions is in 5.5% of the reports" in told
    assert "age can be explained by others, and explain none" in told
    assert "reports for a cell of 10% to within 5 points in any table of two questions" in told
    assert "a pair of private questions is in no report: there will be no tables of two" in one
    with pytest.raises(EstimateError, match="no report will tell of both 'coin0' and 'coin1'"):
        pair_plan(of(1), *of(1).questions[:2])


def test_words_of_a_block_of_which_some_are_asked() -> None:
    """No share is that of every pair of private questions: a third of the reports have two of the block."""
    coin = {**question({"name": "coin_flip"}), "name": "x"}
    drawn = blocks(block(*map(in_block, "abc")) | {"ask": 2}, coin)
    assert [pair_share(drawn, drawn.questions[0], other) for other in drawn.questions[1:]] == [1 / 3, 1 / 3, 2 / 3]
    [words] = joint_words(drawn)
    assert "reports for a cell of 10%" in words
    with pytest.raises(EstimateError, match="two different questions"):
        pair_plan(of(None), of(None).questions[0], of(None).questions[0])


def test_pair_under_ask_needs_as_many_more_reports_as_it_is_rare() -> None:
    """Two coins, 5 of 10: 1,637 x 4.5."""
    asks = of(5)
    plan = pair_plan(asks, *asks.questions[:2])

    assert plan.cell == math.ceil(1636.4614576156964 * 4.5)
    assert (
        f"about {plan.cell:,} reports to estimate a cell of 10% to within 5 points" in pair_words(plan, Words("en"))[1]
    )


def test_two_questions_of_one_block_need_fewer_people_for_their_table() -> None:
    """At odds 9 in all, against two coin flips: a quarter for a cell, and less for an odds ratio."""
    together = blocks(block(in_block("a"), in_block("b")))
    apart = blocks(*({**question(COIN), "name": name} for name in ("a", "b")))
    plans = [pair_plan(each, *each.questions) for each in (apart, together)]

    assert [each.cell for each in plans] == [1637, 441]
    assert [each.odds_ratio for each in plans] == [7817, 1090]


def test_table_that_a_block_does_not_tell_is_not_planned() -> None:
    unknown = blocks(block(in_block("a"), in_block("b"), in_block("c"), radius=1))
    with pytest.raises(EstimateError, match="a, b are reported together"):
        pair_plan(unknown, *unknown.questions[:2])
    assert joint_words(unknown) == []
