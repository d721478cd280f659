"""Choose the public questions whose answers files of reports have, by how many people would be alone with theirs.

Alone       Of n people spread evenly over k combinations of public answers, a share of (1 - 1/k)^(n - 1) is expected
            to be alone in theirs. Files leave rare answers out as ``few``, so further columns would mostly say that.
Order       The survey's. A question is in the files if with it at most 5 % are alone, or if its card says so.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sottovoce.shared import canonical
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import FORMAT
from sottovoce.shared.survey_keys import WITHOUT_EFFECT

MOST_ALONE = 0.05
"""Largest share of people that may be expected alone in their combination of public answers."""
UNPLANNED = 100
"""Number of people assumed where none is planned."""


@dataclass(frozen=True)
class FileColumn:
    """A public question as a possible column of files.

    Attributes:
        name: its name.
        values: number of its answers.
        alone: expected share of people alone in their combination, with this question and the columns before it.
        groups: most groups of its answers that would fit; 0 if not even two do, or if the question itself fits.
        shown: True if files have it.
    """

    name: str
    values: int
    alone: float
    groups: int
    shown: bool


def file_columns(
    items: Sequence[Mapping[str, Any]], people: int | None, *, chooses: bool, arms: int = 1
) -> Iterator[FileColumn]:
    """Yield the public questions among items of a survey's document.

    Args:
        items: what of ``in_files`` says true or false stays so.
        people: planned number; None without one.
        chooses: others are shown if they fit.
        arms: number of the survey's arms, of which files always have each person's.
    """
    together, n = max(arms, 1), people or UNPLANNED
    for item in items:
        values = _values(canonical.dump({**_BARE, "questions": [_alone(item)]})) if item.get("public") else 0
        if not values:
            continue
        alone = _share(together * values, n)
        fits = alone <= MOST_ALONE
        shown = bool(item.get("in_files", chooses and fits) or item.get("cohort"))
        room = 0 if fits else int(-1 / math.expm1(math.log(MOST_ALONE) / max(n - 1, 1))) // together
        yield FileColumn(str(item["name"]), values, alone, room if room > 1 else 0, shown)
        together *= values if shown else 1


def with_file_columns(document: Mapping[str, Any], people: int | None) -> dict[str, Any]:
    """Return a survey's document with ``in_files`` for the public questions that files are to have."""
    columns = file_columns(document["questions"], people, chooses=True, arms=len(document.get("arms", ())))
    shown = {column.name for column in columns if column.shown}
    return {**document, "questions": [_chosen(item, shown) for item in document["questions"]]}


def _chosen(item: Mapping[str, Any], shown: set[str]) -> dict[str, Any]:
    found = {key: value for key, value in item.items() if key != "in_files"}
    return {**found, "in_files": True} if item.get("name") in shown and not item.get("cohort") else found


def _share(combinations: int, people: int) -> float:
    return float((1 - 1 / combinations) ** (people - 1)) if combinations > 1 else float(people == 1)


_TEXT = {"en": "q"}
_BARE = {"format": FORMAT, "name": "q", "title": _TEXT, "default_language": "en", "revision": 1}


def _alone(item: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in item.items() if key not in WITHOUT_EFFECT}, "label": _TEXT}


@lru_cache(maxsize=4096)
def _values(document: bytes) -> int:
    """Return the number of values of a survey's only question; 0 where it is not complete."""
    try:
        return parse_survey(canonical.load(document)).questions[0].domain.size
    except (SpecError, IndexError):
        return 0
