"""Number of product files that run to open the page of tables: a measure of its structure.

50 run in the process that serves, half of them for every page of a signed-in researcher (session, rights, language,
headers, limits, institution), and 30 in the process of the analysis.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.jobs.child import answer
from sottovoce.aggregator.analysis.jobs.messages import Job, pack_job
from sottovoce.aggregator.analysis.requests import parse_request

from tests.unit.aggregator.studio.joint_pages import app, client, get

__all__ = ["app", "client"]

PRODUCT = tuple(f"{Path(__file__).parents[4] / folder}/" for folder in ("aggregator", "client", "shared"))


def files_of(run: Callable[[], object]) -> set[str]:
    """Product files, templates included, of all calls during a run."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(PRODUCT):
            found.add(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return found


def test_tables_of_a_closed_survey_run_few_files(app: Flask, client: FlaskClient) -> None:
    """In an app that has shown the page before, with a crosstab."""
    path = "done/tables?kind=crosstab&rows=year&columns=reason"
    assert "<table" in get(client, path).text
    asked = parse_request("crosstab", {"rows": "year", "columns": "reason"})
    message = b"".join(pack_job(Job(asked, app.extensions["joint_results"]._cache.columns("done"), 0)))
    # The process of the analysis is another one, so its part runs here once more.
    serving, analysing = files_of(lambda: get(client, path)), files_of(lambda: answer(message))
    assert {Path(name).name for name in serving | analysing} >= {"tables.html", "crosstab.py"}
    assert len(serving) <= 50, sorted(serving)
    assert len(analysing) <= 30, sorted(analysing)
