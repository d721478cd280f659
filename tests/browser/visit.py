"""What a visitor does and what can be seen of it."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, Locator, Page, Request
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.storage.pack_values import unpack
from sottovoce.shared.spec import Survey

from tests.browser.hosts import AXE
from tests.conftest import Running

READY = "#invitation, #kiosk, #explanation, #main .problem h1, #receipt, #refused, #ended, #same-person"
"""The explanation, a refusal, a receipt or what is left of one: the page has made up its mind."""

FOLDER = re.compile("^/assets/[0-9a-f]{16}/")
"""Where the parts of the page are."""

KEPT = """async () => {
    const never = new Promise((_, fail) => setTimeout(() => fail(new Error("nothing is kept for later")), 60_000));
    const kept = async () => (await caches.open("sottovoce-kept")).keys();
    const all = async () => {
        await navigator.serviceWorker.ready;
        while ((await kept()).length < 2) await new Promise((go) => setTimeout(go, 20));
    };
    await Promise.race([all(), never]);
}"""
"""Waits until page, survey and sentences are kept for visits without a connection; a minute, and no longer."""


class Visit:
    """One person's browser; ``complaints`` are what the console said and which errors nobody caught."""

    def __init__(self, context: BrowserContext, site: Running) -> None:
        self.context = context
        self.site = site
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        context.on("request", lambda request: self.requests.append(request))  # noqa: PLW0108 - it marks what it calls
        context.on("console", lambda message: message.text == BLOCKED or self.complaints.append(message.text))
        context.on("weberror", lambda error: self.complaints.append(str(error.error)))

    def arrive(self, link: str = "") -> Page:
        """A new tab on the respondents' link, once the page has made up its mind."""
        page = self.context.new_page()
        page.goto(link or self.site.link)
        page.wait_for_selector(READY)
        return page

    def open(self, link: str = "") -> Page:
        """A new tab on the questions, unless the page has refused or already answered."""
        page = self.arrive(link)
        if page.locator("#invitation").count():
            page.click("#invitation .primary")
            page.wait_for_selector("#explanation")
        if page.locator("#explanation").count():
            begin(page)
        return page

    @property
    def paths(self) -> list[str]:
        """Method and path, without the digest, of every request but the icon's, in the page, and the checker's."""
        told = [(request.method, urlsplit(request.url)) for request in self.requests]
        return [
            f"{method} {FOLDER.sub('/assets/', url.path)}"
            for method, url in told
            if url.scheme != "data" and url.path != f"/{AXE.name}"
        ]

    @property
    def bodies(self) -> list[str]:
        """The bodies of all that was posted, reports and withdrawals, but for questions about tokens."""
        posted = [request for request in self.requests if request.method == "POST"]
        return [request.post_data or "" for request in posted if not request.url.endswith("/token")]


def begin(page: Page) -> None:
    """From the explanation to the questions; the check is skipped."""
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#check, #questions")
    if page.locator("#check").count():
        page.click("#check button:not(.primary)")
    page.wait_for_selector("#questions")


PRESSED = """(names) => {
    const found = names.map((name) => document.getElementById(name));
    const next = found.findIndex((field) => {
        if (!field?.checkVisibility()) return true;
        field.scrollIntoView({ block: "center" });
        const { x, y, width, height } = field.getBoundingClientRect();
        if (document.elementFromPoint(x + width / 2, y + height / 2) !== field) return true;
        field.click();
        return false;
    });
    return next < 0 ? names.length : next;
}"""
"""Clicks fields, in one request to the browser, as far as they can be seen and nothing lies over them."""


def choose(page: Page, *options: int) -> None:
    """Choose these options, each part's last by mouse alone: such a press is a fortieth of a whole visit's work."""
    names = [f"q{question}-{option}" for question, option in enumerate(options)]
    while names:
        pressed = page.evaluate(PRESSED, names[:-1]) if names[:-1] else 0
        field = page.locator(f"#{names[pressed]}")
        if field.locator("xpath=ancestor::form/div[@hidden]").count() and field.is_hidden():
            page.click("form button[type=submit]")
        field.check()
        names = names[pressed + 1 :]


def press_send(page: Page, *options: int) -> None:
    choose(page, *options)
    page.click("form button[type=submit]")


def send(page: Page, *options: int) -> dict[str, str]:
    press_send(page, *options)
    return receipt(page)


def give_up(page: Page) -> None:
    """Move the page's clock, which is installed, until it has sent in vain as often as it does."""
    given_up = page.locator("#main .problem h1")
    while not given_up.count():
        page.clock.run_for(2_000)


def unfold(field: Locator) -> Locator:
    """Open the folded parts that a field is in, the outermost first, as a person does; returns the field."""
    folded = field.locator("xpath=ancestor::details[not(@open)]")
    while folded.count():
        folded.first.locator("> summary").click()
    return field


def receipt(page: Page) -> dict[str, str]:
    page.wait_for_selector("#receipt_sha256", state="attached")
    names = ("bytes", "sha256", "digest", "id")
    texts = "(names) => names.map((name) => document.getElementById(`receipt_${name}`).textContent)"
    return dict(zip(names, page.evaluate(texts, names), strict=True))


BLOCKED = "Service Worker registration blocked by Playwright"
"""What the driver says, where a test asked for it; no word of the page."""

EVERY_REPORT = 'SELECT report_id, "values" FROM reports'


def stored(site: Running, *, alone: bool = False) -> dict[str, list[Any]]:
    """Values by report id, read as an operator would; ``alone``: of this survey, as another may grow meanwhile."""
    own = 'SELECT report_id, "values" FROM reports WHERE survey IN (SELECT key FROM surveys WHERE name = ?)'
    with closing(sqlite3.connect(site.data / "sottovoce.sqlite")) as database:
        rows = database.execute(own if alone else EVERY_REPORT, [site.survey.name] if alone else []).fetchall()
    return {bytes(report_id).hex(): list(unpack(values)) for report_id, values in rows}


def publish(site: Running, asked: Survey) -> Running:
    storage = site.storage()
    storage.publish(asked)
    storage.close()
    return replace(site, survey=asked)


def add_draft(site: Running, document: dict[str, Any]) -> None:
    with closing(site.storage()) as storage:
        storage.drafts.add(document["name"], draft_of(document).dumped)


def sign_in(context: BrowserContext, site: Running) -> Page:
    """A researcher's empty tab, signed in by the form's request alone: three pages less for each test."""
    form = {"token": site.token}
    reply = context.request.post(
        f"{site.url}/dashboard/login", form=form, headers={"Sec-Fetch-Site": "same-origin"}, max_redirects=0
    )
    assert reply.status == 302
    return context.new_page()


def log_in(context: BrowserContext, site: Running) -> Page:
    page = sign_in(context, site)
    page.goto(f"{site.url}/dashboard/surveys/{site.survey.name}/results")
    page.wait_for_selector("section")
    return page
