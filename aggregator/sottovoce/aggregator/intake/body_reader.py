"""Read the bodies of requests within a time limit, by one timer for all: one each is as dear as a report's check."""

import asyncio
from typing import Any, Protocol, cast

from sottovoce.aggregator.http.problems import Refusal


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
        self._has_ended = False
        self._due: dict[asyncio.Task[Any], float] = {}
        self._expired: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.Handle | None = None

    async def read(self, exchange: Exchange, declared: int) -> bytes:
        """Return a body of the declared length, which is what the server reads at most.

        Raises Refusal: ``malformed`` if it ends early, ``timeout`` if it is not complete in time, ``busy`` after
        ``end``.
        """
        loop = asyncio.get_running_loop()
        task = cast("asyncio.Task[Any]", asyncio.current_task(loop))
        self._due[task] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_soon(self._sweep, loop)
        try:
            body = await exchange()
        except RuntimeError:
            # RSGI raises it if the connection ends before the body is complete. Still reply: the client may be reading.
            body = b""
        except asyncio.CancelledError:
            # A second request to cancel came from elsewhere and goes on (as in asyncio.timeout).
            if task in self._expired and task.cancelling() == 1:
                raise Refusal("busy" if self._has_ended else "timeout") from None
            raise
        finally:
            self._due.pop(task, None)
            if task in self._expired:
                self._expired.remove(task)
                task.uncancel()
        if len(body) != declared:
            raise Refusal("malformed")
        return body

    def end(self) -> None:
        """Give up all bodies that are being read, and from now on each new one."""
        self._seconds, self._has_ended = 0.0, True
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
