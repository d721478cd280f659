import json
import math
import tracemalloc
from fractions import Fraction
from itertools import chain, repeat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.authoring.simulation import read_setting
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
from sottovoce.aggregator.planning.vectorized_randomizers import BATCH, BatchDraws, seeded, simulate
from sottovoce.aggregator.storage.pack_values import unpack
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.client.respondent import encode
from sottovoce.shared.mechanisms import MECHANISMS, Mechanism
from sottovoce.shared.mechanisms.base import Table
from sottovoce.shared.mechanisms.bits import Bits
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.absences import absences, either
from tests.documents import number, one_of, parsed, question, some_of, survey as survey_document, vector
from tests.exported import TODAY, published, send
from tests.surveys import every_type, survey
from tests.unit.aggregator.analysis.mixtures.test_fielded import CHEATERS


def everything() -> Survey:
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


def test_people_have_one_answer_to_both_questions_of_a_design() -> None:
    [[rare, often, _]] = invent(CHEATERS, 200, seed=2)
    assert rare.tolist() == often.tolist()
    assert 0 < rare.sum() < 200
    setting = read_setting(CHEATERS, {"set.copied_rare.yes": "40", "set.copied_often.yes": "5"}, 1000)
    assert [field.name for field in setting.fields] == ["set.copied_rare.yes"]
    [rare, often, _] = invent_as_set(CHEATERS, 1000, 2, setting.wanted)
    assert rare.tolist() == often.tolist()
    assert 300 < rare.sum() < 500


@pytest.mark.parametrize("found", [EVERY, COHORTS], ids=["every type", "cohorts and ask"])
def test_results_are_those_of_a_database_with_the_same_reports(found: Survey, tmp_path: Path) -> None:
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


COIN = {"a": "3/4", "b": "1/4"}
CASES = {
    "binary_rr": (question({"name": "binary_rr", "a": "11/12", "b": "1/6"}), [0, 1]),
    "kary_rr": (one_of(5, {"name": "kary_rr", "odds": "7/2"}), [0, 2, 4]),
    "memoized_rr": (
        question(
            {
                "name": "memoized_rr",
                "permanent": {"name": "coin_flip"},
                "instantaneous": {"name": "warner", "truth": "2/3"},
                "waves": 3,
            }
        ),
        [0, 1],
    ),
    "subset_selection": (one_of(6, {"name": "subset_selection", "odds": "3", "size": 2}), [0, 3, 5]),
    "hadamard_response": (one_of(6, {"name": "hadamard_response", "odds": "3"}), [0, 3, 5]),
    "optimal_unary": (one_of(5, {"name": "optimal_unary", "odds": "3"}), [0, 2, 4]),
    "sampled_option": (some_of(3, {"name": "sampled_option", **COIN}), [0, 5, 7]),
    "bitwise_rr": (some_of(4, {"name": "bitwise_rr", **COIN}, max_choices=2), [0, 6, 9]),
    "rounding_rr": (number("0", "1", "0.1", {"name": "rounding_rr", **COIN}), [0, 3, 10]),
    "level_table": (number(0, 9, 1, {"epsilon": "2"}), [0, 1, 4, 9]),
    "square_wave": (number(0, 9, 1, {"name": "square_wave", "odds": "3", "bins": 5, "width": 1}), [0, 5, 9]),
    "geometric": (number(0, 4, 1, {"name": "geometric", "ratio": "1/2"}), [0, 2, 4]),
    "sampled_coordinate": (vector(2, 0, 4, 1, {"name": "sampled_coordinate", **COIN}), [(0, 4), (1, 3)]),
}
RUNS = 40_000
CRITICAL = 6.0
"""Standard deviations of a chi-square statistic above its mean: about 1 in 10^7 for these sizes; the seed is fixed."""


def excess(mechanism: Mechanism, truth: object, reported: np.ndarray) -> float:
    counts = np.bincount(reported.astype(np.int64), minlength=mechanism.largest + 1)
    admitted = [value for value in range(mechanism.largest + 1) if mechanism.admits(value)]
    assert counts.sum() == counts[admitted].sum(), "a value that no report may carry"
    expected = np.array([float(mechanism.probability(value, truth)) for value in admitted]) * len(reported)
    statistic = ((counts[admitted] - expected) ** 2 / expected).sum()
    freedom = len(admitted) - 1
    return float((statistic - freedom) / (2 * freedom) ** 0.5)


def batch(name: str, truth: object, seed: str, runs: int = RUNS) -> tuple[Mechanism, np.ndarray]:
    mechanism = parsed(CASES[name][0]).mechanism
    assert mechanism is not None
    return mechanism, simulate(mechanism, np.array([truth] * runs), BatchDraws(seeded(seed)))


def test_every_mechanism_can_be_drawn_in_batches_of_any_size() -> None:
    generic = {name for name, made in MECHANISMS.items() if issubclass(made, Table | Bits)}

    assert set(BATCH) | generic == set(RANDOMIZERS) == set(CASES)

    assert len(simulate(parsed(CASES["binary_rr"][0]).mechanism, np.array([], dtype=np.int64), BatchDraws())) == 0


