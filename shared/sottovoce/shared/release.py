"""The number of the release that runs."""

from functools import cache
from importlib.metadata import version


@cache
def release() -> str:
    """Read the number once: from the disk it takes longer than drawing a report."""
    return version("sottovoce")
