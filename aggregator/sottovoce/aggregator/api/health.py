"""Answer monitoring: liveness, readiness, and metrics of this process in Prometheus' format.

Counters that respondents move reveal when a person answers: an observer who polls each second would see every arrival,
from requests for parts of the form as well as from reports. These counters are therefore frozen until the number of
shown reports has grown by the largest ``release_batch``. Then all of them move at the same moment, rounded down to
multiples of it; if they moved one after another, together they would reveal more than each alone. Operators need errors
of the server (``internal``, ``storage``), overload and requests that are no reports at once, so these counters are
always current.

The library's ``_created`` timestamps are left out: the start of a counter would be the time of the first report.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path
from shutil import disk_usage
from threading import Lock
from time import perf_counter, time

from flask import Flask, Response, current_app, g, request
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.registry import Collector
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.intake.group_commit import SIZES
from sottovoce.aggregator.intake.request_limits import BOUNDS, NO_ROUTE, RouteStatus, Series, Traffic
from sottovoce.aggregator.invitations.key_file import missing_keys
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.audit_log.events import BACKED_UP
from sottovoce.aggregator.storage.connect import file_of
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.errors import REJECTIONS, StorageError
from sottovoce.shared.release import release

COUNTED = (*REJECTIONS, "timeout", "too_many", "unauthorized", "storage", "internal")
"""Reasons of refusals that the metrics count: those of admission, and those of the gate in front of it."""

LEAST_STEP = 25
"""Minimum step of the counters: the default ``release_batch``, also if every survey has a smaller one."""

MEMORY_STEP = 8 << 20
"""Step of the memory in the metrics, in bytes."""

RESPONDENTS = "collect."
"""Prefix of the endpoints that devices use."""

HELD_REASONS = frozenset(
    {"unknown_survey", "closed", "digest_mismatch", "out_of_range", "id_conflict", "withdrawn", "token_invalid"}
)
"""Reasons that can refuse an honest device; their counters would reveal an attempt, so they move in steps."""


@dataclass(frozen=True)
class Measured:
    """Measurements at one moment: request durations by route and status class, reports per transaction, refusals."""

    requests: Mapping[RouteStatus, Series]
    groups: Series
    refused: Mapping[str, int]


@dataclass(frozen=True)
class PublicStatus:
    """Values for gauges, which may be shown at any moment.

    Attributes:
        reports: number of reports that results show, over all surveys.
        withdrawn: number of withdrawals that results show.
        waiting: number of reports that wait to be stored; shown in steps.
        ready: True if this node can work on the database.
        step: step of the counters: the largest ``release_batch``, at least ``LEAST_STEP``.
        backup_age: days since the last backup began; infinite without a backup.
        held: number of open surveys with invitations on hold after a restore.
        keyless: number of open surveys with ``access: blind`` whose keys this node lacks.
        old_snapshots: number of snapshots of the database that keep the order of arrival in its files.
        disk_free: free share of the database file's disk, in hundredths; None for a database server.
        late: True if the order of arrival could not be removed from the database's files for a while.
        memory: bytes of memory of this process, rounded up to ``MEMORY_STEP``; None where that is not known.
    """

    reports: int
    withdrawn: int
    waiting: int
    ready: bool
    step: int
    backup_age: float = inf
    held: int = 0
    keyless: int = 0
    old_snapshots: int = 0
    disk_free: float | None = None
    late: bool = False
    memory: int | None = None


class Metrics:
    """Metrics of a process; remembers the last published values of the counters that respondents move."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._published = Measured({}, Series((0,) * (len(SIZES) + 1), 0.0), dict.fromkeys(sorted(HELD_REASONS), 0))
        self._reports = 0
        self.started = int(time())

    def text(self, now: Measured, standing: PublicStatus) -> bytes:
        """Return the metrics in Prometheus' text format, from measurements up to now."""
        registry = CollectorRegistry()
        registry.register(_Families(self._report_scrape_error(now, standing), standing, self.started))
        return generate_latest(registry)

    def _report_scrape_error(self, now: Measured, standing: PublicStatus) -> Measured:
        with self._lock:
            # Deleting a survey lowers the number of shown reports; measure growth from the lower number.
            self._reports = min(self._reports, standing.reports)
            if standing.reports - self._reports >= standing.step:
                self._published, self._reports = _in_steps(now, standing.step), standing.reports
            published = self._published
        at_once = {key: series for key, series in now.requests.items() if not key[0].startswith(RESPONDENTS)}
        refused = {reason: number for reason, number in now.refused.items() if reason not in HELD_REASONS}
        return Measured({**published.requests, **at_once}, published.groups, {**published.refused, **refused})


