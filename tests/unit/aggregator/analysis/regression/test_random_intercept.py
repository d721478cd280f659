"""A logit with a random intercept of each person: figures of quadrature, agreement with Rasch, and what is refused."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from sottovoce.aggregator import open_data
from sottovoce.cli.main import main
from sottovoce.shared.errors import SurveyError

from tests.unit.aggregator.analysis.item_response.test_items import _mturk
from tests.unit.shared.test_schema import validator

ITEMS = ("voting", "lifting", "tax")


def long_mturk(folder: Path) -> Path:
    """The same answers, each in a row of its own with the person's id."""
    header, *people = _mturk(folder).read_text().splitlines()
    assert header == "voting,voting_channel,lifting,lifting_channel,tax,tax_channel"
    rows = ["id,item,y,y_channel"]
    for number, line in enumerate(people):
        cells = line.split(",")
        rows += [f"p{number},{item},{cells[2 * at]},{cells[2 * at + 1]}" for at, item in enumerate(ITEMS)
                 if cells[2 * at]]  # fmt: skip
    path = folder / "long.csv"
    path.write_text("\n".join(rows))
    return path


def made(folder: Path, reports: Sequence[tuple[Any, ...]], header: str = "id,x,y") -> Any:
    """A file of public answers."""
    path = folder / "rows.csv"
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in reports)]))
    return open_data(path)


def clustered(people: int, rows: int, spread: float, seed: int) -> list[tuple[str, int, int]]:
    """Answers whose log odds are -.5 + .8 x + spread z."""
    dice = np.random.default_rng(seed)
    z, x = dice.normal(size=people), dice.integers(0, 2, (people, rows))
    y = dice.random((people, rows)) < 1 / (1 + np.exp(0.5 - 0.8 * x - spread * z[:, None]))
    return [(f"c{at}", int(x[at, row]), int(y[at, row])) for at in range(people) for row in range(rows)]


def test_crosswise_items_of_each_person_have_the_figures_of_quadrature(tmp_path: Path) -> None:
    """-.5455 (.0790), .3882 (.1035), -.9921 (.1286), .7096 (.153), log likelihood -4,580.060; Rasch is the same fit."""
    path = long_mturk(tmp_path)
    asked = ["results", "regress", str(path), "y ~ item", "--within-person", "id", "--points", "15", "--json"]
    found = json.loads(CliRunner().invoke(main, asked).stdout)
    validator("regression").validate(found)
    terms = {each["term"]: each for each in found["coefficients"]}
    base = terms["(constant)"]["estimate"]
    odds = {item: base + terms.get(f"item={item}", {"estimate": 0.0})["estimate"] for item in ITEMS}
    rasch = open_data(tmp_path / "items.csv").items(*ITEMS)

    assert [odds["voting"], odds["lifting"] - odds["voting"], odds["tax"] - odds["voting"]] == pytest.approx(
        [-0.5455, 0.3882, -0.9921], abs=1e-4
    )
    assert [-odds[item] for item in ITEMS] == pytest.approx([row["estimate"] for row in rasch.rows], abs=1e-5)
    spread = found["random_intercept"]["sd"]
    assert [spread["estimate"], spread["std_error"]] == pytest.approx([0.7096, 0.153], abs=5e-4)
    assert found["random_intercept"]["clusters"] == 2309
    assert found["log_likelihood"] == pytest.approx(-4580.060, abs=1e-3)
    assert found["random_intercept"]["test"]["p"] < 0.005


def test_large_clusters_are_integrated_where_their_likelihood_is(tmp_path: Path) -> None:
    """Sixteen clusters of 200: a fixed grid of 15 points would miss peaks as narrow as a tenth of one."""
    data = made(tmp_path, clustered(16, 200, 1.5, 5))
    found, again = (data.regress("y ~ x", cluster_effect="id", points=points).document for points in (15, 25))

    assert found["log_likelihood"] == pytest.approx(again["log_likelihood"], abs=1e-6)
    assert found["random_intercept"]["sd"]["estimate"] == pytest.approx(1.5, abs=0.4)
    assert found["coefficients"][1]["estimate"] == pytest.approx(0.8, abs=0.2)


def test_people_who_do_not_differ_have_0_with_an_upper_limit(tmp_path: Path) -> None:
    """Answers that are less alike within people than by chance: an estimate, and no error."""
    rows = [(f"p{at}", 0, value) for at in range(60) for value in (0, 1)]
    result = made(tmp_path, rows).regress("y ~ 1", cluster_effect="id")
    spread = result.document["random_intercept"]["sd"]

    assert (spread["estimate"], spread["std_error"], spread["low"]) == (0.0, None, 0.0)
    assert 0 < spread["high"] < 1
    assert result.document["random_intercept"]["test"]["p"] == 1.0
    assert "Clusters: 60." in str(result)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"cluster": "id"}, "a random intercept and a cluster do not go together"),
        ({"errors": "sandwich"}, "a random intercept and other errors do not go together"),
        ({"model": "linear"}, "an outcome that is not yes or no"),
        ({"weights": np.ones(80)}, "a random intercept and weights do not go together"),
        ({"at": [{"x": 1}]}, "goes without at and declining"),
        ({"points": 4}, "must be from 5 to 120"),
        ({"among": "careful"}, "these reports have no anchor"),
    ],
)
def test_what_does_not_go_with_it_is_refused_by_name(tmp_path: Path, options: dict[str, Any], why: str) -> None:
    """Each says what to leave out."""
    with pytest.raises(SurveyError, match=why):
        made(tmp_path, clustered(20, 4, 1.0, 1)).regress("y ~ x", cluster_effect="id", **options)


def test_one_report_of_each_cluster_is_refused(tmp_path: Path) -> None:
    """Nothing then tells people apart from noise; here one of two answers is missing."""
    with pytest.raises(SurveyError, match="clusters with two reports or more, and each of these has one"):
        made(tmp_path, [row for at in range(40) for row in ((at, 0, ""), (at, at % 2, at % 3 % 2))]).regress(
            "y ~ x", cluster_effect="id"
        )


def test_people_whose_answers_are_all_alike_differ_without_end(tmp_path: Path) -> None:
    """The standard deviation has no finite estimate, and the refusal says what to leave out."""
    with pytest.raises(SurveyError, match="no finite maximum: leave out predictors, or the random intercept"):
        made(tmp_path, [(f"p{at}", row, at % 2) for at in range(60) for row in range(3)]).regress(
            "y ~ 1", cluster_effect="id"
        )


@pytest.mark.parametrize("options", [{}, {"cluster_effect": "id"}])
def test_outcome_that_is_alike_for_all_is_refused(tmp_path: Path, options: dict[str, Any]) -> None:
    """A yes of everybody in a file leaves one category, which no predictor can explain."""
    with pytest.raises(SurveyError, match="everybody has the same answer to 'y'"):
        made(tmp_path, [(at // 2, at % 2, "yes") for at in range(60)]).regress("y ~ x", **options)
