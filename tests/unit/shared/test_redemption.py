"""The two messages by which an invitation is redeemed, and how a token is spelt and checked."""

import hashlib
import json
from itertools import pairwise

import pytest
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.redemption import (
    BITS,
    RedeemRequest,
    Redemption,
    dump_reply,
    dump_request,
    fits,
    message,
    parse_reply,
    parse_request,
    parse_token,
    print_token,
    read_modulus,
    read_number,
    spell,
    spell_modulus,
    spell_token,
    token_hash,
)

MODULUS = 2**2047 + 1
REQUEST = RedeemRequest("ab" * 32, "7V3N-0A9Q", (bytes(255) + b"\1", b"\2" * 384))

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


def test_every_wrong_letter_and_swap_of_neighbours_is_found() -> None:
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
    try:
        parse_token(text, "affairs")
    except ValueError:
        return False
    return True


def test_message_names_modulus_and_report_and_reads_back() -> None:
    signed = message(MODULUS, b"i" * 16)

    assert signed == b"sottovoce-blind/1\0" + hashlib.sha256(b"\x80" + bytes(254) + b"\1").digest() + b"i" * 16
    assert len({signed, message(MODULUS + 2, b"i" * 16), message(MODULUS, b"j" * 16)}) == 3
    with pytest.raises(ValueError, match="16 bytes"):
        message(MODULUS, b"i" * 15)

    body = dump_request(REQUEST)
    reply = Redemption("exam", REQUEST.blinded)

    assert list(json.loads(body)) == ["format", "digest", "invitation", "blinded"]
    assert [len(text) for text in json.loads(body)["blinded"]] == [342, 512]
    assert parse_request(body) == REQUEST
    assert parse_reply(dump_reply(reply)) == reply


@pytest.mark.parametrize(
    "change",
    [
        {"format": "sottovoce-redeem/2"},
        {"format": 1},
        {"digest": "AB" * 32},
        {"invitation": ""},
        {"invitation": "a b"},
        {"invitation": 7},
        {"blinded": []},
        {"blinded": "A" * 342},
        {"blinded": ["A" * 341]},
        {"blinded": ["A" * 340]},
        {"blinded": ["A" * 341 + "B"]},
        {"blinded": ["+" * 342]},
        {"blinded": [1]},
    ],
    ids=str,
)
def test_request_that_is_none_is_malformed(change: dict[str, object]) -> None:
    """Each field has one form, and the last letter of a number no bits to spare."""
    document = json.loads(dump_request(REQUEST)) | change
    with pytest.raises(ReportRejected) as refused:
        parse_request(json.dumps(document, separators=(",", ":")).encode())
    assert refused.value.code == "malformed"


def test_other_spellings_of_a_message_are_refused() -> None:
    body = dump_request(REQUEST)
    document = json.loads(body)
    for other in (body + b" ", json.dumps(dict(sorted(document.items()))).encode(), b"[]", b"{"):
        with pytest.raises(ReportRejected):
            parse_request(other)
    with pytest.raises(ValueError, match="canonical"):
        parse_reply(dump_reply(Redemption("exam", REQUEST.blinded)) + b" ")


def test_modulus_has_one_of_two_sizes_is_odd_and_bounds_its_numbers() -> None:
    assert read_modulus(spell_modulus(MODULUS)) == MODULUS
    assert read_modulus(spell_modulus(2**3071 + 1)) == 2**3071 + 1
    for bad in (MODULUS + 1, 2**2046 + 1, 2**3070 + 1):
        with pytest.raises(ValueError, match="odd number"):
            read_modulus(spell(bad.to_bytes(256 if bad.bit_length() <= 2048 else 384)))
    with pytest.raises(ValueError, match="base64url"):
        read_number(spell_modulus(MODULUS) + "=")

    assert fits(b"\x80" + bytes(255), MODULUS)
    assert not fits(bytes(256), MODULUS)
    assert not fits(MODULUS.to_bytes(256), MODULUS)
    assert not fits(bytes(127) + b"\1", MODULUS)
    assert not fits(bytes(383) + b"\1", MODULUS)
