"""``healthcheck``: 0 for a node that answers, 1 and a sentence for everything else."""

from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from sottovoce.cli.main import main
from sottovoce.cli.process import free_port

from tests.conftest import Running


def check(port: int, *words: str, host: str = "127.0.0.1") -> tuple[int, str]:
    """What the verb says, whatever proxy the environment names."""
    settings = {"SOTTOVOCE_HOST": host, "SOTTOVOCE_PORT": str(port), "http_proxy": "http://127.0.0.1:9"}
    ended = CliRunner().invoke(main, ["healthcheck", *words], env=settings)
    return ended.exit_code, ended.output


@pytest.mark.external
def test_node_that_answers_is_healthy(running: Running) -> None:
    """And ready, with its database there."""
    port = urlsplit(running.url).port or 0
    for host in ("127.0.0.1", "0.0.0.0"):  # noqa: S104 - nobody listens there
        assert check(port, host=host) == (0, "")
        assert check(port, "--ready", host=host) == (0, "")


def test_nobody_is_no_node() -> None:
    """A port at which nobody listens, in words."""
    code, said = check(free_port())

    assert (code, "no node answers" in said, "Traceback" in said) == (1, True, False)
