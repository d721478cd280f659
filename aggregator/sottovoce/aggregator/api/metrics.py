"""
What Prometheus is told of this process.

Numbers that respondents move tell when somebody answers: whoever asks each second would see everyone arrive, and the
parts of the form that a device fetches tell it as well as a report does. So all of them stand still until the reports
that results show have grown by the largest ``release_batch``, and are told in whole steps of it, all at one moment:
numbers that moved one after the other would tell more together than each by itself. What is wrong here (``internal``,
``storage``), too much or no report at all is told at once: whoever runs the aggregator has to know.

The library's own clocks are left out: the moment at which a counter began is that of the first report.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from math import inf
from threading import Lock

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector
from sottovoce.aggregator.http.request_metrics import BOUNDS, Key, Series
from sottovoce.aggregator.intake.group_commit import SIZES

LEAST_STEP = 25
"""The usual ``release_batch``; a survey with a smaller one hides among the others."""

RESPONDENTS = "collect."
"""How the names of all routes begin that devices use."""

HELD_REASONS = frozenset(
    {"unknown_survey", "closed", "digest_mismatch", "out_of_range", "id_conflict", "withdrawn", "token_invalid"}
)
"""Reasons that an honest device may meet, so that a number of them tells that somebody tried just now."""


@dataclass(frozen=True)
class Measured:
    """
    Numbers of one process at one moment.

    Attributes:
        requests: by route and class.
        groups: sizes of groups of reports that were stored together.
        refused: numbers by reason.
    """

    requests: Mapping[Key, Series]
    groups: Series
    refused: Mapping[str, int]


@dataclass(frozen=True)
class PublicStatus:
    """
    What may be told at any moment.

    Attributes:
        reports: that results show, of all surveys.
        withdrawn: likewise.
        waiting: reports that wait to be stored.
        ready: whether this node can work on the database.
        step: the largest ``release_batch`` of all surveys.
        backup_age: days since the last backup was begun; infinite if there was none.
        held: open surveys of which invitations are held after a restore.
        keyless: open surveys with ``access: blind`` whose keys are not here.
    """

    reports: int
    withdrawn: int
    waiting: int
    ready: bool
    step: int
    backup_age: float = inf
    held: int = 0
    keyless: int = 0


class Metrics:
    """What was told last of what respondents move; for one process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._told = Measured({}, Series((0,) * (len(SIZES) + 1), 0.0), dict.fromkeys(sorted(HELD_REASONS), 0))
        self._reports = 0

    def text(self, now: Measured, standing: PublicStatus) -> bytes:
        """
        The whole text for Prometheus.

        Args:
            now: what was measured so far.
            standing: what may be told at any moment.
        """
        registry = CollectorRegistry()
        registry.register(_Families(self._told_of(now, standing), standing))
        return generate_latest(registry)

    def _told_of(self, now: Measured, standing: PublicStatus) -> Measured:
        with self._lock:
            # A deleted survey takes its reports with it: what comes after that begins anew.
            self._reports = min(self._reports, standing.reports)
            if standing.reports - self._reports >= standing.step:
                self._told, self._reports = _in_steps(now, standing.step), standing.reports
            told = self._told
        at_once = {key: series for key, series in now.requests.items() if not key[0].startswith(RESPONDENTS)}
        refused = {reason: number for reason, number in now.refused.items() if reason not in HELD_REASONS}
        return Measured({**told.requests, **at_once}, told.groups, {**told.refused, **refused})


def _in_steps(now: Measured, step: int) -> Measured:
    """What respondents move, in whole steps."""
    return Measured(
        {key: series.in_steps(step) for key, series in now.requests.items() if key[0].startswith(RESPONDENTS)},
        now.groups.in_steps(step),
        {reason: number // step * step for reason, number in now.refused.items() if reason in HELD_REASONS},
    )


class _Families(Collector):
    def __init__(self, told: Measured, standing: PublicStatus) -> None:
        self._told = told
        self._standing = standing

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily | InfoMetricFamily]:
        """All families, in a fixed order."""
        standing = self._standing
        yield GaugeMetricFamily("sottovoce_reports", "Reports that results show.", standing.reports)
        yield GaugeMetricFamily("sottovoce_withdrawn", "Withdrawals that results show.", standing.withdrawn)
        waiting = standing.waiting // standing.step * standing.step
        yield GaugeMetricFamily("sottovoce_waiting_reports", "Reports that wait to be stored, in steps.", waiting)
        yield GaugeMetricFamily("sottovoce_ready", "Whether this node can work on the database.", int(standing.ready))
        about = "Whole days since the last backup was begun, from the journal; +Inf if none was."
        yield GaugeMetricFamily("sottovoce_backup_age_days", about, standing.backup_age)
        about = "Open surveys of which invitations are held after a restore, until somebody lets them be redeemed."
        yield GaugeMetricFamily("sottovoce_held_surveys", about, standing.held)
        about = "Open surveys with access: blind whose keys this node does not have: it refuses every invitation."
        yield GaugeMetricFamily("sottovoce_surveys_without_keys", about, standing.keyless)
        yield self._refused()
        yield self._requests()
        groups = HistogramMetricFamily("sottovoce_group_reports", "Reports stored in one transaction, in steps.")
        groups.add_metric([], *_buckets(SIZES, self._told.groups))
        yield groups
        yield InfoMetricFamily("sottovoce_build", "The release that runs.", {"version": version("sottovoce")})

    def _refused(self) -> CounterMetricFamily:
        family = CounterMetricFamily("sottovoce_rejected", "Refusals, also those of the gate.", labels=["reason"])
        for reason, number in self._told.refused.items():
            family.add_metric([reason], number)
        return family

    def _requests(self) -> HistogramMetricFamily:
        about = "Seconds that requests took; those of respondents' routes in steps."
        family = HistogramMetricFamily("sottovoce_request_seconds", about, labels=["route", "class"])
        for labels, series in sorted(self._told.requests.items()):
            family.add_metric(labels, *_buckets(BOUNDS, series))
        return family


def _buckets(bounds: tuple[float, ...], series: Series) -> tuple[list[tuple[str, float]], float]:
    """As the library wants them: how many lie within each bound, and the sum."""
    names = [*(str(bound) for bound in bounds), "+Inf"]
    reached = [sum(series.counts[: end + 1]) for end in range(len(names))]
    return list(zip(names, map(float, reached), strict=True)), series.total
