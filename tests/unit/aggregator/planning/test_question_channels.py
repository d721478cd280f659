import json
import math
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest
from sottovoce.aggregator.estimators import estimate, public
from sottovoce.aggregator.estimators.support import estimate_share
from sottovoce.aggregator.planning.local_vs_central import PEOPLE, allowed_by_shuffling, price_of_trust, price_svg
from sottovoce.aggregator.planning.question_channels import (
    DIRECT,
    ChosenChannel,
    Measure,
    NumberChannel,
    ShareChannel,
    best_share,
    binomial_window,
    drawn_from,
    expected_of,
    measure_of,
    mechanism_measure,
    over_epsilon,
    public_number,
    read_value,
)
from sottovoce.aggregator.planning.sample_size import Fieldwork, Goal, ThinCells, curve, plan, thin_cells
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.shuffling import pair_weight, shuffled_bound
from sottovoce.shared.spec import Question

from tests.documents import Document, day, names, number, one_of, parsed, question, some_of, vector
from tests.surveys import document, survey

EXAMPLES = Path(__file__).parents[4] / "shared/sottovoce/examples"
FILES = sorted(path for path in EXAMPLES.glob("*/*.yaml") if path.parent.name != "curator")
AT = {"epsilon": "1"}
LAYERS = {"permanent": {"name": "coin_flip"}, "instantaneous": {"name": "coin_flip"}}
MEMOIZED = question({"name": "memoized_rr", **LAYERS, "waves": 3})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_question_of_the_examples_can_be_planned(path: Path) -> None:
    for asked in read_survey_file(path).questions:
        measure = measure_of(asked)
        expected, wide = measure.low + (measure.high - measure.low) * 0.3, (measure.high - measure.low) * 0.1
        made = plan(measure, Goal(expected, wide))

        assert isinstance(measure, NumberChannel if asked.domain.grid is not None else ShareChannel)
        assert made.reports > plan(measure, Goal(expected, 2 * wide)).reports
        assert (made.reports > made.direct) == (asked.mechanism is not None)
        assert not asked.by_fact or ChosenChannel(asked, 1.0, 2).others == []


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (question({"name": "warner", "truth": "2/3"}), "binary_rr"),
        (one_of(20, {**AT, "name": "kary_rr"}), "kary_rr"),
        (one_of(20, AT), "subset_selection"),
        (some_of(5, AT), "sampled_option"),
        (number(0, 100, 1, {**AT, "name": "geometric"}), "geometric"),
        (vector(3, 0, 10, 1, AT), "sampled_coordinate"),
    ],
)
def test_curve_keeps_the_questions_own_mechanism(kind: dict[str, object], name: str) -> None:
    """Each point is what publishing makes of the mechanism's name and that epsilon, for the same true values."""
    asked = parsed(kind)
    ((epsilon, measure),) = over_epsilon(asked, [2.0])

    assert asked.mechanism.name == name
    assert epsilon == 2.0
    assert measure == measure_of(parsed({**kind, "mechanism": {"name": name, "epsilon": "2"}}))


def test_curve_is_of_its_own_number_of_options_or_there_is_none() -> None:
    """None where a mechanism is not made from an epsilon."""
    asked = parsed(one_of(20, {"epsilon": "2", "name": "kary_rr"}))
    ((_, measure),) = over_epsilon(asked, [1.0])

    assert plan(measure, Goal(0.05, 0.05)).reports == 11661
    assert plan(best_share(1.0, 2), Goal(0.05, 0.05)).reports < 1700

    levels = parsed(number(0, 10, 1, {"name": "level_table", "epsilon": "2"}))

    assert over_epsilon(parsed(MEMOIZED), [0.5, 1.0]) == []
    assert [epsilon for epsilon, _ in over_epsilon(levels, [0.1, 2.0])] == [2.0]
    assert over_epsilon(parsed(_public("boolean")), [1.0]) == []


def _public(kind: str, **more: object) -> dict[str, object]:
    return {"type": kind, "name": "q", "label": {"en": "Q"}, "public": True, **more}


def test_public_question_and_channel_without_noise_are_the_direct_question() -> None:
    made = measure_of(parsed(_public("integer", min=0, max=10)))

    assert measure_of(parsed(_public("boolean"))) is DIRECT
    assert made == made.openly
    assert made.variance(5) == 25

    assert DIRECT.openly is DIRECT is ShareChannel(0.75, 0.25).openly
    assert (DIRECT.variance(0.0), DIRECT.variance(1.0), DIRECT.variance(0.5)) == (0, 0, 0.25)


