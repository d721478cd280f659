"""The page of files offers what the command line writes; the code beside a result makes it from downloaded files."""

import base64
import contextlib
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import cast

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator import open_results
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.export.catalogue import AT_ANY_TIME, OF_REPORTS, RELEASED, SINGLE, WITH_PUBLIC, Source, Write
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.results.analysis_page import python_code, r_code
from sottovoce.aggregator.studio.results.files_page import MEDIA_TYPES, OF_CLOSED, OFFERED
from sottovoce.aggregator.studio.results.run_analysis import AskedAnalysis

from tests.documents import one_of, question
from tests.exported import drawn, files_of, send, source
from tests.surveys import survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.studio.joint_pages import app, application, client, document, get

__all__ = ["app", "client"]


def test_every_file_but_those_with_public_answers_is_offered(client: FlaskClient) -> None:
    page = get(client, "done/files").text

    assert set(OFFERED) == {*SINGLE, "everything.zip"} - set(WITH_PUBLIC)
    assert {file for file in OFFERED if f"/dashboard/surveys/done/files/{file}" in page} == set(OFFERED) - set(RELEASED)
    assert {file.rpartition(".")[2] for file in OFFERED} == set(MEDIA_TYPES)


def test_file_whose_library_is_not_installed_is_no_link(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    page = get(client, "done/files").text

    links = {file for file in OFFERED if f"/dashboard/surveys/done/files/{file}" in page}
    assert links == set(OFFERED) - set(RELEASED) - {"reports.sav", "reports.dta"}
    assert page.count("not available on this server") == 2


@pytest.mark.parametrize("file", sorted(set(AT_ANY_TIME) | {"reports.parquet"}))
def test_file_is_the_one_that_the_command_line_writes(
    app: Flask, client: FlaskClient, file: str, tmp_path: Path
) -> None:
    storage = app.extensions["storage"]
    survey = revisions_of(storage, "done")[-1].survey
    SINGLE[file](source(storage, survey), tmp_path / file)
    reply = get(client, f"done/files/{file}")

    assert reply.data == (tmp_path / file).read_bytes()
    assert reply.headers["Content-Disposition"] == f"attachment; filename=done-{file}"
    digest = base64.b64encode(hashlib.sha256(reply.data).digest()).decode()
    assert reply.headers["Repr-Digest"] == f"sha-256=:{digest}:"


def test_everything_is_one_zip_whose_sums_hold(client: FlaskClient) -> None:
    archive = zipfile.ZipFile(io.BytesIO(get(client, "done/files/everything.zip").data))
    sums = archive.read("done/SHA256SUMS").decode().splitlines()[1:]

    assert {line.split("  ")[1] for line in sums} == {*AT_ANY_TIME, *OF_REPORTS}
    for line in sums:
        digest, name = line.split("  ")
        assert hashlib.sha256(archive.read(f"done/{name}")).hexdigest() == digest


def test_sums_of_the_page_are_those_of_the_downloads(client: FlaskClient) -> None:
    """Where a file is the same each time; the others say that they are not."""
    page = get(client, "done/files?sums=1").text

    for file in ("methods.md", "reports.parquet", "codebook.html"):
        assert hashlib.sha256(get(client, f"done/files/{file}").data).hexdigest() in page
    assert page.count("differs with each download") == 4


def test_wave_that_the_survey_does_not_have_is_explained(client: FlaskClient) -> None:
    for name in ("done", "open"):
        reply = get(client, f"{name}/files?wave=99")
        assert (reply.status_code, 'id="refused"' in reply.text) == (200, True)


@pytest.mark.parametrize("closes", [1, 2, 3])
def test_page_of_a_survey_that_was_reopened_says_why_it_has_no_reports(tmp_path: Path, closes: int) -> None:
    running = application(tmp_path)
    own_app = next(running)
    storage, researcher = own_app.extensions["storage"], log_in(own_app)[0]
    survey = revisions_of(storage, "done")[-1].survey
    for _ in range(closes):
        storage.reopen_survey("done")
        is_open = get(researcher, "done/files?sums=1")
        storage.close_survey("done", 20_600)
    storage.reopen_survey("done")
    send(storage, survey, drawn(survey, 1, name="late"))
    storage.close_survey("done", 20_600)
    is_closed = get(researcher, "done/files?sums=1")

    for reply in (is_open, is_closed):
        assert (reply.status_code, 'id="refused"' in reply.text) == (200, True)
        assert "reports.csv" in reply.text
        assert "/files/reports.csv" not in reply.text
    assert get(researcher, "done/files/reports.csv").status_code == 422
    next(running, None)


def test_files_of_reports_wait_for_the_close(client: FlaskClient) -> None:
    page = get(client, "open/files?sums=1").text

    assert "available after the survey closes" in page
    for file in OF_CLOSED:
        assert f"/files/{file}" not in page
        assert get(client, f"open/files/{file}").status_code == 409
    assert get(client, "open/files/methods.md").status_code == 200


@pytest.mark.parametrize("file", [*WITH_PUBLIC, *RELEASED, "SHA256SUMS", "..", "reports"])
def test_no_other_file_can_be_had(client: FlaskClient, file: str) -> None:
    assert get(client, f"done/files/{file}").status_code == 404


def test_file_that_fails_is_named_on_a_page(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_source: Source, _path: Path) -> None:
        raise ValueError("an answer")

    for files in (OF_REPORTS, OFFERED):
        monkeypatch.setitem(cast(dict[str, Write], files), "reports.sav", fail)
    reply = get(client, "done/files/reports.sav")

    assert reply.status_code == 422
    assert "reports.sav was not written" in reply.text
    assert "an answer" not in reply.text
    assert get(client, "done/files?sums=1").status_code == 200
    names = zipfile.ZipFile(io.BytesIO(get(client, "done/files/everything.zip").data)).namelist()
    assert "done/FAILED.txt" in names
    assert "done/reports.sav" not in names


def test_file_of_reports_leaves_room_on_its_disk(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database may be on it. A file without reports needs nothing, and one with many tables of them more."""
    asked, here = ("reports.csv", "everything.zip", "codebook.html"), shutil.disk_usage(".")
    for free, expected in ((1_000_000, [200, 200, 200]), (60_000, [200, 503, 200]), (600, [503, 503, 200])):
        left = here._replace(free=free)
        monkeypatch.setattr("sottovoce.aggregator.export.archive.disk_usage", lambda _, left=left: left)
        assert [get(client, f"done/files/{file}").status_code for file in asked] == expected


def test_files_of_a_try_out_say_so_in_their_names_and_first(client: FlaskClient) -> None:
    """Before anybody opens them, so that nobody takes them for the real survey's."""
    table = "tables/answer.csv?kind=crosstab&rows=year&columns=reason"
    for path, name in (("files/reports.csv", "reports.csv"), (table, "1-crosstab.csv")):
        reply = get(client, f"tried/{path}")
        assert reply.headers["Content-Disposition"] == f"attachment; filename=TEST-RUN-tried-{name}"
        assert reply.text.startswith("# TEST RUN")
    assert get(client, "tried/results/reason.csv").text.startswith("# TEST RUN")
    assert "TEST RUN" in get(client, "tried/results/reason.svg").text


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
    files_of(tmp_path, (declinable, drawn(declinable, 400)))
    asked = AskedAnalysis("crosstab", {"rows": "a", "columns": "b"})
    figures = figures_in_r(tmp_path / "files", r_code(asked, SurveyVariables(declinable, Words("en"))))

    found = open_results(tmp_path / "files").crosstab("a", "b").document
    shares = [*found["cells"], *found["conditional"]]
    assert len(shares) == 16
    for one in (each[key] for each in shares for key in ("raw", "std_error") if each["raw"] is not None):
        assert any(abs(one - figure) < 1e-7 for figure in figures), figures
