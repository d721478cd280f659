"""Wait of coroutines for a group that another thread stores, with one wake-up of the event loop a group."""

import asyncio

from sottovoce.aggregator.intake.group_commit import CommitGroup


class GroupWait:
    """Waiting coroutines of one event loop, by group."""

    def __init__(self) -> None:
        self._events: dict[CommitGroup, asyncio.Event] = {}

    async def stored(self, group: CommitGroup) -> None:
        """Return once the group is stored or has failed, without blocking a thread."""
        if group.stored.done():
            return
        event = self._events.get(group)
        if event is None:
            event = self._events[group] = asyncio.Event()
            loop = asyncio.get_running_loop()
            # call_soon_threadsafe costs a system call, so wake the loop once a group, not once a report.
            group.stored.add_done_callback(lambda _: loop.call_soon_threadsafe(self._wake, group))
        await event.wait()

    def _wake(self, group: CommitGroup) -> None:
        self._events.pop(group).set()
