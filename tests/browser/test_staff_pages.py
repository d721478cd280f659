"""The pages about staff in a real browser: everybody can use them, in every scheme and direction."""

import json

import pytest

from tests.browser.conftest import NewContext
from tests.browser.states import OPEN_ALL
from tests.browser.test_access import barriers
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


@pytest.mark.parametrize("language", ["en", "ar"])
def test_pages_about_staff_have_no_barrier(new_context: NewContext, site: Running, axe: str, language: str) -> None:
    """With all forms open; so for an ethics board too."""
    context = new_context(bypass_csp=True, reduced_motion="reduce", locale=language)
    found = {}
    staffed = publish(site, survey(name=f"staffed-{language}"))
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
    for address in (*(site.url + path.format(name=staffed.survey.name) for path in (*PAGES, account)), shown):
        page.goto(address)
        page.evaluate(OPEN_ALL)
        found[address] = barriers(page, axe)

    assert {address: rules for address, rules in found.items() if rules} == {}
