"""Ask, randomize, record and send on the respondent's device. It needs the standard library, ``requests`` and
``shared``.

from sottovoce.client import Respondent

me = Respondent.connect("https://survey.example.org/s/affairs#d=0e765eb6bcfb153cd18b5bb165124c5a")
receipt = me.answer({"affair": "yes", "occupation": "teacher"})
print(receipt["sha256"])
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sottovoce.client.file_ledger import FileLedger
    from sottovoce.client.ledger import MemoryLedger
    from sottovoce.client.respondent import Respondent

__all__ = ["FileLedger", "MemoryLedger", "Respondent"]

_MODULES = {"FileLedger": "file_ledger", "MemoryLedger": "ledger", "Respondent": "respondent"}


def __getattr__(name: str) -> object:
    """Load what is asked for, and no sooner: a program that only draws does not wait for the network's part."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
