"""Signing in by an institution, in a real browser, at a real OpenID Connect provider."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest
import requests
from playwright.sync_api import Browser, BrowserContext, Page
from sottovoce.aggregator.accounts import oidc, oidc_http
from sottovoce.aggregator.accounts.authentication import link_hash
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.storage.accounts.models import Account, AccountInvitation
from sottovoce.aggregator.studio.account import oidc_pages
from sottovoce.cli.process import free_port

from tests.browser.conftest import NewContext
from tests.browser.test_access import violations
from tests.conftest import Running, start
from tests.institution import CLIENT, SECRET, Institution, institution, sign_in_there
from tests.surveys import survey

ATTEMPT = "sottovoce-oidc"
TODAY = int(time.time()) // DAY


@pytest.fixture(scope="module")
def port() -> int:
    """Known before the aggregator starts: its address is registered at the institution."""
    return free_port()


@pytest.fixture(scope="module")
def university(port: int) -> Iterator[Institution]:
    with institution(f"http://localhost:{port}/dashboard/oidc/callback") as provider:
        yield provider


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory, university: Institution, port: int) -> Iterator[Running]:
    """An aggregator that lets in by the institution; Ada is known to it by her subject."""
    data = tmp_path_factory.mktemp("institution") / "data"
    known = {"oidc_issuer": university.issuer, "oidc_client": CLIENT, "oidc_secret": SECRET}
    address = f"http://localhost:{port}"
    with start(data, survey(), port=port, public_url=address, sign_in_methods="key oidc", **known) as process:
        storage = process.storage()
        storage.access.add_account(Account(b"account of Ada..", "Ada", subject=f"{university.issuer} ada"))
        storage.access.grant(b"account of Ada..", "*", "viewer")
        storage.close()
        yield process


@pytest.fixture
def visitor(new_context: NewContext) -> BrowserContext:
    return new_context(java_script_enabled=False)


def sign_in(context: BrowserContext, here: Running, name: str = "ada") -> Page:
    """All the way from the page for signing in, without scripts."""
    page = context.new_page()
    page.goto(f"{here.url}/dashboard/")
    page.click("text=Sign in at your institution")
    sign_in_there(page, name)
    return page


def address_of_return(context: BrowserContext, here: Running) -> tuple[str, dict[str, Any]]:
    """Where the institution sends Ada's browser back to, with a code that is not spent; and her attempt's cookie."""
    page = context.new_page()
    page.goto(f"{here.url}/dashboard/oidc/start")
    attempt = next(cookie for cookie in context.cookies(here.url) if cookie["name"] == ATTEMPT)
    assert (attempt["sameSite"], attempt["httpOnly"]) == ("Lax", True)
    context.clear_cookies(name=ATTEMPT)
    sign_in_there(page, "ada")
    assert told(page) == oidc.START_AGAIN
    return page.url, {"name": ATTEMPT, "value": attempt["value"], "url": here.url}


def told(page: Page) -> str:
    """The sentence for who is not let in."""
    return page.locator("[role=alert]").inner_text()


def test_sign_in_out_and_in_again(visitor: BrowserContext, here: Running) -> None:
    """By links alone; the session's cookie is Strict, and worth nothing to a thief after the log-out."""
    page = sign_in(visitor, here)
    page.wait_for_selector("text=Sign out")
    assert page.locator(".who").inner_text() == "Ada"
    cookies = {cookie["name"]: cookie for cookie in visitor.cookies(here.url)}
    assert cookies["sottovoce"]["sameSite"] == "Strict"
    assert cookies["sottovoce"]["httpOnly"]
    assert ATTEMPT not in cookies

    stolen = {"sottovoce": cookies["sottovoce"]["value"]}
    page.click("text=Sign out")
    page.wait_for_selector("text=Sign in at your institution")
    answer = requests.get(f"{here.url}/dashboard/", cookies=stolen, timeout=5, allow_redirects=False)
    assert answer.status_code == 302

    page.click("text=Sign in at your institution")
    page.wait_for_selector("text=Sign out")


