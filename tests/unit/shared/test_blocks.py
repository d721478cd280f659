"""Blocks in a survey file: what they are read as, what they cost, and what is refused."""

import json
from fractions import Fraction
from typing import Any

import pytest
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR, JointYesNo
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.rational import log
from sottovoce.shared.report import report_length
from sottovoce.shared.spec import Survey

from tests.documents import Document, names, problems_of, survey
from tests.vectors.blocks import COIN, asks

ODDS = {"name": "joint_rr", "odds": "9", "radius": 0}


def block(*items: Document, mechanism: Document = ODDS, name: str = "intimate") -> Document:
    return {"block": name, "mechanism": mechanism, "items": list(items)}


TWO = block(asks("a"), asks("b"))
HIDDEN = {"visible_if": {"a": "yes"}, "absent_category": True}


def read(*questions: Document, **more: Any) -> Survey:
    found = parse_survey(survey(*questions, **more))
    assert load_survey(found.canonical) == found
    return found


def test_questions_of_a_block_have_their_parts_of_its_mechanism() -> None:
    """A hidden one, a matrix and an option more for who does not answer are questions like any others."""
    matrix = {
        "type": "matrix",
        "name": "m",
        "label": {"en": "M"},
        "rows": names(2, "r"),
        "of": {"type": "rating", "choices": names(3)},
    }
    found = read(asks("first", mechanism=COIN), block(asks("a"), asks("b", **HIDDEN), matrix), asks("z", public=True))
    joint = JointRR(Fraction(9), 0, (2, 3, 3, 3))
    assert [(each.name, each.questions, each.mechanism) for each in found.blocks] == [("intimate", (1, 2, 3, 4), joint)]
    assert [question.mechanism for question in found.questions[1:5]] == [
        JointYesNo(joint, 0, "intimate"),
        *(JointMember(joint, position, "intimate") for position in (1, 2, 3)),
    ]
    assert [item.block for item in found.items] == ["", "intimate", "intimate", "intimate", ""]
    assert found.block_of(0) is None
    assert found.block_of(4) == found.blocks[0]
    assert found.encode({"first": "no", "a": "no", "m_r0": "c1", "m_r1": "c2", "z": "no"}) == (0, 0, 2, 1, 2, 0)


def test_epsilon_is_written_out_and_costs_once() -> None:
    found = read(block(asks("a"), asks("b"), mechanism={"epsilon": "2.2"}))
    assert found.document["questions"][0]["mechanism"] == ODDS
    assert "mechanism" not in found.document["questions"][0]["items"][0]

    coins = [asks(name, mechanism=COIN) for name in ("x", "y")]
    found = read(*coins, TWO)
    assert [question.epsilon for question in found.questions[2:]] == [log(Fraction(9))] * 2
    assert found.epsilon == pytest.approx(log(Fraction(81)), abs=1e-12)
    assert found.epsilon_of_wave == found.epsilon
    drawn = read(*coins, TWO, ask=2)
    assert drawn.units == ((0,), (1,), (2, 3))
    assert drawn.epsilon == pytest.approx(log(Fraction(27)), abs=1e-12)


def test_block_is_asked_as_a_whole_or_not() -> None:
    """A drawn set counts it as one question, and every report is as long as the longest one."""
    found = read(asks("x", mechanism=COIN), TWO, asks("z", public=True), ask=1)
    assert found.asks_for((None, 0, 1, 0))
    assert found.asks_for((1, None, None, 0))
    for values in [(None, 0, None, 0), (1, 0, None, 0), (1, None, None, None), (1, 0, 1, 0), (None, None, None, 0)]:
        assert not found.asks_for(values)
    one_more = read(asks("x", mechanism=COIN), TWO, asks("z", public=True))
    # The block is shorter when it is asked: "null" has four letters.
    assert report_length(found, 0) == report_length(one_more, 0) + 2 * 3


def test_condition_inside_a_block_goes_with_ask() -> None:
    """It is asked as a whole; on a question outside nothing may hang."""
    read(block(asks("a"), asks("b", **HIDDEN)), asks("x", mechanism=COIN), ask=1)
    outside = asks("x", mechanism=COIN, when_absent="no", visible_if={"a": "yes"})
    assert "ask may leave out" in refused(TWO, outside, ask=1)["/questions/1/visible_if"]
    read(TWO, outside)


@pytest.mark.parametrize(
    ("entry", "pointer", "words"),
    [
        (block(asks("a"), asks("b", public=True)), "/items/1/public", "private questions only"),
        (block(asks("a"), asks("b", mechanism=COIN)), "/items/1/mechanism", "leave this out"),
        (block(asks("a"), asks("b", "integer", min=0, max=9)), "/items/1/type", "integer questions cannot be"),
        (block(asks("a"), asks("b", "select_multiple", choices=names(3))), "/items/1/type", "cannot be"),
        (block(asks("a"), asks("b", "note")), "/items/1/type", "questions and matrices"),
        (block(asks("a"), asks("b"), mechanism=COIN), "/mechanism", "joint_rr"),
        (block(asks("a"), asks("b"), mechanism={"name": "joint_rr", "odds": "9"}), "/mechanism", "odds, radius"),
        (block(asks("a"), asks("b"), mechanism={**ODDS, "radius": 2}), "/mechanism", "block intimate: radius"),
        (block(asks("a"), asks("b"), mechanism={"epsilon": "0.01"}), "/mechanism", "at least 0.05"),
        (block(asks("a"), asks("b"), mechanism={"epsilon": "11"}), "/mechanism", "between 0.01 and 10"),
        (block(asks("a")), "/mechanism", "2 to 12 questions"),
        (block(*(asks(f"q{n}") for n in range(13))), "/items", "list of 1 to 12"),
        (
            block(asks("a", "rating", choices=names(300)), asks("b", "rating", choices=names(300))),
            "/mechanism",
            "65,536",
        ),
        (block(asks("a"), asks("a")), "/items/1/name", "used twice"),
        (block(asks("a"), asks("intimate")), "/items/1/name", "used twice"),
        (block(asks("a"), asks("b", visible_if={"a": "yes"})), "/items/1/visible_if", "when_absent or absent_category"),
        ({**TWO, "label": {"en": "L"}}, "/label", "not a known key"),
    ],
)
def test_impossible_blocks_are_refused(entry: Document, pointer: str, words: str) -> None:
    assert words in refused(entry)[f"/questions/0{pointer}"]


