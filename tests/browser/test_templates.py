"""Each template is a survey that the form asks, in each of its languages."""

from pathlib import Path

import pytest
from sottovoce.aggregator.authoring.templates import Template, all_templates
from sottovoce.client.page import saved_page
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.visit import READY, begin


@pytest.mark.parametrize("template", all_templates(), ids=lambda template: template.name)
def test_form_asks_what_the_template_has(new_context: NewContext, tmp_path: Path, template: Template) -> None:
    """The second language's title first, then as many questions as each person gets; nobody answers at the address."""
    asked = parse_survey(template.document)
    language = next(tag for tag in template.title if tag != "en")
    file = tmp_path / "saved.html"
    file.write_bytes(saved_page("https://aggregator.example", asked))
    context = new_context(viewport=VIEWPORT, locale=language, offline=True, reduced_motion="reduce")
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector(READY)

    assert template.title[language] in page.inner_text("body")
    begin(page)
    public = len(asked.questions) - len(asked.private)
    # The arm itself is no question, and each arm of a template has as many.
    shown = len(asked.places_by_arm[0]) - 1 if asked.arms else public + (asked.ask or len(asked.private))
    assert page.locator("form fieldset").count() == shown
