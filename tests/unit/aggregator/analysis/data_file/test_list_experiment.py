import json
import math
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.data_file.list_experiment import list_experiment
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, read_bytes
from sottovoce.aggregator.analysis.regression.list_logit import ListLogit, highest_peak, ways_of_counts
from sottovoce.aggregator.analysis.regression.newton import maximize
from sottovoce.shared.errors import SpecError, SurveyError

from tests.commands import run
from tests.unit.aggregator.analysis.reports import check_derivatives
from tests.unit.shared.test_schema import validate

AFFIRM = (9, 78, 172, 184, 139)

"""The same survey's third arm."""

RACE = {("0",): (8, 132, 222, 227), ("1",): (19, 123, 229, 219, 34)}

"""Numbers of people by count, without and with the sensitive item: the 1991 race survey of the R package list."""


def table_of(rows: list[str], header: str = "y,treat") -> FileTable:
    return read_bytes("\n".join([header, *rows]).encode(), "answers.csv")


def rows_of(people: dict[tuple[str, ...], tuple[int, ...]]) -> list[str]:
    return [",".join([str(count), *cells]) for cells, numbers in people.items()
            for count, number in enumerate(numbers) for _ in range(number)]  # fmt: skip


def found_in(rows: list[str], header: str = "y,treat", treated: Sequence[str] = ("1",), **more: Any) -> dict[str, Any]:
    return list_experiment(table_of(rows, header), [["y"]], "treat", treated, **more)


RACE_BY_REGION = {
    ("0", "0"): (5, 92, 159, 186), ("0", "1"): (3, 40, 63, 41),
    ("1", "0"): (15, 96, 174, 181, 20), ("1", "1"): (4, 27, 55, 38, 14),
}  # fmt: skip

"""People by count, of each half and of (not) the South: the 1991 race survey of the R package list."""

LIST_ONE = {
    ("0", "no"): (0, 6, 68, 63, 46, 0), ("1", "no"): (0, 4, 70, 79, 38, 5),
    ("0", "yes"): (1, 4, 90, 112, 109, 0), ("1", "yes"): (0, 2, 22, 89, 74, 137),
}  # fmt: skip

"""The same of half and direct answer: the first list of ``combinedListExps`` of that package."""


REGIONS, BY_REGION = rows_of(RACE_BY_REGION), "y,treat,south"

FOUND = found_in(rows_of(RACE))

"""The result of the published example."""


def command(folder: Path, rows: list[str], header: str = "y,treat", arm: str = "--arm") -> list[str]:
    path = folder / "answers.csv"
    path.write_text("\n".join([header, *rows]))
    return ["results", "list-experiment", str(path), "--count", "y", arm, "treat"]


COUNTS = np.array([0, 1, 2, 3, 4, 2, 1, 3, 0, 4, 2, 3] * 20)

ARMS = np.array([-1, -1, -1, -1, 0, 0, 0, 0, 1, 1, 1, 1] * 20)

COLUMNS = np.stack([np.ones(240), np.arange(240) % 7 / 7])


def test_published_example_is_reproduced() -> None:
    """Difference in means .068 with standard error .050; mean of the control half 2.134, .033 (R, ictreg)."""
    share, people, [answers] = FOUND["share"], FOUND["coin_flip"], FOUND["lists"]
    treated, control = answers["means"]
    assert [round(share[key], 3) for key in ("raw", "std_error")] == [0.068, 0.050]
    assert [round(control[key], 3) for key in ("mean", "std_error")] == [2.134, 0.033]
    assert (treated["n"], control["n"], answers["items"]) == (624, 589, 3)
    assert (answers["floor"], answers["ceiling"]) == pytest.approx((8 / 589, 227 / 589))
    validate("list-experiment", FOUND)

    assert sum(each["share"] for each in answers["joint"]) == pytest.approx(1)
    assert sum(each["share"] for each in answers["joint"] if each["answer"] == "yes") == pytest.approx(share["raw"])
    assert answers["joint"][0]["share"] == pytest.approx(8 / 589 - 19 / 624)
    assert answers["p"] > 0.05
    yes = 0.25 + share["raw"] / 2
    assert (yes * (1 - yes) / people) ** 0.5 * 2 == pytest.approx(share["std_error"], rel=1e-2)
    assert people < FOUND["n"] / 3


