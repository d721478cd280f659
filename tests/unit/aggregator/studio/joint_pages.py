"""The application on surveys in every state, and a researcher's browser: for tests of the pages of joint results."""

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.settings import Settings

from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.analysis.closed_surveys import states

SITE = "https://survey.example.org"


def application(folder: Path) -> Iterator[Flask]:
    storage = states(folder)
    yield create_app(Settings(public_url=SITE), storage, now, {})
    storage.close()


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    yield from application(tmp_path_factory.mktemp("joint-pages"))


@pytest.fixture(scope="module")
def client(app: Flask) -> FlaskClient:
    return log_in(app)[0]


def get(client: FlaskClient, path: str, language: str = "en") -> Any:
    return client.get(f"/dashboard/surveys/{path}", base_url=SITE, headers={"Accept-Language": language})


def cells(page: str) -> list[list[str]]:
    """Every line of every table, cell by cell, as a reader sees it."""
    lines = re.findall(r"<tr><th scope=\"row\">.*?</tr>", page, re.DOTALL)
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line, re.DOTALL) for line in lines]
    return [[html.unescape(re.sub("<[^>]+>", "", cell)).strip() for cell in line] for line in found]


def document(app: Flask, name: str, kind: str, **options: Any) -> dict[str, Any]:
    return dict(app.extensions["joint_results"].document(name, parse_request(kind, options)))
