"""Several questions of a survey's own reports together: on its page, by HTTP, in Python and in the terminal alike."""

import html
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator import open_data, open_results
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.settings import Settings
from sottovoce.cli.main import main
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.exported import TODAY, published, send, source
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.studio.joint_pages import SITE, cells, document, get
from tests.unit.shared.test_schema import validator

PEOPLE = (527, 299, 486, 342, 359, 238, 408, 341)
"""People by reports 000, 001, .. 111 through a coin flip for each question."""

NAMES = ("copied", "lied", "took")
ASKED = "exams/models?kind=items&questions=copied&questions=lied&questions=took"


def exams(*more: dict[str, Any], **options: Any) -> Survey:
    """Three questions by coin flips, and others."""
    questions = [{"type": "boolean", "name": name, "label": {"en": name.title()}, "mechanism": {"name": "coin_flip"}}
                 for name in NAMES]  # fmt: skip
    public = {"type": "boolean", "name": "moved", "label": {"en": "Moved"}, "public": True}
    return parse_survey({
        "format": "sottovoce-survey/1", "name": "exams", "revision": 1, "default_language": "en",
        "title": {"en": "Exams"}, "description": {"en": "Exams."}, "consent": {"en": "You may stop."},
        "researcher": {"name": {"en": "A"}, "institution": {"en": "B"}, "contact": "ask@example.org"},
        "questions": [*questions, public, *more], **options,
    })  # fmt: skip


ROWS = [[*each, at % 2] for each, n in zip(product((0, 1), repeat=3), PEOPLE, strict=True) for at in range(n)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Flask]]:
    """The closed survey, its files, and the application."""
    folder = tmp_path_factory.mktemp("items")
    (folder / "data").mkdir()
    (folder / "files").mkdir()
    storage = published(folder / "data", exams())
    send(storage, exams(), ROWS)
    storage.close_survey("exams", TODAY)
    write_folder(source(storage, exams()), folder / "files")
    yield folder, create_app(Settings(public_url=SITE), storage, now, {})
    storage.close()


@pytest.fixture
def client(place: tuple[Path, Flask]) -> FlaskClient:
    """A researcher's browser."""
    found: FlaskClient = log_in(place[1])[0]
    return found


@pytest.mark.parametrize("model", ["rasch", "2pl", "sum"])
def test_every_way_gives_what_a_file_of_the_reports_gives(place: tuple[Path, Flask], model: str) -> None:
    """By programs, from the terminal, from the survey's files and in Python."""
    folder, app = place
    found = document(app, "exams", "items", questions=list(NAMES), model=model)
    validator("items").validate(json.loads(json.dumps(found)))
    (folder / "rows.csv").write_text("\n".join([",".join(NAMES), *(",".join(map(str, row[:3])) for row in ROWS)]))
    alone = open_data(folder / "rows.csv", dict.fromkeys(NAMES, "coin_flip")).items(*NAMES, model=model).document

    assert {**found, "file": ""} == {**alone, "file": ""}
    for more in (["exams", *NAMES, "--data", str(folder / "data")], [*NAMES, "--from", str(folder / "files")]):
        printed = CliRunner().invoke(main, ["results", "items", "--model", model, "--json", *more]).stdout
        assert json.loads(printed) == json.loads(json.dumps(found))
    assert dict(open_results(folder / "files").items(*NAMES, model=model).document) == found


def test_page_offers_randomized_questions_and_shows_the_model(client: FlaskClient) -> None:
    """With code that computes it again; a public question is not offered."""
    form = get(client, "exams/models").text
    assert 'name="questions" value="copied"' in form
    assert 'name="questions" value="moved"' not in form
    page = html.unescape(get(client, f"{ASKED}&model=2pl").text)
    assert "Copied: discrimination" in [line[0] for line in cells(page)]
    assert "results.items('copied', 'lied', 'took', model='2pl')" in page
    assert "Schwierigkeit" in get(client, ASKED, "de").text
    subset = get(client, f"{ASKED}&model=sum&where=moved = yes")
    assert "moved = yes" in html.unescape(subset.text)


def test_programs_ask_with_a_key(place: tuple[Path, Flask]) -> None:
    """As for every analysis; none without a key."""
    app = place[1]
    token, digest = new_key()
    app.extensions["storage"].add_researcher("ann", digest)
    head = {"Authorization": f"Bearer {token}"}
    asked = {"questions": list(NAMES), "model": "sum"}
    reply = app.test_client().post("/api/v1/surveys/exams/items", json=asked, headers=head)
    assert (reply.status_code, reply.json) == (200, document(app, "exams", "items", **asked))
    assert app.test_client().post("/api/v1/surveys/exams/items", json=asked).status_code == 401


def test_files_alone_have_list_experiments_and_designs(client: FlaskClient) -> None:
    """A survey's address for one says where it is analysed."""
    assert 'value="list_experiment"' not in get(client, "exams/tables").text
    refused = get(client, "exams/tables?kind=list_experiment&count=copied&arm=moved")
    assert (refused.status_code, "download its files" in html.unescape(refused.text)) == (422, True)


@pytest.mark.parametrize(
    ("survey", "names", "why"),
    [
        (exams(), ["copied", "moved"], "'moved' is public"),
        (exams(), ["copied", "copied"], "takes 2 to 20 items"),
        (exams(), ["copied", "nothing"], "asks no such question"),
        (
            exams({"type": "boolean", "name": "then", "label": {"en": "Then"}, "mechanism": {"name": "coin_flip"},
                   "visible_if": {"moved": ["yes"]}, "when_absent": "no"}),
            ["copied", "then"], "'then' is not shown to everybody",
        ),
        (
            exams({"type": "boolean", "name": "born", "label": {"en": "Born"}, "procedure": "crosswise",
                   "innocuous": {"label": {"en": "Mother in May?"}, "share": "1/4", "se": "1/50", "fact": "may",
                                 "source": {"en": "Guess"}}}),
            ["copied", "born"], "an innocuous share that has a standard error",
        ),
        (
            exams({"type": "select_multiple", "name": "did", "label": {"en": "Did"},
                   "mechanism": {"name": "sampled_option", "epsilon": "1"},
                   "choices": [{"name": name, "label": {"en": name}} for name in "xyz"]}),
            ["did.x", "did.y"], "no report contains two options",
        ),
    ],
)  # fmt: skip
def test_what_is_no_item_is_refused(survey: Survey, names: list[str], why: str) -> None:
    """With the question and the reason."""
    made = [[*row, at % (survey.questions[-1].largest + 1)][: len(survey.questions)] for at, row in enumerate(ROWS)]
    table = np.array(made, float)
    whole = Columns.from_arrays(survey, {each.name: table[:, at] for at, each in enumerate(survey.questions)})
    with pytest.raises(SurveyError, match=why):
        parse_request("items", {"questions": names}).document(whole)


def test_waves_of_the_same_people_need_one_wave() -> None:
    """Reports of waves are not linked."""
    survey = exams(waves=[{"opens": f"2027-0{at}-01T00:00:00Z", "closes": f"2027-0{at}-09T00:00:00Z"} for at in (1, 6)])
    table = np.array(ROWS, float)
    arrays = {each.name: table[:, at] for at, each in enumerate(survey.questions)}
    both = Columns.from_arrays(survey, arrays, wave=np.arange(len(table)) % 2)
    with pytest.raises(SurveyError, match="choose one wave"):
        parse_request("items", {"questions": list(NAMES)}).document(both)
    assert parse_request("items", {"questions": list(NAMES), "wave": 1}).document(both)["n"] == len(table) // 2
