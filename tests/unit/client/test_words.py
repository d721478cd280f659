"""What people are told about the odds is what the channel does."""

import re
from fractions import Fraction

import pytest
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.client.terminal.screen import is_no, is_yes
from sottovoce.client.words import LANGUAGES, catalogue, choose_language, odds_in_words, text_of, translate
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.mechanisms.innocuous_rr import PROCEDURES
from sottovoce.shared.mechanisms.reports import REPORT_KINDS
from sottovoce.shared.odds_in_words import of_hundred
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import day, number, one_of, parsed, question, some_of, survey, vector

COIN = {"a": "3/4", "b": "1/4"}


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (question({"name": "coin_flip"}), "If yes is true, 75 of 100 people send yes; if not, 25 do."),
        (question({"name": "warner", "truth": "2/3"}), "about 67 of 100 people send yes"),
        (question({"name": "binary_rr", "a": "999/1000", "b": "1/1000"}), "more than 99 .* fewer than 1 do"),
        (
            question(
                {
                    "name": "memoized_rr",
                    "permanent": {"name": "coin_flip"},
                    "instantaneous": {"name": "coin_flip"},
                    "waves": 4,
                }
            ),
            "remembers both.* yes, about 63 send yes in a wave; .* about 38 also .* covers 4 waves",
        ),
        (one_of(4, {"name": "kary_rr", "odds": "3"}), "50 send that answer; each other answer is sent by about 17"),
        (
            one_of(5, {"name": "subset_selection", "odds": "3", "size": 2}),
            "2 of the 5 .* about 67 send .* about 33 one with",
        ),
        (some_of(4, {"name": "sampled_option", **COIN}), "drawn.* chose it, 75 send yes; .* 25 also"),
        (some_of(4, {"name": "bitwise_rr", **COIN}, max_choices=1), "Each option .* chose it, 75 send yes"),
        (number(0, 9, 1, {"name": "rounding_rr", **COIN}), "largest number, 75 send high; .* smallest, 25 also"),
        (
            one_of(5, {"name": "optimal_unary", "odds": "3"}),
            "own roll of the dice: of 100 people who chose it, 50 send yes; .* did not, 25 also",
        ),
        (number(0, 9, 1, {"epsilon": "1.4"}), "One of 5 marks is sent, .* at most about 50"),
        (
            number(0, 9, 1, {"name": "square_wave", "odds": "3", "bins": 10, "width": 1}),
            "12 ranges is sent, 2 of them beyond .* 50 send one of the 3",
        ),
        (number(0, 9, 1, {"name": "geometric", "ratio": "1/3"}), "50 draw no error"),
        (vector(3, 0, 9, 1, {"name": "sampled_coordinate", **COIN}), "One of 3 numbers .* 75 send high"),
    ],
)
def test_odds_in_words_follow_from_the_channel(document, words):
    """Counts of 100 people, and the epsilon rounded up."""
    said = odds_in_words(parsed(document))

    assert re.search(words, said)
    assert re.search(r"Epsilon \d+\.\d\d\.$", said)


def test_every_kind_of_report_has_its_sentence():
    """With the numbers that it names; a mechanism that cannot be explained is not shipped."""
    sentences = {key.removeprefix("odds_"): text for key, text in catalogue().items() if key.startswith("odds_")}

    # Questions of a block say of how many it is, and how many people send all of their answers.
    together = {f"together_{kind}": REPORT_KINDS[kind] | {"all", "questions"} for kind in ("yes_no", "option")}
    found = {kind: set(re.findall(r"\{(\w+)\}", text)) for kind, text in sentences.items()}
    by_fact = dict.fromkeys(PROCEDURES, REPORT_KINDS["yes_no"])
    assert found == {**REPORT_KINDS, **together, **by_fact}
    assert {mechanism.report_kind for mechanism in MECHANISMS.values()} == set(REPORT_KINDS)


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        ({"name": "rounding_rr", "a": "3/4", "b": "1/4"}, "the latest date, 75 send high; of 100 with the earliest"),
        ({"epsilon": "2"}, "each for any date: of 100 people with the same date"),
        ({"name": "square_wave", "odds": "3", "bins": 10, "width": 1}, "of 100 people with the same date"),
        ({"name": "laplace", "epsilon": "1"}, "Your date is sent with a random error"),
    ],
)
def test_date_is_told_as_a_date(mechanism, words):
    """A date is early or late, never large or small; and no sentence about it speaks of a number."""
    said = odds_in_words(parsed(day("2026-01-01", "2026-01-31", mechanism)))

    assert words in said
    assert "number" not in said


