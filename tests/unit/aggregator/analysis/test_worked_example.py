"""The sentence of a yes/no result: its arithmetic gives the estimate, and its limits stand beside it."""

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from sottovoce.aggregator.analysis.estimates import QuestionResult
from sottovoce.aggregator.analysis.worked_example import answered_in_words, worked_in_words, yes_workings
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule, estimate
from sottovoce.aggregator.estimators.answered_shares import answered_shares
from sottovoce.aggregator.i18n.translator import Words

from tests.documents import one_of, parsed, question

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
    """A question's result from so many reports."""
    asked = parsed(document)
    assert asked.mechanism is not None
    tally = {0: n - yes, 1: yes}
    estimates = estimate(asked.mechanism, tally, asked.domain, rule)
    return QuestionResult(asked, asked.epsilon, n, tally, estimates)


def yes_in_words(found: QuestionResult, still_open: bool) -> str:
    """The workings of the share of yes in English; "" without any."""
    steps = yes_workings(found, still_open)
    return "" if steps is None else worked_in_words(steps, ENGLISH)


def value(arithmetic: str) -> Fraction:
    """What the sentence's arithmetic comes to, in percent, exactly: fractions, percentages, × − and / ( ) only."""
    text = re.sub(r"([\d.]+)%", r"(\1/100)", arithmetic.replace(",", "")).replace("−", "-").replace("×", "*")
    assert re.fullmatch(r"[\d.()*/ -]+", text)
    exact = re.sub(r"[\d.]+", lambda number: f"Fraction('{number[0]}')", text)
    return 100 * Fraction(eval(exact, {"Fraction": Fraction}))  # noqa: S307 - digits and signs, seen above


@pytest.mark.parametrize(
    ("mechanism", "told"),
    [
        ({"name": "coin_flip"}, "30% @; 2 × 30% − 1/2 = 10.0%. 95% interval: 0.0% to 30.2%."),
        ({"name": "warner", "truth": "2/3"}, "30% @; 3 × 30% − 1 = −10.0%. Chance alone "),
        ({"name": "binary_rr", "a": "3/5", "b": "1/5"}, "30% @; 5/2 × 30% − 1/2 = 25.0%. 95% interval: "),
        ({"epsilon": "1"}, "30.0% @; (30.0% − 26.9%) / 46.2% = 6.7%. 95% interval: 0.0% to 28.6%."),
    ],
)
def test_thirty_yes_of_a_hundred_are_worked_out_in_the_questions_own_numbers(mechanism, told):
    """Under the coin flip they are 10 %, and the truth may be three times as much."""
    told = told.replace("@", "of the reports (n = 100) said yes")
    assert yes_in_words(result(question(mechanism), 30, 100), still_open=False).startswith(told)


@pytest.mark.parametrize("mechanism", CHANNELS, ids=str)
def test_arithmetic_is_the_estimate_that_is_shown(mechanism):
    """For every channel and count: to the digit shown, from the sentence's own numbers, and never without limits."""
    counts = [(n, yes) for n in (1, 2, 3, 7, 100, 333, 6000, 6001)
              for yes in {0, 1, n // 3, n // 2, (7 * n) // 18, (2 * n) // 3, n - 1, n}]  # fmt: skip
    for n, yes in counts:
        found = result(question(mechanism), yes, n)
        (estimate,) = found.estimates
        match = SENTENCE.fullmatch(yes_in_words(found, still_open=False))
        assert match is not None
        share, reports, arithmetic, shown, beyond, interval = match.groups()
        assert int(reports.replace(",", "")) == n
        assert share in arithmetic
        assert estimate.raw is not None
        assert shown == f"{100 * estimate.raw:z,.1f}".replace("-", "−")
        assert abs(value(arithmetic) - Fraction(shown.replace("−", "-").replace(",", ""))) <= Fraction(1, 20)
        assert bool(beyond) is not (0 <= estimate.raw <= 1)
        assert interval == f"95% interval: {100 * estimate.low:.1f}% to {100 * estimate.high:.1f}%"


def test_result_between_two_that_could_be_shown_is_worked_out_from_the_counts():
    """It is 43.65 %, shown as 43.6, and 45.7666... % of the reports, which rounded gives 43.7 or 43.655 and more."""
    told = yes_in_words(result(question({"name": "warner", "truth": "5/6"}), 1373, 3000), still_open=False)

    assert told.startswith("1,373 of the reports (n = 3,000) said yes; 3/2 × 1,373/3,000 − 1/4 = 43.6%. 95% interval:")


def test_open_survey_tells_the_band():
    """The interval for one look would be too narrow for whoever looks again."""
    found = result(question({"name": "coin_flip"}), 30, 100, IntervalRule(band=True))

    assert "95% band: 0.0% to 39.6%." in yes_in_words(found, still_open=True)
    assert "95% interval: 0.0% to 30.2%." in yes_in_words(found, still_open=False)


def test_no_answer_as_a_category_leaves_the_sentence_of_yes():
    """A coin of three: 60 of 100 whose truth is yes send yes, 20 of the others."""
    asked = question({"name": "coin_flip"}, absent_category=True)

    assert "said yes; 5/2 × 30% − 1/2 = 25.0%" in yes_in_words(result(asked, 30, 100), False)


def test_there_is_no_sentence_where_it_would_not_be_true():
    """Another type of question, no reports, channels of several revisions, estimates that are not given."""
    coin = result(question({"name": "coin_flip"}), 30, 100)
    pooled = replace(coin, estimates=[replace(coin.estimates[0], a=None, b=None, count=None)])
    choice = result(one_of(2, {"name": "kary_rr", "odds": "3"}), 30, 100)
    public = replace(coin, question=replace(coin.question, mechanism=None))

    for found in (result(question({"name": "coin_flip"}), 0, 0), pooled, choice, public, replace(coin, estimates=())):
        assert yes_in_words(found, still_open=False) == ""


def test_shares_among_those_who_answered_are_told_with_the_others() -> None:
    """Named after the people: where some were not asked, the same category holds them too."""
    asked = question({"name": "coin_flip"}, absent_category=True)
    question_of = parsed(asked)
    answered = answered_shares([(question_of.mechanism, {0: 360, 1: 320, 2: 320})], question_of.domain)
    found = replace(result(asked, 320, 1000), answered=answered)

    assert answered_in_words(found, False, ENGLISH).endswith("). yes 42.9% (33.6% to 52.2%).")
    hidden = answered_in_words(replace(found, conditional=True), False, ENGLISH)
    assert hidden.startswith("Among those who were asked and answered. Not asked or no answer: ")
    assert answered_in_words(replace(found, answered=()), False, ENGLISH) == ""
