"""Invite and Privacy in a real browser: everybody can use them, on any screen, with what a click brings."""

from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import NewContext
from tests.browser.test_access import kept_out
from tests.browser.visit import publish, sign_in
from tests.conftest import Running
from tests.surveys import survey

LONG = "Life on campus, " * 12
MOST_BYTES = 60 * 1024


@pytest.fixture(scope="session")
def inviting(site: Running) -> Running:
    """A survey for everybody with long texts; beside it is one for invited people."""
    title = {"en": LONG, "ar": "استبيان"}
    who = {"name": {"en": "Dr A. Example"}, "contact": "a@example.org"}
    publish(site, survey(name="invited", access="token"))
    return publish(site, survey(name="inviting", title=title, researcher=who, consent={"en": LONG * 5}))


def addresses(site: Running) -> list[str]:
    surveys = f"{site.url}/dashboard/surveys"
    return [f"{surveys}/{name}/{page}" for name in ("inviting", "invited") for page in ("invite", "privacy")]


def test_pages_have_no_barrier(new_context: NewContext, inviting: Running, axe: str) -> None:
    page = sign_in(new_context(bypass_csp=True, reduced_motion="reduce"), inviting)
    assert kept_out(page, axe, addresses(inviting), "de", "ar") == {}


def test_pages_are_small_and_ask_nobody_else(new_context: NewContext, inviting: Running) -> None:
    """At most 60 KiB with all that they load but the font, which is loaded once, packed or not, and from one place."""
    context = new_context()
    sign_in(context, inviting).close()
    for address in addresses(inviting):
        page, replies = context.new_page(), []
        page.on("response", lambda reply, replies=replies: replies.append(reply))
        page.goto(address, wait_until="networkidle")
        sizes = [len(reply.body()) for reply in replies if reply.request.resource_type != "font"]
        assert sum(sizes) <= MOST_BYTES, address
        assert {urlsplit(reply.url).netloc for reply in replies} == {urlsplit(inviting.url).netloc}
        page.close()


def test_copy_button_copies_the_link(new_context: NewContext, inviting: Running) -> None:
    context = new_context(permissions=["clipboard-read", "clipboard-write"])
    page = sign_in(context, inviting)
    page.goto(addresses(inviting)[0])
    page.click("button[data-copy=link]")
    page.wait_for_selector("button:has-text('Copied')")

    assert page.evaluate("navigator.clipboard.readText()") == inviting.link


def test_form_gives_cards_and_a_table_without_a_script(new_context: NewContext, inviting: Running) -> None:
    context = new_context(java_script_enabled=False)
    page = sign_in(context, inviting)
    page.goto(addresses(inviting)[2])
    page.fill("#count", "9")
    with page.expect_download() as download:
        page.click("button[value=table]")
    links = download.value.path().read_text().count("/s/invited#d=")
    page.click("button[value=cards]")
    page.wait_for_selector(".sheet")

    assert (links, page.locator("article svg").count()) == (9, 9)
    assert page.locator(".sheet").first.evaluate("each => getComputedStyle(each).display") == "grid"
