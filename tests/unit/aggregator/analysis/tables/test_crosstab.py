from dataclasses import replace

import numpy as np
import pytest
from sottovoce.aggregator.analysis.data_file.data_columns import data_columns
from sottovoce.aggregator.analysis.data_file.read_table import read_bytes
from sottovoce.aggregator.analysis.documents import UNEVEN, crosstab_document
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.selection import SAME_PEOPLE
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.aggregator.analysis.tables.crosstab import SMALL, compare, crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.table import SUPPRESSED, Rule
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.estimators import public as public_answers
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.blocks import block, blocks, in_block
from tests.documents import number, one_of, question, some_of, vector
from tests.surveys import document, months
from tests.unit.aggregator.analysis.samples import COIN, WARNER, asked, columns, of_values, public, reported
from tests.vectors.arms import arms, asks

COINS = [[319, 231], [206, 244]]

ALMOST_SURE = {"name": "binary_rr", "a": "9999/10000", "b": "1/10000"}


def thirds(**more):
    """Answers of 800 people to three questions, almost as they are; the third is randomized."""
    values = np.random.default_rng(1).integers(0, 2, (3, 800))
    values[0, :300] = values[1, :300] = 1
    return of_values(values, *[question(ALMOST_SURE)] * 3, **more)


def test_crosstab_has_all_published_figures():
    found = crosstab(columns(COINS), "a", "b")

    assert (found.rows, found.columns, found.row_categories) == ("a", "b", ("no", "yes"))
    assert (found.n, found.n_pair, found.warnings) == (1000, 1000, ())
    assert [round(cell.raw, 3) for row in found.cells for cell in row] == [0.451, 0.149, 0.099, 0.301]
    assert found.conditional[1][1].estimate == pytest.approx(0.7525)
    assert found.independence.statistic == pytest.approx(14.811128, abs=5e-7)
    measures = found.measures
    assert [round(each.raw, 3) for each in measures] == [0.504, 3.030, 9.203, 0.496]
    assert [each.method for each in measures] == ["inversion", "inversion", "profile", "inversion"]
    assert found.alarm.statistic >= found.alarm.limit
    assert found.forged.shift == pytest.approx(0.0225)


def test_crosstab_of_options_counts_the_reports_that_tell_of_both():
    """Options of two questions, of which devices draw one each; the rest of the reports says nothing."""
    drawn = some_of(4, {"name": "sampled_option", "a": "3/4", "b": "1/4"})
    found = crosstab(columns(np.arange(64).reshape(8, 8), drawn, drawn), "a.c1", "b.c3")

    assert found.n == sum(range(64))
    assert found.n_pair == 22 + 23 + 30 + 31
    assert found.forged.share == pytest.approx(0.01 / (0.01 + 0.99 * 106 / 2016))


@pytest.mark.parametrize(("chosen", "n"), [({"where": "c = yes"}, 40), ({"within": "c"}, 40), ({}, 50)])
def test_forgers_choose_the_public_answers_that_select_a_table(chosen: dict[str, str], n: int) -> None:
    """Ten of a thousand reports are ten of the fifty in a small table, and say so also in a subset."""
    values = np.arange(1000) % 2, np.arange(1000) // 2 % 2, np.arange(1000) < 40
    reports = of_values(values, question(COIN), question(COIN), public(question(COIN)))
    if not chosen:
        # Of these, only fifty are asked the second question.
        hidden = {**question(COIN), "visible_if": {"a": "yes"}, "when_absent": "no"}
        values = np.arange(1000) < n, np.arange(1000) % 2, np.arange(1000) // 2 % 2
        reports = of_values(values, public(question(COIN)), hidden, question(COIN))
    names = {"rows": "a", "columns": "b"} if chosen else {"rows": "b", "columns": "c"}
    document = parse_request("crosstab", names | chosen).document(reports)

    found = document["tables"][-1] if "tables" in document else document
    assert found["n"] == n
    assert found["forged"]["share"] == pytest.approx(0.01 / (0.01 + 0.99 * n / 1000))


