"""Every state of the form, one after another: what must be usable by everybody in each of them."""

from collections.abc import Iterator

from playwright.sync_api import Page, Route

from tests.browser.visit import Visit, choose, receipt

ANSWERS = (1, 0, 2, 3, 1)
OPEN_ALL = "document.querySelectorAll('details').forEach((details) => (details.open = true))"
FILLED = "() => [...document.querySelectorAll('details > div')].every((content) => content.firstElementChild)"

REMEMBER = """async () => {
    const done = (request) => new Promise((go) => (request.onsuccess = () => go(request.result)));
    const database = await done(indexedDB.open("sottovoce"));
    const store = database.transaction("reports", "readwrite").objectStore("reports");
    const digest = "0".repeat(64);
    const entry = (sent, more) => {
        const report_id = (sent ? "1" : "2").repeat(32);
        const report = { format: "sottovoce-report/1", survey: "another", digest, wave: 0, report_id, values: [1] };
        return { digest, epsilon: 1, body: JSON.stringify(report), sent, ...more };
    };
    const key = (letter) => [location.origin, "another", 0, letter.repeat(16)];
    await done(store.put(entry(false, { refused: "token_invalid" }), key("A")));
    await done(store.put(entry(true), key("B")));
    database.close();
}"""
"""Two reports of a survey whose words are not to be had: one refused, one sent."""


def states(visit: Visit) -> Iterator[tuple[str, Page]]:
    """One visit to the demonstration's survey, stopping at each state by its name; details stand open."""
    for name, page in _walk(visit):
        page.evaluate(OPEN_ALL)
        # What is asked for when it is opened.
        page.wait_for_function(FILLED)
        yield name, page


def _walk(visit: Visit) -> Iterator[tuple[str, Page]]:
    yield "closed", _closed(visit)
    page = visit.arrive()
    yield "explanation", page
    yield from _before(page)
    yield "questions", page
    page.click("button[type=submit]")
    yield "summary", page
    choose(page, *ANSWERS)
    yield from _sent(visit, page)
    yield from _ended(visit, page)
    yield "refused", visit.arrive(f"{visit.site.url}/s/another#d={'0' * 32}")
    page.evaluate(REMEMBER)
    for name, token in (("report refused", "A"), ("receipt without words", "B"), ("was that you?", "C")):
        yield name, visit.arrive(f"{visit.site.url}/s/another#t={token * 16}")


def _closed(visit: Visit) -> Page:
    revision = {"digest": visit.site.survey.digest, "revision": 1, "retired": False, "waves": ["closed"]}
    told = {"format": "sottovoce-status/1", "survey": "marriage", "closed_on": "2026-05-12", "revisions": [revision]}
    visit.context.route("**/status", lambda route: route.fulfill(json=told))
    page = visit.arrive()
    page.wait_for_selector("#explanation:not(:has(> .actions .primary))")
    visit.context.unroute("**/status")
    return page


def _before(page: Page) -> Iterator[tuple[str, Page]]:
    page.evaluate(OPEN_ALL)
    page.wait_for_selector("#practice")
    for button in page.locator("#practice button").all():
        button.click()
    yield "practice", page
    page.click("#explanation > .actions .primary")
    page.check("#check input >> nth=0")
    page.click("#check [type=submit]")
    yield "check answered wrong", page
    page.click("#check [type=submit]")
    yield "check told", page
    page.click("#check .primary")
    page.wait_for_selector("#q0-0")


def _sent(visit: Visit, page: Page) -> Iterator[tuple[str, Page]]:
    held: list[Route] = []
    visit.context.route("**/reports", lambda route: held.append(route))  # noqa: PLW0108 - it marks what it calls
    with page.expect_request("**/reports"):
        page.click("#questions [type=submit]")
    yield "sending", page
    held[0].fulfill(json={})
    page.wait_for_selector("#main .problem")
    yield "failed", page
    visit.context.unroute("**/reports")
    page.click("button.primary")
    receipt(page)
    yield "receipt", page


def _ended(visit: Visit, page: Page) -> Iterator[tuple[str, Page]]:
    visit.context.route("**/withdraw", lambda route: route.fulfill(status=409, body='{"code":"closed"}'))
    page.click("text=Withdraw my answers")
    yield "withdraw?", page
    page.click("#confirm .primary")
    page.wait_for_selector("#main .problem")
    yield "not withdrawn", page
    visit.context.unroute("**/withdraw")
    page.click(".problem button")
    receipt(page)
    page.click("text=Do others use this device?")
    page.click("text=Forget them here")
    yield "forget?", page
    page.click("#confirm button:not(.primary)")
    page.click("text=Withdraw my answers")
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    yield "withdrawn", page
