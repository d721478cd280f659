"""The pages about staff in a real browser: everybody can use them, in every scheme and direction."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.test_access import violations
from tests.browser.visit import log_in
from tests.conftest import start
from tests.surveys import survey

PAGES = (
    "/dashboard/accounts",
    "/dashboard/surveys/exam/team",
    "/dashboard/surveys/exam/board",
    "/dashboard/surveys/exam/history",
    "/dashboard/journal",
    "/dashboard/me",
)


@pytest.mark.parametrize(("scheme", "width", "language"), [("light", 1100, "en"), ("dark", 320, "ar")])
def test_pages_about_staff_pass_the_checker(
    browser: Browser, tmp_path: Path, axe: str, scheme: str, width: int, language: str
) -> None:
    """No violation, and nothing that makes a page scroll sideways, with all forms open; so for an ethics board too."""
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True, locale=language
    )
    found = []
    with start(tmp_path / "data", survey()) as site:
        page = log_in(context, site)
        page.goto(f"{site.url}/dashboard/surveys/exam/board")
        page.check("input[name=results]")
        page.click("button[value=make]")
        shown = page.inner_text("section code")
        page.goto(f"{site.url}/dashboard/accounts")
        account = page.get_attribute(".list a", "href") or ""
        for address in (*(site.url + path for path in (*PAGES, account)), shown):
            page.goto(address)
            for summary in page.locator("summary").all():
                if not summary.evaluate("node => node.parentElement.open"):
                    summary.click()
            found += violations(page, axe)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, address
    context.close()

    assert found == []
