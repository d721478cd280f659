"""A rehearsal in a real browser: by everybody, on a phone, from right to left, and without a script."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from sottovoce.aggregator.authoring.from_survey import draft_of

from tests.browser.test_access import violations
from tests.browser.visit import log_in
from tests.conftest import Running, start
from tests.surveys import document, survey

PAGES = (
    "rehearse",
    "rehearse/tables?n=200&kind=crosstab&rows=year&columns=reason",
    "rehearse/files?n=200",
)


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator with the draft "life"; what the process serves besides is another survey."""
    with start(tmp_path_factory.mktemp("rehearse") / "data", survey()) as process:
        storage = process.storage()
        storage.drafts.add("life", draft_of(document()).dumped)
        storage.close()
        yield process


@pytest.mark.parametrize(
    ("locale", "width", "more"),
    [
        ("en", 1100, {"color_scheme": "dark"}),
        ("ar", 320, {"color_scheme": "light"}),
    ],
    ids=["dark-desk", "arabic-phone"],
)
def test_pages_pass_the_checker_and_reflow(
    browser: Browser, drafted: Running, axe: str, locale: str, width: int, more: dict[str, str]
) -> None:
    """With every fold open; nothing scrolls sideways but what says that it does."""
    size = {"width": width, "height": 900}
    context = browser.new_context(locale=locale, viewport=size, bypass_csp=True, reduced_motion="reduce", **more)
    page = log_in(context, drafted)
    for path in PAGES:
        page.goto(f"{drafted.url}/dashboard/surveys/life/{path}")
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        assert violations(page, axe) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()


def test_whole_way_goes_without_a_script(browser: Browser, drafted: Running) -> None:
    """From the draft to a share that was set, a table of the same people, and a file of theirs."""
    context = browser.new_context(java_script_enabled=False, locale="en")
    page = log_in(context, drafted)
    page.goto(f"{drafted.url}/dashboard/surveys/life/design")
    page.click("nav.bar >> text=Simulate")
    page.fill("#n", "500")
    page.fill("[id='set.cheated.yes']", "40")
    page.click("#set button")
    assert page.locator("#rehearsal").inner_text().startswith("REHEARSAL · Simulation with 500 invented respondents")
    assert "Yes\t40.0%" in page.locator("table").first.inner_text()
    page.click("nav.under >> text=Tables")
    page.select_option("#rows", "cheated")
    page.select_option("#columns", "year")
    page.click("section form button")
    assert "[REHEARSAL]" in page.locator("#sentence").inner_text()
    assert "set.cheated.yes=40" in page.url
    page.click("nav.under >> text=Files")
    with page.expect_download() as download:
        page.click("text=estimates.csv")
    assert download.value.suggested_filename == "REHEARSAL-life-estimates.csv"
    context.close()
