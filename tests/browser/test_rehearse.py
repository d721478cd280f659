"""A rehearsal in a real browser: by everybody, on a phone, from right to left, and without a script."""

import pytest

from tests.browser.conftest import NewContext
from tests.browser.test_access import kept_out
from tests.browser.visit import add_draft, sign_in
from tests.conftest import Running
from tests.surveys import document

PAGES = ("rehearse", "rehearse/tables?n=200&kind=crosstab&rows=year&columns=reason", "rehearse/files?n=200")


@pytest.fixture(scope="session")
def drafted(site: Running) -> Running:
    add_draft(site, {**document(), "name": "life"})
    return site


def test_pages_have_no_barrier(new_context: NewContext, drafted: Running, axe: str) -> None:
    page = sign_in(new_context(bypass_csp=True, reduced_motion="reduce"), drafted)
    assert kept_out(page, axe, [f"{drafted.url}/dashboard/surveys/life/{path}" for path in PAGES], "ar") == {}


def test_whole_way_goes_without_a_script(new_context: NewContext, drafted: Running) -> None:
    context = new_context(java_script_enabled=False, locale="en")
    page = sign_in(context, drafted)
    page.goto(f"{drafted.url}/dashboard/surveys/life/design")
    page.click("nav.bar >> text=Simulate")
    page.fill("#n", "500")
    page.fill("[id='set.cheated.yes']", "40")
    page.click("#set button")
    assert page.locator("#rehearsal").inner_text().startswith("SIMULATION · Simulation with 500 invented respondents")
    assert "Yes\t40.0%" in page.locator("table").first.inner_text()
    page.click("nav.under >> text=Tables")
    page.select_option("#rows", "cheated")
    page.select_option("#columns", "year")
    page.click("section form button")
    assert "[SIMULATION]" in page.locator("#sentence").inner_text()
    assert "set.cheated.yes=40" in page.url
    page.click("nav.under >> text=Files")
    with page.expect_download() as download:
        page.click("text=estimates.csv")
    assert download.value.suggested_filename == "SIMULATION-life-estimates.csv"


def test_address_has_no_share_that_was_left_as_it_is(new_context: NewContext, drafted: Running) -> None:
    """Only what was set, so that it can be sent to a colleague."""
    page = sign_in(new_context(locale="en"), drafted)
    page.goto(f"{drafted.url}/dashboard/surveys/life/rehearse?n=200")
    page.click("#set summary")
    page.fill("[id='set.cheated.yes']", "40")
    page.click("#set button")
    page.wait_for_url("**cheated**")
    assert page.url.partition("?")[2] == "n=200&set.cheated.yes=40"
