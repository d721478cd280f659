"""Results and comparisons by random arm equal those of a survey with this arm alone; small arms are not shown."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.diagnostics import alarms, chance_of_arms
from sottovoce.aggregator.analysis.documents import comparison_document
from sottovoce.aggregator.analysis.estimates import SurveyResults, analyse
from sottovoce.aggregator.analysis.published_counts import arms_of, count_arms, has_split, is_split
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms
from sottovoce.aggregator.planning.simulated_survey import InventedReports, SetShares, invent_as_set, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws
from sottovoce.aggregator.storage import Cell
from sottovoce.aggregator.storage.models import ALL
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError, OptionsError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import names, survey
from tests.exported import counted
from tests.surveys import months
from tests.unit.shared.test_schema import validator
from tests.vectors.arms import COIN, arms, asks


def of_arms(*questions: dict[str, Any], weights: Sequence[int] = (1, 1), **more: Any) -> Survey:
    return parse_survey(survey(*questions, arms=arms(*weights), **more))


def study(weights: Sequence[int] = (1, 1), declining: bool = False, **more: Any) -> Survey:
    """A public and a private question for all arms, and one for the first arm."""
    year = asks("year", kind="select_one", choices=names(2), public=True)
    copied = asks("copied", mechanism=COIN, **({"absent_category": True} if declining else {}))
    return of_arms(year, asks("direct", "direct", public=True), copied, weights=weights, **more)


def columns_of(survey: Survey, arm: Sequence[int], rare: int = 20) -> Columns:
    """Reports of these arms, in turn over the waves; every fifth says yes; ``rare`` of each arm chose the last year."""
    n = len(arm)
    drawn = np.array(arm)
    year = np.zeros(n, np.uint8)
    for each in set(arm):
        year[np.flatnonzero(drawn == each)[:rare]] = 1
    values = {
        "year": year,
        "direct": np.where(drawn == 0, 0, 255).astype(np.uint8),
        "copied": (np.arange(n) % 5 == 0).astype(np.uint8),
        ARM: drawn.astype(np.uint8),
    }
    return Columns((survey,), values, (np.arange(n) % len(survey.waves)).astype(np.uint8), np.zeros(n, np.uint8))


def results_of(columns: Columns, wave: int | None = None) -> dict[str, SurveyResults]:
    found = arms_of([counted(columns.survey)], count_arms(columns))
    return {name: analyse(each, wave=wave) for name, each in found}


DIRECT, PROTECTED, COMMON = 0.2, 0.35, 0.3

HALVES = (asks("direct", "direct", public=True), asks("cheated", "protected", mechanism=COIN))


def simulated(
    people: int, seed: int, weights: Sequence[int] = (1, 1), admit: tuple[float, float] = (DIRECT, PROTECTED)
) -> InventedReports:
    """Reports of people of whom fewer admit when they are asked directly; one question is for all."""
    return invented((*HALVES, asks("copied", mechanism=COIN)), (*admit, COMMON, 0.5), people, seed, weights)


def invented(
    questions: Sequence[dict[str, Any]],
    shares: Sequence[float],
    people: int,
    seed: int,
    weights: Sequence[int] = (1, 1),
) -> InventedReports:
    """Reports of people of whom these shares say yes to each question, and then are in the second arm."""
    asked, wanted = of_arms(*questions, weights=weights), [SetShares((1 - share, share)) for share in shares]
    truths = invent_as_set(asked, people, seed, wanted)
    return reports_of(asked, truths, BatchDraws(np.random.default_rng(seed).bytes))


def test_questions_of_several_arms_are_split() -> None:
    asked = study()

    assert {each.name for each in asked.questions if is_split(asked, each)} == {"year", "copied"}
    assert has_split(asked)
    assert not has_split(parse_survey(survey(asks("copied", mechanism=COIN))))


def test_each_arm_is_counted() -> None:
    columns = columns_of(study(), [0, 1, 1] * 100)
    found = results_of(columns)

    assert {name: each.reports for name, each in found.items()} == {"direct": 100, "protected": 200}
    for arm, each in enumerate(found.values()):
        copied = columns.values["copied"][columns.values[ARM] == arm]
        assert each.questions[2].tally == {0: int((copied == 0).sum()), 1: int((copied == 1).sum())}
    assert found["direct"].questions[1].n == 100
    assert found["protected"].questions[1].n == 0


def test_waves_are_counted_apart() -> None:
    columns = columns_of(study(waves=months(2)), [0, 0, 1, 1] * 50)

    assert [each.reports for each in results_of(columns).values()] == [100, 100]
    assert [each.reports for each in results_of(columns, wave=1).values()] == [50, 50]


@pytest.mark.parametrize(("question", "declining"), [("copied", False), ("copied", True), ("direct", False)])
def test_shares_of_an_arm_in_two_waves_have_one_error_and_width(question: str, declining: bool) -> None:
    columns = columns_of(study(declining=declining, waves=months(2)), [0, 1, 1] * 100)
    columns.values["copied"][:] = np.arange(300) // 2 % 4 % (2 + declining)
    [arm, *_], compared = results_of(columns).values(), compare_across_arms(columns, (question,), "yes").values[0]
    [shown] = [each for each in arm.questions if each.question.name == question]
    share = (shown.answered or shown.estimates)[-1]

    assert (compared.raw, compared.low, compared.high) == pytest.approx((share.raw, share.low, share.high), rel=1e-6)
    # One divides by n - 1 and the other by n.
    assert compared.std_error == pytest.approx(share.std_error, rel=1 / 99)


@pytest.mark.parametrize("small", range(1, 5))
def test_small_arm_is_not_shown_alone(small: int) -> None:
    """Two arms are then not split; of three the small one joins the next larger one, and nothing gives it away."""
    assert results_of(columns_of(study(), [0] * small + [1] * 100)) == {}

    survey = study((1, 1, 1))
    three = [arm.name for arm in survey.arms]
    found = results_of(columns_of(survey, [0] * small + [1] * 100 + [2] * 200))
    assert {name: each.reports for name, each in found.items()} == {
        three[2]: 200,
        f"{three[0]}, {three[1]}": 100 + small,
    }


def test_arm_without_people_hides_nothing() -> None:
    survey = study((1, 1, 1))

    assert len(results_of(columns_of(survey, [1] * 100 + [2] * 100))) == 2
    assert results_of(columns_of(survey, [1] * 100)) == {}
    assert results_of(columns_of(survey, [])) == {}


def test_small_arm_of_a_wave_is_shown_in_no_view() -> None:
    """Else all waves less the other wave would be these people."""
    columns = columns_of(study(waves=months(2)), [0, 1] * 50 + [1] * 100)
    few = replace(columns, wave=np.where(columns.values[ARM] == 0, np.arange(len(columns)) < 6, columns.wave))

    assert results_of(replace(few, wave=few.wave.astype(np.uint8))) == {}


@pytest.mark.parametrize("rare", range(1, 6))
def test_rare_public_answer_is_left_out(rare: int) -> None:
    found = results_of(columns_of(study(), [0, 1] * 100, rare))

    assert [each.questions[0].n for each in found.values()] == ([100, 100] if rare == 5 else [0, 0])
    assert [each.questions[2].n for each in found.values()] == [100, 100]


@pytest.mark.parametrize("rare", range(6))
def test_rare_answer_of_direct_arms_is_shown_at_every_count(rare: int) -> None:
    """What two of three arms are asked openly has its share in both, however few gave an answer."""
    asked = asks("direct", ["direct", "third"], public=True)
    survey = of_arms(asked, asks("copied", mechanism=COIN), weights=(1, 1, 1))
    drawn = np.repeat([0, 1, 2], 100)
    said = np.ma.masked_where(drawn == 1, (np.arange(300) % 100 < rare).astype(int))
    found = results_of(Columns.from_arrays(survey, {"direct": said, "copied": np.zeros(300), ARM: drawn}))

    assert [(each.questions[0].n, each.questions[0].tally.get(1, 0)) for each in found.values()] == [
        (100, rare), (0, 0), (100, rare),
    ]  # fmt: skip


def test_no_two_views_differ_by_a_few_people() -> None:
    """Over many sizes of three arms: all less any union of shown arms is nobody, or five people or more."""
    survey = study((1, 1, 1))
    for sizes in itertools.product((0, 1, 4, 5, 9), repeat=3):
        arm = [each for each, size in enumerate(sizes) for _ in range(size)]
        shown = [each.reports for each in results_of(columns_of(survey, arm)).values()]
        for kept in itertools.product((0, 1), repeat=len(shown)):
            left = sum(sizes) - sum(itertools.compress(shown, kept))
            assert not shown or left == 0 or left >= 5, (sizes, shown)


def test_direct_and_protected_shares_are_compared_with_difference_and_ratio() -> None:
    """4,000 people: both within their limits, and the standard error is the one of two independent shares."""
    columns = simulated(4000, 7).columns
    found = compare_across_arms(columns, ("cheated", "direct"))
    (apart,), (ratio,) = found.differences, found.ratios

    assert found.group_names == ("direct: direct", "protected: cheated")
    assert apart.n_pair == len(columns)
    assert apart.std_error == pytest.approx(math.hypot(*(value.std_error or 0 for value in found.values)))
    assert apart.low < PROTECTED - DIRECT < (apart.high or 0)
    assert ratio.low < PROTECTED / DIRECT < (ratio.high or 0)
    validator("comparison").validate(comparison_document(found))


@pytest.mark.parametrize("seed", range(5))
def test_difference_is_that_of_the_shares_as_shown(seed: int) -> None:
    """Where all admit under protection and none directly, no difference is more than a whole, or beyond its limits."""
    found = compare_across_arms(simulated(60, seed, admit=(0.0, 1.0)).columns, ("cheated", "direct"))
    (apart,), (first, later) = found.differences, found.values

    assert apart.estimate == (later.estimate or 0) - (first.estimate or 0)
    assert apart.raw == (later.raw or 0) - (first.raw or 0)
    assert (apart.low or 0) <= (apart.estimate or 0) <= min(apart.high or 0, 1.0)


def test_ratio_to_a_rare_direct_share_has_the_limit_of_the_difference() -> None:
    """Where few admit directly the reference may be more than twice as large: one - low R is 0 at its own limit."""
    found = compare_across_arms(simulated(600, 2, admit=(0.01, 0.4)).columns, ("cheated", "direct"))
    (first, later), (ratio,) = found.values, found.ratios
    assert 0 < (first.estimate or 0) < (first.high or 0) / 2
    low, up, down = ratio.low or 0, (first.high or 0) - (first.estimate or 0), (later.estimate or 0) - (later.low or 0)
    assert low > 1
    assert (later.estimate or 0) - low * (first.estimate or 0) == pytest.approx(math.hypot(down, low * up))


@pytest.mark.slow
def test_limits_cover() -> None:
    """At least .93 of 250 samples for difference and ratio, at a true effect and at none of a common question."""
    covered = np.zeros(3)
    runs = 250
    for seed in range(runs):
        columns = simulated(500, seed).columns
        (apart,), (ratio,) = (found := compare_across_arms(columns, ("cheated", "direct"))).differences, found.ratios
        (none,) = compare_across_arms(columns, ("copied",)).ratios
        for place, (each, true) in enumerate([(apart, PROTECTED - DIRECT), (ratio, PROTECTED / DIRECT), (none, 1.0)]):
            low, high = each.low, each.high
            covered[place] += (low is None or low <= true) and (high is None or true <= high)
    assert (covered / runs).min() >= 0.93


def test_one_question_of_all_arms_has_a_ratio_too() -> None:
    """The difference is the one of any comparison of groups."""
    found = compare_across_arms(simulated(2000, 3).columns, ("copied",))

    assert found.group_names == ("direct", "protected")
    assert len(found.differences) == len(found.ratios) == 1
    assert found.differences[0].n_pair == found.ratios[0].n_pair == 2000
    assert "ratios" in comparison_document(found)


def admitting(yes: int, asked: int = 152) -> Columns:
    """Reports of ``asked`` people in the direct arm, of whom so many admit, and of 152 protected ones."""
    drawn = np.repeat([0, 1], [asked, 152])
    values = {
        "sex": np.arange(len(drawn)) % 2,
        "direct": np.ma.masked_where(drawn != 0, np.arange(len(drawn)) < yes),
        "cheated": np.ma.masked_where(drawn != 1, np.arange(len(drawn)) % 3 == 0),
        "arm": drawn,
    }
    arrays = {name: np.ma.asarray(each, int) for name, each in values.items()}
    return Columns.from_arrays(of_arms(asks("sex", public=True), *HALVES), arrays)


@pytest.mark.parametrize("yes", [0, 1, 2, 3, 4, 5, 148, 149, 151, 152])
def test_direct_share_is_shown_at_every_count(yes: int) -> None:
    """The survey's own people see it, and it is never the share of a group of answers."""
    found = compare_across_arms(admitting(yes), ("cheated", "direct"), "yes")
    alone = compare_across_arms(admitting(yes), ("direct",), "yes")

    for each in (found.values[0], alone.values[0]):
        assert each.raw == pytest.approx(yes / 152)
        assert (each.low or 0) <= yes / 152 <= (each.high or 0)
        assert (each.high or 0) - (each.low or 0) < 0.11
    assert found.category == alone.category == "yes"
    assert found.group_names == ("direct: direct", "protected: cheated")
    assert found.differences[0].raw is not None


