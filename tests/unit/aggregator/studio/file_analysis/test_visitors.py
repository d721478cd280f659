"""Visitors without an account analyze a file where the operator allows it, and reach nothing else."""

from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.accounts.authentication import VISITOR
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.studio.file_analysis import page
from sottovoce.aggregator.studio.file_analysis.page import VISITORS_AT_ONCE, UploadedFiles

from tests.unit.aggregator.analysis.closed_surveys import states
from tests.unit.aggregator.studio.file_analysis.test_file_page import (
    DATA,
    HERE,
    LIST,
    OWN,
    get,
    post,
    race,
    send,
    uploaded,
)
from tests.unit.aggregator.studio.joint_pages import SITE


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    storage = states(tmp_path_factory.mktemp("visitors"))
    yield create_app(Settings(public_url=SITE, public_analysis=1), storage, now, {})
    storage.close()


@pytest.fixture
def visitor(app: Flask) -> FlaskClient:
    return app.test_client()


def test_visitor_has_shares_tables_and_models_but_no_formula(visitor: FlaskClient) -> None:
    assert f'href="{HERE}"' in get(visitor, "/dashboard/login").text
    first = get(visitor, HERE)
    assert "up to 10 MB" in first.text
    assert {"HttpOnly", "SameSite=Strict", "Secure"} <= {*first.headers["Set-Cookie"].split("; ")}

    address = uploaded(visitor)
    assert "10.0" in get(visitor, address).text
    assert get(visitor, f"{address}/tables?kind=crosstab&rows=cheated&columns=year").status_code == 200
    models = get(visitor, f"{address}/models?kind=regression&outcome=cheated&on=year")
    assert (models.status_code, 'name="formula"' in models.text) == (200, False)
    assert get(visitor, f"{address}/models?kind=regression&formula=cheated~year").status_code == 403
    for path in ("/dashboard/", "/dashboard/surveys/done/tables", "/dashboard/me"):
        assert get(visitor, path).status_code == 302


def test_visitor_has_one_file_which_no_other_sees(app: Flask, visitor: FlaskClient) -> None:
    first, second = uploaded(visitor), uploaded(visitor, DATA + b"no,last,22\n")
    assert second == uploaded(visitor, DATA + b"no,last,22\n")
    assert "a newer file of yours took its place" in get(visitor, first).text
    assert (get(visitor, first).status_code, get(visitor, second).status_code) == (410, 200)
    other = app.test_client()
    assert get(other, second).status_code == 410
    assert app.test_client().post(HERE, data={"form_token": "x"}, headers=OWN, base_url=SITE).status_code == 403
    assert post(visitor, second, delete="1").status_code == 303


def test_visitors_have_room_for_four_small_files(visitor: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    files = UploadedFiles(lambda _: None)
    ids = [files.add(f"{VISITOR}{number}", "a.csv", b"x") for number in range(VISITORS_AT_ONCE + 1)]
    assert [id is None for id in ids] == [False] * VISITORS_AT_ONCE + [True]
    assert files.add(f"{VISITOR}0", "b.csv", b"x")
    assert files.add("ann", "a.csv", b"x")
    assert files.find(f"{VISITOR}0", str(ids[0])) is None
    monkeypatch.setattr(page, "VISITORS_AT_ONCE", 0)
    full = send(visitor, DATA)
    assert (full.status_code, "All places for visitors’ files are taken" in full.text) == (503, True)
    monkeypatch.undo()
    monkeypatch.setattr(page, "VISITOR_BYTES", 10)
    assert send(visitor, DATA).status_code == 413


def test_visitors_have_the_forms_without_formulas(visitor: FlaskClient) -> None:
    address = send(visitor, race()).headers["Location"]
    page = get(visitor, f"{address}{LIST}")
    assert (page.status_code, 'name="formula"' in page.text) == (200, False)
    assert get(visitor, f"{address}{LIST}&formula=~ south").status_code == 403
