"""The studio speaks every language of the list, each with all of its sentences, numbers and plurals."""

import re
from collections import Counter
from datetime import UTC, date, datetime
from importlib.resources import files
from json import loads
from string import Formatter

import pytest
from babel import Locale
from sottovoce.aggregator.accounts import oidc, oidc_http, passkeys
from sottovoce.aggregator.analysis.mixtures.designs import SAME_OF_ALL
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.i18n.translator import ENGLISH, LANGUAGES, Words, sections
from sottovoce.aggregator.studio.account import oidc_pages
from sottovoce.client.bundle import read
from sottovoce.shared.errors import Sentence

CATALOGUES = {language: sections(language) for language in LANGUAGES}
ROOMS = sorted(CATALOGUES["en"].keys() - {"error_pages"})
SECOND_WORDS = {
    "de": r"\bBericht(e|en|s)?\b|zurück(zieh|gezogen)",
    "es": r"\binformes?\b|\baparatos?\b|\bolas?\b|\brondas?\b|\bficheros?\b",
    "fr": r"\brapports?\b(?! de (vraisemblance|cotes)| des parts| avec)|\bsondages?\b",
    "pt": r"\brelatórios?\b|\brelatos?\b|\binquéritos?\b|\bficheiros?\b|\baparelhos?\b|\bvagas?\b|\brodadas?\b",
}
"""What the glossary has another word for: form and studio would speak of one thing as if it were two."""
OTHER_THINGS = {
    "ethics_check_about",
    "did_revision_retired",
    "settings_retired",
    "settings_retire",
    "settings_retire_told",
}
"""The report of an audit, and revisions that are retired."""
PLURAL = re.compile(r"_(zero|one|two|few|many|other)$")


def _sentences(language: str, room: str) -> dict[str, str]:
    return CATALOGUES[language][room]


def _places(sentence: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(sentence) if name}


def _plain(key: str, known: dict[str, str]) -> str:
    """The key without its plural category, where it has one."""
    stem = PLURAL.sub("", key)
    return stem if f"{stem}_other" in known else key


def test_every_language_is_one_file_with_the_same_sections() -> None:
    """In the same order, so that a translator finds a text at the same place."""
    assert sorted(path.name for path in files("sottovoce.aggregator.i18n").joinpath("catalogues").iterdir()) == sorted(
        f"{language}.json" for language in LANGUAGES
    )
    assert [language for language in LANGUAGES if list(CATALOGUES[language]) != list(CATALOGUES["en"])] == []


def test_every_language_has_every_sentence_with_its_places() -> None:
    wrong = []
    for room in ROOMS:
        english = _sentences("en", room)
        for language in LANGUAGES:
            told = _sentences(language, room)
            keys = {_plain(key, told) for key in told} ^ {_plain(key, english) for key in english}
            wrong += [(language, room, key) for key in sorted(keys)]
            for key, sentence in told.items():
                expected = _places(english.get(key) or english.get(f"{_plain(key, english)}_other", ""))
                # "one report" need not name the number.
                if not expected - {"count"} <= _places(sentence) <= expected:
                    wrong.append((language, room, key))
    assert wrong == []


def test_one_word_stands_for_one_thing() -> None:
    """Those of the glossary, in the form as in the studio."""
    found = set()
    for language, second in SECOND_WORDS.items():
        catalogue = loads(read(f"catalogues/{language}.json"))
        told = {key: sentence for key, sentence in catalogue.items() if isinstance(sentence, str)}
        told |= {key: sentence for room in ROOMS for key, sentence in _sentences(language, room).items()}
        found |= {(language, key) for key in told.keys() - OTHER_THINGS if re.search(second, told[key], re.IGNORECASE)}
    assert found == set()


def test_no_sentence_stands_in_two_rooms() -> None:
    """A key says one thing, whichever page asks."""
    keys = Counter(key for room in ROOMS for key in _sentences("en", room))
    assert [key for key, rooms in keys.items() if rooms > 1] == []


def test_plural_categories_are_those_of_the_language() -> None:
    for language in LANGUAGES:
        locale = Locale.parse({"zh-Hans": "zh_Hans"}.get(language, language))
        for room in ROOMS:
            known = _sentences(language, room)
            used = {
                match[1] for key in known if f"{PLURAL.sub('', key)}_other" in known and (match := PLURAL.search(key))
            }
            assert used <= {*locale.plural_form.tags, "other"}, (language, room)