def test_weights_and_subsets_do_not_tell_whose_the_rare_answers_are() -> None:
    """Beside the whole count they would: the sexes of three people who admit."""
    weights = np.where(admitting(3).values["sex"] == 0, 2.0, 1.0)
    planned: dict[str, Any] = {"outcome": "cheated", "groups": "arm", "against": "direct"}
    with pytest.raises(EstimateError, match="'direct': 'yes' is left out or counted together"):
        compare_across_arms(admitting(3), ("cheated", "direct"), "yes", weights)
    for more in ({"where": "sex = yes"}, {"margins": {"sex": {"yes": 0.6, "no": 0.4}}}):
        with pytest.raises(EstimateError, match="compare a direct arm without weights and for all people"):
            parse_request("compare", planned | more).document(admitting(3))
    assert parse_request("compare", planned).document(admitting(3))["values"][0]["raw"] == pytest.approx(3 / 152)


@pytest.mark.parametrize("asked", [1, 4])
def test_direct_arm_of_fewer_than_five_people_has_no_share(asked: int) -> None:
    """Else it would tell what each of them admits."""
    found = compare_across_arms(admitting(1, asked), ("cheated", "direct"), "yes")

    assert (found.values[0].raw, found.values[0].low, found.values[0].high) == (None, None, None)
    assert found.values[1].raw is not None


