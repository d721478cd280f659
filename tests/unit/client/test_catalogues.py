"""Every catalogue says what the English one says: the same keys, the same placeholders, in its own language."""

import json
import re
import unicodedata
from collections.abc import Callable
from importlib.resources import files

import pytest
from sottovoce.client.bundle import read, sentences
from sottovoce.shared.languages import LANGUAGES

from tests.page_files import page_files

ENGLISH = "en"
OTHERS = [tag for tag in LANGUAGES if tag != ENGLISH]
SCRIPTS = {"ar": "ARABIC", "hi": "DEVANAGARI", "zh-Hans": "CJK"}
SAME = {
    "no": {"es", "it"},
    "link_prompt": {"de", "it", "pt"},
    "question": {"fr"},
    "questions_title": {"fr"},
    "question_epsilon": {"de", "fr"},
    "receipt_bytes": {"de", "es", "pt"},
}
"""Texts that are spelled as in English, and where."""
NAMES = {"Sottovoce", "SHA", "https", "epsilon", "Cookie", "Esc", "IP", "Ctrl", "C"}
"""Latin words that stand in every script."""


def catalogue(tag: str) -> dict[str, str]:
    """The sentences of one language, those that few surveys need included."""
    return {key: text for section in sentences(tag).values() for key, text in section.items()}


def different(part: Callable[[str], list[str]]) -> list[tuple[str, str]]:
    """Language and key of the sentences of which this part is not that of the English one."""
    english = {key: part(text) for key, text in catalogue(ENGLISH).items()}
    return [(tag, key) for tag in OTHERS for key, text in catalogue(tag).items() if part(text) != english[key]]


def test_form_of_a_direct_arm_says_that_its_counts_are_seen() -> None:
    """In a sentence of its own, in every language: after how all or some of the answers are sent."""
    for tag in LANGUAGES:
        said = catalogue(tag)
        chance, *others = (said[f"arm_{key}"] for key in ("randomized", "direct", "mixed"))
        parts = [len(re.findall("[.。।؟;；؛]|: ", text)) for text in (chance, *others)]
        assert parts[0] < min(parts[1:]), tag
        # Not of a mixture, which may be the same in every arm.
        assert [text[:5] == chance[:5] for text in others] == [True, False], tag
    assert "The researchers see how many people gave each answer, however few." in catalogue(ENGLISH)["arm_direct"]


def test_languages_of_the_list_are_spoken() -> None:
    """The form, whose script has a list of its own, speaks them too."""
    assert sorted(page_files().keys() & {f"catalogues/{tag}.json" for tag in LANGUAGES}) == sorted(
        f"catalogues/{path.name}" for path in files("sottovoce.client").joinpath("web", "catalogues").iterdir()
    )
    listed = re.search(r"CATALOGUES = (\[.*\]);", read("form/words.js"))
    assert listed
    assert json.loads(listed[1]) == [*LANGUAGES]


def test_catalogues_are_flat_text() -> None:
    """Sentences by key, nothing else and none empty, so that other programs can fill them too."""
    for tag in LANGUAGES:
        sentences = catalogue(tag)

        # What stands between two sentences is a space, or nothing.
        blank = [key for key, text in sentences.items() if not isinstance(text, str) or not text.strip()]
        assert blank == ["gap"]
        assert sentences["language"] == tag
        # No markup, no direction marks that the page does not set itself, and letters in their usual form.
        joined = "".join(sentences.values())
        assert re.findall(r"[<>\u200e\u200f\u202a-\u202e\u2066-\u2069]", joined) == [], tag
        assert unicodedata.normalize("NFC", joined) == joined, tag


def test_every_key_is_in_one_section() -> None:
    """Whichever part of the page comes later, its sentences are its own; the page's are served whole."""
    files_served = page_files()
    for tag in LANGUAGES:
        assert sum(map(len, sentences(tag).values())) == len(catalogue(tag)), tag
        assert json.loads(files_served[f"catalogues/{tag}.json"].body) == sentences(tag)[""]


def test_catalogues_have_every_sentence_in_order() -> None:
    assert [tag for tag in OTHERS if list(catalogue(tag)) != list(catalogue(ENGLISH))] == []


@pytest.mark.parametrize("pattern", [r"\{(\w+)\}", r"\d+"], ids=["placeholders", "numbers"])
def test_sentences_have_the_placeholders_and_numbers_of_the_english_ones(pattern: str) -> None:
    """As often: a number that is left out would be a promise that is not made, and none is a translator's own."""
    assert different(lambda text: sorted(re.findall(pattern, text))) == []


def test_nothing_was_left_in_english() -> None:
    """Where a text is the English one, that is known; signs and the language's own tag aside."""
    english = catalogue(ENGLISH)
    same = {(key, tag) for tag in OTHERS for key, text in catalogue(tag).items()
            if text == english[key] and re.search(r"\w", text)}  # fmt: skip
    assert same == {(key, tag) for key, tags in SAME.items() for tag in tags}


@pytest.mark.parametrize(("tag", "script"), SCRIPTS.items())
def test_sentences_are_in_their_script(tag: str, script: str) -> None:
    for key, text in catalogue(tag).items():
        # Commands are typed as they are.
        bare = re.sub(r"\{\w+\}|`[^`]*`", "", text)
        if key == "language" or not re.search(r"\w", bare):
            continue
        assert set(re.findall("[A-Za-z]+", bare)) <= NAMES
        assert any(unicodedata.name(letter, "").startswith(script) for letter in bare) or bare.strip() in NAMES, key


def test_no_sign_is_torn_off() -> None:
    """The space before a French colon, or a sign of percent, does not break the line."""
    assert [text for text in catalogue("fr").values() if re.search(r" [:;?!»]|« ", text)] == []

    torn = [(tag, key) for tag in LANGUAGES for key, text in catalogue(tag).items() if re.search(r"[\d}] %", text)]
    assert torn == []
