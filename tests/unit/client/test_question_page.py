"""The page of a single question and its element: how many bytes a participant waits for."""

import gzip

from sottovoce.client.question_page import question_page, question_scripts


def test_element_and_window_are_small() -> None:
    """2.6 kB before the button, 34 kB to the question."""
    element, page = question_scripts()["element.js"].encode(), question_page().body
    assert len(gzip.compress(element, mtime=0)) <= 2_600
    assert len(gzip.compress(page, mtime=0)) <= 34_000
