from dataclasses import replace
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.documents import comparison_document, crosstab_document
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import CompareRequest, CrosstabRequest, parse_request
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.answered_cells import group_moments
from sottovoce.aggregator.analysis.tables.crosstab import compare, crosstab
from sottovoce.aggregator.analysis.tables.table import Rule
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.aggregator.estimators.answered_shares import answered_shares
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, parsed, question as question_of, survey
from tests.surveys import months
from tests.unit.aggregator.analysis.survey_of_reports import COIN, asked
from tests.unit.shared.test_schema import validate
from tests.vectors.arms import arms, asks

CHANNEL = np.full((3, 3), 0.2) + 0.4 * np.eye(3)
EVERYBODY = Rule(among="all")


def columns(counts: Any, *questions: dict[str, Any], **more: Any) -> Columns:
    """So many reports of each pair of values of two questions, by default a public group and one to be declined."""
    made = questions or (asked("g", "boolean", None), asked("y", "boolean", COIN, absent_category=True))
    table = np.array(counts)
    arrays = [np.repeat(index.ravel(), table.ravel()) for index in np.indices(table.shape)]
    survey_of = parse_survey(survey(*made, **more))
    return Columns.from_arrays(survey_of, {each["name"]: array for each, array in zip(made, arrays, strict=True)})


def expected(truth: Any, n: int = 1000) -> np.ndarray:
    """Counts in two public groups as the channel brings them on average from these true shares."""
    return np.round(n * np.array(truth) @ CHANNEL).astype(int)


TWO = expected([[0.45, 0.45, 0.1], [0.28, 0.42, 0.3]])
BOTH = tuple(asked(name, "boolean", COIN, absent_category=True) for name in "ab")
"""Two randomized questions that may be declined."""
HOURS = asked("hours", "integer", None, min=0, max=4)


def test_values_are_shares_among_those_who_answered() -> None:
    """Yes by default: .5 and .6, with a tenth and three tenths who gave no answer beside them."""
    found = compare(columns(TWO), "y", "g")

    assert (found.category, found.people, found.group_names) == ("yes", "answered", ("no", "yes"))
    assert [each.raw for each in found.values] == pytest.approx([0.5, 0.6])
    assert [each.raw for each in found.declined] == pytest.approx([0.1, 0.3])
    assert found.differences[0].raw == pytest.approx(0.1)
    assert found.warnings == ()


def test_limits_of_a_public_group_are_those_of_its_reports_alone() -> None:
    """The group is known, so that nothing of the other one matters."""
    reports = columns(TWO)
    found = compare(reports, "y", "g").values[1]
    question = reports.survey.questions[1]
    alone = answered_shares([(question.mechanism, dict(enumerate(TWO[1].tolist())))], question.domain)[1]

    assert (found.low, found.high) == pytest.approx((alone.low, alone.high), abs=2e-3)


def test_among_all_is_the_share_of_all_people_as_before() -> None:
    """On request; no answer is then a category like the others."""
    found = compare(columns(TWO), "y", "g", "yes", rule=EVERYBODY)

    assert [each.raw for each in found.values] == pytest.approx([0.45, 0.42])
    assert (found.people, found.declined) == ("all", ())
    assert compare(columns(TWO), "y", "g", rule=EVERYBODY).category == "absent"


def test_difference_of_small_public_groups_holds() -> None:
    """Exact: every pair of counts of two groups of four through the channel."""
    n, truth = 4, np.array([[0.6, 0.2, 0.2], [0.3, 0.6, 0.1]])
    rates, difference = truth @ CHANNEL, 0.6 / 0.9 - 0.2 / 0.8
    counts = [(no, yes, n - no - yes) for no in range(n + 1) for yes in range(n + 1 - no)]

    def chance(count: tuple[int, int, int], rate: np.ndarray) -> float:
        return comb(n, count[0]) * comb(n - count[0], count[1]) * float(np.prod(rate ** np.array(count)))

    covered = 0.0
    for first, second in product(counts, counts):
        found = compare(columns([first, second]), "y", "g")
        held = True
        if len(found.values) == 2:
            low, high = found.differences[0].low, found.differences[0].high
            held = low <= difference <= high
        covered += held * chance(first, rates[0]) * chance(second, rates[1])

    assert covered >= 0.95


