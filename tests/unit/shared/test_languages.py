"""Sentences know how they were made; which texts a survey lacks, and in which language."""

import json
import pickle
from typing import Any

import pytest
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.languages import languages_of, missing_texts, texts_of
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import problems_of, wrong_places
from tests.surveys import document, every_type, survey


def translated() -> dict[str, Any]:
    """A survey in English, in part in French, with one text in Chinese."""
    asked = document(title={"en": "Exams", "fr": "Examens"}, consent={"en": "Voluntary.", "zh-Hans": "自愿。"})
    asked["questions"][0]["label"]["fr"] = "Triché ?"
    asked["questions"][0]["hint"] = {"en": "Ever.", "fr": "Jamais."}
    asked["questions"][1]["choices"][2]["label"]["fr"] = "Plaisir"
    return asked


def test_every_text_is_found_and_no_name_of_the_authors() -> None:
    asked = survey(description={"en": "D"}, consent={"en": "C"}, questions=every_type())
    found = texts_of(asked)

    assert list(found)[:3] == ["/title", "/description", "/consent"]
    labels = sum(1 + len(question.choices) + bool(question.hint) for question in asked.questions)
    assert len(found) == 3 + labels
    assert {"/questions/4/hint", "/questions/1/choices/3/label", "/questions/9/coordinates/1/label"} <= set(found)

    coin = {**document()["questions"][0], "name": "text", "when_absent": "no"}
    second = {**coin, "name": "label", "visible_if": {"text": "yes"}}
    third = {**coin, "name": "hint", "any_of": {"label": "yes"}}
    asked = survey(questions=[coin, second, third], after={"text": {"en": "Help?"}})

    assert list(texts_of(asked)) == ["/title", "/after/text", *(f"/questions/{index}/label" for index in range(3))]


def test_missing_texts_are_told_by_language() -> None:
    asked = parse_survey(translated())

    assert languages_of(asked) == ["en", "fr", "zh-Hans"]
    missing = missing_texts(asked)
    assert missing["en"] == []
    assert missing["fr"] == [
        "/consent",
        "/questions/1/label",
        "/questions/1/choices/0/label",
        "/questions/1/choices/1/label",
        "/questions/2/label",
        "/questions/2/choices/0/label",
        "/questions/2/choices/1/label",
    ]
    assert len(missing["zh-Hans"]) == len(texts_of(asked)) - 1


@pytest.mark.parametrize(
    "tag", ["en", "pt-BR", "zh-Hans", "zh-Hant-TW", "es-419", "sl-rozaj", "de-1996", "haw", "sr-Latn"]
)
def test_well_formed_tags_are_taken(tag: str) -> None:
    assert tag in parse_survey(document(title={"en": "Exams", tag: "T"})).title


@pytest.mark.parametrize(
    "tag",
    [
        "EN",
        "e",
        "english",
        "en-us",
        "EN-US",
        "en_US",
        "zh-hans",
        "zh-CN-Hans",
        "en-AB-CD",
        "en-",
        "-en",
        "i-klingon",
        "x-a",
        "en-x-a",
        "en-u-nu-latn",
        "en ",
        " en",
        "en\n",
        "ｅｎ",
        "",
        "de-1",
        "toString",
        "__proto__",
    ],
)
def test_other_tags_are_refused_and_not_repeated(tag: str) -> None:
    """One language has one spelling, so no text hides behind another."""
    [(place, message)] = problems_of(document(title={"en": "Exams", tag: "sentinel"}))
    assert (place, "sentinel" in message) == ("/title", False)
    assert "/default_language" in wrong_places(document(default_language=tag))


def test_sentence_is_a_text_that_knows_its_pattern_and_values() -> None:
    """Whole numbers are grouped, and several names stand beside each other."""
    told = Sentence("'{variable}': fewer than {least} said {categories}", variable="year", least=1200,
                    categories=("first", "second"))  # fmt: skip

    assert told == "'year': fewer than 1,200 said first, second"
    assert json.dumps([told]) == "[\"'year': fewer than 1,200 said first, second\"]"
    assert (told.pattern, told.values["least"]) == ("'{variable}': fewer than {least} said {categories}", 1200)


def test_sentence_is_kept_by_errors_and_between_processes() -> None:
    told = Sentence("no report contains '{variable}'", variable="year")
    error = EstimateError(told)

    assert str(error) == "no report contains 'year'"
    assert error.args[0] is told
    assert EstimateError("no report contains '{variable}'", variable="year").args[0].values == {"variable": "year"}
    assert pickle.loads(pickle.dumps(EstimateError("{n}", n=3))).args[0].pattern == "{n}"  # noqa: S301

    told = pickle.loads(pickle.dumps(Sentence("{field}: {reason}", field="choices", reason="write {en: ...}")))  # noqa: S301

    assert (told, told.pattern) == ("choices: write {en: ...}", "{field}: {reason}")
    assert told.values == {"field": "choices", "reason": "write {en: ...}"}


def test_sentences_in_a_row_are_parted() -> None:
    """By semicolons, since they have commas of their own."""
    first, second = Sentence("one, two"), Sentence("three")

    assert Sentence("all: {reasons}", reasons=(first, second)) == "all: one, two; three"
