"""
The respondent's device: asks, randomizes, records, sends. The standard library, ``requests``, and the agreement.

    from sottovoce.client import Respondent

    me = Respondent.connect("https://survey.example.org/s/affairs#d=0e765eb6bcfb153cd18b5bb165124c5a")
    receipt = me.answer({"affair": "yes", "occupation": "teacher"})
    print(receipt["sha256"])
"""

from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MemoryLedger
from sottovoce.client.respondent import Respondent

__all__ = ["FileLedger", "MemoryLedger", "Respondent"]
