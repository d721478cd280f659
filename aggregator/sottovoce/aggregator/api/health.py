"""Answer monitoring: liveness, readiness and metrics."""

from math import inf
from shutil import disk_usage
from time import perf_counter

from flask import Flask, Response, current_app, g, request
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from sottovoce.aggregator.api.metrics import LEAST_STEP, Measured, Metrics, PublicStatus
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.request_metrics import NO_ROUTE, Traffic
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.invitations.missing_keys import missing_keys
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.audit_log.events import BACKED_UP
from sottovoce.aggregator.storage.connect import file_of
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.surveys.stored_surveys import survey_of
from sottovoce.shared.errors import REJECTIONS, StorageError

COUNTED = (*REJECTIONS, "timeout", "too_many", "unauthorized", "storage", "internal")
"""Reasons of refusals that the metrics count: those of admission, and those of the gate in front of it."""


def healthz() -> Response:
    """Answer as long as the process is alive."""
    return Response("ok\n", content_type="text/plain")


def readyz() -> Response:
    """Answer if this node can work on the database; otherwise 503 with the reason."""
    try:
        current_app.extensions["readiness"].check()
    except StorageError as error:
        raise Refusal("storage", str(error)) from None
    return Response("ready\n", content_type="text/plain")


def metrics() -> Response:
    """Serve metrics of this node, and the number of shown reports over all surveys, in Prometheus' text format."""
    found = current_app.extensions
    counted = {reason: found["admission"].rejected[reason] for reason in COUNTED}
    now = Measured(found["traffic"].series(), found["group_commit"].sizes, counted)
    text = found["metrics"].text(now, _standing(found["storage"]))
    return Response(text, content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _standing(storage: Storage) -> PublicStatus:
    surveys = storage.surveys()
    cells = [cell for stored in surveys for cell in storage.cells(stored.key) if cell.cohort == ALL]
    batches = (survey_of(stored.document).release_batch for stored in surveys)
    last = storage.journal.last_day(BACKED_UP)
    return PublicStatus(
        sum(cell.reports for cell in cells),
        sum(cell.withdrawn for cell in cells),
        current_app.extensions["group_commit"].waiting,
        not current_app.extensions["readiness"].is_red,
        max((LEAST_STEP, *batches)),
        inf if last is None else max(0, day_of(current_app.extensions["clock"]()) - last),
        len(storage.held_invitations()),
        len(missing_keys(storage, current_app.extensions["redeeming"].keys)),
        len(storage.old_snapshots()),
        _disk_free(),
    )


def _disk_free() -> float | None:
    settings = current_app.extensions["settings"]
    file = file_of(settings.database, settings.data)
    if file is None or not file.parent.is_dir():
        return None
    disk = disk_usage(file.parent)
    # Privacy: in hundredths, since each report takes a few bytes.
    return 100 * disk.free // disk.total / 100


def register(app: Flask) -> None:
    """Count the requests that reach the app; the gate in front answers some by itself."""
    traffic = app.extensions["traffic"] = Traffic()
    app.extensions["metrics"] = Metrics()

    def begin() -> None:
        g.began = perf_counter()

    def note(reply: Response) -> Response:
        traffic.note(request.endpoint or NO_ROUTE, reply.status_code, perf_counter() - g.began)
        return reply

    app.before_request(begin)
    app.after_request(note)


_TEXT = ("text/plain",)

ROUTES = (
    Route("machine.healthz", "GET", "/healthz", healthz, "Liveness check: the process answers.", Kind.MACHINE, _TEXT),
    Route(
        "machine.readyz",
        "GET",
        "/readyz",
        readyz,
        "Readiness check: this node can serve requests.",
        Kind.MACHINE,
        _TEXT,
    ),
    Route(
        "machine.metrics",
        "GET",
        "/metrics",
        metrics,
        "Metrics in the text format of Prometheus.",
        Kind.RESEARCHER,
        _TEXT,
    ),
)
"""Routes of monitoring."""
