"""What invitation, poster, ethics text and methods section say of privacy is licensed by the survey, and complete."""

from functools import cache

import pytest
from sottovoce.aggregator.authoring.invitation_texts import ethics, letter
from sottovoce.aggregator.export.catalogue import protection_in_words
from sottovoce.aggregator.i18n import translator
from sottovoce.aggregator.invitations.posters import PosterContent, poster
from sottovoce.shared.spec import Survey

from tests.statements.table import ETHICS, LETTER, POSTER, Facts, methods
from tests.statements.test_statements import EACH_TIME, compare, decorated, marked

LINK = "https://survey.example/s/x"


@pytest.fixture(autouse=True)
def keys_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every catalogue say the keys of its sentences."""
    monkeypatch.setattr(translator, "catalogue", lambda _: KEYS)


KEYS = marked(dict(translator.catalogue("en")))


@cache
def surveys() -> list[Survey]:
    return [decorated(seed) for seed in range(3 * EACH_TIME)]


def test_letters_posters_and_ethics_texts_state_what_is_true() -> None:
    wrong = {}
    for survey in surveys():
        facts, words = Facts.of(survey), translator.Words("en")
        found = compare([letter(survey, LINK, "en")], LETTER, facts, "letter")
        found += compare([ethics(survey, "en")], ETHICS, facts, "ethics")
        found += compare([poster(PosterContent(survey, 0, words), LINK)], POSTER, facts, "poster")
        wrong |= {survey.name: found} if found else {}

    assert wrong == {}


def test_methods_state_what_is_true() -> None:
    """Each sentence names just the questions and arms of which it is true."""
    for survey in surveys():
        said = protection_in_words(survey).removesuffix(".").split(". ")
        expected = methods(Facts.of(survey))

        assert len(said) == len(expected), survey.name
        assert {start for start in expected for one in said if one.startswith(start)} == expected, survey.name
