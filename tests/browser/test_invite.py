"""Invite and Privacy in a real browser: everybody can use them, on any screen, with what a click brings."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from sottovoce.aggregator.i18n.languages import LANGUAGE_COOKIE

from tests.browser.test_access import violations
from tests.browser.visit import log_in
from tests.conftest import Running, start
from tests.surveys import document, survey

LONG = "Life on campus, " * 12
MOST_BYTES = 60 * 1024


@pytest.fixture(scope="module")
def inviting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator with a survey for everybody with long texts, and one for invited people."""
    title = {"en": LONG, "ar": "استبيان"}
    who = {"name": {"en": "Dr A. Example"}, "contact": "a@example.org"}
    open_to_all = survey(title=title, researcher=who, consent={"en": LONG * 5})
    with start(tmp_path_factory.mktemp("inviting") / "data", open_to_all) as process:
        storage = process.storage()
        storage.publish(survey(**{**document(), "name": "invited", "access": "token"}))
        storage.close()
        yield process


def addresses(site: Running) -> list[str]:
    """Both pages of both surveys."""
    surveys = f"{site.url}/dashboard/surveys"
    return [f"{surveys}/{name}/{page}" for name in ("exam", "invited") for page in ("invite", "privacy")]


def in_language(context: BrowserContext, site: Running, language: str) -> Page:
    """A researcher's tab that speaks this language."""
    page = log_in(context, site)
    where = {"domain": urlsplit(site.url).hostname, "path": "/dashboard"}
    context.add_cookies([{"name": LANGUAGE_COOKIE, "value": language, **where}])  # type: ignore[typeddict-item]
    return page


LOOKS = [
    ({"color_scheme": "light", "viewport": {"width": 320, "height": 700}}, "en"),
    ({"color_scheme": "dark", "viewport": {"width": 1100, "height": 900}}, "de"),
    ({"forced_colors": "active", "viewport": {"width": 360, "height": 700}}, "ar"),
]


@pytest.mark.parametrize(("look", "language"), LOOKS, ids=["phone", "dark", "from the right"])
def test_pages_pass_the_checker_and_fit(
    browser: Browser, inviting: Running, axe: str, look: dict[str, Any], language: str
) -> None:
    """No violation and nothing wider than the window, with everything unfolded."""
    context = browser.new_context(**look, bypass_csp=True, reduced_motion="reduce")
    page = in_language(context, inviting, language)
    found = {}
    for address in addresses(inviting):
        page.goto(address)
        for summary in page.locator("summary").all():
            summary.click()
        found[address] = violations(page, axe)
        if page.evaluate("document.documentElement.scrollWidth") > look["viewport"]["width"]:
            found[address].append("wider than the window")
    context.close()

    assert {address: rules for address, rules in found.items() if rules} == {}


def test_pages_are_small_and_ask_nobody_else(browser: Browser, inviting: Running) -> None:
    """At most 60 KiB with all that they load, packed or not, and from one place."""
    context = browser.new_context()
    log_in(context, inviting).close()
    for address in addresses(inviting):
        page, replies = context.new_page(), []
        page.on("response", lambda reply, replies=replies: replies.append(reply))
        page.goto(address, wait_until="networkidle")
        assert sum(len(reply.body()) for reply in replies) <= MOST_BYTES, address
        assert {urlsplit(reply.url).netloc for reply in replies} == {urlsplit(inviting.url).netloc}
        page.close()
    context.close()


def test_copy_button_copies_the_link(browser: Browser, inviting: Running) -> None:
    """And says so."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = log_in(context, inviting)
    page.goto(addresses(inviting)[0])
    page.click("button[data-copy=link]")
    page.wait_for_selector("button:has-text('Copied')")

    assert page.evaluate("navigator.clipboard.readText()") == inviting.link
    context.close()


def test_form_gives_cards_and_a_table_without_a_script(browser: Browser, inviting: Running) -> None:
    """Both buttons work with JavaScript off, and what is printed keeps to its own policy."""
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context, inviting)
    page.goto(addresses(inviting)[2])
    page.fill("#count", "9")
    with page.expect_download() as download:
        page.click("button[value=table]")
    links = download.value.path().read_text().count("/s/invited#d=")
    page.click("button[value=cards]")
    page.wait_for_selector(".sheet")

    assert (links, page.locator("article svg").count()) == (9, 9)
    assert page.locator(".sheet").first.evaluate("each => getComputedStyle(each).display") == "grid"
    context.close()
