"""On Files the owner of a closed survey publishes its public answers with noise, under a budget opened once."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import Settings

from tests.exported import TODAY, published, send
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.curator.data.test_released_tables import asked
from tests.unit.aggregator.studio.joint_pages import SITE, get

FILES = "/dashboard/surveys/exam/files"


def application(folder: Path, heads: str) -> Flask:
    (folder / "data").mkdir()
    storage = published(folder / "data", asked())
    send(storage, asked(), [(1, 0, 1, 4, 1)] * 150 + [(0, 1, 0, 9, 0)] * 50)
    storage.close_survey("exam", TODAY)
    return create_app(Settings(public_url=SITE, data=folder / "data", ledger_anchor_dir=heads), storage, now, {})


@pytest.fixture
def app(tmp_path: Path) -> Iterator[Flask]:
    (tmp_path / "heads").mkdir()
    made = application(tmp_path, str(tmp_path / "heads"))
    yield made
    made.extensions["storage"].close()


def sent(client: FlaskClient, step: str, **form: str) -> str:
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', get(client, "exam/files").text)
    assert token
    data = {"form_token": token[1], **form}
    reply = client.post(f"{FILES}/{step}", base_url=SITE, data=data, headers={"Sec-Fetch-Site": "same-origin"})
    assert reply.status_code == 303
    return client.get(reply.headers["Location"], base_url=SITE, headers={"Accept-Language": "en"}).text


def test_budget_is_opened_once_and_tables_are_published_under_it(app: Flask) -> None:
    client, _ = log_in(app)
    page = get(client, "exam/files").text
    assert "No budget is open" in page
    assert "public-tables.csv" not in page
    assert "Not with noise: year, which divides people into groups." in page
    assert "Noisy tables" not in get(client, "exam/privacy").text

    assert "box was not ticked" in sent(client, "budget", epsilon="600")
    assert "must be a number above 0" in sent(client, "budget", epsilon="much", agreed="yes")
    assert "The budget is open." in sent(client, "budget", epsilon="600", agreed="yes")
    assert "600.000 of epsilon 600.000 is left." in get(client, "exam/files").text
    assert "the budget cannot be used" in sent(client, "budget", epsilon="700", agreed="yes")
    account = get(client, "exam/privacy").text
    assert re.search("at most epsilon 600.000 in all; 600.000 of it is left. Together: epsilon .*60[0-9]", account)

    assert "noise of a table may exceed the number of reports" in sent(client, "release", epsilon="0.001")
    assert "600.000 of epsilon 600.000 is left." in get(client, "exam/files").text
    assert "Published. The files" in sent(client, "release", epsilon="300")
    page = sent(client, "release", epsilon="200", rows="hours", columns="again")
    assert "100.000 of epsilon 600.000 is left." in page
    assert "is too small for all these tables" in sent(client, "release", epsilon="400")
    assert "99.999 of epsilon 600.000 is left." in sent(client, "release", epsilon="0.001", useless="yes")

    tables: Any = json.loads(get(client, "exam/files/public-tables.json").text)["tables"]
    assert [table["question"]["columns"] for table in tables] == [
        ["hours"],
        ["again"],
        ["hours", "again"],
        *[["hours"], ["again"]],
    ]
    assert tables[1]["values"]["counts"][:2] == [50, 150]
    assert "4 / yes" in get(client, "exam/files/public-tables.csv").text
    assert "again" not in {each["name"] for each in json.loads(get(client, "exam/files/export.json").text)["questions"]}
    shown = get(client, "exam/results").text
    assert ("results/cheated.svg" in shown, "results/again.svg" in shown) == (True, False)
    for kind in ("svg", "csv"):
        assert client.get(f"/dashboard/surveys/exam/results/again.{kind}", base_url=SITE).status_code == 404
        private = client.get(f"/dashboard/surveys/exam/results/cheated.{kind}", base_url=SITE)
        assert private.status_code == 200
    key = {"rows": "cheated", "columns": "again"}
    refused = client.get("/dashboard/surveys/exam/tables", query_string={"kind": "crosstab", **key}, base_url=SITE)
    assert "would undo the noise" in refused.text


def test_without_a_folder_of_heads_nothing_is_published(tmp_path: Path) -> None:
    """The page says who can find out why."""
    app = application(tmp_path, "")
    client, _ = log_in(app)
    assert "the budget cannot be used" in sent(client, "budget", epsilon="1", agreed="yes")
    assert not app.extensions["storage"].releases.has_any("exam")
    app.extensions["storage"].close()
