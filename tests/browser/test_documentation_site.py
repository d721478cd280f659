"""The site of documentation, built and opened: everybody can read it, and it asks nobody for anything."""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.test_access import violations

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SAMPLES = ("index", "mathematics/binary_rr", "compared")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, as ``make docs`` builds it; a link that leads nowhere ends the build."""
    out = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, ROOT / "docs" / "making" / "site.py", "--out", out]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(out))) as server:
        Thread(target=server.serve_forever).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1240), ("dark", 390)], ids=["desk", "telephone"])
def test_pages_pass_the_checker_and_ask_nobody_else(
    browser: Browser, site: str, axe: str, scheme: str, width: int
) -> None:
    found, requests = [], []
    with browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 900}) as context:  # type: ignore[arg-type]
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        for name in SAMPLES:
            page.goto(f"{site}/{name}.html", wait_until="networkidle")
            found += violations(page, axe)
            assert page.evaluate("document.documentElement.scrollWidth") <= width

    assert found == []
    assert [url for url in requests if not url.startswith((site, axe, "data:", "blob:"))] == []


def test_search_finds_what_the_program_says_of_itself(browser: Browser, site: str) -> None:
    """On the site itself; also a page that is made when it is built."""
    with browser.new_context(viewport={"width": 1240, "height": 900}) as context:
        page = context.new_page()
        page.goto(f"{site}/index.html", wait_until="networkidle")
        page.get_by_role("button", name="Search").first.click()
        # By keys: the search does not notice what is filled in at once.
        page.keyboard.type("hadamard matrix", delay=20)
        expect(page.get_by_text(re.compile(r"^\d+ results$"))).to_be_visible(timeout=60_000)
        page.keyboard.press("Enter")
        page.wait_for_url("**/mathematics/hadamard_response.html*")