def test_rare_answers_of_a_readers_own_file_are_never_left_out() -> None:
    """There is nobody to protect from its owner: subsets, weights and tables show every count."""
    own = replace(admitting(3), least=0)
    options = {"outcome": "direct", "groups": "sex", "where": "arm = direct"}
    values = parse_request("compare", options).document(own)["values"]
    table = parse_request("crosstab", {"rows": "sex", "columns": "direct"}).document(own)

    assert [each["raw"] for each in values] == pytest.approx([2 / 76, 1 / 76])
    assert table["column_categories"] == ["no", "yes"]
    assert parse_request("compare", {**options, "where": "direct = yes"}).document(own)["n"] == 3
    assert parse_request("regression", {"formula": "cheated ~ sex"}).document(own)["n"] == 152


CONDITIONAL: dict[str, Any] = {"visible_if": {"sex": "yes"}, "absent_category": True}

BY_NINTHS: dict[str, Any] = {"name": "kary_rr", "odds": "9"}


def partly_asked(unasked: int = 40) -> Columns:
    """Reports of 100 people in each of three arms, two of them direct; so many of each were not asked, 9 declined."""
    direct = asks("direct", ["direct", "third"], public=True, **CONDITIONAL)
    cheated = asks("cheated", "protected", mechanism=BY_NINTHS, **CONDITIONAL)
    arm, person = np.repeat([0, 1, 2], 100), np.tile(np.arange(100), 3)
    sex, answers = person >= unasked, np.where((person < unasked) | (person >= 91), 2, person % 2)
    values = {
        "sex": sex,
        "direct": np.ma.masked_where(arm == 1, answers),
        "cheated": np.ma.masked_where(arm != 1, answers),
        "arm": arm,
    }
    arrays = {name: np.ma.asarray(each, int) for name, each in values.items()}
    return Columns.from_arrays(of_arms(asks("sex", public=True), direct, cheated, weights=(1, 1, 1)), arrays)


