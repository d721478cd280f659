"""The codebook in a real browser: everybody can read it, at every width and in either scheme."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.export.channels import channels_of
from sottovoce.aggregator.export.codebook import write_codebook
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage import StoredSurvey

from tests.browser.test_access import violations
from tests.surveys import every_type, survey

EVERY = survey(questions=every_type(), trial=True)


@pytest.mark.parametrize(("scheme", "width"), [("light", 320), ("dark", 1100)])
def test_codebook_passes_the_checker(browser: Browser, axe: str, tmp_path: Path, scheme: str, width: int) -> None:
    """No violation, nothing beyond the edge, and nothing fetched beside the page itself."""
    stored = StoredSurvey(1, EVERY.name, 1, EVERY.digest, EVERY.canonical, True, 0)
    channels = channels_of([RevisionCounts(stored, EVERY, ())], [question.name for question in EVERY.questions])
    write_codebook(tmp_path / "codebook.html", channels, About.of(EVERY))
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900})
    page = context.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto((tmp_path / "codebook.html").as_uri())
    beyond = page.evaluate("document.documentElement.scrollWidth")

    assert violations(page, axe) == []
    assert beyond <= width
    assert len(fetched) == 1
    context.close()
