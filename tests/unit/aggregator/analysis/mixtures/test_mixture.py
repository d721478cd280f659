import json
import math
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sottovoce.aggregator import estimate, mixture, open_data
from sottovoce.aggregator.analysis.data_file.people_with_predictors import mean_share
from sottovoce.aggregator.analysis.mixtures import class_model
from sottovoce.aggregator.analysis.regression.multinomial_logit import Multinomial
from sottovoce.aggregator.analysis.requests import odds_of_groups
from sottovoce.shared.errors import SurveyError

from tests.commands import run
from tests.unit.shared.test_schema import validate

KUK = dict(zip([*range(1, 11), *range(12, 21)], [4, 8, 32, 28, 37, 28, 21, 7, 5, 4, 3, 4, 4, 2, 6, 2, 2, 2, 1],
               strict=True))  # fmt: skip

"""People by number of red cards among 25: ``KukData`` of the R package RRTCS."""

YES: dict[str, Callable[..., Any]] = {
    "unrelated_unknown": lambda p, pi, q: p * pi + (1 - p) * q,
    "cheater_detection": lambda p, pi, beta: pi + p * beta,
    "lie_detector": lambda p, pi, t: pi * t + (1 - pi) * (1 - p),
}

"""P(yes) of a group, as the designs' papers have it."""

SECOND = {"unrelated_unknown": "q", "cheater_detection": "beta", "lie_detector": "t"}


def _figures(design: str, p: Sequence[float], yes: Sequence[int], n: Sequence[int]) -> dict[str, list[float]]:
    shares = mixture(design, p, yes, n).document["shares"]
    return {name: [one["share"], one["se"]] for name, one in shares.items()}


Array = NDArray[np.float64]

P = {"a": 0.25, "b": 0.75}

DESIGN, FORMULA = ["y", "cheater_detection", P, "arm"], "~ age + x"

PEOPLE = 3000


def _drawn() -> dict[str, Array]:
    dice = np.random.default_rng(17)
    x, arm = dice.integers(0, 2, (2, PEOPLE))
    age, weight = dice.integers(18, 80, PEOPLE), dice.lognormal(0, 0.4, PEOPLE).round(3)
    odds = np.exp([np.zeros(PEOPLE), -1.5 + x + (age - 50) / 60, -2 + x])
    honest, carrier, _ = (odds / odds.sum(axis=0)).cumsum(axis=0)
    place = dice.random(PEOPLE)
    told = dice.random(PEOPLE) < np.where(arm == 0, *P.values())
    y = np.where(place < honest, told, place < carrier)
    return {"y": y.astype(float), "arm": arm, "x": x, "age": age, "w": weight}


DRAWN = _drawn()


def _path(folder: Path, people: dict[str, Array] = DRAWN, where: NDArray[np.bool_] | None = None) -> Path:
    path = folder / "answers.csv"
    rows = zip(*(column if where is None else column[where] for column in people.values()), strict=True)
    lines = (f"{'yes' if y else 'no'},{'ab'[int(arm)]},{x:.0f},{age:.0f},{w}" for y, arm, x, age, w in rows)
    path.write_text("\n".join(["y,arm,x,age,w", *lines]))
    return path


def _own_maximum(weights: Array, columns: Array) -> tuple[Array, Callable[[Array], Array], float]:
    """Coefficients, the function that gives each person's logarithm, and their largest sum, by differences alone."""
    p, yes = np.where(DRAWN["arm"] == 0, *P.values()), DRAWN["y"]

    def logs(theta: Array) -> Array:
        odds = np.exp(np.stack([np.zeros(PEOPLE), *(theta.reshape(2, -1) @ columns)]))
        honest, carrier, _ = odds / odds.sum(axis=0)
        return np.log(np.where(yes == 1, carrier + p * honest, 1 - carrier - p * honest))

    theta = np.array([-1.5, 1, 1, -2, 0, 1])
    for _ in range(12):
        gradient, curvature = _derivatives(lambda at: float(weights @ logs(at)), theta)
        theta = theta - np.linalg.solve(curvature, gradient)
    return theta, logs, float(weights @ logs(theta))


def _derivatives(function: Callable[[Array], float], at: Array, step: float = 1e-4) -> tuple[Array, Array]:
    steps = step * np.eye(len(at))
    gradient = np.array([function(at + one) - function(at - one) for one in steps]) / (2 * step)
    curvature = np.array([
        [function(at + one + other) - function(at + one - other) - function(at - one + other)
         + function(at - one - other) for other in steps] for one in steps
    ]) / (4 * step**2)  # fmt: skip
    return gradient, curvature


COLUMNS = np.stack([np.ones(PEOPLE), (DRAWN["age"] - 50) / 60, DRAWN["x"]])

"""Predictors of the own maximum, whose ages are in other units to make differences exact."""

UNITS = np.kron(np.eye(2), np.array([[1, -50 / 60, 0], [0, 1 / 60, 0], [0, 0, 1]]))


def test_two_samples_have_the_published_shares_and_the_errors_of_maximum_likelihood() -> None:
    """Estimates of RRreg; errors with n where it has n - 1: .042865, .034563, .041118 there."""
    unrelated = _figures("unrelated_unknown", [0.7, 0.3], [120, 80], [400, 400])
    assert unrelated == {
        "pi": pytest.approx([0.375, 0.04281], abs=1e-5),
        "q": pytest.approx([0.125, 0.03899], abs=1e-5),
    }
    cheaters = _figures("cheater_detection", [0.25, 0.75], [200, 330], [500, 500])
    assert cheaters["pi"] == pytest.approx([0.27, 0.03453], abs=1e-5)
    assert cheaters["beta"] == pytest.approx([0.52, 0.06095], abs=1e-5)
    assert cheaters["gamma"] == pytest.approx([0.21, 0.03361], abs=1e-5)
    liars = mixture("lie_detector", ["2/12", "10/12"], [373, 398], [564, 692]).document["shares"]
    assert [liars["pi"]["share"], liars["pi"]["se"]] == pytest.approx([0.87070, 0.04109], abs=1e-5)
    assert [liars["t"]["share"], liars["t"]["se"]] == pytest.approx([0.63581, 0.01733], abs=1e-5)