def test_n_counts_those_who_were_asked_in_every_arm_once() -> None:
    """60 of each arm's 100 people were asked, those who declined with them; the direct share is theirs."""
    found = compare_across_arms(partly_asked(), ("cheated", "direct"), "yes")

    assert comparison_document(found)["n"] == 180
    assert [each.n_pair for each in found.differences] == [each.n_pair for each in found.ratios] == [120, 180]
    assert comparison_document(compare_across_arms(partly_asked(), ("direct",), "yes"))["n"] == 120
    assert found.values[0].raw == pytest.approx(25 / 51)
    assert found.declined[0].raw == pytest.approx(9 / 60)


def test_people_who_were_never_asked_count_in_neither_arm() -> None:
    """Of 60 asked in clear, where a public answer decides, 20 say yes: n, share and error are those of the 60."""
    direct = asks("direct", "direct", public=True, **CONDITIONAL)
    cheated = asks("cheated", "protected", mechanism=BY_NINTHS, **CONDITIONAL)
    arm, answers = np.repeat([0, 1], 160), np.tile(np.repeat([1.0, 0, 2], [20, 40, 100]), 2)
    values = {
        "sex": (answers < 2).astype(int),
        "direct": np.where(arm == 0, answers, np.nan),
        "cheated": np.where(arm == 1, answers, np.nan),
        "arm": arm,
    }
    made = of_arms(asks("sex", public=True), direct, cheated)
    found = compare_across_arms(Columns.from_arrays(made, values), ("cheated", "direct"))
    assert [found.values[0].n_pair, found.differences[0].n_pair] == [60, 120]
    assert found.values[0].raw == pytest.approx(1 / 3)
    assert found.values[0].std_error == pytest.approx(math.sqrt(2 / 9 / 59))


