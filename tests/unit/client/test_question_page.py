"""The page of a single question and its element: how many bytes a participant waits for, and how long one is kept."""

import gzip
import re
from pathlib import Path

from sottovoce.client.question_page import former_elements, question_page, question_scripts

ROOT = Path(__file__).parents[3]


def test_element_and_window_are_small() -> None:
    """2.6 kB before the button, 34 kB to the question."""
    element, page = question_scripts()["element.js"].encode(), question_page().body
    assert len(gzip.compress(element, mtime=0)) <= 2_600
    assert len(gzip.compress(page, mtime=0)) <= 34_000


def test_element_of_a_release_is_kept_for_five_releases() -> None:
    """From 0.5.0 on, the first whose lines name it by its hash; a release adds its own, ``VERSION.txt``."""
    heads = re.findall(r"^## (\d+)\.(\d+)\.(\d+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert heads
    kept = [".".join(each) for each in heads if tuple(map(int, each)) >= (0, 5, 0)][:5]
    folder = ROOT / "client" / "sottovoce" / "client" / "web" / "question" / "former"
    assert sorted(path.stem for path in folder.glob("*.txt")) == sorted(kept)
    assert len(former_elements()) == len(kept)
