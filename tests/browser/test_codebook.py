"""The codebook in a real browser: everybody can read it, at every width and in either scheme."""

from pathlib import Path

from playwright.sync_api import Browser
from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.export.channels import channels_of
from sottovoce.aggregator.export.codebook import write_codebook
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage import StoredSurvey

from tests.browser.test_access import barriers
from tests.surveys import every_type, survey

EVERY = survey(questions=every_type(), trial=True)


def test_codebook_has_no_barrier(browser: Browser, axe: str, tmp_path: Path) -> None:
    """At every width and in either scheme; and nothing is fetched beside the page itself."""
    stored = StoredSurvey(1, EVERY.name, 1, EVERY.digest, EVERY.canonical, True, 0)
    channels = channels_of([RevisionCounts(stored, EVERY, ())], [question.name for question in EVERY.questions])
    write_codebook(tmp_path / "codebook.html", channels, About.of(EVERY))
    page = browser.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto((tmp_path / "codebook.html").as_uri())

    assert len(fetched) == 1
    assert barriers(page, axe) == []
    page.close()
