"""Surveys: every mistake is found, with its place; what is canonical stays canonical."""

import copy

import pytest
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.redemption import spell_modulus

from tests.documents import (
    names,
    number,
    one_of,
    parsed,
    problems_of as problems,
    question,
    some_of,
    survey,
    vector,
    wrong_places as pointers,
)
from tests.surveys import months

COIN = {"name": "coin_flip"}
BIT = {"a": "3/4", "b": "1/4"}
MODULUS = 2**2047 + 1


def test_digest_of_existing_surveys_never_changes():
    """A published survey is named by its bytes for ever."""
    assert parse_survey(survey(question(COIN))).digest[:6] == "e7c36d"


def test_blind_access_lists_a_modulus_for_each_wave():
    """An author writes one word; what is published holds the moduli, and only that is a survey for a device."""
    asked = survey(question(COIN), access="blind", waves=months(2))
    written = parse_survey(asked)
    published = parse_survey(asked | {"access": {"blind": [spell_modulus(MODULUS), spell_modulus(MODULUS + 2)]}})

    assert (written.is_blind, written.asks_for_invitation, written.asks_for_token, written.moduli) == (
        True, True, False, ()
    )  # fmt: skip
    assert published.moduli == (MODULUS, MODULUS + 2)
    assert published.asks_for_invitation
    assert load_survey(published.canonical) == published
    with pytest.raises(SpecError, match="not published"):
        load_survey(written.canonical)
    token = parse_survey(survey(question(COIN), access="token"))
    assert (token.is_blind, token.asks_for_invitation, token.asks_for_token) == (False, True, True)


@pytest.mark.parametrize(
    ("access", "place"),
    [
        ({}, "/access/blind"),
        ({"blind": []}, "/access/blind"),
        ({"blind": [spell_modulus(MODULUS)]}, "/access/blind"),
        ({"blind": [spell_modulus(MODULUS)] * 2}, "/access/blind/1"),
        ({"blind": [spell_modulus(MODULUS), spell_modulus(MODULUS + 1)]}, "/access/blind/1"),
        ({"blind": [7, spell_modulus(MODULUS)]}, "/access/blind/0"),
        ({"token": True}, "/access/token"),
        ("blinds", "/access"),
    ],
    ids=lambda case: str(case)[:30],
)
def test_bad_moduli_are_refused(access, place):
    assert place in pointers(survey(question(COIN), access=access, waves=months(2)))


def test_quick_exit_and_neutral_title_are_written_only_if_given():
    """A survey without them is as it was; the exit is true or left out."""
    plain = parse_survey(survey(question(COIN)))
    assert (plain.quick_exit, {"quick_exit", "neutral_title"} & plain.document.keys()) == (False, set())
    quick = parse_survey(survey(question(COIN), quick_exit=True, neutral_title={"en": "Notes"}))
    assert (quick.quick_exit, quick.document["neutral_title"]) == (True, {"en": "Notes"})
    away = parse_survey(survey(question(COIN), quick_exit="https://weather.example/today"))
    assert (away.quick_exit, away.document["quick_exit"]) == (True, "https://weather.example/today")
    for wrong in (False, "", "http://weather.example", "javascript:alert(1)", "/weather", "https://a.example:99999/"):
        assert pointers(survey(question(COIN), quick_exit=wrong)) == ["/quick_exit"]
    assert pointers(survey(question(COIN), neutral_title="Notes")) == ["/neutral_title"]


def test_links_after_the_receipt_have_labels():
    links = {"prolific": "https://panel.example/?cc=C1", "uni-2": "https://uni.example/done"}
    assert parse_survey(survey(question(COIN), after={"links": links})).document["after"] == {"links": links}
    six = {f"l{number}": "https://h.example/" for number in range(6)}
    for bad in ({}, six, {"A": "https://h.example/"}, {3: "https://h.example/"}, [], None, "prolific"):
        assert pointers(survey(question(COIN), after={"links": bad})) == ["/after/links"]
    assert pointers(survey(question(COIN), after={"links": {"a": "http://h.example/"}})) == ["/after/links/a"]


