"""Hand the reports of one turn of the event loop to the group commit as one job; wait for groups without threads."""

import asyncio
from collections.abc import Callable
from functools import partial

from sottovoce.aggregator.intake.admission import Admission, QuickReport
from sottovoce.aggregator.intake.group_commit import CommitGroup, Submitted, completed_job
from sottovoce.aggregator.storage import Outcome
from sottovoce.shared.errors import StorageError

OutcomeFuture = asyncio.Future[Outcome | None]
"""What becomes of a report; None if it has to be tried by itself."""


class GroupWait:
    """Calls of one event loop that wait for groups, with one wake-up of the loop per group."""

    def __init__(self) -> None:
        self._calls: dict[CommitGroup, list[Callable[[], object]]] = {}

    async def stored(self, group: CommitGroup) -> None:
        """Return once the group is stored or has failed, without blocking a thread."""
        if not group.stored.done():
            event = asyncio.Event()
            self.call(group, event.set)
            await event.wait()

    def call(self, group: CommitGroup, what: Callable[[], object]) -> None:
        """Call this in the loop once the group is stored or has failed; it must not raise."""
        calls = self._calls.get(group)
        if calls is not None:
            calls.append(what)
            return
        self._calls[group] = [what]
        loop = asyncio.get_running_loop()
        # call_soon_threadsafe costs a system call, so wake the loop once a group, not once a report.
        group.stored.add_done_callback(lambda _: loop.call_soon_threadsafe(self._wake, group))

    def _wake(self, group: CommitGroup) -> None:
        for call in self._calls.pop(group):
            call()


class TurnJobs:
    """Reports of the present turn of an event loop; each waits for the rest of its turn only."""

    def __init__(self, admission: Admission, wait: GroupWait) -> None:
        self._admission = admission
        self._wait = wait
        self._reports: list[QuickReport] = []
        self._replies: list[OutcomeFuture] = []

    def add(self, report: QuickReport) -> OutcomeFuture:
        """Add a report; the future raises StorageError if the transaction fails."""
        loop = asyncio.get_running_loop()
        reply: OutcomeFuture = loop.create_future()
        self._reports.append(report)
        self._replies.append(reply)
        if len(self._reports) == 1:
            loop.call_soon(self._send)
        return reply

    def _send(self) -> None:
        reports, replies = self._reports, self._replies
        self._reports, self._replies = [], []
        try:
            submitted = self._admission.submit_quick(reports)
        except Exception as error:
            submitted = completed_job(error)
        self._wait.call(submitted.group, partial(_tell, submitted, replies))


def _tell(submitted: Submitted, replies: list[OutcomeFuture]) -> None:
    waiting = [reply for reply in replies if not reply.done()]
    try:
        outcomes = submitted.result()
    except StorageError as error:
        for reply in waiting:
            reply.set_exception(error)
    except Exception:
        # An error that one report causes must not fail the others: each is tried by itself, and gets its own.
        for reply in waiting:
            reply.set_result(None)
    else:
        for reply, outcome in zip(replies, outcomes, strict=True):
            if not reply.done():
                reply.set_result(outcome)
