"""Something else in the place of what a module or a class has, for as long as a client is watched."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_NOTHING = object()


@contextmanager
def instead(place: object, name: str, other: object) -> Iterator[None]:
    """While this lasts, ``place`` has ``other`` under this name, whether it had something there or not."""
    kept = vars(place).get(name, _NOTHING)
    setattr(place, name, other)
    try:
        yield
    finally:
        if kept is _NOTHING:
            delattr(place, name)
        else:
            setattr(place, name, kept)


@contextmanager
def environment(more: Mapping[str, str], alone: bool = False) -> Iterator[None]:
    """
    While this lasts, these stand in the environment.

    Args:
        more: names and values.
        alone: and no others do.
    """
    kept = dict(os.environ)
    if alone:
        os.environ.clear()
    os.environ.update(more)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)