def test_times_of_sending_are_written_only_if_they_are_given():
    """Hours to wait, and seconds whose multiple is waited for; so old digests stay."""
    assert parse_survey(survey(question(COIN))).send_within_hours == 0
    waiting = parse_survey(survey(question(COIN), privacy={"send_within_hours": 24}))
    assert waiting.send_within_hours == waiting.document["privacy"]["send_within_hours"] == 24
    for bad in (0, 169, "24", True):
        assert pointers(survey(question(COIN), privacy={"send_within_hours": bad})) == ["/privacy/send_within_hours"]

    assert parse_survey(survey(question(COIN))).send_at_seconds == 0
    waiting = parse_survey(survey(question(COIN), privacy={"send_at_seconds": 180}))
    assert waiting.send_at_seconds == waiting.document["privacy"]["send_at_seconds"] == 180
    both = {"send_at_seconds": 180, "send_within_hours": 24}
    for bad in (both, *({"send_at_seconds": each} for each in (9, 3601, "180", True))):
        assert pointers(survey(question(COIN), privacy=bad)) == ["/privacy/send_at_seconds"]


def test_revision_names_the_one_that_it_replaces():
    """The key is part of the digest; a survey without it is as it was, and a first revision has nothing before it."""
    first = parse_survey(survey(question(COIN)))
    second = parse_survey(survey(question(COIN), revision=2, replaces=first.digest))

    assert (first.replaces, second.replaces) == (None, first.digest)
    assert load_survey(second.canonical) == second
    assert second.digest != parse_survey(survey(question(COIN), revision=2)).digest
    assert problems(survey(question(COIN), replaces=first.digest)) == [
        ("/replaces", "does not go with revision 1: it has none before it")
    ]


def test_all_mistakes_are_reported_at_once():
    """An author mends a file in one go."""
    bad = survey(
        {"type": "rating", "name": "A", "label": {"en": "A"}, "mechanism": {"epsilon": "1"}},
        {"type": "decimal", "name": "b", "label": {}, "min": 0, "max": "x", "mechanism": {"epsilon": "0"}},
        {**some_of(3, {"name": "bitwise_rr", **BIT}), "max_choices": 4, "name": "c", "min": 1},
        {**vector(2, 0, 1, 1, {"name": "coin_flip"}), "public": True, "name": "c"},
        default_language="en", revision=0, extra=1,
    )  # fmt: skip

    assert set(pointers(bad)) == {
        "/extra", "/revision",
        "/questions/0/name", "/questions/0/choices",
        "/questions/1/label", "/questions/1/max", "/questions/1/step",
        "/questions/2/max_choices", "/questions/2/min",
        "/questions/3/public", "/questions/3/name",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"type": "text"}, "/questions/0/type"),
        ({"type": []}, "/questions/0/type"),
        ({"choices": names(2)}, "/questions/0/choices"),
        ({"max_choices": 1}, "/questions/0/max_choices"),
        ({"coordinates": names(2)}, "/questions/0/coordinates"),
        ({"min": 0}, "/questions/0/min"),
        ({"mechanism": "coin_flip"}, "/questions/0/mechanism"),
        ({"mechanism": {}}, "/questions/0/mechanism"),
        ({"mechanism": {"name": ["coin_flip"]}}, "/questions/0/mechanism"),
        ({"mechanism": {"name": "", "epsilon": "1"}}, "/questions/0/mechanism"),
        ({"mechanism": {"name": "coin_flip", "epsilon": "1"}}, "/questions/0/mechanism"),
        ({"mechanism": {"name": "binary_rr", "epsilon": "1", "a": "3/4"}}, "/questions/0/mechanism"),
        ({"mechanism": {"name": "kary_rr", "epsilon": "1"}}, "/questions/0/mechanism"),
        ({"mechanism": {"epsilon": "1", "a": "3/4"}}, "/questions/0/mechanism"),
        ({"public": False}, "/questions/0/public"),
        ({"cohort": True}, "/questions/0/cohort"),
        ({"label": {"en": "\x07"}}, "/questions/0/label/en"),
        ({"name": "q\n"}, "/questions/0/name"),
    ],
)
def test_mistake_in_a_question_has_its_pointer(change, pointer):
    assert pointer in pointers(survey({**question(COIN), **change}))


@pytest.mark.parametrize(
    "epsilon", ["0", "-1", "NaN", "nan", "Infinity", "inf", "1e0", "", "0.009", "10.000001", 0, -1, 11, None, True, [1]]
)
def test_impossible_epsilon_is_refused(epsilon):
    """Zero, negative, infinite and not-a-number have each been accepted by some library, with ruinous results."""
    assert pointers(survey(question({"epsilon": epsilon}))) == ["/questions/0/mechanism"]


def test_float_is_refused_wherever_it_comes_from():
    """A YAML file that says 0.1 without quotes has already lost exactness."""
    assert problems(survey(number(0, 1, 0.1, {"epsilon": "1"})))[0][0] == ""