def test_several_draws_have_the_share_of_maximum_likelihood_beside_the_moment_estimate() -> None:
    """.13418 (.02481) with log likelihood -493.262; the moment estimate is .1335; epsilon 27.47."""
    found = mixture("kuk", [0.6, 0.2], counts=KUK, draws=25)
    share = found.document["shares"]["pi"]
    assert [share["share"], share["se"]] == pytest.approx([0.13418, 0.02481], abs=1e-5)
    assert found.document["log_likelihood"] == pytest.approx(-493.262, abs=5e-4)
    assert share["raw"] == pytest.approx(0.1335, abs=1e-4)
    assert found.document["misfit"]["df"] == 24
    assert "Epsilon of a person's draws (25) is 27.47" in str(found)


def test_few_of_our_own_files_are_missing_with_a_note(tmp_path: Path) -> None:
    """Groups and reports that a file of reports hides; a predictor, too."""
    path = _path(tmp_path)
    head, *rows = path.read_text().splitlines()
    rows[3:6] = ["few,a,0,30,1.0", "yes,few,0,30,1.0", "no,b,few,30,1.0"]
    given = {
        "response": "y",
        "design": "cheater_detection",
        "p": {"a": 0.25, "b": 0.75},
        "group": "arm",
        "formula": "~ x",
    }

    def found(few: str) -> dict[str, Any]:
        path.write_text("\n".join([f"{head},_wave", *(f"{row.replace('few', few)},0" for row in rows)]))
        return dict(open_data(path).mixture(**given).document)

    few, empty = found("few"), found("")
    assert few | {"warnings": empty["warnings"]} == empty
    assert len([each for each in few["warnings"] if "rare answers of 1 reports as few" in each]) == 3


def test_one_draw_and_one_group_are_closed_forms() -> None:
    """Mangat: 1 - (1 - l) / p; Kuk with one card: (l - p2) / (p1 - p2)."""
    assert mixture("mangat", [0.7], [200], [500]).rows[0]["shown"] == pytest.approx(1 - 0.6 / 0.7)
    assert mixture("kuk", {"1": 0.6, "2": 0.2}, counts={0: 60, 1: 40}).rows[0]["shown"] == pytest.approx(0.5)


def test_symmetric_design_is_the_plain_one_where_no_card_says_no() -> None:
    """With b = 0 in both groups; with b the reports fit the formula pi (1 - b) + beta a."""
    plain = mixture("cheater_detection", [0.25, 0.75], [200, 330], [500, 500]).document
    same = mixture("cheater_detection_symmetric", [(0.25, 0), (0.75, 0)], [200, 330], [500, 500]).document
    assert same["shares"]["pi"] == pytest.approx(plain["shares"]["pi"])
    found = _figures("cheater_detection_symmetric", [(0.2, 0.1), (0.6, 0.2)], [250, 340], [500, 500])  # type: ignore[list-item]
    pi, beta = found["pi"][0], found["beta"][0]
    assert [pi * 0.9 + beta * 0.2, pi * 0.8 + beta * 0.6] == pytest.approx([0.5, 0.68])


@pytest.mark.parametrize(
    ("design", "yes", "expected"),
    [
        # RRreg gives a standard error of 2e-6 here,
        ("unrelated_unknown", [30, 140], {"pi": 0.0, "q": 0.34495}),
        # and here pi = 1, beta = 1 and gamma = -1.
        ("cheater_detection", [110, 395], {"pi": 0.0, "beta": 1.0, "gamma": 0.0}),
        ("lie_detector", [480, 140], {"pi": 1.0, "t": 0.62}),
        ("lie_detector", [140, 480], {"pi": 0.14573, "t": 1.0}),
        # All carriers lie: the likelihood rises from pi = 0 in this direction alone.
        ("lie_detector", [75, 225], {"pi": 0.4, "t": 0.0}),
        ("cheater_detection", [490, 495], {"pi": 0.975, "beta": 0.02, "gamma": 0.005}),
        # The profile has a corner, over which Newton's steps jump.
        ("cheater_detection", [384, 190], {"beta": 0.0}),
        ("lie_detector", [317, 487], {"t": 1.0}),
    ],
)
def test_maximum_is_the_best_point_of_the_whole_region(design: str, yes: list[int], expected: dict[str, float]) -> None:
    """No point of a grid over all possible shares has a larger likelihood, by the formulas of the papers."""
    p = [0.75, 0.25] if design != "cheater_detection" else [0.25, 0.75]
    found = mixture(design, p, yes, [500, 500]).document
    one, other = np.meshgrid(np.linspace(0, 1, 201), np.linspace(0, 1, 201))
    chances = [YES[design](each, one, other) for each in p]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [some * np.log(each) + (500 - some) * np.log(1 - each) for some, each in zip(yes, chances, strict=True)]
    inside = one + other <= 1 if design == "cheater_detection" else one <= 1
    assert np.nanmax(np.where(inside, sum(parts), -np.inf)) <= found["log_likelihood"] + 1e-9
    shares = {name: each["share"] for name, each in found["shares"].items()}
    fitted = [YES[design](each, shares["pi"], shares[SECOND[design]]) for each in p]
    logs = [some * np.log(each) + (500 - some) * np.log(1 - each) for some, each in zip(yes, fitted, strict=True)]
    assert sum(logs) == pytest.approx(found["log_likelihood"], abs=1e-9)
    assert {name: shares[name] for name in expected} == pytest.approx(expected, abs=1e-4)


def test_estimate_at_an_edge_has_the_closed_form_beside_it_and_no_standard_error() -> None:
    """The raw figures are -.065, 1.14 and -.075; limits end at the edge."""
    found = mixture("cheater_detection", [0.25, 0.75], [110, 395], [500, 500])
    shares = found.document["shares"]
    assert [one["raw"] for one in shares.values()] == pytest.approx([-0.065, 1.14, -0.075])
    assert [one["se"] for one in shares.values()] == [None, None, None]
    assert (shares["pi"]["low"], shares["beta"]["high"]) == (0.0, 1.0)
    assert found.document["at_edge"]
    assert "pi -0.0650, beta 1.1400, gamma -0.0750" in str(found)
    # All do as instructed, and none is a carrier: 125 and 375 yes are expected.
    misfit = 2 * sum(n * np.log(n / of) for n, of in ((110, 125), (390, 375), (395, 375), (105, 125)))
    assert f"free shares of each group is {misfit:.3f}" in str(found)


