"""Without a connection: the page opens again, a report is kept, and its same bytes arrive once."""

from playwright.sync_api import Page

from tests.browser.visit import KEPT, READY, Visit, begin, choose, give_up, press_send, publish, receipt, send, stored
from tests.surveys import survey

ANSWERS = (1, 0, 2, 3, 1)
CACHED = """async () => {
    const found = {};
    const FOLDER = new RegExp("^/assets/[0-9a-f]{16}/");
    for (const name of await caches.keys()) {
        const cache = await caches.open(name);
        const paths = (await cache.keys()).map((request) => new URL(request.url).pathname.replace(FOLDER, "/assets/"));
        found[name.replace(/-[0-9a-f]{16}$/, "")] = paths.sort();
    }
    return found;
}"""

OLDER = """async () => {
    const cache = await caches.open("sottovoce-kept");
    const older = ["/assets/0123456789abcdef/catalogues/en.json", "/assets/catalogues/en.json"];
    await Promise.all(older.map((path) => cache.put(path, new Response("{}"))));
}"""


def keep(visit: Visit, page: Page) -> str:
    """Answer while offline; returns what the page says then."""
    page.evaluate(KEPT)
    visit.context.set_offline(True)
    press_send(page, *ANSWERS)
    page.wait_for_selector("#main .problem h1")
    return page.inner_text("#main .problem")


def test_kept_report_leaves_when_the_connection_is_back(visit: Visit, page: Page) -> None:
    before = stored(visit.site)
    told = keep(visit, page)
    assert "Not sent yet" in told
    assert "They are sent when you are online" in told
    assert before == stored(visit.site)
    visit.context.set_offline(False)
    shown = receipt(page)

    assert set(visit.bodies) == {shown["bytes"]}
    assert set(stored(visit.site)) - set(before) == {shown["id"]}
    page.reload()
    assert shown == receipt(page)
    assert len(visit.bodies) == 2


def test_page_opens_without_a_connection(visit: Visit, page: Page) -> None:
    """A reload finds page, survey and second script; the answers are asked for anew, since nothing kept them."""
    choose(page, *ANSWERS)
    page.evaluate(KEPT)
    visit.context.set_offline(True)
    visit.context.clock.install()
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.wait_for_selector(READY)
    begin(page)
    assert page.locator("fieldset").count() == len(ANSWERS)
    assert page.locator("input:checked").count() == 0
    press_send(page, *ANSWERS)
    give_up(page)

    assert "Not sent yet" in page.inner_text("#main .problem")


def test_unsent_report_leaves_at_a_visit_to_another_survey(visit: Visit, page: Page) -> None:
    """A report waits for its aggregator, not for its own page."""
    keep(visit, page)
    page.close()
    publish(visit.site, survey(name="another"))
    visit.context.set_offline(False)
    before = stored(visit.site)
    other = visit.open(f"{visit.site.url}/s/another")
    other.evaluate(KEPT)
    visit.open().wait_for_selector("#receipt_sha256", state="attached")

    assert len(set(stored(visit.site)) - set(before)) == 1
    assert len(set(visit.bodies)) == 1
    assert len(visit.bodies) == 2


def test_only_what_everybody_gets_is_cached(visit: Visit) -> None:
    page = visit.context.new_page()
    page.goto(f"{visit.site.url}/healthz")
    page.evaluate("Promise.all(['sottovoce-page-0123456789abcdef', 'other'].map((name) => caches.open(name)))")
    page.evaluate(OLDER)
    page.goto(visit.site.link)
    page.wait_for_selector(READY)
    page.evaluate(KEPT)
    begin(page)
    send(page, *ANSWERS)

    assert page.evaluate(CACHED) == {
        "other": [],
        "sottovoce-kept": ["/api/v1/surveys/marriage", "/assets/catalogues/en.json"],
        "sottovoce-page": [
            "/assets/answering.js",
            "/assets/extras.js",
            "/assets/respondent.html",
            "/assets/respondent.js",
            "/assets/returning.js",
            "/assets/sending.js",
        ],
    }


def test_kept_parts_serve_where_a_server_of_another_release_has_not_got_them(visit: Visit, page: Page) -> None:
    """Under their name, which holds their digest; what else it refuses is refused."""
    page.evaluate(KEPT)
    page.reload()
    page.wait_for_selector(READY)
    visit.context.route("**/*", lambda route: route.fulfill(status=404, body="{}"))
    folder = page.evaluate("document.scripts[0].src.replace('respondent.js', '')")
    ask = "async (url) => (await fetch(url, { cache: 'no-store' })).status"

    assert page.evaluate(ask, f"{folder}sending.js") == 200
    assert page.evaluate(ask, f"{visit.site.url}/assets/fedcba9876543210/waves.js") == 404
    assert page.evaluate(ask, f"{visit.site.url}/api/v1/surveys/marriage") == 404


def test_worker_has_no_say_in_other_pages(visit: Visit, page: Page) -> None:
    """The respondents' pages are its only scope, and what is posted does not pass through it."""
    page.evaluate(KEPT)
    scopes = page.evaluate("navigator.serviceWorker.getRegistrations().then((all) => all.map((one) => one.scope))")
    page.reload()
    page.wait_for_selector(READY)
    controlled = page.evaluate("navigator.serviceWorker.controller !== null")
    begin(page)
    send(page, *ANSWERS)
    page.goto(f"{visit.site.url}/dashboard/")

    assert scopes == [f"{visit.site.url}/s/"]
    assert controlled is True
    assert page.evaluate("navigator.serviceWorker.controller") is None
    posted = next(request for request in visit.requests if request.method == "POST")
    assert posted.service_worker is None
    assert posted.response().from_service_worker is False
