"""Small groups by a public answer beside a randomized one: rows and columns leave out the same reports, with a note."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.tables.all_pairs import every_pair
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey
from tests.surveys import months
from tests.unit.aggregator.analysis.samples import COIN
from tests.vectors.arms import arms, asks

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
    """A table of gender in the rows, or with rows and columns exchanged."""
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
