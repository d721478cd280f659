import threading
from collections.abc import Sequence
from typing import Any

import pytest
from sottovoce.aggregator.intake.group_commit import GroupCommit
from sottovoce.aggregator.storage import Outcome, ReportBatch
from sottovoce.aggregator.storage.reports.batch_columns import count, merge, split
from sottovoce.shared.errors import ReportRejected, StorageError

from tests.storage.test_contract import arrival


class Recorder:
    """A storage that notes its groups, and waits to be let go."""

    def __init__(self) -> None:
        self.groups: list[list[ReportBatch]] = []
        self.entered, self.go = threading.Semaphore(0), threading.Semaphore(0)
        self.error: Exception | None = None

    def store(self, arrivals: Sequence[ReportBatch]) -> list[Outcome]:
        """Note the group; every report whose first value is 0 is a copy."""
        self.groups.append(list(arrivals))
        self.entered.release()
        self.go.acquire()
        if self.error and any(arrival.packed[1] == 0 for arrival in arrivals):
            raise self.error
        return [Outcome.NEW if report.packed[1] else Outcome.SAME for report in split(arrivals)]


def start(**options: Any) -> tuple[Recorder, GroupCommit]:
    """A writer whose first group is under way, so that what comes now gathers."""
    recorder = Recorder()
    writer = GroupCommit(recorder, **options)  # type: ignore[arg-type]
    writer.submit([arrival(1, 0)])
    recorder.entered.acquire()
    return recorder, writer


def test_writer_stores_what_waits_as_one_group() -> None:
    """Each gets its own outcomes, however many reports arrived together."""
    recorder, writer = start()
    waiting = [writer.submit([arrival(1, number, (number % 2, 0, 0))]) for number in range(1, 60)]
    together = writer.submit(merge(arrival(1, number, (0, 0, 0)) for number in range(60, 70)))
    mixed = writer.submit([arrival(1, 70), arrival(1, 71, (0, 0, 0))])
    recorder.go.release(2)
    outcomes = [one.result(10) for one in waiting]
    writer.end()

    assert outcomes == [[Outcome.NEW if number % 2 else Outcome.SAME] for number in range(1, 60)]
    assert together.result() == [Outcome.SAME] * 10
    assert mixed.result() == [Outcome.NEW, Outcome.SAME]
    assert [count(group) for group in recorder.groups] == [1, 71]


def test_writer_acknowledges_nothing_before_the_group_is_stored() -> None:
    """Nobody is told while the transaction is under way."""
    recorder, writer = start()
    submitted = writer.submit([arrival(1, 1)])
    recorder.go.release()
    recorder.entered.acquire()
    assert not submitted.group.stored.done()
    recorder.go.release()

    assert submitted.result(10) == [Outcome.NEW]
    writer.end()


def test_writer_refuses_what_its_queue_cannot_hold() -> None:
    recorder, writer = start(waiting=3)
    writer.submit([arrival(1, 1), arrival(1, 2), arrival(1, 3)])
    with pytest.raises(ReportRejected) as refused:
        writer.submit([arrival(1, 4)])
    assert refused.value.code == "busy"
    recorder.go.release(3)
    recorder.entered.acquire()
    assert writer.submit([arrival(1, 4)]).result() == [Outcome.NEW]
    writer.end()


@pytest.mark.parametrize("error", [StorageError("disk"), OverflowError("bug")])
def test_writer_passes_a_failure_on_and_lives(error: Exception) -> None:
    recorder, writer = start()
    recorder.error = error
    bad, good = writer.submit([arrival(1, 1, (0, 0, 0))]), writer.submit([arrival(1, 2)])
    recorder.go.release(9)
    with pytest.raises(type(error)):
        bad.result(10)
    if isinstance(error, StorageError):
        with pytest.raises(StorageError):
            good.result(10)
    else:
        assert good.result(10) == [Outcome.NEW]
    assert writer.submit([arrival(1, 3)]).result() == [Outcome.NEW]
    writer.end()


def test_writer_keeps_house_at_its_start_and_survives_a_database_that_cannot() -> None:
    """What fails now is tried again later."""
    kept = threading.Event()

    def housekeeping() -> None:
        kept.set()
        raise StorageError("disk")

    recorder = Recorder()
    writer = GroupCommit(recorder, housekeeping)  # type: ignore[arg-type]
    recorder.go.release()
    assert kept.wait(10)
    assert writer.submit([arrival(1, 1)]).result() == [Outcome.NEW]
    writer.end()
    with pytest.raises(StorageError, match="ending"):
        writer.submit([arrival(1, 2)])


def test_other_work_waits_until_no_report_does() -> None:
    """A save of a draft keeps no report waiting: what was sent after it is stored before it."""
    recorder, writer = start()
    order: list[str] = []
    saving = threading.Thread(
        target=lambda: order.append(writer.after_reports(lambda: f"{len(recorder.groups)} groups"))
    )
    saving.start()
    while not writer._works:
        pass
    report = writer.submit([arrival(1, 1)])
    recorder.go.release(2)
    report.result()
    saving.join()
    writer.end()
    assert order == ["2 groups"]


def test_failure_of_other_work_is_told_to_whoever_asked_for_it() -> None:
    recorder, writer = start()
    recorder.go.release(2)
    with pytest.raises(ZeroDivisionError):
        writer.after_reports(lambda: 1 // 0)
    assert writer.submit([arrival(1, 1)]).result()
    writer.end()
    with pytest.raises(StorageError):
        writer.after_reports(lambda: None)
