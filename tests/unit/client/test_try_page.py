"""The page to try one question: as it is built, small, and with the program's own figures."""

import json
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, estimate_share
from sottovoce.client.bundle import sentences
from sottovoce.client.question_page import try_page
from sottovoce.shared.languages import LANGUAGES

ROOT = Path(__file__).parents[3]
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
