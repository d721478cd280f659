"""The form where things go wrong: servers that fail or hang, browsers that keep nothing, and people who go back."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import NewContext
from tests.browser.visit import Visit, begin, choose, press_send, receipt, stored
from tests.conftest import Running

ANSWERS = (1, 0, 2, 3, 1)
HASTE = """{
    const [later, limit] = [setTimeout, AbortSignal.timeout.bind(AbortSignal)];
    globalThis.setTimeout = (work, milliseconds, ...given) => later(work, milliseconds / 50, ...given);
    AbortSignal.timeout = (milliseconds) => limit(milliseconds / 10);
}"""
"""Every wait of the page passes fifty times as fast, and a request is given up after a second."""

FORBIDDEN = """Object.defineProperty(globalThis, "indexedDB", {
    get() { throw new DOMException("forbidden", "SecurityError"); },
});"""
FULL = """for (const name of ["add", "put"]) {
    const write = IDBObjectStore.prototype[name];
    IDBObjectStore.prototype[name] = function (value, ...rest) {
        if (value.body) throw new DOMException("full", "QuotaExceededError");
        return write.call(this, value, ...rest);
    };
}"""
"""The disk has no room left for a report."""

TRANSLATE = """() => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
        const [outer, inner] = [document.createElement("font"), document.createElement("font")];
        inner.textContent = `tr ${text.data}`;
        outer.append(inner);
        text.replaceWith(outer);
    }
}"""
"""What a browser's translation does to a page: other elements in the place of every text."""


def fail(route: Route) -> None:
    route.fulfill(status=500, body="<h1>Oops</h1>")


def close(route: Route) -> None:
    route.abort("connectionclosed")


def hang(_route: Route) -> None:
    """A server that never answers."""


SERVERS = [fail, close, hang]
SAID = {fail: "server has a problem", close: "cannot be reached", hang: "cannot be reached"}


@pytest.fixture
def hasty(new_context: NewContext, site: Running) -> Visit:
    """Somebody whose page does not wait for long."""
    visit = Visit(new_context(), site)
    visit.context.add_init_script(HASTE)
    return visit


@pytest.mark.parametrize("server", SERVERS)
def test_report_that_fails_is_sent_by_itself_while_the_page_is_open(hasty: Visit, server: Callable[..., None]) -> None:
    """Words say why and that the page may be closed; when the server is well again, the same bytes arrive."""
    page = hasty.open()
    hasty.context.route("**/reports", server)
    press_send(page, *ANSWERS)
    problem = page.locator("#main .problem")
    expect(problem).to_contain_text("Not sent yet", timeout=20_000)
    expect(problem).to_contain_text(SAID[server])
    expect(problem).to_contain_text("You can close it.")
    hasty.context.unroute("**/reports")

    shown = receipt(page)
    assert set(hasty.bodies) == {shown["bytes"]}
    assert shown["id"] in stored(hasty.site)


@pytest.mark.parametrize("server", SERVERS)
def test_survey_that_does_not_come_can_be_asked_for_again(hasty: Visit, server: Callable[..., None]) -> None:
    address = "**/api/v1/surveys/marriage"
    hasty.context.route(address, server)
    page = hasty.context.new_page()
    page.goto(hasty.site.link)
    problem = page.locator("#main .problem")
    expect(problem).to_contain_text(SAID[server], timeout=20_000)
    assert "refused" not in problem.inner_text()
    hasty.context.unroute(address)
    problem.locator("button").click()
    page.wait_for_selector("#explanation")


@pytest.mark.parametrize("server", SERVERS)
def test_status_that_does_not_come_holds_up_nobody(hasty: Visit, server: Callable[..., None]) -> None:
    hasty.context.route("**/status", server)
    page = hasty.open()
    press_send(page, *ANSWERS)
    assert receipt(page)["id"] in stored(hasty.site)


def test_forbidden_storage_is_told_before_the_first_question(visit: Visit) -> None:
    """A browser may throw when it is asked for its storage; the page says what helps."""
    visit.context.add_init_script(FORBIDDEN)
    page = visit.arrive()
    assert "Use another browser" in page.inner_text("#main .problem")
    assert visit.bodies == []


def test_full_storage_sends_nothing(visit: Visit) -> None:
    visit.context.add_init_script(FULL)
    page = visit.open()
    press_send(page, *ANSWERS)
    expect(page.locator("#main .problem")).to_contain_text("Nothing was sent")
    assert "Use another browser" in page.inner_text("#main .problem")
    assert visit.bodies == []


def test_page_that_the_browser_translates_works(visit: Visit) -> None:
    page = visit.arrive()
    page.evaluate(TRANSLATE)
    begin(page)
    page.evaluate(TRANSLATE)
    choose(page, 1)
    page.select_option("select", "de")
    choose(page, *ANSWERS)
    page.click("form button[type=submit]")
    shown = receipt(page)
    page.evaluate(TRANSLATE)

    assert visit.bodies == [shown["bytes"]]
    assert visit.complaints == []


def reload(page: Page) -> None:
    page.reload()


def go_back_and_forward(page: Page) -> None:
    """Back, out of the survey if this is its first step, and forward again."""
    page.go_back()
    page.go_forward()


def press_back_often(page: Page) -> None:
    """Back, until the survey is left; and forward to its last step."""
    for move in (page.go_back, page.go_forward):
        for _ in range(5):
            move()


@pytest.mark.parametrize("move", [reload, go_back_and_forward, press_back_often])
def test_no_way_through_the_history_loses_or_doubles_a_report(visit: Visit, move: Callable[[Page], None]) -> None:
    """From every step the survey goes on, once; after the receipt it stays with the receipt."""
    page = visit.context.new_page()
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{visit.site.url}/dashboard/login")
    page.goto(visit.site.link)
    page.wait_for_selector("#explanation")
    steps = {
        "#explanation": lambda: page.click("#explanation > .actions .primary"),
        "#check": lambda: page.click("#check button:not(.primary)"),
        "#questions": lambda: (choose(page, *ANSWERS), page.click("form button[type=submit]")),
        "#receipt": lambda: None,
    }
    for number, step in enumerate(steps):
        # A move may lead back to an earlier step: from there on again to the one whose turn it is.
        for before in list(steps)[:number]:
            if page.locator(before).count():
                steps[before]()
                page.wait_for_selector(f"#main > :not({before})")
        page.wait_for_selector(step)
        if step == "#questions":
            choose(page, *ANSWERS)
        move(page)
        page.wait_for_selector(", ".join(steps))
        assert (page.locator("#receipt").count() == 1) == (step == "#receipt")

    assert [receipt(page)["bytes"]] == visit.bodies
    assert visit.complaints == []


def test_slow_wire_says_what_it_waits_for(visit: Visit) -> None:
    page = visit.context.new_page()
    devtools = visit.context.new_cdp_session(page)
    devtools.send("Network.enable")
    slow = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
    devtools.send("Network.emulateNetworkConditions", slow)
    page.goto(visit.site.link, wait_until="commit")
    expect(page.get_by_text("Loading …")).to_be_visible()
    expect(page.locator("#broken")).to_be_hidden()
    page.wait_for_selector("#explanation")
    expect(page.get_by_text("Loading …")).to_have_count(0)
    begin(page)
    press_send(page, *ANSWERS)
    expect(page.get_by_role("heading", name="Sending …")).to_be_visible()

    assert receipt(page)["id"] in stored(visit.site)
