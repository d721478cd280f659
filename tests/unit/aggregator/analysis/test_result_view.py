import math
import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from babel.numbers import format_percent
from sottovoce.aggregator import mixture
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, read_bytes
from sottovoce.aggregator.analysis.data_file.shares import shares_of_file
from sottovoce.aggregator.analysis.documents import COUNTS_ALONE
from sottovoce.aggregator.analysis.estimates import QuestionResult
from sottovoce.aggregator.analysis.item_response.items import items_document
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.text_report import answer_in_words, in_words
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.analysis.worked_example import answered_in_words, worked_in_words
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule, estimate
from sottovoce.aggregator.estimators.answered_shares import answered_shares
from sottovoce.aggregator.i18n.translator import LANGUAGES, LOCALES, NumberFormat, Words, catalogue
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, one_of, parsed, question, survey
from tests.unit.aggregator.analysis.data_file.test_list_experiment import (
    BY_REGION,
    LIST_ONE,
    REGIONS,
    found_in,
    rows_of,
)
from tests.unit.aggregator.analysis.item_response.test_items import PUBLIC
from tests.unit.aggregator.analysis.regression.test_declining import columns
from tests.unit.aggregator.analysis.survey_of_reports import asked
from tests.unit.aggregator.analysis.test_arm_results import admitting
from tests.unit.shared.test_schema import validator
from tests.vectors.arms import asks

COIN = {"name": "coin_flip"}

QUESTIONS = {"y": COIN, "z": COIN, "g": None, "h": None}

DRAWN = {"public": ("g", "h"), "mixed": ("y", "g"), "randomized": ("y", "z")}

"""Outcome and predictor, or columns and rows, by what was randomized."""

KINDS = ("crosstab", "compare", "logit", "linear", "test")

NOISE = {
    "ar": "معش|ضجيج|تشويش",
    "de": "[Rr]andom|Rauschen",
    "en": "random|nois",
    "es": "aleatori|ruido",
    "fr": "aléatoire|bruit",
    "hi": "यादृच्छिक|शोर",
    "it": "[Rr]andom|rumore",
    "pt": "aleatori|ruído",
    "zh-Hans": "随机|噪",
}

"""What each language calls randomization and noise."""


def reports(people: int = 3000) -> Columns:
    draw = np.random.default_rng(58)
    group = draw.random(people) < 0.5
    values = {}
    for name, drawn in QUESTIONS.items():
        truth = np.where(draw.random(people) < 0.8, group, ~group)
        sent = np.where(draw.random(people) < 0.5, truth, draw.random(people) < 0.5) if drawn else truth
        values[name] = sent.astype(int)
    made = parse_survey(survey(*(asked(name, "boolean", drawn) for name, drawn in QUESTIONS.items())))
    return Columns.from_arrays(made, values)


REPORTS = reports()


def document(kind: str, drawn: str) -> dict[str, Any]:
    first, second = DRAWN[drawn]
    asked_for: dict[str, dict[str, Any]] = {
        "crosstab": {"columns": first, "rows": second},
        "compare": {"outcome": first, "groups": second},
        "logit": {"outcome": first, "on": [second]},
        "linear": {"outcome": first, "on": [second], "model": "linear"},
        "test": {"question": second if drawn != "mixed" else first, "shares": {"yes": 0.4}},
    }
    request = parse_request("regression" if kind in ("logit", "linear") else kind, asked_for[kind])
    return request.document(REPORTS)


SAID = columns((0.05, 0.35))

REQUESTS: dict[str, dict[str, Any]] = {
    "crosstab": {"rows": "g", "columns": "y", "confidence": 0.9},
    "compare": {"outcome": "y", "groups": "g"},
    "pairs": {},
    "test": {"question": "y", "shares": {"yes": 0.3}},
    "regression": {"outcome": "y", "on": ["g"], "at": [{"g": "yes"}]},
}

MARGINS = {"margins": {"arm": {"a": 0.3, "b": 0.7}}}


def _answers() -> FileTable:
    rows = [("yes" if at % 3 else "no", "ab"[at % 2], "yes" if at % 5 else "no", str(at % 7)) for at in range(300)]
    return read_bytes("\n".join(["q,arm,anchor,m", *map(",".join, rows)]).encode(), "answers.csv")