@pytest.mark.parametrize("name", [name for name in CASES if issubclass(MECHANISMS[name], Table)])
def test_any_table_is_drawn_from_its_weights(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table without a function of its own; of several truths at once, each from its row."""
    monkeypatch.delitem(BATCH, name)
    truths = CASES[name][1]
    mechanism, reported = batch(name, truths[0], name)
    assert excess(mechanism, truths[0], reported) < CRITICAL
    mixed = simulate(mechanism, np.array(truths * RUNS), BatchDraws(seeded(name)))
    for place, truth in enumerate(truths):
        assert excess(mechanism, truth, mixed[place :: len(truths)]) < CRITICAL


@pytest.mark.parametrize("name", CASES)
def test_batch_draws_from_the_declared_channel(name: str) -> None:
    """Every truth of every case: the counts fit the exact probabilities."""
    for truth in CASES[name][1]:
        mechanism, reported = batch(name, truth, name)
        assert excess(mechanism, truth, reported) < CRITICAL


@pytest.mark.parametrize("name", ["binary_rr", "kary_rr", "subset_selection"])
def test_fit_catches_another_truth_and_a_biased_channel(name: str) -> None:
    """Reports of another truth, or 3 % of reports that are always the largest value, do not fit."""
    first, other = CASES[name][1][:2]
    mechanism, reported = batch(name, first, "mutant")
    biased = reported.copy()
    biased[: RUNS // 33] = mechanism.largest

    assert excess(mechanism, other, reported) > CRITICAL
    assert excess(mechanism, first, biased) > CRITICAL


def test_seeded_streams_repeat_and_differ() -> None:
    runs = [batch("kary_rr", 1, seed, 1000)[1].tolist() for seed in ("a", "a", "b")]

    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("bound", [1, 2, 3, 200, 256, 257, 65537, 2**31 + 1, 2**32])
def test_below_is_uniform_over_its_whole_range(bound: int) -> None:
    """No value beyond the bound, and eight equal parts of the range equally often."""
    drawn = BatchDraws(seeded(f"below {bound}")).below(bound, 50_000).astype(np.int64)
    parts = np.bincount(drawn * 8 // bound, minlength=8)
    sizes = np.bincount(np.arange(min(bound, 8 * 10**5)) * 8 // min(bound, 8 * 10**5), minlength=8)
    expected = sizes / sizes.sum() * len(drawn)

    assert drawn.min() >= 0
    assert drawn.max() < bound
    assert (np.abs(parts - expected) <= 6 * np.sqrt(expected + 1)).all()


@given(st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=50), st.integers(1, 60), st.data())
def test_trials_are_those_of_the_whole_number_however_many_bits_it_takes(going: Fraction, most: int, data) -> None:
    """Also where the first bits, or the first two times as many, are just those of a power of the ratio."""
    power = going ** data.draw(st.integers(1, most))
    known = data.draw(st.integers(0, 2))
    near = int(power * 2 ** (32 * known)) << 32 * (4 - known) | data.draw(st.integers(0, 2 ** (32 * (4 - known)) - 1))
    words = chain((near >> 32 * place & 0xFFFFFFFF for place in (3, 2, 1, 0)), repeat(0))
    number = BatchDraws(lambda _: np.uint32(next(words)).tobytes()).trials(going, most, 1)[0]

    assert number == 1 + sum(Fraction(near, 2**128) < going**j for j in range(1, most))


def test_many_trials_at_once_are_those_of_each_alone() -> None:
    """Prefixes on, beside and between the powers, in one array as one by one."""
    going, most = Fraction(999, 1000), 1000
    edges = [int(going**j * 2**32) for j in range(1, most, 37)]
    prefixes = np.array([edge + off for edge in edges for off in (-1, 0, 1, 40_000)] + [0, 2**32 - 1], dtype=np.uint32)
    bits = chain([prefixes.tobytes()], repeat(bytes(4)))
    numbers = BatchDraws(lambda _: next(bits)).trials(going, most, len(prefixes))

    # A whole number is below a power if it is below the next whole number.
    powers = [math.ceil(going**j * 2**32) for j in range(1, most)]
    expected = [1 + sum(int(prefix) < power for power in powers) for prefix in prefixes]
    assert numbers.tolist() == expected


@given(st.lists(st.integers(1, 52), max_size=9), st.integers(0, 50))
def test_digits_are_below_their_bounds(bounds: list[int], count: int) -> None:
    drawn = list(BatchDraws(seeded("digits")).each_below(bounds, count))

    assert [len(each) for each in drawn] == [count] * len(bounds)
    assert all((each < bound).all() for each, bound in zip(drawn, bounds, strict=True))


def test_digits_of_one_number_are_independent_and_uniform() -> None:
    digits = list(BatchDraws(seeded("digits")).each_below([3, 4, 5], 60_000))
    cells = np.bincount(np.ravel_multi_index([each.astype(np.int64) for each in digits], (3, 4, 5)), minlength=60)

    assert ((cells - 1000) ** 2 / 1000).sum() < 59 + CRITICAL * (2 * 59) ** 0.5


def test_masks_of_every_size_hold_the_truth_as_often_as_they_ought_to() -> None:
    """Up to the widest mask: as many options as the size says, and every other one equally often."""
    for k, size, truth in ((2, 1, 1), (9, 8, 0), (33, 7, 32), (52, 51, 51), (52, 13, 20)):
        mechanism = parsed(one_of(k, {"name": "subset_selection", "odds": "3", "size": size})).mechanism
        masks = simulate(mechanism, np.full(RUNS, truth), BatchDraws(seeded(f"{k} {size}"))).astype(np.uint64)
        assert (np.bitwise_count(masks) == size).all()
        a, b = map(float, mechanism.support)
        held = (masks[:, None] >> np.arange(k, dtype=np.uint64) & np.uint64(1)).sum(axis=0)
        expected = np.where(np.arange(k) == truth, a, b)
        assert (np.abs(held / RUNS - expected) <= 5 * np.sqrt(expected * (1 - expected) / RUNS) + 1e-12).all()
