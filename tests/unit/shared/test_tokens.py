"""The spelling of tokens."""

import pytest
from sottovoce.shared.tokens import BITS, parse_token, spell_token, token_hash


def test_spell_token_has_sixteen_digits_that_nobody_confuses() -> None:
    """Five bits a digit, most significant first, no I, L, O or U."""
    assert spell_token(0) == "0" * 16
    assert spell_token(2**BITS - 1) == "Z" * 16
    assert spell_token(32) == "0" * 14 + "10"
    assert not set("ILOU") & set("".join(spell_token(31 - digit) for digit in range(32)))


@pytest.mark.parametrize("text", ["", "0" * 15, "0" * 17, "U" * 16, "é" * 16, " " + "0" * 16])
def test_parse_token_refuses_and_hash_hides(text: str) -> None:
    """What is no token has a hash that no stored token has."""
    with pytest.raises(ValueError, match="not a token"):
        parse_token(text)
    assert token_hash(text) == b""


def test_token_hash_is_that_of_the_one_spelling() -> None:
    """All spellings of a token are one token."""
    assert token_hash("oil0-0000-0000-0000") == token_hash("0110000000000000") != token_hash("0" * 16)
