"""Lets requests on an event loop wait for groups that another thread stores, with one wake-up for a whole group."""

import asyncio

from sottovoce.aggregator.intake.group_commit import CommitGroup


class GroupWait:
    """For one event loop."""

    def __init__(self) -> None:
        self._events: dict[CommitGroup, asyncio.Event] = {}

    async def stored(self, group: CommitGroup) -> None:
        """Return as soon as the group is stored, or has failed; no thread is held meanwhile."""
        if group.stored.done():
            return
        event = self._events.get(group)
        if event is None:
            event = self._events[group] = asyncio.Event()
            loop = asyncio.get_running_loop()
            # To wake the loop is a system call: one for each group, not for each report.
            group.stored.add_done_callback(lambda _: loop.call_soon_threadsafe(self._wake, group))
        await event.wait()

    def _wake(self, group: CommitGroup) -> None:
        self._events.pop(group).set()
