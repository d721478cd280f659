"""Languages of the program and of a survey, and its texts that have no translation."""

import re
from collections.abc import Iterator

from sottovoce.shared.spec import Survey, TextMap
from sottovoce.shared.survey_keys import RESEARCHER_TEXTS, SURVEY_TEXTS

LANGUAGES = {
    "en": "English",
    "ar": "العربية",
    "de": "Deutsch",
    "es": "Español",
    "fr": "Français",
    "hi": "हिन्दी",
    "it": "Italiano",
    "pt": "Português",
    "zh-Hans": "简体中文",
}
"""Languages of form, terminal and studio, each by its own name; the first is the fallback."""

REVIEWED = frozenset({"en"})
"""Languages whose sentences a native speaker has written or reviewed."""

_TEXTS = {*SURVEY_TEXTS, *RESEARCHER_TEXTS, "label", "hint", "text"} - {"name"}
"""The keys of a survey's document that hold a text by language; ``name`` does so for who asks, and nowhere else."""

_NAMED = ("visible_if", "any_of", "when_absent", "when", "links")
"""Keys that hold maps by names of the author's, which may be spelled like any key."""


# Languages in which a comma stands before the tenths, and marks at the end of a sentence where it is no full stop.
_COMMA, FULL_STOPS = frozenset({"de", "es", "fr", "it", "pt"}), {"hi": "।", "zh-Hans": "。"}


def numerals(text: str, language: str) -> str:
    """Return a number with the decimal sign of one of ``LANGUAGES``; other text as it is."""
    return text.replace(".", ",") if language in _COMMA and re.fullmatch(r"-?[0-9]+\.[0-9]+", text) else text


def texts_of(survey: Survey) -> dict[str, TextMap]:
    """Return every text of the survey by its JSON pointer, in the order of the document."""
    return dict(_texts(survey.document, ""))


def languages_of(survey: Survey) -> list[str]:
    """Return the tag of every language in which there is any text, the default language first."""
    tags = {tag for texts in texts_of(survey).values() for tag in texts}
    return [survey.default_language, *sorted(tags - {survey.default_language})]


def missing_texts(survey: Survey) -> dict[str, list[str]]:
    """Return for each language the JSON pointers of the texts not in it; without a title it is not offered at all."""
    texts = texts_of(survey)
    return {tag: [pointer for pointer, written in texts.items() if tag not in written] for tag in languages_of(survey)}


def text_tags(document: object) -> set[str]:
    """Return the tags of all languages in a document that may be no valid survey yet."""
    return {tag for _, written in _texts(document, "") if isinstance(written, dict) for tag in written}


def _texts(node: object, pointer: str) -> Iterator[tuple[str, TextMap]]:
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from _texts(item, f"{pointer}/{index}")
    elif isinstance(node, dict):
        for key, item in node.items():
            if key in _TEXTS or pointer == "/after/by_arm" or (key == "name" and pointer == "/researcher"):
                yield f"{pointer}/{key}", item
            elif key not in _NAMED:
                yield from _texts(item, f"{pointer}/{key}")
