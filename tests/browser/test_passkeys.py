"""Passkeys in a real browser, whose device is one of the browser's own."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, expect
from sottovoce.aggregator.accounts import passkeys
from sottovoce.aggregator.clock import DAY
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.cli.process import free_port

from tests.browser.conftest import NewContext
from tests.browser.test_access import violations
from tests.conftest import Running, start
from tests.surveys import survey

DEVICE = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator at an address with a name, as passkeys need one."""
    data, port = tmp_path_factory.mktemp("passkeys") / "data", free_port()
    with start(
        data, survey(), port=port, public_url=f"http://localhost:{port}", sign_in_methods="key passkey"
    ) as process:
        yield process


@pytest.fixture
def visitor(new_context: NewContext) -> BrowserContext:
    """A browser on a device that keeps passkeys."""
    return new_context(reduced_motion="reduce")


def device(page: Page) -> tuple[CDPSession, str]:
    """The tab's device: how it is spoken to, and its number."""
    spoken = page.context.new_cdp_session(page)
    spoken.send("WebAuthn.enable")
    return spoken, spoken.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})["authenticatorId"]


def log_in(page: Page, here: Running) -> None:
    page.goto(f"{here.url}/dashboard/login")
    page.fill("#token", here.token)
    page.click("main button")
    page.wait_for_selector("text=Sign out")


def add_passkey(page: Page, here: Running, label: str) -> None:
    page.goto(f"{here.url}/dashboard/passkeys")
    page.fill("#label", label)
    page.click("text=Add a passkey >> visible=true >> nth=-1")
    page.wait_for_selector(f"th:has-text('{label}')")


def sign_in(page: Page, here: Running) -> None:
    """From the page for signing in, as far as the browser sends an answer."""
    page.goto(f"{here.url}/dashboard/login")
    page.click("text=Sign in with a passkey")
    page.click("text=Use a passkey")


def test_passkey_is_added_signs_in_and_is_removed(visitor: BrowserContext, here: Running) -> None:
    """Under the content security policy; once it is removed it signs nobody in, and its session has ended."""
    said: list[str] = []
    visitor.on("console", lambda message: said.append(message.text))
    page = visitor.new_page()
    device(page)
    log_in(page, here)
    add_passkey(page, here, "my phone")
    page.click("text=Sign out")
    sign_in(page, here)
    page.wait_for_selector("text=Sign out")
    assert said == []

    page.goto(f"{here.url}/dashboard/passkeys")
    page.click("[aria-label='Remove my phone']")
    page.wait_for_selector("#token")
    sign_in(page, here)
    expect(page.locator("[role=alert]")).to_have_text(passkeys.UNKNOWN)


def test_answer_is_good_once_and_a_copied_passkey_not_at_all(visitor: BrowserContext, here: Running) -> None:
    """What was sent signs nobody in again; nor does a device that has counted less than was seen."""
    page = visitor.new_page()
    spoken, number = device(page)
    log_in(page, here)
    add_passkey(page, here, "my key")
    copied = spoken.send("WebAuthn.getCredentials", {"authenticatorId": number})["credentials"][0]
    page.click("text=Sign out")
    sent: list[Any] = []
    page.on("request", lambda request: sent.append(request.post_data) if request.method == "POST" else None)
    sign_in(page, here)
    page.wait_for_selector("text=Sign out")

    headers = {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}
    again = requests.post(f"{here.url}/dashboard/passkey", data=sent[-1], headers=headers, timeout=5)
    assert again.status_code == 401
    assert "Set-Cookie" not in again.headers

    page.click("text=Sign out")
    spoken.send("WebAuthn.clearCredentials", {"authenticatorId": number})
    spoken.send("WebAuthn.addCredential", {"authenticatorId": number, "credential": copied})
    sign_in(page, here)
    expect(page.locator("[role=alert]")).to_have_text(passkeys.NOT_TRUE)


def test_disabled_account_and_browser_without_passkey_are_told_so(visitor: BrowserContext, here: Running) -> None:
    """Each by a sentence; the first is told no more than a passkey that nobody knows."""
    page = visitor.new_page()
    device(page)
    sign_in(page, here)
    page.wait_for_selector("text=No passkey was used")

    log_in(page, here)
    add_passkey(page, here, "of one who leaves")
    page.click("text=Sign out")
    storage = here.storage()
    tester = storage.access.accounts()[0]
    storage.access.add_account(Account(b"another admin...", "another", admin=True))
    storage.access.disable(tester.id, int(time.time()) // DAY)
    sign_in(page, here)
    expect(page.locator("[role=alert]")).to_have_text(passkeys.UNKNOWN)
    storage.access.enable(tester.id)
    storage.close()


def test_pages_pass_the_checker_and_need_a_script_for_nothing_else(browser: Browser, here: Running, axe: str) -> None:
    checked = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = checked.new_page()
    device(page)
    page.goto(f"{here.url}/dashboard/passkey")
    found = violations(page, axe)
    log_in(page, here)
    add_passkey(page, here, "on my desk")
    found += violations(page, axe)
    checked.close()
    assert found == []

    bare = browser.new_context(java_script_enabled=False)
    page = bare.new_page()
    page.goto(f"{here.url}/dashboard/passkey")
    page.wait_for_selector("text=Passkeys need JavaScript")
    log_in(page, here)
    page.goto(f"{here.url}/dashboard/passkeys")
    page.click("[aria-label='Remove on my desk']")
    page.wait_for_selector("th:has-text('on my desk')", state="detached")
    bare.close()
