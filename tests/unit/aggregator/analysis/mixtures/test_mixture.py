"""Designs with an unknown share: estimates, errors and limits from counts and files, and what is refused."""

import json
import warnings
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from sottovoce.aggregator import estimate, mixture, open_data
from sottovoce.cli.main import main
from sottovoce.shared.errors import SurveyError

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
        ("cheater_detection", [490, 495], {"pi": 0.975, "beta": 0.02, "gamma": 0.005}),
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


def _file(folder: Path, rows: Sequence[str], header: str = "y,arm,w") -> Path:
    path = folder / "answers.csv"
    path.write_text("\n".join([header, *rows]))
    return path


ROWS = [f"{answer},{arm},1" for arm, some in (("a", 200), ("b", 330)) for answer, people in
        (("yes", some), ("no", 500 - some)) for _ in range(people)]  # fmt: skip


def test_file_gives_what_its_counts_give(tmp_path: Path) -> None:
    """In the terminal and in Python; rows without a report are left out, and the document fits its schema."""
    path = _file(tmp_path, [*ROWS, "NA,a,1", "yes,,1"])
    words = ["results", "mixture", str(path), "--response", "y", "--group", "arm", "--design", "cheater_detection"]
    ended = CliRunner().invoke(main, [*words, "--p", "b=3/4", "--p", "a=.25", "--confidence", "0.9", "--json"])
    found = json.loads(ended.output)
    schema = json.loads(files("sottovoce.shared").joinpath("schema/mixture.schema.json").read_text())
    jsonschema.validate(found, schema)
    alone = mixture("cheater_detection", [0.25, 0.75], [200, 330], [500, 500], confidence=0.9).document
    assert found["shares"]["gamma"] == pytest.approx(alone["shares"]["gamma"])
    assert found["warnings"] == ["2 rows without a report or a group are left out"]
    own = open_data(path).mixture("y", "cheater_detection", {"a": 0.25, "b": 0.75}, "arm", confidence=0.9)
    assert own.document["shares"]["pi"] == pytest.approx(found["shares"]["pi"])
    assert own.rows[0]["shown"] == pytest.approx(0.27)


def test_counts_alone_need_no_file() -> None:
    """With ``--yes`` and ``--n``, or the counts of Kuk's design."""
    words = ["results", "mixture", "--design", "cheater_detection", "--p", "1=.25", "--p", "2=.75"]
    printed = CliRunner().invoke(main, [*words, "--yes", "200,330", "--n", "500,500"]).output
    assert "27.0%" in printed
    counts = ",".join(f"{value}:{people}" for value, people in KUK.items())
    kuk = ["results", "mixture", "--design", "kuk", "--p", "1=.6", "--p", "2=.2", "--draws", "25", "--counts", counts]
    assert "13.4%" in CliRunner().invoke(main, kuk).output
    assert "name a FILE" in CliRunner().invoke(main, [*words, "--yes", "200,330"]).output
    assert "whole numbers" in CliRunner().invoke(main, [*words, "--yes", "x", "--n", "5"]).output


def test_equal_weights_change_nothing_and_unequal_ones_widen_the_limits(tmp_path: Path) -> None:
    """Counts are those of the effective number of reports: weights 1 and 3 cost a quarter."""
    equal = open_data(_file(tmp_path, ROWS)).mixture(
        "y", "cheater_detection", {"a": 0.25, "b": 0.75}, "arm", weights="w"
    )
    plain = mixture("cheater_detection", [0.25, 0.75], [200, 330], [500, 500])
    assert equal.rows[0]["std_error"] == pytest.approx(plain.rows[0]["std_error"])
    other = [f"{row[:-1]}{1 + 2 * (place % 2)}" for place, row in enumerate(ROWS)]
    uneven = open_data(_file(tmp_path, other)).mixture(
        "y", "cheater_detection", {"a": 0.25, "b": 0.75}, "arm", weights="w"
    )
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
    ],
)
def test_what_a_design_cannot_estimate_is_refused(given: dict[str, Any], words: str) -> None:
    """With the reason and what would help."""
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
    """With the place or the names, and never with a cell of reports."""
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
        data.mixture("y", "lie_detector", {"a": 0.25, "b": 0.75}, "arm")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"confidence": 2}, "a confidence is a number from 0 to below 1"),
        ({"confidence": float("nan")}, "a confidence is a number from 0 to below 1"),
        ({"yes": "33", "n": "55"}, "yes has 1 numbers"),
        ({"yes": [True, 3]}, "whole numbers from 0"),
        ({"yes": [2.5, 3]}, "whole numbers from 0"),
        ({"design": "kuk", "p": [0.6, 0.2], "counts": {"0": 5}}, "go from 0 to 1"),
        ({"design": "kuk", "p": [0.6, 0.2], "counts": {0: 5}, "draws": 1.5}, "draws must be"),
        ({"p": [0.5, 2]}, "group '2': p is a probability above 0 and below 1"),
    ],
)
def test_values_of_another_kind_are_refused(given: dict[str, Any], words: str) -> None:
    """In words, as all that cannot be estimated."""
    counts = {} if "counts" in given else {"yes": [200, 330], "n": [500, 500]}
    with pytest.raises(SurveyError) as refused:
        mixture(**{"design": "cheater_detection", "p": [0.25, 0.75], **counts, **given})
    assert words in str(refused.value)


def test_one_group_needs_no_lists_and_numbers_of_numpy_are_numbers() -> None:
    """Mangat with p .7, as a number, a text or a list; counts of numpy in either kind of estimate."""
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
