"""List experiments by maximum likelihood with predictors, and combined with a direct question."""

import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from sottovoce.aggregator.analysis.data_file.list_experiment import list_experiment
from sottovoce.aggregator.analysis.data_file.read_table import FileTable, read_bytes
from sottovoce.cli.main import main
from sottovoce.shared.errors import SurveyError

RACE = {
    ("0", "0"): (5, 92, 159, 186), ("0", "1"): (3, 40, 63, 41),
    ("1", "0"): (15, 96, 174, 181, 20), ("1", "1"): (4, 27, 55, 38, 14),
}  # fmt: skip
"""People by count, of each half and of (not) the South: the 1991 race survey of the R package list."""

LIST_ONE = {
    ("0", "no"): (0, 6, 68, 63, 46, 0), ("1", "no"): (0, 4, 70, 79, 38, 5),
    ("0", "yes"): (1, 4, 90, 112, 109, 0), ("1", "yes"): (0, 2, 22, 89, 74, 137),
}  # fmt: skip
"""The same of half and direct answer: the first list of ``combinedListExps`` of that package."""


def _rows(people: dict[tuple[str, str], tuple[int, ...]]) -> list[str]:
    return [f"{count},{half},{other}" for (half, other), numbers in people.items()
            for count, number in enumerate(numbers) for _ in range(number)]  # fmt: skip


def _table(rows: list[str], header: str = "y,treat,south") -> FileTable:
    return read_bytes("\n".join([header, *rows]).encode(), "answers.csv")


def test_model_without_predictors_has_the_published_coefficients() -> None:
    """Log odds -1.7046 (.2010) and .8312 (.0402), log likelihood -1,500.973 (R, ictreg)."""
    model = list_experiment(_table(_rows(RACE)), [["y"]], "treat", [], formula="~ 1")["model"]
    figures = [value for one in model["coefficients"] for value in (one["estimate"], one["std_error"])]
    assert figures == pytest.approx([-1.70465, 0.20102, 0.83124, 0.04017], abs=1e-5)
    assert model["log_likelihood"] == pytest.approx(-1500.973, abs=5e-4)
    assert model["shares"][0]["share"] == pytest.approx(0.15386, abs=1e-5)


def test_model_with_a_predictor_has_the_published_coefficients(tmp_path: Path) -> None:
    """In the terminal and as a document: -2.0881 (.2504), 1.3159 (.4449), .9037 (.0452), -.3020 (.0976)."""
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["y,treat,south", *_rows(RACE), "2,,1", "3,1,NA"]))
    words = ["results", "list-experiment", str(path), "--count", "y", "--treatment", "treat", "--items", "3"]
    ended = CliRunner().invoke(main, [*words, "--formula", "~ south", "--method", "ml", "--json"])
    found = json.loads(ended.output)
    schema = files("sottovoce.shared").joinpath("schema/list-experiment.schema.json").read_text()
    jsonschema.validate(found, json.loads(schema))
    figures = [value for one in found["model"]["coefficients"] for value in (one["estimate"], one["std_error"])]
    expected = [-2.08813, 0.25042, 1.31602, 0.44491, 0.90373, 0.04518, -0.30193, 0.09759]
    assert figures == pytest.approx(expected, abs=1e-4)
    assert [one["term"] for one in found["model"]["coefficients"]] == ["(constant)", "south=1"] * 2
    assert found["model"]["n"] == 1213
    assert "Sensitive item: south=1" in CliRunner().invoke(main, [*words, "--formula", "~ south"]).output
    refused = CliRunner().invoke(main, [*words, "--formula", "~ south", "--method", "difference"]).output
    assert "--formula goes with --method ml" in refused


def test_each_sensitive_item_has_its_own_coefficients() -> None:
    """Two arms with the same counts have the same share, as if they were one arm, with a larger error."""
    rows = _rows(RACE)
    both = [*rows, *(row.replace(",1,", ",2,", 1) for row in rows if row.split(",")[1] == "1")]
    found = list_experiment(_table(both), [["y"]], "treat", [], formula="~ 1")["model"]
    one, other = found["shares"]
    assert (one["treated"], other["treated"]) == ("1", "2")
    assert one["share"] == pytest.approx(other["share"])
    assert [each["treated"] for each in found["coefficients"]] == ["1", "2", None]


