"""How a command ended, checked where it is run."""

from click.testing import Result


def done(ended: Result) -> Result:
    """A command that did what it was told."""
    assert ended.exit_code == 0, ended.output
    return ended


def refused(ended: Result) -> Result:
    """A command that refused."""
    assert ended.exit_code == 1, ended.output
    return ended
