"""Tables, models and files in a real browser: by everybody, in every light, on a phone, from right to left."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.transport import Transport

from tests.browser.test_access import violations
from tests.browser.visit import log_in
from tests.conftest import Running, start
from tests.surveys import survey

PAGES = (
    "tables?kind=crosstab&rows=year&columns=reason",
    "models?kind=regression&outcome=cheated&on=year&model=linear&at.year=first",
    "files?sums=1",
)


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator with sixty reports of a closed survey."""
    with start(tmp_path_factory.mktemp("joint") / "data", survey()) as process:
        transport = Transport(process.url)
        for number in range(60):
            answers = {"cheated": "no", "reason": "fun", "year": "second" if number < 20 else "first"}
            Respondent(process.survey, transport, MemoryLedger()).answer(answers)
        storage = process.storage()
        storage.close_survey("exam", 20_000)
        storage.close()
        yield process


@pytest.mark.parametrize(
    ("locale", "width", "more"),
    [
        ("en", 1100, {"color_scheme": "light"}),
        ("en", 320, {"color_scheme": "dark"}),
        ("ar", 320, {"color_scheme": "light"}),
        ("de", 320, {"forced_colors": "active"}),
    ],
    ids=["desk", "dark-phone", "arabic-phone", "forced-colours"],
)
def test_pages_pass_the_checker_and_reflow(
    browser: Browser, answered: Running, axe: str, locale: str, width: int, more: dict[str, str]
) -> None:
    """With every fold open; nothing scrolls sideways but what says that it does."""
    size = {"width": width, "height": 900}
    context = browser.new_context(locale=locale, viewport=size, bypass_csp=True, reduced_motion="reduce", **more)
    page = log_in(context, answered)
    for path in PAGES:
        page.goto(f"{answered.url}/dashboard/surveys/exam/{path}")
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        assert violations(page, axe) == [], path
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    context.close()


def test_whole_way_goes_without_a_script(browser: Browser, answered: Running) -> None:
    """Choose, show, keep: by plain forms and links."""
    context = browser.new_context(java_script_enabled=False, accept_downloads=True)
    page = log_in(context, answered)
    page.click("nav >> text=Tables")
    page.select_option("#rows", "year")
    page.select_option("#columns", "cheated")
    page.click("text=Show >> nth=0")
    assert page.locator("#sentence").count() == 1
    with page.expect_download() as kept:
        page.click("text=CSV")
    assert kept.value.suggested_filename == "exam-1-crosstab.csv"

    page.click("nav >> text=Models")
    page.select_option("#outcome", "cheated")
    page.check("input[name=on][value=year]")
    page.select_option("#model", "linear")
    page.click("form button >> text=Show")
    assert page.locator("th[scope=row] >> text=Year? = Second").count() == 1

    page.click("nav >> text=Files")
    with page.expect_download() as everything:
        page.click("text=everything.zip >> nth=0")
    assert everything.value.suggested_filename == "exam-everything.zip"
    context.close()
