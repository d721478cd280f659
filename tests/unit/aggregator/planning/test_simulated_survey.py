"""Invented respondents: answers that a form would accept, and estimates that find them."""

import json

import numpy as np
from sottovoce.aggregator.planning.batch_randomizers import BatchDraws, seeded
from sottovoce.aggregator.planning.simulated_survey import answers_of, invent, pilot, true_figure
from sottovoce.client.respondent import encode
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.absences import absences
from tests.documents import survey as survey_document
from tests.documents import vector
from tests.unit.aggregator.planning.test_batch_randomizers import CASES


def everything() -> Survey:
    """A survey with every mechanism, and a public number."""
    asked = [{**document, "name": name} for name, (document, _) in CASES.items()]
    public = {"type": "integer", "name": "age", "label": {"en": "A"}, "min": 18, "max": 99, "public": True}
    decimals = {**vector(2, "-0.5", "1.25", "0.25", {"epsilon": "1"}), "name": "decimals"}
    return parse_survey(survey_document(*asked, public, decimals))


def test_invented_answers_encode_to_the_invented_values() -> None:
    """What would be typed into a form is what the simulation counted on."""
    survey = everything()
    truths = invent(survey, 50, seed=3)
    for respondent in range(50):
        values = encode(survey, answers_of(survey, truths, respondent))
        for value, truth in zip(values, truths, strict=True):
            assert value == (tuple(truth[respondent].tolist()) if truth.ndim == 2 else truth[respondent])


def test_pilot_estimates_find_the_invented_truth() -> None:
    """100,000 respondents: every share and mean within five standard errors, every interval in its range."""
    survey = everything()
    truths = invent(survey, 100_000, seed=4)
    results = pilot(survey, truths, BatchDraws(seeded("pilot")))

    checked = 0
    for result, truth in zip(results.questions, truths, strict=True):
        assert result.n == 100_000
        for estimate in result.estimates:
            assert estimate.lowest <= estimate.low < estimate.high <= estimate.highest
            if estimate.method == "bootstrap" or estimate.std_error is None or estimate.raw is None:
                continue
            true = true_figure(result.question, truth, estimate)
            assert true is not None
            assert abs(estimate.raw - true) <= 5 * estimate.std_error + 1e-12, (result.question.name, estimate.option)
            checked += 1
    assert checked >= 25


def test_pilot_would_notice_a_wrong_channel() -> None:
    """Truths turned round lie beyond five standard errors."""
    survey = everything()
    truths = invent(survey, 100_000, seed=4)
    results = pilot(survey, truths, BatchDraws(seeded("pilot")))
    yes = results.questions[0].estimates[0]
    wrong = true_figure(survey.questions[0], 1 - truths[0], yes)

    assert yes.raw is not None
    assert yes.std_error is not None
    assert wrong is not None
    assert abs(yes.raw - wrong) > 5 * yes.std_error


def test_square_wave_finds_the_distribution() -> None:
    """Mean and quartiles of 100,000 numbers within a tenth of the range."""
    survey = everything()
    truths = invent(survey, 100_000, seed=5)
    index = list(CASES).index("square_wave")
    result = pilot(survey, truths, BatchDraws(seeded("wave"))).questions[index]

    assert np.isclose(sum(estimate.raw or 0 for estimate in result.of_kind("share")), 1)
    for estimate in result.of_kind("mean") + result.of_kind("quantile"):
        true = true_figure(result.question, truths[index], estimate)
        assert true is not None
        assert estimate.raw is not None
        assert abs(estimate.raw - true) < 0.9


def test_hidden_questions_have_what_the_device_would_encode() -> None:
    """Many at once as one by one: conditions, chains, added categories, fixed values."""
    survey = absences()
    truths = invent(survey, 400, seed=6)
    hidden = 0
    for respondent in range(400):
        answers = answers_of(survey, truths, respondent)
        values = tuple(tuple(t[respondent].tolist()) if t.ndim == 2 else int(t[respondent]) for t in truths)
        assert encode(survey, answers) == values
        hidden += values[5] == 0
    assert 0 < hidden < 400


def test_pilot_estimates_find_absence_as_a_category() -> None:
    """Shares of yes, no and absent, each within five standard errors of what was invented."""
    survey = absences()
    truths = invent(survey, 100_000, seed=7)
    results = pilot(survey, truths, BatchDraws(seeded("absent")))
    smokes, often = results.questions[1], results.questions[7]

    assert [estimate.option for estimate in smokes.estimates] == ["no", "yes", "absent"]
    assert often.estimates[-1].option == "absent"
    for result, truth in ((smokes, truths[1]), (often, truths[7])):
        for estimate in result.estimates:
            true = true_figure(result.question, truth, estimate)
            assert true is not None
            assert estimate.raw is not None
            assert abs(estimate.raw - true) < 5 * (estimate.std_error or 0)


def test_pilot_follows_ask() -> None:
    """Each question has m / q of the reports, a public one all of them, and the truth is still found."""
    document = json.loads(everything().canonical)
    document["questions"] = [asked for asked in document["questions"] if asked["name"] != "memoized_rr"]
    survey = parse_survey({**document, "ask": 4})
    truths = invent(survey, 60_000, seed=6)
    results = pilot(survey, truths, BatchDraws(seeded("ask")))

    private = len(survey.private)
    expected = 60_000 * 4 / private
    for result, truth in zip(results.questions, truths, strict=True):
        if result.epsilon is None:
            assert result.n == 60_000
            continue
        assert abs(result.n - expected) < 5 * (expected * (1 - 4 / private)) ** 0.5
        for estimate in result.estimates:
            if estimate.method == "bootstrap":
                continue
            true = true_figure(result.question, truth, estimate)
            if true is not None and estimate.raw is not None and estimate.std_error is not None:
                assert abs(estimate.raw - true) <= 5 * estimate.std_error, (result.question.name, estimate.option)
    assert sum(result.n for result in results.questions if result.epsilon) == 4 * 60_000
