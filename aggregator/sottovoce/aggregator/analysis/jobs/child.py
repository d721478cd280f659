"""Compute analyses in a process of its own: ``python -m sottovoce.aggregator.analysis.jobs.child``.

Jobs arrive on standard input, replies leave on standard output. The process ends when its input ends, also in the
middle of a computation: so it never outlives the server, however that ends. It has no database, no socket and no file,
and on Linux walls that keep the code of a reader from them, too.
"""

import os
import signal
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from sottovoce.aggregator.analysis.jobs.messages import (
    pack_reply,
    read_message,
    return_memory,
    unpack_job,
    write_message,
)
from sottovoce.aggregator.analysis.progress import LISTENER
from sottovoce.aggregator.walls import raise_walls
from sottovoce.shared.errors import EstimateError

if sys.platform != "win32":
    import resource

NICE = 5
"""Lower priority, so that the process that takes reports goes first."""


def main() -> None:
    """Compute jobs until the input ends."""
    # Give way: this process has a low priority, and is the first to end if the machine runs out of memory.
    # Ctrl-C in a terminal reaches every process of the group; the server decides what ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    raise_walls()
    jobs: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_receive, args=(jobs,), daemon=True).start()
    # Anything that a library prints goes to standard error: only replies may be on the pipe.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as replies:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        LISTENER.set(partial(_report, replies))
        while True:
            write_message(replies, pack_reply(answer(jobs.get())))
            return_memory()


def answer(message: bytes) -> dict[str, Any]:
    """Return the reply to the job in a message: a document, an error, or the reason why it stopped."""
    try:
        job = unpack_job(message)
        # An uploaded file is a part of it, and once in memory is enough.
        del message
        if sys.platform != "win32" and job.memory:
            _, most = resource.getrlimit(resource.RLIMIT_DATA)
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_DATA, (job.memory << 20, most))
        return {"document": job.document()}
    except EstimateError as error:
        return {"error": error.args[0]}
    except MemoryError:
        return {"stopped": "memory"}
    except Exception as error:
        trace, place = error.__traceback__, ""
        while trace is not None:
            place = f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
            trace = trace.tb_next
        return {"stopped": "failed", "bug": f"{type(error).__name__} at {place}"}


def _receive(jobs: "SimpleQueue[bytes]") -> None:
    with suppress(EOFError, OSError):
        while True:
            jobs.put(read_message(sys.stdin.buffer))
    os._exit(0)


def _report(replies: BinaryIO, done: int, whole: int) -> None:
    write_message(replies, pack_reply({"progress": [done, whole]}))


if __name__ == "__main__":
    main()
