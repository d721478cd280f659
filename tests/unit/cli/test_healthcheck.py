"""`sottovoce healthcheck`: what a container's supervisor asks."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import IPv4Address
from threading import Thread

import pytest
from click.testing import CliRunner, Result
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.web.problems import CONTENT_TYPE, STATUS, document
from sottovoce.cli.healthcheck import ask
from sottovoce.cli.main import main
from sottovoce.cli.process import free_port


class Answers(BaseHTTPRequestHandler):
    """What stands in the place of an aggregator; it answers with what its server holds."""

    def do_GET(self) -> None:
        """Only /readyz is asked for."""
        status, body = self.server.reply  # type: ignore[attr-defined]
        self.send_response(status if self.path == "/readyz" else 404)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on the terminal."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """Something that listens on this machine, on every address of it."""
    listening = HTTPServer(("127.0.0.1", free_port()), Answers)
    thread = Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    yield listening
    listening.shutdown()
    thread.join()
    listening.server_close()


def check(port: int, **environment: str) -> Result:
    """The verb, as a container calls it."""
    return CliRunner().invoke(main, ["healthcheck"], env={"SOTTOVOCE_PORT": str(port), **environment})


def test_ready_is_exit_0(server: HTTPServer) -> None:
    """Also where it listens on every address, behind a public one, with a proxy for the way out."""
    server.reply = (200, b"ready\n")  # type: ignore[attr-defined]
    elsewhere = {"SOTTOVOCE_PUBLIC_URL": "https://survey.example.org", "http_proxy": "http://127.0.0.1:9"}
    found = check(server.server_port, SOTTOVOCE_HOST=str(IPv4Address(0)), **elsewhere)
    assert (found.exit_code, found.output) == (0, "Ready.\n")


def test_not_ready_is_exit_1_and_the_reason(server: HTTPServer) -> None:
    """In the aggregator's own words."""
    server.reply = (STATUS["storage"], document("storage", "the database does not answer"))  # type: ignore[attr-defined]
    found = check(server.server_port)
    assert (found.exit_code, found.output) == (1, "Not ready: the database does not answer.\n")


@pytest.mark.parametrize("body", [b"<html>", b"[]", b"{}"])
def test_something_else_is_not_ready(server: HTTPServer, body: bytes) -> None:
    """A proxy's page, or another program."""
    server.reply = (502, body)  # type: ignore[attr-defined]
    assert check(server.server_port).output == "Not ready: what answers there is no aggregator.\n"


def test_nobody_there_is_not_ready() -> None:
    """A sentence, no traceback; the port may be given."""
    found = CliRunner().invoke(main, ["healthcheck", "--port", str(free_port())])
    assert (found.exit_code, found.output) == (1, "Not ready: nothing answers at this address and port.\n")


def test_address_of_version_6_is_asked() -> None:
    """As it is written in an address."""
    assert ask(Settings(host="::", port=free_port()))[1] == "Not ready: nothing answers at this address and port."
