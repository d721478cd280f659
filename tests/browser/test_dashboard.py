"""The researchers' pages in a real browser: what they show, and that everybody can use them."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.transport import Transport

from tests.browser.test_access import violations
from tests.browser.visit import log_in
from tests.conftest import Running, start
from tests.surveys import survey


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator with sixty reports of a closed survey, three of them from a small cohort."""
    with start(tmp_path_factory.mktemp("answered") / "data", survey()) as process:
        transport = Transport(process.url)
        for number in range(60):
            answers = {"cheated": "no", "reason": "fun", "year": "second" if number < 20 else "first"}
            Respondent(process.survey, transport, MemoryLedger()).answer(answers)
        storage = process.storage()
        storage.close_survey("exam", 20_000)
        storage.close()
        yield process


@pytest.fixture
def dashboard(browser: Browser, answered: Running) -> Iterator[Page]:
    """A researcher's tab on the results."""
    context = browser.new_context()
    yield log_in(context, answered)
    context.close()


def test_each_chart_has_its_table_with_the_same_numbers(dashboard: Page) -> None:
    """What is drawn can be read: one section per question, one row per estimate, the interval in both."""
    sections = dashboard.locator("section").all()
    assert len(sections) == 3
    for section in sections:
        section.locator("summary").click()
        assert section.get_by_role("link").count() == 2
        drawn = section.locator(".row small").all_text_contents()
        read = [row.locator("td").nth(3).text_content() for row in section.locator("tbody tr").all()]
        assert drawn == read
        assert section.locator("svg .interval").count() == len(read)


def test_cohort_filter_shows_that_cohort_alone(dashboard: Page) -> None:
    """Choosing a group changes the counts to the group's."""
    dashboard.select_option("#cohort", "second")
    with dashboard.expect_navigation():
        dashboard.click(".filter button")
    dashboard.wait_for_selector("section")

    assert "Reports on this question: 20." in (dashboard.locator("section .hint").first.text_content() or "")
    assert dashboard.locator("dd").nth(1).text_content() == "20"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_pages_pass_the_checker(browser: Browser, answered: Running, axe: str, scheme: str, width: int) -> None:
    """No violation on the login page, the list and the results, on a phone and on a desk, in either scheme."""
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{answered.url}/dashboard/login")
    found = violations(page, axe)
    page.close()
    page = log_in(context, answered)
    for summary in page.locator("summary").all():
        summary.click()
    found += violations(page, axe)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{answered.url}/dashboard/")
    found += violations(page, axe)
    found += _own_page(page, axe)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto(f"{answered.url}/dashboard/invitation?link=none")
    found += violations(page, axe)
    context.close()

    assert found == []


def _own_page(page: Page, axe: str) -> list[str]:
    """One's own page, with its form open, and again with a key that was just made."""
    page.click(".who")
    page.click("summary")
    found = violations(page, axe)
    page.fill("#label", "R on my laptop")
    page.check("input[value='results:read']")
    page.click("form.own button")
    page.wait_for_selector("[role=status]")
    return found + violations(page, axe)


def test_pages_need_no_script_and_nothing_from_elsewhere(browser: Browser, answered: Running) -> None:
    """With scripts off everything works; every request goes to the aggregator; the console stays silent."""
    context = browser.new_context(java_script_enabled=False)
    asked: list[str] = []
    said: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("console", lambda message: said.append(message.text))
    page = log_in(context, answered)
    page.click("text=Sign out")
    page.wait_for_selector("#token")
    context.close()

    assert said == []
    assert all(url.startswith((answered.url, "data:")) for url in asked)


def test_bars_of_one_question_sum_to_the_whole(dashboard: Page) -> None:
    """Where a respondent has one answer the bars are shares of 100; their numbers stay as estimated."""
    bars = dashboard.locator("section").nth(1).locator(".bar").all()
    widths = [float(bar.get_attribute("width") or "nan") for bar in bars]

    assert abs(sum(widths) - 100) < 0.01