def test_design_effect_has_the_p_of_blair_and_imai() -> None:
    """Race: .154 without and .044 with the selection of moments of R's list, by closed forms for three and one."""
    [answers] = FOUND["lists"]
    halves = [np.array(people) for people in RACE.values()]
    control, treated = (np.cumsum(people)[:3] / people.sum() for people in halves)
    shares = control - treated
    covariance = sum(
        (np.minimum.outer(each, each) - np.outer(each, each)) / people.sum()
        for people, each in zip(halves, (control, treated), strict=True)
    )
    assert answers["p"] == pytest.approx(2 * _closed_form(shares, covariance), abs=2e-3)
    assert round(answers["p"], 2) == 0.15
    alone = 2 * NormalDist().cdf(shares[0] / math.sqrt(covariance[0, 0]))
    assert answers["p_selected"] == pytest.approx(alone, abs=1e-3)
    assert round(answers["p_selected"], 3) == 0.044


def _closed_form(shares: np.ndarray, covariance: np.ndarray) -> float:
    """Return p of three shares, the distance over all sets of bounds, with Kudo's angles for the weights."""
    error = np.sqrt(np.diag(covariance))
    r = covariance / np.outer(error, error)
    distances = []
    for bound in ([0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]):
        pull = np.linalg.solve(covariance[np.ix_(bound, bound)], -shares[bound])
        if (pull >= 0).all() and (shares + covariance[:, bound] @ pull >= -1e-12).all():
            distances.append(float(-shares[bound] @ pull))
    [distance] = distances
    pairs = ((0, 1, 2), (0, 2, 1), (1, 2, 0))
    partial = [(r[a, b] - r[a, c] * r[b, c]) / math.sqrt((1 - r[a, c] ** 2) * (1 - r[b, c] ** 2)) for a, b, c in pairs]
    none = (2 * math.pi - sum(math.acos(r[a, b]) for a, b, _ in pairs)) / (4 * math.pi)
    one = (3 * math.pi - sum(math.acos(each) for each in partial)) / (4 * math.pi)
    tails = (
        math.erfc(math.sqrt(distance / 2)),
        math.exp(-distance / 2),
        math.erfc(math.sqrt(distance / 2)) + math.sqrt(2 * distance / math.pi) * math.exp(-distance / 2),
    )
    return sum(weight * tail for weight, tail in zip((one, 0.5 - none, 0.5 - one), tails, strict=True))


def test_one_item_needs_no_simulation() -> None:
    """With one item, p is twice a one-sided z test: 30 of 100 count nothing with the sensitive item, 20 without."""
    rows = [f"{int(person >= zero)},{half}" for half, zero in ((0, 20), (1, 30)) for person in range(100)]
    [answers] = found_in(rows, items=1)["lists"]
    expected = 2 * NormalDist().cdf(-0.1 / math.sqrt(0.2 * 0.8 / 100 + 0.3 * 0.7 / 100))
    assert (answers["p"], answers["p_selected"]) == pytest.approx((expected, expected), rel=1e-9)


def test_each_arm_is_compared_with_the_control() -> None:
    rows = rows_of({**RACE, ("2",): AFFIRM})
    both = found_in(rows, treated=[])
    [affirm] = both["further"]
    assert [each["treated"] for each in (both, affirm)] == ["1", "2"]
    assert both["share"] == FOUND["share"]
    assert affirm["share"]["raw"] == pytest.approx(0.495, abs=5e-4)
    assert affirm["n"] == 589 + 582
    assert "same people of '0'" in both["warnings"][-1]
    assert found_in(rows, treated=["2.0"])["share"] == affirm["share"]
    labelled = [row.replace(",0", ",Control").replace(",1", ",Treatment") for row in rows_of(RACE)]
    assert found_in(labelled, treated=[])["share"] == FOUND["share"]
    with pytest.raises(SpecError, match="double list has two halves"):
        list_experiment(table_of(rows), [["y"], ["y"]], "treat", [])


def test_model_of_all_arms_is_shown_after_them(tmp_path: Path) -> None:
    (tmp_path / "race.csv").write_text("\n".join(["y,treat", *rows_of({**RACE, ("2",): AFFIRM})]))
    words = "--count", "y", "--arm", "treat", "--formula", "~ 1"
    printed = run("results", "list-experiment", tmp_path / "race.csv", *words).stdout
    assert "Sensitive item (2)" in printed[printed.index("“2” against the control") :]


