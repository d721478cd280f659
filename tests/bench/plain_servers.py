"""What the real server is measured beside: granian and Flask without anything, and with the plainest durable storage.

``python -m tests.bench.plain_servers PORT nothing|storage FILE``. Neither checks a report; the second stores each under
its id in one durable transaction for all that wait, which is as little as a server can do that keeps its word.
"""

import json
import sqlite3
import sys
import threading
from collections import deque
from concurrent.futures import Future
from pathlib import Path

from flask import Flask, Response, request

THREADS = 64
"""Each waits for the disk with its report; granian's own queue takes what comes beyond that."""

PATH = "/api/v1/surveys/<name>/reports"


class Store:
    """A thread that inserts what waits, as one transaction."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._waiting: deque[tuple[bytes, bytes, Future[None]]] = deque()
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True).start()

    def put(self, report_id: bytes, values: bytes) -> None:
        """Return once the report is durable."""
        future: Future[None] = Future()
        with self._changed:
            self._waiting.append((report_id, values, future))
            self._changed.notify()
        future.result()

    def _run(self) -> None:
        db = sqlite3.connect(self._path, isolation_level=None)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute('CREATE TABLE reports (id BLOB PRIMARY KEY, "values" BLOB NOT NULL) STRICT, WITHOUT ROWID')
        while True:
            with self._changed:
                while not self._waiting:
                    self._changed.wait()
                group = list(self._waiting)
                self._waiting.clear()
            db.execute("BEGIN IMMEDIATE")
            db.executemany("INSERT OR IGNORE INTO reports VALUES (?, ?)", [(key, values) for key, values, _ in group])
            db.execute("COMMIT")
            for *_, future in group:
                future.set_result(None)


def answering() -> Flask:
    """Flask that answers every report with the same words."""
    app = Flask("nothing")

    @app.post(PATH)
    def report(name: str) -> Response:  # noqa: ARG001 - the route's argument
        request.get_data()
        return Response(b'{"format":"sottovoce-receipt/1"}', content_type="application/json")

    return app


def storing(file: Path) -> Flask:
    """Flask that stores every report before it answers."""
    app = Flask("storage")
    store = Store(file)

    @app.post(PATH)
    def report(name: str) -> Response:
        document = json.loads(request.get_data())
        store.put(bytes.fromhex(document["report_id"]), json.dumps(document["values"]).encode())
        receipt = {"format": "sottovoce-receipt/1", "survey": name, "report_id": document["report_id"]}
        return Response(json.dumps(receipt), content_type="application/json")

    return app


def make_app() -> Flask:
    return answering() if sys.argv[2] == "nothing" else storing(Path(sys.argv[3]))


if __name__ == "__main__":
    from granian import Granian
    from granian.constants import Interfaces

    threads = 1 if sys.argv[2] == "nothing" else THREADS
    Granian(
        "tests.bench.plain_servers:make_app", address="127.0.0.1", port=int(sys.argv[1]), interface=Interfaces.WSGI,
        factory=True, workers=1, runtime_threads=1, blocking_threads=threads, log_enabled=False,
    ).serve()  # fmt: skip