def test_weights_beyond_what_a_device_draws_name_the_block() -> None:
    """The sum is over all combinations."""
    wide = [asks(name, "rating", choices=names(250)) for name in "ab"]
    found = refused(block(*wide, mechanism={**ODDS, "odds": "100001/100000"}))
    assert found == {"/questions/0/mechanism": "block intimate: the odds make weights that sum to more than 2^32"}


@pytest.mark.parametrize("key", ["visible_if", "any_of"])
def test_public_answer_must_not_hide_a_question_of_a_block(key: str) -> None:
    """Neither at once nor by way of a private question that it hides."""
    public = asks("p", public=True)
    gated = asks("b", absent_category=True, **{key: {"p": "yes"}})
    assert "must not hide" in refused(public, block(asks("a"), gated))[f"/questions/1/items/1/{key}"]
    between = asks("q", mechanism=COIN, when_absent="no", visible_if={"p": "yes"})
    last = asks("b", absent_category=True, **{key: {"q": "yes"}})
    assert "must not hide" in refused(public, between, block(asks("a"), last))[f"/questions/2/items/1/{key}"]
    read(asks("q", mechanism=COIN), block(asks("a"), last))


def test_question_outside_that_hangs_on_a_block() -> None:
    assert (
        "give that answer away"
        in refused(TWO, asks("p", public=True, visible_if={"a": "yes"}, when_absent="no"))["/questions/1/visible_if"]
    )
    assert refused(TWO, asks("p", mechanism=COIN, visible_if={"a": "yes"}))
    read(TWO, asks("p", mechanism=COIN, visible_if={"a": "yes"}, when_absent="no"))


def test_own_coin_cannot_draw_a_block() -> None:
    """Nobody tosses for two answers at once."""
    assert refused(TWO, privacy={"procedure": "own_coin"})


def test_block_names_are_all_different() -> None:
    """Also from those of questions before and after."""
    again = {**TWO, "items": [asks("c"), asks("d")]}
    assert "used twice" in refused(TWO, again)["/questions/1/block"]
    assert "used twice" in refused(asks("intimate", mechanism=COIN), TWO)["/questions/0/name"]
    assert len(read(TWO, {**again, "block": "other"}).blocks) == 2


def test_survey_without_a_block_has_no_trace_of_it() -> None:
    """The recorded digests in ``tests/vectors`` hold for all that was there before."""
    found = read(asks("x", mechanism=COIN))
    assert (found.blocks, found.units) == ((), ((0,),))
    assert "block" not in json.dumps(found.document)


def refused(*questions: Document, **more: Any) -> dict[str, str]:
    return dict(problems_of(survey(*questions, **more)))


def test_some_questions_of_a_block_are_drawn() -> None:
    """Each set with the same channel: a report has values of as many as it says, and costs what the block costs."""
    three = block(asks("a"), asks("b"), asks("c")) | {"ask": 2}
    found = read(asks("x", mechanism=COIN), three)
    assert found.blocks[0].mechanism == JointRR(Fraction(9), 0, (2, 2, 2), 2)
    assert found.epsilon == pytest.approx(log(Fraction(3)) + log(Fraction(9)))
    assert (share_asked(found, 1), share_asked(found, 0, 1, 2), share_asked(found, 1, 2, 3)) == (
        Fraction(2, 3),
        Fraction(1, 3),
        0,
    )
    assert found.longest == (1, 1, 1, None)
    assert [
        found.asks_for(values) for values in ((0, 1, None, 0), (0, 1, 0, 0), (0, None, None, 1), (None, 1, 0, None))
    ] == [True, False, False, False]
    # Of two questions alone: 4 combinations with weights 9, 1, 1, 1.
    assert found.questions[1].mechanism.explain()["all"] == Fraction(3, 4)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (block(asks("a"), asks("b"), asks("c")) | {"ask": 3}, "/questions/0/ask: must be a whole number from 2 to 2"),
        (block(asks("a"), asks("b")) | {"ask": 2}, "less than the number of questions of the block"),
        (
            block(asks("a"), asks("b"), asks("c", "select_one", choices=names(3))) | {"ask": 2},
            "have the same number of answers",
        ),
        (
            block(asks("a"), asks("b"), asks("c", when_absent="no", visible_if={"a": "yes"})) | {"ask": 2},
            "depends on a question that ask may leave out",
        ),
    ],
)
def test_block_that_cannot_be_drawn_from_is_refused(changed: Document, said: str) -> None:
    """Sets of different channels, a condition on what may not be asked, or nothing left to draw."""
    with pytest.raises(SpecError, match=said):
        read(changed)


def test_drawn_block_has_no_survey_that_draws_too() -> None:
    """One of the two is enough, and what a report has stays easy to say."""
    three = block(asks("a"), asks("b"), asks("c")) | {"ask": 2}
    with pytest.raises(SpecError, match="cannot be combined with the ask of a block"):
        read(three, asks("x", mechanism=COIN), asks("y", mechanism=COIN), ask=1)
