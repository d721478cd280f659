"""Work in a second process, so that an audit uses two of the machine's cores."""

import multiprocessing
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection

from sottovoce.audit.check import FAILED, Check

Work = Callable[[], list[Check]]


def started_beside(part: str, subject: str, work: Work) -> Work:
    """
    Begin the work in a fork of this process; what is given back waits for its checks.

    The fork has the very program that runs here, whatever was changed in it. Elsewhere than on Linux forks are not
    safe, and the work is done when it is asked for.

    Args:
        part: one of ``check.PARTS``.
        subject: what the work is about, if it ends without a result.
        work: gives checks.
    """

    def whole() -> list[Check]:
        return surely(part, subject, work)

    if sys.platform != "linux":
        return whole
    forks = multiprocessing.get_context("fork")
    receiving, sending = forks.Pipe(duplex=False)
    process = forks.Process(target=_send, args=(sending, whole), daemon=True)
    process.start()
    sending.close()

    def awaited() -> list[Check]:
        try:
            found: list[Check] = receiving.recv()
        except EOFError:
            found = [_stopped(part, subject)]
        process.join()
        return found

    return awaited


def _send(sending: Connection, work: Work) -> None:
    sending.send(work())


def surely(part: str, subject: str, work: Work) -> list[Check]:
    """
    The checks; code under audit that stops with an error has failed.

    Args:
        part: one of ``check.PARTS``.
        subject: what the work is about.
        work: gives checks.
    """
    try:
        return work()
    except Exception:  # whatever it is
        return [_stopped(part, subject)]


def _stopped(part: str, subject: str) -> Check:
    return Check(part, subject, FAILED, message="the client stops with an error")
