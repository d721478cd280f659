"""Blocks in the privacy account: a row for each block, each question in it and the whole report."""

import re

from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.privacy_account import page, text
from sottovoce.aggregator.privacy_account.document import AccountTerms, Document, account

from tests.blocks import block, blocks, in_block
from tests.documents import question
from tests.surveys import survey
from tests.unit.shared.test_schema import validator

ENGLISH = Words("en")
COIN = question({"name": "coin_flip"})


def made(*asked: Document) -> Document:
    """The account of a survey with these blocks and questions."""
    return account(blocks(*asked), AccountTerms(), {}, ENGLISH)


def test_account_has_a_row_for_each_block_question_and_report() -> None:
    """Once the block's epsilon, odds that never look better for people who know the other answers, and the sum."""
    found = made(block(in_block("a"), in_block("b")), COIN)
    validator("privacy").validate(found)
    assert text.block_rows(found, ENGLISH) == [
        ("a, b together", "2.20", "", ""),
        ("a", "2.20", "9:1", "5:1"),
        ("b", "2.20", "9:1", "5:1"),
        ("a whole report", "3.30", "", ""),
    ]
    shown = page.page(found, survey(), ENGLISH)
    table = shown.partition("Answers that are randomized together")[2].partition("</table>")[0]
    assert re.findall(r"<tr><th[^>]*>([^<]*)</th><td>([^<]*)", table) == [
        ("a, b together", "2.20"), ("a", "2.20"), ("b", "2.20"), ("a whole report", "3.30"),
    ]  # fmt: skip
    assert any("9:1" in line and "5:1" in line for line in text.lines(found, ENGLISH))


def test_account_says_how_many_questions_of_a_block_are_asked() -> None:
    """In the form that its schema has; of a block that asks all, nothing."""
    found = made(block(*map(in_block, "abc")) | {"ask": 2}, block(*map(in_block, "de"), name="whole"))
    validator("privacy").validate(found)
    assert [each.get("asked") for each in found["blocks"]] == [2, None]


def test_odds_are_rounded_up_and_surveys_without_blocks_have_no_table() -> None:
    """3.1705... of one of five questions with odds 20 and radius 1 is never shown as 3.1."""
    five = made(block(*map(in_block, "abcde"), odds="20", radius=1))
    assert {row[2:] for row in text.block_rows(five, ENGLISH)[1:6]} == {("20:1", "3.2:1")}
    without = made(COIN)
    assert "blocks" not in without
    assert text.block_rows(without, ENGLISH) == []
    assert "randomized together" not in page.page(without, survey(), ENGLISH)