def test_reports_that_speak_of_one_option_or_coordinate_are_told() -> None:
    """So many times more people are to be invited."""
    assert [drawn_from(parsed(asked)) for asked in (some_of(5, AT), vector(3, 0, 10, 1, AT), MEMOIZED)] == [5, 3, 1]


def test_expected_value_is_of_the_kind_that_the_question_estimates() -> None:
    date = parsed(day("2020-01-01", "2020-12-31", AT))
    age = parsed(number(0, "99.5", "0.5", AT))

    assert expected_of(None, 0.1, None) == 0.1
    assert expected_of(age, None, "41.23") == 41.23
    assert read_value(date, "2020-03-01", "--against") - expected_of(date, None, "2020-02-01") == 29
    assert read_value(None, "0.3", "--against") == 0.3


@pytest.mark.parametrize(
    ("prevalence", "mean", "message"),
    [
        (0.1, None, "plan its mean with --mean"),
        (0.1, "3", "plan its mean with --mean"),
        (None, None, "plan its mean with --mean"),
        (None, "many", "--mean must be a number"),
        (None, "nan", "--mean must be a number"),
        (None, "11", "--mean must lie between 0 and 10"),
    ],
)
def test_wrong_expectation_of_a_number_is_told(prevalence: float | None, mean: str | None, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        expected_of(parsed(number(0, 10, 1, AT)), prevalence, mean)


def test_other_wrong_expectations_are_told() -> None:
    date = parsed(day("2020-01-01", "2020-12-31", AT))
    for asked, prevalence, mean, message in [
        (parsed(MEMOIZED), None, "3", "'q' estimates shares"),
        (None, 0.1, "3", "without a survey estimates shares"),
        (None, None, None, "--prevalence is needed"),
        (date, None, "30", r"--mean must be a date \(YYYY-MM-DD\)"),
        (date, None, "2021-01-01", "between 2020-01-01 and 2020-12-31"),
    ]:
        with pytest.raises(SpecError, match=message):
            expected_of(asked, prevalence, mean)
    with pytest.raises(SpecError, match="--against must be a share"):
        read_value(None, "many", "--against")
    with pytest.raises(EstimateError, match="epsilon must lie between"):
        best_share(math.inf, 2)


@pytest.mark.parametrize("n", [1, 2, 40, 999])
@pytest.mark.parametrize("share", [0.0, 1e-6, 0.25, 0.5, 0.97, 1.0])
def test_window_has_the_binomial_probabilities(n: int, share: float) -> None:
    """Against whole-number binomial coefficients; what the window leaves out is next to nothing."""
    counts, weights = binomial_window(n, share)
    exact = [math.comb(n, count) * share**count * (1 - share) ** (n - count) for count in counts.tolist()]

    assert weights == pytest.approx(exact, abs=1e-12)
    assert sum(exact) == pytest.approx(1, abs=1e-12)


def test_window_is_small_beside_many_reports() -> None:
    """10^8 reports: some 80,000 counts around the mean, of the right mean and variance."""
    counts, weights = binomial_window(10**8, 0.3)
    mean = float(weights @ counts)

    assert len(counts) < 10**5
    assert mean == pytest.approx(0.3 * 10**8, rel=1e-9)
    assert float(weights @ np.square(counts - mean)) == pytest.approx(0.21 * 10**8, rel=1e-6)


AT_TWO = {"epsilon": "2"}

MEANS: dict[str, Document] = {
    **{
        name: number(-3, 57, "0.5", {**AT_TWO, "name": name})
        for name, made in MECHANISMS.items()
        if made.serves == "number"
    },
    "sampled_coordinate": vector(3, 0, 10, 1, AT_TWO),
}


def channel(question: Question) -> NumberChannel:
    assert question.mechanism is not None
    planned = mechanism_measure(question.mechanism, question.domain)
    assert isinstance(planned, NumberChannel)
    return planned


@pytest.mark.parametrize("name", MEANS)
def test_limits_of_a_plan_are_those_that_results_show(name: str) -> None:
    """Random tallies: the same limits for the raw mean to the last digits, of a square wave limits within them."""
    question = parsed(MEANS[name])
    assert question.mechanism is not None
    planned = channel(question)
    values = 2 if name == "sampled_coordinate" else question.mechanism.largest + 1
    generator = np.random.Generator(np.random.PCG64(4))
    for n in (1, 30, 400):
        tally = dict(enumerate(generator.multinomial(n, [1 / values] * values).tolist()))
        found = estimate(question.mechanism, tally, question.domain)[0]
        assert found.kind == "mean"
        assert found.raw is not None

        low, high = planned.shown(found.raw, n, 0.95)
        if name == "square_wave":
            assert low <= found.low < found.high <= high
        else:
            assert (low, high) == pytest.approx((found.low, found.high), abs=1e-9)


def test_limits_of_a_public_number_are_those_that_results_show() -> None:
    """Which are also those of the question asked openly, for comparison."""
    question = parsed(number(-3, 57, "0.5", AT_TWO))
    (found,) = public.estimate({0: 3, 40: 9, 120: 2}, question.domain)
    planned = public_number(question.domain)
    assert found.raw is not None

    assert planned == planned.openly == channel(question).openly
    assert planned.shown(found.raw, 14, 0.95) == pytest.approx((found.low, found.high), abs=1e-9)


def test_range_of_millions_of_values_has_an_open_question_too() -> None:
    """Its list of values ends at ten thousand, which the interval cannot tell."""
    wide = channel(parsed(number(0, 10**8, 1, AT_TWO))).openly

    assert len(wide.scored.scores) == 10_001
    assert wide.step == 1
    assert wide.variance(10**7) == pytest.approx(10**7 * 9 * 10**7)


@pytest.mark.parametrize("name", ["rounding_rr", "geometric", "square_wave"])
@pytest.mark.parametrize("mean", [-3, 2.0, 27, 57])
def test_chance_of_a_half_width_is_that_of_the_normal_law(name: str, mean: float) -> None:
    """Against 2,000 equally likely means of scores, each with its limits; widths around those that come out."""
    planned = channel(parsed(MEANS[name]))
    inside = min(max(mean, planned.scored.levels[0]), planned.scored.levels[-1])
    distribution = NormalDist(inside, (planned.variance(mean) / 900) ** 0.5)
    widths = []
    for place in range(500):
        low, high = planned.shown(distribution.inv_cdf((place + 0.5) / 500), 900, 0.95)
        widths.append((high - low) / 2)
    for wanted in (min(widths) - 1e-6, sorted(widths)[100], sorted(widths)[400], max(widths) + 1e-6):
        share = sum(width <= wanted for width in widths) / 500
        assert planned.chance(mean, wanted, 900, 0.95) == pytest.approx(share, abs=0.005)


def test_steps_within_a_bin_widen_the_limits_of_a_square_wave() -> None:
    """121 values in 32 bins of at most 4: a value lies up to 1.5 steps from its bin's middle."""
    planned = channel(parsed(MEANS["square_wave"]))

    assert planned.blur == 0.75
    assert (planned.low, planned.high) == (-3, 57)
    assert channel(parsed(MEANS["geometric"])).blur == 0


def test_dates_are_planned_in_days() -> None:
    """A leap year and the day after it."""
    planned = channel(parsed(day("2020-01-01", "2021-01-01", AT_TWO)))

    assert (planned.high - planned.low, planned.step) == (366, 1)


COIN = ShareChannel(3 / 4, 1 / 4)
WARNER = ShareChannel(2 / 3, 1 / 3)
AGE = measure_of(parsed(number(0, 100, 1, {"name": "rounding_rr", "a": "3/4", "b": "1/4"})))
DIGITS = (0, 0, 1, 1, 1)

HOURS = {"type": "integer", "name": "hours", "label": {"en": "?"}, "min": "0", "max": "99", "step": "1", "public": True}


@pytest.mark.parametrize(
    ("more", "people", "found"),
    [
        ([HOURS], None, ThinCells(200, 500, 3)),
        ([HOURS], 999, ThinCells(200, 999, 3)),
        ([HOURS], 1000, None),
        ([], 9, ThinCells(2, 9, 2)),
        ([], 10, None),
        ([], None, None),
    ],
)
def test_combinations_are_counted_against_the_people(more: list[object], people: int | None, found: object) -> None:
    asked = survey(questions=[*document()["questions"], *more])
    assert thin_cells([(each, None) for each in [None, *asked.questions][1:]], (), people) == found


GATE = {"type": "select_one", "name": "gate", "label": {"en": "?"}, "choices": names(3), "public": True}


def asked_if(name: str, **more: object) -> Document:
    return {**HOURS, "name": name, "when_absent": "0", **more}


@pytest.mark.parametrize(
    ("questions", "arms", "cells"),
    [
        # A person has one arm, and so 100 or 50 answers to two options.
        ([asked_if("a", arm="x"), asked_if("b", arm=["y"], max="49"), {**GATE, "choices": names(2)}], "xy", 300),
        # Each answer leads to a question of its own, or to none.
        ([GATE, asked_if("a", visible_if={"gate": "c0"}), asked_if("b", visible_if={"gate": "c1"})], "", 201),
        ([GATE, asked_if("a", visible_if={"gate": "c0"}), asked_if("b", visible_if={"a": {"min": "50"}})], "", 5052),
        ([GATE, asked_if("a", any_of={"gate": ["c0", "c1"]})], "xyz", 603),
        # Too many combinations lead to questions to look at each.
        ([{**HOURS, "max": "9999"}, asked_if("a", visible_if={"hours": {"min": "9999"}})], "", 1_000_000),
    ],
)
def test_combinations_are_of_questions_that_one_person_may_be_asked(
    questions: list[Document], arms: str, cells: int
) -> None:
    made = survey(questions=questions, **({"arms": [{"name": arm, "weight": 1} for arm in arms]} if arms else {}))
    thin = thin_cells([(each, item) for item in made.items for each in item.questions], arms, 9)
    assert thin is not None
    assert thin.cells == cells


def test_plan_gives_the_printed_table() -> None:
    """Half-width of 3 points: direct, coin flip and Warner at five prevalences; of 5 points at 10 percent."""
    prevalences = (0.01, 0.05, 0.1, 0.3, 0.5)
    coin, warner = ([plan(channel, Goal(p, 0.03)) for p in prevalences] for channel in (COIN, WARNER))

    assert [row.direct for row in coin] == [43, 203, 385, 897, 1068]
    assert [row.reports for row in coin] == [3244, 3404, 3586, 4098, 4269]
    assert [row.reports for row in warner] == [8579, 8740, 8921, 9433, 9604]
    assert [round(row.ratio or 0, digits) for row, digits in zip(coin, DIGITS, strict=True)] == [77, 17, 9.3, 4.6, 4.0]
    assert [round(row.ratio or 0) for row in warner] == [203, 43, 23, 11, 9]
    assert [plan(c, Goal(0.1, 0.05)).reports for c in (DIRECT, COIN, WARNER)] == [139, 1291, 3212]


@pytest.mark.parametrize(("epsilon", "reports"), [(math.log(3), [3586, 6147, 11269]), (2, [1157, 1500, 2185])])
def test_plan_of_categories_gives_the_printed_figures(epsilon: float, reports: list[int]) -> None:
    """Randomized response over k = 2, 4, 8 and 3 points on a category that holds 10 percent."""
    odds = Fraction(math.exp(epsilon)).limit_denominator(10**8)
    asked = [measure_of(parsed(one_of(k, {"name": "kary_rr", "odds": str(odds)}))) for k in (2, 4, 8)]

    assert reports == [plan(measure, Goal(0.1, 0.03)).reports for measure in asked]


def test_plan_without_a_survey_is_for_what_publishing_chooses() -> None:
    """Twenty options at epsilon 1: subsets need 5,120 reports, randomized response over the options 11,661."""
    kary = measure_of(parsed(one_of(20, {"name": "kary_rr", "epsilon": "1"})))

    assert plan(best_share(1.0, 20), Goal(0.05, 0.05)).reports == 5120
    assert plan(kary, Goal(0.05, 0.05)).reports == 11661


def test_plan_of_a_difference_uses_unpooled_variances() -> None:
    """.2 against .3 with power .8: 1,468 a group, 291 directly; the pooled formula would say 1,471."""
    made = plan(COIN, Goal(0.2, other=0.3))

    assert (made.groups, made.reports, made.direct) == (2, 1468, 291)
    assert abs(0.1) / made.std_error == pytest.approx(1.959964 + 0.841621, abs=1e-3)


def test_plan_counts_the_sampling_of_people() -> None:
    """The noise alone would ask for 3,202 at p = .5 instead of 4,269."""
    z = 1.959963984540054

    assert plan(COIN, Goal(0.5, 0.03)).reports == 4269
    assert math.ceil((z / 0.03) ** 2 * COIN.noise(0.5)) == 3202
    for p in (0.0, 0.1, 0.7):
        reported = COIN.reported(p)
        assert COIN.noise(p) + p * (1 - p) == pytest.approx(reported * (1 - reported) / 0.25, abs=1e-15)


@pytest.mark.parametrize(
    ("p", "share", "own_coin", "device"),
    [(0.05, 0.1, -0.005, 0.045), (0.1, 0.1, 0.04, 0.09), (0.1, 0.2, -0.02, 0.08), (0.2, 0.1, 0.13, 0.18)],
)
def test_plan_shows_what_no_sayers_do(p: float, share: float, own_coin: float, device: float) -> None:
    for expected, own in ((own_coin, True), (device, False)):
        rows = plan(COIN, Goal(p, 0.03), Fieldwork(own_coin=own)).protection
        row = next(row for row in rows if row.share == share)

        assert row.expected == pytest.approx(expected, abs=1e-12)
        assert row.bias == pytest.approx(expected - p, abs=1e-12)
    assert tuple(row.share for row in rows) == (0.0, 0.05, 0.1, 0.2)


def test_fieldwork_clusters_and_weights_stretch_what_they_should() -> None:
    made = plan(COIN, Goal(0.1, 0.03), Fieldwork(response_rate=0.5, asked=(2, 5)))

    assert (made.reports, made.invitations) == (3586, 3586 * 5)

    base = plan(COIN, Goal(0.1, 0.03)).reports

    assert plan(COIN, Goal(0.1, 0.03), Fieldwork(clustering=2)).reports == pytest.approx(base * 0.93 / 0.84, abs=1)
    assert plan(COIN, Goal(0.1, 0.03), Fieldwork(weighting=2)).reports == pytest.approx(base * 2, abs=1)


@pytest.mark.parametrize("p", [0.0, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("channel", [DIRECT, COIN, WARNER, ShareChannel(11 / 12, 1 / 6)])
@pytest.mark.parametrize(("half_width", "assurance"), [(0.1, 0.9), (0.2, 0.8)])
def test_assured_plan_is_kept_by_enumeration(
    channel: ShareChannel, p: float, half_width: float, assurance: float
) -> None:
    """With n reports the interval shown is narrow enough with the probability asked for, with n - 1 it is not."""
    reports = plan(channel, Goal(p, half_width, assurance=assurance)).reports

    assert enumerated(channel, p, half_width, reports) >= assurance
    assert enumerated(channel, p, half_width, reports - 1) < assurance


def enumerated(channel: ShareChannel, p: float, half_width: float, n: int) -> float:
    """P(half-width as shown <= wanted), over all counts 0 .. n, by the estimator that results go through."""
    a, b = (Fraction(rate).limit_denominator(100) for rate in (channel.a, channel.b))
    reported = channel.reported(p)
    chance = 0.0
    for count in range(n + 1):
        found = estimate_share("yes", count, n, a, b)
        if (found.high - found.low) / 2 <= half_width:
            chance += math.comb(n, count) * reported**count * (1 - reported) ** (n - count)
    return chance


def test_usual_formula_promises_nothing_of_the_interval_shown() -> None:
    """The coin flip, 3 points: 3,586 reports have it with probability .12, the 3,714 of an assurance with .9."""
    assert COIN.chance(0.1, 0.03, 3586, 0.95) == pytest.approx(0.119, abs=0.001)
    assert plan(COIN, Goal(0.1, 0.03, assurance=0.9)).reports == 3714
    assert COIN.chance(0.1, 0.03, 3713, 0.95) < 0.9 <= COIN.chance(0.1, 0.03, 3714, 0.95)
    assert plan(COIN, Goal(0.1, 0.03, assurance=0.9)).direct == 477


def test_assured_plan_is_found_for_many_reports_and_refused_beyond() -> None:
    made = plan(COIN, Goal(0.1, 0.0002, assurance=0.9)).reports

    assert 10**7 < made < 10**8
    assert COIN.chance(0.1, 0.0002, made - 1, 0.95) < 0.9 <= COIN.chance(0.1, 0.0002, made, 0.95)
    assert plan(COIN, Goal(0.1, 0.0001)).reports > 10**8
    with pytest.raises(EstimateError, match=r"up to 10\^8"):
        plan(COIN, Goal(0.1, 0.0001, assurance=0.9))


def test_design_effects_stretch_an_assured_plan_by_the_ratio_of_variances() -> None:
    """Coin flip at p = .1: noise .75, people .09."""
    goal = Goal(0.1, 0.03, assurance=0.9)
    base = plan(COIN, goal).reports

    assert plan(COIN, goal, Fieldwork(clustering=2)).reports == math.ceil(base * 0.93 / 0.84)
    assert plan(COIN, goal, Fieldwork(weighting=2)).reports == base * 2


def test_plan_of_a_mean_is_in_its_own_unit() -> None:
    """Ages of 0 to 100 with a mean of 30, through the coin flip at the ends: a share of .3, a hundred times as wide."""
    share, mean = plan(COIN, Goal(0.3, 0.03)), plan(AGE, Goal(30, 3))
    groups = plan(AGE, Goal(30, other=40))

    assert (mean.reports, mean.direct, mean.invitations) == (share.reports, share.direct, share.reports)
    assert mean.std_error == pytest.approx(100 * share.std_error)
    assert groups.reports == plan(COIN, Goal(0.3, other=0.4)).reports
    assert mean.protection == ()
    assert plan(AGE, Goal(30, 3), Fieldwork(clustering=2)).reports == (
        plan(COIN, Goal(0.3, 0.03), Fieldwork(clustering=2)).reports
    )


def test_curve_is_of_the_channels_given_with_the_plans_own_point() -> None:
    """In the order of epsilons; a plan out of reach is a point without a number, and no end of the others."""
    made = plan(COIN, Goal(0.1, 0.03))
    others: list[tuple[float, Measure]] = [
        (2.0, best_share(2.0, 2)),
        (math.log(2), WARNER),
        (0.0, ShareChannel(0.5 + 1e-9, 0.5)),
    ]
    points = curve(others, made, math.log(3))

    assert [point.reports for point in points] == [None, 8921, 3586, 1157]
    assert [point.own for point in points] == [False, False, True, False]
    assert [point.ratio for point in points[1:]] == [pytest.approx(ratio, abs=0.05) for ratio in (23.2, 9.3, 3.0)]
    assert len(curve([], made)) == 0


def test_plan_dumps_to_json() -> None:
    document = json.loads(json.dumps(plan(COIN, Goal(0.1, 0.03)).as_dict()))

    assert (document["reports"], document["channel"]["a"], document["goal"]["prevalence"]) == (3586, 0.75, 0.1)
    assert [row["share"] for row in document["protection"]] == [0.0, 0.05, 0.1, 0.2]
    mean = json.loads(json.dumps(plan(AGE, Goal(30, 3)).as_dict()))
    assert (mean["goal"]["mean"], "channel" in mean, mean["protection"]) == (30, False, [])


def test_plan_at_a_prevalence_of_zero_has_no_ratio() -> None:
    made = plan(COIN, Goal(0.0, 0.03))

    assert made.ratio is None
    assert made.direct == 1


def test_impossible_plans_are_refused() -> None:
    for make in (
        lambda: ShareChannel(0.25, 0.75),
        lambda: ShareChannel(math.nan, 0.1),
        lambda: best_share(0, 2),
        lambda: best_share(math.nan, 2),
        lambda: best_share(math.inf, 2),
        lambda: Goal(0.1),
        lambda: Goal(0.1, 0.03, 0.2),
        lambda: Goal(0.1, other=0.1),
        lambda: Goal(0.1, 0.03, confidence=1),
        lambda: Goal(0.1, 0.03, assurance=0.4),
        lambda: Goal(0.1, 0.03, assurance=math.nan),
        lambda: Goal(0.1, other=0.2, assurance=0.9),
        lambda: Goal(0.1, other=0.2, power=1),
        lambda: plan(COIN, Goal(1.1, 0.03)),
        lambda: plan(COIN, Goal(math.nan, 0.03)),
        lambda: plan(COIN, Goal(0.1, other=1.1)),
        lambda: plan(COIN, Goal(0.1, 0.0)),
        lambda: plan(COIN, Goal(0.1, 1.0)),
        lambda: plan(COIN, Goal(0.1, math.nan)),
        lambda: plan(AGE, Goal(101, 3)),
        lambda: plan(AGE, Goal(30, 100)),
        lambda: Fieldwork(response_rate=0),
        lambda: Fieldwork(clustering=0.5),
        lambda: Fieldwork(weighting=math.nan),
        lambda: Fieldwork(asked=(3, 2)),
        lambda: plan(ShareChannel(0.5 + 1e-9, 0.5), Goal(0.1, 0.03)),
        lambda: plan(ShareChannel(0.5 + 1e-9, 0.5), Goal(0.1, 0.03, assurance=0.9)),
    ):
        with pytest.raises(EstimateError):
            make()


ONE = Fraction(1)


def rows(price):
    return {(row.trust, row.name): row.half_widths for row in price.rows}


def test_yes_no_meets_its_formulas():
    """Randomized response at epsilon 1, one noisy count, nothing but people; z = 1.96 at p = 1/2."""
    found = rows(price_of_trust(ONE))
    e = math.e

    for place, n in enumerate(PEOPLE):
        local = 1.959964 * math.sqrt((0.25 + e / (e - 1) ** 2) / n)
        central = 1.959964 * math.sqrt(0.25 / n + 2 / e / (1 - 1 / e) ** 2 / n**2)
        assert found["local", "binary_rr"][place] == pytest.approx(local, rel=1e-5)
        assert found["central", "discrete Laplace"][place] == pytest.approx(central, rel=1e-5)
        assert found["none", "no noise"][place] == pytest.approx(0.979982 / math.sqrt(n), rel=1e-5)


@pytest.mark.parametrize("options", [2, 8])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), ONE, Fraction(3)])
def test_more_trust_never_costs_more(epsilon, options):
    """No noise, central Laplace, shuffled, the same mechanism on the device."""
    found = rows(price_of_trust(epsilon, options))
    same = "binary_rr" if options == 2 else "kary_rr"

    for place in range(len(PEOPLE)):
        order = [("none", "no noise"), ("central", "discrete Laplace"), ("shuffled", same), ("local", same)]
        widths = [found[key][place] for key in order]
        assert widths == sorted(widths)