def test_crosstab_of_public_answers_hides_small_cells():
    counts = [[30, 2, 40], [20, 30, 25], [50, 60, 70]]
    made = columns(counts, public(one_of(3, {})), public(one_of(3, {})))

    found = crosstab(made, "a", "b")

    hidden = [[cell.method == SUPPRESSED for cell in line] for line in found.cells]
    assert hidden == [[True, True, False], [True, True, False], [False, False, False]]
    assert found.conditional[0][1].raw is None
    assert (found.independence, found.measures, found.warnings) == (None, None, (SMALL,))
    assert crosstab(made, "a", "b", rule=Rule(least=0)).cells[0][1].raw == pytest.approx(2 / 327)


def test_crosstab_within_a_public_question():
    rows = [reported(counts) for counts in (COINS, [[60, 40], [30, 50]], [[1, 0], [1, 1]], [[0, 1], [0, 1]])]
    values = [*np.concatenate(rows, axis=1), np.repeat(np.arange(4), [1000, 180, 3, 2])]
    made = of_values(values, question(COIN), question(COIN), public(one_of(4, {})))

    found = crosstab_within(made, "a", "b", "c")

    assert list(found.tables) == ["c0", "c1"]
    assert found.tables["c0"].cells[1][1].raw == pytest.approx(0.301)
    assert "'c': answers of fewer than 5 people are left out: c2, c3 (n = 5)" in found.tables["c0"].warnings
    several = [crosstab(columns(counts), "a", "b").independence.statistic for counts in (COINS, [[60, 40], [30, 50]])]
    assert max(several) < found.independence.statistic < sum(several) + 5
    assert found.independence.df == 1


def test_weighted_crosstab_is_that_of_the_weighted_reports():
    doubled = np.array(COINS) * [[1, 1], [2, 1]]
    weights = np.repeat([1.0, 1.0, 2.0, 1.0], [319, 231, 206, 244])

    found, twice = crosstab(columns(COINS), "a", "b", weights), crosstab(columns(doubled), "a", "b")

    assert found.cells[1][0].raw == pytest.approx(twice.cells[1][0].raw)
    assert found.cells[1][0].deff == pytest.approx(1000 * (794 + 4 * 206) / (794 + 412) ** 2)
    with pytest.raises(EstimateError, match="row 1000: the weight is missing, or not a number above 0"):
        crosstab(columns(COINS), "a", "b", np.array([1.0] * 999 + [-1.0]))


def test_revisions_with_other_channels_are_one_table():
    first, second = asked(*[question(COIN)] * 2), asked(*[question(WARNER)] * 2, revision=2)
    one, other = reported(COINS), reported([[350, 250], [220, 180]])
    values = {name: np.concatenate([one[place], other[place]]) for place, name in enumerate("ab")}
    made = Columns((first, second), values, np.zeros(2000, np.uint8), np.repeat([0, 1], 1000).astype(np.uint8))

    found = crosstab(made, "a", "b")

    assert found.n_pair == 2000
    later = columns([[350, 250], [220, 180]], question(WARNER), question(WARNER))
    parts = [crosstab(each, "a", "b") for each in (columns(COINS), later)]
    low, high = sorted(each.cells[1][1].raw for each in parts)
    assert low < found.cells[1][1].raw < high
    assert found.cells[1][1].std_error < min(each.cells[1][1].std_error for each in parts)


def test_waves_of_the_same_people_are_told():
    made = columns(COINS, waves=months(2))
    both = replace(made, wave=(np.arange(1000) % 2).astype(np.uint8))

    assert SAME_PEOPLE in crosstab(both, "a", "b").warnings
    assert crosstab(made, "a", "b").warnings == ()
    fresh = replace(columns(COINS, waves=months(2), fresh_samples=True), wave=both.wave)
    assert crosstab(fresh, "a", "b").warnings == ()
    narrow, wide = (crosstab(each, "a", "b") for each in (fresh, both))
    pairs = [(narrow.cells[1][1], wide.cells[1][1]), (narrow.conditional[0][1], wide.conditional[0][1])]
    pairs += zip(narrow.measures or (), wide.measures or (), strict=True)
    assert all(one.low > two.low and one.high < two.high for one, two in pairs)
    assert narrow.independence.p < wide.independence.p


