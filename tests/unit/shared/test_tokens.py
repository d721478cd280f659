"""The spelling of tokens."""

from itertools import pairwise

import pytest
from sottovoce.shared.tokens import BITS, parse_token, print_token, spell_token, token_hash

LETTERS = [spell_token(digit)[-1] for digit in range(32)]


def test_spell_token_has_sixteen_digits_that_nobody_confuses() -> None:
    """Five bits a digit, most significant first, no I, L, O or U."""
    assert spell_token(0) == "0" * 16
    assert spell_token(2**BITS - 1) == "Z" * 16
    assert spell_token(32) == "0" * 14 + "10"
    assert not set("ILOU") & set("".join(LETTERS))


@pytest.mark.parametrize("text", ["", "0" * 15, "0" * 17, "U" * 16, "é" * 16, " " + "0" * 16])
def test_parse_token_refuses_and_hash_hides(text: str) -> None:
    """What is no token has a hash that no stored token has."""
    with pytest.raises(ValueError, match="missing or mistyped"):
        parse_token(text, "affairs")
    assert token_hash(text, "affairs") == b""


def test_token_hash_is_that_of_the_one_spelling() -> None:
    """All spellings of a token are one token, with and without check letters, whatever survey it is for."""
    stored = token_hash("0110000000000000", "affairs")

    assert token_hash("oil0-0000-0000-0000", "affairs") == stored != token_hash("0" * 16, "affairs")
    assert token_hash(print_token("0110000000000000", "affairs"), "affairs") == stored
    assert token_hash(print_token("0110000000000000", "health"), "health") == stored


def test_token_of_another_survey_is_told_without_asking() -> None:
    """The check letters cover the survey's name; a token that has none is as good as it was."""
    token = "7V3N0A9QK2M4XR8E"
    printed = print_token(token, "affairs")

    assert len(printed) == 18
    assert parse_token(printed, "affairs") == parse_token(token, "health") == token
    with pytest.raises(ValueError, match="another survey") as refused:
        parse_token(printed, "health")
    assert token not in str(refused.value)


def test_every_wrong_letter_is_found() -> None:
    """At each place, each letter for each other: the rest of the token makes no difference to a sum modulo a prime."""
    for number in range(32):
        token = LETTERS[number] * 16
        printed = print_token(token, "affairs")
        wrong = [
            printed[:place] + letter + printed[place + 1 :]
            for place in range(18)
            for letter in LETTERS
            if letter != printed[place]
        ]
        assert [text for text in wrong if is_read(text)] == []


def test_every_swap_of_neighbours_is_found() -> None:
    """At each place, each pair of different letters, those across the seam and the check letters themselves too."""
    for first in LETTERS:
        for second in LETTERS:
            for place in range(0, 16, 2):
                token = "7V3N0A9QK2M4XR8E"
                token = token[:place] + first + second + token[place + 2 :]
                printed = print_token(token, "affairs")
                swapped = [
                    printed[:at] + two + one + printed[at + 2 :]
                    for at, (one, two) in enumerate(pairwise(printed))
                    if one != two
                ]
                assert [text for text in swapped if is_read(text)] == []


def is_read(text: str) -> bool:
    """Whether the text is taken for a token of the survey."""
    try:
        parse_token(text, "affairs")
    except ValueError:
        return False
    return True
