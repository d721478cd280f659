"""The institution on the respondents' form: shown where there is one; without one nothing more is loaded."""

import json
from base64 import b64encode
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewContext
from tests.browser.test_access import violations
from tests.browser.visit import READY, Visit, add_draft, publish, sign_in
from tests.conftest import Running
from tests.surveys import survey

LOGO = b'<svg xmlns="http://www.w3.org/2000/svg" width="28" height="28"><circle r="9" cx="14" cy="14"/></svg>'
DETAILS = {
    "name": "University of Example",
    "imprint": "https://a.example/imprint",
    "accent": "#7a1fa2",
    "logo": f"data:image/svg+xml;base64,{b64encode(LOGO).decode()}",
}


def opened(page: Page, running: Running) -> tuple[Page, list[str]]:
    """The first step, and the files that were asked for."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.rpartition("/")[2]))
    page.goto(running.link)
    page.wait_for_selector(READY)
    page.wait_for_selector("#header select")
    return page, asked


def add_details(site: Running, name: str) -> None:
    with closing(site.storage()) as storage:
        storage.institutions.save(name, json.dumps(DETAILS).encode())


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_form_shows_the_institution(new_context: NewContext, site: Running, axe: str, theme: str) -> None:
    running = publish(site, survey(name=f"exam-{theme}"))
    add_details(running, f"exam-{theme}")
    context = Visit(new_context(color_scheme=theme, locale="de-DE", service_workers="block"), running).context
    page, asked = opened(context.new_page(), running)

    shown = page.locator("#institution")
    expect(shown).to_contain_text("University of Example")
    expect(shown.get_by_role("link", name="Impressum")).to_have_attribute("href", DETAILS["imprint"])
    assert shown.locator("img").evaluate("image => image.complete && image.naturalWidth > 0")
    accent = page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--accent')")
    assert (accent == DETAILS["accent"]) == (theme == "light")
    assert violations(page, axe) == []
    assert "institution.js" in asked


def test_preview_of_a_draft_shows_the_institution(new_context: NewContext, site: Running) -> None:
    """As the form will, in the dark on a plate of its own, since most logos are made for white paper."""
    add_draft(site, survey(name="shown").document)
    add_details(site, "shown")
    page = sign_in(new_context(color_scheme="dark"), site)
    page.goto(f"{site.url}/dashboard/surveys/shown/preview")
    shown = page.frame_locator("iframe.previewed").locator("#institution")
    expect(shown).to_contain_text("University of Example")
    expect(shown.locator("img")).to_have_css("background-color", "rgb(255, 255, 255)")
    assert shown.locator("img").evaluate("image => image.complete && image.naturalWidth > 0")


def test_form_without_an_institution_loads_nothing_more(new_context: NewContext, running: Running) -> None:
    page, asked = opened(Visit(new_context(), running).context.new_page(), running)
    assert "institution.js" not in asked
    assert page.locator("#institution").count() == 0
