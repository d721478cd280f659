"""Oldest release that can answer a survey; older ones refuse its keys that they do not know."""

from collections.abc import Iterator
from typing import Any

from sottovoce.shared.spec import Survey

SINCE = {
    "0.2.0": ("optimal_unary", "date"),
    "0.3.0": ("after", "any_of", "researcher", "notice", "delete_on", "replaces", "trial", "fresh_samples"),
}
"""Keys and values of the survey file that were added after its first format, by release, oldest first."""


def oldest_release(survey: Survey) -> tuple[str, list[str]] | None:
    """Return the oldest release that can answer the survey, with the words that need it; None if every release can."""
    used = set(_words(survey.document))
    for release, words in reversed(SINCE.items()):
        if needing := [word for word in words if word in used]:
            return release, needing
    return None


def _words(document: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a survey's document
    """Yield keys, types and mechanism names of a survey; not the author's names, which could equal one of them."""
    yield from document
    yield from document["retention"]
    for item in document["questions"]:
        yield from (*item, item["type"])
        asked = item.get("of", item)
        yield from (asked.get("type", ""), asked.get("mechanism", {}).get("name", ""))
