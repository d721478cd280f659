"""Work in a second process, so that an audit uses two of the machine's cores; it ends when the audit does."""

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection

from sottovoce.audit.check import FAILED, Check

Work = Callable[[], list[Check]]

LAST_SECONDS = 5
"""Time for what puts folders away."""

_PR_SET_PDEATHSIG = 1


def start_in_fork(part: str, subject: str, work: Work, niceness: int = 0) -> Work:
    """Begin the work in a fork of this process, and return a function that waits for its checks.

    The fork has the very program that runs here, whatever was changed in it. Elsewhere than on Linux forks are not
    safe, and the work is done when it is asked for. ``subject`` is reported if the work ends without a result;
    ``niceness`` is 0 to 19.
    """

    def whole() -> list[Check]:
        return surely(part, subject, work)

    if sys.platform != "linux":
        return whole
    forks = multiprocessing.get_context("fork")
    receiving, sending = forks.Pipe(duplex=False)
    process = forks.Process(target=_send, args=(sending, whole, os.getpid(), niceness), daemon=True)
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


def _send(sending: Connection, work: Work, begun_by: int, niceness: int) -> None:
    _end_with(begun_by)
    os.nice(niceness)
    sending.send(work())


def _end_with(begun_by: int) -> None:
    """End this process when the one that began it ends, whatever ends that: a signal, or its terminal.

    It is a group of its own, so that the programs that it starts end too; it ends by an exception, so that its folders
    go.
    """
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, _end)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != begun_by:
        sys.exit(1)


def _end(_number: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    # An exception is lost where an object's life ends: then the system ends what still runs.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(LAST_SECONDS)
    sys.exit(1)


def surely(part: str, subject: str, work: Work) -> list[Check]:
    """Return the checks of the work; code under audit that stops with an error has failed."""
    try:
        return work()
    except (Exception, SystemExit):  # whatever it is
        return [_stopped(part, subject)]


def _stopped(part: str, subject: str) -> Check:
    return Check(part, subject, FAILED, message="the client stops with an error")
