"""The codebook in a real browser: everybody can read it, at every width and in either scheme."""

from pathlib import Path

from playwright.sync_api import Browser
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.export.channels import channels_of
from sottovoce.aggregator.export.codebook import codebook_page
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.browser.test_access import barriers
from tests.surveys import every_type, survey
from tests.vectors.arms import two_arms

EVERY = survey(questions=every_type(), trial=True)


def _write_codebook(folder: Path, asked: Survey) -> None:
    counts = RevisionCounts.closed_with(asked, 0, [])
    channels = channels_of([counts], [question.name for question in asked.questions])
    page = codebook_page(channels, About.of(asked), analyse([counts]))
    (folder / "codebook.html").write_text(page, encoding="utf-8")


def test_codebook_has_no_barrier(browser: Browser, axe: str, tmp_path: Path) -> None:
    _write_codebook(tmp_path, EVERY)
    page = browser.new_page()
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url))
    page.goto((tmp_path / "codebook.html").as_uri())

    assert len(fetched) == 1
    assert barriers(page, axe) == []
    page.close()


WHOLE = """cells => cells.flatMap((cell) => {
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const found = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const range = document.createRange();
        range.selectNodeContents(node);
        if (range.getClientRects().length > 1) found.push(node.data);
    }
    return found;
})"""
"""Parts of names that stand in two lines."""


def test_names_break_at_their_parts_on_a_phone(browser: Browser, tmp_path: Path) -> None:
    names = ("taken_over_passage", "handed_paper_another", "copied_neighbour")
    asked = survey(questions=[{**each, "name": name} for each, name in zip(every_type(), names, strict=False)])
    _write_codebook(tmp_path, asked)
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto((tmp_path / "codebook.html").as_uri())

    assert page.locator("header td:first-child").all_inner_texts() == [*names]
    assert page.eval_on_selector_all("header td:first-child", WHOLE) == []
    page.close()


def test_both_arms_are_in_sight_on_a_phone_and_at_a_desk(browser: Browser, tmp_path: Path) -> None:
    asked = parse_survey(two_arms())
    _write_codebook(tmp_path, asked)
    for width, shown in ((360, "flow narrow"), (1280, "flow")):
        page = browser.new_page(viewport={"width": width, "height": 740})
        page.goto((tmp_path / "codebook.html").as_uri())
        assert page.locator("svg:visible").get_attribute("class") == shown
        assert page.locator(".scroll").evaluate("node => node.scrollWidth <= node.clientWidth")
        page.close()
