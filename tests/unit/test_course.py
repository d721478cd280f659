"""The pages of the course run, and say and draw what they said and drew; the notebook holds all of them."""

from pathlib import Path

import pytest

from tests.course import CODE, COURSE, DRAWN_BY_CHANCE, NOTEBOOK, PAGES, notebook, run, with_outputs

FIGURES = {
    "01_one_coin": ["-> 40 reported", "0.00 to 0.30"],
    "02_two_thirds": ["0.6931, shown as 0.70"],
    "03_how_many": ["385", "1,537", "3,586"],
    "04_epsilon": ["25%", "90%"],
    "05_anonymous": ["k = 4", "AIDS"],
    "06_counting": ["12.206"],
    "08_vectors": ["(0, 1e-06)-private", "inf"],
    "09_adding_up": ["sum 40, advanced 14.72, optimal 10.92"],
}
"""Figures of the textbooks that a page prints."""


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_runs_and_prints_what_it_says(page: Path) -> None:
    """Its picture too, unless chance has drawn it."""
    text = page.read_text(encoding="utf-8")
    blocks, pictures = run(page)

    assert with_outputs(text, blocks) == text
    assert set(pictures) == {f"{page.stem}.svg"}
    assert f"]({page.stem}.svg)" in text
    if page.stem not in DRAWN_BY_CHANCE:
        assert pictures[f"{page.stem}.svg"] == (COURSE / f"{page.stem}.svg").read_bytes()
    printed = "".join(told for _, told in blocks)
    assert all(figure in printed for figure in FIGURES.get(page.stem, []))


def test_notebook_holds_all_pages() -> None:
    told = {page: CODE.findall(page.read_text(encoding="utf-8")) for page in PAGES}
    assert NOTEBOOK.read_text(encoding="utf-8") == notebook(told)


def test_pages_are_short_and_alike() -> None:
    """At most 600 words, one picture, what the textbook says imprecisely, and a number to change last."""
    assert len(PAGES) == 10
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert len(text.split()) <= 600, page.name
        assert text.count("![") == 1, page.name
        headings = [line for line in text.splitlines() if line.startswith("## ")]
        assert headings[-2:] == ["## Where the textbook is imprecise", "## Change a number"], page.name