def _in_steps(now: Measured, step: int) -> Measured:
    """Round the counters that respondents move down to multiples of the step."""
    return Measured(
        {key: series.in_steps(step) for key, series in now.requests.items() if key[0].startswith(RESPONDENTS)},
        now.groups.in_steps(step),
        {reason: number // step * step for reason, number in now.refused.items() if reason in HELD_REASONS},
    )


class _Families(Collector):
    def __init__(self, published: Measured, standing: PublicStatus, started: int) -> None:
        self._published = published
        self._standing = standing
        self._started = started

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily | InfoMetricFamily]:
        yield from (GaugeMetricFamily(*gauge) for gauge in self._gauges())
        about = "Refused requests and reports by reason."
        refused = CounterMetricFamily("sottovoce_rejected", about, labels=["reason"])
        for reason, number in self._published.refused.items():
            refused.add_metric([reason], number)
        yield refused
        about = "Duration of requests in seconds; counts of respondents' routes are rounded down to steps."
        requests = HistogramMetricFamily("sottovoce_request_seconds", about, labels=["route", "class"])
        for labels, series in sorted(self._published.requests.items()):
            requests.add_metric(labels, *_buckets(BOUNDS, series))
        yield requests
        groups = HistogramMetricFamily(
            "sottovoce_group_reports", "Reports stored in one transaction, rounded down to steps."
        )
        groups.add_metric([], *_buckets(SIZES, self._published.groups))
        yield groups
        yield InfoMetricFamily("sottovoce_build", "Version of the running release.", {"version": release()})

    def _gauges(self) -> Iterator[tuple[str, str, float]]:
        """Yield name, explanation and value of each gauge whose value is known."""
        now = self._standing
        gauges = (
            ("sottovoce_reports", "Reports included in published results.", now.reports),
            ("sottovoce_withdrawn", "Withdrawals included in published results.", now.withdrawn),
            ("sottovoce_waiting_reports", "Reports that wait to be stored, rounded down to steps.",
             now.waiting // now.step * now.step),
            ("sottovoce_ready", "1 if this node can use the database, else 0.", int(now.ready)),
            ("sottovoce_backup_age_days",
             "Whole days since the start of the last backup in the journal; +Inf without one.", now.backup_age),
            ("sottovoce_held_surveys",
             "Open surveys with invitations held after a restore, until an administrator releases them.", now.held),
            ("sottovoce_surveys_without_keys",
             "Open surveys with access: blind whose keys this node lacks, so that it refuses every invitation.",
             now.keyless),
            ("sottovoce_old_snapshots",
             "Snapshots and slots of the database, older than 5 minutes, that keep the order of arrival in files.",
             now.old_snapshots),
            ("sottovoce_settling_late",
             "1 if the order of arrival could not be removed from the database's files for ten minutes, else 0.",
             int(now.late)),
            ("sottovoce_memory_bytes",
             "Memory of the process that serves, rounded up to 8 MiB; analyses have processes of their own.",
             now.memory),
            ("sottovoce_started_seconds", "Start of the process that serves, in seconds since 1970.", self._started),
            ("sottovoce_disk_free_ratio",
             "Free share of the disk with the database's file, rounded down to hundredths.", now.disk_free),
        )  # fmt: skip
        yield from ((name, about, value) for name, about, value in gauges if value is not None)


def _buckets(bounds: tuple[float, ...], series: Series) -> tuple[list[tuple[str, float]], float]:
    """Convert a series to the library's form: cumulative counts by upper bound, and the sum."""
    names = [*(str(bound) for bound in bounds), "+Inf"]
    reached = [sum(series.counts[: end + 1]) for end in range(len(names))]
    return list(zip(names, map(float, reached), strict=True)), series.total


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
    return Response(found["metrics"].text(now, _standing(found["storage"])), content_type=CONTENT_TYPE_PLAIN_0_0_4)


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
        storage.is_settling_late(),
        _memory(),
    )


def _memory() -> int | None:
    """Return the memory of this process, in bytes; in steps, since each report that waits takes some."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return -(-pages * os.sysconf("SC_PAGE_SIZE") // MEMORY_STEP) * MEMORY_STEP


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
    Route("machine.readyz", "GET", "/readyz", readyz, "Readiness check: this node can serve requests.", Kind.MACHINE,
          _TEXT),
    Route("machine.metrics", "GET", "/metrics", metrics, "Metrics in the text format of Prometheus.", Kind.RESEARCHER,
          _TEXT),
)  # fmt: skip
"""Routes of monitoring."""
