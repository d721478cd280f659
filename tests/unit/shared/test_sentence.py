"""A sentence is its English text for everything that takes texts, and knows how it was made."""

import json
import pickle

from sottovoce.shared.errors import EstimateError, Sentence


def test_sentence_is_a_text_that_knows_its_pattern_and_values() -> None:
    """Whole numbers are grouped, and several names stand beside each other."""
    told = Sentence("'{variable}': fewer than {least} said {categories}", variable="year", least=1200,
                    categories=("first", "second"))  # fmt: skip

    assert told == "'year': fewer than 1,200 said first, second"
    assert json.dumps([told]) == "[\"'year': fewer than 1,200 said first, second\"]"
    assert (told.pattern, told.values["least"]) == ("'{variable}': fewer than {least} said {categories}", 1200)


def test_error_keeps_the_sentence() -> None:
    """Whoever shows it can say it in another language; everybody else reads it in English."""
    told = Sentence("no report contains '{variable}'", variable="year")
    error = EstimateError(told)

    assert str(error) == "no report contains 'year'"
    assert error.args[0] is told
    assert EstimateError("no report contains '{variable}'", variable="year").args[0].values == {"variable": "year"}
    assert pickle.loads(pickle.dumps(EstimateError("{n}", n=3))).args[0].pattern == "{n}"  # noqa: S301


def test_sentence_survives_the_way_between_processes() -> None:
    """Also one whose text has braces, which are no places."""
    told = pickle.loads(pickle.dumps(Sentence("{field}: {reason}", field="choices", reason="write {en: ...}")))  # noqa: S301

    assert (told, told.pattern) == ("choices: write {en: ...}", "{field}: {reason}")
    assert told.values == {"field": "choices", "reason": "write {en: ...}"}


def test_sentences_in_a_row_are_parted() -> None:
    """By semicolons, since they have commas of their own."""
    first, second = Sentence("one, two"), Sentence("three")

    assert Sentence("all: {reasons}", reasons=(first, second)) == "all: one, two; three"
