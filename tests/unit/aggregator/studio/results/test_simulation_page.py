"""Rehearse: invented people on every page and in every file, marked as such, and no trace of them anywhere."""

import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.draft import empty_draft
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.catalogue import RELEASED
from sottovoce.aggregator.i18n.translator import LANGUAGES
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.results.files_page import OFFERED
from sottovoce.aggregator.studio.results.simulation_page import ROUTES

from tests.exported import drawn, published, send
from tests.surveys import document, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.studio.joint_pages import SITE, cells

PAGES = ("", "/tables", "/models", "/files")
JOINT = ("tables", "models", "files")
TABLE = "kind=crosstab&rows=cheated&columns=reason"
DOWNLOADS = (
    "/export.json?",
    "/cheated.csv?",
    "/cheated.svg?",
    f"/tables/answer.csv?{TABLE}",
    f"/tables/answer.json?{TABLE}",
    "/models/answer.csv?kind=regression&outcome=cheated&on=year",
    "/files/estimates.csv?",
    "/files/survey.yaml?",
)


@pytest.fixture(scope="module")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SQLiteStorage]:
    """The draft "exam", one that is empty, a survey nobody has answered, one that some have, and a closed one."""
    asked, over = survey(name="answered"), survey(name="over")
    made = published(tmp_path_factory.mktemp("rehearse"), survey(name="fresh"), asked, over)
    for each in (asked, over):
        send(made, each, drawn(each, 50))
    made.close_survey("over", 20_000)
    made.drafts.add("exam", draft_of(document(title={"en": "<b>Exams</b>"})).dumped)
    made.drafts.add("begun", empty_draft("Begun", "en").dumped)
    yield made
    made.close()


@pytest.fixture(scope="module")
def app(storage: SQLiteStorage) -> Flask:
    """One for all tests: none of them changes anything, which one of them shows."""
    return create_app(Settings(public_url=SITE), storage, now, {})


@pytest.fixture(scope="module")
def get(app: Flask) -> Any:
    """A researcher's browser: from the rest of an address to the reply."""
    client = log_in(app)[0]
    return lambda path, language="en": client.get(
        f"/dashboard/surveys/{path}", base_url=SITE, headers={"Accept-Language": language}
    )


@pytest.mark.parametrize(
    ("page", "language"), [*((page, "en") for page in PAGES), *(("/tables", language) for language in LANGUAGES[1:])]
)
def test_every_page_says_in_every_language_that_it_is_a_rehearsal(get: Any, page: str, language: str) -> None:
    """In its title and above all else; there is no ETag that could be that of results."""
    reply = get(f"exam/rehearse{page}?n=60", language)

    assert reply.status_code == 200
    assert "<title>SIMULATION · " in reply.text
    assert reply.text.index("<strong>SIMULATION</strong>") < reply.text.index('class="card"')
    assert "ETag" not in reply.headers
    assert reply.headers["Cache-Control"] == "no-store"
    assert "<b>Exams" not in reply.text


@pytest.mark.parametrize("path", DOWNLOADS)
def test_every_download_says_so_in_its_name_and_first(get: Any, path: str) -> None:
    """Whoever sees the name or the first line alone knows."""
    reply = get(f"exam/rehearse{path}&n=60")

    assert reply.status_code == 200
    assert reply.headers["Content-Disposition"].startswith("attachment; filename=SIMULATION-exam")
    assert "SIMULATION" in reply.text[:700]
    if not path.startswith("/cheated.svg"):
        assert "SIMULATION" in reply.text.splitlines()[0]


def test_all_files_are_to_be_had_and_the_zip_has_its_manifest(get: Any) -> None:
    page = get("exam/rehearse/files?n=60").text
    archive = zipfile.ZipFile(io.BytesIO(get("exam/rehearse/files/everything.zip?n=60&set.cheated.yes=25").data))
    manifest = json.loads(archive.read("SIMULATION-exam/manifest.json"))

    offered = set(OFFERED) - set(RELEASED)
    assert all(f"/dashboard/surveys/exam/rehearse/files/{file}?n=60" in page for file in offered)
    assert (manifest["rehearsal"], manifest["set"]["people"]) == (True, 60)
    assert manifest["set"]["questions"]["cheated"] == {"no": 0.75, "yes": 0.25}


def test_pages_of_one_setting_speak_of_the_same_people(get: Any) -> None:
    query = "n=200&again=3"
    export = json.loads(get(f"exam/rehearse/export.json?{query}").text)
    tally = {question["name"]: question["tally"] for question in export["questions"]}
    rows = get(f"exam/rehearse/files/reports.csv?{query}").text.splitlines()[2:]
    table = json.loads(get(f"exam/rehearse/tables/answer.json?{TABLE}&{query}").text)
    looked = [re.sub(r'value="\w{64}"', "", get(f"exam/rehearse?{query}").text) for _ in range(2)]

    assert looked[0] == looked[1]
    assert sum(row.split(",")[0] == "1" for row in rows) == tally["cheated"]["1"]
    assert table["n"] == len(rows) == export["reports"] == 200
    assert json.loads(get("exam/rehearse/export.json?n=200").text)["questions"] != export["questions"]


def test_shares_that_were_set_stand_beside_the_estimates(get: Any) -> None:
    for page in ("", f"/tables?{TABLE}", "/models", "/files"):
        text = get(f"exam/rehearse{page}{'&' if '?' in page else '?'}n=5000&set.cheated.yes=30").text
        line = next(line for line in cells(text) if line[:2] == ["Yes", "30.0%"])
        invented, estimate = (float(each.rstrip("%")) for each in line[2:4])
        assert abs(invented - 30) < 3
        assert abs(estimate - 30) < 8
        assert " to " in line[4]


