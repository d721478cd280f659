"""Calls to an institution's sign-in: each in a thread of its own, waited for five seconds and not longer."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import BoundedSemaphore, Thread
from typing import TypeVar

from sottovoce.aggregator.accounts.sign_in_errors import ProviderUnavailable

SECONDS = 5.0
"""What a person waits at most, for all calls of one step together."""

NO_ANSWER = (
    f"Your institution's sign-in did not answer within {SECONDS:.0f} seconds. "
    "Try again in a few minutes; everything else here goes on."
)
BUSY = "Other people are signing in at your institution. Try again in a few seconds."

Answer = TypeVar("Answer")


class ProviderCalls:
    """
    Runs calls so that a provider that hangs takes neither the application's threads nor ever more of its own.

    Args:
        at_once: calls under way at the same time; a further one is refused without waiting.
    """

    def __init__(self, at_once: int) -> None:
        self._free = BoundedSemaphore(at_once)

    def within(self, call: Callable[[], Answer], seconds: float = SECONDS) -> Answer:
        """
        What the call returns or raises.

        Raises:
            ProviderUnavailable: it takes longer, or as many calls as may be are under way.
        """
        if not self._free.acquire(blocking=False):
            raise ProviderUnavailable(BUSY)
        answer: Future[Answer] = Future()
        Thread(target=self._run, args=(call, answer), daemon=True).start()
        try:
            return answer.result(seconds)
        except TimeoutError:
            raise ProviderUnavailable(NO_ANSWER) from None

    def _run(self, call: Callable[[], Answer], answer: "Future[Answer]") -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # whoever waits raises it
            answer.set_exception(error)
        finally:
            # Not when the waiting ends: threads of a provider that hangs would pile up.
            self._free.release()
