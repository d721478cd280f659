"""Another implementation of RFC 9474 redeems here, and issues to our device."""

import json
import secrets
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.invitations.rsa_blind_signer import SigningKey, is_signature
from sottovoce.shared.blind_signatures import EXPONENT, SALT, blind, draw_factor, finalize
from sottovoce.shared.redemption import message, read_number, spell, spell_modulus

from tests.invited import key

SCRIPT = Path(__file__).parents[1] / "blindrsa" / "other.mjs"

Other = Callable[..., Any]


@pytest.fixture(scope="module")
def other() -> Iterator[Other]:
    """The other implementation: a command and what it needs, to its reply."""
    with subprocess.Popen(["node", str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:

        def ask(command: str, **given: Any) -> Any:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps({"command": command, **given}) + "\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.stdin and process.stdin.close()


@pytest.mark.parametrize("bits", [2048, 3072])
def test_their_device_redeems_at_our_issuer(other: Other, bits: int) -> None:
    signer = key(0, bits)
    signed = message(signer.modulus, secrets.token_bytes(16))
    named = {"modulus": spell_modulus(signer.modulus), "message": spell(signed)}
    answer = signer.sign(read_number(other("blind", **named)["blinded"]))
    signature = other("finalize", **named, answer=spell(answer))["signature"]

    assert is_signature(signed, read_number(signature), signer.modulus)
    assert other("verify", **named, signature=signature)["good"]


@pytest.mark.parametrize("bits", [2048, 3072])
def test_our_device_redeems_at_their_issuer(other: Other, bits: int) -> None:
    signer = key(0, bits)
    modulus, signed = signer.modulus, message(signer.modulus, secrets.token_bytes(16))
    blinded = blind(signed, modulus, secrets.token_bytes(SALT), draw_factor(modulus, secrets.token_bytes))
    answer = read_number(other("sign", jwk=_jwk(signer), blinded=spell(blinded.sent))["answer"])
    signature = finalize(blinded, answer, modulus)

    assert answer == signer.sign(blinded.sent)
    assert is_signature(signed, signature, modulus)
    named = {"modulus": spell_modulus(modulus), "message": spell(signed)}
    assert other("verify", **named, signature=spell(signature))["good"]


def _jwk(signer: SigningKey) -> dict[str, str]:
    """The private key as browsers read it (RFC 7518, 6.3)."""
    p, q = signer.p, signer.q
    d = pow(EXPONENT, -1, (p - 1) * (q - 1))
    numbers = {"n": p * q, "e": EXPONENT, "d": d, "p": p, "q": q, "dp": d % (p - 1), "dq": d % (q - 1)}
    numbers["qi"] = pow(q, -1, p)
    return {"kty": "RSA"} | {
        name: spell(value.to_bytes((value.bit_length() + 7) // 8)) for name, value in numbers.items()
    }
