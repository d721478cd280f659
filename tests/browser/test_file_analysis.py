"""Page "Analyze a file" in a browser: without scripts from the upload to a model, and with the checker."""

from playwright.sync_api import Browser, Page

from tests.browser.test_access import barriers
from tests.browser.visit import sign_in
from tests.conftest import Running
from tests.unit.aggregator.studio.file_analysis.test_file_page import people, race, sample

HEADER = b"cheated,cheated_channel,year\n"
YES = b"yes,coin_flip,first\n" * 20 + b"yes,coin_flip,last\n" * 10
NO = b"no,coin_flip,first\n" * 30 + b"no,coin_flip,last\n" * 40
DATA = HEADER + YES + NO


def upload(page: Page, data: bytes) -> None:
    """Choose a file on the page for it, and wait for its shares."""
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "answers.csv", "mimeType": "text/csv", "buffer": data}
    )
    page.get_by_role("button", name="Upload").click()
    settled(page)


def settled(page: Page) -> None:
    """Look again until the result is there: a busy computer takes longer than a request waits."""
    page.wait_for_load_state()
    while page.locator("#calculation").count():
        page.wait_for_timeout(500)
        page.reload()


def test_file_is_analyzed_without_scripts(browser: Browser, studio: Running) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = sign_in(context, studio)
    page.goto(f"{studio.url}/dashboard/")
    page.get_by_role("link", name="Analyze a file").click()
    upload(page, DATA)
    assert page.get_by_role("heading", level=1).inner_text() == "answers.csv"
    page.get_by_label("Channel of cheated").fill("warner 0.75")
    page.get_by_role("button", name="Estimate").click()
    settled(page)
    assert "10.0" in page.locator("section", has=page.get_by_role("heading", name="answers.csv")).inner_text()
    page.get_by_role("link", name="Tables").click()
    settled(page)
    page.get_by_label("Rows").select_option("cheated")
    page.get_by_label("Columns", exact=True).select_option("year")
    page.get_by_role("button", name="Show").first.click()
    settled(page)
    assert page.locator("#answer table").count()
    page.get_by_role("link", name="Models").click()
    settled(page)
    page.get_by_label("Outcome").select_option("cheated")
    page.get_by_role("checkbox", name="year").check()
    page.get_by_role("button", name="Show").first.click()
    settled(page)
    assert page.locator("#answer table").count()
    page.get_by_role("link", name="Columns and shares").click()
    settled(page)
    page.get_by_role("button", name="Delete the file from the server").click()
    page.get_by_label("File", exact=True).wait_for()
    context.close()


def test_pages_of_a_file_pass_the_checker(browser: Browser, studio: Running, axe: str) -> None:
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    page = sign_in(context, studio)
    found = {}
    page.goto(f"{studio.url}/dashboard/analyze")
    found["upload"] = barriers(page, axe)
    upload(page, DATA)
    found["shares"] = barriers(page, axe)
    address = page.url
    page.get_by_label("Channel of cheated").fill("coin")
    page.get_by_role("button", name="Estimate").click()
    settled(page)
    found["mistake"] = barriers(page, axe)
    page.get_by_label("Channel of cheated").fill("")
    page.get_by_role("button", name="Estimate").click()
    settled(page)
    page.goto(f"{address}/tables?kind=crosstab&rows=cheated&columns=year")
    settled(page)
    found["tables"] = barriers(page, axe)
    page.goto(f"{address}/models?kind=regression&outcome=cheated&on=year")
    settled(page)
    found["models"] = barriers(page, axe)
    context.close()

    assert {place: faults for place, faults in found.items() if faults} == {}


def test_forms_of_designs_work_without_scripts_and_pass_the_checker(
    browser: Browser, studio: Running, axe: str
) -> None:
    without = browser.new_context(java_script_enabled=False, viewport={"width": 320, "height": 640})
    checked = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    for data, way in ((race(), "Tables"), (people(), "Models"), (sample(), "Tables")):
        page = sign_in(without, studio)
        page.goto(f"{studio.url}/dashboard/analyze")
        upload(page, data)
        # Without a scroll within the page, on which nobody counts for a field.
        fields = [field.bounding_box() for field in page.locator("input[name^=channel]").all()]
        assert fields
        assert all(box and box["x"] >= 0 and box["x"] + box["width"] < 310 for box in fields)
        page.get_by_role("link", name=way).click()
        if data == sample():
            page.locator("summary", has_text="Shares with weights, strata").click()
            for label, column in (("Column of weights", "w"), ("Column of strata", "stratum")):
                page.locator("details[open]").get_by_label(label).select_option(column)
        elif way == "Tables":
            page.locator("summary", has_text="List experiment").click()
            page.get_by_label("Number of items that apply").select_option("y")
            page.get_by_label("Random groups").select_option("treat")
        else:
            page.locator("summary", has_text="Several yes/no questions together").click()
            for box in page.locator('input[name="questions"]').all():
                box.check()
        page.locator("details[open] > form button", has_text="Show").click()
        settled(page)
        assert page.locator("#answer table").count()
        address = page.url
        page.close()
        page = sign_in(checked, studio)
        page.goto(address)
        settled(page)
        assert barriers(page, axe) == []
        page.close()
    without.close()
    checked.close()
