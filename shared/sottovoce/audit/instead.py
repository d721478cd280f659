"""Something else in the place of what a module or a class has, for as long as a client is watched."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

_NOTHING = object()


@contextmanager
def instead(place: object, name: str, other: object) -> Iterator[None]:
    """
    While this lasts, something else stands there, whether there was something or not.

    Args:
        place: a module or a class.
        name: of what it has.
        other: that it has instead.
    """
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
def all_instead(others: Iterable[tuple[object, str, object]]) -> Iterator[None]:
    """
    The same for many at once, which is quicker.

    Args:
        others: place, name, and what stands there instead.
    """
    kept = []
    try:
        for place, name, other in others:
            kept.append((place, name, vars(place).get(name, _NOTHING)))
            setattr(place, name, other)
        yield
    finally:
        for place, name, before in reversed(kept):
            if before is _NOTHING:
                delattr(place, name)
            else:
                setattr(place, name, before)


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
