"""A survey that sends at set moments: when a report leaves says only which of them it was."""

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewContext
from tests.browser.visit import Visit, begin, choose, publish, receipt, stored
from tests.conftest import Running
from tests.surveys import document, survey

SECONDS = 180
MOMENT = """async () => {
    const done = (request) => new Promise((go) => (request.onsuccess = () => go(request.result)));
    const database = await done(indexedDB.open("sottovoce"));
    const all = await done(database.transaction("reports").objectStore("reports").getAll());
    database.close();
    return all.find(({ sendAt }) => sendAt).sendAt;
}"""
"""When the report that waits is to be sent, in seconds since 1970."""


@pytest.fixture(scope="session")
def timed(site: Running) -> Running:
    """A survey with a question that few people are asked."""
    cheated, reason, _ = document()["questions"]
    further = {**reason, "visible_if": {"cheated": "yes"}, "when_absent": "fun"}
    return publish(site, survey(name="timed", questions=[cheated, further], privacy={"send_at_seconds": SECONDS}))


def answer_after(page: Page, seconds: int, reloads: bool) -> Any:
    """Open the questions, answer when so many seconds have passed, and return when the report is to be sent."""
    begin(page)
    page.clock.fast_forward(1000 * seconds)
    if reloads:
        page.reload()
        begin(page)
    choose(page, 0)
    page.click("form button[type=submit]")
    page.clock.run_for(2000)
    page.wait_for_selector("#later")
    return page.evaluate(MOMENT)


@pytest.mark.parametrize("reloads", [False, True], ids=["one load", "reloaded"])
@pytest.mark.parametrize("seconds", [20, 150])
def test_report_leaves_at_the_same_time_however_long_answering_took(
    new_context: NewContext, timed: Running, seconds: int, reloads: bool
) -> None:
    """Three minutes after the page was first opened, by the page itself; before that nothing is sent."""
    visit = Visit(new_context(), timed)
    page = visit.context.new_page()
    page.clock.install()
    page.goto(timed.link)
    page.wait_for_selector("#explanation")
    assert f"{SECONDS} seconds" in page.inner_text("#explanation")
    opened = page.evaluate("history.state.since")
    moment = answer_after(page, seconds, reloads)

    assert abs(1000 * moment - opened - 1000 * SECONDS) <= 500
    assert visit.bodies == []
    page.clock.fast_forward(1000 * SECONDS)
    assert [receipt(page)["bytes"]] == visit.bodies
    assert receipt(page)["id"] in stored(timed)


def test_page_that_was_closed_sends_at_the_next_visit(new_context: NewContext, timed: Running) -> None:
    """Once the moment has come; opened before it, the page says that it waits."""
    visit = Visit(new_context(), timed)
    page = visit.context.new_page()
    page.clock.install()
    page.goto(timed.link)
    moment = answer_after(page, 20, reloads=False)
    page.close()
    again = visit.context.new_page()
    again.goto(timed.link)
    again.wait_for_selector("#later")
    assert visit.bodies == []
    again.close()
    late = visit.context.new_page()
    late.clock.install(time=moment + 1)
    late.goto(timed.link)

    assert [receipt(late)["bytes"]] == visit.bodies