def test_two_randomized_variables_have_shares_among_those_who_answered_both() -> None:
    truth = np.array([[0.3, 0.15, 0.05], [0.1, 0.25, 0.05], [0.04, 0.04, 0.02]])
    counts = np.round(10_000 * CHANNEL @ truth @ CHANNEL).astype(int)
    found = crosstab(columns(counts, *BOTH), "a", "b")

    assert (found.row_categories, found.column_categories) == (("no", "yes"), ("no", "yes"))
    assert [[cell.raw for cell in line] for line in found.cells] == [
        pytest.approx([0.3 / 0.8, 0.15 / 0.8], abs=2e-3), pytest.approx([0.1 / 0.8, 0.25 / 0.8], abs=2e-3)
    ]  # fmt: skip
    assert [share.raw for share in found.conditional[1]] == pytest.approx([0.1 / 0.35, 0.25 / 0.35], abs=2e-3)
    assert [share.raw for share in found.declined] == pytest.approx([0.05 / 0.5, 0.05 / 0.4], abs=2e-3)
    assert found.independence.df == 1
    assert all(
        cell.low is not None and cell.high is not None and cell.raw is not None and cell.low < cell.raw < cell.high
        for line in (*found.cells, *found.conditional)
        for cell in line
    )


def test_independence_does_not_see_that_declining_differs() -> None:
    """Equal shares of those who answered, .1 and .4 declined: the test of all people finds that, this one does not."""
    reports = columns(expected([[0.45, 0.45, 0.1], [0.3, 0.3, 0.4]], 4000))
    answered, everybody = (compare(reports, "y", "g", rule=rule).independence for rule in (Rule(), EVERYBODY))

    assert answered.p > 0.9
    assert everybody.p < 1e-6


def test_independence_of_open_answers_is_the_likelihood_ratio_of_the_subset() -> None:
    """Without noise, G of the two by two table of those who answered."""
    questions = (asked("g", "boolean", None), asked("y", "boolean", None, absent_category=True))
    found = compare(columns([[30, 20, 10], [15, 40, 25]], *questions), "y", "g").independence
    table = np.array([[30, 20], [15, 40]])
    fitted = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()

    assert (found.statistic, found.df) == (pytest.approx(2 * np.sum(table * np.log(table / fitted))), 1)


def test_means_are_tested_among_those_who_answered() -> None:
    """Means of .7 for no, 1 for yes and 3.5 for no answer, which is none of the groups."""
    of_means = np.array([[0.5, 0.3, 0.2, 0.0, 0.0], [0.2, 0.6, 0.2, 0.0, 0.0], [0.0, 0.0, 0.1, 0.3, 0.6]])
    counts = np.round(2000 * CHANNEL @ (np.array([[0.5], [0.3], [0.2]]) * of_means)).astype(int)
    reports = columns(counts, asked("y", "boolean", COIN, absent_category=True), HOURS)
    found, everybody = (compare(reports, "hours", "y", rule=rule) for rule in (Rule(), EVERYBODY))
    [pair] = every_pair(reports).tests

    assert (found.independence.df, everybody.independence.df) == (1, 2)
    assert everybody.independence.p < 1e-6
    assert pair.independence == found.independence
    # It is the level at which the limits of the difference end at 0.
    [at] = compare(reports, "hours", "y", rule=Rule(confidence=1 - found.independence.p)).differences
    assert min(abs(at.low or 0.0), abs(at.high or 0.0)) == pytest.approx(0.0, abs=1e-6)


