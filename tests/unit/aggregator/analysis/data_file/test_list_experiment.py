"""List experiments: shares from counts of items, and the test of design effects."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from sottovoce.aggregator.analysis.data_file.list_experiment import list_experiment
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, read_bytes
from sottovoce.cli.main import main
from sottovoce.shared.errors import SpecError

RACE = {0: (8, 132, 222, 227), 1: (19, 123, 229, 219, 34)}
"""Numbers of people by count, without and with the sensitive item: the 1991 race survey of the R package list."""


def _table(rows: list[str], header: str = "y,treat") -> FileTable:
    return read_bytes("\n".join([header, *rows]).encode(), "answers.csv")


def _rows() -> list[str]:
    return [f"{count},{half}" for half, of in RACE.items() for count, people in enumerate(of) for _ in range(people)]


def test_published_example_is_reproduced() -> None:
    """Difference in means .068 with standard error .050; mean of the control half 2.134, .033 (R, ictreg)."""
    found = list_experiment(_table(_rows()), [["y"]], "treat", "1")
    schema = files("sottovoce.shared").joinpath("schema/list-experiment.schema.json").read_text()
    [answers] = found["lists"]
    treated, control = answers["means"]
    assert [round(found["share"][key], 3) for key in ("raw", "std_error")] == [0.068, 0.050]
    assert [round(control[key], 3) for key in ("mean", "std_error")] == [2.134, 0.033]
    assert (treated["n"], control["n"], answers["items"]) == (624, 589, 3)
    assert (answers["floor"], answers["ceiling"]) == pytest.approx((8 / 589, 227 / 589))
    jsonschema.validate(json.loads(json.dumps(found)), json.loads(schema))


def test_joint_shares_are_those_of_the_two_distributions() -> None:
    """They sum to 1; the share of yes is the difference in means; one is below 0, but not beyond chance."""
    found = list_experiment(_table(_rows()), [["y"]], "treat", "1")
    joint = found["lists"][0]["joint"]
    assert sum(each["share"] for each in joint) == pytest.approx(1)
    assert sum(each["share"] for each in joint if each["answer"] == "yes") == pytest.approx(found["share"]["raw"])
    assert joint[0]["share"] == pytest.approx(8 / 589 - 19 / 624)
    assert found["lists"][0]["p"] > 0.05


def test_design_effect_is_found() -> None:
    """With the sensitive item, half of the people count nothing at all."""
    rows = [f"{count},0" for count in (1, 2, 3) for _ in range(100)] + ["0,1"] * 150 + ["2,1"] * 150
    assert list_experiment(_table(rows), [["y"]], "treat", "1")["lists"][0]["p"] < 1e-6


def test_double_list_joins_both_lists_of_each_person() -> None:
    """Half the sum of both differences; its error takes in that both counts of a person hang together."""
    draws = np.random.default_rng(1)
    n = 4000
    likes, sensitive, half = draws.binomial(3, 0.4, n), draws.random(n) < 0.2, draws.integers(0, 2, n)
    first, second = likes + sensitive * half, likes + sensitive * (1 - half)
    rows = [f"{a},{b},{h}" for a, b, h in zip(first, second, half, strict=True)]
    found = list_experiment(_table(rows, "a,b,half"), [["a"], ["b"]], "half", "1")
    one, other = (each["share"] for each in found["lists"])
    assert found["share"]["raw"] == pytest.approx((one["raw"] + other["raw"]) / 2)
    assert found["share"]["low"] < 0.2 < found["share"]["high"]
    assert found["share"]["std_error"] < 0.4 * one["std_error"]


def test_coin_flips_need_fewer_people() -> None:
    """The number of people whose coin flips have the same standard error."""
    found = list_experiment(_table(_rows()), [["y"]], "treat", "1")
    share, people = found["share"], found["coin_flip"]
    yes = 0.25 + share["raw"] / 2
    assert (yes * (1 - yes) / people) ** 0.5 * 2 == pytest.approx(share["std_error"], rel=1e-2)
    assert people < found["n"] / 3


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        (["3,0", "x,1"], {}, "line 3, column 'y': must be a number of items"),
        (["1,0", "1,0", "1,1"], {}, "needs at least 2 people"),
        (["1,0", "1,1", "1,2"], {}, "must have two values, one of them '1'"),
        (["1,0", "1,0", "3,1", "3,1"], {}, "larger than the number of items (1)"),
        (["1,0"], {"arm": "half"}, "has no column 'half'"),
    ],
)
def test_what_is_no_list_experiment_is_refused(rows: list[str], options: dict[str, str], words: str) -> None:
    """With the place, and never with the cell."""
    with pytest.raises(SpecError) as caught:
        list_experiment(_table(rows), [["y"]], options.get("arm", "treat"), "1")
    assert words in str(caught.value)


def test_each_half_may_have_a_column_of_its_own() -> None:
    """The two questions of a survey with arms; a row with both counts is refused."""
    rows = [f"{row[0]},,0" if row.endswith("0") else f",{row[0]},1" for row in _rows()]
    found = list_experiment(_table(rows, "a,b,arm"), [["b", "a"]], "arm", "1")
    assert found["share"] == list_experiment(_table(_rows()), [["y"]], "treat", "1")["share"]
    with pytest.raises(SpecError, match="counts in several of the columns"):
        list_experiment(_table(["1,1,0", "1,,1"], "a,b,arm"), [["b", "a"]], "arm", "1")


def test_command_prints_the_share_and_leaves_out_rows_without_a_count(tmp_path: Path) -> None:
    """As a table, or as JSON."""
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["y,treat", *_rows(), "NA,1", ",0"]))
    words = ["results", "list-experiment", str(path), "--count", "y", "--arm", "treat"]
    printed = CliRunner().invoke(main, words).output
    assert "6.8 %" in printed
    assert "2 rows without a count or a half are left out" in printed
    found = json.loads(CliRunner().invoke(main, [*words, "--json", "--confidence", "0.9"]).output)
    assert found["confidence"] == 0.9
    assert found["share"]["low"] == 0
