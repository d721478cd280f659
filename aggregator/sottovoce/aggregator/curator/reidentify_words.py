"""Output of ``curator reidentify``, as JSON and as lines of text."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sottovoce.aggregator.curator.reidentification import (
    PublishedTable,
    coarse_rows,
    coarsened,
    combination_of,
    joined,
    one_value,
    unique_in,
)
from sottovoce.shared.errors import SpecError

OWN_EYES = "exact figures about the data: for their curator alone, and no release"
_SHOWN = 5


def reidentify_document(table: PublishedTable, other: PublishedTable | None, k: int) -> dict[str, Any]:
    """Return the re-identification risks of a table as JSON.

    ``other`` is a second table that an attacker may have; ``k`` is the group size that the suggested bands should
    reach.
    """
    whole = combination_of(table, table.public)
    found: dict[str, Any] = {
        "records": table.records.count,
        "public": list(table.public),
        "k": whole.k,
        "alone": whole.alone,
        "unique_in": {},
        "notes": [OWN_EYES],
    }
    for count in range(1, min(3, len(table.public)) + 1):
        people, combinations = unique_in(table, count)
        rows = [{"columns": list(each.columns), "k": each.k, "alone": each.alone} for each in combinations]
        found["unique_in"][str(count)] = {"people": people, "combinations": rows}
    if table.sensitive is not None:
        found["one_value"] = {"sensitive": table.sensitive, **one_value(table)._asdict()}
    if other is not None:
        found["joined"] = joined(table, other)._asdict()
    columns, left = coarsened(table, k)
    how = {name: "left out" if column is None else column.how for name, column in columns.items()}
    found["coarsening"] = {"k": k, "columns": how, "people_in_smaller_groups": left}
    return found


def reidentify_lines(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of text for a document of ``reidentify_document``."""
    yield f"{document['records']:,} people; public: {', '.join(document['public'])}."
    yield f"All of these together: the smallest group has k = {document['k']}; {_people(document['alone'])} alone."
    for count, found in document["unique_in"].items():
        yield f"Alone in some {count} of them: {_people(found['people'])}."
        for each in found["combinations"][:_SHOWN]:
            yield f"  {' + '.join(each['columns'])}: k = {each['k']}, {_people(each['alone'])} alone"
    if "one_value" in document:
        one = document["one_value"]
        people = _people(one["people"])
        yield f"Groups in which {one['sensitive']} is one and the same: {one['groups']:,}, with {people};"
        yield "  theirs is known without finding anybody."
        yield f"l-diversity: l = {one['l']}, the fewest different values of {one['sensitive']} in a group."
    if "joined" in document:
        both = document["joined"]
        people, known = _people(both["people"]), _people(both["known"])
        yield f"The second table has the group of {people}. The value of {known} is known to anyone who knows"
        yield f"  that they are in both; k is {both['k']} then."
    yield from _coarse_lines(document["coarsening"])
    yield from (f"Note: {note}." for note in document["notes"])


def write_coarsened(table: PublishedTable, k: int, out: Path) -> None:
    """Write the table, coarsened to groups of at least k people, as a new CSV file.

    Raises SpecError if some people are in smaller groups however coarse the table is, or the file exists.
    """
    columns, left = coarsened(table, k)
    if left:
        raise SpecError(f"{_people(left)} would still be in groups smaller than {k}; nothing was written")
    rows = coarse_rows(table, columns)
    try:
        with out.open("x", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
    except FileExistsError:
        raise SpecError(f"{out} exists; name a new file") from None


def _coarse_lines(coarse: Mapping[str, Any]) -> Iterator[str]:
    coarser = [f"{name} {how}" for name, how in coarse["columns"].items() if how]
    yield f"For groups of {coarse['k']} and more: {'; '.join(coarser) or 'nothing needs to be coarser'}."
    if coarse["people_in_smaller_groups"]:
        yield f"  {_people(coarse['people_in_smaller_groups'])} would still be in smaller ones: there are too few."


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"
