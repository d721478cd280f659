"""Rasch and 2PL models of randomized items, and the distribution of their sum."""

import json
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from sottovoce.aggregator import open_data
from sottovoce.cli.main import main
from sottovoce.shared.errors import SurveyError

A, B, C = "0.1594625", "0.1971293", "0.1974625"
MTURK = {
    (A, A, B): (28, 53, 22, 67, 38, 59, 27, 102), (A, B, A): (24, 38, 20, 69, 41, 58, 36, 92),
    (A, B, B): (36, 45, 26, 55, 50, 63, 36, 75), (B, A, A): (11, 25, 11, 27, 20, 47, 10, 37),
    (B, A, B): (13, 38, 9, 32, 15, 22, 17, 48), (B, B, A): (14, 34, 6, 28, 20, 34, 12, 41),
    (C, A, A): (9, 34, 16, 25, 19, 35, 15, 38), (C, A, B): (9, 29, 12, 29, 14, 41, 11, 46),
    (C, B, A): (15, 21, 9, 35, 14, 32, 15, 47),
}  # fmt: skip
"""People by share of the crosswise fact of each item, and by reports 000, 001, .. 111: non voting, shoplifting, tax
evasion in ``MTURK`` of the R package GLMMRR, with known gender; whoever lacks an item is in ``FEW``."""

FEW = [((A, B, ""), "11"), (("", A, A), " 11"), (("", A, A), " 00"), (("", A, B), " 00"), (("", A, B), " 11"),
       (("", B, A), " 10"), (("", B, ""), " 0 "), (("", B, ""), " 1 ")]  # fmt: skip
PUBLIC = {"000": 40, "001": 10, "010": 12, "011": 15, "100": 9, "101": 14, "110": 11, "111": 45}


def _line(facts: tuple[str, ...], reports: str) -> str:
    cells = zip(facts, f"{reports:3}", strict=True)
    return ",".join(f"{report},warner {fact}" if fact else "," for fact, report in cells)


def _mturk(folder: Path) -> Path:
    rows = [_line(facts, "".join(reports)) for facts, people in MTURK.items() for reports, number in
            zip(product("01", repeat=3), people, strict=True) for _ in range(number)]  # fmt: skip
    path = folder / "items.csv"
    header = ",".join(f"{name},{name}_channel" for name in ("voting", "lifting", "tax"))
    path.write_text("\n".join([header, *rows, *(_line(*each) for each in FEW)]))
    return path


def _file(folder: Path, people: dict[str, int], header: str = "x,y,z") -> Path:
    path = folder / "items.csv"
    path.write_text("\n".join([header, *(",".join(cells) for cells, number in people.items() for _ in range(number))]))
    return path


def _checked(document: Any) -> None:
    schema = files("sottovoce.shared").joinpath("schema/items.schema.json").read_text()
    jsonschema.validate(json.loads(json.dumps(dict(document))), json.loads(schema))


def test_rasch_model_has_the_figures_of_quadrature(tmp_path: Path) -> None:
    """Difficulties .5455 (.0790), .1573, 1.5376, standard deviation .7096 (.153), log likelihood -4,580.060."""
    found = open_data(_mturk(tmp_path)).items("voting", "lifting", "tax")
    _checked(found.document)
    difficulties = [row["estimate"] for row in found.rows]
    assert difficulties == pytest.approx([0.5455, 0.1573, 1.5376], abs=1e-4)
    assert found.rows[0]["std_error"] == pytest.approx(0.0790, abs=1e-4)
    spread = found.document["sd"]
    assert [spread["estimate"], spread["std_error"]] == pytest.approx([0.7096, 0.153], abs=5e-4)
    assert found.document["log_likelihood"] == pytest.approx(-4580.060, abs=1e-3)
    assert found.document["n"] == 2309
    assert found.document["test"]["p"] < 0.005
    assert "No person has a score" in str(found)


def test_people_who_do_not_differ_have_the_standard_deviation_0_with_an_upper_limit(tmp_path: Path) -> None:
    """Reports that go together less than by chance; the test of no difference has p 1."""
    people = {"".join(cells): 30 if cells[0] == cells[1] == cells[2] else 40 for cells in product("01", repeat=3)}
    found = open_data(_file(tmp_path, people)).items("x", "y", "z").document
    _checked(found)
    assert (found["sd"]["estimate"], found["sd"]["std_error"], found["sd"]["low"]) == (0.0, None, 0.0)
    assert 0 < found["sd"]["high"] < 1
    assert found["test"]["p"] == 1.0