def _of_files() -> Iterator[dict[str, Any]]:
    """A result of each kind that only files have, with all that it may say."""
    for design in DESIGNS:
        odds: list[Any] = [(0.6, 0.2)] if design == "kuk" else [(0.25, 0.1), (0.1, 0.25)]
        odds = odds if design in {"kuk", "cheater_detection_symmetric"} else [0.25, 0.75]
        for yes in ((200, 330), (30, 490)):
            counts = ((), (), {0: 500 - yes[0], 1: yes[0], 3: 5}, 3) if design == "kuk" else (yes, (500, 500))
            yield dict(mixture(design, odds, *counts).document)  # type: ignore[arg-type]
    table = _answers()
    asked = data_columns(table, {"q": "coin_flip", "anchor": "warner 0.7"})
    shares = shares_of_file(table, asked, anchors={"anchor": "1/10"})
    shares["questions"][0] |= {"answered": 250, "shown": 300}
    yield shares
    yield parse_request("weights", MARGINS).document(asked)
    rows = [",".join(cells) for cells, people in PUBLIC.items() for _ in range(people)]
    items = data_columns(read_bytes("\n".join(["x,y,z", *rows]).encode(), "items.csv"), {})
    for model in ("rasch", "2pl", "sum"):
        yield items_document(items, ["x", "y", "z"], model)
    race = [*REGIONS, "2,,1"]
    yield found_in(race, BY_REGION, [], formula="~ south")
    yield found_in(race, BY_REGION, ["0"], items=4)
    yield found_in(rows_of(LIST_ONE), BY_REGION, [], direct="south")


OF_FILES = list(_of_files())


def figures(document: Any) -> Iterator[dict[str, Any]]:
    if isinstance(document, dict) and {"low", "high"} <= document.keys():
        yield document
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    for part in parts:
        yield from figures(part)


def ways(write: NumberFormat, one: dict[str, Any]) -> list[str]:
    """The limits of an estimate as share, difference, number and odds ratio."""
    odds = {key: None if one.get(key) is None else math.exp(one[key]) for key in ("estimate", "low", "high")}
    shown = [write.limits(one, show) for show in (write.percent, write.points, write.figure)]
    return [*shown, write.limits(odds, write.figure)]


CHANNELS: list[dict[str, Any]] = [
    {"name": "coin_flip"},
    {"name": "warner", "truth": "2/3"},
    {"name": "warner", "truth": "3/4"},
    {"name": "forced_response", "truth": "3/4", "yes": "1/6", "no": "1/12"},
    {"name": "unrelated_question", "truth": "2/3", "share": "1/4"},
    {"name": "crosswise", "share": "1/4"},
    {"name": "binary_rr", "a": "3/5", "b": "1/5"},
    {"name": "binary_rr", "a": "500001/1000000", "b": "1/2"},
    {"epsilon": "1"},
    {"epsilon": "0.01"},
    {"epsilon": "5"},
]

SENTENCE = re.compile(r"(.+) of the reports \(n = ([\d,]+)\) said yes; (.+) = (−?[\d.,]+)%\.( Chance .*)? (95% .*)\.")

ENGLISH = Words("en")


def result(document: dict[str, Any], yes: int, n: int, rule: IntervalRule = DEFAULT_RULE) -> QuestionResult:
    asked = parsed(document)
    assert asked.mechanism is not None
    tally = {0: n - yes, 1: yes}
    estimates = estimate(asked.mechanism, tally, asked.domain, rule)
    return QuestionResult(asked, asked.epsilon, n, tally, estimates)


def value(arithmetic: str) -> Fraction:
    """What the sentence's arithmetic comes to, in percent, exactly: fractions, percentages, × − and / ( ) only."""
    text = re.sub(r"([\d.]+)%", r"(\1/100)", arithmetic.replace(",", "")).replace("−", "-").replace("×", "*")
    assert re.fullmatch(r"[\d.()*/ -]+", text)
    exact = re.sub(r"[\d.]+", lambda number: f"Fraction('{number[0]}')", text)
    return 100 * Fraction(eval(exact, {"Fraction": Fraction}))  # noqa: S307 - digits and signs, seen above


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("drawn", DRAWN)
def test_noise_is_claimed_of_randomized_questions_only(drawn: str, kind: str) -> None:
    found = document(kind, drawn)
    schemas = {"logit": "regression", "linear": "regression", "compare": "comparison"}
    validator(schemas.get(kind, kind)).validate(found)
    names = [name for name in ("y", "z") if name in DRAWN[drawn]]
    assert kind == "test" or sorted(found.get("randomized", [])) == names
    assert drawn != "public" or "randomized" not in found
    for language in LANGUAGES:
        words = Words(language)
        shown = answer_in_words(found, VariableNames(words))
        printed = [sentence for table in in_words(found, words) for sentence in table.sentences]
        if drawn == "public":
            assert not re.search(NOISE[language], " ".join([shown.paper, *shown.notes, *printed])), language
        elif kind != "test":
            quoted = ", ".join(words.translate("joint_paper_question", question=name) for name in found["randomized"])
            assert words.translate("joint_paper_randomized", questions=quoted) in shown.paper, language
            assert re.search(NOISE[language], shown.paper), language
            assert shown.paper in printed, language