def test_direct_question_makes_the_list_more_exact() -> None:
    """.64024 (.03558), by the difference alone .61364; placebo tests .669 and .737 (R, combinedListDirect)."""
    found = list_experiment(_table(_rows(LIST_ONE), "y,treat,d"), [["y"]], "treat", [], items=4, direct="d")
    combined = found["combined"]
    assert [combined["share"], combined["std_error"]] == pytest.approx([0.64024, 0.03558], abs=1e-5)
    assert found["share"]["raw"] == pytest.approx(0.61364, abs=1e-5)
    assert [combined["placebo_one"], combined["placebo_two"]] == pytest.approx([0.669, 0.737], abs=5e-4)
    schema = files("sottovoce.shared").joinpath("schema/list-experiment.schema.json").read_text()
    jsonschema.validate(json.loads(json.dumps(found)), json.loads(schema))


def test_command_combines_list_and_direct_question(tmp_path: Path) -> None:
    """People without a direct answer are in the difference in means only."""
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["y,treat,d", *_rows(LIST_ONE), "3,1,"]))
    words = ["results", "list-experiment", str(path), "--count", "y", "--arm", "treat", "--direct", "d"]
    printed = CliRunner().invoke(main, words).output
    assert "n = 1,020" in printed
    assert "combined (n = 1,019)" in printed
    assert "64.0%" in printed
    assert "Placebo test II, the halves say yes equally often: p = 0.7368" in printed


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        (_rows(RACE), {"formula": "~ west"}, "has no column 'west'; it has: y, treat, south"),
        (_rows(RACE), {"formula": "~ south +"}, "formula, column"),
        (_rows(RACE), {"formula": "y ~ south"}, "names predictors only"),
        (_rows(RACE), {"formula": "~ y"}, "'y' is a column of the design itself"),
        (_rows(RACE), {"formula": "~ south + treat"}, "'treat' is a column of the design itself"),
        ([*["0,0,a"] * 9, *["1,0,a"] * 9, *["1,1,a"] * 9], {"formula": "~ 1"}, "at least 2 items"),
        ([*["1,0,a"] * 9, *["2,0,a"] * 9, *["0,1,a"] * 9], {"formula": "~ 1"}, "no finite maximum"),
        (_rows(RACE), {"direct": "south", "columns": [["y"], ["south"]]}, ""),
        (_rows(RACE), {"formula": "~ 1", "columns": [["y"], ["y"]]}, "double list and a model do not go together"),
        ([*_rows(RACE), "1,2,1", "1,2,0"], {"direct": "south"}, "one sensitive item"),
        ([*_rows(RACE), "1,1,x"], {"direct": "south"}, "must hold yes and no"),
        ([row.replace(",1,1", ",1,0") for row in _rows(RACE)], {"direct": "south"}, "who say yes to the direct"),
    ],
)
def test_what_has_no_model_or_no_combination_is_refused(
    rows: list[str], options: dict[str, object], words: str
) -> None:
    """With the reason; a double list and a direct question go together."""
    given = {"columns": [["y"]], **options}
    if words:
        with pytest.raises(SurveyError) as refused:
            list_experiment(_table(rows), given.pop("columns"), "treat", [], **given)  # type: ignore[arg-type]
        assert words in str(refused.value)
    else:
        assert "combined" in list_experiment(_table(rows), given.pop("columns"), "treat", [], **given)  # type: ignore[arg-type]


def test_randomized_predictor_is_refused() -> None:
    """Its channel beside it shows it; a model of counts takes public ones."""
    rows = [f"{row},coin_flip" for row in _rows(RACE)]
    with pytest.raises(SurveyError, match="randomized predictors do not go together"):
        list_experiment(_table(rows, "y,treat,south,south_channel"), [["y"]], "treat", [], formula="~ south")
