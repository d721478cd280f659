"""Blind signatures: issued on one core, verified for each report beside a whole report at admission, keys made."""

import secrets
import time
from collections.abc import Callable
from statistics import median

from sottovoce.aggregator.invitations.rsa_blind_signer import is_signature, make_key
from sottovoce.shared.blind_signatures import SALT, encode, verify
from sottovoce.shared.redemption import message

ROUNDS = 5


def figures() -> None:
    for bits in (2048, 3072):
        began = time.process_time()
        key = make_key(bits)
        made = time.process_time() - began
        length = bits // 8
        signed = message(key.modulus, secrets.token_bytes(16))
        signature = key.sign(encode(signed, secrets.token_bytes(SALT), bits).to_bytes(length))
        blinded = secrets.token_bytes(length - 1).rjust(length, b"\0")
        issue = _seconds(lambda key=key, blinded=blinded: key.sign(blinded), 40)  # type: ignore[misc]
        given = (signed, signature, key.modulus)
        check = _seconds(lambda given=given: is_signature(*given), 200)  # type: ignore[misc]
        plain = _seconds(lambda given=given: verify(*given), 50)  # type: ignore[misc]
        print(
            f"blind {bits}: issue {1 / issue:,.0f} a second and core; verify {check * 1e6:.0f} us (with int pow "
            f"{plain * 1e6:.0f} us); a key in {made:.1f} s of processor"
        )


def _seconds(run: Callable[[], object], times: int) -> float:
    """Of processor time for one run, the median of five rounds."""
    found = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(times):
            run()
        found.append((time.process_time() - began) / times)
    return median(found)
