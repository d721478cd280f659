"""What Prometheus is told: enough to run the aggregator by, and nothing from which one sees people arrive."""

import re
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from types import SimpleNamespace

import pytest
from flask import Flask
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.api.health import (
    HELD_REASONS,
    LEAST_STEP,
    MEMORY_STEP,
    RESPONDENTS,
    Measured,
    Metrics,
    PublicStatus,
)
from sottovoce.aggregator.app import ROUTES, create_app
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.intake.asgi_gate import Gate
from sottovoce.aggregator.intake.request_limits import GATE, NO_ROUTE, Histogram, Series, Traffic
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.audit_log import table
from sottovoce.aggregator.storage.audit_log.events import BACKED_UP, MACHINE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import REJECTIONS
from sottovoce.shared.report import Report, dump_report

from tests.conftest import FakeClock
from tests.invited import blind_survey
from tests.surveys import survey
from tests.unit.aggregator.intake.test_asgi_gate import ask_raw, run

EXAM = survey(name="examined")
EXACT = ("sottovoce_reports", "sottovoce_withdrawn", "sottovoce_ready", "sottovoce_build")
NOTHING = Series((0,) * 10, 0.0)


class Door:
    """The application with its gate, as a scraper and as respondents ask it."""

    def __init__(self, app: Flask, storage: SQLiteStorage) -> None:
        self.gate = Gate(app, Settings(), storage)
        token, digest = new_key()
        storage.add_researcher("ann", digest)
        self._key = ("Authorization", f"Bearer {token}")

    def send(self, number: int) -> None:
        body = dump_report(Report(EXAM.name, EXAM.digest, 0, f"{number:032x}", (number % 2, 0, 0)), EXAM)
        head = [("Host", "x"), ("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        self.visit()
        assert run(ask_raw(self.gate, "POST", "/api/v1/surveys/examined/reports", head, body))[0] == 200

    def visit(self) -> None:
        for path in ("/s/examined", "/api/v1/surveys/examined", "/api/v1/surveys/examined/status"):
            run(ask_raw(self.gate, "GET", path, [("Host", "x")]))

    def metrics(self) -> dict[str, float]:
        status, _, body = run(ask_raw(self.gate, "GET", "/metrics", [("Host", "x"), self._key]))
        assert status == 200
        lines = [line.rpartition(" ") for line in body.decode().splitlines() if not line.startswith("#")]
        return {name: float(value) for name, _, value in lines}


@pytest.fixture
def door(storage: SQLiteStorage, clock: FakeClock) -> Iterator[Door]:
    storage.publish(EXAM)
    app = create_app(Settings(), storage, clock, {})
    yield Door(app, storage)
    app.extensions["group_commit"].end()


def of_respondents(found: dict[str, float]) -> dict[str, float]:
    """What respondents move, but for what results show of them."""
    held = [*HELD_REASONS, RESPONDENTS, "sottovoce_group", "sottovoce_waiting"]
    return {name: value for name, value in found.items() if any(word in name for word in held)}


def test_who_asks_after_every_report_sees_steps_only(door: Door) -> None:
    """Nothing moves between two steps of what results show, and every number of people is a whole number of steps."""
    told, shown = [], []
    for number in range(60):
        door.send(number)
        found = door.metrics()
        told.append(of_respondents(found))
        shown.append(found["sottovoce_reports"])
    moved = [number for number in range(1, 60) if told[number] != told[number - 1]]

    assert moved == [number for number in range(1, 60) if shown[number] != shown[number - 1]]
    assert len(moved) == 2
    for name, value in told[-1].items():
        assert name.endswith("_sum") or "_sum{" in name or value % LEAST_STEP == 0, name
    assert told[-1]['sottovoce_request_seconds_count{class="2xx",route="collect.report"}'] == 50


def test_who_looks_at_the_form_and_goes_moves_nothing(door: Door) -> None:
    """A thousand visits tell nothing while nobody answers."""
    before = of_respondents(door.metrics())
    for _ in range(100):
        door.visit()
    assert of_respondents(door.metrics()) == before


def test_what_is_wrong_is_told_at_once(door: Door) -> None:
    """No report at all, and what researchers ask: those who run the aggregator see it in the next minute."""
    head = [("Host", "x"), ("Content-Type", "application/json"), ("Content-Length", "2")]
    run(ask_raw(door.gate, "POST", "/api/v1/surveys/examined/reports", head, b"{}"))
    door.metrics()
    found = door.metrics()

    assert found['sottovoce_rejected_total{reason="malformed"}'] == 1
    assert found['sottovoce_request_seconds_count{class="2xx",route="machine.metrics"}'] == 1
    assert found["sottovoce_ready"] == 1
    assert any(name.startswith("sottovoce_build_info{version=") for name in found)


def test_labels_are_of_closed_lists_and_no_moment_is_told(door: Door) -> None:
    """Routes of the table, classes and reasons: no survey, nothing that was sent, no time at which anything began."""
    for path in ("/nothing/secret", "/s/secret", "/api/v1/surveys/examined/secret", "/dashboard/secret"):
        run(ask_raw(door.gate, "GET", path, [("Host", "x")]))
    for number in range(30):
        door.send(number)
    text = "\n".join(door.metrics())

    assert "secret" not in text
    assert "examined" not in text
    assert "_created" not in text
    assert set(REJECTIONS) >= HELD_REASONS
    routes = set(re.findall(r'route="([^"]*)"', text))
    assert routes <= {route.endpoint for route in ROUTES} | {GATE, NO_ROUTE}
    assert {NO_ROUTE, "collect.report", "collect.page"} <= routes
    assert set(re.findall(r'class="([^"]*)"', text)) <= {"2xx", "3xx", "4xx", "5xx"}


def test_largest_batch_of_all_surveys_is_the_step() -> None:
    """And a survey that is deleted takes its reports with it: afterwards a whole step is waited for again."""
    metrics, key = Metrics(), ("collect.report", "2xx")

    def told(reports: int, requests: int) -> int:
        now = Measured({key: Series((requests, *[0] * 10), 1.0)}, NOTHING, {})
        text = metrics.text(now, PublicStatus(reports, 0, 0, True, 100)).decode()
        found = re.search(r'_count{class="2xx",route="collect.report"} (\d+)', text)
        return int(found[1]) if found else 0

    assert [told(99, 150), told(100, 150), told(199, 399), told(200, 399)] == [0, 100, 100, 300]
    assert [told(50, 500), told(149, 599), told(150, 699)] == [300, 300, 600]


def test_series_in_steps_keeps_its_shape() -> None:
    """Every reached number is a whole number of steps, none more than there are; the mean stays."""
    histogram = Histogram((1.0, 2.0))
    for size in (1.0, 1.0, 1.0, 2.0, 2.0, 9.0, 9.0):
        histogram.note(size)
    assert histogram.series == Series((3, 2, 2), 25.0)
    assert histogram.series.in_steps(2) == Series((2, 2, 2), 25.0 * 6 / 7)
    assert histogram.series.in_steps(8) == Series((0, 0, 0), 0.0)


def test_class_is_of_the_status() -> None:
    traffic = Traffic()
    for status in (200, 204, 404, 503):
        traffic.note("x", status, 0.0)
    found = {key: sum(series.counts) for key, series in traffic.series().items()}
    assert found == {("x", "2xx"): 2, ("x", "4xx"): 1, ("x", "5xx"): 1}


def test_age_of_the_last_backup_is_told_in_whole_days(door: Door, storage: SQLiteStorage, clock: FakeClock) -> None:
    told = [door.metrics()["sottovoce_backup_age_days"]]
    for days in (5, 2):
        with storage.write() as db:
            table.append(db, day_of(clock.moment) - days, BACKED_UP, MACHINE)
        told.append(door.metrics()["sottovoce_backup_age_days"])

    assert told == [inf, 5, 2]


def test_surveys_whose_keys_are_not_here_are_told(door: Door, storage: SQLiteStorage) -> None:
    """While they are open: such a node is green, and refuses every invitation."""
    told = [door.metrics()["sottovoce_surveys_without_keys"]]
    storage.publish(blind_survey(name="invited"))
    told.append(door.metrics()["sottovoce_surveys_without_keys"])
    storage.close_survey("invited", 1)

    assert [*told, door.metrics()["sottovoce_surveys_without_keys"]] == [0, 1, 0]


def test_surveys_with_held_invitations_are_told_until_they_are_let_go(door: Door, storage: SQLiteStorage) -> None:
    """How many surveys, and not how many invitations: a single one that is taken back moves nothing."""
    key = storage.publish(blind_survey(name="invited")).key
    storage.add_tokens(key, [b"a" * 32, b"b" * 32], blind=True)
    told = [door.metrics()["sottovoce_held_surveys"]]
    for step in (storage.hold_invitations, lambda: storage.revoke_tokens(key, [b"a" * 32])):
        step()
        told.append(door.metrics()["sottovoce_held_surveys"])
    storage.reissue_invitations(key)

    assert [*told, door.metrics()["sottovoce_held_surveys"]] == [0, 1, 1, 0]


def test_free_share_of_the_disk_is_told_in_hundredths(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounded down, so that no single report moves it."""
    monkeypatch.chdir(tmp_path)
    Settings().data.mkdir()
    monkeypatch.setattr("sottovoce.aggregator.api.health.disk_usage", lambda _: SimpleNamespace(total=3000, free=299))
    assert door.metrics()["sottovoce_disk_free_ratio"] == 0.09


def test_memory_start_and_late_settling_are_told(
    door: Door, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory in whole steps, so that no single report moves it; what prevents settling by a one, and no time."""
    before, told = int(time.time()), door.metrics()
    monkeypatch.setattr(storage, "is_settling_late", lambda: True)

    assert told["sottovoce_memory_bytes"] > 0
    assert told["sottovoce_memory_bytes"] % MEMORY_STEP == 0
    assert before - 600 < told["sottovoce_started_seconds"] <= before + 1
    assert [told["sottovoce_settling_late"], door.metrics()["sottovoce_settling_late"]] == [0, 1]
