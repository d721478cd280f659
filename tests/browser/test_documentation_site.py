"""The site of documentation, built and opened: everybody can read it, and it asks nobody for anything."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.test_access import violations

ROOT = Path(__file__).parents[2]
SAMPLES = ("index", "mathematics/binary_rr", "compared")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, as ``make docs`` builds it; a link that leads nowhere, or a page in no list, ends the build."""
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, ROOT / "docs" / "making" / "site.py", "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return out


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
def test_pages_pass_the_checker_and_ask_nobody_else(
    browser: Browser, built: Path, axe: str, scheme: str, width: int
) -> None:
    """On a desk and on a telephone, opened as files: nothing to complain of, no page wider than the window."""
    found, requests = [], []
    with browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        for name in SAMPLES:
            page.goto((built / f"{name}.html").as_uri())
            page.wait_for_function("document.querySelectorAll('article table:not(.md-typeset__table *)').length === 0")
            found += violations(page, axe)
            assert page.evaluate("document.documentElement.scrollWidth") == width

    assert found == []
    assert [url for url in requests if not url.startswith((built.as_uri(), "data:", "blob:"))] == []


def test_search_knows_written_and_made_pages(built: Path) -> None:
    """Its index is a file of the site, and asks no other host."""
    index = (built / "search" / "search_index.json").read_text(encoding="utf-8")

    assert "mathematics/hadamard_response.html" in index
    assert "reference/command_line.html" in index
    assert "tutorial.html" in index