def test_limits_are_where_the_profile_likelihood_has_fallen_by_half_z_squared() -> None:
    """By a grid over the other share, for each limit of each of two shares."""
    found = mixture("lie_detector", [0.25, 0.75], [373, 398], [564, 692], confidence=0.9).document
    grid = np.linspace(0, 1, 20_001)
    for name in ("pi", "t"):
        for end in ("low", "high"):
            point = {"pi": grid, "t": grid} | {name: np.float64(found["shares"][name][end])}
            chances = [YES["lie_detector"](p, **point) for p in (0.25, 0.75)]
            with np.errstate(divide="ignore"):
                logs = sum(
                    some * np.log(each) + (every - some) * np.log(1 - each)
                    for some, every, each in zip((373, 398), (564, 692), chances, strict=True)
                )
            assert found["log_likelihood"] - np.max(logs) == pytest.approx(1.6448536**2 / 2, abs=1e-4)


def test_more_groups_than_unknown_shares_test_the_design() -> None:
    """Three groups that one pair of shares explains have no misfit, and three others have."""
    right = mixture("cheater_detection", [0.2, 0.5, 0.8], [360, 450, 540], [1000, 1000, 1000]).document
    wrong = mixture("cheater_detection", [0.2, 0.5, 0.8], [360, 550, 540], [1000, 1000, 1000]).document
    assert right["misfit"] == {"statistic": pytest.approx(0, abs=1e-9), "df": 1, "p": pytest.approx(1, abs=1e-4)}
    assert right["shares"]["pi"]["share"] == pytest.approx(0.3)
    assert right["shares"]["pi"]["raw"] is None
    assert wrong["misfit"]["p"] < 1e-3


def test_without_carriers_nothing_is_said_of_their_truthfulness() -> None:
    """Their share t is none, with the limits 0 and 1, where the share of carriers is 0."""
    shares = mixture("lie_detector", [0.5, 0.25], [250, 375], [500, 500]).document["shares"]
    assert shares["pi"]["share"] == pytest.approx(0, abs=1e-8)
    assert (shares["t"]["share"], shares["t"]["low"], shares["t"]["high"]) == (None, 0.0, 1.0)


@pytest.mark.parametrize(
    ("design", "sentences"),
    [
        ("cheater_detection", ["a yes costs at most 1.39", "infinite", "at least 27.0% and at most 48.0%"]),
        ("unrelated_unknown", ["infinite for a reader who knows", "no guarantee", "too low by the factor 1 - c"]),
        ("lie_detector", ["a yes costs at most 1.39", "by behaviour and no guarantee", "1 - (1 - pi)(1 - c)"]),
    ],
)
def test_text_tells_epsilon_and_a_self_protective_no(design: str, sentences: list[str]) -> None:
    """Epsilon is one-sided or infinite; carriers of cheater detection are between pi and pi + gamma."""
    printed = str(mixture(design, [0.25, 0.75], [200, 330], [500, 500]))
    assert [each for each in sentences if each not in printed] == []


def _words(path: Path) -> list[str]:
    words = ["results", "mixture", str(path), "--response", "y", "--group", "arm", "--design", "cheater_detection"]
    return [*words, "--p", "a=.25"]


def _file(folder: Path, rows: Sequence[str], header: str = "y,arm,w") -> Path:
    path = folder / "answers.csv"
    path.write_text("\n".join([header, *rows]))
    return path


ROWS = [f"{answer},{arm},1" for arm, some in (("a", 200), ("b", 330)) for answer, people in
        (("yes", some), ("no", 500 - some)) for _ in range(people)]  # fmt: skip


def test_file_gives_what_its_counts_give(tmp_path: Path) -> None:
    path = _file(tmp_path, [*ROWS, "NA,a,1", "yes,,1"])
    found = json.loads(run(*_words(path), "--p", "b=3/4", "--confidence", "0.9", "--json").output)
    validate("mixture", found)
    alone = mixture("cheater_detection", [0.25, 0.75], [200, 330], [500, 500], confidence=0.9).document
    assert found["shares"]["gamma"] == pytest.approx(alone["shares"]["gamma"])
    assert found["warnings"] == ["2 rows without a report or a group are left out"]
    own = open_data(path).mixture(*DESIGN, confidence=0.9)
    assert own.document["shares"]["pi"] == pytest.approx(found["shares"]["pi"])
    assert own.rows[0]["shown"] == pytest.approx(0.27)


def test_counts_alone_need_no_file() -> None:
    """With ``--yes`` and ``--n``, or the counts of Kuk's design; but for a formula: people's predictors are there."""
    words = ["results", "mixture", "--design", "cheater_detection", "--p", "1=.25", "--p", "2=.75"]
    printed = run(*words, "--yes", "200,330", "--n", "500,500").output
    assert "27.0%" in printed
    counts = ",".join(f"{value}:{people}" for value, people in KUK.items())
    kuk = ["results", "mixture", "--design", "kuk", "--p", "1=.6", "--p", "2=.2", "--draws", "25", "--counts", counts]
    assert "13.4%" in run(*kuk).output
    assert "name a FILE" in run(*words, "--yes", "200,330").output
    assert "whole numbers" in run(*words, "--yes", "x", "--n", "5").output
    twice = run(*words[:4], "--p", "1=.25", "--p", "1=.75", "--yes", "200,330", "--n", "500,500")
    assert "p: names a group twice" in twice.output
    formula = run(*words, "--yes", "200,330", "--n", "500,500", "--formula", "~ x").output
    assert "name a FILE" in formula


