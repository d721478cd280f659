"""Questions that a fact of the person's own hides: both statements are shown, and what is chosen is sent."""

from pathlib import Path

import pytest
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.test_access import violations
from tests.browser.visit import Visit, publish, receipt, stored
from tests.conftest import Running
from tests.documents import survey
from tests.unit.shared.test_parse_item import by_fact

EXAMPLES = Path(__file__).parents[2] / "shared" / "sottovoce" / "examples" / "mechanisms"


@pytest.fixture(scope="session")
def hidden(site: Running) -> Running:
    """A rare and a frequent fact, and a die."""
    die = by_fact("drugs", "unrelated_question", truth="2/3")
    asked = survey(by_fact("rare"), by_fact("often", share="4/5"), die, report_labels="neutral")
    return publish(site, parse_survey({**asked, "name": "hidden"}))


def test_own_fact_hides_the_answer(new_context: NewContext, hidden: Running, axe: str) -> None:
    """Both or neither is first whatever its value; the pages say that the device draws nothing."""
    for values in ([0, 1, 1], [1, 0, 0]):
        context = new_context(viewport=VIEWPORT, bypass_csp=True, reduced_motion="reduce")
        visitor = Visit(context, hidden)
        start = visitor.arrive()
        start.wait_for_selector("text=nothing is drawn by this device")
        assert "dice" not in start.locator("main").inner_text()
        found = violations(start, axe)
        page = visitor.open()
        options = page.locator("#q0-0 + *, #q0-1 + *").all_inner_texts()
        first, second, die = page.locator(".by-hand").all_inner_texts()
        for question, value in enumerate(values):
            page.check(f"#q{question}-{value}")
        found += violations(page, axe)
        labels = [page.locator(f"label:has(#q{index}-{value})").inner_text() for index, value in enumerate(values)]
        page.click("#questions [type=submit]")
        shown = receipt(page)

        assert found == []
        assert stored(hidden)[shown["id"]] == values
        assert [each.strip() for each in page.locator("tbody td").all_text_contents()] == labels
        assert options == ["Both or neither are true", "Exactly one is true"]
        assert "nothing was drawn by this device" in page.locator("#receipt").inner_text()
    assert "Second of rare" in first
    assert "Second of often" in second
    assert "On 1 to 4: answer the question above" in die


@pytest.mark.parametrize("name", ["cheater_detection", "unrelated_unknown"])
def test_start_says_of_arms_by_facts_what_is_true(new_context: NewContext, site: Running, name: str) -> None:
    """The picture is of one of two odds, which differ in epsilon or in their numbers alone; no device randomizes."""
    example = parse_survey(parse_yaml((EXAMPLES / f"{name}.yaml").read_bytes()))
    start = Visit(new_context(viewport=VIEWPORT), publish(site, example)).arrive()
    start.locator("summary", has_text="How it works").click()
    start.wait_for_selector("text=chance evens out")
    told = start.locator("main").inner_text()

    assert "Least protected question:" in told
    assert "randomized" not in told
    assert "you have not lied" not in told
