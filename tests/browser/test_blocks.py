"""A block of three questions with a condition inside, in the form: one draw, one length, and what is said of it."""

import json

import pytest
from playwright.sync_api import Page
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import parse_report, report_length

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.visit import Visit, publish, receipt, stored
from tests.conftest import Running
from tests.documents import names, survey as document
from tests.vectors.blocks import asks, block

ITEMS = (
    asks("smokes"),
    asks("daily", when_absent="no", visible_if={"smokes": "yes"}),
    asks("where", "select_one", choices=names(3), absent_category=True),
)


@pytest.fixture(scope="session")
def together(site: Running) -> Running:
    return publish(site, parse_survey({**document(block("habits", "9", 1, *ITEMS)), "name": "together"}))


@pytest.fixture
def visit(new_context: NewContext, together: Running) -> Visit:
    return Visit(new_context(viewport=VIEWPORT), together)


def answer(page: Page, *boxes: str) -> dict[str, str]:
    """Tick these and send; returns the receipt."""
    for box in boxes:
        page.check(box)
    page.click("#questions [type=submit]")
    return receipt(page)


def test_form_says_that_answers_are_randomized_together(visit: Visit) -> None:
    page = visit.arrive()
    explained = page.inner_text("main")
    assert "is at most 50% sure after your randomized answers, even if they know all but one of them" in explained
    assert "GET /assets/blocks.js" in visit.paths
    page = visit.open()
    assert "3 answers are randomized together: of 100 people with the same answers as you" in page.inner_text("main")
    assert visit.complaints == []


@pytest.mark.parametrize("boxes", [("#q0-0", "#q2-0"), ("#q0-1", "#q1-1", "#q2-absent")])
def test_report_has_one_length_whatever_is_shown(visit: Visit, boxes: tuple[str, ...]) -> None:
    """A hidden question reports too; the report is drawn once, also for a second tab and after a reload."""
    page, other = visit.open(), visit.open()
    assert page.is_visible("#q1-0") is False
    told = answer(page, *boxes)
    [body] = visit.bodies
    report = parse_report(body.encode())
    assert len(body) == report_length(visit.site.survey, 0)
    assert all(
        question.admits(value or 0) for question, value in zip(visit.site.survey.questions, report.values, strict=True)
    )
    assert stored(visit.site)[report.report_id] == list(report.values)
    assert json.loads(told["bytes"])["values"] == list(report.values)
    # A second tab with other answers has the report of the first.
    assert answer(other, "#q0-1", "#q1-0", "#q2-1")["sha256"] == told["sha256"]
    page.reload()
    assert receipt(page)["sha256"] == told["sha256"]
    assert visit.complaints == []


def test_form_asks_the_drawn_questions_of_a_block(new_context: NewContext, site: Running) -> None:
    drawn = block("some", "9", 0, *map(asks, ("a", "b", "c"))) | {"ask": 2}
    running = publish(site, parse_survey({**document(drawn), "name": "drawn-block"}))
    visit = Visit(new_context(viewport=VIEWPORT), running)
    page = visit.open()
    shown = page.locator("#questions legend").all_inner_texts()
    text = page.inner_text("main")
    assert len(shown) == 2
    assert (
        "2 answers are randomized together: of 100 people with the same answers as you, 75 send exactly these" in text
    )
    page.reload()
    page = visit.open()
    assert page.locator("#questions legend").all_inner_texts() == shown
    answer(page, "#q0-1", "#q1-1")
    [body] = visit.bodies
    values = parse_report(body.encode()).values
    assert len(body) == report_length(running.survey, 0)
    asked = [name for name, value in zip("abc", values, strict=True) if value is not None]
    assert [text.split()[-1] for text in shown] == asked
    assert visit.complaints == []
