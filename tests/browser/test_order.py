"""Random order on the page: drawn once, the same after a reload, and what is sent is the survey's."""

import pytest
from playwright.sync_api import Page
from sottovoce.shared.parse_survey import parse_survey

from tests.absences import COIN, asks
from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.test_access import violations
from tests.browser.visit import Visit, begin, publish, receipt, stored
from tests.conftest import Running
from tests.documents import names, survey

VISITS = 3
"""Two orders of options and rows are alike once in 2,880 times: three visits with one order are nobody's chance."""


@pytest.fixture(scope="session")
def shuffled(site: Running) -> Running:
    """Items, options and rows in random order; the first option is public, so that what is sent is known."""
    asked = survey(
        asks("note", "intro"),
        asks("select_one", "reason", choices=names(6), public=True, order="random", keep_last=["c0"]),
        asks("boolean", "more", public=True, when_absent="no", visible_if={"reason": "c1"}),
        asks("matrix", "habits", rows=names(4, "r"), of={"type": "boolean", "mechanism": COIN}, order="random"),
        order="random",
    )
    return publish(site, parse_survey({**asked, "name": "shuffled"}))


def shown(page: Page) -> tuple[list[str], list[str]]:
    """Texts of all legends, without numbers, and labels of the options of Reason."""
    legends = [each.splitlines()[-1] for each in page.locator("form legend").all_inner_texts()]
    return legends, page.locator("form label", has_text="C").all_inner_texts()


def test_order_is_drawn_once_and_results_are_the_survey_s(new_context: NewContext, shuffled: Running, axe: str) -> None:
    seen = set()
    for _ in range(VISITS):
        context = new_context(viewport=VIEWPORT, bypass_csp=True, reduced_motion="reduce")
        page = Visit(context, shuffled).open()
        legends, options = found = shown(page)
        # The order alone differs from visit to visit.
        faults = [] if seen else violations(page, axe)
        page.reload()
        begin(page)
        again = shown(page)
        page.get_by_label("C1", exact=True).check()
        for field in page.locator("form fieldset:visible").all():
            if not field.locator("fieldset").count() and not field.locator("input:checked").count():
                field.locator("input").first.check()
        page.click("#questions [type=submit]")
        sent = receipt(page)
        values = stored(shuffled)[sent["id"]]

        assert faults == []
        assert again == found
        assert options[-1] == "C0"
        assert values[0] == 1
        places = [next(at for at, text in enumerate(legends) if text.endswith(name)) for name in ("Reason", "More")]
        assert places == sorted(places)
        seen.add((tuple(legends), tuple(options)))
    assert len(seen) > 1
