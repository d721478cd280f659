"""Questions protected together in Design: what is ticked is compared at once, and the pages of such a draft."""

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.blocks import block, in_block
from tests.browser.conftest import NewContext
from tests.browser.test_access import violations
from tests.browser.test_typing import opened
from tests.browser.visit import add_draft
from tests.conftest import Running
from tests.documents import survey

COIN = {"mechanism": {"name": "coin_flip"}}


@pytest.fixture
def context(new_context: NewContext) -> BrowserContext:
    return new_context(viewport={"width": 320, "height": 640}, bypass_csp=True)


def test_people_and_odds_follow_what_is_ticked(context: BrowserContext, site: Running) -> None:
    add_draft(site, survey(*(in_block(name, **COIN) for name in "abc"), name="tick"))
    page = opened(context, site, f"{site.url}/dashboard/surveys/tick/design?card=together")
    expect(page.locator("#selection")).to_be_empty()
    page.check("[name='together.0']")
    page.check("[name='together.2']")
    expect(page.locator("#selection")).to_contain_text("at most 9 to 1")
    page.click("button[value=together]")
    expect(page.locator("#blocks")).to_contain_text("Question 1, Question 2: For every share")
    page.click("#blocks button")
    expect(page.locator("#blocks button")).to_have_count(0)


def test_pages_of_a_draft_with_a_block_pass_the_checker(context: BrowserContext, site: Running, axe: str) -> None:
    add_draft(site, survey(block(in_block("a"), in_block("b", 3)), in_block("c", **COIN), name="joined"))
    for path in ("design?card=together", "publish", "preview", "privacy", "rehearse"):
        page = opened(context, site, f"{site.url}/dashboard/surveys/joined/{path}")
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        assert violations(page, axe) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, path
        page.close()
