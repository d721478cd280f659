"""Something else in the place of the system's source of random bytes, below everything that Python offers."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from sottovoce.audit.instead import all_instead

_PLACES = ((os, "urandom"), (import_module("random"), "_urandom"), (os, "getrandom"))
"""Where Python's own modules have it; ``secrets`` uses what ``random`` took when it was loaded."""


@contextmanager
def system_source(read: Callable[[int], bytes]) -> Iterator[None]:
    """While this lasts, ``read(count)`` is what the system gives to whoever asks for random bytes."""
    with all_instead((place, name, lambda count, *_: read(count)) for place, name in _PLACES):
        yield