@pytest.mark.parametrize(("kind", "forbidden"), [("select_multiple", "public"), ("vector", "public")])
def test_what_is_not_one_plain_value_cannot_be_public(kind, forbidden):
    """A public value is one integer that says what it is."""
    document = some_of(3, {}) if kind == "select_multiple" else vector(2, 0, 1, 1, {})
    del document["mechanism"]

    assert f"/questions/0/{forbidden}" in pointers(survey({**document, "public": True}))


def test_public_number_cannot_be_the_cohort():
    document = {**number(0, 100, 1, {}), "public": True, "cohort": True}
    del document["mechanism"]

    assert pointers(survey(document)) == ["/questions/0/cohort"]


def test_defaults_and_shorthand_are_written_out():
    """Two files that mean the same have one digest."""
    short = survey(
        {**some_of(3, {"name": "sampled_option", **BIT}), "name": "m"},
        {**question({"name": "rounding_rr", **BIT}, "integer", min=-1, max="2.0"), "name": "n"},
    )
    long = copy.deepcopy(short)
    long["questions"][0]["max_choices"] = 3
    long["questions"][1] |= {"min": "-1", "max": "2", "step": "1.000"}

    assert parse_survey(long).canonical == parse_survey(short).canonical
    assert parse_survey(short).document["questions"][1]["max"] == "2"


@pytest.mark.parametrize(
    ("good", "bad"),
    [('"min":"0"', '"min":0'), ('"min":"0"', '"min":"-0"'), ('"min":"0"', '"min":"0.0"'), ('"step":"0.1",', ""),
     ('"max":"1"', '"max":"1.0"'), ('{"a":"3/4","b":"1/4","name":"rounding_rr"}', '{"epsilon":"1"}')],
)  # fmt: skip
def test_load_survey_takes_one_spelling_only(good, bad):
    """The device computes the digest from bytes; another spelling is another survey."""
    text = parse_survey(survey(number("0", "1", "0.1", {"name": "rounding_rr", **BIT}))).canonical.decode()

    load_survey(text.encode())
    assert good in text
    with pytest.raises(SpecError):
        load_survey(text.replace(good, bad).encode())


def test_forced_response_pays_its_costlier_side():
    """A = 11/12, b = 1/6 costs ln 10 on the "no" side, not ln 5.5."""
    asked = parsed(question({"name": "forced_response", "truth": "3/4", "yes": "1/6", "no": "1/12"}))

    assert asked.mechanism.dump() == {"name": "binary_rr", "a": "11/12", "b": "1/6"}
    assert asked.mechanism.likelihood_ratio == 10


def test_questions_refuse_what_a_report_cannot_hold():
    """Range and number of bits are checked exactly."""
    subset = parsed(one_of(6, {"name": "subset_selection", "odds": "3", "size": 2}))

    assert [value for value in (0, 1, 3, 5, 7, 48, 63, 64 + 1, -1) if subset.admits(value)] == [3, 5, 48]


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"waves": []}, "/waves"),
        ({"waves": {}}, "/waves"),
        ({"waves": [["2026-01", "2026-02"]]}, "/waves/0"),
        ({"waves": [{"opens": "2026-01-01T00:00:00Z"}]}, "/waves/0/closes"),
        ({"waves": [{"opens": "2026-01-01T00:00:00Z", "closes": "2026-01-01T00:00:00Z"}]}, "/waves/0/closes"),
        (
            {"waves": [{"opens": "2026-01-01T00:00:00Z", "closes": "2026-03-01T00:00:00Z"},
                       {"opens": "2026-02-28T23:59:59Z", "closes": "2026-04-01T00:00:00Z"}]},
            "/waves/1/opens",
        ),
        (
            {"waves": [{"opens": "2026-01-01T00:00:00Z", "closes": "2026-03-01T00:00:00Z"}],
             "closes": "2026-03-01T00:00:00Z"},
            "/closes",
        ),
    ],
)  # fmt: skip
def test_waves_follow_one_another(changes, pointer):
    """So that at any moment at most one of them is open."""
    assert pointer in pointers(survey(question(COIN), **changes))


def test_survey_without_waves_is_one_wave():
    """Its own window, so that nothing else needs to know the difference."""
    parsed_survey = parse_survey(survey(question(COIN), opens="2026-01-01T00:00:00Z"))

    assert [(wave.opens, wave.closes) for wave in parsed_survey.waves] == [(parsed_survey.opens, None)]
    assert "waves" not in parsed_survey.document
