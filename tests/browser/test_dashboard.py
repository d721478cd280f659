"""The researchers' pages in a real browser: what they show, and that everybody can use them."""

import pytest
from playwright.sync_api import Locator, Page
from sottovoce.aggregator.studio.results.svg_chart import has_png

from tests.browser.conftest import NewContext
from tests.browser.test_access import barriers
from tests.browser.visit import log_in, unfold
from tests.conftest import Running


@pytest.fixture
def dashboard(new_context: NewContext, answered: Running) -> Page:
    return log_in(new_context(), answered)


def test_each_chart_has_its_table_with_the_same_numbers(dashboard: Page) -> None:
    sections = dashboard.locator("section").all()
    assert len(sections) == 3
    for section in sections:
        section.locator("summary").click()
        assert section.get_by_role("link").count() == 2 + has_png("en")
        drawn = section.locator(".row small").all_text_contents()
        read = [row.locator("td").nth(3).text_content() for row in section.locator("tbody tr").all()]
        assert drawn == read
        assert section.locator("svg .interval").count() == len(read)


def test_cohort_filter_shows_that_cohort_alone(dashboard: Page) -> None:
    dashboard.click("#choices > summary")
    dashboard.select_option("#cohort", "second")
    with dashboard.expect_navigation():
        dashboard.click(".filter button")
    dashboard.wait_for_selector("section")

    assert "Reports on this question: 20." in (dashboard.locator("section .hint").first.text_content() or "")
    assert dashboard.locator("dd").nth(1).text_content() == "20"


def test_pages_have_no_barrier(new_context: NewContext, answered: Running, axe: str) -> None:
    context = new_context(bypass_csp=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{answered.url}/dashboard/login")
    found = barriers(page, axe)
    page.close()
    page = log_in(context, answered)
    for summary in page.locator("summary").all():
        unfold(summary)
    found += barriers(page, axe)
    page.goto(f"{answered.url}/dashboard/")
    found += barriers(page, axe)
    page.click(".who")
    page.click("main summary")
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


def test_estimate_is_a_dot_at_its_figure_within_its_interval(dashboard: Page) -> None:
    rows = dashboard.locator("section").nth(1).locator(".row:not(.axis)")
    figures = [float(text.split("%")[0]) for text in rows.locator(".value").all_text_contents()]

    assert figures == sorted(figures, reverse=True)
    for row, figure in zip(rows.all(), figures, strict=True):
        dot, low, width = _drawn(row)
        assert abs(dot - figure) < 0.1
        assert low <= dot <= low + width
    dashboard.goto(f"{dashboard.url}?axis=zoom")
    zoomed = [_drawn(row) for row in rows.all()]
    assert max(low + width for _, low, width in zoomed) > 90


def _drawn(row: Locator) -> tuple[float, float, float]:
    """Place of a row's dot, low end of its band, and the band's width, on an axis from 0 to 100."""
    band = row.locator(".interval")
    dot = (row.locator(".dot").get_attribute("d") or "M").split()[0]
    return float(dot[1:]), float(band.get_attribute("x") or ""), float(band.get_attribute("width") or "")


def test_file_of_everything_is_saved_and_a_bar_is_shown_meanwhile(dashboard: Page, answered: Running) -> None:
    dashboard.goto(f"{answered.url}/dashboard/surveys/answered/files")
    dashboard.route("**/everything.zip*", lambda route: (dashboard.wait_for_selector("#busy"), route.continue_()))
    with dashboard.expect_download() as saved:
        dashboard.click("a[data-busy]")
    assert saved.value.suggested_filename == "answered-everything.zip"
    assert saved.value.path().read_bytes().startswith(b"PK")
    dashboard.wait_for_selector("#busy", state="hidden")
