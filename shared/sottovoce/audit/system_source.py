"""Something else in the place of the system's source of random bytes, below everything that Python offers."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

_NAMES = ("os.urandom", "random._urandom", "os.getrandom")
"""Where Python's own modules have it; ``secrets`` uses what ``random`` took when it was loaded."""


@contextmanager
def system_source(read: Callable[[int], bytes]) -> Iterator[None]:
    """While this lasts, ``read(count)`` is what the system gives to whoever asks for random bytes."""
    with ExitStack() as stack:
        for name in _NAMES:
            stack.enter_context(patch(name, lambda count, *_: read(count), create=True))
        yield
