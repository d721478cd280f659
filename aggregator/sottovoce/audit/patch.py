"""Another object in the place of an attribute, such as the system's randomness, for as long as a piece of code runs."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module

_NOTHING = object()
_PLACES = ((os, "urandom"), (import_module("random"), "_urandom"), (os, "getrandom"))
"""Where Python's own modules have the system's source; ``secrets`` uses what ``random`` took when it was loaded."""


@contextmanager
def patch(place: object, name: str, other: object) -> Iterator[None]:
    """While this lasts, an attribute is another object.

    Args:
        place: a module or a class.
        name: of the attribute, which need not be there.
        other: the object.
    """
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
    """While this lasts, ``read(count)`` is what the system gives to code that asks for random bytes."""
    with ExitStack() as stack:
        for place, name in _PLACES:
            stack.enter_context(patch(place, name, lambda count, *_: read(count)))
        yield
