"""
Format of a budget's ledger: a hash chain of lines, one JSON object each.

Line 0 has the terms of the budget; each further line is an entry with question, charge and answer. Every line has the
hash of the line before it and its own: the SHA-256 of its canonical JSON without that hash.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerHead
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.privacy_cost import Charge
from sottovoce.aggregator.curator.release import Release
from sottovoce.shared import canonical
from sottovoce.shared.errors import StorageError

FORMAT = "sottovoce-budget/1"
FIRST = "0" * 64
"""Value of ``previous`` in line 0, which has no line before it."""


@dataclass(frozen=True)
class BudgetTerms:
    """
    Terms of a budget, fixed when it is opened; only the declaration may be corrected, until the first answer.

    Attributes:
        data: SHA-256 of the data.
        declaration: digest of the declaration of the data.
        epsilon: limit for the total cost of all answers.
        delta: limit for their total delta.
        neighbours: neighbouring relation under which both hold.
        records: number of records if it is public, that is, under replace-one; else None.
    """

    data: str
    declaration: str
    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    records: int | None


@dataclass(frozen=True)
class ReleaseEntry:
    """
    One answered question.

    Attributes:
        number: number of the entry, from 1.
        question: the question in canonical form.
        charge: privacy cost of the answer.
        answer: ``values``, ``sensitivity``, ``error`` and ``notes`` of the release.
    """

    number: int
    question: Mapping[str, Any]
    charge: Charge
    answer: Mapping[str, Any]


@dataclass(frozen=True)
class ReleaseLedger:
    """
    A ledger whose hash chain was checked.

    Attributes:
        terms: terms of the budget.
        entries: the entries in order.
        heads: number and hash of each line, by its number.
    """

    terms: BudgetTerms
    entries: Sequence[ReleaseEntry]
    heads: Sequence[LedgerHead]

    @property
    def head(self) -> LedgerHead:
        """Number and hash of the last line."""
        return self.heads[-1]


def first_line(terms: BudgetTerms) -> bytes:
    """Return line 0 of a ledger."""
    told = {
        "format": FORMAT,
        "data": terms.data,
        "declaration": terms.declaration,
        "epsilon": str(terms.epsilon),
        "delta": str(terms.delta),
        "neighbours": terms.neighbours.value,
        "records": terms.records,
    }
    return _line(told, 0, FIRST)


def entry_line(question: Mapping[str, Any], release: Release, before: LedgerHead) -> bytes:
    """
    Return the line of an entry.

    Args:
        question: the question in canonical form.
        release: the release that was drawn.
        before: number and hash of the line before it.
    """
    charge, rho = release.charge, release.charge.rho
    told = {
        "question": question,
        "charge": {
            "epsilon": str(charge.epsilon),
            "delta": str(charge.delta),
            "rho": None if rho is None else str(rho),
        },
        "answer": {
            "values": release.values,
            "sensitivity": release.sensitivity,
            "error": release.error,
            "notes": list(release.notes),
        },
    }
    return _line(told, before.number + 1, before.hash)


def _line(told: Mapping[str, Any], number: int, previous: str) -> bytes:
    whole = {"number": number, "previous": previous, **told}
    return canonical.dump({**whole, "hash": _hash(whole)}) + b"\n"


def _hash(told: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical.dump(told)).hexdigest()


def parse_ledger(content: bytes) -> ReleaseLedger:
    """
    Parse a ledger of complete lines and check its hash chain.

    Raises:
        StorageError: a line was changed, dropped, swapped or added; the message names it.
    """
    found: list[dict[str, Any]] = []
    heads = [LedgerHead(-1, FIRST)]
    for number, line in enumerate(content.split(b"\n")[:-1]):
        told = _told(line, number)
        if told["number"] != number or told["previous"] != heads[-1].hash:
            raise StorageError(f"the budget's entry {number} does not follow from the one before it")
        heads.append(LedgerHead(number, told["hash"]))
        found.append(told)
    if not found:
        raise StorageError("the budget's ledger is empty")
    return ReleaseLedger(_terms(found[0]), [_entry(told) for told in found[1:]], heads[1:])


def _told(line: bytes, number: int) -> dict[str, Any]:
    try:
        told = json.loads(line)
        spelled = canonical.dump(told) == line
        written = told.pop("hash")
        if spelled and written == _hash(told):
            return {"number": told["number"], "previous": told["previous"], **told, "hash": written}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise StorageError(f"the budget's entry {number} is not what was written")


def _terms(told: Mapping[str, Any]) -> BudgetTerms:
    try:
        return BudgetTerms(
            told["data"],
            told["declaration"],
            Fraction(told["epsilon"]),
            Fraction(told["delta"]),
            Neighbours(told["neighbours"]),
            told["records"],
        )
    except (KeyError, ValueError, TypeError):
        raise StorageError("the budget's entry 0 does not say what it is about; is this file a budget?") from None


def _entry(told: Mapping[str, Any]) -> ReleaseEntry:
    try:
        rho = told["charge"]["rho"]
        charge = Charge(
            Fraction(told["charge"]["epsilon"]),
            Fraction(told["charge"]["delta"]),
            None if rho is None else Fraction(rho),
        )
        return ReleaseEntry(told["number"], told["question"], charge, told["answer"])
    except (KeyError, ValueError, TypeError):
        raise StorageError(f"the budget's entry {told['number']} has no question, charge and answer") from None