def test_means_are_not_tested_where_reports_show_no_answer() -> None:
    """Reports that are all "no answer" give the answers no share above 0."""
    counts = np.zeros((3, 5), dtype=int)
    counts[2, 3] = 10
    reports = columns(counts, asked("y", "boolean", COIN, absent_category=True), HOURS)

    assert every_pair(reports).tests == ()


@pytest.mark.parametrize(("sets", "numbers"), [([19, 52], [0, 2]), ([38, 22], [0, 3]), ([7, 38], [3, 4])])
def test_two_reports_test_no_means_of_more_than_two_answers(sets: list[int], numbers: list[int]) -> None:
    """The variance is 0 but for rounding, which gave statistics of 1e14 and more, and p = 0."""
    subset = {"name": "subset_selection", "odds": "3", "size": 3}
    made = parse_survey(survey(asked("y", "select_one", subset, choices=names(5), absent_category=True), HOURS))

    assert every_pair(Columns.from_arrays(made, {"y": np.array(sets), "hours": np.array(numbers)})).tests == ()


def test_measures_of_open_answers_are_those_of_the_subset() -> None:
    """Without noise, difference, ratio, odds ratio and phi of the four cells of those who answered both."""
    questions = (asked("a", "boolean", None, absent_category=True), asked("b", "boolean", None, absent_category=True))
    counts = np.array([[60, 30, 9], [20, 50, 12], [7, 8, 11]])
    found = crosstab(columns(counts, *questions), "a", "b").measures
    one, other = 50 / 70, 30 / 90
    phi = (60 * 50 - 30 * 20) / np.sqrt(90 * 70 * 80 * 80)

    assert [each.raw for each in found] == pytest.approx([one - other, one / other, 5.0, phi], rel=1e-6)
    assert all(each.low < each.raw < each.high for each in found if each.low and each.raw and each.high)


@pytest.mark.slow
def test_measures_among_those_who_answered_are_covered() -> None:
    """Through noise, with a fifth declining by the other answer: the odds ratio is 3, phi .265."""
    generator = np.random.default_rng(8)
    answered = np.array([[0.36, 0.18], [0.16, 0.24]]) * 0.8 / 0.94
    truth = np.array([[*answered[0], 0.02], [*answered[1], 0.08], [0.05, 0.03, 0.02]])
    rates = CHANNEL @ (truth / truth.sum()) @ CHANNEL
    block = truth[:2, :2] / truth[:2, :2].sum()
    a, b = block[1].sum(), block[:, 1].sum()
    phi = (block[1, 1] - a * b) / np.sqrt(a * (1 - a) * b * (1 - b))
    covered = []
    for _ in range(60):
        found = crosstab(columns(generator.multinomial(1500, rates.ravel()).reshape(3, 3), *BOTH), "a", "b")
        pairs = zip(found.measures[2:], (block[0, 0] * block[1, 1] / block[0, 1] / block[1, 0], phi), strict=True)
        covered += [(each.low or 0) <= true and (each.high is None or true <= each.high) for each, true in pairs
                    if each.low is not None or each.high is not None]  # fmt: skip

    assert np.mean(covered) > 0.88


def test_associations_do_not_see_that_people_decline_together() -> None:
    """No answer is no answer here: who declines one question declines the other, and that is all."""
    truth = np.array([[0.2, 0.2, 0.0], [0.2, 0.2, 0.0], [0.0, 0.0, 0.2]])
    reports = columns(np.round(10_000 * CHANNEL @ truth @ CHANNEL).astype(int), *BOTH)
    (found,) = every_pair(reports).tests

    assert found.independence == crosstab(reports, "a", "b").independence
    assert (found.independence.df, found.independence.p > 0.9) == (1, True)


@pytest.mark.slow
def test_level_of_the_test_of_independence() -> None:
    """A true null hypothesis is rejected in about 5 of 100 samples, whatever people decline."""
    generator = np.random.default_rng(4)
    rates = np.array([[0.35, 0.35, 0.3], [0.47, 0.48, 0.05]]) @ CHANNEL
    rejected = []
    for _ in range(150):
        counts = np.array([generator.multinomial(200, rate) for rate in rates])
        test = compare(columns(counts), "y", "g").independence
        rejected.append(test is not None and test.p < 0.05)

    assert 0 < np.mean(rejected) < 0.11


