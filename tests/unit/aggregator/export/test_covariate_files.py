"""Covariates from outside: an analyst's columns are public questions of the reports of a folder."""

from pathlib import Path

import numpy as np
import pytest
from sottovoce.aggregator.analysis.regression.formula import parse_formula
from sottovoce.aggregator.analysis.regression.regression import regress
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.export.results_client.sources import with_covariates
from sottovoce.shared.errors import SpecError

from tests.unit.aggregator.analysis.reports import GROUP, ROW, X
from tests.unit.aggregator.analysis.survey_of_reports import reports


def file(folder: Path, header: str, lines: list[str]) -> Path:
    """A CSV."""
    path = folder / "mine.csv"
    path.write_text("\n".join([header, *lines, ""]))
    return path


def test_covariate_is_a_predictor_like_a_public_question(tmp_path: Path) -> None:
    """Names and numbers in their own unit, however many; the same model as with the survey's own columns."""
    incomes = 10_000 + 37.5 * ROW
    lines = [f"{'north' if g else 'south'},{x:.2f},{income}" for g, x, income in zip(GROUP, X, incomes, strict=True)]
    given = with_covariates(reports(), file(tmp_path, "region,score,income", lines))
    own = regress(reports(), "said", parse_formula("x*g"))
    found = regress(given, "said", parse_formula('score*C(region, ref="south")'))

    assert [each.term for each in found.coefficients] == ["(constant)", "score", "region=north", "score:region=north"]
    for one, other in zip(found.coefficients, own.coefficients, strict=True):
        assert one.estimate == pytest.approx(other.estimate, abs=1e-9)
    linear = regress(given, "income", ["x"])
    slope = np.polyfit(X, incomes, 1)[0]
    assert linear.coefficients[1].estimate == pytest.approx(slope, rel=1e-9)
    among = parse_request("crosstab", {"rows": "region", "columns": "said", "where": "income > 20000"}).document(given)
    assert among["n"] == (incomes > 20_000).sum()


def test_missing_covariate_leaves_the_report_out(tmp_path: Path) -> None:
    """Of models with it, and of no others."""
    lines = ["" if row < 100 else "ab"[row % 2] for row in ROW]
    given = with_covariates(reports(), file(tmp_path, "arm,more", [f"{arm},1" for arm in lines]))
    assert (regress(given, "said", ["arm"]).n, regress(given, "said", ["x"]).n) == (500, 600)


@pytest.mark.parametrize(
    ("header", "count", "words"),
    [
        ("arm", 599, "599 lines for 600 reports"),
        ("said", 600, "the survey has a question 'said'"),
        ("arm,arm", 600, "mine.csv"),
    ],
)
def test_covariates_that_do_not_fit_are_refused(tmp_path: Path, header: str, count: int, words: str) -> None:
    """With the file, and what to do."""
    lines = [",".join(["ab"[row % 2]] * (header.count(",") + 1)) for row in range(count)]
    with pytest.raises(SpecError, match=words):
        with_covariates(reports(), file(tmp_path, header, lines))
