"""
Number of product files that run to open the page of tables: a measure of its structure.

Of the 68 files 22 run for every page of a signed-in researcher (session, rights, language, headers, limits), 15 are of
storage and of surveys, of mechanisms and of their estimators, and 5 are templates: merging the other 26 alone could not
lead below 43.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from flask.testing import FlaskClient

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


def test_tables_of_a_closed_survey_run_at_most_68_files(client: FlaskClient) -> None:
    """In an app that has shown the page before, with a crosstab."""
    path = "done/tables?kind=crosstab&rows=year&columns=reason"
    assert "<table" in get(client, path).text
    found = files_of(lambda: get(client, path))
    assert {Path(name).name for name in found} >= {"tables.html", "crosstab.py"}
    assert len(found) <= 68, sorted(found)
