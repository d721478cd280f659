"""The closed list of mechanisms. Adding one is a line here and in each of its three twins' registries."""

from sottovoce.shared.mechanisms.base import Mechanism
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.kary_rr import KaryRR

MECHANISMS: dict[str, type[Mechanism]] = {
    "binary_rr": BinaryRR,
    "kary_rr": KaryRR,
}
"""Every mechanism by the name that the canonical survey carries."""

PRESETS: dict[str, str] = {"coin_flip": "binary_rr", "warner": "binary_rr"}
"""Names for authors: each is a choice of parameters of one mechanism, and publishing expands it."""

__all__ = ["MECHANISMS", "PRESETS", "Mechanism"]
