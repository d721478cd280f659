"""The two messages by which an invitation is redeemed."""

import hashlib
import json

import pytest
from sottovoce.shared.errors import ReportRejected
from sottovoce.shared.redemption import (
    RedeemRequest,
    Redemption,
    dump_reply,
    dump_request,
    fits,
    message,
    parse_reply,
    parse_request,
    read_modulus,
    read_number,
    spell,
    spell_modulus,
)

MODULUS = 2**2047 + 1
REQUEST = RedeemRequest("ab" * 32, "7V3N-0A9Q", (bytes(255) + b"\1", b"\2" * 384))


def test_message_names_modulus_and_report() -> None:
    """Sixty-six bytes that no other key and no other report has."""
    signed = message(MODULUS, b"i" * 16)

    assert signed == b"sottovoce-blind/1\0" + hashlib.sha256(b"\x80" + bytes(254) + b"\1").digest() + b"i" * 16
    assert len({signed, message(MODULUS + 2, b"i" * 16), message(MODULUS, b"j" * 16)}) == 3
    with pytest.raises(ValueError, match="16 bytes"):
        message(MODULUS, b"i" * 15)


def test_messages_are_read_as_they_were_written() -> None:
    """Keys in one order, no spaces, base64url without padding."""
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
    """Another order of keys, spaces, and what is no JSON."""
    body = dump_request(REQUEST)
    document = json.loads(body)
    for other in (body + b" ", json.dumps(dict(sorted(document.items()))).encode(), b"[]", b"{"):
        with pytest.raises(ReportRejected):
            parse_request(other)
    with pytest.raises(ValueError, match="canonical"):
        parse_reply(dump_reply(Redemption("exam", REQUEST.blinded)) + b" ")


def test_modulus_has_one_of_two_sizes_and_is_odd() -> None:
    """With its top bit set: a shorter number written with as many bytes is none."""
    assert read_modulus(spell_modulus(MODULUS)) == MODULUS
    assert read_modulus(spell_modulus(2**3071 + 1)) == 2**3071 + 1
    for bad in (MODULUS + 1, 2**2046 + 1, 2**3070 + 1):
        with pytest.raises(ValueError, match="odd number"):
            read_modulus(spell(bad.to_bytes(256 if bad.bit_length() <= 2048 else 384)))
    with pytest.raises(ValueError, match="base64url"):
        read_number(spell_modulus(MODULUS) + "=")


def test_number_fits_a_modulus_as_long_as_it_and_larger() -> None:
    """Zero has no root worth having, and what is not below the modulus is another number."""
    assert fits(b"\x80" + bytes(255), MODULUS)
    assert not fits(bytes(256), MODULUS)
    assert not fits(MODULUS.to_bytes(256), MODULUS)
    assert not fits(bytes(127) + b"\1", MODULUS)
    assert not fits(bytes(383) + b"\1", MODULUS)