@pytest.mark.parametrize("unasked", [1, 4])
def test_few_people_who_were_not_asked_in_a_direct_arm_stay_in_its_n(unasked: int) -> None:
    """Their number would follow from two tables; the protected arm has no more of them."""
    found = compare_across_arms(partly_asked(unasked), ("cheated", "direct"), "yes")

    assert comparison_document(found)["n"] == 300


def test_two_questions_of_one_arm_are_refused() -> None:
    columns = simulated(500, 3).columns
    with pytest.raises(EstimateError, match="both are asked in arm"):
        compare_across_arms(columns, ("copied", "direct"))
    with pytest.raises(OptionsError, match="goes with the groups arm"):
        parse_request("compare", {"outcome": "cheated", "groups": "copied", "against": "direct"})


def test_numbers_in_the_arms_are_tested_against_the_weights() -> None:
    """Chance of fair arms is no alarm; a third of one arm who leave are one."""
    fair = simulated(3000, 5, (2, 1))
    assert chance_of_arms(analyse([fair.revision])) == pytest.approx(0.5, abs=0.499)
    assert "arms" not in [alarm.kind for alarm in alarms(analyse([fair.revision]))]

    stays = (fair.numbers[:, -1] == 0) | (np.arange(len(fair.numbers)) % 3 > 0)
    left = InventedReports(fair.survey, fair.numbers[stays])
    assert "arms" in [alarm.kind for alarm in alarms(analyse([left.revision]))]


@pytest.mark.parametrize(
    ("more", "times"), [({}, 1), ({"arms_per_wave": True}, 4), ({"fresh_samples": True}, 4), ({"waves": months(1)}, 1)]
)
def test_people_who_keep_their_arm_count_once(more: dict[str, Any], times: int) -> None:
    """Four waves of the same people tell no more of the draw than one: 3.2 of chi-square with one degree of freedom."""
    asked = study(**{"waves": months(4), **more})
    tallies = {len(asked.questions) - 1: {0: 230, 1: 270}}
    cells = [Cell(wave, ALL, 500, 0, tallies) for wave in range(len(asked.waves))]

    chance = chance_of_arms(analyse([counted(asked, *cells)]))
    assert chance == pytest.approx(math.erfc(math.sqrt(3.2 * times / 2)))


def test_arms_are_tested_against_their_weights_if_nothing_else_is_known() -> None:
    """The same hypothesis as on Results, whose chance it gives."""
    columns = columns_of(study((2, 1)), [0] * 400 + [1] * 260)
    found = parse_request("test", {"question": ARM}).document(columns)
    equal = parse_request("test", {"question": ARM, "shares": {"direct": 0.5}}).document(columns)

    assert [one["known"] for one in found["values"]] == pytest.approx([2 / 3, 1 / 3])
    assert found["statistic"] == pytest.approx((400 - 440) ** 2 / 440 + (260 - 220) ** 2 / 220)
    assert equal["statistic"] == pytest.approx(140**2 / 660)


def test_anchor_corrects_questions_of_arms_and_not_the_arm() -> None:
    """The arm is drawn by devices, so nobody answers it carelessly."""
    questions = (asks("moon", public=True, anchor=True, known_share="0"), HALVES[1], asks("own", public=True))
    results = analyse([invented(questions, (0.05, COMMON, DIRECT, 0.5), 3000, 1).revision])
    corrected = {each.question.name: each.corrected for each in results.questions}

    assert corrected["cheated"]
    assert corrected["own"]
    assert not corrected["arm"]
