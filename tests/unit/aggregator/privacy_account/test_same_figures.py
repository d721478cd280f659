"""Epsilon and the risk of a report are the same figures on all pages, in files and in the terminal."""

import re

import pytest
from rich.cells import cell_len
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.planning.lint import warnings
from sottovoce.aggregator.privacy_account.document import AccountTerms, account
from sottovoce.aggregator.privacy_account.page import body, page
from sottovoce.aggregator.privacy_account.text import at_least, at_most, lines
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.client.words import catalogue

from tests.blocks import block, blocks, in_block
from tests.surveys import document, survey

COINS = survey(questions=[{**document()["questions"][0], "name": f"coin{number}"} for number in range(5)])


def test_five_coin_flips_cost_the_same_everywhere() -> None:
    """5 ln 3 = 5.493 is shown as 5.50, and 27/28 as 97 %; nearest numbers would be 5.49 and 96 %."""
    words = Words("en")
    made = account(COINS, AccountTerms(), {}, words)
    told = {
        "terminal": "\n".join(lines(made, words)),
        "page": body(made, COINS, words),
        "design": Sentences(words).cost(DraftFigures(draft_of(COINS.document)).totals),
        "lint": " ".join(warnings(COINS, [])),
    }

    assert {place for place, text in told.items() if "5.50" not in text or "97" not in text} == set()
    assert {place for place, text in told.items() if "5.49" in text or "96" in text} == set()
    assert "epsilon of a report 5.50;" in About.of(COINS).line


def test_bounds_are_rounded_outward_and_claim_no_certainty() -> None:
    """Of a coin flip 10 % becomes exactly 25 %, in spite of floating point."""
    words = Words("en")
    assert [at_most(share, words) for share in (0.25 + 1e-16, 0.251, 0.991, 1.0)] == ["25%", "26%", "over 99%", "100%"]
    assert [at_least(share, words) for share in (0.25, 0.259, 0.009, 0.0)] == ["25%", "25%", "under 1%", "0%"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_terminal_shows_every_figure_of_the_page_in_80_columns(language: str) -> None:
    """Both show the blocks of one account; the page has the flow of answers and the study's own texts beside."""
    words = Words(language)
    made = account(
        blocks(block(in_block("a"), in_block("b"))), AccountTerms(respondents=1000), catalogue(language), words
    )
    told = [cell_len(line) for entry in lines(made, words) for line in entry.splitlines()]
    text, told_page = (" ".join(text.split()) for text in (" ".join(lines(made, words)), page(made, survey(), words)))
    cells = re.findall(r"<t[dh][^>]*>([^<]*\d[^<]*)|<dd>.*?</small> ([^<]*)", told_page)

    assert {one or two for one, two in cells if (one or two) not in text} == set()
    assert max(told) <= 80