def test_counts_may_have_a_decimal_point() -> None:
    """``2.0`` is 2, as programs write a column with gaps; 2.5 is refused."""
    assert found_in([row.replace(",", ".0,") for row in rows_of(RACE)])["share"] == FOUND["share"]
    with pytest.raises(SpecError, match="must be a whole number from 0 to 21"):
        found_in(["2.5,0", "1,1"])


@pytest.mark.parametrize(("people", "has_limits"), [((60, 40), True), ((90, 10), False)])
def test_estimate_outside_0_to_1_is_said_to_be_impossible(
    people: tuple[int, int], has_limits: bool, tmp_path: Path
) -> None:
    """With the figure as it is and no share, and without limits where all of the interval is outside."""
    words = command(tmp_path, rows_of({("0",): (50, 50), ("1",): people}))
    printed = run(*words).output
    assert f"−{50 - people[1]}.0% (impossible)" in printed
    assert "no share is outside 0 to 1" in printed
    found = json.loads(run(*words, "--json").output)
    validate("list-experiment", found)
    assert (found["share"]["shown"], found["coin_flip"]) == (None, None)
    assert (found["share"]["high"] is not None) == has_limits
    assert ("outside 0 to 1 " in printed.replace("no share is outside 0 to 1", "")) != has_limits


def test_design_effect_is_found() -> None:
    rows = rows_of({("0",): (0, 100, 100, 100), ("1",): (150, 0, 150)})
    assert found_in(rows)["lists"][0]["p"] < 1e-6


def test_double_list_joins_both_lists_of_each_person() -> None:
    """Half the sum of both differences; its error takes in that both counts of a person hang together."""
    draws = np.random.default_rng(1)
    n = 4000
    likes, sensitive, half = draws.binomial(3, 0.4, n), draws.random(n) < 0.2, draws.integers(0, 2, n)
    first, second = likes + sensitive * half, likes + sensitive * (1 - half)
    rows = [f"{a},{b},{h}" for a, b, h in zip(first, second, half, strict=True)]
    found = list_experiment(table_of(rows, "a,b,half"), [["a"], ["b"]], "half", ["1"])
    one, other = (each["share"] for each in found["lists"])
    assert found["share"]["raw"] == pytest.approx((one["raw"] + other["raw"]) / 2)
    assert found["share"]["low"] < 0.2 < found["share"]["high"]
    assert found["share"]["std_error"] < 0.4 * one["std_error"]


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        (["3,0", "x,1"], {}, "line 3, column 'y': must be a whole number from 0"),
        (["1,0", "1,0", "1,1"], {}, "needs at least 2 people"),
        (["1,0", "1,0", "2,1", "2,1"], {}, "no interval can be computed"),
        (["1,0", "1,2"], {}, "must have two values, one of them '1'"),
        (["1,1", "1,2", "1,3"], {}, "or a control, called 0 or control"),
        (["1,0", "1,0", "3,1", "3,1"], {}, "larger than the number of items (1)"),
        (["1,0"], {"arm": "half"}, "has no column 'half'"),
    ],
)
def test_what_is_no_list_experiment_is_refused(rows: list[str], options: dict[str, str], words: str) -> None:
    with pytest.raises(SpecError) as caught:
        list_experiment(table_of(rows), [["y"]], options.get("arm", "treat"), ["1"])
    assert words in str(caught.value)


def test_each_half_may_have_a_column_of_its_own() -> None:
    rows = [f"{row[0]},,0" if row.endswith("0") else f",{row[0]},1" for row in rows_of(RACE)]
    found = list_experiment(table_of(rows, "a,b,arm"), [["b", "a"]], "arm", ["1"])
    assert found["share"] == FOUND["share"]
    with pytest.raises(SpecError, match="counts in several of the columns"):
        list_experiment(table_of(["1,1,0", "1,,1"], "a,b,arm"), [["b", "a"]], "arm", ["1"])


def test_command_prints_the_share_and_leaves_out_rows_without_a_count(tmp_path: Path) -> None:
    words = command(tmp_path, [*rows_of(RACE), "NA,1", ",0"])
    printed = run(*words).output
    assert "6.8%" in printed
    assert "2 rows without a count or a half are left out" in printed
    found = json.loads(run(*words, "--json", "--confidence", "0.9").output)
    assert found["confidence"] == 0.9
    assert found["share"]["low"] == 0


