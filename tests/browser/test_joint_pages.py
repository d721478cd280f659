"""Tables, models and files in a real browser: by everybody, in every light, on a phone, from right to left."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewContext
from tests.browser.test_access import barriers, kept_out
from tests.browser.visit import log_in, sign_in
from tests.conftest import Running
from tests.unit.aggregator.analysis.jobs.long_model import publish_long

PAGES = (
    "tables?kind=crosstab&rows=year&columns=reason",
    "tables?kind=crosstab&rows=year&columns=cheated&within=reason",
    "models?kind=regression&outcome=cheated&on=year&model=linear&at.year=first",
    "files?sums=1",
)


LONG = "long/models?kind=regression&outcome=answer&on=a&on=b&on=c&on=d&on=e&on=f"


@pytest.fixture(scope="module")
def long(answered: Running) -> str:
    """The address of a model that takes long."""
    storage = answered.storage()
    publish_long(storage)
    storage.close()
    return f"{answered.url}/dashboard/surveys/{LONG}"


def test_long_model_is_waited_for_and_cancelled_without_a_barrier(
    new_context: NewContext, answered: Running, long: str, axe: str
) -> None:
    watching = [sign_in(new_context(locale=language, bypass_csp=True), answered) for language in ("en", "ar")]
    checkers = (axe, None)
    for page, checker in zip(watching, checkers, strict=True):
        page.goto(long)
        page.wait_for_selector("#calculation")
        assert barriers(page, checker) == []

    plain = sign_in(new_context(java_script_enabled=False), answered)
    plain.goto(long)
    plain.click("#calculation a")
    assert plain.locator("#calculation").count() == 1
    plain.click("#calculation button")
    assert plain.locator("#refused button[name=again]").count() == 1

    for page, checker in zip(watching, checkers, strict=True):
        page.wait_for_selector("#refused")
        assert barriers(page, checker) == []
    watching[0].click("#refused button[name=again]")
    watching[0].wait_for_selector("#calculation")
    watching[0].click("#calculation button")
    watching[0].wait_for_selector("#refused")


def test_pages_have_no_barrier(new_context: NewContext, answered: Running, axe: str) -> None:
    """Nothing scrolls sideways but what says that it does."""
    page = sign_in(new_context(bypass_csp=True, reduced_motion="reduce"), answered)
    addresses = [f"{answered.url}/dashboard/surveys/answered/{path}" for path in PAGES]
    assert kept_out(page, axe, addresses, "ar", "de") == {}


def look_until_calculated(page: Page) -> None:
    """Look again for as long as this machine is too busy to have the result at once."""
    while page.wait_for_selector("#calculation, #keep").get_attribute("id") == "calculation":
        page.click("#calculation a")


def test_whole_way_goes_without_a_script(new_context: NewContext, answered: Running) -> None:
    context = new_context(java_script_enabled=False, accept_downloads=True)
    page = log_in(context, answered)
    page.click("nav >> text=Tables")
    page.select_option("#rows", "year")
    page.select_option("#columns", "cheated")
    page.click("text=Show >> nth=0")
    look_until_calculated(page)
    assert page.locator("th[scope=row] >> text=Second").count() >= 1
    with page.expect_download() as kept:
        page.click("text=CSV")
    assert kept.value.suggested_filename == "answered-1-crosstab.csv"

    page.click("nav >> text=Models")
    page.select_option("#outcome", "cheated")
    page.check("input[name=on][value=year]")
    page.select_option("#model", "linear")
    page.click("form button >> text=Show")
    look_until_calculated(page)
    # Among the coefficients, and among the smallest effects.
    assert page.locator("th[scope=row] >> text=Year? = Second").count() == 2

    page.click("nav >> text=Files")
    with page.expect_download() as everything:
        page.click("text=everything.zip >> nth=0")
    assert everything.value.suggested_filename == "answered-everything.zip"