def test_errors_of_weights_that_go_with_the_answer_are_linearised(tmp_path: Path) -> None:
    """Only those of weight 4 say yes: Kish's effective numbers would make the errors .91 times as large."""
    yes = {"a": 60, "b": 30}
    rows = [f"{'yes' if at < yes[arm] else 'no'},{arm},{4 if at < 120 else 1}" for arm in "ab" for at in range(400)]
    found = open_data(_file(tmp_path, rows)).mixture(
        "y", "unrelated_unknown", {"a": 0.75, "b": 0.25}, "arm", weights="w"
    )
    total, variances = 4 * 120 + 280, []
    for people in yes.values():
        m = 4 * people / total
        variances.append((16 * (people * (1 - m) ** 2 + (120 - people) * m**2) + 280 * m**2) / total**2)
    errors = math.sqrt(1.5**2 * variances[0] + 0.5**2 * variances[1])
    assert found.document["shares"]["pi"]["se"] == pytest.approx(errors, rel=0.01)


def test_limits_without_a_yes_are_those_of_a_whole_effective_number(tmp_path: Path) -> None:
    """Of 80.4 people the law of 80 would not hold what was seen for likely, and end pi at .009 in the place of .037."""
    rows = [f"no,{arm},{1 + at % 3}" for arm in "ab" for at in range(94)]
    design = "unrelated_unknown", {"a": 0.75, "b": 0.25}
    weighted = open_data(_file(tmp_path, rows)).mixture("y", *design, "arm", weights="w").document["shares"]
    assert weighted["pi"]["high"] == mixture(*design, [0, 0], [80, 80]).document["shares"]["pi"]["high"] > 0.03


def test_equal_weights_change_nothing_and_unequal_ones_widen_the_limits(tmp_path: Path) -> None:
    """Counts are those of the effective number of reports: weights 1 and 3 cost a quarter."""
    other = [f"{row[:-1]}{1 + 2 * (place % 2)}" for place, row in enumerate(ROWS)]
    equal, uneven = (open_data(_file(tmp_path, rows)).mixture(*DESIGN, weights="w") for rows in (ROWS, other))
    plain = mixture("cheater_detection", [0.25, 0.75], [200, 330], [500, 500])
    assert equal.rows[0]["std_error"] == pytest.approx(plain.rows[0]["std_error"])
    assert uneven.rows[0]["shown"] == pytest.approx(0.27)
    assert uneven.rows[0]["std_error"] == pytest.approx(plain.rows[0]["std_error"] * 1.25**0.5)
    assert uneven.document["deff"] == pytest.approx(1.25)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"p": [0.5, 0.5]}, "both groups have the same p (0.5)"),
        ({"p": [0.5, 0.5, 0.5], "yes": [1, 2, 3], "n": [5, 5, 5]}, "all groups have the same p (0.5)"),
        ({"p": [0, 0.5]}, "above 0 and below 1"),
        ({"p": [0.5, 1]}, "above 0 and below 1"),
        ({"p": ["x", 0.5]}, "group '1': p"),
        ({"p": [0.5]}, "needs at least 2 groups"),
        ({"p": [0.2, 0.5, 0.8]}, "yes has 2 numbers, n has 2, and p names 3 groups"),
        ({"yes": [600, 1]}, "cannot be larger"),
        ({"yes": [-1, 1]}, "whole numbers from 0"),
        ({"yes": [0, 1], "n": [0, 500]}, "group '1' has no reports"),
        ({"design": "warner"}, "no such design"),
        ({"draws": 5}, "only kuk has several draws"),
        ({"counts": {0: 5}}, "for kuk"),
        ({"p": [(0.5, 0.2), (0.2, 0.1)]}, "one p for each group"),
        ({"design": "cheater_detection_symmetric"}, "told yes and told no"),
        ({"design": "cheater_detection_symmetric", "p": [(0.5, 0.5), (0.2, 0.1)]}, "a + b is below 1"),
        ({"design": "cheater_detection_symmetric", "p": [(0.4, 0.2), (0.3, 0.4)]}, "same ratio of a to 1 - b"),
        ({"design": "kuk", "p": [0.5, 0.5], "counts": {0: 5}}, "both decks have the same p"),
        ({"design": "kuk", "p": [0.5], "counts": {0: 5}}, "two decks of one sample"),
        ({"design": "kuk", "p": [0.6, 0.2], "counts": {2: 5}}, "from 0 to 1"),
        ({"design": "kuk", "p": [0.6, 0.2], "counts": {2: 5}, "draws": 0}, "draws must be"),
        # Values of another kind.
        ({"confidence": 2}, "a confidence is a number from 0 to below 1"),
        ({"confidence": float("nan")}, "a confidence is a number from 0 to below 1"),
        ({"yes": "33", "n": "55"}, "yes has 1 numbers"),
        ({"yes": [True, 3]}, "whole numbers from 0"),
        ({"yes": [2.5, 3]}, "whole numbers from 0"),
        ({"design": "kuk", "p": [0.6, 0.2], "counts": {"0": 5}}, "go from 0 to 1"),
        ({"design": "kuk", "p": [0.6, 0.2], "counts": {0: 5}, "draws": 1.5}, "draws must be"),
        ({"p": [0.5, 2]}, "group '2': p is a probability above 0 and below 1"),
        ({"p": {"a": "0,25", "b": "0,75"}}, "p a: has a comma; a decimal is written with a point"),
    ],
)
def test_what_a_design_cannot_estimate_is_refused(given: dict[str, Any], words: str) -> None:
    plain = {"design": "cheater_detection", "p": [0.25, 0.75]}
    counts = {} if "counts" in given and "design" in given else {"yes": [200, 330], "n": [500, 500]}
    with pytest.raises(SurveyError) as refused:
        mixture(**{**plain, **counts, **given})
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        (["yes,a,1", "maybe,b,1"], {}, "must hold yes and no"),
        (["yes,a,1", "no,b,1", "no,c,1"], {}, "1 of its 3 values have no p, which is for a, b"),
        (["yes,a,1", "no,a,1"], {}, "group 'b' has no reports"),
        (["yes,a,1", "no,b,0"], {"weights": "w"}, "line 3, column 'w': is not a number above 0"),
        (["yes,a,1", "no,b,1"], {"group": None}, "name the column of the groups"),
        (["yes,a,1", "no,b,1"], {"group": "half"}, "has no column 'half'"),
        (["yes,a,1", "no,b,1"], {"response": "z"}, "has no column 'z'"),
        (["3,a,1", "26,b,1"], {"design": "kuk", "p": [0.6, 0.2], "group": None, "draws": 25}, "from 0 to 25"),
        (["3,a,1", "2,b,1"], {"design": "kuk", "p": [0.6, 0.2], "draws": 25}, "leave the group out"),
    ],
)
def test_what_a_file_does_not_fit_is_refused(
    rows: list[str], options: dict[str, Any], words: str, tmp_path: Path
) -> None:
    plain = {"response": "y", "group": "arm", "design": "lie_detector", "p": {"a": 0.25, "b": 0.75}}
    data = open_data(_file(tmp_path, rows))
    with pytest.raises(SurveyError) as refused:
        data.mixture(**{**plain, **options})
    assert words in str(refused.value)
    assert "maybe" not in str(refused.value)
    assert "26" not in str(refused.value).replace("answers", "")


