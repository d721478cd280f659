"""Tables, models and files in a real browser: by everybody, in every light, on a phone, from right to left."""

from typing import Literal

import pytest

from tests.browser.conftest import NewContext
from tests.browser.states import OPEN_ALL
from tests.browser.test_access import barriers
from tests.browser.visit import log_in, sign_in
from tests.conftest import Running

PAGES = (
    "tables?kind=crosstab&rows=year&columns=reason",
    "models?kind=regression&outcome=cheated&on=year&model=linear&at.year=first",
    "files?sums=1",
)


@pytest.mark.parametrize(("language", "forced"), [("en", "none"), ("ar", "none"), ("de", "active")])
def test_pages_have_no_barrier(
    new_context: NewContext, answered: Running, axe: str, language: str, forced: Literal["none", "active"]
) -> None:
    """With every fold open; nothing scrolls sideways but what says that it does; also in a reader's own colours."""
    context = new_context(locale=language, bypass_csp=True, reduced_motion="reduce", forced_colors=forced)
    page = sign_in(context, answered)
    for path in PAGES:
        page.goto(f"{answered.url}/dashboard/surveys/answered/{path}")
        page.evaluate(OPEN_ALL)
        assert barriers(page, axe) == [], path


def test_whole_way_goes_without_a_script(new_context: NewContext, answered: Running) -> None:
    """Choose, show, keep: by plain forms and links."""
    context = new_context(java_script_enabled=False, accept_downloads=True)
    page = log_in(context, answered)
    page.click("nav >> text=Tables")
    page.select_option("#rows", "year")
    page.select_option("#columns", "cheated")
    page.click("text=Show >> nth=0")
    assert page.locator("#sentence").count() == 1
    with page.expect_download() as kept:
        page.click("text=CSV")
    assert kept.value.suggested_filename == "answered-1-crosstab.csv"

    page.click("nav >> text=Models")
    page.select_option("#outcome", "cheated")
    page.check("input[name=on][value=year]")
    page.select_option("#model", "linear")
    page.click("form button >> text=Show")
    assert page.locator("th[scope=row] >> text=Year? = Second").count() == 1

    page.click("nav >> text=Files")
    with page.expect_download() as everything:
        page.click("text=everything.zip >> nth=0")
    assert everything.value.suggested_filename == "answered-everything.zip"
