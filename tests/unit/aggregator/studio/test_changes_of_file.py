"""Number of times that the Design page goes from one file of the product to another: a measure of its structure."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.draft import DraftItem, empty_draft
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage

from tests.conftest import FakeClock
from tests.unit.aggregator.accounts.test_authentication import log_in

SITE = "https://survey.example.org"
PRODUCT = tuple(f"{Path(__file__).parents[4] / folder}/" for folder in ("aggregator", "client", "shared"))


def files_of(run: Callable[[], object]) -> list[str]:
    """Product files of the calls and returns during a run; of consecutive events in one file, the first."""
    found: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        name = frame.f_code.co_filename
        if event in {"call", "return"} and name.startswith(PRODUCT) and found[-1:] != [name]:
            found.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return found


def test_design_of_one_question_changes_file_at_most_2000_times(storage: SQLiteStorage, clock: FakeClock) -> None:
    """In an app that has shown the page before: 13,454 while templates and figures called each other piece by piece."""
    item = DraftItem({"type": "boolean", "name": "q1", "label": {}})
    draft = empty_draft("Life on campus", "en")
    storage.drafts.add("campus", type(draft)(draft.head, (item,)).dumped)
    client = log_in(create_app(Settings(public_url=SITE), storage, clock, {}))[0]

    def get() -> str:
        return str(client.get("/dashboard/surveys/campus/design", base_url=SITE).text)

    assert 'id="q0.label"' in get()
    found = files_of(get)
    assert {Path(name).name for name in found} >= {"page.py", "design.html", "cost_and_precision.py"}
    assert len(found) <= 2000