def test_fixed_answers_of_who_gave_none_are_told():
    coded = {**question(COIN), "when_absent": "no"}

    assert crosstab(columns(COINS, coded, question(COIN)), "a", "b").warnings == (
        "'a': who gave no answer counts as 'no'",
    )


MEMOIZED = {"name": "memoized_rr", "permanent": COIN, "instantaneous": COIN, "waves": 2}


def test_memoized_answers_of_several_waves_are_refused():
    made = columns(COINS, question(MEMOIZED), question(COIN), waves=months(2))
    both = replace(made, wave=(np.arange(1000) % 2).astype(np.uint8))

    with pytest.raises(EstimateError, match=r"devices remember their draw of 'a' .* choose one wave"):
        crosstab(both, "a", "b")
    assert crosstab(both.among(both.wave == 1), "a", "b").n == 500


DRAWN = some_of(3, {"name": "sampled_option", "a": "3/4", "b": "1/4"})

ASKS_ONE = of_values([[1, np.nan, 0], [np.nan, 1, np.nan]], question(COIN), question(COIN), ask=1)

NUMBERED = columns(COINS, number(0, 10, 1, {"name": "rounding_rr", "a": "3/4", "b": "1/4"}), question(COIN))

SEVERAL = columns(np.eye(2, dtype=int), some_of(2, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"}), question(COIN))


@pytest.mark.parametrize(
    ("analysis", "made", "names", "words"),
    [
        # Pairs that no report tells of: under ask: 1, and of two options of one drawn question.
        (crosstab, ASKS_ONE, "a b", "gets one private question, so no report contains both 'a' and 'b'"),
        (crosstab, of_values([[1, 2, 5]], DRAWN), "a.c0 a.c1", "no report contains two options"),
        (crosstab, columns([[0, 0], [0, 0]]), "a b", "no report contains both"),
        # Unknown names, with those that there are.
        (crosstab, SEVERAL, "z b", "asks no such question; there are: a, b"),
        (crosstab, SEVERAL, "a b", r"is asked for as: a\.c0, a\.c1"),
        (crosstab, SEVERAL, "b b", "'b' is asked for twice"),
        # Numbers have means among groups and no table: the sentence says where they are.
        (crosstab, NUMBERED, "a b", "'a' is a number: compare its means among groups"),
        (compare, NUMBERED, "b a", "'a' is a number: groups are the categories"),
    ],
)
def test_questions_without_a_table_are_refused(analysis, made, names, words):
    with pytest.raises(EstimateError, match=words):
        analysis(made, *names.split())


def test_comparison_of_shares_has_the_published_figures():
    made = columns([[420, 180], [190, 210]], public(question(COIN)), question(COIN))

    found = compare(made, "b", "a")

    assert (found.category, found.group_names) == ("yes", ("no", "yes"))
    assert [each.raw for each in found.values] == pytest.approx([0.1, 0.55])
    assert (found.differences[0].raw, found.differences[0].low, found.differences[0].high) == pytest.approx(
        (0.45, 0.327598, 0.572402), abs=5e-7
    )
    assert found.independence.statistic == pytest.approx(51.020807, abs=5e-7)
    assert compare(made, "b", "a", category="no").values[1].raw == pytest.approx(0.45)
    with pytest.raises(EstimateError, match="has no category of this name; it has: no, yes"):
        compare(made, "b", "a", category="maybe")


@pytest.mark.parametrize("counts", [[[60, 50], [120, 5]], [[40, 30], [33, 4]], [[500, 300], [470, 90]]])
def test_difference_of_randomized_groups_is_that_of_the_shares_beside_it(counts) -> None:
    """Where a share is displayed as 0, since it may not be negative, too; its limits hold it."""
    found = compare(columns(counts), "b", "a")
    apart, risk = found.differences[0], crosstab(columns(counts), "a", "b").measures.risk_difference
    assert apart.estimate == found.values[1].estimate - found.values[0].estimate
    assert apart.low <= apart.estimate <= apart.high
    assert risk.estimate == apart.estimate


def test_comparison_of_means_is_among_the_reports_of_a_coordinate():
    drawn = vector(2, 0, 4, 2, {"name": "sampled_coordinate", "a": "3/4", "b": "1/4"})
    made = columns([[100, 80], [60, 120], [70, 70], [50, 90]], drawn, question(COIN))

    found = compare(made, "a.x0", "b")

    # Scores -2 and 6 of the ends, -1/2 and 3/2 of yes, from the reports that drew the first coordinate.
    ends, yes = np.array([-2, -2, 6, 6]), np.array([-0.5, 1.5] * 2)
    counts = np.array([100, 80, 60, 120])
    assert found.values[1].raw == pytest.approx((counts * ends * yes).sum() / (counts * yes).sum())
    assert found.values[1].n_pair == 360
    assert 0 <= found.values[1].low <= min(max(found.values[1].raw, 0), 4) <= found.values[1].high <= 4
    assert found.differences[0].raw == pytest.approx(found.values[1].raw - found.values[0].raw)
    with pytest.raises(EstimateError, match="is a number and has no categories"):
        compare(made, "a.x0", "b", category="yes")


def test_all_pairs_are_tested_with_their_q_values():
    bits = some_of(2, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"})
    drawn = some_of(2, {"name": "sampled_option", "a": "3/4", "b": "1/4"})
    rng = np.arange(1200)
    values = [rng % 7 % 2, rng % 5 % 4, rng % 11 % 4, rng % 3 % 2 | (rng % 7 % 2)]
    made = of_values(values, question(COIN), bits, drawn, question(COIN))

    found = every_pair(made).tests

    names = [(each.first, each.second) for each in found]
    assert len(names) == 15 - 1
    assert ("c.c0", "c.c1") not in names
    assert ("b.c0", "b.c1") in names
    by_name = dict(zip(names, found, strict=True))
    by_itself = crosstab(made, "a", "d").independence
    assert by_name["a", "d"].independence == pytest.approx(by_itself, rel=1e-12)
    least = min(found, key=lambda each: each.independence.p)
    assert least.q == pytest.approx(least.independence.p * len(names))


def test_pairs_of_a_file_without_public_answers_are_those_of_its_columns():
    """A folder of files has them in a file of their own, which may be missing."""
    rng = np.arange(600)
    whole = of_values([rng % 7 % 2, rng % 2, rng % 5 % 2], question(COIN), public(question(COIN)), question(COIN))
    found = every_pair(replace(whole, values={name: whole.values[name] for name in "ac"}))
    assert [(each.first, each.second) for each in found.tests] == [("a", "c")]
    assert found.possible == 1


def test_pairs_of_public_answers_are_tested_only_where_their_table_is_shown():
    """A small group is one with another; a cell of three tells too much, and it is said that one is missing."""
    openly = public(one_of(3, COIN))
    counts = np.array([[40, 30, 2], [30, 40, 1], [20, 10, 1]])
    made = columns(counts, openly, openly)

    (found,) = every_pair(made).tests
    hidden = every_pair(columns(np.array([[40, 30], [30, 3]]), *[public(question(COIN))] * 2))

    assert found.independence == crosstab(made, "a", "b").independence
    assert hidden.tests == ()
    assert "1 pairs are not tested" in hidden.warnings[0]
    assert VariableNames(Words("de")).note(hidden.warnings[0]).startswith("Nicht geprüfte Paare: 1; keine Meldung")


def test_q_values_count_pairs_that_could_not_be_tested():
    """One answer that never varies makes two pairs that nothing can be said of; the third one's q counts them."""
    values = [np.repeat([0, 1], 500), np.arange(1000) * 7 // 3 % 2, np.zeros(1000, np.uint8)]
    found = every_pair(of_values(values, question(COIN), question(COIN), public(question(COIN))))

    assert (found.possible, len(found.tests)) == (3, 1)
    assert found.tests[0].q == pytest.approx(min(3 * found.tests[0].independence.p, 1))


def test_pairs_with_many_values_are_tested_too():
    mask = one_of(10, {"name": "optimal_unary", "odds": "3"})
    values = np.arange(900)
    made = of_values([values * 37 % 1024, values % 2], mask, question(COIN))

    (found,) = every_pair(made).tests

    assert found.independence.df == 10
    assert found.independence == crosstab(made, "a", "b").independence


def test_options_that_were_not_drawn_evenly_are_told():
    """Of two questions with four options all pairs come equally often, but for 80 forged reports."""
    drawn = some_of(4, {"name": "sampled_option", "a": "3/4", "b": "1/4"})
    even, forged = np.full((8, 8), 10), np.full((8, 8), 10)
    forged[3, 5] += 80

    found = [crosstab(columns(counts, drawn, drawn), "a.c1", "b.c2").drawn_evenly for counts in (even, forged)]

    assert found[0] == 1
    assert found[1] < 1e-6
    told = [crosstab_document(crosstab(columns(counts, drawn, drawn), "a.c1", "b.c2")) for counts in (even, forged)]
    assert [document["drawn_evenly"] for document in told] == found
    assert [UNEVEN in document["warnings"] for document in told] == [False, True]
    assert crosstab(columns(even[:, :2], drawn, question(COIN)), "a.c1", "b").drawn_evenly == 1
    assert crosstab(columns(COINS), "a", "b").drawn_evenly is None


@pytest.mark.parametrize(
    ("here", "later", "limits"),
    [
        ((48, 80), (56, 70), (0.0428, 0.3422)),
        ((0, 29), (5, 56), (-0.0667, 0.2037)),
        ((0, 10), (0, 20), (-0.3445, 0.2005)),
    ],
)
def test_difference_of_public_shares_has_the_limits_of_newcombe(
    here: tuple[int, int], later: tuple[int, int], limits: tuple[float, float]
) -> None:
    """Newcombe 1998 (17), method 11, table II; where nobody says yes, in either group, they are no point."""
    groups = {"a": here, "b": later, "c": (10, 10)}
    rows = [f"{group},{'yes' if at < yes else 'no'}" for group, (yes, n) in groups.items() for at in range(n)]
    found = data_columns(read_bytes("\n".join(["g,y", *rows]).encode(), "answers.csv"), {})
    asked = parse_request("compare", {"outcome": "y", "groups": "g", "category": "yes"})
    apart, _ = asked.document(found)["differences"]

    assert (apart["low"], apart["high"]) == pytest.approx(limits, abs=5e-5)


def test_measures_of_a_public_table_have_the_limits_of_its_comparison() -> None:
    """Of two by two: the difference of the rows is that of the groups."""
    rows = [f"{group},{answer}" for group, n in (("a", 32), ("b", 14)) for answer in ["no"] * n]
    rows += [f"{group},{answer}" for group, n in (("a", 48), ("b", 56)) for answer in ["yes"] * n]
    found = data_columns(read_bytes("\n".join(["g,y", *rows]).encode(), "answers.csv"), {})
    measures = crosstab(found, "g", "y").measures
    (apart,) = compare(found, "y", "g", "yes").differences

    assert (measures[0].low, measures[0].high) == (apart.low, apart.high)


def test_crosstab_within_a_randomized_question_meets_the_tables_of_its_categories():
    """With reports that are almost sure, each table is that of the people in the category, with its limits."""
    made = thirds()
    found = crosstab_within(made, "a", "b", "c")

    assert list(found.tables) == ["no", "yes"]
    assert found.independence is None
    for category, name in enumerate(found.tables):
        alone = crosstab(made.among(made.values["c"] == category), "a", "b")
        for key in ("cells", "conditional"):
            for ours, theirs in zip(getattr(found.tables[name], key), getattr(alone, key), strict=True):
                for one, other in zip(ours, theirs, strict=True):
                    assert (one.estimate, one.raw) == (pytest.approx(other.raw, abs=2e-3),) * 2
                    assert one.std_error == pytest.approx(other.std_error, rel=0.02)
                    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=5e-3)
    assert found.tables["no"].n_pair == 800
    assert "'c' is randomized" in found.tables["no"].warnings[-1]


def test_people_who_gave_no_answer_are_left_out_within_a_randomized_question():
    later = {**one_of(2, {"name": "kary_rr", "odds": "99"}), "absent_category": True}
    values = np.random.default_rng(2).integers(0, 3, (3, 900))
    made = of_values(values, later, later, later)

    for among, size in ((None, 2), ("all", 3)):
        found = crosstab_within(made, "a", "b", "c", rule=Rule(among=among))
        assert len(found.tables) == size
        for table in found.tables.values():
            assert (len(table.cells), len(table.cells[0])) == (size, size)
            assert sum(cell.estimate for line in table.cells for cell in line) == pytest.approx(1)
            assert sum(cell.raw for line in table.cells for cell in line) == pytest.approx(1)
            assert [sum(share.estimate for share in line) for line in table.conditional] == pytest.approx([1] * size)


def test_small_public_groups_are_left_out_within_a_randomized_question():
    values = np.random.default_rng(3).integers(0, 2, (3, 700))
    values[0, :3], values[0, 3] = 2, 3
    made = of_values(values, public(one_of(4, {})), question(ALMOST_SURE), question(ALMOST_SURE))

    found, others = crosstab_within(made, "a", "b", "c"), crosstab_within(made.among(values[0] < 2), "a", "b", "c")

    for name, table in found.tables.items():
        assert table.row_categories == ("c0", "c1")
        for line, other in zip(table.cells, others.tables[name].cells[:2], strict=True):
            assert [each.raw for each in line] == pytest.approx([each.raw for each in other])
        assert table.warnings[-1] == "'a': answers of fewer than 5 people are left out: c2, c3 (n = 4)"


def test_what_a_randomized_third_question_cannot_have_is_refused():
    with pytest.raises(EstimateError, match="within a public question only"):
        crosstab_within(thirds(), "a", "b", "c", np.ones(800))
    made = of_values([[0, 1, 1] * 9] * 3, public(question(COIN)), public(question(COIN)), question(COIN))
    with pytest.raises(EstimateError, match="take one of them as the third question"):
        crosstab_within(made, "a", "b", "c")
    five = blocks(block(*map(in_block, "abcde"), odds="20", radius=1))
    made = Columns.from_arrays(five, {name: [0, 1] * 50 for name in "abcde"})
    with pytest.raises(EstimateError, match="do not tell how these answers go together"):
        crosstab_within(made, "a", "b", "c")


@pytest.mark.parametrize("turned", [False, True])
def test_arm_that_never_has_a_question_has_no_shares_and_no_odds_ratio(turned) -> None:
    """Of 60 people of the direct arm 12 say yes; of the 50 of the other one nothing is known."""
    survey = parse_survey(
        document(questions=[asks("y", public=True), asks("own", "direct", public=True)], arms=arms(1, 1))
    )
    own, arm = np.repeat([0, 1, np.nan], [48, 12, 50]), np.repeat([0, 1], [60, 50])
    reports = Columns.from_arrays(survey, {"y": np.zeros(110, int), "own": own, "arm": arm})
    found = crosstab(reports, *(("own", "arm") if turned else ("arm", "own")))

    assert found.n_pair == 60
    shares = np.array([[each.estimate for each in line] for line in found.cells])
    assert (shares.T if turned else shares) == pytest.approx(np.array([[0.8, 0.2], [0, 0]]))
    within = [[each.estimate for each in line] for line in found.conditional]
    assert within == ([[1, 0], [1, 0]] if turned else [[pytest.approx(0.8), pytest.approx(0.2)], [None, None]])
    odds = found.measures.odds_ratio
    assert (odds.estimate, odds.low, odds.high) == (None, None, None)
    assert found.independence is None


@pytest.mark.parametrize(("people", "method"), [(200, "t"), (30, "score-mean")])
def test_mean_of_a_public_number_in_a_group_is_that_of_results(people: int, method: str) -> None:
    """With the same limits, of many people and of few."""
    made = parse_survey(
        document(questions=[asks("g", public=True), asks("age", kind="integer", min=0, max=99, public=True)])
    )
    draw = np.random.default_rng(1)
    group, age = draw.integers(0, 2, people), draw.poisson(6, people)
    found = compare(Columns.from_arrays(made, {"g": group, "age": age}), "age", "g")
    for place, value in enumerate(found.values):
        tally = dict(enumerate(np.bincount(age[group == place]).tolist()))
        (same,) = public_answers.estimate(tally, made.questions[1].domain)
        shown = value.estimate, value.std_error, value.low, value.high, value.method
        assert shown == (same.clipped, same.std_error, same.low, same.high, method)
