"""A fork has one thread: what other tests left running can disturb nothing that is watched in it."""

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any


def alone(work: Callable[[], Any]) -> Any:
    """The result of the work, done in a fork of this process; it raises what the work raises."""
    forks = multiprocessing.get_context("fork")
    receiving, sending = forks.Pipe(duplex=False)
    process = forks.Process(target=_send, args=(sending, work), daemon=True)
    process.start()
    sending.close()
    is_done, result = receiving.recv()
    process.join()
    if not is_done:
        raise result
    return result


def _send(sending: Connection, work: Callable[[], Any]) -> None:
    try:
        sending.send((True, work()))
    except Exception as error:  # whatever it is, it is the other process's
        sending.send((False, error))
