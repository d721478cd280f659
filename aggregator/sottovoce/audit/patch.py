"""Put another object in the place of an attribute, such as the system's randomness, while a piece of code runs."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module

_NOTHING = object()
_PLACES = ((os, "urandom"), (import_module("random"), "_urandom"), (os, "getrandom"))
"""Where Python's own modules have the system's source; ``secrets`` uses what ``random`` took when it was loaded."""


@contextmanager
def patch(place: object, name: str, other: object) -> Iterator[None]:
    """Replace an attribute of a module or class, which need not be there, while this lasts."""
    before = vars(place).get(name, _NOTHING)
    setattr(place, name, other)
    try:
        yield
    finally:
        if before is _NOTHING:
            delattr(place, name)
        else:
            setattr(place, name, before)


@contextmanager
def system_source(read: Callable[[int], bytes]) -> Iterator[None]:
    """Give ``read(count)`` to code that asks the system for random bytes, while this lasts."""
    with ExitStack() as stack:
        for place, name in _PLACES:
            stack.enter_context(patch(place, name, lambda count, *_: read(count)))
        yield
