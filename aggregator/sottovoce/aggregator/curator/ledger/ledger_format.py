"""Format of a budget's ledger: a hash chain of lines, one JSON object each.

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
"""Value of ``previous`` in line 0."""


@dataclass(frozen=True)
class BudgetTerms:
    """Terms of a budget, fixed when it is opened; only the declaration may be corrected, until the first answer.

    Attributes:
        data: SHA-256 of the data.
        declaration: digest of the declaration.
        epsilon, delta: limits for the total cost of all answers.
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
    """An answered question.

    Attributes:
        number: from 1.
        question: in canonical form.
        answer: ``values``, ``sensitivity``, ``error`` and ``notes`` of the release.
        plan: number of the entry of the plan that has paid for the answer; None if the budget pays.
    """

    number: int
    question: Mapping[str, Any]
    charge: Charge
    answer: Mapping[str, Any]
    plan: int | None = None


@dataclass(frozen=True)
class ReleaseLedger:
    """A ledger whose hash chain was checked; ``heads`` has number and hash of each line, by its number."""

    terms: BudgetTerms
    entries: Sequence[ReleaseEntry]
    heads: Sequence[LedgerHead]

    @property
    def head(self) -> LedgerHead:
        """Number and hash of the last line."""
        return self.heads[-1]

    def answer_to(self, question: Mapping[str, Any]) -> ReleaseEntry | None:
        """Return the entry that answered this question, or None."""
        asked = canonical.dump(question)
        return next((entry for entry in self.entries if canonical.dump(entry.question) == asked), None)


def first_line(terms: BudgetTerms) -> bytes:
    """Return line 0 of a ledger."""
    content = {
        "format": FORMAT,
        "data": terms.data,
        "declaration": terms.declaration,
        "epsilon": str(terms.epsilon),
        "delta": str(terms.delta),
        "neighbours": terms.neighbours.value,
        "records": terms.records,
    }
    return _line(content, 0, FIRST)


def entry_line(question: Mapping[str, Any], release: Release, before: LedgerHead, plan: int | None = None) -> bytes:
    """Return the line of an entry; ``question`` is in canonical form, ``before`` is the line before it.

    ``plan`` is the number of the entry of the plan that has paid for it, or None.
    """
    charge, rho = release.charge, release.charge.rho
    content = {
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
        **({} if plan is None else {"plan": plan}),
    }
    return _line(content, before.number + 1, before.hash)


def _line(content: Mapping[str, Any], number: int, previous: str) -> bytes:
    whole = {"number": number, "previous": previous, **content}
    return canonical.dump({**whole, "hash": _hash(whole)}) + b"\n"


def _hash(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(canonical.dump(content)).hexdigest()


def parse_ledger(content: bytes) -> ReleaseLedger:
    """Parse a ledger of complete lines and check its hash chain.

    Raises StorageError, which names the line, if one was changed, dropped, swapped or added.
    """
    found: list[dict[str, Any]] = []
    heads = [LedgerHead(-1, FIRST)]
    for number, line in enumerate(content.split(b"\n")[:-1]):
        fields = _parse_line(line, number)
        if fields["number"] != number or fields["previous"] != heads[-1].hash:
            raise StorageError(f"the budget's entry {number} does not follow from the one before it")
        heads.append(LedgerHead(number, fields["hash"]))
        found.append(fields)
    if not found:
        raise StorageError("the budget's ledger is empty")
    return ReleaseLedger(_terms(found[0]), [_entry(fields) for fields in found[1:]], heads[1:])


def _parse_line(line: bytes, number: int) -> dict[str, Any]:
    try:
        content = json.loads(line)
        spelled = canonical.dump(content) == line
        written = content.pop("hash")
        if spelled and written == _hash(content):
            return {"number": content["number"], "previous": content["previous"], **content, "hash": written}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise StorageError(f"the budget's entry {number} is not what was written")


def _terms(content: Mapping[str, Any]) -> BudgetTerms:
    try:
        return BudgetTerms(
            content["data"],
            content["declaration"],
            Fraction(content["epsilon"]),
            Fraction(content["delta"]),
            Neighbours(content["neighbours"]),
            content["records"],
        )
    except (KeyError, ValueError, TypeError):
        raise StorageError("the budget's entry 0 does not say what it is about; is this file a budget?") from None


def _entry(content: Mapping[str, Any]) -> ReleaseEntry:
    try:
        rho = content["charge"]["rho"]
        charge = Charge(
            Fraction(content["charge"]["epsilon"]),
            Fraction(content["charge"]["delta"]),
            None if rho is None else Fraction(rho),
        )
        return ReleaseEntry(content["number"], content["question"], charge, content["answer"], content.get("plan"))
    except (KeyError, ValueError, TypeError):
        raise StorageError(f"the budget's entry {content['number']} has no question, charge and answer") from None
