"""What people see where there is no survey: pages that everybody can use, without script and without complaint."""

import pytest
from playwright.sync_api import Browser

from tests.browser.test_access import violations
from tests.conftest import Running

ADDRESSES = ("/", "/nothing/here", "/api/v1/surveys/nobody", "/api/v1/surveys/marriage/export")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ar", "de", "zh-CN"])
def test_page_of_the_server_passes_the_checker(
    browser: Browser, site: Running, axe: str, language: str, scheme: str
) -> None:
    """In this language and scheme: no violation, a heading, and text that reads the right way."""
    with browser.new_context(locale=language, color_scheme=scheme, bypass_csp=True) as context:
        page = context.new_page()
        for address in ADDRESSES:
            page.goto(f"{site.url}{address}")
            assert violations(page, axe) == []
            assert page.locator("h1").count() == 1
            assert page.evaluate("document.documentElement.lang").startswith(language[:2])
            assert page.evaluate("getComputedStyle(document.body).direction") == ("rtl" if language == "ar" else "ltr")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_of_a_problem_passes_the_checker(browser: Browser, site: Running, axe: str, scheme: str) -> None:
    """In English, whatever the reader's language: no violation, and one heading."""
    with browser.new_context(locale="ar", color_scheme=scheme, bypass_csp=True) as context:
        page = context.new_page()
        page.goto(f"{site.url}/problems/out_of_range")
        assert violations(page, axe) == []
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.lang") == "en"


def test_page_of_the_server_needs_nothing_else(browser: Browser, site: Running) -> None:
    """One request, styled, with JavaScript switched off, and nothing that its own policy refuses."""
    with browser.new_context(java_script_enabled=False) as context:
        page, requests, complaints = context.new_page(), [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"{site.url}/nothing")

        assert requests == [f"{site.url}/nothing"]
        assert [text for text in complaints if "404" not in text] == []
        assert page.locator("main").bounding_box()["width"] <= 36 * 16  # type: ignore[index]
