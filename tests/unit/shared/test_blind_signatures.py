"""Blind signatures are those of RFC 9474, by the vectors of its appendix A."""

import json
from pathlib import Path
from typing import Any

import pytest
from sottovoce.shared.blind_signatures import EXPONENT, SALT, Blinded, blind, draw_factor, encode, finalize, verify

VECTORS = json.loads((Path(__file__).parent / "rfc9474_vectors.json").read_text(encoding="utf-8"))


def number(vector: dict[str, Any], name: str) -> int:
    return int(vector[name], 16)


def signed(vector: dict[str, Any], blinded: Blinded) -> bytes:
    """What the signer answers; slow and open to whoever listens, which is right for a test."""
    modulus = number(vector, "n")
    return pow(int.from_bytes(blinded.sent), number(vector, "d"), modulus).to_bytes(modulus.bit_length() // 8)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vectors_of_the_rfc_come_out(vector: dict[str, Any]) -> None:
    modulus, message, salt = number(vector, "n"), bytes.fromhex(vector["input_msg"]), bytes.fromhex(vector["salt"])
    factor = pow(number(vector, "inv"), -1, modulus)
    blinded = blind(message, modulus, salt, factor)
    answer = bytes.fromhex(vector["blind_sig"])
    signature = finalize(blinded, answer, modulus)

    assert blinded.sent.hex() == vector["blinded_msg"]
    assert signed(vector, blinded) == answer
    assert signature.hex() == vector["sig"]
    assert verify(message, signature, modulus, len(salt))


@pytest.mark.parametrize(
    "vector", [each for each in VECTORS if "encoded_msg" in each], ids=lambda vector: vector["name"]
)
def test_encoded_messages_of_the_rfc_come_out(vector: dict[str, Any]) -> None:
    """One bit shorter than the modulus."""
    encoded = encode(
        bytes.fromhex(vector["input_msg"]), bytes.fromhex(vector["salt"]), number(vector, "n").bit_length()
    )
    assert encoded == number(vector, "encoded_msg")


def test_every_changed_bit_of_a_signature_is_refused() -> None:
    """So are another message, another length, a number that is no smaller than the modulus, and a shorter salt."""
    vector = VECTORS[2]
    modulus, message, signature = number(vector, "n"), bytes.fromhex(vector["input_msg"]), bytes.fromhex(vector["sig"])
    changed = [
        (int.from_bytes(signature) ^ 1 << bit).to_bytes(len(signature)) for bit in range(0, modulus.bit_length(), 37)
    ]
    longer = (int.from_bytes(signature) + modulus).to_bytes(len(signature) + 1)

    assert [each for each in changed if verify(message, each, modulus)] == []
    assert not verify(message + b"\0", signature, modulus)
    assert not verify(message, b"\0" + signature, modulus)
    assert not verify(message, longer, modulus)
    assert not verify(message, signature[:-1], modulus)
    assert not verify(message, signature, modulus, SALT - 1)
    assert not verify(message, signature, modulus, 0)


def test_answer_that_is_no_signature_is_refused() -> None:
    """A mark that the signer might leave, a zero, another length."""
    vector = VECTORS[2]
    modulus, salt = number(vector, "n"), bytes.fromhex(vector["salt"])
    blinded = blind(bytes.fromhex(vector["input_msg"]), modulus, salt, pow(number(vector, "inv"), -1, modulus))
    answer = bytes.fromhex(vector["blind_sig"])
    marked = (int.from_bytes(answer) * 2 % modulus).to_bytes(len(answer))
    for wrong in (marked, bytes(len(answer)), answer[1:], b"\0" + answer, answer[::-1]):
        with pytest.raises(ValueError, match="no signature"):
            finalize(blinded, wrong, modulus)


def test_every_blinded_number_fits_every_message() -> None:
    """For each pair a factor leads from one to the other: the signer learns nothing, whatever it keeps."""
    vector = VECTORS[2]
    modulus, salt = number(vector, "n"), bytes.fromhex(vector["salt"])
    messages = [bytes([index]) * 16 for index in range(2)]
    sent = [int.from_bytes(blind(each, modulus, salt, 3 + index).sent) for index, each in enumerate(messages)]
    for message in messages:
        for seen in sent:
            encoded = encode(message, salt, modulus.bit_length())
            factor = pow(seen * pow(encoded, -1, modulus), number(vector, "d"), modulus)
            assert int.from_bytes(blind(message, modulus, salt, factor).sent) == seen


def test_factor_is_drawn_by_rejection() -> None:
    """Whole reads; a zero and what is not below the modulus are drawn again, so that all others are equally likely."""
    modulus = (1 << 2048) - 1
    tape = [bytes(256), b"\xff" * 256, b"\1" * 256]
    asked: list[int] = []

    def read(count: int) -> bytes:
        asked.append(count)
        return tape.pop(0)

    assert draw_factor(modulus, read) == int.from_bytes(b"\1" * 256)
    assert asked == [256, 256, 256]


def test_exponent_is_a_constant() -> None:
    """It is read from no survey: a modulus made to fit another one would leak a part of the factor."""
    assert EXPONENT == 65537
