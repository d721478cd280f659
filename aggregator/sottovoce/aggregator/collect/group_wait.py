"""Lets requests on an event loop wait for groups that another thread stores, with one wake-up for a whole group."""

import asyncio
from collections import deque
from concurrent.futures import Future
from typing import Any


class GroupWait:
    """For one event loop."""

    def __init__(self) -> None:
        self._ready: deque[asyncio.Future[None]] = deque()
        self._waking = False

    async def done(self, future: Future[Any]) -> None:
        """Return as soon as the future is done, or has failed; no thread is held meanwhile."""
        if future.done():
            return
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()

        def wake(_: object) -> None:
            self._ready.append(ready)
            # To wake the loop is a system call: one for each group, not for each report.
            if not self._waking:
                self._waking = True
                loop.call_soon_threadsafe(self._wake)

        future.add_done_callback(wake)
        await ready

    def _wake(self) -> None:
        # This first: who is ready from now on is either found below or calls again.
        self._waking = False
        while self._ready:
            ready = self._ready.popleft()
            if not ready.done():
                ready.set_result(None)