def test_group_without_people_is_left_out() -> None:
    """The first group with people is the one of reference."""
    questions = (
        asked("g", "select_one", None, choices=names(3)), asked("y", "boolean", COIN, absent_category=True),
    )  # fmt: skip
    found = compare(columns(np.vstack([[0, 0, 0], TWO]), *questions), "y", "g")

    assert found.group_names == ("c1", "c2")
    assert len(found.differences) == 1
    assert comparison_document(found)["differences"][0]["from"] == "c1"


def test_people_who_were_not_asked_are_left_out() -> None:
    """Their category would be no answer; who was asked is public."""
    questions = (
        asked("g", "boolean", None),
        asked("y", "boolean", COIN, absent_category=True, visible_if={"g": ["yes"]}),
    )  # fmt: skip
    found = compare(columns(TWO, *questions), "y", "g")

    assert (found.people, found.group_names) == ("asked_and_answered", ("yes",))
    assert found.values[0].raw == pytest.approx(0.6)


def test_pairs_leave_out_people_who_were_not_asked() -> None:
    """As a table of the two questions does."""
    shown = asked("y", "boolean", COIN, absent_category=True, visible_if={"g": ["yes"]})
    made = parse_survey(survey(asked("g", "boolean", None), asked("a", "boolean", COIN), shown))
    g, order = np.repeat([0, 1], 60), np.arange(120)
    reports = Columns.from_arrays(made, {"g": g, "a": order % 2, "y": np.where(g, order // 2 % 3, 2)})
    [pair] = [each for each in every_pair(reports).tests if (each.first, each.second) == ("a", "y")]

    assert (pair.n, pair.independence) == (60, crosstab(reports, "a", "y").independence)


@pytest.mark.parametrize(("decides", "heading"), [(None, "No answer"), (COIN, "Not asked or no answer")])
def test_share_without_an_answer_says_whether_some_were_not_asked(decides: Any, heading: str) -> None:
    """Where a public answer decides they are left out; of a group who decides it, its own people were all asked."""
    shown = asked("y", "boolean", COIN, absent_category=True, visible_if={"g": ["yes"]})
    reports = columns(TWO, asked("g", "boolean", decides), shown)
    document = CrosstabRequest(rows="g", columns="y").document(reports)
    assert in_words(document)[0].headings[-1] == heading
    for name, found in (("crosstab", document), ("test", parse_request("test", {"question": "y"}).document(reports))):
        assert found["people"] == ("perhaps_" if decides else "") + "asked_and_answered"
        validate(name, found)
    assert "Among those who were asked and answered." in in_words(document)[0].sentences


@pytest.mark.parametrize("among", [None, "all"])
def test_documents_are_as_their_schemas_say(among: str | None) -> None:
    reports = columns(TWO)
    compared = CompareRequest(outcome="y", groups="g", among=among).document(reports)
    crossed = CrosstabRequest(rows="g", columns="y", among=among).document(reports)
    for name, document in (("comparison", compared), ("crosstab", crossed)):
        validate(name, document)
        assert ("people" in document) == (among is None)
        assert ("Among those who answered." in in_words(document)[0].sentences) == (among is None)
    assert crosstab_document(crosstab(reports, "g", "y"))["people"] == "answered"


def test_share_of_a_rare_public_answer_is_refused_and_not_taken_for_that_of_its_group() -> None:
    """Fewer than five people in each of two public answers: neither has a share of its own."""
    questions = (asked("g", "boolean", COIN), asked("y", "select_one", None, choices=names(4)))
    reports = columns([[30, 30, 2, 2], [30, 30, 2, 1]], *questions)

    with pytest.raises(EstimateError, match="'y': 'c3' is left out or counted together"):
        compare(reports, "y", "g", "c3")
    assert compare(reports, "y", "g", "c1").category == "c1"


def test_comparison_without_people_in_any_group_is_refused() -> None:
    """Where next to nobody answered the question that groups."""
    questions = (asked("g", "boolean", COIN, absent_category=True), asked("y", "boolean", COIN))
    with pytest.raises(EstimateError, match="people in none of the groups of 'g'"):
        compare(columns([[2, 2], [2, 2], [30, 30]], *questions), "y", "g")


@pytest.mark.parametrize(
    "mechanism", [COIN, {"name": "kary_rr", "odds": "3"}, {"name": "subset_selection", "odds": "3", "size": 2}]
)
@pytest.mark.parametrize("absent", [True, False])
def test_moments_of_two_groups_are_those_of_all_reports(mechanism: dict[str, Any], absent: bool) -> None:
    """E[z_g z_h | x] summed over every possible report with its exact probability."""
    kind: dict[str, Any] = {} if mechanism == COIN else {"choices": names(4)}
    keys = {"absent_category": True} if absent else {}
    question = parsed(question_of(mechanism, "select_one" if kind else "boolean", **kind, **keys))
    [variable] = variables_of(question)
    channel = question.mechanism
    reports = np.array([value for value in range(channel.largest + 1) if channel.admits(value)])
    scores = variable.scores(reports)
    found = group_moments(variable, (0, 1))
    for place, truth in enumerate((0, 1, len(variable.categories) - 1)[: min(len(variable.categories), 3)]):
        chances = np.array([float(channel.probability(int(report), truth)) for report in reports])
        for one, other in product((0, 1), repeat=2):
            assert found[one, other, place] == pytest.approx(chances @ (scores[:, one] * scores[:, other]), abs=1e-12)


@pytest.mark.slow
def test_difference_of_randomized_groups_holds_where_a_cell_is_nearly_empty() -> None:
    """The rule for sparse tables: of 150 samples, next to all limits hold the true difference."""
    questions = [{**each, "mechanism": {"name": "kary_rr", "odds": "20"}} for each in BOTH]
    truth = np.array([[0.6, 0.01, 0.09], [0.2, 0.02, 0.05], [0.02, 0.005, 0.005]])
    channel = np.full((3, 3), 1 / 22) + 19 / 22 * np.eye(3)
    generator, difference, held = np.random.default_rng(2), 0.02 / 0.22 - 0.01 / 0.61, 0
    rates = (channel @ (truth / truth.sum()) @ channel).ravel()
    for _ in range(150):
        found = compare(columns(generator.multinomial(1000, rates).reshape(3, 3), *questions), "b", "a").differences[0]
        held += found.low <= difference <= found.high

    assert held >= 137


FEW, PEOPLE = 3, 640
NOTE = "'gender': answers of fewer than 5 people are left out: c2 (n = 3)"
MARGINS = {"margins": {"region": {"c0": 0.7, "c1": 0.3}}}
TABLES: list[tuple[dict[str, Any], int]] = [
    ({"columns": "secret"}, 1),
    ({"columns": "secret"}, 2),
    ({"columns": "half"}, 1),
    ({"columns": "secret", **MARGINS}, 1),
    ({"columns": "secret", **MARGINS}, 2),
    ({"columns": "secret", "within": "region"}, 2),
    ({"columns": "secret", "within": "arm"}, 1),
    ({"columns": "secret", "within": "half"}, 1),
    ({"columns": "secret", "where": "region = c0"}, 1),
]
"""Options of tables whose rows are gender, and the number of waves."""


def reports(waves: int = 1, flipped: bool = False) -> Columns:
    """Reports of 640 people, three of the third gender, whose randomized reports may be the other ones."""
    choice: dict[str, Any] = {"kind": "select_one", "public": True}
    made = parse_survey(
        survey(
            asks("gender", choices=names(3), **choice),
            asks("region", choices=names(2), **choice),
            asks("secret", mechanism=COIN),
            asks("half", mechanism=COIN),
            arms=arms(1, 1),
            waves=months(waves),
        )
    )
    draw, few = np.random.default_rng(4), np.arange(PEOPLE) < FEW
    values = {each: draw.integers(0, 2, PEOPLE) for each in ("gender", "region", "secret", "half", "arm")}
    values |= {each: np.where(few & flipped, 1 - values[each], values[each]) for each in ("secret", "half")}
    values |= {"gender": np.where(few, 2, values["gender"]), "region": np.where(few, 0, values["region"])}
    found = Columns.from_arrays(made, values, np.arange(PEOPLE) // FEW % waves)
    # An earlier revision did not ask some people.
    asked = np.where(np.arange(PEOPLE) % 9 == 1, 255, values["half"]).astype(np.uint8)
    return replace(found, values={**found.values, "half": asked})


def table(options: dict[str, Any], columns: Columns, turned: bool = False) -> dict[str, Any]:
    both = ("columns", "rows") if turned else ("rows", "columns")
    return parse_request("crosstab", options | dict(zip(both, ("gender", options["columns"]), strict=True))).document(
        columns
    )


@pytest.mark.parametrize(("options", "waves"), TABLES)
def test_columns_have_the_reports_and_notes_that_rows_have(options: dict[str, Any], waves: int) -> None:
    """So that one less the other tells of nobody."""
    rows, columns = (table(options, reports(waves), turned) for turned in (False, True))
    pairs = list(zip(*(each.get("tables", [each]) for each in (rows, columns)), strict=True))

    assert "'gender': answers of fewer than 5 people are left out: c2" in str(rows)
    for one, other in pairs:
        assert (other["row_categories"], other["column_categories"]) == (
            one["column_categories"],
            one["row_categories"],
        )
        assert [each for each in other["warnings"] if "left out" in each] == [
            each for each in one["warnings"] if "left out" in each
        ]
        assert other["n"] == one["n"]
        cells = {(each["column"], each["row"]): each["raw"] for each in other["cells"]}
        assert cells == pytest.approx({(each["row"], each["column"]): each["raw"] for each in one["cells"]})


@pytest.mark.parametrize(("options", "waves"), TABLES)
def test_no_figure_goes_with_the_reports_of_people_left_out(options: dict[str, Any], waves: int) -> None:
    """If each had given the other report, both tables and all comparisons would be the same."""
    own, others = reports(waves), reports(waves, flipped=True)
    compared = {key: value for key, value in options.items() if key not in {"columns", "within"}}

    assert [table(options, own, turned) for turned in (False, True)] == [
        table(options, others, turned) for turned in (False, True)
    ]
    for outcome, groups in (("gender", options["columns"]), (options["columns"], "gender")):
        category = {"category": "c1"} if outcome == "gender" else {}
        request = parse_request("compare", {**compared, **category, "outcome": outcome, "groups": groups})
        assert request.document(own) == request.document(others)


def test_share_of_a_small_answer_is_refused_and_those_of_the_others_are_without_its_people() -> None:
    """In a comparison whose groups are randomized, and in tests of all pairs."""
    columns = reports()
    options = {"outcome": "gender", "groups": "secret"}
    found = parse_request("compare", {**options, "category": "c1"}).document(columns)
    without = parse_request("compare", {**options, "category": "c1"}).document(
        columns.among(columns.values["gender"] < 2)
    )

    assert (found["n"], found["category"]) == (PEOPLE - FEW, "c1")
    assert NOTE in found["warnings"]
    assert [each["raw"] for each in found["values"]] == pytest.approx([each["raw"] for each in without["values"]])
    with pytest.raises(EstimateError, match="'gender': 'c2' is left out or counted together"):
        parse_request("compare", options).document(columns)
    pairs = {(each.first, each.second): each.n for each in every_pair(columns).tests}
    assert (pairs["gender", "secret"], pairs["region", "secret"]) == (PEOPLE - FEW, PEOPLE)