def test_model_without_predictors_has_the_published_coefficients() -> None:
    """Log odds -1.7046 (.2010) and .8312 (.0402), log likelihood -1,500.973 (R, ictreg)."""
    model = found_in(rows_of(RACE_BY_REGION), BY_REGION, [], formula="~ 1")["model"]
    figures = [value for one in model["coefficients"] for value in (one["estimate"], one["std_error"])]
    assert figures == pytest.approx([-1.70465, 0.20102, 0.83124, 0.04017], abs=1e-5)
    assert model["log_likelihood"] == pytest.approx(-1500.973, abs=5e-4)
    assert model["shares"][0]["share"] == pytest.approx(0.15386, abs=1e-5)


def test_model_with_a_predictor_has_the_published_coefficients(tmp_path: Path) -> None:
    """In the terminal and as a document: -2.0881 (.2504), 1.3159 (.4449), .9037 (.0452), -.3020 (.0976)."""
    words = command(tmp_path, [*rows_of(RACE_BY_REGION), "2,,1", "3,1,NA"], BY_REGION, "--treatment")
    ended = run(*words, "--items", "3", "--formula", "~ south", "--method", "ml", "--json")
    found = json.loads(ended.output)
    validate("list-experiment", found)
    figures = [value for one in found["model"]["coefficients"] for value in (one["estimate"], one["std_error"])]
    expected = [-2.08813, 0.25042, 1.31602, 0.44491, 0.90373, 0.04518, -0.30193, 0.09759]
    assert figures == pytest.approx(expected, abs=1e-4)
    assert [one["term"] for one in found["model"]["coefficients"]] == ["(constant)", "south=1"] * 2
    assert found["model"]["n"] == 1213
    assert "Sensitive item: south=1" in run(*words, "--formula", "~ south").output
    refused = run(*words, "--formula", "~ south", "--method", "difference").output
    assert "--formula goes with --method ml" in refused


