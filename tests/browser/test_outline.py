"""The outline of Design orders questions: by dragging, and by Alt with an arrow key."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.studio_site import begun_draft
from tests.browser.visit import sign_in
from tests.conftest import Running


def order(page: Page) -> list[str]:
    return page.locator(".outline li bdi").all_inner_texts()


def test_questions_are_dragged_and_moved_by_keys(new_context: NewContext, site: Running) -> None:
    """Both end where the buttons of the cards would have led."""
    page = sign_in(new_context(viewport={"width": 1280, "height": 800}), site)
    page.goto(f"{site.url}{begun_draft(page, site)}/design")
    first, second, third, *rest = order(page)

    lines = page.locator(".outline li")
    lines.nth(0).drag_to(lines.nth(2))
    expect(lines.nth(2)).to_contain_text(first)
    assert order(page) == [second, third, first, *rest]
    lines.nth(2).locator("a").focus()
    page.keyboard.press("Alt+ArrowUp")
    expect(lines.nth(1)).to_contain_text(first)
    assert order(page) == [second, first, third, *rest]
