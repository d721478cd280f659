"""Which release of the program can answer a survey: an older one refuses a word that it does not know."""

from collections.abc import Iterator
from typing import Any

from sottovoce.shared.spec import Survey

SINCE = {
    "0.2.0": ("optimal_unary", "date"),
    "0.3.0": ("after", "any_of", "researcher", "notice", "delete_on", "replaces", "trial", "fresh_samples"),
}
"""The words of a survey file that came after its first format, by the release that first read them, oldest first."""


def oldest_release(survey: Survey) -> tuple[str, list[str]] | None:
    """The oldest release that can answer the survey and the words that need it; None where every release can."""
    used = set(_words(survey.document))
    for release, words in reversed(SINCE.items()):
        if needing := [word for word in words if word in used]:
            return release, needing
    return None


def _words(document: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a survey's document
    """Keys, types and names of mechanisms; none of the author's own names, which may be spelled like any of them."""
    yield from document
    yield from document["retention"]
    for item in document["questions"]:
        yield from (*item, item["type"])
        asked = item.get("of", item)
        yield from (asked.get("type", ""), asked.get("mechanism", {}).get("name", ""))
