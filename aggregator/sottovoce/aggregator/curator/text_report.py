"""Output of the curator commands for a bound data set, its budget and an answer, as JSON and as lines of text."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.curator.budget import Answered, spent
from sottovoce.aggregator.curator.declaration import DataRecords
from sottovoce.aggregator.curator.ledger.ledger_format import BudgetTerms, ReleaseEntry, ReleaseLedger, plans_in
from sottovoce.shared import canonical

NO_RELEASE = (
    "these counts of what does not fit are exact, and no release: they are for the data's curator alone, "
    "and no verb shows them again"
)


WITH_INTERVALS = frozenset({"count", "counts", "sum", "mean", "vector"})
"""Values of an answer that have the unit of its error bound."""


def decimal(value: Fraction) -> str:
    """Format a number with six significant digits."""
    return f"{float(value):.6g}"


def bound_document(records: DataRecords, terms: BudgetTerms, notes: Sequence[str]) -> dict[str, Any]:
    """Return the JSON output of ``curator bind``; ``notes`` are about delta and the file of encoded records."""
    return {
        "records": records.count,
        "not_as_declared": dict(records.misfits),
        "budget": terms.document(),
        "notes": [NO_RELEASE, *notes],
    }


def bound_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of text for a document of ``bound_document``."""
    yield f"{document['records']:,} records."
    for name, count in document["not_as_declared"].items():
        yield f"  {name}: {count:,} not as declared"
    yield from _terms_lines(document["budget"])
    yield from (f"Note: {note}." for note in document["notes"])


def _terms_lines(terms: Mapping[str, Any]) -> Iterator[str]:
    public = "n is not public" if terms["records"] is None else f"n = {terms['records']:,} is public"
    epsilon, delta = decimal(Fraction(terms["epsilon"])), decimal(Fraction(terms["delta"]))
    yield f"Budget, fixed for good: epsilon {epsilon}, delta {delta}, neighbours {terms['neighbours']} ({public})."


def budget_document(ledger: ReleaseLedger) -> dict[str, Any]:
    """Return the terms, the spent and remaining epsilon, the head and the entries of a budget as JSON."""
    found = spent(ledger)
    return {
        "budget": ledger.terms.document(),
        "spent": {"epsilon": str(found.epsilon), "account": found.account},
        "left": str(ledger.terms.epsilon - found.epsilon),
        "head": str(ledger.head),
        "plans": [
            vars(each) | {"epsilon": str(each.epsilon), "charge": each.charge.document()} for each in plans_in(ledger)
        ],
        "entries": [
            {"number": each.number, "epsilon": str(each.charge.epsilon), "question": each.question}
            | ({} if each.plan is None else {"plan": each.plan})
            for each in ledger.entries
        ],
    }


def budget_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of text for a document of ``budget_document``."""
    yield from _terms_lines(document["budget"])
    yield f"Spent: epsilon {decimal(Fraction(document['spent']['epsilon']))} (by {document['spent']['account']})."
    yield f"Left: epsilon {decimal(Fraction(document['left']))}."
    for each in document["plans"]:
        cost, of_each = (decimal(Fraction(written)) for written in (each["charge"]["epsilon"], each["epsilon"]))
        yield (
            f"Plan, entry {each['entry']}: {each['answers']:,} answers of epsilon {of_each} for {cost} in all, paid"
            f" whole; {each['used']:,} given."
        )
    for each in document["entries"]:
        paid = f" (of plan {each['plan']})" if "plan" in each else ""
        epsilon = decimal(Fraction(each["epsilon"]))
        question = canonical.dump({key: value for key, value in each["question"].items() if key != "epsilon"})
        yield f"  {each['number']}. epsilon {epsilon}{paid}: {question.decode()}"
    yield f"Head: {document['head']}"


def answer_document(answered: Answered, names: Sequence[str]) -> dict[str, Any]:
    """Return an answer with its charge and the total spent as JSON; ``names`` are labels of its numbers."""
    entry = answered.entry
    return {
        "entry": entry.number,
        "recorded_before": answered.again,
        **entry_document(entry, names),
        **({} if entry.plan is None else {"plan": entry.plan}),
        "spent": {"epsilon": str(answered.spent.epsilon), "account": answered.spent.account},
    }


def entry_document(entry: ReleaseEntry, names: Sequence[str]) -> dict[str, Any]:
    """Return question, answer, intervals and charge of an entry as JSON; ``names`` are labels of its numbers."""
    return {
        "question": entry.question,
        "names": list(names),
        **entry.answer,
        **intervals(entry.answer),
        "charge": entry.charge.document(),
    }


def intervals(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return intervals that hold the true numbers of an answer, all together with probability .95; empty if it has
    none.

    They follow from the noisy numbers and the public error bound alone, so that they cost nothing.
    """
    bound = answer["error"].get("t")
    if bound is None:
        return {}
    found = {key: value for key, value in answer["values"].items() if key in WITH_INTERVALS}
    return {"intervals": {key: _around(value, Fraction(bound)) for key, value in found.items()}} if found else {}


def _around(value: Any, bound: Fraction) -> list[Any]:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_around(each, bound) for each in value]
    # Errors of whole numbers are whole, and below the bound.
    width = bound - 1 if isinstance(value, int) else bound
    low, high = Fraction(value) - width, Fraction(value) + width
    return [int(low), int(high)] if isinstance(value, int) else [str(low), str(high)]


def _between(limits: Sequence[object]) -> str:
    return " ({} to {})".format(*map(_plain, limits)) if limits else ""


def _plain(value: object) -> str:
    return decimal(Fraction(value)) if isinstance(value, str) else str(value)


def answer_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of text for a document of ``answer_document``."""
    found = document.get("intervals", {})
    for key, value in document["values"].items():
        limits = found.get(key, [])
        if isinstance(value, list) and len(value) == len(document["names"]):
            cells = zip(document["names"], value, [_between(each) for each in limits] or [""] * len(value), strict=True)
            yield from (f"{name}: {each}{limit}" for name, each, limit in cells)
        elif isinstance(value, Mapping):
            yield from (f"{name}: {each}" for name, each in value.items())
        else:
            yield f"{key}: {_number(value)}{_between(limits)}"
    yield from _error_lines(document["error"], "")
    yield document["sensitivity"]
    yield from (f"Note: {note}." for note in document["notes"])
    charge, total = document["charge"], decimal(Fraction(document["spent"]["epsilon"]))
    paid = f"paid for by plan {document['plan']}" if "plan" in document else "recorded"
    cost = "recorded before, and cost nothing now" if document["recorded_before"] else paid
    epsilon, delta = decimal(Fraction(charge["epsilon"])), decimal(Fraction(charge["delta"]))
    yield f"Entry {document['entry']} ({cost}): epsilon {epsilon}, delta {delta}; spent in all: {total}."


def _error_lines(error: Mapping[str, Any], of: str) -> Iterator[str]:
    if "t" in error:
        yield f"Error{of}: with probability .95 every error is below {_number(error['t'])}."
    for part, below in error.items():
        if isinstance(below, Mapping) and "t" in below:
            yield from _error_lines(below, f" of {part}")


def _number(value: object) -> str:
    """Format a value as it is; a fraction of the grid also as a decimal."""
    return f"{float(Fraction(value)):.6g} ({value})" if isinstance(value, str) and "/" in value else str(value)
