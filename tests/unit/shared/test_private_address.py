"""Links that people elsewhere cannot open."""

import pytest
from sottovoce.shared.private_address import private_host

HERE = ("127.0.0.1:8000", "localhost:8000", "[::1]:8000", "192.168.1.7", "10.0.0.3", "lab", "lab.local", "[fd00::1]")


@pytest.mark.parametrize("host", HERE)
def test_private_host_is_named(host: str) -> None:
    found = private_host(f"http://{host}/s/exam#d=0")
    assert found
    assert found in host


@pytest.mark.parametrize(
    "link", ["https://example.org/s/exam", "https://8.8.8.8/s/exam", "your own link", "http://[bad"]
)
def test_public_host_or_no_link_is_not_named(link: str) -> None:
    """A placeholder for a personal link has no host."""
    assert private_host(link) == ""