def test_answer_is_good_for_the_browser_that_asked_and_once(
    browser: Browser, visitor: BrowserContext, here: Running, university: Institution
) -> None:
    """Another browser's state, another issuer's answer and a spent code let nobody in, each with its sentence."""
    address, attempt = address_of_return(visitor, here)

    thief = browser.new_context()
    page = thief.new_page()
    page.goto(f"{here.url}/dashboard/login")
    page.click("text=Sign in at your institution")
    page.goto(address)
    assert told(page) == oidc.START_AGAIN
    thief.close()

    visitor.add_cookies([attempt])
    page = visitor.new_page()
    page.goto(address.replace(quote(university.issuer, safe=""), quote("https://other.example", safe="")))
    assert told(page) == oidc.NOT_TRUE
    page.goto(address)
    page.wait_for_selector("text=Sign out")
    visitor.add_cookies([attempt])
    page.goto(address)
    assert told(page) == oidc.SPENT


def test_somebody_new_is_let_in_by_an_invitation_only(
    browser: Browser, visitor: BrowserContext, here: Running, axe: str
) -> None:
    """Which is good once; from then on the institution is enough, and nobody is known by an address."""
    page = sign_in(visitor, here, "ada@example.org")
    assert told(page) == oidc_pages.NOT_INVITED

    storage = here.storage()
    storage.access.add_invitation(AccountInvitation(link_hash("secret"), "exam", "analyst", None, TODAY + 7))
    storage.close()
    found: list[str] = []
    checked = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = checked.new_page()
    page.goto(f"{here.url}/dashboard/login")
    found += violations(page, axe)
    page.goto(f"{here.url}/dashboard/oidc/callback")
    found += violations(page, axe)
    page.goto(f"{here.url}/dashboard/oidc/invitation?link=secret")
    found += violations(page, axe)
    page.fill("#name", "Bob <b>")
    page.click("text=Continue")
    found += violations(page, axe)
    page.click("text=To your institution's sign-in")
    sign_in_there(page, "bob")
    page.wait_for_selector("text=Sign out")
    assert page.locator(".who").inner_text() == "Bob <b>"
    assert found == []

    page.goto(f"{here.url}/dashboard/oidc/invitation?link=secret")
    page.fill("#name", "Eve")
    page.click("text=Continue")
    assert told(page) == oidc_pages.INVITATION_SPENT
    checked.close()
    storage = here.storage()
    bob = next(account for account in storage.access.accounts() if account.subject and account.subject.endswith(" bob"))
    assert storage.access.grants(bob.id) == {"exam": "analyst"}
    storage.access.disable(bob.id, TODAY)
    storage.close()


def test_disabled_account_is_told_so(visitor: BrowserContext, here: Running, university: Institution) -> None:
    """Its institution lets the person in; this aggregator does not."""
    storage = here.storage()
    storage.access.add_account(Account(b"account of Cy...", "Cy", subject=f"{university.issuer} cy", disabled_on=TODAY))
    storage.close()

    assert told(sign_in(visitor, here, "cy")) == oidc_pages.DISABLED


def test_rotated_keys_are_found_and_a_wrong_clock_is_named(
    visitor: BrowserContext, here: Running, university: Institution
) -> None:
    """Other keys need nobody's help; an hour between the clocks lets nobody in, and says why."""
    university.rotate_keys()
    sign_in(visitor, here).wait_for_selector("text=Sign out")

    university.set_clock(3600)
    try:
        page = visitor.new_page()
        page.goto(f"{here.url}/dashboard/oidc/start")
        assert told(page) == oidc.WRONG_CLOCK
    finally:
        university.set_clock(0)


def test_provider_that_hangs_keeps_nobody_else_waiting(
    visitor: BrowserContext, here: Running, university: Institution
) -> None:
    """Whoever signs in is told so after five seconds; meanwhile surveys are served, and others sign in by keys."""
    address, attempt = address_of_return(visitor, here)
    university.set_hanging(60)

    def come_back(tab: int) -> str:
        cookies = {ATTEMPT: attempt["value"]}
        return requests.get(f"{address}&tab={tab}", cookies=cookies, timeout=20).text

    try:
        with ThreadPoolExecutor(3) as tabs:
            pages = [tabs.submit(come_back, tab) for tab in range(3)]
            # The third one is told at once to come again: the threads that are left are for everybody else.
            first = next(as_completed(pages)).result()
            assert oidc_http.BUSY in unescape(first)
            assert requests.get(here.api, timeout=3).ok
            page = visitor.new_page()
            page.goto(f"{here.url}/dashboard/login")
            page.fill("#token", here.token)
            page.click("main button")
            page.wait_for_selector("text=Sign out")
            assert sum(page.done() for page in pages) == 1
            assert sum(oidc_http.NO_ANSWER in unescape(page.result()) for page in pages) == 2
    finally:
        university.set_hanging(0)