def test_column_with_a_known_channel_is_refused(tmp_path: Path) -> None:
    """Its reports were randomized in a way that the file knows, which is another analysis."""
    data = open_data(_file(tmp_path, ["yes,a,coin_flip", "no,b,coin_flip"], "y,arm,y_channel"))
    with pytest.raises(SurveyError, match="use results estimate for known channels"):
        data.mixture(*DESIGN)


def test_groups_are_named_as_the_file_writes_them(tmp_path: Path) -> None:
    data = open_data(_file(tmp_path, ["yes,1.0", "no,1.0", "yes,2.0"], "y,arm"))
    of_texts, of_numbers = (
        data.mixture("y", DESIGN[1], p, "arm") for p in ({"1.0": 0.25, "2.0": 0.75}, {1: 0.25, 2: 0.75})
    )
    assert of_texts.rows == of_numbers.rows


@pytest.mark.parametrize(
    ("text", "groups"),
    [
        ("Group 1=.25 A, B = 3/4", {"Group 1": ".25", "A, B": "3/4"}),
        (".25 .75", {"1": ".25", "2": ".75"}),
        ("a=.25,.1\nb=.6,.1", {"a": ".25,.1", "b": ".6,.1"}),
    ],
)
def test_names_of_groups_in_a_field_of_a_page_may_have_spaces(text: str, groups: dict[str, str]) -> None:
    assert {name: p.strip() for name, p in odds_of_groups(text).items()} == groups


def test_one_group_needs_no_lists_and_numbers_of_numpy_are_numbers() -> None:
    expected = mixture("mangat", [0.7], [200], [500]).document
    for p in (0.7, "7/10", ".7", np.float64(0.7)):
        assert mixture("mangat", p, 200, 500).document == expected
    counted = np.array([200, 330]), np.array([500, 500])
    assert mixture("lie_detector", [0.25, 0.75], *counted).rows == mixture(
        "lie_detector", [0.25, 0.75], [200, 330], [500, 500]
    ).rows  # fmt: skip
    own = estimate({"yes": np.int64(30), "no": np.int64(70)}, "coin_flip").document
    assert json.loads(json.dumps(dict(own))) == dict(estimate({"yes": 30, "no": 70}, "coin_flip").document)


def test_cards_that_nearly_tell_the_answer_overflow_nothing() -> None:
    """With 100 cards a share of red of .999 or .001 makes reports nearly impossible; half red ones tell nothing."""
    with warnings.catch_warnings(action="error"):
        share = mixture("kuk", [0.999, 0.001], counts={0: 60, 50: 20, 100: 40}, draws=100).document["shares"]["pi"]
    assert share["share"] == pytest.approx(0.4)
    assert share["se"] == pytest.approx((0.4 * 0.6 / 100) ** 0.5)


def test_coefficients_and_errors_are_those_of_an_own_maximum_of_the_likelihood(tmp_path: Path) -> None:
    model = open_data(_path(tmp_path)).mixture(*DESIGN, formula=FORMULA).document["model"]
    theta, logs, best = _own_maximum(np.ones(PEOPLE), COLUMNS)
    _, curvature = _derivatives(lambda at: float(logs(at).sum()), theta)
    errors = np.sqrt(np.diag(UNITS @ np.linalg.inv(-curvature) @ UNITS.T))
    assert model["log_likelihood"] == pytest.approx(best, abs=1e-6)
    assert [each["estimate"] for each in model["coefficients"]] == pytest.approx((UNITS @ theta).tolist(), abs=1e-4)
    assert [each["std_error"] for each in model["coefficients"]] == pytest.approx(errors.tolist(), rel=1e-3)
    assert [(each["category"], each["term"]) for each in model["coefficients"]] == [
        (category, term) for category in ("pi", "gamma") for term in ("(constant)", "age", "x=1")
    ]
    assert (model["n"], model["std_error_kind"]) == (PEOPLE, "observed")


def test_weights_give_errors_by_the_products_of_the_scores(tmp_path: Path) -> None:
    """V (sum of w^2 s s') V, with scores by differences; the weights are those of the effective number of people."""
    model = open_data(_path(tmp_path)).mixture(*DESIGN, formula=FORMULA, weights="w").document["model"]
    weights = DRAWN["w"] * DRAWN["w"].sum() / (DRAWN["w"] @ DRAWN["w"])
    theta, logs, best = _own_maximum(weights, COLUMNS)
    _, curvature = _derivatives(lambda at: float(weights @ logs(at)), theta)
    scores = np.array([logs(theta + one) - logs(theta - one) for one in 1e-5 * np.eye(len(theta))]) / 2e-5 * weights
    bread = np.linalg.inv(curvature)
    errors = np.sqrt(np.diag(UNITS @ bread @ scores @ scores.T @ bread @ UNITS.T))
    assert model["log_likelihood"] == pytest.approx(best, rel=2e-2)
    assert [each["estimate"] for each in model["coefficients"]] == pytest.approx((UNITS @ theta).tolist(), abs=1e-4)
    assert [each["std_error"] for each in model["coefficients"]] == pytest.approx(errors.tolist(), rel=1e-3)
    assert model["std_error_kind"] == "sandwich"


