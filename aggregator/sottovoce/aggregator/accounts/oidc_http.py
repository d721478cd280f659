"""Call an OpenID Connect provider, each call in its own thread with a timeout of five seconds."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import BoundedSemaphore, Thread
from typing import TypeVar

from sottovoce.aggregator.accounts.sign_in_errors import ProviderUnavailable

SECONDS = 5.0
"""Timeout for all calls of a step together, in seconds."""

NO_ANSWER = (
    f"Your institution's sign-in did not answer within {SECONDS:.0f} seconds. "
    "Try again in a few minutes; everything else here goes on."
)
BUSY = "Other people are signing in at your institution. Try again in a few seconds."

Returned = TypeVar("Returned")


class ProviderCalls:
    """A bounded number (``at_once``) of threads for calls, so that a provider that hangs cannot exhaust the server."""

    def __init__(self, at_once: int) -> None:
        self._free = BoundedSemaphore(at_once)

    def run_with_timeout(self, call: Callable[[], Returned], seconds: float = SECONDS) -> Returned:
        """Run a call in a new thread; raise its exception, or ProviderUnavailable if it times out or too many run."""
        if not self._free.acquire(blocking=False):
            raise ProviderUnavailable(BUSY)
        answer: Future[Returned] = Future()
        Thread(target=self._run, args=(call, answer), daemon=True).start()
        try:
            return answer.result(seconds)
        except TimeoutError:
            raise ProviderUnavailable(NO_ANSWER) from None

    def _run(self, call: Callable[[], Returned], answer: "Future[Returned]") -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # ``Future.result`` raises it in the waiting thread
            answer.set_exception(error)
        finally:
            # Release only when the thread ends, not at the timeout: otherwise hanging threads would pile up.
            self._free.release()
