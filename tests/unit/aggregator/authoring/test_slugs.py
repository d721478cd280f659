"""Automatic names of questions: short, telling, unique, and valid in the statistics programs."""

import keyword

import pytest
from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.slugs import LONGEST_QUESTION, question_name
from sottovoce.aggregator.authoring.to_survey import with_slugs
from sottovoce.aggregator.export.statistics_files import allowed_names

TEXTS = {
    "en": (
        "During the last twelve months, have you ever copied from another student in an exam?",
        "copied_another_student",
    ),
    "de": ("Haben Sie in den letzten zwölf Monaten in einer Prüfung abgeschrieben?", "prufung_abgeschrieben"),
    "es": ("¿Ha copiado alguna vez en un examen durante los últimos doce meses?", "copiado_examen"),
    "fr": ("Avez-vous déjà triché lors d'un examen ces douze derniers mois ?", "triche_examen"),
    "pt-BR": ("Alguma vez copiou num exame durante os últimos doze meses?", "copiou_exame"),
    "ar": ("هل سبق لك أن غششت في امتحان؟", "q1"),
    "hi": ("क्या आपने कभी परीक्षा में नकल की है?", "q1"),
    "zh-Hans": ("您在考试中作过弊吗？", "q1"),
}


@pytest.mark.parametrize("language", TEXTS)
def test_name_has_the_telling_words(language: str) -> None:
    """Frequent words are left out; a text without Latin letters keeps the default name."""
    text, name = TEXTS[language]
    assert question_name(text, "q1", language) == name


@pytest.mark.parametrize("text", ["If?", "Have you been there?", "3 times a day", "x" * 400, "While", "str5", "Wave"])
def test_name_is_valid_in_every_program(text: str) -> None:
    """Reserved words, digits first, one long word, and only frequent words."""
    name = question_name(text, "q1", "en")
    assert len(name) <= LONGEST_QUESTION
    assert allowed_names([name], 29) == [name]
    assert name.isidentifier()
    assert not keyword.iskeyword(name)


def test_equal_texts_get_different_short_names() -> None:
    """The number of a second one takes the place of the last letters."""
    cards = tuple(DraftItem({"type": "boolean", "name": f"q{n}", "label": {"en": "y" * 60}}) for n in range(12))
    names = [card.name for card in with_slugs(SurveyDraft({}, cards)).cards]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) == LONGEST_QUESTION