@pytest.mark.parametrize("language", LANGUAGES)
def test_noise_is_claimed_of_no_direct_copy(language: str) -> None:
    words = Words(language)
    request = {"outcome": "cheated", "groups": "arm", "against": "direct"}
    paper = answer_in_words(parse_request("compare", request).document(admitting(40)), VariableNames(words)).paper
    quoted = words.translate("joint_paper_question", question="cheated")

    assert words.translate("joint_paper_randomized", questions=quoted) in paper


def test_few_reports_of_public_answers_are_not_few_for_a_noise() -> None:
    few = reports(12)
    public, private = (regress(few, name, ["h"], model="linear", smallest_group=1).warnings for name in ("g", "y"))

    assert "few for this model;" in " ".join(public)
    assert "this noise" in " ".join(private)


@pytest.mark.parametrize("language", LANGUAGES)
def test_model_begins_small_within_a_sentence_and_large_in_a_title(language: str) -> None:
    """Also in German, but for its nouns."""
    shown = answer_in_words(document("logit", "public"), VariableNames(Words(language)))
    linear = Words(language).translate("models_linear")

    assert "Logit" not in shown.paper or language == "de"
    assert linear == linear.lower()
    assert all(table.title[:1] == table.title[:1].upper() for table in shown.tables)


@pytest.mark.parametrize("language", LANGUAGES)
def test_percent_signs_are_written_as_numbers_have_them(language: str) -> None:
    wanted = format_percent(0.95, locale=LOCALES.get(language, language)).strip("\u200e").removeprefix("95")
    written = re.findall(r"[0-9}](\s?[%٪])", "\n".join(catalogue(language).values()))

    assert written
    assert {*written} == {wanted}


