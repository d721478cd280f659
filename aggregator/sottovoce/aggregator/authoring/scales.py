"""Make the options of a scale from its two ends and their labels, such as 0 = never to 10 = always."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

MOST_POINTS = 21
_EQUALS = " = "


class Scale(NamedTuple):
    """Whole numbers of the two ends, and the labels of these by language, "" for none."""

    first: int
    last: int
    low: Mapping[str, str]
    high: Mapping[str, str]

    def choices(self, tags: Sequence[str]) -> list[dict[str, Any]]:
        """Return the options, each named as its number."""
        ends, points = {self.first: self.low, self.last: self.high}, range(self.first, self.last + 1)
        return [
            {"name": str(point), "label": {tag: _label(point, ends.get(point, {}).get(tag, "")) for tag in tags}}
            for point in points
        ]


def _label(point: int, text: str) -> str:
    return f"{point}{_EQUALS}{text}" if text else str(point)


NEW = Scale(0, 10, {}, {})
"""Scale that a button makes."""


def scale_of(choices: Sequence[Mapping[str, Any]], tags: Sequence[str]) -> Scale | None:
    """Return the scale whose options these are; None if any option has another name or label."""
    names = [str(each.get("name", "")) for each in choices]
    if not 2 <= len(names) <= MOST_POINTS or not _is_scale(names[0], names[-1]):
        return None
    low, high = ({tag: each["label"].get(tag, "").partition(_EQUALS)[2] for tag in tags}
                 for each in (choices[0], choices[-1]))  # fmt: skip
    found = Scale(int(names[0]), int(names[-1]), low, high)
    return found if found.choices(tags) == list(choices) else None


def posted_scale(form: Mapping[str, str], prefix: str, tags: Sequence[str]) -> Scale | None:
    """Return the scale in a card's fields; None if they do not make one: a person may be half done."""
    first, last = (form.get(f"{prefix}.{end}", "").strip() for end in ("first", "last"))
    if not _is_scale(first, last):
        return None
    low, high = ({tag: form.get(f"{prefix}.{end}.{tag}", "").strip() for tag in tags} for end in ("low", "high"))
    return Scale(int(first), int(last), low, high)


def _is_scale(first: str, last: str) -> bool:
    return all(end.isascii() and end.isdigit() and len(end) < 4 for end in (first, last)) and (
        0 < int(last) - int(first) < MOST_POINTS
    )
