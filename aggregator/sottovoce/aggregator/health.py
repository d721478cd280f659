"""What machines ask: is the process alive, may traffic come, how much of it has there been."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

from flask import Blueprint, Response, current_app
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.base import ALL
from sottovoce.shared.errors import REJECTIONS, StorageError

AGE = 0.5
"""Seconds for which an answer of the database is good."""

blueprint = Blueprint("machine", __name__)


@blueprint.get("/healthz")
def healthz() -> Response:
    """The process answers."""
    return Response("ok\n", content_type="text/plain")


@blueprint.get("/readyz")
def readyz() -> Response:
    """The database can be written to and has the schema known here; otherwise a 503."""
    current_app.extensions["readiness"].check()
    return Response("ready\n", content_type="text/plain")


@blueprint.get("/metrics")
def metrics() -> Response:
    """Prometheus' text: reports in the snapshots and refusals, summed over all surveys. For researchers only."""
    storage: Storage = current_app.extensions["storage"]
    rejected = current_app.extensions["admission"].rejected
    cells = [cell for stored in storage.surveys() for cell in storage.cells(stored.key) if cell.cohort == ALL]
    lines = ["# TYPE sottovoce_reports gauge", f"sottovoce_reports {sum(cell.reports for cell in cells)}"]
    lines += ["# TYPE sottovoce_withdrawn gauge", f"sottovoce_withdrawn {sum(cell.withdrawn for cell in cells)}"]
    lines.append("# TYPE sottovoce_rejected_total counter")
    # Only the closed list of reasons: no survey, no question, nothing that was sent.
    lines += [f'sottovoce_rejected_total{{reason="{reason}"}} {rejected[reason]}' for reason in REJECTIONS]
    return Response("\n".join(lines) + "\n", content_type="text/plain; version=0.0.4")


class Readiness:
    """
    Whether the database can be written to; asked of it twice a second at most, since anybody may ask.

    Args:
        storage: the database.
        patience: seconds within which it must answer. A database that is locked, or a server that has stopped to
            answer, would keep whoever asks it for much longer.
    """

    def __init__(self, storage: Storage, patience: float = 1.0) -> None:
        self._storage = storage
        self._patience = patience
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._probe: Future[None] = Future()
        self._probe.set_result(None)
        self._checked = float("-inf")
        self._failure: str | None = None

    def check(self) -> None:
        """
        Return if the database could be written to within the last half second.

        Raises:
            StorageError: it could not.
        """
        with self._lock:
            if time.monotonic() - self._checked >= AGE:
                if self._probe.done():
                    self._probe = self._thread.submit(self._storage.check)
                self._failure = self._answer()
                self._checked = time.monotonic()
            if self._failure is not None:
                raise StorageError(self._failure)

    def _answer(self) -> str | None:
        try:
            self._probe.result(self._patience)
        except StorageError as error:
            return str(error)
        except TimeoutError:
            return "the database does not answer"
        return None