@pytest.mark.parametrize(
    ("treated", "edge"), [((40, 80, 60, 20, 0), 0), ((0, 20, 60, 80, 40), 1), ((52, 88, 52, 8, 0), 0)]
)
def test_share_at_an_edge_has_a_limit_by_its_profile(treated: tuple[int, ...], edge: int, tmp_path: Path) -> None:
    """By an own profile over a grid of both shares; 0 or 1 is printed, with one limit inside."""
    control = (25, 75, 75, 25)
    path = tmp_path / "answers.csv"
    rows = [f"{y},{half}" for half, of in ((0, control), (1, treated)) for y, n in enumerate(of) for _ in range(n)]
    path.write_text("\n".join(["y,treat", *rows]))
    words = ["results", "list-experiment", str(path), "--count", "y", "--treatment", "treat", "--items", "3"]
    found = json.loads(run(*words, "--formula", "~ 1", "--method", "ml", "--json").output)
    validate("list-experiment", found)
    share, [log_odds, others] = found["model"]["shares"][0], found["model"]["coefficients"]

    g, h = np.linspace(0, 1, 1001)[:, None, None], np.linspace(0.2, 0.8, 1201)[:, None]
    ways = np.array([math.comb(3, y) for y in range(4)]) * h ** np.arange(4) * (1 - h) ** (3 - np.arange(4))
    none, one = np.pad(ways, ((0, 0), (0, 1))), np.pad(ways, ((0, 0), (1, 0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.array(control) @ np.log(ways).T + np.nansum(np.array(treated) * np.log((1 - g) * none + g * one), 2)
    profile = logs.max(axis=1)
    inside = g[profile >= profile.max() - 1.959964**2 / 2, 0, 0]
    assert (share["share"], share["std_error"]) == (edge, None)
    assert [share["low"], share["high"]] == pytest.approx([inside.min(), inside.max()], abs=2e-3)
    assert share["high" if edge else "low"] == edge
    assert found["model"]["log_likelihood"] == pytest.approx(profile.max(), abs=0.01)
    assert (log_odds["estimate"], others["std_error"]) == (None, None)
    assert others["low"] < others["estimate"] < others["high"]
    assert "limits end at the edge" in run(*words, "--formula", "~ 1").output


def test_each_sensitive_item_has_its_own_coefficients() -> None:
    rows = rows_of(RACE_BY_REGION)
    both = [*rows, *(row.replace(",1,", ",2,", 1) for row in rows if row.split(",")[1] == "1")]
    found = found_in(both, BY_REGION, [], formula="~ 1")["model"]
    one, other = found["shares"]
    assert (one["treated"], other["treated"]) == ("1", "2")
    assert one["share"] == pytest.approx(other["share"])
    assert [each["treated"] for each in found["coefficients"]] == ["1", "2", None]


def test_direct_question_makes_the_list_more_exact() -> None:
    """.64024 (.03558), by the difference alone .61364; placebo tests .669 and .737 (R, combinedListDirect)."""
    found = found_in(rows_of(LIST_ONE), "y,treat,d", [], items=4, direct="d")
    combined = found["combined"]
    assert [combined["share"], combined["std_error"]] == pytest.approx([0.64024, 0.03558], abs=1e-5)
    assert found["share"]["raw"] == pytest.approx(0.61364, abs=1e-5)
    assert [combined["placebo_one"], combined["placebo_two"]] == pytest.approx([0.669, 0.737], abs=5e-4)
    validate("list-experiment", found)
    double = [["y"], ["south"]]
    assert "combined" in list_experiment(table_of(REGIONS, BY_REGION), double, "treat", [], direct="south")


def test_combined_share_outside_has_no_limits_of_0_and_no_certain_placebo(tmp_path: Path) -> None:
    """Of people without a direct yes the list has 1.7 items less, of those with one exactly 2 more, which is not 1."""
    people = [("3,0,n", 8), ("2,0,n", 2), ("1,1,n", 9), ("2,1,n", 1), ("1,0,y", 2), ("3,1,y", 2)]
    rows = [row for row, number in people for _ in range(number)]
    found = found_in(rows, "y,treat,d", [], items=3, direct="d")
    combined = found["combined"]
    assert (combined["low"], combined["high"], combined["placebo_one"]) == (None, None, 0)
    validate("list-experiment", found)
    printed = run(*command(tmp_path, rows, "y,treat,d"), "--direct", "d").output
    assert printed.count("(impossible)") == 2
    assert "0.0% to 0.0%" not in printed


def test_command_combines_list_and_direct_question(tmp_path: Path) -> None:
    printed = run(*command(tmp_path, [*rows_of(LIST_ONE), "3,1,"], "y,treat,d"), "--direct", "d").output
    assert "n = 1,020" in printed
    assert "combined (n = 1,019)" in printed
    assert "64.0%" in printed
    assert "Placebo test II, the halves say yes equally often: p = 0.7368" in printed


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        (REGIONS, {"formula": "~ west"}, "has no column 'west'; it has: y, treat, south"),
        (REGIONS, {"formula": "~ south +"}, "formula, column"),
        (REGIONS, {"formula": "y ~ south"}, "names predictors only"),
        (REGIONS, {"formula": "~ y"}, "'y' is a column of the design itself"),
        (REGIONS, {"formula": "~ south + treat"}, "'treat' is a column of the design itself"),
        (["0,0,a", "1,0,a", "1,1,a"] * 9, {"formula": "~ 1"}, "at least 2 items"),
        (REGIONS, {"formula": "~ 1", "columns": [["y"], ["y"]]}, "double list and a model do not go together"),
        ([*REGIONS, "1,2,1", "1,2,0"], {"direct": "south"}, "one sensitive item"),
        ([*REGIONS, "1,1,x"], {"direct": "south"}, "must hold yes and no"),
        ([row.replace(",1,1", ",1,0") for row in REGIONS], {"direct": "south"}, "who say yes to the direct"),
    ],
)
def test_what_has_no_model_or_no_combination_is_refused(rows: list[str], options: dict[str, Any], words: str) -> None:
    with pytest.raises(SurveyError) as refused:
        list_experiment(table_of(rows, BY_REGION), arm="treat", treated=[], **{"columns": [["y"]], **options})
    assert words in str(refused.value)


def test_share_that_runs_off_with_predictors_has_limits_without() -> None:
    """As the refusal says: nobody of region b has the sensitive item, in the fit."""
    rows = [f"{count},{half},{region}" for region in "ab" for half in (0, 1) for count in range(4)] * 20
    rows += ["4,1,a"] * 20
    rows = [row for row in rows if row not in ("2,1,b", "3,1,b")]
    table = table_of(rows, BY_REGION)
    with pytest.raises(SurveyError, match=r"fit it without predictors \(~ 1\), where limits of a share end at 0 and 1"):
        list_experiment(table, [["y"]], "treat", [], formula="~ south")
    [share] = list_experiment(table, [["y"]], "treat", [], formula="~ 1")["model"]["shares"]
    assert 0 <= share["low"] <= share["share"] < share["high"] < 1


def test_randomized_predictor_is_refused() -> None:
    with pytest.raises(SurveyError, match="randomized predictors do not go together"):
        found_in([f"{row},coin_flip" for row in REGIONS], f"{BY_REGION},south_channel", [], formula="~ south")


def test_gradient_and_information_are_the_derivatives_of_the_likelihood() -> None:
    likelihood = ListLogit(COLUMNS, COUNTS, ways_of_counts(3), arms=ARMS)
    check_derivatives(likelihood, np.array([0.3, -0.4, -0.7, 0.2, 0.1, 0.5]), 1e-5)


def test_counts_of_a_share_that_is_fitted_exactly_give_it_back() -> None:
    """Two items of which half apply, and a sensitive one that applies to a quarter."""
    counts = [0, 1, 2, 0, 1, 2, 3]
    people = [100, 200, 100, 75, 175, 125, 25]
    y, arms = np.repeat(counts, people), np.repeat([-1, -1, -1, 0, 0, 0, 0], people)
    fit = maximize(ListLogit(np.ones((1, len(y))), y, ways_of_counts(2), arms=arms))
    assert 1 / (1 + np.exp(-fit.theta)) == pytest.approx([0.25, 0.5], abs=1e-8)


@pytest.mark.parametrize("seed", [113, 386])
def test_list_model_takes_the_highest_peak(seed: int) -> None:
    """As forty searches from anywhere find it; the search from zero ends .94 and 1.38 below it in log likelihood."""
    rng = np.random.default_rng(seed)
    n, items, size = int(rng.choice([60, 100, 200, 300])), int(rng.choice([3, 4, 5])), int(rng.choice([2, 3, 4]))
    columns = np.vstack([np.ones(n), *(rng.normal(0, 1, n) * rng.choice([1, 3]) for _ in range(size - 1))])
    b, d = rng.normal(0, 1, size), rng.normal(0, 0.5, size)
    arms = rng.integers(-1, 1, n)
    counts = rng.binomial(items, 1 / (1 + np.exp(-d @ columns)))
    counts += (arms == 0) & (rng.random(n) < 1 / (1 + np.exp(-b @ columns)))
    model = ListLogit(columns, counts, ways_of_counts(items), arms=arms)

    found = highest_peak(model)

    searched = [maximize(model, rng.normal(0, 2, model.parameters)) for _ in range(40)]
    assert found.log_likelihood > maximize(model).log_likelihood + 0.9
    assert found.log_likelihood >= max(each.log_likelihood for each in searched if each.converged) - 1e-6


def test_few_of_our_own_files_are_missing_with_a_note() -> None:
    """A file of reports hides rare public answers, also of arms, direct answers and predictors."""
    header = "y,treat,said,place,_wave"
    rows = [
        f"{(0, 1, 2, 3)[row % 4]},{row // 4 % 2},{('yes', 'no')[row // 8 % 2]},{'abb'[row % 3]},0" for row in range(96)
    ]
    hidden = ["few,1,yes,a,0", "1,few,no,b,0", "2,0,few,a,0", "3,1,no,few,0", "few,0,no,b,0"]
    own = {"direct": "said", "formula": "~ place"}
    few = found_in([*rows, *hidden], header, **own)
    assert few == found_in([*rows, *(each.replace("few", "") for each in hidden)], header, **own) | {
        "warnings": few["warnings"]
    }
    assert [str(each) for each in few["warnings"] if "as few" in each] == [
        f"'{name}': the file leaves out rare answers of {n} reports as few; these reports are left out here too"
        for name, n in (("treat", 1), ("y", 2), ("said", 1), ("place", 1))
    ]
    with pytest.raises(SpecError, match="must be a whole number from 0"):
        found_in([row.removesuffix(",0") for row in [*rows, *hidden]], header.removesuffix(",_wave"))
