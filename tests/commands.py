"""Commands that run in this process, and how they ended, checked where they are run."""

from typing import Any

from click.testing import CliRunner, Result
from sottovoce.cli.main import main


def run(*words: object, typed: str = "", **options: Any) -> Result:
    """The end of a command, with what is typed and with options of click's runner."""
    return CliRunner().invoke(main, [str(word) for word in words], input=typed, **options)


def done(ended: Result) -> Result:
    assert ended.exit_code == 0, ended.output
    return ended


def refused(ended: Result) -> Result:
    assert ended.exit_code == 1, ended.output
    return ended
