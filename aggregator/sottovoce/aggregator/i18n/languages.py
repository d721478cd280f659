"""Choose the language of a page from request headers, and read the texts of the languages."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from sottovoce.shared.languages import LANGUAGES as OWN_NAMES

LANGUAGES = tuple(OWN_NAMES)
"""Languages of the catalogues; the first is the fallback."""

RIGHT_TO_LEFT = frozenset({"ar"})

LANGUAGE_COOKIE = "sottovoce-language"
"""Name of the cookie with the language that a researcher chose."""


def sections(language: str) -> dict[str, dict[str, Any]]:
    """Return the texts in one of ``LANGUAGES`` by section and key; those of ``error_pages`` are lists of sentences."""
    catalogue = files("sottovoce.aggregator.i18n").joinpath(f"catalogues/{language}.json")
    return dict(json.loads(catalogue.read_text(encoding="utf-8")))


def direction(tag: str) -> str:
    """Return the direction of writing for HTML, ``ltr`` or ``rtl``, of a language's tag, such as ``ar-EG``."""
    return "rtl" if tag.partition("-")[0] in RIGHT_TO_LEFT else "ltr"


def language_of(accept_language: str) -> str:
    """Return the preferred language of an ``Accept-Language`` header that the pages have, else the fallback."""
    by_name = {tag.partition("-")[0].lower(): tag for tag in LANGUAGES}
    wanted = sorted(accept_weights(accept_language), key=lambda wish: -wish[1])
    known = (by_name.get(tag.partition("-")[0]) for tag, weight in wanted if weight > 0)
    return next((tag for tag in known if tag), LANGUAGES[0])


def cookie_language(cookies: str) -> str:
    """Return the chosen language from a ``Cookie`` header; "" if there is none."""
    found = re.search(rf"(?:^|; ?){LANGUAGE_COOKIE}=([A-Za-z-]+)(?:;|$)", cookies)
    return found[1] if found and found[1] in LANGUAGES else ""


def accept_weights(header: str) -> Iterator[tuple[str, float]]:
    """Parse a header such as ``a, b;q=0.5`` into lower-case names with weights; an invalid weight counts as 0."""
    for part in header.lower().split(","):
        name, _, parameters = part.partition(";")
        weight = parameters.replace(" ", "").partition("q=")[2].partition(";")[0]
        try:
            yield name.strip(), float(weight or "1")
        except ValueError:
            yield name.strip(), 0.0