@pytest.mark.parametrize("weights", [None, "w"])
def test_without_predictors_shares_are_those_of_the_design(weights: str | None, tmp_path: Path) -> None:
    found = open_data(_path(tmp_path)).mixture(*DESIGN, formula="~ 1", weights=weights).document
    for name, one in found["shares"].items():
        own = found["model"]["shares"][name]
        assert own["share"] == pytest.approx(one["share"], abs=1e-6)
        assert own["se"] == pytest.approx(one["se"], rel=1e-6 if weights is None else 0.05)
        assert own["low"] < own["share"] < own["high"]


def test_one_predictor_of_two_values_is_two_separate_fits(tmp_path: Path) -> None:
    model = open_data(_path(tmp_path)).mixture(*DESIGN, formula="~ x").document["model"]
    apart, sizes = [], []
    for x in (0, 1):
        inside = [(DRAWN["x"] == x) & (DRAWN["arm"] == arm) for arm in (0, 1)]
        yes, n = [int(DRAWN["y"][each].sum()) for each in inside], [int(each.sum()) for each in inside]
        apart.append({name: one["share"] for name, one in mixture("cheater_detection", [0.25, 0.75], yes, n)
                      .document["shares"].items()})  # fmt: skip
        sizes.append(sum(n))
    at = {(one["category"], one["term"]): one["estimate"] for one in model["coefficients"]}
    for name in ("pi", "gamma"):
        first, second = (np.log(each[name] / each["beta"]) for each in apart)
        assert [at[name, "(constant)"], at[name, "x=1"]] == pytest.approx([first, second - first], abs=1e-6)
    for name, one in model["shares"].items():
        assert one["share"] == pytest.approx(np.average([each[name] for each in apart], weights=sizes), abs=1e-6)
    told = {name: (p, 0) for name, p in P.items()}
    same = open_data(_path(tmp_path)).mixture("y", "cheater_detection_symmetric", told, "arm", formula="~ x")
    assert same.document["model"]["coefficients"] == model["coefficients"]


def test_command_prints_the_model_and_its_document(tmp_path: Path) -> None:
    path = _path(tmp_path)
    path.write_text(path.read_text() + "\nyes,a,,30,1\nno,,1,30,1")
    words = [*_words(path), "--p", "b=.75", "--formula", "~ x"]
    found = json.loads(run(*words, "--json").output)
    validate("mixture", found)
    assert (found["n"], found["model"]["n"]) == (PEOPLE + 1, PEOPLE)
    printed = run(*words).output
    assert "pi: x=1" in printed
    assert "~ x (n = 3,000)" in printed


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"design": "lie_detector"}, "a formula and lie_detector do not go together"),
        ({"design": "unrelated_unknown"}, "a formula and unrelated_unknown do not go together"),
        ({"design": "mangat", "p": [0.5], "group": None}, "a formula and mangat do not go together"),
        ({"formula": "~ z"}, "has no column 'z'; it has: y, arm, x, age"),
        ({"formula": "~ x +"}, "formula, column"),
        ({"formula": "~ 0"}, "the formula has no term"),
        ({"formula": "~"}, "names predictors only"),
        ({"formula": "y ~ x"}, "names predictors only"),
        ({"formula": "~ y"}, "'y' is a column of the design itself"),
        ({"formula": "~ arm"}, "'arm' is a column of the design itself"),
        ({"formula": "~ x + x2"}, "cannot tell the parameters apart"),
        ({"people": 3, "formula": "~ x"}, "3 people are too few for 4 coefficients"),
    ],
)
def test_what_has_no_model_is_refused(given: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = _path(tmp_path)
    lines = path.read_text().splitlines()[: given.pop("people", PEOPLE) + 1]
    twice = ["x2", *(line.split(",")[2] for line in lines[1:])]
    path.write_text("\n".join(f"{line},{cell}" for line, cell in zip(lines, twice, strict=True)))
    plain = {"response": "y", "design": "cheater_detection", "p": P, "group": "arm", "formula": FORMULA}
    with pytest.raises(SurveyError) as refused:
        open_data(path).mixture(**{**plain, **given})
    assert words in str(refused.value)


def test_column_with_a_channel_is_no_predictor(tmp_path: Path) -> None:
    """Its true values are not known."""
    path = _path(tmp_path)
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([f"{header},r,r_channel", *(f"{line},yes,coin_flip" for line in lines)]))
    with pytest.raises(SurveyError, match="leave 'r' out"):
        open_data(path).mixture(*DESIGN, formula="~ r")


def _by_x(folder: Path, counts: dict[tuple[int, int], tuple[int, int]]) -> dict[str, Any]:
    """The result of a model in x of people by arm and x, of whom so many say yes and no."""
    people = [
        (float(y), *at) for at, both in counts.items() for y, n in zip((1, 0), both, strict=True) for _ in range(n)
    ]
    columns = dict(zip(("y", "arm", "x"), np.array(people).T, strict=True))
    path = _path(folder, {**columns, "age": columns["x"], "w": columns["x"] + 1})
    return dict(open_data(path).mixture(*DESIGN, formula="~ x").document)


def test_limit_of_a_class_that_may_be_empty_is_0(tmp_path: Path) -> None:
    """A share of a few people whose likelihood without the class is nearly as large; others stay above 0."""
    counts = {(0, 0): (235, 265), (1, 0): (405, 95), (0, 1): (272, 228), (1, 1): (418, 82)}
    shares = _by_x(tmp_path, counts)["model"]["shares"]
    assert [shares[name]["low"] == 0 for name in ("pi", "beta", "gamma")] == [False, False, True]


