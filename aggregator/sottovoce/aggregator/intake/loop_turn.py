"""Hand the reports of one turn of the event loop to the group commit as one job; wait for groups without threads."""

import asyncio

from sottovoce.aggregator.intake.admission import Admission, QuickReport
from sottovoce.aggregator.intake.group_commit import CommitGroup, Submitted
from sottovoce.aggregator.storage import Outcome
from sottovoce.shared.errors import StorageError


class GroupWait:
    """Coroutines of one event loop that wait for groups, with one wake-up of the loop per group."""

    def __init__(self) -> None:
        self._events: dict[CommitGroup, list[asyncio.Event]] = {}

    async def stored(self, group: CommitGroup) -> None:
        """Return once the group is stored or has failed, without blocking a thread."""
        if not group.stored.done():
            event = asyncio.Event()
            self.add(group, event)
            await event.wait()

    def add(self, group: CommitGroup, event: asyncio.Event) -> None:
        """Set an event once the group is stored or has failed."""
        events = self._events.get(group)
        if events is not None:
            events.append(event)
            return
        self._events[group] = [event]
        loop = asyncio.get_running_loop()
        # call_soon_threadsafe costs a system call, so wake the loop once a group, not once a report.
        group.stored.add_done_callback(lambda _: loop.call_soon_threadsafe(self._wake, group))

    def _wake(self, group: CommitGroup) -> None:
        for event in self._events.pop(group):
            event.set()


class Turn:
    """Reports of one turn, and the event that says that they are stored, or are not."""

    def __init__(self) -> None:
        self.reports: list[QuickReport] = []
        self.stored = asyncio.Event()
        self.submitted: Submitted | None = None

    def outcome(self, place: int) -> Outcome | None:
        """Return what became of a report; None if each report has to be tried by itself.

        Raises StorageError if the transaction failed.
        """
        try:
            return None if self.submitted is None else self.submitted.result()[place]
        except StorageError:
            raise
        except Exception:
            # An error that one report causes must not fail the others.
            return None


class TurnJobs:
    """The present turn of an event loop; a report waits for the rest of its turn only."""

    def __init__(self, admission: Admission, wait: GroupWait) -> None:
        self._admission = admission
        self._wait = wait
        self._turn = Turn()

    def add(self, report: QuickReport) -> tuple[Turn, int]:
        """Add a report; return its turn, and its place in it."""
        turn = self._turn
        turn.reports.append(report)
        if len(turn.reports) == 1:
            asyncio.get_running_loop().call_soon(self._send)
        return turn, len(turn.reports) - 1

    def _send(self) -> None:
        turn, self._turn = self._turn, Turn()
        try:
            turn.submitted = self._admission.submit_quick(turn.reports)
        except Exception:
            # Each report is tried by itself, and gets the error that is its own.
            turn.stored.set()
        else:
            self._wait.add(turn.submitted.group, turn.stored)