def test_numbers_and_days_are_written_as_the_language_does() -> None:
    assert [Words(tag).number(1234567.25, 1) for tag in ("en", "de", "hi")] == [
        "1,234,567.2", "1.234.567,2", "12,34,567.2"]  # fmt: skip
    assert [Words(tag).percent(0.1234) for tag in ("en", "de", "ar")] == ["12.3%", "12,3\u00a0%", "12.3%"]
    assert Words("fr").percent(0.5, 0) == "50\u00a0%"

    assert Words("de").day(date(2026, 5, 12)) == "12. Mai 2026"
    assert Words("en").moment(datetime(2026, 5, 12, 9, 0, tzinfo=UTC)) == "May 12, 2026, 9:00\u202fAM UTC"

    assert (Words("de").number(3e40), Words("de").number(-2.5e29, 3)) == ("3e+40", "-2.5e+29")


def test_words_of_authors_and_numbers_that_are_written_stay_as_they_are() -> None:
    """An option may be called 1.5, and 2.300 is over two thousand in German; notes have numbers of the language."""
    german = Words("de")
    assert "„1.5“" in german.translate("note_counts_as", variable="hours", category="1.5")
    assert german.write.limits({"low": 2300, "high": 2700}, german.write.figure) == "2.300 bis 2.700"
    note = Sentence(SAME_OF_ALL, p="0.25")
    assert all("(0,25)" in told for told in (VariableNames(german).note(note), german.in_this_language(note)))


REFUSALS = {
    text
    for room in (oidc, oidc_pages, passkeys, oidc_http)
    for name, text in vars(room).items()
    if name.isupper() and isinstance(text, str) and text.endswith(".")
}


def test_refusals_at_the_door_are_said_in_every_language() -> None:
    """They are known by their English sentences, each of which the catalogues have; what they lack stays as it is."""
    assert set(_sentences("en", "doors").values()) == REFUSALS
    for language in LANGUAGES[1:]:
        said = {Words(language).in_this_language(each) for each in REFUSALS}
        assert said == set(_sentences(language, "doors").values())
        assert not said & REFUSALS
    assert Words("de").in_this_language("Something else.") == "Something else."


def test_counted_sentences_follow_the_number() -> None:
    assert Words("en").count("state_open", 1) == "Open: 1 report so far."
    assert Words("en").count("state_open", 2000) == "Open: 2,000 reports so far."
    assert "تقريران" in Words("ar").count("state_open", 2)


def test_texts_of_the_other_direction_are_set_apart() -> None:
    """Or a title would pull the words around it to the other side."""
    assert Words("ar").translate("state_few", batch="25").count("\u2068") == 1
    assert "\u2068" not in Words("en").translate("state_few", batch="25")
    assert Words("en").translate("problem_untranslated", tag="العربية", missing=100) == (
        "Texts missing in \u2068العربية\u2069: 100. People read them in the first language."
    )


@pytest.mark.parametrize(
    ("figures", "written"),
    [
        ((2.7134, 1.4081, 4.0187), "2.7 (1.4 to 4.0)"),
        ((40.2134, 39.9412, 40.4856), "40.21 (39.94 to 40.49)"),
        ((12345.6, 11000.2, 13691.0), "12,346 (11,000 to 13,691)"),
        ((0.0341, 0.0123, 0.2011), "0.034 (0.012 to 0.201)"),
        ((1.0, 1.0, 1.0), "1.000 (1.000 to 1.000)"),
    ],
)
def test_figure_has_the_digits_that_its_interval_tells(figures: tuple[float, float, float], written: str) -> None:
    """Two significant digits of the distance to the nearer limit; without an interval up to four digits."""
    found = dict(zip(("estimate", "low", "high"), figures, strict=True))
    told = f"{ENGLISH.estimate(found, ENGLISH.figure)} ({ENGLISH.limits(found, ENGLISH.figure)})"
    assert told == written


def test_shares_and_open_limits_keep_their_digits() -> None:
    """A percentage has one decimal, and a side without a limit tells no precision; without either there are none."""
    found = {"shown": 0.25134, "low": 0.2, "high": 0.3}
    assert ENGLISH.estimate(found, ENGLISH.percent) == "25.1%"
    assert ENGLISH.estimate({**found, "high": None}, ENGLISH.figure) == "0.2513"
    ends = [(None, 0.3), (None, None)]
    told = [ENGLISH.limits({**found, "low": low, "high": high}, ENGLISH.percent) for low, high in ends]
    assert told == ["no limit to 30.0%", "none"]


def test_minus_stands_left_of_its_number_where_one_reads_from_the_right() -> None:
    """In a cell of nothing but a number, where no isolate of a sentence keeps the sign."""
    arabic = Words("ar").write
    written = [arabic.figure(-0.04), arabic.rounded(-0.04, 2), arabic.percent(-0.1), arabic.number(-0.5)]

    assert [text.removeprefix("\u200e")[0] for text in written] == ["−"] * len(written)
    assert all(text.startswith("\u200e") for text in written)
    assert ENGLISH.figure(-0.04) == "−0.04000"
