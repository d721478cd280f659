"""The page of a single question and its element: how many bytes a participant waits for, and how long one is kept."""

import gzip
import json
import re
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, estimate_share
from sottovoce.client.bundle import sentences
from sottovoce.client.question_page import former_elements, question_page, question_scripts, try_page
from sottovoce.shared.languages import LANGUAGES

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


ESTIMATE = ROOT / "client/sottovoce/client/web/try/estimate.js"

COUNTS = [0, 1, 20, 100, 200, 249, 250, 251, 260, 300, 333, 400, 500, 600, 700, 740, 749, 750, 751, 1000]


def test_file_is_the_page_that_is_built() -> None:
    """``python -c "from sottovoce.client.question_page import try_page as t; print(t().body.decode(), end='')"``."""
    assert (ROOT / "docs/try.html").read_bytes() == try_page().body
    assert len(try_page().body) <= 65_536
    assert {tag: len(sentences(tag)["try"]) for tag in LANGUAGES if len(sentences(tag)["try"]) > 25} == {}


def test_page_may_ask_no_server() -> None:
    """Its policy names no source but its own script and style, and the script no address."""
    assert "default-src 'none'" in str(try_page().policy)
    assert "connect-src 'none'" in str(try_page().policy)
    assert b"http://" not in try_page().body
    assert b"https://" not in try_page().body


def test_estimates_are_those_of_the_program() -> None:
    """Share and limits of 20 counts among 1,000, and of the counts of small groups."""
    counted = [[count, 1000] for count in COUNTS] + [[7, 20], [0, 20], [20, 20], [31, 80]]
    run = f"const {{ estimateShare }} = await import({json.dumps(ESTIMATE.as_uri())});"
    run += f"console.log(JSON.stringify({json.dumps(counted)}.map(([yes, n]) => estimateShare(yes, n))));"
    told = subprocess.run(["node", "--input-type=module", "-e", run], capture_output=True, text=True, check=True).stdout
    for (yes, n), shown in zip(counted, json.loads(told), strict=True):
        known = estimate_share("yes", yes, n, Fraction(3, 4), Fraction(1, 4), DEFAULT_RULE)
        assert [shown["share"], shown["low"], shown["high"]] == pytest.approx([known.clipped, known.low, known.high])
