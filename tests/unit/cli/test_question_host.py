"""``question lint --at``: what the host of a question lets other pages do."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from click.testing import CliRunner
from sottovoce.cli.main import main
from sottovoce.client.question_page import question_page

from tests.vectors.cases import named

COIN = {"type": "boolean", "name": "cheated", "label": {"en": "Ever?"}, "mechanism": named("coin_flip")}


class Host(BaseHTTPRequestHandler):
    """A host whose paths have headers and a body, or nothing."""

    pages: dict[str, tuple[dict[str, str], bytes]]

    def do_GET(self) -> None:
        """Send the page of the path."""
        headers, body = self.pages.get(self.path, ({}, b""))
        self.send_response(200 if self.path in self.pages else 404)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    """Serve the pages of ``Host``, none at first; give the origin."""
    Host.pages = {}
    server = ThreadingHTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def linted(folder: Path, address: str) -> str:
    """Return what is said of an address."""
    (folder / "cheated.yaml").write_text(json.dumps(COIN))
    return CliRunner().invoke(main, ["question", "lint", str(folder / "cheated.yaml"), "--at", address]).output


def test_host_of_its_own_with_headers_lacks_nothing(tmp_path: Path, host: str) -> None:
    """The policy may stand in a header, or within the page."""
    frame = question_page()
    Host.pages["/q/1/"] = {"Origin-Agent-Cluster": "?1"}, frame.body
    assert "nothing is missing" in linted(tmp_path, f"{host}/q/1/")
    Host.pages["/q/1/"] = {"Origin-Agent-Cluster": "?1", "Content-Security-Policy": frame.policy}, b"<!doctype html>"
    assert "nothing is missing" in linted(tmp_path, f"{host}/q/1/")


@pytest.mark.parametrize(
    ("headers", "pages", "words"),
    [
        ({}, {}, "Origin-Agent-Cluster"),
        ({"Content-Security-Policy": "script-src *", "Origin-Agent-Cluster": "?1"}, {}, "no policy"),
        ({"Origin-Agent-Cluster": "?1"}, {"/": ({}, b"My blog")}, "is another page"),
    ],
)
def test_each_thing_that_is_missing_is_said(
    tmp_path: Path, host: str, headers: dict[str, str], pages: dict[str, tuple[dict[str, str], bytes]], words: str
) -> None:
    """And nothing else."""
    Host.pages = {"/q/1/": (headers, question_page().body), **pages}
    said = linted(tmp_path, f"{host}/q/1/")
    assert words in said
    assert said.count("Warning:") == 1


def test_address_without_a_question_is_said(tmp_path: Path, host: str) -> None:
    """Whether another page is there, or nobody answers."""
    assert "answers 404" in linted(tmp_path, f"{host}/q/1/")
    assert "does not answer" in linted(tmp_path, "http://127.0.0.1:9/q/1/")