def test_share_that_could_not_be_told_from_0_is_named(get: Any) -> None:
    """Of a coin flip and 1,000 people the margin is 6.2 points; 0 itself, and what is public, is not looked for."""
    told = {share: get(f"exam/rehearse?n=1000&set.cheated.yes={share}").text for share in ("0", "6", "7")}
    lost = {share: re.findall(r"you could not tell them from 0: ([^.<]*)", text) for share, text in told.items()}
    assert {share: "Yes" in answers for share, answers in lost.items()} == {"0": False, "6": True, "7": False}
    assert "you could not tell them from 0: Yes" in get("exam/rehearse/files?n=1000&set.cheated.yes=6").text


def test_table_stands_beside_what_was_set_for_its_questions(get: Any) -> None:
    table = get("exam/rehearse/tables?n=60&kind=crosstab&rows=cheated&columns=year").text
    model = get("exam/rehearse/models?n=60&kind=regression&outcome=cheated&on=reason").text
    tested = get("exam/rehearse/tables?n=60&kind=test&question=cheated").text
    pairs = get("exam/rehearse/tables?n=60&kind=pairs").text

    told = re.compile(r'Set value and estimate: ([^"]*)"').findall
    assert told(table) == ["Cheated?", "Year?"]
    assert told(model) == ["Cheated?", "Why?"]
    assert told(tested) == ["Cheated?"]
    assert told(pairs) == ["Cheated?", "Why?", "Year?"]
    assert '<details class="card" open><summary>Set value' in table
    assert '<details class="card"><summary>Set value' in pairs


def test_form_without_a_script_leads_to_what_was_set(get: Any) -> None:
    page = get("exam/rehearse?n=60&set.cheated.yes=30&set.year.first=50").text

    assert re.findall(r'<input id="set.(\S+)"', page) == [
        "cheated.yes", "reason.time", "reason.fear", "reason.fun", "year.first", "year.second",
    ]  # fmt: skip
    assert 'href="/dashboard/surveys/exam/rehearse/tables?n=60&amp;set.cheated.yes=30"' in page
    assert (
        '<input type="hidden" name="set.cheated.yes" value="30">'
        in get("exam/rehearse/tables?n=60&set.cheated.yes=30").text
    )


def test_what_cannot_be_set_is_said_and_makes_no_file(get: Any) -> None:
    """The page shows what is usual; a file would be taken for what was asked for."""
    page = get("exam/rehearse?n=60&set.cheated.yes=<i>")

    assert (page.status_code, page.text.count('aria-invalid="true"')) == (200, 1)
    assert "A setting is out of range" in page.text
    assert "<i>" not in page.text
    assert get("exam/rehearse/files/estimates.csv?n=60&set.cheated.yes=200").status_code == 400


def test_draft_that_nobody_could_answer_is_not_rehearsed(get: Any) -> None:
    for page in PAGES:
        assert "The draft is not complete" in get(f"begun/rehearse{page}").text
    assert get("begun/rehearse/export.json").status_code == 404
    assert get("unknown/rehearse").status_code == 404


def test_published_survey_is_rehearsed_until_it_is_closed(get: Any) -> None:
    """Its own tables stand there from then on; a correction of such a survey may be rehearsed, being a draft."""
    for name in ("fresh", "answered"):
        assert "<strong>SIMULATION</strong>" in get(f"{name}/rehearse?n=60").text
    for page in PAGES:
        text = get(f"over/rehearse{page}").text
        assert "This survey is closed" in text
        assert "SIMULATION" not in text
    assert get("over/rehearse/files/reports.csv").status_code == 404


def test_pages_without_results_yet_lead_to_the_rehearsal(get: Any) -> None:
    for path in ("exam/results", *(f"{name}/{page}" for name in ("fresh", "answered") for page in JOINT)):
        assert f'href="/dashboard/surveys/{path.split("/")[0]}/rehearse"' in get(path).text
    assert "/rehearse" not in get("answered/results").text
    assert all("Simulate with invented respondents" not in get(f"over/{page}").text for page in JOINT)


def test_real_pages_know_nothing_of_a_rehearsal(get: Any) -> None:
    """Their figures and ETags are the same before and after, and their addresses take nothing of what is set."""
    before = get("answered/results")
    get("exam/rehearse?n=60")
    after = get("answered/results?n=60&set.cheated.yes=90")

    assert after.headers["ETag"] == before.headers["ETag"]
    assert "SIMULATION" not in after.text
    assert get("answered/results/export.json?n=60").json == get("answered/results/export.json").json


def test_rehearsal_leaves_no_trace(get: Any, storage: SQLiteStorage, app: Flask) -> None:
    folder = Path(storage._path).parent
    kept = len(app.extensions["joint_results"]._cache)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for path in (*PAGES, *DOWNLOADS, "/files/everything.zip", "/files?sums=1"):
        assert get(f"exam/rehearse{path}{'&' if '?' in path else '?'}n=60").status_code == 200
        assert get(f"fresh/rehearse{path}{'&' if '?' in path else '?'}n=60").status_code == 200

    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert len(app.extensions["joint_results"]._cache) == kept


def test_every_address_of_a_rehearsal_only_reads() -> None:
    assert {route.method for route in ROUTES} == {"GET"}
    assert not any(route.has_etag for route in ROUTES)
