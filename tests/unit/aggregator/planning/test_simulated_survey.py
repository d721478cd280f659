"""Invented respondents: answers that a form would accept, and estimates that find them."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.planning.simulated_survey import (
    SetShares,
    answers_of,
    invent,
    invent_as_set,
    pilot,
    reports_of,
    true_figure,
    true_tallies,
)
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.aggregator.storage.pack_values import unpack
from sottovoce.client.respondent import encode
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.absences import absences, either
from tests.documents import survey as survey_document, vector
from tests.exported import TODAY, published, send
from tests.surveys import every_type, survey
from tests.unit.aggregator.planning.test_vectorized_randomizers import CASES


def everything() -> Survey:
    """A survey with every mechanism, and a public number."""
    asked = [{**document, "name": name} for name, (document, _) in CASES.items()]
    public = {"type": "integer", "name": "age", "label": {"en": "A"}, "min": 18, "max": 99, "public": True}
    decimals = {**vector(2, "-0.5", "1.25", "0.25", {"epsilon": "1"}), "name": "decimals"}
    return parse_survey(survey_document(*asked, public, decimals))


def test_invented_answers_encode_to_the_invented_values() -> None:
    """What would be typed into a form is what the simulation counted on."""
    survey = everything()
    (truths,) = invent(survey, 50, seed=3)
    for respondent in range(50):
        values = encode(survey, answers_of(survey, truths, respondent))
        for value, truth in zip(values, truths, strict=True):
            assert value == (tuple(truth[respondent].tolist()) if truth.ndim == 2 else truth[respondent])


def test_pilot_estimates_find_the_invented_truth() -> None:
    """100,000 respondents: every share and mean within five standard errors, every interval in its range."""
    survey = everything()
    piloted = pilot(survey, invent(survey, 100_000, seed=4), BatchDraws(seeded("pilot")))
    results, truths = piloted.results, piloted.truths

    checked = 0
    for result, truth in zip(results.questions, truths, strict=True):
        assert result.n == 100_000
        for estimate in result.estimates:
            if estimate.method == "none":
                continue
            assert estimate.lowest <= estimate.low < estimate.high <= estimate.highest
            if estimate.method == "inverted" or estimate.std_error is None or estimate.raw is None:
                continue
            true = true_figure(result.question, truth, estimate)
            assert true is not None
            assert abs(estimate.raw - true) <= 5 * estimate.std_error + 1e-12, (result.question.name, estimate.option)
            checked += 1
    assert checked >= 25


def test_pilot_would_notice_a_wrong_channel() -> None:
    """Truths turned round lie beyond five standard errors."""
    survey = everything()
    piloted = pilot(survey, invent(survey, 100_000, seed=4), BatchDraws(seeded("pilot")))
    results, truths = piloted.results, piloted.truths
    yes = results.questions[0].estimates[0]
    wrong = true_figure(survey.questions[0], [{1 - value: count for value, count in truths[0][0].items()}], yes)

    assert yes.raw is not None
    assert yes.std_error is not None
    assert wrong is not None
    assert abs(yes.raw - wrong) > 5 * yes.std_error


def test_square_wave_finds_the_distribution() -> None:
    """Mean and quartiles of 100,000 numbers within a tenth of the range."""
    survey = everything()
    index = list(CASES).index("square_wave")
    piloted = pilot(survey, invent(survey, 100_000, seed=5), BatchDraws(seeded("wave")))
    result, truths = piloted.results.questions[index], piloted.truths

    assert np.isclose(sum(estimate.raw or 0 for estimate in result.of_kind("share")), 1)
    for estimate in result.of_kind("mean") + result.of_kind("quantile"):
        true = true_figure(result.question, truths[index], estimate)
        assert true is not None
        assert estimate.raw is not None
        assert abs(estimate.raw - true) < 0.9


@pytest.mark.parametrize(("survey", "last"), [(absences(), 5), (either(), 4)], ids=["all", "any"])
def test_hidden_questions_have_what_the_device_would_encode(survey: Survey, last: int) -> None:
    """Many at once as one by one: conditions, chains, added categories, fixed values."""
    (truths,) = invent(survey, 400, seed=6)
    hidden = 0
    for respondent in range(400):
        answers = answers_of(survey, truths, respondent)
        values = tuple(tuple(t[respondent].tolist()) if t.ndim == 2 else int(t[respondent]) for t in truths)
        assert encode(survey, answers) == values
        hidden += values[last] == 0
    assert 0 < hidden < 400


def test_pilot_estimates_find_absence_as_a_category() -> None:
    """Shares of yes, no and absent, each within five standard errors of what was invented."""
    survey = absences()
    piloted = pilot(survey, invent(survey, 100_000, seed=7), BatchDraws(seeded("absent")))
    results, truths = piloted.results, piloted.truths
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
    piloted = pilot(survey, invent(survey, 60_000, seed=6), BatchDraws(seeded("ask")))
    results, truths = piloted.results, piloted.truths

    private = len(survey.private)
    expected = 60_000 * 4 / private
    for result, truth in zip(results.questions, truths, strict=True):
        if result.epsilon is None:
            assert result.n == 60_000
            continue
        assert abs(result.n - expected) < 5 * (expected * (1 - 4 / private)) ** 0.5
        for estimate in result.estimates:
            if estimate.method in {"none", "inverted"}:
                continue
            true = true_figure(result.question, truth, estimate)
            if true is not None and estimate.raw is not None and estimate.std_error is not None:
                assert abs(estimate.raw - true) <= 5 * estimate.std_error, (result.question.name, estimate.option)
    assert sum(result.n for result in results.questions if result.epsilon) == 4 * 60_000


def test_the_seed_decides_whatever_the_size_of_the_blocks() -> None:
    """Seven respondents at a time, or all of them at once; another seed invents others."""
    survey = absences()
    whole, other = (list(invent(survey, 100, seed)) for seed in (8, 9))
    parts = list(invent(survey, 100, 8, block=7))

    assert [len(part[0]) for part in parts] == [7] * 14 + [2]
    for index, values in enumerate(whole[0]):
        assert np.array_equal(np.concatenate([part[index] for part in parts]), values)
    assert any(not np.array_equal(one, another) for one, another in zip(whole[0], other[0], strict=True))


def test_true_figures_are_those_of_the_values_one_by_one() -> None:
    """Shares, means and quantiles from tallies, of three blocks, beside numpy's from all values."""
    survey = everything()
    blocks = list(invent(survey, 1001, 10, block=400))
    piloted = pilot(survey, blocks, BatchDraws(seeded("figures")))
    names = [question.name for question in survey.questions]
    values = {name: np.concatenate([block[index] for block in blocks]) for index, name in enumerate(names)}

    def figures(name: str, kind: str) -> list[float | None]:
        index = names.index(name)
        estimates = piloted.results.questions[index].of_kind(kind)
        return [true_figure(survey.questions[index], piloted.truths[index], estimate) for estimate in estimates]

    masks, waves, decimals = values["bitwise_rr"], values["square_wave"], values["decimals"]
    assert figures("bitwise_rr", "share") == [float((masks >> option & 1).mean()) for option in range(4)]
    assert figures("kary_rr", "share") == [float((values["kary_rr"] == option).mean()) for option in range(5)]
    assert figures("square_wave", "mean") == [pytest.approx(waves.mean(), abs=1e-12)]
    asked = piloted.results.questions[names.index("square_wave")]
    percents = [int(estimate.option[1:]) for estimate in asked.of_kind("quantile")]
    assert figures("square_wave", "quantile") == pytest.approx(np.percentile(waves, percents).tolist(), abs=1e-12)
    assert figures("decimals", "mean") == pytest.approx((-0.5 + 0.25 * decimals.mean(axis=0)).tolist(), abs=1e-12)


