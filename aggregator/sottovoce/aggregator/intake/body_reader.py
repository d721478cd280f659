"""Read the bodies of requests within a time limit, by one timer for all: one each is as dear as a report's check."""

import asyncio
from typing import Any, Protocol, cast


class Exchange(Protocol):
    """RSGI protocol object: receives the body and sends the reply."""

    async def __call__(self) -> bytes:
        """Return the body, read up to its declared length."""

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Send status, headers in order, and the complete body."""


class BodyReader:
    """Reader of bodies that all have the same number of seconds, so that they fall due in the order of their begin."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: dict[asyncio.Task[Any], float] = {}
        self._expired: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.Handle | None = None

    async def read(self, exchange: Exchange) -> bytes:
        """Return a body; raise TimeoutError if it is not complete in time, or ``end`` was called."""
        loop = asyncio.get_running_loop()
        task = cast("asyncio.Task[Any]", asyncio.current_task(loop))
        self._due[task] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_soon(self._sweep, loop)
        try:
            return await exchange()
        except asyncio.CancelledError:
            # A second request to cancel came from elsewhere and goes on (as in asyncio.timeout).
            if task in self._expired and task.cancelling() == 1:
                raise TimeoutError from None
            raise
        finally:
            self._due.pop(task, None)
            if task in self._expired:
                self._expired.remove(task)
                task.uncancel()

    def end(self) -> None:
        """Give up all bodies that are being read, and from now on each new one."""
        self._seconds = 0.0
        self._due = dict.fromkeys(self._due, 0.0)
        if self._timer is not None:
            self._timer.cancel()
            self._sweep(asyncio.get_running_loop())

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        while self._due:
            task, due = next(iter(self._due.items()))
            if due > now:
                self._timer = loop.call_at(due, self._sweep, loop)
                return
            del self._due[task]
            self._expired.add(task)
            task.cancel()
        self._timer = None
