"""Procedures for a coin or a die: their law is the channel, computed from the instructions themselves."""

from collections.abc import Iterator
from fractions import Fraction

import pytest
from sottovoce.shared.by_hand.own_coin import Part, Procedure, procedure
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.parse_survey import parse_survey

from tests.absences import COIN, asks
from tests.documents import names, survey


def channels(whole: int) -> Iterator[BinaryRR]:
    for high in range(2, whole):
        for low in range(1, high):
            yield BinaryRR(Fraction(high, whole), Fraction(low, whole))


def distribution(made: Procedure, truth: int) -> Fraction:
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
def test_procedure_is_the_channel(whole: int) -> None:
    """Whoever follows the instructions reports yes with exactly the channel's probabilities."""
    for channel in channels(whole):
        made = procedure(channel)
        assert made is not None
        assert (distribution(made, 1), distribution(made, 0)) == (channel.a, channel.b)


@pytest.mark.parametrize("whole", [3, 4, 6, 8])
def test_every_outcome_has_one_instruction(whole: int) -> None:
    """Rows of flips begin with exactly one of the beginnings; the numbers of a die are each named once."""
    for channel in channels(whole):
        made = procedure(channel)
        assert made is not None
        if made.flips:
            rows = [f"{row:0{made.flips}b}".replace("0", "H").replace("1", "T") for row in range(2**made.flips)]
            named = [[row for b in part.outcomes for row in rows if row.startswith(b)] for part in made.parts]
            assert sorted(row for part in named for row in part) == sorted(rows)
        else:
            faces = [range(part.outcomes[0], part.outcomes[1] + 1) for part in made.parts]
            assert [face for part in faces for face in part] == [1, 2, 3, 4, 5, 6]


def test_textbook_designs() -> None:
    """The coin flip, Warner's design with a die, and forced response with a die."""
    third, sixth = Fraction(1, 3), Fraction(1, 6)

    assert procedure(BinaryRR(Fraction(3, 4), Fraction(1, 4))) == Procedure(
        2, (Part("truth", ("H",)), Part("yes", ("TH",)), Part("no", ("TT",)))
    )
    assert procedure(BinaryRR(2 * third, third)) == Procedure(0, (Part("truth", (1, 4)), Part("opposite", (5, 6))))
    assert procedure(BinaryRR(5 * sixth, third)) == Procedure(
        0, (Part("truth", (1, 3)), Part("yes", (4, 5)), Part("no", (6, 6)))
    )


def test_other_channels_have_none() -> None:
    """Twelfths, fifths, sixteenths, more than two categories."""
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
    """No other channel, no condition, no absence."""
    with pytest.raises(SpecError) as caught:
        parse_survey(survey(GOOD, question, **OWN))

    assert [problem.pointer for problem in caught.value.problems] == [place]


def test_survey_for_coins_is_of_its_own_kind() -> None:
    """Notes, public questions and matrices of such channels go with it; its epsilon is the channels'."""
    matrix = asks("matrix", "m", rows=names(2), of={"type": "boolean", "mechanism": {"name": "warner", "truth": "2/3"}})
    public = asks("rating", "p", choices=names(3), public=True)
    made = parse_survey(survey(asks("note", "n"), GOOD, public, matrix, **OWN))

    assert made.own_coin
    assert made.document["privacy"]["procedure"] == "own_coin"
    assert made.epsilon == sum(question.epsilon for question in made.questions) > 0