def test_memory_of_a_pilot_does_not_grow_with_its_respondents() -> None:
    """Ten times as many respondents, and no more at once than a few blocks of them."""
    survey = parse_survey(survey_document({**CASES["kary_rr"][0], "name": "k"}, {**CASES["geometric"][0], "name": "g"}))
    peaks = []
    for count in (200_000, 2_000_000):
        tracemalloc.start()
        pilot(survey, invent(survey, count, 11), BatchDraws(seeded("memory")))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < 1.2 * peaks[0]


def test_anchors_have_their_known_share() -> None:
    """Simulated people are not careless."""
    asked = {"type": "boolean", "label": {"en": "M"}, "public": True, "anchor": True}
    survey = parse_survey(survey_document(*({**asked, "name": f"m{share}", "known_share": share} for share in "01")))
    [values] = list(invent(survey, 100, 1))
    assert [column.tolist() for column in values] == [[0] * 100, [1] * 100]


EVERY = survey(questions=every_type())

COHORTS = survey(ask=1)


@pytest.mark.parametrize("found", [EVERY, COHORTS], ids=["every type", "cohorts and ask"])
def test_results_are_those_of_a_database_with_the_same_reports(found: Survey, tmp_path: Path) -> None:
    """Every count and figure, of all people and of each cohort."""
    (truths,) = invent(found, 60, seed=5)
    invented = reports_of(found, truths, BatchDraws(seeded("as stored")))
    storage = published(tmp_path, found)
    send(storage, found, [unpack(packed) for chunk in invented.packed_by_wave(0) for _, packed in chunk])
    storage.close_survey(found.name, TODAY)
    real = revisions_of(storage, found.name)

    groups = [group.name for group in analyse(real).cohorts]
    assert len(groups) > 1
    for cohort in [None, *groups]:
        shown = [export_document(analyse(each, cohort)) for each in (real, [invented.revision])]
        assert shown[0] == shown[1]
    storage.close()


