"""Report the progress of a long computation to its process without passing a function through every call."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

LISTENER: ContextVar[Callable[[int, int], None] | None] = ContextVar("progress", default=None)
"""Function that is called with the number of finished steps and of all steps; None if no one listens."""


def counted(steps: Sequence[T] | Iterable[T], whole: int) -> Iterator[T]:
    """Yield the steps of a computation, ``whole`` in number, and report before each how many are finished."""
    for done, step in enumerate(steps):
        if (listener := LISTENER.get()) is not None:
            listener(done, whole)
        yield step
