"""What people see where there is no survey: pages that everybody can use, without script and without complaint."""

from playwright.sync_api import Browser

from tests.browser.test_access import barriers, kept_out
from tests.conftest import Running

ADDRESSES = ("/", "/nothing/here", "/api/v1/surveys/nobody", "/api/v1/surveys/marriage/export")


def test_page_of_the_server_has_no_barrier(browser: Browser, site: Running, axe: str) -> None:
    with browser.new_context(bypass_csp=True) as context:
        addresses = [f"{site.url}{address}" for address in ADDRESSES]
        assert kept_out(context.new_page(), axe, addresses, "ar", "de", "zh-Hans") == {}


def test_page_of_a_problem_has_no_barrier(browser: Browser, site: Running, axe: str) -> None:
    with browser.new_context(locale="ar", bypass_csp=True) as context:
        page = context.new_page()
        page.goto(f"{site.url}/problems/out_of_range")
        assert barriers(page, axe) == []
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.lang") == "en"


def test_page_of_the_server_needs_nothing_else(browser: Browser, site: Running) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page, requests, complaints = context.new_page(), [], []
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: complaints.append(message.text))
        page.goto(f"{site.url}/nothing")

        assert requests == [f"{site.url}/nothing"]
        assert [text for text in complaints if "404" not in text] == []
        assert page.locator("main").bounding_box()["width"] <= 36 * 16  # type: ignore[index]
