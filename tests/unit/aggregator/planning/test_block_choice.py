"""Separate reports, some of the questions, or one report: published figures, and which is best."""

from math import log

import pytest
from sottovoce.aggregator.planning.block_choice import SHARES, TABLES, BlockDesign, block_hint, block_plan, joinable
from sottovoce.shared.errors import EstimateError

from tests.blocks import block, blocks, in_block
from tests.documents import Document, number, one_of, question

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
    own = block_plan(sizes, 1.0, goal)  # any plan: only its arithmetic of people is used
    assert design.people is not None
    assert own.same_total.designs[0].people is not None
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
    """Three yes/no questions with radius 1."""
    [radius] = [
        each for each in block_plan((2, 2, 2), log(27), TABLES).same_total.designs if each.name == "joint, radius 1"
    ]
    assert (radius.people, radius.ratios) == (None, ())


def test_questions_that_no_radius_helps_are_named() -> None:
    """Yes/no beside 60 options are asked separately."""
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
    """The message says what is possible."""
    with pytest.raises(EstimateError, match=message):
        block_plan(sizes, total, SHARES, half_width)


def test_questions_with_one_category_in_a_report_can_be_joined() -> None:
    """Those of a block, yes/no and choices; no numbers."""
    survey = blocks(
        block(in_block("a"), in_block("b", 3)),
        {**question({"name": "coin_flip"}), "name": "c"},
        {**one_of(4, {"name": "subset_selection", "odds": "3", "size": 2}), "name": "d"},
        {**number(0, 10, 1, {"epsilon": "1"}), "name": "e"},
    )
    assert [each.name for each in joinable(survey)] == ["a", "b", "c", "d"]


def test_lint_names_people_and_odds_of_a_block_in_one_sentence() -> None:
    """Before and after; not for a survey with a block, with numbers, or of more epsilon than a device allows."""

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