def test_device_that_is_not_asked_reports_nothing() -> None:
    """Of two private questions each person is asked one."""
    (truths,) = invent(COHORTS, 300, seed=6)
    columns = reports_of(COHORTS, truths, BatchDraws(seeded("ask"))).columns
    cheated, reason = columns.asked("cheated"), columns.asked("reason")

    assert (cheated ^ reason).all()
    assert 100 < cheated.sum() < 200
    assert columns.asked("year").all()


def test_invented_people_have_the_shares_and_means_that_were_set() -> None:
    """Of every type, within five standard errors; at the ends of the range exactly."""
    count = 20_000
    wanted = [
        SetShares(places=(0.3,) * len(question.options or "1"))
        if question.domain.grid
        else SetShares(tuple(np.full(question.domain.size, 1 / question.domain.size)))
        for question in EVERY.questions
    ]
    truths = invent_as_set(EVERY, count, 1, wanted)
    reported = analyse([reports_of(EVERY, truths, BatchDraws(seeded("set"))).revision])
    for result, truth, each in zip(reported.questions, truths, wanted, strict=True):
        question = result.question
        if question.kind.truth == "options" and question.domain.max_choices < question.domain.size:
            continue
        for estimate in result.estimates:
            figure = true_figure(question, true_tallies(question, truth), estimate)
            if estimate.kind == "mean":
                width = estimate.highest - estimate.lowest
                assert figure == pytest.approx(estimate.lowest + each.places[0] * width, abs=0.01 * width)
            elif estimate.kind == "share" and question.domain.grid is None:
                place = question.options.index(estimate.option)
                assert figure == pytest.approx(each.shares[place], abs=5 * (0.25 / count) ** 0.5)


def test_mean_at_the_end_of_the_range_leaves_nothing_else() -> None:
    """Nobody lies below the least number or above the largest."""
    asked = survey(questions=[question for question in every_type() if question["name"] == "days"])
    for place, step in ((0.0, 0), (1.0, asked.questions[0].domain.steps)):
        (truth,) = invent_as_set(asked, 50, 2, [SetShares(places=(place,))])
        assert set(truth.tolist()) == {step}
