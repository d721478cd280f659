"""The signer's arithmetic: every signature is one, and nothing else is signed."""

import secrets

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from sottovoce.aggregator.invitations import rsa_blind_signer
from sottovoce.aggregator.invitations.rsa_blind_signer import is_signature, make_key
from sottovoce.shared.blind_signatures import EXPONENT, SALT, blind, draw_factor, encode, finalize, verify

from tests.invited import key


@pytest.mark.parametrize("bits", [2048, 3072])
def test_signature_of_what_was_never_seen_verifies(bits: int) -> None:
    signer, message = key(0, bits), secrets.token_bytes(66)
    modulus = signer.modulus
    blinded = blind(message, modulus, secrets.token_bytes(SALT), draw_factor(modulus, secrets.token_bytes))
    signature = finalize(blinded, signer.sign(blinded.sent), modulus)

    assert modulus.bit_length() == bits
    assert verify(message, signature, modulus)
    assert is_signature(message, signature, modulus)
    public = rsa.RSAPublicNumbers(EXPONENT, modulus).public_key()
    public.verify(signature, message, padding.PSS(padding.MGF1(hashes.SHA384()), SALT), hashes.SHA384())


def test_both_ways_of_verifying_refuse_the_same() -> None:
    signer, message = key(), b"m" * 66
    encoded = encode(message, bytes(SALT), 2048)
    signature = signer.sign(encoded.to_bytes(256))
    longer = (int.from_bytes(signature) + signer.modulus).to_bytes(257)
    cases = [
        (message, bytes([signature[0] ^ 1]) + signature[1:]), (message + b"m", signature), (message, signature[:-1]),
        (message, b""), (message, longer), (message, bytes(256)), (message, signer.modulus.to_bytes(256)),
    ]  # fmt: skip

    assert is_signature(message, signature, signer.modulus)
    assert [case for case in cases if is_signature(*case, signer.modulus) or verify(*case, signer.modulus)] == []
    assert not is_signature(message, signature, key(1).modulus)


def test_signing_is_deterministic_and_masked() -> None:
    signer, sent = key(), secrets.token_bytes(255).rjust(256, b"\0")

    assert len({signer.sign(sent) for _ in range(3)}) == 1
    assert pow(int.from_bytes(signer.sign(sent)), EXPONENT, signer.modulus) == int.from_bytes(sent)


@pytest.mark.parametrize("sent", [bytes(256), b"\1", b"\xff" * 256, bytes(383) + b"\1"], ids=len)
def test_what_is_no_number_below_the_modulus_is_not_signed(sent: bytes) -> None:
    with pytest.raises(ValueError, match="no number"):
        key().sign(sent)


def test_faulty_signature_never_leaves(monkeypatch: pytest.MonkeyPatch) -> None:
    """One fault modulo one of the primes would tell the other prime to whoever gets the result."""
    signer, real = key(), rsa_blind_signer.powmod_sec
    faulty = iter([1, 0] * 8)
    monkeypatch.setattr(rsa_blind_signer, "powmod_sec", lambda *given: real(*given) + next(faulty))
    with pytest.raises(ArithmeticError, match="came out wrong"):
        signer.sign(bytes(255) + b"\2")


def test_primes_that_the_exponent_divides_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under such a modulus nearly no number has a root."""
    bad = 3 << 1022 | 1
    while bad % EXPONENT != 1:
        bad += 2
    drawn = iter([bad, bad + 2])
    monkeypatch.setattr(rsa_blind_signer.secrets, "randbits", lambda _: next(drawn))
    monkeypatch.setattr(rsa_blind_signer, "is_prime", lambda *_: True)

    assert rsa_blind_signer._prime(1024) == bad + 2


def test_key_tells_nothing_of_itself() -> None:
    """A key that came into a message or a log by mistake would be gone."""
    assert str(key().p) not in repr(key())
    assert make_key(2048).modulus != key().modulus


def test_every_report_fits_every_redemption() -> None:
    """For each redeemed number and each signed id there is exactly one blinding: who has both knows no pair."""
    signer = key()
    modulus = signer.modulus
    encoded = [encode(secrets.token_bytes(66), secrets.token_bytes(SALT), 2048) for _ in range(5)]
    factors = [draw_factor(modulus, secrets.token_bytes) for _ in range(5)]
    redeemed = [m * pow(r, EXPONENT, modulus) % modulus for m, r in zip(encoded, factors, strict=True)]
    for number, z in enumerate(redeemed):
        for other, m in enumerate(encoded):
            root = int.from_bytes(signer.sign((z * pow(m, -1, modulus) % modulus).to_bytes(256)))
            assert m * pow(root, EXPONENT, modulus) % modulus == z
            assert (root == factors[number]) == (number == other)