def test_class_without_people_has_the_share_0_with_an_upper_limit(tmp_path: Path) -> None:
    """Two groups of a predictor, whose shares are free: limits are where their own likelihood falls by 4.231 / 2.

    If nobody is in the class, its share in each group is 0 with chance 1/2, so the statistic is chi-square with none,
    one or two degrees of freedom with chances 1/4, 1/2 and 1/4.
    """
    counts = {(0, 0): (100, 150), (1, 0): (205, 45), (0, 1): (92, 158), (1, 1): (200, 50)}
    found = _by_x(tmp_path, counts)
    validate("mixture", found)
    gamma, coefficients = found["model"]["shares"]["gamma"], found["model"]["coefficients"]
    assert (gamma["share"], gamma["se"], gamma["low"]) == (0, None, 0.0)
    assert [each["estimate"] is None for each in coefficients] == [False, False, True, True]

    steps = np.linspace(0, 1, 401)
    best = []
    for x in (0, 1):
        pi, cheats = steps[:, None], np.linspace(0, 0.2, 201)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = sum(
                counts[arm, x][0] * np.log(yes) + counts[arm, x][1] * np.log(1 - yes)
                for arm, p in enumerate(P.values())
                for yes in [np.where(pi + cheats <= 1, pi + (1 - pi - cheats) * p, np.nan)]
            )
        best.append(np.nanmax(logs, axis=0))
    both = best[0][:, None] + best[1]
    shares = (np.linspace(0, 0.2, 201)[:, None] + np.linspace(0, 0.2, 201)) / 2
    assert found["model"]["log_likelihood"] == pytest.approx(both.max(), abs=0.01)
    tail = 0.5 * math.erfc(math.sqrt(4.231 / 2)) + 0.25 * math.exp(-4.231 / 2)
    assert tail == pytest.approx(0.05, abs=1e-4)
    assert gamma["high"] == pytest.approx(shares[both >= both.max() - 4.231 / 2].max(), abs=2e-3)


def test_limits_of_a_model_do_not_depend_on_the_order_of_groups(tmp_path: Path) -> None:
    """With few carriers and a predictor of many values: only its own ends matter, not the first person of a group."""
    dice = np.random.default_rng(8)
    age, arm = dice.normal(0, 100, 400), dice.integers(0, 2, 400)
    y = dice.random(400) < 0.02 + 0.9 * np.where(arm == 0, *P.values())
    path = _path(tmp_path, {"y": y.astype(float), "arm": arm, "age": age, "x": age, "w": age})
    found = [
        open_data(path)
        .mixture("y", "cheater_detection", dict(order), "arm", formula="~ age")
        .document["model"]["shares"]
        for order in (list(P.items()), list(P.items())[::-1])
    ]
    for name, one in found[0].items():
        limits = [[each[name]["low"], each[name]["high"]] for each in found]
        assert limits[0] == pytest.approx(limits[1], abs=1e-6), (name, one)


