"""Commands that run in this process, and how they ended, checked where they are run."""

from click.testing import CliRunner, Result
from sottovoce.cli.main import main


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def done(ended: Result) -> Result:
    """A command that did what it was told."""
    assert ended.exit_code == 0, ended.output
    return ended


def refused(ended: Result) -> Result:
    assert ended.exit_code == 1, ended.output
    return ended
