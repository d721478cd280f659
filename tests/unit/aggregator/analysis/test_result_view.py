"""What texts for a paper, notes below tables and the terminal claim of noise, by what was randomized."""

import re
from typing import Any

import numpy as np
import pytest
from babel.numbers import format_percent
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.text_report import answer_in_words, in_words
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.i18n.translator import LANGUAGES, LOCALES, Words, catalogue
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.unit.aggregator.analysis.survey_of_reports import asked
from tests.unit.aggregator.analysis.tables.test_arm_comparison import admitting
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
    """Reports on two randomized and two public questions, all of which go together."""
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
    """The result of an analysis."""
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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("drawn", DRAWN)
def test_noise_is_claimed_of_randomized_questions_only(drawn: str, kind: str) -> None:
    """By the page and by the terminal, in every language; the text for a paper says of which."""
    found = document(kind, drawn)
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
    """Of the question in the protected arm alone."""
    words = Words(language)
    request = {"outcome": "cheated", "groups": "arm", "against": "direct"}
    paper = answer_in_words(parse_request("compare", request).document(admitting(40)), VariableNames(words)).paper
    quoted = words.translate("joint_paper_question", question="cheated")

    assert words.translate("joint_paper_randomized", questions=quoted) in paper


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("drawn", DRAWN)
def test_documents_name_what_was_randomized_as_schemas_say(drawn: str, kind: str) -> None:
    """The key is absent where all questions are public."""
    found = document(kind, drawn)
    names = {"logit": "regression", "linear": "regression", "compare": "comparison"}

    assert [*validator(names.get(kind, kind)).iter_errors(found)] == []


def test_few_reports_of_public_answers_are_not_few_for_a_noise() -> None:
    """The note of a model says noise only where there is some."""
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
    """In the catalogue as in figures."""
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