def test_curators_noise_vanishes_and_the_devices_does_not():
    """Of ten million people central noise is less than a millionth of the error; the device's stays twice as wide."""
    found = rows(price_of_trust(ONE))
    none = found["none", "no noise"][-1]

    assert found["central", "discrete Laplace"][-1] / none < 1 + 1e-6
    assert found["local", "binary_rr"][-1] / none == pytest.approx(2.164, abs=0.001)


@pytest.mark.parametrize(("epsilon", "people"), [(0.5, 1000), (1.0, 10_000)])
def test_shuffling_allows_what_its_bound_of_clones_confirms(epsilon, people):
    """The closed form is a theorem; the numeric bound, which is tighter, agrees that epsilon is not passed."""
    local = allowed_by_shuffling(epsilon, people, 1 / people**2)

    assert local >= epsilon
    assert shuffled_bound(local, pair_weight(local), people, 1 / people**2) <= epsilon


def test_every_mechanism_that_serves_the_question_has_its_row():
    """Of a choice, of marks and of numbers, those that there are at this epsilon; the condition of mixing is told."""
    price = price_of_trust(Fraction(2), 8, 0.1)
    names = [row.name for row in price.rows if row.trust == "local"]

    assert names == [
        *("kary_rr", "subset_selection", "optimal_unary", "hadamard_response", "sampled_option", "bitwise_rr"),
        *("rounding_rr", "level_table", "geometric", "square_wave"),
    ]
    assert next(row for row in price.rows if row.trust == "shuffled").condition.startswith("holds only if")


def test_picture_has_a_line_for_each_row():
    price = price_of_trust(ONE)
    picture = ET.fromstring(price_svg(price))  # noqa: S314

    assert len([each for each in picture.iter() if each.tag.endswith("polyline")]) == len(price.rows)


@pytest.mark.parametrize(
    ("epsilon", "options", "prevalence", "confidence"),
    [
        (Fraction(0), 2, 0.5, 0.95),
        (Fraction(11), 2, 0.5, 0.95),
        (ONE, 1, 0.5, 0.95),
        (ONE, 2, 2.0, 0.95),
        (ONE, 2, 0.5, 1),
    ],
)
def test_comparison_out_of_range_is_refused(epsilon, options, prevalence, confidence):
    with pytest.raises(EstimateError, match=r"must lie|needs"):
        price_of_trust(epsilon, options, prevalence, confidence)
