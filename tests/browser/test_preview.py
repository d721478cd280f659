"""The preview of the form: a whole visit that leaves nothing behind, and the try-out's button."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, FrameLocator, Page
from sottovoce.aggregator.authoring.to_survey import draft_of

from tests.browser.conftest import NewContext
from tests.browser.test_access import violations
from tests.browser.visit import Visit, log_in, sign_in, stored
from tests.conftest import Running
from tests.surveys import document, every_type

ANSWERS = (1, 0, 2, 3, 1)
LEFT = """async () => JSON.stringify([
    await indexedDB.databases(), await caches.keys(), { ...localStorage }, { ...sessionStorage }, document.cookie,
    (await navigator.serviceWorker.getRegistrations()).length, (await navigator.storage.estimate()).usage,
])"""
"""All that pages of the origin have left in the browser."""


@pytest.fixture
def context(new_context: NewContext) -> BrowserContext:
    return new_context(reduced_motion="reduce")


def answer(frame: FrameLocator) -> None:
    """From the first step to the receipt."""
    frame.locator("#explanation > .actions .primary").click()
    frame.locator("#check button:not(.primary)").click()
    for question, option in enumerate(ANSWERS):
        frame.locator(f"#q{question}-{option}").check()
    frame.locator("#questions [type=submit]").click()
    frame.locator("#receipt_sha256").wait_for(state="attached")


def state(context: BrowserContext, page: Page) -> list[Any]:
    """What is kept for the origin, and its cookies."""
    return [page.evaluate(LEFT), sorted(json.dumps(cookie, sort_keys=True) for cookie in context.cookies())]


def test_whole_preview_leaves_nothing_and_reaches_nobody(context: BrowserContext, site: Running) -> None:
    visit = Visit(context, site)
    page = log_in(context, site)
    before, reports, asked = state(context, page), stored(site), len(visit.paths)
    page.goto(f"{site.url}/dashboard/surveys/{site.survey.name}/preview")
    frame = page.frame_locator("iframe.previewed")
    assert "Preview: nothing is sent" in (frame.locator("aside.preview").text_content() or "")
    answer(frame)
    frame.locator("#receipt button", has_text="Withdraw").first.click()
    frame.locator("#confirm .primary").click()
    frame.locator("#ended").wait_for()

    # What is kept for visits without a connection comes a second after the form.
    page.wait_for_timeout(1500)
    assert state(context, page) == before
    assert stored(site) == reports
    assert {path.split()[1].split("/")[1] for path in visit.paths[asked:]} == {"dashboard"}
    assert [text for text in visit.complaints if "404" not in text] == []
    assert visit.arrive().locator("#explanation").count() == 1


def test_frame_has_an_origin_of_its_own_wherever_it_is_opened(context: BrowserContext, site: Running) -> None:
    """Its policy holds without the studio's frame too."""
    page = sign_in(context, site)
    name = site.survey.name
    page.goto(f"{site.url}/dashboard/surveys/{name}/preview/s/{name}?in=ar")
    page.wait_for_selector("#explanation")
    assert page.evaluate("self.origin") == "null"
    assert page.evaluate("document.documentElement.dir") == "rtl"


@pytest.fixture
def draft(site: Running) -> Iterator[str]:
    """The name of a draft with every type, for as long as a test takes."""
    storage = site.storage()
    storage.drafts.add("all", draft_of(document(questions=every_type())).dumped)
    yield "all"
    storage.drafts.delete("all")
    storage.close()


def test_draft_is_previewed_and_tried_out(context: BrowserContext, site: Running, draft: str, axe: str) -> None:
    """All parts of the form are in the frame; one button, and the try-out's own link asks; one more, and it is gone."""
    visit = Visit(context, site)
    page = sign_in(context, site)
    page.goto(f"{site.url}/dashboard/surveys/{draft}/preview?size=desktop")
    page.frame_locator("iframe.previewed").locator("#explanation").wait_for()
    page.click("#trials button")
    page.wait_for_selector(".invited .qr")
    link = page.get_attribute(".invited a[dir=ltr]", "href") or ""
    assert urlsplit(link).path == "/s/all-trial-1"
    assert "not the real survey" in visit.arrive(link).inner_text("main")
    assert violations(page, axe) == []

    for language, scheme, width in (("en", "light", 1100), ("ar", "dark", 320)):
        page.goto(f"{site.url}/dashboard/language?language={language}&page=/dashboard/surveys/{draft}/preview")
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_viewport_size({"width": width, "height": 740})
        page.frame_locator("iframe.previewed").locator("#explanation").wait_for()
        assert violations(page, axe) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.click("#trials .danger")
    page.wait_for_url("**/preview#trials")
    assert page.locator("#trials .qr").count() == 0
