"""The pages about staff in a real browser: everybody can use them, in every scheme and direction."""

import json

import pytest

from tests.browser.conftest import NewContext
from tests.browser.test_access import kept_out
from tests.browser.visit import publish, sign_in
from tests.conftest import Running
from tests.surveys import survey
from tests.unit.shared.by_link.test_link_question import LINK

PAGES = (
    "/dashboard/accounts",
    "/dashboard/institution",
    "/dashboard/questions",
    "/dashboard/analyze",
    "/dashboard/surveys/{name}/team",
    "/dashboard/surveys/{name}/board",
    "/dashboard/surveys/{name}/history",
    "/dashboard/journal",
    "/dashboard/me",
)


def test_pages_about_staff_have_no_barrier(new_context: NewContext, site: Running, axe: str) -> None:
    context = new_context(bypass_csp=True, reduced_motion="reduce")
    staffed = publish(site, survey(name="staffed"))
    page = sign_in(context, staffed)
    page.goto(f"{site.url}/dashboard/surveys/{staffed.survey.name}/board")
    page.select_option("select[name=results]", "yes")
    page.click("button[value=make]")
    shown = page.inner_text("section code")
    page.goto(f"{site.url}/dashboard/questions")
    page.set_input_files("#file", {"name": "q.json", "mimeType": "text/plain", "buffer": json.dumps(LINK).encode()})
    page.click("main form button")
    page.wait_for_selector("dl.facts")
    page.goto(f"{site.url}/dashboard/accounts")
    account = page.get_attribute(".list a", "href") or ""
    addresses = (*(site.url + path.format(name=staffed.survey.name) for path in (*PAGES, account)), shown)

    assert kept_out(page, axe, addresses, "ar") == {}


def test_key_is_unbroken_and_an_address_has_no_empty_parts(new_context: NewContext, site: Running) -> None:
    """A key in one line can be copied by eye; what a form was not asked for is not in the address of its page."""
    page = sign_in(new_context(viewport={"width": 390, "height": 844}), site)
    page.goto(f"{site.url}/dashboard/me")
    page.locator("details:has([name=label]) > summary").click()
    page.locator("[name=label]").fill("laptop")
    page.locator("[name=scope]").first.check()
    with page.expect_navigation():
        page.locator("details:has([name=label]) form button:not([type=button])").last.click()
    key = page.locator("#once")
    assert key.evaluate("node => node.getClientRects().length === 1 && node.offsetHeight < 40")
    assert page.locator("[data-copy=once]").is_visible()

    page.goto(f"{site.url}/dashboard/")
    page.locator("#q").fill("exam")
    with page.expect_navigation():
        page.locator("form[role=search] button").click()
    assert page.url.partition("?")[2] == "q=exam&sort=title"


@pytest.mark.parametrize("language", ["en", "de", "ar"])
def test_no_button_of_a_list_is_cut_off_on_a_phone(new_context: NewContext, site: Running, language: str) -> None:
    """Each row folds under its name; what stands in a column of its own at a desk is read with its heading."""
    page = sign_in(new_context(viewport={"width": 360, "height": 740}, locale=language), site)
    name = publish(site, survey(name=f"listed-{language}")).survey.name
    page.goto(f"{site.url}/dashboard/surveys/{name}/board")
    page.click("button[value=make]")
    found = {}
    for path in ("/dashboard/", "/dashboard/surveys/{name}/board", *PAGES):
        page.goto(site.url + path.format(name=name))
        wide = "lists => lists.map((list) => list.scrollWidth - list.clientWidth).filter((cut) => cut > 1)"
        found[path] = page.eval_on_selector_all(".scroll:has(.list)", wide)

    assert {path: cut for path, cut in found.items() if cut} == {}
