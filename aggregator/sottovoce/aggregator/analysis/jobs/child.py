"""Compute analyses in a process of its own, and write and read the messages between it and the server.

Process     ``python -m sottovoce.aggregator.analysis.jobs.child``: jobs arrive on standard input, replies leave on
            standard output. It ends when its input ends, also in the middle of a computation: so it never outlives the
            server, however that ends. It has no database, no socket and no file, and on Linux walls that keep the code
            of a reader from them, too.
Message     Its length in 8 bytes, then its bytes. A job is a line of JSON and the columns as they are in memory; a
            reply is JSON. Neither is a pickle: a process that reads a stranger's file must not be able to run code in
            its parent.
"""

import ctypes
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from traceback import walk_tb
from typing import Any, BinaryIO, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.data_file.file_analysis import FileAnalysis, UploadedFile
from sottovoce.aggregator.analysis.progress import LISTENER
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import Request, parse_request
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.aggregator.walls import raise_walls
from sottovoce.shared.errors import EstimateError, Sentence

if sys.platform != "win32":
    import resource

NICE = 5
"""Lower priority, so that the process that takes reports goes first."""

_LENGTH = 8
_SENTENCE = "sentence/1"
"""Key of an encoded ``Sentence``; no name of a question or category contains a slash."""


Asked = Request | FileAnalysis
Data = Columns | UploadedFile


class Job(NamedTuple):
    """An analysis to compute: its request, its data, and the memory that it may take in MiB (0: no limit)."""

    asked: Asked
    columns: Data
    memory: int


def return_memory() -> None:
    """Return to the system what a finished analysis has freed, where the C library keeps it."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def write_message(stream: BinaryIO, *parts: bytes | memoryview) -> None:
    """Write a message that consists of these parts."""
    stream.write(sum(len(part) for part in parts).to_bytes(_LENGTH))
    for part in parts:
        stream.write(part)
    stream.flush()


def read_message(stream: BinaryIO) -> bytes:
    """Read a message; raise EOFError if the other process has ended."""
    return _exactly(stream, int.from_bytes(_exactly(stream, _LENGTH)))


def _exactly(stream: BinaryIO, size: int) -> bytes:
    found = stream.read(size)
    if len(found) < size:
        raise EOFError
    return found


def pack_job(job: Job) -> list[bytes | memoryview]:
    """Return the parts of a message with a job."""
    asked, columns, memory = job
    if isinstance(asked, FileAnalysis) and isinstance(columns, UploadedFile):
        file = {"name": columns.name, "channels": dict(columns.channels), "links": columns.links}
        of_file = {"kind": asked.kind, "options": dict(asked.options), "memory": memory, "file": file}
        return [json.dumps(of_file).encode(), b"\n", columns.data]
    if not (isinstance(asked, Request) and isinstance(columns, Columns)):
        raise TypeError("an analysis of a file takes a file, and every other one reports")
    arrays = {**columns.values, ".wave": columns.wave, ".revision": columns.revision}
    options = {each.name: getattr(asked, each.name) for each in fields(asked)}
    head = {
        "kind": asked.kind,
        "options": {name: value for name, value in options.items() if value is not None},
        "memory": memory,
        "surveys": [survey.canonical.decode() for survey in columns.revisions],
        "withheld": sorted(columns.withheld),
        "arrays": [[name, array.dtype.str, len(array)] for name, array in arrays.items()],
    }
    data = [np.ascontiguousarray(array).data.cast("B") for array in arrays.values() if len(array)]
    return [json.dumps(head).encode(), b"\n", *data]


def unpack_job(message: bytes) -> Job:
    """Return the job of a message; its columns are views into it."""
    start = message.index(b"\n") + 1
    head = json.loads(message[:start])
    if "file" in head:
        of_file = head["file"]
        file = UploadedFile(of_file["name"], message[start:], of_file["channels"], tuple(of_file["links"]))
        return Job(FileAnalysis(head["kind"], head["options"]), file, head["memory"])
    arrays: dict[str, NDArray[Any]] = {}
    for name, kind, length in head["arrays"]:
        arrays[name] = np.frombuffer(message, kind, length, start)
        start += arrays[name].nbytes
    wave, revision = arrays.pop(".wave"), arrays.pop(".revision")
    surveys = tuple(survey_of(document.encode()) for document in head["surveys"])
    columns = Columns(surveys, arrays, wave, revision, frozenset(head["withheld"]))
    return Job(parse_request(head["kind"], head["options"]), columns, head["memory"])


def pack_reply(reply: Mapping[str, Any]) -> bytes:
    """Return a reply as JSON that keeps each ``Sentence`` with its pattern and values."""
    return json.dumps(_plain(reply)).encode()


def unpack_reply(message: bytes) -> dict[str, Any]:
    """Return the reply of a message."""
    return cast(dict[str, Any], json.loads(message, object_hook=_restored))


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, Sentence):
        return {_SENTENCE: value.pattern, "values": _plain(value.values)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _restored(found: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
    if _SENTENCE not in found:
        return found
    values = {name: tuple(each) if isinstance(each, list) else each for name, each in found["values"].items()}
    return Sentence(found[_SENTENCE], **values)


def main() -> None:
    """Compute jobs until the input ends."""
    # Give way: this process has a low priority, and is the first to end if the machine runs out of memory.
    # Ctrl-C in a terminal, and its end, reach every process of the group; the server decides what ends.
    for number in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        signal.signal(number, signal.SIG_IGN)
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
        return {"document": job.asked.document(job.columns)}  # type: ignore[arg-type] # which unpack_job pairs
    except EstimateError as error:
        return {"error": error.args[0]}
    except MemoryError:
        return {"stopped": "memory"}
    except Exception as error:
        *_, (frame, line) = walk_tb(error.__traceback__)
        return {"stopped": "failed", "bug": f"{type(error).__name__} at {frame.f_code.co_filename}:{line}"}


def _receive(jobs: "SimpleQueue[bytes]") -> None:
    with suppress(EOFError, OSError):
        while True:
            jobs.put(read_message(sys.stdin.buffer))
    os._exit(0)


def _report(replies: BinaryIO, done: int, whole: int) -> None:
    write_message(replies, pack_reply({"progress": [done, whole]}))


if __name__ == "__main__":
    main()