def test_two_parameters_fit_three_items_exactly(tmp_path: Path) -> None:
    """Three items have seven free shares and six parameters: the fit is at least as good as Rasch, alike or not."""
    data = open_data(_file(tmp_path, PUBLIC))
    rasch, both = data.items("x", "y", "z").document, data.items("x", "y", "z", model="2pl").document
    _checked(both)
    gain = both["log_likelihood"] - rasch["log_likelihood"]
    assert gain > 0
    assert both["test"]["statistic"] == pytest.approx(2 * gain)
    assert both["test"]["p"] == pytest.approx(np.exp(-gain))
    assert all(each["discrimination"]["estimate"] > 0 for each in both["items"])


def test_sum_of_public_items_is_counted_and_of_randomized_ones_recovered(tmp_path: Path) -> None:
    """Without noise the shares are counts; through coin flips they are those of expected reports."""
    names = ("x", "y", "z")
    public = open_data(_file(tmp_path, PUBLIC)).items(*names, model="sum").document
    counts = np.bincount([cells.count("1") for cells in PUBLIC], [*PUBLIC.values()])
    _checked(public)
    assert public["distribution"] == pytest.approx((counts / counts.sum()).tolist(), abs=1e-6)
    total = np.repeat(np.arange(4), counts.astype(int))
    assert [public["mean"]["estimate"], public["variance"]] == pytest.approx([total.mean(), total.var()])
    flip = np.array([[3, 1], [1, 3]])
    expected = np.kron(np.kron(flip, flip), flip) @ [*PUBLIC.values()]
    reports = {"".join(cells): int(number) for cells, number in zip(product("01", repeat=3), expected, strict=True)}
    channels = dict.fromkeys(names, "coin_flip")
    found = open_data(_file(tmp_path, reports), channels).items(*names, model="sum").document
    assert found["distribution"] == pytest.approx(public["distribution"], abs=1e-3)
    assert [found["mean"]["estimate"], found["variance"]] == pytest.approx([total.mean(), total.var()])


@pytest.mark.parametrize("reports", ["111", "000", "100"])
def test_equal_totals_do_not_make_the_mean_sum_certain(tmp_path: Path, reports: str) -> None:
    """Their error is 0, or what rounding leaves of it: limits are those of so many people."""
    for yes, people in ((1 / 6, 333), (0.07, 3), (0.1, 333), (0.02, 10)):
        told = dict.fromkeys("xyz", f"forced_response yes={yes} no=0.2")
        found = open_data(_file(tmp_path, {reports: people}), told).items("x", "y", "z", model="sum").document
        assert found["mean"]["high"] - found["mean"]["low"] > 1 / people


def test_command_prints_a_model_and_a_sum(tmp_path: Path) -> None:
    """As tables, or as JSON."""
    words = ["results", "items", str(_file(tmp_path, PUBLIC)), "x", "y", "z"]
    printed = CliRunner().invoke(main, words).output
    assert "Standard deviation between people" in printed
    assert "x: difficulty" in printed
    assert "Number of yes" in CliRunner().invoke(main, [*words, "--model", "sum"]).output
    assert json.loads(CliRunner().invoke(main, [*words, "--model", "2pl", "--json"]).output)["sd"] is None


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (("x",), {}, "takes 2 to 20 items"),
        (("x", "x"), {}, "takes 2 to 20 items"),
        (("x", "y"), {"model": "2pl"}, "'2pl' takes 3 to 20"),
        (("x", "y"), {"model": "3pl"}, "rasch, 2pl, sum"),
        (("x", "w"), {}, "there are: x, y, z"),
        (("x", "z"), {}, "'z' has other answers than yes and no"),
    ],
)
def test_what_has_no_such_model_is_refused(
    names: tuple[str, ...], options: dict[str, str], words: str, tmp_path: Path
) -> None:
    """With the reason and what there is."""
    data = open_data(_file(tmp_path, {"01a": 5, "10b": 5, "11c": 5}))
    with pytest.raises(SurveyError) as refused:
        data.items(*names, **options)  # type: ignore[arg-type]
    assert words in str(refused.value)


def test_items_that_no_person_has_together_are_refused(tmp_path: Path) -> None:
    """One report of each person tells nothing of differences between people."""
    path = tmp_path / "items.csv"
    path.write_text("\n".join(["x,y", *["1,", "0,", ",1", ",0"] * 9]))
    with pytest.raises(SurveyError, match="no person has reports of two of these items"):
        open_data(path).items("x", "y")


def test_items_randomized_together_are_refused(tmp_path: Path) -> None:
    """Their reports depend on each other given the truth, which the model takes as independent."""
    channel = "joint_rr odds=9 radius=0 k=2,2 with=x,y"
    data = open_data(_file(tmp_path, PUBLIC), {"x": channel, "y": channel})
    with pytest.raises(SurveyError, match="randomized together"):
        data.items("x", "y")
