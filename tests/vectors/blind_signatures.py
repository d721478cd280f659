"""Ids that are prepared and signed, from a tape; the moduli are primes, so that anybody can sign."""

from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.client.redemption import prepare
from sottovoce.shared.blind_signatures import finalize
from sottovoce.shared.redemption import message

from tests.unit.client.issuer import MODULI, sign
from tests.vectors.tape import Tape


def blind_vectors() -> dict[str, Any]:
    """For waves of several moduli: the bytes read, what is signed, what is sent, and the signatures."""
    return {"prepared": [_prepared(moduli, index) for moduli in (MODULI[:1], MODULI[1:]) for index in range(2)]}


def _prepared(moduli: tuple[int, ...], index: int) -> dict[str, Any]:
    tape = Tape(f"blind {len(moduli)} {index}")
    waves = []
    for modulus, each in zip(moduli, prepare(moduli, Draws(tape)), strict=True):
        signed = sign(each.blinded.sent, modulus)
        waves.append({
            "id": each.report_id,
            "message": message(modulus, bytes.fromhex(each.report_id)).hex(),
            "blinded": each.blinded.sent.hex(),
            "inverse": f"{each.blinded.inverse:x}",
            "encoded": f"{each.blinded.encoded:x}",
            "signed": signed.hex(),
            "signature": finalize(each.blinded, signed, modulus).hex(),
        })  # fmt: skip
    return {"moduli": [f"{modulus:x}" for modulus in moduli], "bytes": tape.taken.hex(), "waves": waves}
