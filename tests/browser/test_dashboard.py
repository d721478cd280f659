"""The researchers' pages in a real browser: what they show, and that everybody can use them."""

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewContext
from tests.browser.test_access import barriers
from tests.browser.visit import log_in
from tests.conftest import Running


@pytest.fixture
def dashboard(new_context: NewContext, answered: Running) -> Page:
    """A researcher's tab on the results."""
    return log_in(new_context(), answered)


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


def test_pages_have_no_barrier(new_context: NewContext, answered: Running, axe: str) -> None:
    """Neither on the login page, the list, the results, an invitation nor one's own page, before and after a key."""
    context = new_context(bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{answered.url}/dashboard/login")
    found = barriers(page, axe)
    page.close()
    page = log_in(context, answered)
    for summary in page.locator("summary").all():
        summary.click()
    found += barriers(page, axe)
    page.goto(f"{answered.url}/dashboard/")
    found += barriers(page, axe)
    page.click(".who")
    page.click("summary")
    found += barriers(page, axe)
    page.fill("#label", "R on my laptop")
    page.check("input[value='results:read']")
    page.click("form.own button")
    page.wait_for_selector("[role=status]")
    found += barriers(page, axe)
    page.goto(f"{answered.url}/dashboard/invitation?link=none")
    found += barriers(page, axe)

    assert found == []


def test_pages_need_no_script_and_nothing_from_elsewhere(new_context: NewContext, answered: Running) -> None:
    """With scripts off everything works; every request goes to the aggregator; the console stays silent."""
    context = new_context(java_script_enabled=False)
    asked: list[str] = []
    said: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    context.on("console", lambda message: said.append(message.text))
    page = context.new_page()
    page.goto(f"{answered.url}/dashboard/surveys/answered/results")
    page.fill("#token", answered.token)
    page.click("main button")
    page.wait_for_selector("section")
    page.click("text=Sign out")
    page.wait_for_selector("#token")

    assert said == []
    assert all(url.startswith((answered.url, "data:")) for url in asked)


def test_bars_of_one_question_sum_to_the_whole(dashboard: Page) -> None:
    """Where a respondent has one answer the bars are shares of 100; their numbers stay as estimated."""
    bars = dashboard.locator("section").nth(1).locator(".bar").all()
    widths = [float(bar.get_attribute("width") or "nan") for bar in bars]

    assert abs(sum(widths) - 100) < 0.01