def test_upper_limit_beyond_a_few_people_is_where_the_profile_falls_by_half_of_z_squared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without carriers: a few people at an end of x look like some, so the profile is steep, then flat, and no arch."""
    # Limits of the share alone: those of coefficients take ten times as long.
    monkeypatch.setattr(class_model, "profile_limits", lambda *_: (None, None))
    dice = np.random.default_rng(11)
    x, arm = dice.normal(size=600).round(3), np.repeat([0, 1], 300)
    p = np.where(arm == 0, *P.values())
    y = dice.random(600) < 0.8 * p
    path = tmp_path / "x.csv"
    path.write_text(
        "\n".join(["y,arm,x", *(f"{yes},{'ab'[one]},{z}" for yes, one, z in zip(y + 0, arm, x, strict=True))])
    )
    model = open_data(path).mixture(*DESIGN, formula="~ x").document["model"]
    limit = model["shares"]["pi"]["high"]

    def logs(theta: Array) -> float:
        """With the constant of carriers by halving, so that their mean share is the limit."""
        low, high = -30.0, 30.0
        for _ in range(36):
            middle = (low + high) / 2
            odds = np.exp([middle + theta[0] * x, theta[1] + theta[2] * x])
            carrier, lying = odds / (1 + odds.sum(axis=0))
            low, high = (middle, high) if carrier.mean() < limit else (low, middle)
        yes = carrier + p * (1 - carrier - lying)
        return float(np.log(np.where(y, yes, 1 - yes)).sum())

    best = []
    for slope in (-1.0, 0.0, 1.0):
        theta = np.array([slope, -1.3, 0.0])
        for _ in range(9):
            gradient, curvature = _derivatives(logs, theta, 1e-3)
            values, vectors = np.linalg.eigh(curvature)
            theta = theta + np.clip(vectors @ (vectors.T @ gradient / np.abs(values)), -0.5, 0.5)
        best.append(logs(theta))
    assert model["log_likelihood"] - max(best) == pytest.approx(1.959964**2 / 2, abs=0.01)
    assert limit == pytest.approx(0.0568, abs=1e-3)


@pytest.mark.parametrize(("seed", "empty"), [(22, True), (27, False)])
def test_class_may_be_empty_if_shapes_of_no_one_gain_as_much(tmp_path: Path, seed: int, empty: bool) -> None:
    """Without carriers, falls of 4.43 and 6.14: by the largest expected score of 41 shapes, seven errors of x apart."""
    dice = np.random.default_rng(seed)
    x, arm = dice.normal(size=600).round(3), np.repeat([0, 1], 300)
    p = np.where(arm == 0, *P.values())
    y = dice.random(600) < 0.8 * p
    columns = {"y": y.astype(float), "arm": arm, "x": x, "age": x, "w": x}
    model = open_data(_path(tmp_path, columns)).mixture(*DESIGN, formula="~ w").document["model"]
    theta, predictors = np.zeros(2), np.stack([np.ones(600), x])
    for _ in range(30):
        honest = 1 / (1 + np.exp(-theta @ predictors))
        yes, slopes = p * honest, p * honest * (1 - honest) * predictors
        of_all = slopes / (yes * (1 - yes))
        theta = theta + np.linalg.solve(of_all @ slopes.T, of_all @ (y - yes))
    fallen = 2 * (model["log_likelihood"] - np.log(np.where(y, yes, 1 - yes)).sum())
    shapes = np.exp(np.multiply.outer(np.linspace(-7, 7, 41), x))
    of_carriers = np.vstack([shapes / shapes.max(axis=1, keepdims=True) * (1 - yes), slopes])
    products = (of_carriers / (yes * (1 - yes))) @ of_carriers.T
    left = products[:41, :41] - products[:41, 41:] @ np.linalg.solve(products[41:, 41:], products[41:, :41])
    scores = dice.multivariate_normal(np.zeros(41), left, 20_000, check_valid="ignore") / np.sqrt(np.diag(left))
    chance = (scores.max(axis=1) > math.sqrt(fallen)).mean()
    assert fallen > 1.959964**2
    assert (model["shares"]["pi"]["low"] == 0) == (chance > 0.05) == empty


def test_share_that_is_hardly_known_and_hardly_there_has_limits_0_and_1() -> None:
    """Its log odds have an error of 1,000, whose limits no number holds."""
    one = Multinomial(np.ones((1, 1)), np.zeros(1, int), np.ones((1, 2)))
    shares = np.array([1e-5])
    share, error, low, high = mean_share(one, shares, shares[None], np.array([[1e6]]), 1.96)
    assert (share, error) == (1e-5, pytest.approx(0.01))
    assert (low, high) == pytest.approx((0, 1))


@pytest.mark.parametrize(
    ("odds", "counts", "low", "high"),
    [
        ((0.695, 0.808), (4, 0, 5, 5), 0.28639, 1),
        ((0.236, 0.266), (5, 3, 4, 3), 0, 1),
        ((0.312, 0.22), (0, 4, 3), 0.29567, 1),
    ],
)
def test_few_people_with_like_decks_have_limits(
    odds: tuple[float, float], counts: tuple[int, ...], low: float, high: float
) -> None:
    """Those of an own profile likelihood: with both edges near, rounding gave the square root of a number below 0."""
    [row] = mixture("kuk", odds, counts=dict(enumerate(counts)), draws=len(counts) - 1).rows
    assert [row["low"], row["high"]] == pytest.approx([low, high], abs=1e-4)


def test_share_where_two_edges_meet_has_the_limits_of_their_angle() -> None:
    """Without carriers, honest and lying ones are both 0: between 1.92 and the fall of that angle 0 is inside.

    Chi-square with two degrees of freedom is as likely as their angle is of a circle, with one 1/2 (Kudo 1963).
    """
    honest, lying = np.array([0.3, 0.7]), np.array([-0.7, -0.3])
    angle = math.acos(honest @ lying / (honest @ honest)) / (2 * math.pi)
    for x, inside in ((15, True), (16, False)):
        found = mixture("lie_detector", (0.3, 0.7), [350 - x, 150 + x], [500, 500]).document
        at_0 = 2 * (350 * math.log(0.7) + 150 * math.log(0.3)) + x * math.log(0.3 / 0.7) * 2
        fallen = 2 * (found["log_likelihood"] - at_0)
        assert fallen > 1.959964**2
        assert (0.5 * math.erfc(math.sqrt(fallen / 2)) + angle * math.exp(-fallen / 2) > 0.05) is inside
        assert (found["shares"]["pi"]["low"] == 0) is inside


def test_limit_of_few_people_is_where_their_chance_is_that_of_a_miss() -> None:
    """Nobody of two groups of 100 says yes, which has a chance of .134 if pi is .02 and q 0: pi may be .02.

    At the limit it is .05, less counts above as many as expected that are as far.
    """
    share = mixture("unrelated_unknown", (0.75, 0.25), [0, 0], [100, 100]).document["shares"]["pi"]
    nobody = (1 - 0.75 * 0.02) ** 100 * (1 - 0.25 * 0.02) ** 100
    assert nobody == pytest.approx(0.134, abs=1e-3)
    high = share["high"]
    assert 0.04 < (1 - 0.75 * high) ** 100 * (1 - 0.25 * high) ** 100 <= 0.05
    assert (share["share"], share["low"]) == (0, 0)


@pytest.mark.parametrize(
    ("design", "yes", "share"), [("cheater_detection", (5, 6, 8), "beta"), ("lie_detector", (5, 4, 3), "t")]
)
def test_limit_of_few_people_in_three_groups_is_where_their_chance_is_that_of_a_miss(
    design: str, yes: tuple[int, ...], share: str
) -> None:
    """By all likely counts of three groups of 150, with maxima on a grid; of t, by shares of noncarriers."""
    p, n = np.array([0.25, 0.5, 0.75]), 150
    high = mixture(design, p.tolist(), yes, [n] * 3).document["shares"][share]["high"]

    def logs(pi: Array, beta: Array | float) -> Array:
        each, odds = (pi, p) if share == "beta" else ((1 - pi) * beta, 1 - p)
        chances = np.clip(each + np.multiply.outer(odds, beta + 0 * pi if share == "beta" else pi), 1e-12, 1 - 1e-12)
        return np.asarray(tables @ np.log(chances) + (n - tables) @ np.log(1 - chances))

    pis = np.linspace(0, 0.1, 201)
    tables = np.array([yes], float)
    pi = pis[logs(pis, high).argmax()]
    tables = np.stack(np.meshgrid(*[np.arange(41.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    ways = np.array([math.comb(n, y) for y in range(41)], float)[tables.astype(int)].prod(axis=1)
    likely = ways * np.exp(logs(np.array([pi]), high)[:, 0])
    used = likely > 1e-5
    tables, likely = np.vstack([tables[used], yes]), np.append(likely[used], 0)
    grid = np.stack(np.meshgrid(np.linspace(0, 0.12, 41), np.linspace(0, 0.4, 51))).reshape(2, -1)
    fallen = logs(*grid).max(axis=1) - logs(pis, high).max(axis=1)
    assert likely[fallen >= fallen[-1] - 1e-3].sum() == pytest.approx(0.05, abs=0.012)


def test_limit_of_few_people_in_one_group_is_a_tail_of_their_number() -> None:
    """Three of 60 with one card of a deck of 40 %, the other of 1 in 100: the low limit is where P(X >= 3) is .05.

    By all numbers of red cards whose likelihood ratio is as far, and no rule of 1.92.
    """
    share = mixture("kuk", [0.4, 0.01], counts={0: 57, 1: 3}).document["shares"]["pi"]
    for end in ("low", "high"):
        chance = 0.01 + 0.39 * share[end]

        def fallen(x: int, chance: float = chance) -> float:
            best = min(max(x / 60, 0.01), 0.4)
            return x * math.log(best / chance) + (60 - x) * math.log((1 - best) / (1 - chance))

        extreme = [x for x in range(61) if fallen(x) >= fallen(3) - 1e-9]
        tail = sum(math.comb(60, x) * chance**x * (1 - chance) ** (60 - x) for x in extreme)
        assert tail == pytest.approx(0.05, abs=0.012), end
