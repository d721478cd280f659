"""A survey with a quick exit: whoever leaves at once leaves nothing of it in the tab, at any step."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import Error, Page, Route, expect
from sottovoce.client.page import saved_page
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.conftest import NewContext
from tests.browser.visit import KEPT, READY, Visit, choose, give_up, publish, receipt, send, stored
from tests.conftest import Running
from tests.surveys import document, survey

BEFORE = "/dashboard/login"
"""What the tab shows before the survey; the link is opened in the same tab."""

EXIT = "body > div > button"
SECRET = "Were you ever hit?"
NOTHING = f"{datetime.now(UTC):%B %Y}"
"""Heading of the calendar."""


@pytest.fixture(scope="session")
def leaving(site: Running) -> Running:
    """A survey on something that others should not see, with every step that there may be."""
    asked = document()["questions"][0] | {"label": {"en": SECRET}}
    texts = {"title": {"en": "Violence at home"}, "neutral_title": {"en": "Notes"}, "consent": {"en": "Word " * 50}}
    return publish(site, survey(name="survey-k7f3", quick_exit=True, check=True, questions=[asked], **texts))


@pytest.fixture
def opened(new_context: NewContext, leaving: Running) -> Page:
    """The first step, behind it one other page."""
    return arrive(Visit(new_context(), leaving).context.new_page(), leaving)


def arrive(page: Page, asked: Running) -> Page:
    """To the first step, from another page."""
    page.goto(asked.url + BEFORE)
    page.goto(asked.link)
    page.wait_for_selector(READY)
    return page


def go_on(page: Page) -> None:
    """To the consent."""
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#consent")


def agree(page: Page) -> None:
    """To the check."""
    go_on(page)
    page.click("#consent .primary")
    page.wait_for_selector("#check")


def answer(page: Page) -> None:
    """To the questions, one of them answered."""
    agree(page)
    page.click("#check button:not(.primary)")
    page.wait_for_selector("#questions")
    choose(page, 1)


def answer_and_go_back(page: Page) -> None:
    """To the questions and back to the check, so that there is a step in front."""
    answer(page)
    page.go_back()
    page.wait_for_selector("#check")


def reload(page: Page) -> None:
    """To the questions, and begin anew there: three entries of the history are of this visit already."""
    agree(page)
    page.reload()
    page.wait_for_selector("#explanation")
    go_on(page)


def finish(page: Page) -> None:
    """To the receipt."""
    answer(page)
    page.click("form button[type=submit]")
    receipt(page)


def come_back(page: Page) -> None:
    """To the receipt of an earlier visit."""
    finish(page)
    page.reload()
    receipt(page)


def begin(_page: Page) -> None:
    """Stay at the first step."""


STEPS = [begin, go_on, agree, answer, answer_and_go_back, reload]
FEW = [begin, answer, finish]
"""The receipt comes last: after it the survey has ended in this browser."""


def press_button(page: Page) -> None:
    page.click(EXIT)


def press_escape(page: Page) -> None:
    for _ in range(3):
        page.keyboard.press("Escape")


def assert_gone(page: Page, url: str) -> None:
    """Neither the page nor what Back and Forward lead to says anything of the survey, until the page before it."""
    expect(page.locator("h1")).to_have_text(NOTHING)
    for step in (page.go_back, page.go_forward, page.go_forward, page.reload, page.go_back):
        step()
        expect(page.locator("h1")).to_have_text(NOTHING)
        assert (page.title(), page.url) == (NOTHING, f"{url}/calendar")
    page.go_back()
    page.wait_for_url(url + BEFORE)
    for _ in range(3):
        page.go_forward()
    page.wait_for_url(f"{url}/calendar")
    assert SECRET not in page.content()


@pytest.mark.parametrize("walks", [[*STEPS, finish], [come_back]], ids=["receipt", "earlier receipt"])
def test_exit_leaves_nothing_in_the_tab(opened: Page, leaving: Running, walks: list[Callable[[Page], None]]) -> None:
    """At every step, one after another in one tab; the way back leads to what was there before."""
    opened.on("dialog", lambda _: pytest.fail("asked before leaving"))
    for walk in walks:
        arrive(opened, leaving)
        walk(opened)
        assert opened.title() == "Notes"
        press_button(opened)
        assert_gone(opened, leaving.url)


def test_exit_works_offline(opened: Page, leaving: Running) -> None:
    for walk in FEW:
        arrive(opened, leaving)
        walk(opened)
        opened.context.set_offline(True)
        press_button(opened)
        expect(opened).to_have_url("chrome-error://chromewebdata/")
        for step in (opened.go_back, opened.go_forward):
            with pytest.raises(Error, match="net::ERR"):
                step()
            expect(opened.locator("body")).not_to_contain_text(SECRET)
            assert opened.url in {f"{leaving.url}/calendar", "chrome-error://chromewebdata/"}
        opened.context.set_offline(False)
        opened.reload()
        assert_gone(opened, leaving.url)


@pytest.mark.parametrize("walk", FEW)
def test_exit_to_an_address_leaves_as_many_entries(
    new_context: NewContext, site: Running, leaving: Running, walk: Callable[[Page], None]
) -> None:
    """It tells that address nothing, and Back leads to the calendar and to what was there before."""
    away = "https://weather.example/today"
    changed = leaving.survey.document | {"name": f"away-{walk.__name__}", "quick_exit": away}
    told, lengths = [], []

    def shine(route: Route) -> None:
        told.append(route.request.headers.get("referer"))
        route.fulfill(body="Sun")

    for asked, shown in ((leaving, NOTHING), (publish(site, parse_survey(changed)), "Sun")):
        page = Visit(new_context(), asked).context.new_page()
        page.route(away, shine)
        walk(arrive(page, asked))
        press_button(page)
        expect(page.locator("body")).to_contain_text(shown)
        lengths.append(page.evaluate("history.length"))
    assert (told, lengths[0]) == ([None], lengths[1])
    page.go_back()
    expect(page.locator("h1")).to_have_text(NOTHING)
    page.go_back()
    page.wait_for_url(asked.url + BEFORE)


def test_page_promises_no_empty_page_where_exit_leads_elsewhere(
    new_context: NewContext, site: Running, leaving: Running
) -> None:
    """Another server sees the visit then."""
    changed = leaving.survey.document | {"name": "away-seen", "quick_exit": "https://weather.example/today"}
    asked = publish(site, parse_survey(changed))
    page = Visit(new_context(locale="en"), asked).arrive(asked.link)
    page.click("#explanation summary:has-text('cannot hide')")
    expect(page.locator("#explanation")).to_contain_text("another page, whose server")
    expect(page.locator("#explanation")).not_to_contain_text("empty page of this server")


HELD = """async () => {
    const done = (request) => new Promise((go) => (request.onsuccess = () => go(request.result)));
    const told = [];
    for (const { name } of await indexedDB.databases()) {
        const database = await done(indexedDB.open(name));
        const store = database.transaction("reports").objectStore("reports");
        told.push(await done(store.getAllKeys()), await done(store.getAll()));
        database.close();
    }
    const registered = await navigator.serviceWorker.getRegistrations();
    const kept = [{ ...sessionStorage }, { ...localStorage }];
    return [JSON.stringify([told, kept]), await caches.keys(), registered.length];
}"""
"""What the browser holds: in databases and stores, as text; names of caches; and how many service workers."""


def assert_forgotten(page: Page, leaving: Running) -> str:
    """No word of the survey is left in the browser, nor opens the link offline; returns what is left in its stores."""
    expect(page.locator("h1")).to_have_text(NOTHING)
    held, caches, workers = page.evaluate(HELD)
    assert (caches, workers) == ([], 0)
    for word in (SECRET, "Violence", "questions"):
        assert word not in held
    page.context.set_offline(True)
    with pytest.raises(Error, match="net::ERR"):
        page.goto(leaving.link)
    page.context.set_offline(False)
    return str(held)


def test_exit_forgets_the_survey_in_the_browser_which_draws_nothing_again(opened: Page, leaving: Running) -> None:
    """What stays of a report is that there was one, and what it cost: who comes back to the link sees no receipt."""
    before = set(stored(leaving))
    for walk in FEW:
        arrive(opened, leaving)
        opened.evaluate(KEPT)
        walk(opened)
        press_button(opened)

        held = assert_forgotten(opened, leaving)
        assert ("forgotten" in held, '"body":null' in held) == (walk is finish, walk is finish)
        assert "values" not in held
    opened.goto(leaving.link)
    opened.wait_for_selector("#ended")
    assert opened.locator("#receipt_bytes").count() == 0
    assert len(set(stored(leaving)) - before) == 1


def test_report_that_waits_outlives_exit_without_words(opened: Page, leaving: Running) -> None:
    """It is sent at the next visit, the same bytes, and then as forgotten as any."""
    bodies: list[str] = []
    opened.context.on("request", lambda sent: sent.method == "POST" and bodies.append(sent.post_data or ""))
    opened.context.route("**/reports", lambda route: route.abort())
    opened.clock.install()
    answer(opened)
    opened.click("form button[type=submit]")
    give_up(opened)
    press_button(opened)
    assert "values" in assert_forgotten(opened, leaving)
    opened.context.unroute("**/reports")
    opened.goto(leaving.link)
    receipt(opened)
    opened.reload()
    opened.wait_for_selector("#ended")

    assert len(set(bodies)) == 1


def test_page_in_a_file_forgets_too_and_says_that_the_file_stays(
    new_context: NewContext, leaving: Running, tmp_path: Path
) -> None:
    """It leads to no page of a server, so it names none."""
    file = tmp_path / "form.html"
    file.write_bytes(saved_page(leaving.url, leaving.survey))
    page = Visit(new_context(locale="en"), leaving).arrive(file.as_uri())
    page.click("#explanation summary:has-text('cannot hide')")
    expect(page.locator("#explanation")).to_contain_text("This file stays")
    expect(page.locator("#explanation")).not_to_contain_text("another page, whose server")
    answer(page)
    page.click("form button[type=submit]")
    receipt(page)
    press_button(page)
    page.wait_for_url("about:blank")
    page.goto(file.as_uri())
    page.wait_for_selector("#ended")
    assert (
        SECRET
        not in page.evaluate(
            HELD.replace("await navigator.serviceWorker.getRegistrations()", "[]").replace("await caches.keys()", "[]")
        )[0]
    )


def test_escape_three_times_leaves_and_the_link_begins_anew(opened: Page, leaving: Running) -> None:
    """Another key between begins to count anew; the link opened once more begins with nothing chosen."""
    answer(opened)
    for key in ("Escape", "Escape", "Tab", "Escape", "Escape"):
        opened.keyboard.press(key)
    assert opened.locator("#questions").count() == 1
    opened.keyboard.press("Escape")

    assert_gone(opened, leaving.url)
    opened.goto(leaving.link)
    opened.wait_for_selector(READY)
    agree(opened)
    opened.click("#check button:not(.primary)")
    opened.wait_for_selector("#questions")
    assert opened.locator("input:checked").count() == 0


def blurs(page: Page, selector: str) -> list[str]:
    found = []
    for is_hidden in ("true", "false"):
        page.evaluate(f"""() => {{
            Object.defineProperty(document, "hidden", {{ value: {is_hidden}, configurable: true }});
            document.dispatchEvent(new Event("visibilitychange"));
        }}""")
        found.append(page.locator(selector).evaluate("(node) => getComputedStyle(node).filter"))
    return found


def test_exit_is_reached_first_and_every_step_is_blurred_and_hidden_at_once(opened: Page) -> None:
    """Hidden before anything is asked of the network or of the history; in the list of open pages it is blurred."""
    opened.keyboard.press("Tab")
    assert opened.evaluate("document.activeElement.innerText") == "Exit this page"
    assert "visited pages" not in opened.inner_text("#explanation")
    opened.click("#explanation summary:has-text('cannot hide')")
    expect(opened.locator("#explanation")).to_contain_text("list of visited pages: delete it there")
    answer(opened)
    assert blurs(opened, "body") == ["blur(16px)", "none"]
    left = opened.evaluate(f"""() => {{
        document.querySelector("{EXIT}").click();
        return [document.title, document.body.innerText];
    }}""")
    assert left == ["", ""]


def test_other_surveys_blur_their_questions_and_have_no_exit(new_context: NewContext, site: Running) -> None:
    """Where nobody may have to leave at once; nor does Esc leave them."""
    visit = Visit(new_context(), site)
    page = visit.open()
    choose(page, 1)
    assert blurs(page, "#questions form") == ["blur(16px)", "none"]
    press_escape(page)
    assert page.locator(EXIT).count() == 0
    assert page.locator("#questions").count() == 1
    assert visit.complaints == []
    send(page, 1, 0, 2, 3, 1)


def test_exit_leaves_room_for_begin(new_context: NewContext, site: Running) -> None:
    """On a phone both are in the window, in every language; the button shares its row with the choice of a language."""
    languages = ["en", "ar", "de", "es", "fr", "hi", "pt", "zh-Hans"]
    asked = survey(name="exit-everywhere", quick_exit=True, check=False, title=dict.fromkeys(languages, "T"))
    page = Visit(new_context(viewport={"width": 390, "height": 844}), publish(site, asked)).arrive()
    names = (EXIT, "select", "#explanation > .actions .primary")
    offenders = []
    for language in languages:
        page.select_option("select", language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        exit_box, choice, begin_box = [page.locator(name).bounding_box() or {} for name in names]
        if not (
            begin_box["y"] + begin_box["height"] <= 844
            and choice["y"] < exit_box["y"] + exit_box["height"]
            and page.evaluate("document.documentElement.scrollWidth") == 390
        ):
            offenders.append((language, exit_box, choice, begin_box))

    assert offenders == []


@pytest.mark.parametrize("path", ["calendar", "nowhere", ""])
def test_pages_without_a_survey_fit_a_small_phone(new_context: NewContext, site: Running, path: str) -> None:
    """Where Exit leads, where a link is wrong, and the front page, in every language."""
    page = new_context(viewport={"width": 320, "height": 568}).new_page()
    for language in LANGUAGES:
        page.set_extra_http_headers({"Accept-Language": language})
        page.goto(f"{site.url}/{path}")
        assert page.get_attribute("html", "lang") == language
        assert page.evaluate("document.documentElement.scrollWidth") == 320
