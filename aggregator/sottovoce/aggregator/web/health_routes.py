"""What machines ask: is the process alive, may traffic come, how much of it has there been."""

from flask import Response, current_app
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.base import ALL
from sottovoce.aggregator.web.problems import Refusal
from sottovoce.aggregator.web.route_table import Kind, Route
from sottovoce.shared.errors import REJECTIONS, StorageError

COUNTED = (*REJECTIONS, "timeout", "too_many", "unauthorized", "storage", "internal")
"""Reasons of admission, and those of the gate in front of it."""


def healthz() -> Response:
    """The process answers."""
    return Response("ok\n", content_type="text/plain")


def readyz() -> Response:
    """This node can work on the database; otherwise a 503 that says why not."""
    try:
        current_app.extensions["readiness"].check()
    except StorageError as error:
        raise Refusal("storage", str(error)) from None
    return Response("ready\n", content_type="text/plain")


def metrics() -> Response:
    """Prometheus' text: reports in the snapshots and refusals, summed over all surveys. For researchers only."""
    storage: Storage = current_app.extensions["storage"]
    rejected = current_app.extensions["admission"].rejected
    cells = [cell for stored in storage.surveys() for cell in storage.cells(stored.key) if cell.cohort == ALL]
    lines = ["# TYPE sottovoce_reports gauge", f"sottovoce_reports {sum(cell.reports for cell in cells)}"]
    lines += ["# TYPE sottovoce_withdrawn gauge", f"sottovoce_withdrawn {sum(cell.withdrawn for cell in cells)}"]
    lines.append("# TYPE sottovoce_rejected_total counter")
    # Only the closed list of reasons: no survey, no question, nothing that was sent.
    lines += [f'sottovoce_rejected_total{{reason="{reason}"}} {rejected[reason]}' for reason in COUNTED]
    return Response("\n".join(lines) + "\n", content_type="text/plain; version=0.0.4")


_TEXT = ("text/plain",)

ROUTES = (
    Route("machine.healthz", "GET", "/healthz", healthz, "Whether the process answers.", Kind.MACHINE, _TEXT),
    Route("machine.readyz", "GET", "/readyz", readyz, "Whether traffic may come.", Kind.MACHINE, _TEXT),
    Route("machine.metrics", "GET", "/metrics", metrics, "Counters for Prometheus.", Kind.RESEARCHER, _TEXT),
)
"""What machines ask."""
