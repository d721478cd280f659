"""The code beside a result makes the same result from the downloaded files."""

import contextlib
import io
import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator import open_results
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.results.analysis_page import python_code, r_code
from sottovoce.aggregator.studio.results.run_analysis import AskedAnalysis

from tests.documents import one_of, question
from tests.exported import TODAY, drawn, published, send, source
from tests.surveys import survey
from tests.unit.aggregator.studio.joint_pages import app, client, document, get

__all__ = ["app", "client"]

WEBR = Path(__file__).parents[5] / "tests" / "webr"
NAMES = SurveyVariables(survey(name="done"), Words("en"))
ANALYSES = [
    AskedAnalysis("crosstab", {"rows": "cheated", "columns": "reason"}),
    AskedAnalysis("compare", {"outcome": "cheated", "groups": "reason", "category": "yes"}),
    AskedAnalysis("pairs", {}),
    AskedAnalysis("test", {"question": "cheated", "shares": {"yes": 0.3}}),
    AskedAnalysis("regression", {"outcome": "cheated", "on": ["reason"], "model": "linear"}),
]


@pytest.fixture(scope="module")
def folder(client: FlaskClient, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(io.BytesIO(get(client, "done/files/everything.zip").data)).extractall(place)
    return place / "done"


@pytest.mark.parametrize("asked", ANALYSES, ids=lambda asked: asked.kind)
def test_python_code_prints_the_same_result(folder: Path, asked: AskedAnalysis) -> None:
    """Run as it stands, with the folder's name in it: every figure of the files' own answer is printed."""
    code = python_code(asked, NAMES, "https://survey.example.org").replace("FOLDER", str(folder))
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})  # noqa: S102 - the page's own code, of no text from elsewhere

    method = {"regression": "model"}.get(asked.kind, asked.kind)
    assert printed.getvalue().strip() == str(getattr(open_results(folder), method)(**asked.options)).strip()
    assert len(printed.getvalue().splitlines()) > 3


def test_files_and_page_give_the_same_table(app: Flask, folder: Path) -> None:
    """Rows are in another order, so that sums may differ in their last digits."""
    found = document(app, "done", "crosstab", rows="cheated", columns="reason")
    again = open_results(folder).crosstab("cheated", "reason").document

    assert [one["raw"] for one in again["cells"]] == pytest.approx([one["raw"] for one in found["cells"]])


def test_public_answers_are_asked_for_where_they_are() -> None:
    """No file of everything.zip has those of a question that is no cohort; R has no code then."""
    public = survey(name="done")
    questions = [dict(each) for each in json.loads(public.canonical)["questions"]]
    questions[2].pop("cohort", None)
    names = SurveyVariables(survey(name="done", questions=questions), Words("en"))
    asked = AskedAnalysis("crosstab", {"rows": "cheated", "columns": "year"})

    assert 'open_results("https://survey.example.org", survey="done")' in python_code(
        asked, names, "https://survey.example.org"
    )
    assert r_code(asked, names) == ""


def figures_in_r(folder: Path, code: str) -> list[float]:
    """Every figure that the code prints in R itself, in a folder with the files of a survey."""
    (folder / "analysis.R").write_text("options(digits = 10)\n" + code)
    command = ["node", "run.mjs", str(folder)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True, cwd=WEBR, timeout=600).stdout
    return [float(each) for each in re.findall(r"-?\d+\.\d{4,}(?:e-?\d+)?", printed)]


@pytest.mark.slow
@pytest.mark.parametrize("asked", [ANALYSES[0], ANALYSES[4]], ids=lambda asked: asked.kind)
def test_r_code_prints_the_same_figures(app: Flask, folder: Path, tmp_path: Path, asked: AskedAnalysis) -> None:
    """In R itself: cells of a table, coefficients of a model."""
    for name in ("reports.csv", "channels.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    figures = figures_in_r(tmp_path, r_code(asked, NAMES))

    found = document(app, "done", asked.kind, **asked.options)
    wanted = [one["raw"] for one in found.get("cells", [])] or [one["estimate"] for one in found["coefficients"]]
    assert all(any(abs(each - figure) < 1e-7 for figure in figures) for each in wanted), figures


@pytest.mark.slow
def test_r_code_prints_shares_among_those_who_answered(tmp_path: Path) -> None:
    """Cells and shares within rows with their errors, where both questions may be declined."""
    kinds = [
        {**question({"name": "kary_rr", "odds": "3"}), "name": "a", "absent_category": True},
        {**one_of(4, {"name": "subset_selection", "odds": "3", "size": 2}), "name": "b", "absent_category": True},
    ]
    declinable = survey(questions=kinds)
    storage = published(tmp_path, declinable)
    send(storage, declinable, drawn(declinable, 400))
    storage.close_survey("exam", TODAY)
    (tmp_path / "files").mkdir()
    write_folder(source(storage, declinable), tmp_path / "files")
    storage.close()
    asked = AskedAnalysis("crosstab", {"rows": "a", "columns": "b"})
    figures = figures_in_r(tmp_path / "files", r_code(asked, SurveyVariables(declinable, Words("en"))))

    found = open_results(tmp_path / "files").crosstab("a", "b").document
    shares = [*found["cells"], *found["conditional"]]
    assert len(shares) == 16
    for one in (each[key] for each in shares for key in ("raw", "std_error") if each["raw"] is not None):
        assert any(abs(one - figure) < 1e-7 for figure in figures), figures