def test_sentences_of_dates_have_the_usual_numbers():
    own = {key: text for key, text in catalogue().items() if key.startswith("date_odds_")}

    assert {key.removeprefix("date_odds_"): set(re.findall(r"\{(\w+)\}", text)) for key, text in own.items()} == {
        kind: REPORT_KINDS[kind] for kind in ("end", "mark", "range", "number")
    }


def test_choice_of_two_is_not_called_yes():
    """The options of a choice have names of their own."""
    assert "yes" not in odds_in_words(parsed(one_of(2, {"name": "kary_rr", "odds": "3"})))


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (Fraction(1, 2), "50"),
        (Fraction(1, 10**9), "fewer than 1"),
        (Fraction(1, 200), "about 1"),
        (Fraction(1, 8), "about 13"),
        (Fraction(199, 200) - Fraction(1, 10**9), "about 99"),
        (Fraction(199, 200), "more than 99"),
    ],
)
def test_share_never_claims_certainty(share, words):
    """Neither about 0 nor about 100; halves are rounded up, as in the browser."""
    assert words == of_hundred(share, catalogue())


def test_public_answer_is_called_what_it_is():
    document = question({})
    del document["mechanism"]

    assert odds_in_words(parsed({**document, "public": True})) == "This answer is not changed by chance."


@pytest.fixture(autouse=True)
def english():
    """Each test begins, and leaves, in English."""
    yield
    choose_language(None, {})


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "Beginn: Anfangen"),
        ({"LANG": "C.UTF-8"}, "Beginn: Anfangen"),
        ({"LANG": "fr_CA.UTF-8"}, "Début: Commencer"),
        ({"LANG": "fr_CA.UTF-8", "LC_ALL": "es_ES"}, "Beginn: Anfangen"),
        ({"LC_MESSAGES": "de_AT@euro", "LANG": "fr"}, "Beginn: Anfangen"),
    ],
)
def test_language_is_the_readers_if_the_survey_has_it_else_the_surveys(environment, said):
    texts = {"de": "Beginn", "fr": "Début"}
    german = question({"name": "coin_flip"}, label={"de": "F"})
    asked = parse_survey(survey(german, default_language="de", title=texts))
    choose_language(asked, environment)

    assert f"{text_of(asked, texts)}: {translate('begin')}" == said


def test_unknown_languages_are_english():
    """Before the survey is known the reader's language counts alone."""
    choose_language(None, {"LANG": "hi_IN.UTF-8"})
    assert translate("begin") == catalogue("hi")["begin"]
    choose_language(None, {"LANG": "sv_SE"})
    assert translate("begin") == "Begin"


@pytest.mark.parametrize("language", LANGUAGES)
def test_decimal_sign_is_the_languages(language):
    """As the researchers' pages have it, which Babel writes; a name with a dot stays as it is."""
    choose_language(None, {"LANG": language.partition("-")[0]})
    assert translate("question_epsilon", epsilon="1.25").endswith(Words(language).write.epsilon(1.25))
    assert "v1.5" in translate("question_epsilon", epsilon="v1.5")


@pytest.mark.parametrize("language", LANGUAGES)
def test_yes_and_no_are_understood_in_every_language(language):
    choose_language(None, {"LANG": language.partition("-")[0]})
    yes, no = translate("yes"), translate("no")

    assert all(map(is_yes, (yes, yes[0], yes.upper(), " y ", "YES")))
    assert all(map(is_no, (no, no[0], "n", "No")))
    assert not any(map(is_no, (yes, yes[0], "y", "", "?")))