@pytest.mark.parametrize("kind", ["crosstab", "compare"])
@pytest.mark.parametrize("tiny", [0, 1, 2])
def test_text_for_a_paper_is_about_the_largest_groups(kind: str, tiny: int) -> None:
    """A group of six, none of whom seems to have said yes, is in the table and in no text."""
    people = np.arange(640)
    groups = np.where(people < 6, 0, 1 + people % 2)
    columns = Columns.from_arrays(
        parse_survey(
            survey(asks("group", kind="select_one", choices=names(3), public=True), asks("y", mechanism=COIN))
        ),
        {"group": (groups + tiny) % 3, "y": np.where(people < 6, 0, people % 7 < 3).astype(int)},
    )
    options = {"crosstab": {"rows": "group", "columns": "y"}, "compare": {"outcome": "y", "groups": "group"}}

    paper = answer_in_words(parse_request(kind, options[kind]).document(columns), VariableNames(Words("en"))).paper

    told = {name for name in ("c0", "c1", "c2") if f"“{name}”" in paper}
    # All differences of a comparison are from its first group.
    assert len(told) == (0 if kind == "compare" and tiny == 0 else 2)
    assert f"c{tiny}" not in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_figure_stands_in_the_text_of_every_language(language: str) -> None:
    """With its limits; numbers of reports, tests and the level are the page's, which has labels in place of names."""
    words = Words(language)
    for kind, options in REQUESTS.items():
        document = parse_request(kind, options).document(SAID)
        tables = in_words(document, words)
        text = "\n".join(part for table in tables for line in (*table.lines, table.sentences) for part in line)
        page = answer_in_words(document, SurveyVariables(SAID.survey, words))

        assert [
            one for one in figures(document) if not any(each in text for each in ways(NumberFormat(words), one))
        ] == []
        assert [table.bars and [(bar.value, bar.limits) for bar in table.bars] for table in page.tables] == [
            table.bars and [(bar.value, bar.limits) for bar in table.bars] for table in tables[: len(page.tables)]
        ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_results_of_files_are_said_in_every_language(language: str) -> None:
    """With every figure and its limits, and no sentence of the English text but in English."""
    words, write = Words(language), NumberFormat(Words(language))
    for document in OF_FILES:
        told, english = in_words(document, words), in_words(document)
        text = "\n".join(part for table in told for line in (*table.lines, table.sentences) for part in line)
        said, known = ({part.strip("\u2068\u2069.।。") for table in tables for part in (table.title, *table.sentences)}
                       for tables in (told, english))  # fmt: skip
        estimates = [one for one in figures(document) if len(one) > len(("low", "high")) and one["low"] is not None]

        assert [one for one in estimates if not any(each in text for each in ways(write, one))] == []
        assert [table.lines == () for table in told] == [table.lines == () for table in english]
        assert (said & known == set()) == (language != "en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_titles_name_what_people_named(language: str) -> None:
    """Counts alone have no file and groups without names, which a title does not invent."""
    known, words = {"file", "kuk", "all", COUNTS_ALONE}, Words(language)
    (alone,) = in_words(dict(mixture("kuk", [0.6, 0.2], (), (), {0: 60, 1: 40}, 1).document), words)
    (in_file,) = in_words({**mixture("kuk", [0.6, 0.2], (), (), {0: 60, 1: 40}, 1).document, "file": "file"}, words)

    assert known & {*re.findall(r"[a-z]+", alone.title)} == {"kuk"}
    assert {"file", "kuk"} <= {*re.findall(r"[a-z]+", in_file.title)}


@pytest.mark.parametrize("language", LANGUAGES)
def test_odds_are_of_a_category_or_of_one_more(language: str) -> None:
    """A sentence says of a number what its odds compare, and parts labels from its own words by marks."""
    rows = [("yes" if at % 3 else "no", str(at % 17), "ab"[at % 2]) for at in range(300)]
    table = read_bytes("\n".join(["q,m,arm", *map(",".join, rows)]).encode(), "answers.csv")
    asked = parse_request("regression", {"outcome": "q", "on": ["m", "arm"]})
    found, words = data_columns(table, {"q": "coin_flip"}), Words(language)
    odds, *_, detectable = in_words(asked.document(found), words)[:4]
    quoted = [part.strip("\u2068\u2069\u202f\u00a0 ") for text in odds.sentences
              for part in re.findall("[“„«](.*?)[”“»]", text)]  # fmt: skip

    assert sorted(quoted) == ["arm=b", "m + 1", "q", "q"]
    assert detectable.sentences[1:] == [words.translate("models_people_number")]
    assert len(in_words(replace(asked, on=("arm",)).document(found), words)[3].sentences) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_anchors_are_quoted(language: str) -> None:
    """A question ends with a mark of its own, before that of the sentence."""
    anchors = next(document for document in OF_FILES if "careless" in document)
    sentences = "\n".join(text for table in in_words(anchors, Words(language)) for text in table.sentences)

    assert re.search("[“„«][\\s\u2068]*anchor[\\s\u2069]*[”“»]", sentences)


COIN_OF_THREE = question({"name": "coin_flip"}, absent_category=True)


@pytest.mark.parametrize(
    ("mechanism", "yes", "n", "told"),
    [
        # Under the coin flip 30 of 100 are 10 %, and the truth may be three times as much.
        (COIN, 30, 100, "30% @; 2 × 30% − 1/2 = 10.0%. 95% interval: 0.0% to 30.2%."),
        ({"name": "warner", "truth": "2/3"}, 30, 100, "30% @; 3 × 30% − 1 = −10.0%. Chance alone "),
        ({"name": "binary_rr", "a": "3/5", "b": "1/5"}, 30, 100, "30% @; 5/2 × 30% − 1/2 = 25.0%. 95% interval: "),
        ({"epsilon": "1"}, 30, 100, "30.0% @; (30.0% − 26.9%) / 46.2% = 6.7%. 95% interval: 0.0% to 28.6%."),
        # It is 43.65 %, shown as 43.6, and 45.7666... % of the reports, which rounded gives 43.7 or 43.655 and more.
        ({"name": "warner", "truth": "5/6"}, 1373, 3000, "1,373 @; 3/2 × 1,373/3,000 − 1/4 = 43.6%. 95% interval:"),
    ],
)
def test_share_of_yes_is_worked_out_in_the_questions_own_numbers(mechanism, yes, n, told):
    """From the share of reports, or from the counts where two shares could be shown."""
    told = told.replace("@", f"of the reports (n = {n:,}) said yes")
    assert worked_in_words(result(question(mechanism), yes, n), False, ENGLISH).startswith(told)


def test_no_answer_as_a_category_leaves_the_sentence_of_yes():
    """A coin of three: 60 of 100 whose truth is yes send yes, 20 of the others."""
    assert "said yes; 5/2 × 30% − 1/2 = 25.0%" in worked_in_words(result(COIN_OF_THREE, 30, 100), False, ENGLISH)


@pytest.mark.parametrize("mechanism", CHANNELS, ids=str)
def test_arithmetic_is_the_estimate_that_is_shown(mechanism):
    """For every channel and count: to the digit shown, from the sentence's own numbers, and never without limits."""
    counts = [(n, yes) for n in (1, 2, 3, 7, 100, 333, 6000, 6001)
              for yes in {0, 1, n // 3, n // 2, (7 * n) // 18, (2 * n) // 3, n - 1, n}]  # fmt: skip
    for n, yes in counts:
        found = result(question(mechanism), yes, n)
        (estimate,) = found.estimates
        match = SENTENCE.fullmatch(worked_in_words(found, False, ENGLISH))
        share, reports, arithmetic, shown, beyond, interval = match.groups()
        assert int(reports.replace(",", "")) == n
        assert share in arithmetic
        assert shown == f"{100 * estimate.raw:z,.1f}".replace("-", "−")
        assert abs(value(arithmetic) - Fraction(shown.replace("−", "-").replace(",", ""))) <= Fraction(1, 20)
        assert bool(beyond) is not (0 <= estimate.raw <= 1)
        assert interval == f"95% interval: {100 * estimate.low:.1f}% to {100 * estimate.high:.1f}%"


def test_share_halfway_between_two_ends_in_the_digit_of_the_table():
    """Under the coin flip 471 of 800 are 67.75 %, whose nearest number lies below it, as the table beside it knows."""
    found = result(question({"name": "coin_flip"}), 471, 800)

    assert ENGLISH.write.percent(found.estimates[0].raw or 0.0) == "67.7%"
    assert "= 67.7%. 95% interval" in worked_in_words(found, False, ENGLISH)


def test_open_survey_tells_the_band():
    """The interval for one look would be too narrow for whoever looks again."""
    found = result(question({"name": "coin_flip"}), 30, 100, IntervalRule(band=True))

    assert "95% band: 0.0% to 39.6%." in worked_in_words(found, True, ENGLISH)
    assert "95% interval: 0.0% to 30.2%." in worked_in_words(found, False, ENGLISH)


def test_there_is_no_sentence_where_it_would_not_be_true():
    coin = result(question({"name": "coin_flip"}), 30, 100)
    pooled = replace(coin, estimates=[replace(coin.estimates[0], a=None, b=None, count=None)])
    choice = result(one_of(2, {"name": "kary_rr", "odds": "3"}), 30, 100)
    public = replace(coin, question=replace(coin.question, mechanism=None))

    for found in (result(question({"name": "coin_flip"}), 0, 0), pooled, choice, public, replace(coin, estimates=())):
        assert worked_in_words(found, False, ENGLISH) == ""


def test_shares_among_those_who_answered_are_told_with_the_others() -> None:
    """Named after the people: where some were not asked, the same category holds them too."""
    question_of = parsed(COIN_OF_THREE)
    answered = answered_shares([(question_of.mechanism, {0: 360, 1: 320, 2: 320})], question_of.domain)
    found = replace(result(COIN_OF_THREE, 320, 1000), answered=answered)

    assert answered_in_words(found, False, ENGLISH).endswith("). yes 42.9% (33.6% to 52.2%).")
    hidden = answered_in_words(replace(found, conditional=True), False, ENGLISH)
    assert hidden.startswith("Among those who were asked and answered. Not asked or no answer: ")
    assert answered_in_words(replace(found, answered=()), False, ENGLISH) == ""


def test_means_of_dates_are_dates_and_weighted_figures_say_so() -> None:
    days = asks("when", kind="date", min="2020-01-01", max="2020-12-31", public=True)
    made = parse_survey(survey(days, asks("g", public=True)))
    columns = Columns.from_arrays(made, {"when": np.arange(40) % 20 + 31, "g": np.arange(40) // 20})
    words, asked_for = VariableNames(Words("en")), {"outcome": "when", "groups": "g"}
    found = parse_request("compare", asked_for).document(columns)
    validator("comparison").validate(found)
    weighted = parse_request("compare", {**asked_for, "margins": {"g": {"yes": 0.3, "no": 0.7}}}).document(columns)
    paper, more = (answer_in_words(each, words).paper for each in (found, weighted))

    assert "2020-02-11" in paper
    assert "0.0 days" in paper
    assert ["weighted" in each for each in (paper, more)] == [False, True]
    assert answer_in_words(parse_request("test", {"question": "when", "mean": 18300.0}).document(columns),
                           words).tables[0].lines[0][1] == "2020-02-08"  # fmt: skip
