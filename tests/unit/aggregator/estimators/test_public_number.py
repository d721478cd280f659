"""A public number of many values, such as an income: the same figures as one whose values are listed."""

from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.estimators import public
from sottovoce.aggregator.export.channels import _scores
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.questions import MAX_PUBLIC

from tests.documents import number, question
from tests.unit.aggregator.analysis.samples import COIN, asked, public as openly


def income(most: int, step: Any = 1) -> dict[str, Any]:
    """A public number from 0."""
    return openly(number(0, most, step, {"name": "geometric", "ratio": "4/5"}))


def reports(most: int, step: Any = 1) -> Columns:
    """A coin and an income of 200 people."""
    rng = np.random.default_rng(5)
    values = np.minimum(rng.lognormal(6, 1, 200).astype(int), int(most / float(step)))
    return Columns.from_arrays(asked(question(COIN), income(most, step)), {"a": rng.integers(0, 2, 200), "b": values})


REQUESTS = [
    ("compare", {"outcome": "b", "groups": "a"}),
    ("pairs", {}),
    ("regression", {"formula": "a ~ log(b + 1)"}),
    ("regression", {"outcome": "b", "on": ["a"]}),
    ("test", {"question": "b", "mean": 600}),
]


@pytest.mark.parametrize(("kind", "options"), REQUESTS, ids=lambda each: each if isinstance(each, str) else "")
@pytest.mark.parametrize("step", [1, "0.25"])
def test_values_that_are_not_listed_give_the_same_figures(
    monkeypatch: pytest.MonkeyPatch, kind: str, options: dict[str, Any], step: Any
) -> None:
    """To the last digits, of 3,001 values that are listed and that are not."""
    columns = reports(int(3000 * float(step)), step)
    listed = parse_request(kind, options).document(columns)
    monkeypatch.setattr(public, "LISTED", 100)
    found = parse_request(kind, options).document(columns)

    def figures(document: Any) -> list[float]:
        if isinstance(document, dict | list):
            inner = document.values() if isinstance(document, dict) else document
            return [each for value in inner for each in figures(value)]
        return [document] if isinstance(document, int | float) else []

    assert figures(found) == pytest.approx(figures(listed), rel=1e-9)


def test_income_of_a_million_values_is_analysed() -> None:
    """In tables as a number, whose means are compared; its file of scores would list every value and has none."""
    columns = reports(1_000_000)
    asked_question = columns.survey.questions[1]

    assert parse_request("compare", {"outcome": "b", "groups": "a"}).document(columns)["n"] == 200
    assert list(_scores(asked_question, None)) == []
    with pytest.raises(EstimateError, match="compare its means among groups instead"):
        parse_request("crosstab", {"rows": "a", "columns": "b"}).document(columns)
    with pytest.raises(EstimateError, match="impossible"):
        public.estimate({1_000_001: 1}, asked_question.domain)
    assert asked_question.domain.size < MAX_PUBLIC
