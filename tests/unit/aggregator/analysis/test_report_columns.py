import errno
import os
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from sottovoce.aggregator.analysis import report_columns as module
from sottovoce.aggregator.analysis.report_columns import Columns, answers_of, read_columns
from sottovoce.aggregator.api.joint_results import IDLE, ColumnsCache
from sottovoce.aggregator.storage import ReportBatch, StoragePlan
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import some_of, survey as document_of
from tests.exported import source
from tests.surveys import document, months, survey
from tests.unit.aggregator.analysis.reports import MASK_LIKELIHOOD, OTHER, ROW, SAID, masks
from tests.unit.aggregator.analysis.survey_of_reports import NULL, QUESTIONS, asked, reports

NOW = datetime(2026, 3, 15, tzinfo=UTC)


def store(storage, asked, rows):
    key = storage.publish(asked).key
    arrivals = [
        ReportBatch(StoragePlan(key, None, 1, None, asked.masks), wave, os.urandom(16), pack(values))
        for wave, values in rows
    ]
    storage.store(arrivals)
    order = sorted(range(len(rows)), key=lambda row: arrivals[row].report_ids)
    return [rows[row] for row in order]


def many(number):
    return [(row % 3, (row % 2, row % 5 % 3, row % 7 % 2)) for row in range(number)]


EVERYTHING = reports()


@pytest.mark.parametrize("in_memory", [module.IN_MEMORY, 0])
def test_columns_are_the_rows_in_the_order_of_their_ids(storage, monkeypatch, in_memory):
    monkeypatch.setattr(module, "IN_MEMORY", in_memory)
    rows = store(storage, survey(waves=months(3)), many(300))

    read = read_columns(storage, storage.revisions("exam"))

    assert read.wave.tolist() == [wave for wave, _ in rows]
    for place, name in enumerate(("cheated", "reason", "year")):
        assert read.values[name].tolist() == [values[place] for _, values in rows]
    assert (read.revision == 0).all()
    assert read.waves == (0, 1, 2)
    assert read.nbytes == 300 * 5


def test_columns_on_a_full_disk_are_refused_before_they_are_written(storage, monkeypatch):
    """A page of a mapped file that finds no room ends the process."""
    store(storage, survey(waves=months(3)), many(30))
    taken = []

    def full(_file, start, size):
        taken.append((start, size))
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "IN_MEMORY", 0)
    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left"):
        read_columns(storage, storage.revisions("exam"))
    assert taken == [(0, 30 * 5)]


def test_values_take_the_bytes_that_the_largest_needs(storage):
    """Whatever width each report was stored in; what was not asked is the largest number."""
    values = [(1, 2, 0, None), (None, 1, 1, 2**40 - 1), (0, None, 0, 3), (1, 0, 1, None)]
    mask = {**some_of(40, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"}), "name": "many"}
    rows = store(storage, survey(questions=[*document()["questions"], mask], ask=2), [(0, each) for each in values])

    read = read_columns(storage, storage.revisions("exam"))

    assert {name: column.dtype.itemsize for name, column in read.values.items()} == {
        "cheated": 1,
        "reason": 1,
        "year": 1,
        "many": 8,
    }
    for place, (name, column) in enumerate(read.values.items()):
        found = [
            value if seen else None for value, seen in zip(column.tolist(), read.asked(name).tolist(), strict=True)
        ]
        assert found == [each[place] for _, each in rows]


def test_one_wave_is_read_by_itself(storage):
    rows = store(storage, survey(waves=months(3)), many(100))
    told = []

    read = read_columns(storage, storage.revisions("exam"), 1, lambda *at: told.append(at))

    assert len(read) == 33
    assert read.values["reason"].tolist() == [values[1] for wave, values in rows if wave == 1]
    assert (read.wave == 1).all()
    assert told[-1] == (100, 100)


def test_revisions_stand_one_after_the_other(storage):
    """A question that changed its options is another one, of which earlier reports say nothing."""
    first = survey()
    questions = document()["questions"]
    questions[1] = {**questions[1], "choices": questions[1]["choices"][:2]}
    second = survey(questions=questions[::-1], revision=2, replaces=first.digest)
    old, new = store(storage, first, many(10)[::3]), store(storage, second, [(0, (1, 0, 1)), (0, (0, 1, 0))])

    read = read_columns(storage, storage.revisions("exam"))

    assert read.revision.tolist() == [0] * len(old) + [1] * 2
    assert read.values["cheated"].tolist() == [values[0] for _, values in old] + [values[2] for _, values in new]
    assert read.asked("reason").tolist() == [False] * len(old) + [True] * 2
    assert read.question("reason", 0) is None
    assert read.question("cheated", 0) == first.questions[0]


def test_kept_columns_are_read_once(storage):
    """Until they have been idle for a quarter of an hour."""
    store(storage, survey(), many(9)[::3])
    storage.close_survey("exam", 20_600)
    time = [0.0]
    kept = ColumnsCache(storage, lambda: NOW, lambda: time[0])

    first = kept.columns("exam")
    time[0] += IDLE - 1
    kept.drop()
    assert kept.columns("exam") is first
    time[0] += IDLE
    kept.drop()
    assert kept.columns("exam") is not first


def test_kept_columns_follow_the_survey(storage):
    asked = survey()
    store(storage, asked, many(9)[::3])
    kept = ColumnsCache(storage, lambda: NOW)
    storage.close_survey("exam", 20_600)
    before = kept.columns("exam")
    storage.reopen_survey("exam")
    with pytest.raises(EstimateError, match="the survey is open"):
        kept.columns("exam")
    storage.close_survey("exam", 20_600)
    assert kept.columns("exam") is not before

    storage.delete_survey("exam")
    kept.drop()

    assert kept._cache == {}
    with pytest.raises(EstimateError, match="no survey"):
        kept.columns("exam")


def opening(storage, asked, monkeypatch):
    """Have the survey opened again, and answered once, while its reports are being read."""
    read = storage.packed_by_wave

    def reading(key):
        monkeypatch.setattr(storage, "packed_by_wave", read)
        storage.reopen_survey(asked.name)
        store(storage, asked, [(0, (1, 2, 1))])
        return read(key)

    monkeypatch.setattr(storage, "packed_by_wave", reading)


@pytest.mark.parametrize(
    "read",
    [
        lambda storage: ColumnsCache(storage, lambda: NOW).columns("exam"),
        lambda storage: source(storage, survey(), now=NOW).reports,
    ],
)
def test_survey_opened_while_it_is_read_shows_no_report_more(storage, monkeypatch, read):
    """Neither in analyses nor in files: less those of before, it would be that one report."""
    asked = survey()
    store(storage, asked, many(9)[::3])
    storage.close_survey("exam", 20_600)
    assert len(read(storage)) == len(many(9)[::3])
    opening(storage, asked, monkeypatch)

    with pytest.raises(EstimateError, match="open"):
        read(storage)


def test_try_out_that_goes_on_is_read_anew(storage):
    """Three answers on the way to the next step of its counts are seen at once."""
    asked = survey(trial=True)
    reports = many(9)[::3]
    store(storage, asked, reports[:1])
    kept = ColumnsCache(storage, lambda: NOW)
    before = len(kept.columns("exam"))
    store(storage, asked, reports[1:])

    assert (before, len(kept.columns("exam"))) == (1, len(reports))


def good():
    return {
        "cheated": np.array([1.0, np.nan, 0]),
        "reason": np.ma.array([0, 2, 9], mask=[True, False, True]),
        "year": np.array([0, 1, 1]),
    }


def test_arrays_become_the_same_columns():
    made = Columns.from_arrays(survey(ask=1, waves=months(2)), good(), wave=[0, 1, 1])

    assert made.values["cheated"].tolist() == [1, 255, 0]
    assert made.values["reason"].tolist() == [255, 2, 255]
    assert made.wave.tolist() == [0, 1, 1]


def test_every_report_finds_its_own_row() -> None:
    said, choice = answers_of(EVERYTHING, "said"), answers_of(EVERYTHING, "choice")

    assert said.likelihood[said.codes, 1] == pytest.approx(np.where(SAID, 0.75, 0.25))
    assert said.scores[said.codes, 1] == pytest.approx((SAID - 0.25) / 0.5)
    assert np.array_equal(choice.likelihood[choice.codes], MASK_LIKELIHOOD[masks()])
    assert said.observed.all()
    assert (said.sharpness, choice.sharpness) == (0.5, pytest.approx(1 / 3))


@pytest.mark.parametrize("width", [np.uint8, np.uint16, np.uint32, np.uint64])
def test_width_of_a_column_changes_nothing(width: type[np.unsignedinteger]) -> None:
    columns = replace(EVERYTHING, values={**EVERYTHING.values, "choice": EVERYTHING.values["choice"].astype(width)})
    assert np.array_equal(answers_of(columns, "choice").codes, answers_of(EVERYTHING, "choice").codes)


def test_option_is_observed_where_it_was_drawn() -> None:
    """Of one option of several each report tells; the others have no part."""
    drawn = answers_of(EVERYTHING, "drawn.c1")
    both = answers_of(EVERYTHING, "drawn.c0").observed.astype(int) + drawn.observed

    assert drawn.name == "drawn.c1"
    assert np.all(both == 1)
    assert set(drawn.scores[drawn.codes[drawn.observed], 1]) == {-0.5, 1.5}


def test_revisions_have_rows_of_their_own() -> None:
    """A coin flip first, Warner's design later; and a revision that does not ask it is not observed."""
    later = parse_survey(
        document_of(asked("said", "boolean", {"name": "warner", "truth": "2/3"}), *QUESTIONS[1:], revision=2)
    )
    without = parse_survey(document_of(*QUESTIONS[1:], revision=3))
    columns = replace(
        EVERYTHING, revisions=(without, *EVERYTHING.revisions, later), revision=(ROW % 3).astype(np.uint8)
    )
    said = answers_of(columns, "said")

    assert np.array_equal(said.observed, ROW % 3 > 0)
    likely = np.where(ROW % 3 == 1, np.where(SAID, 0.75, 0.25), np.where(SAID, 2 / 3, 1 / 3))
    assert said.likelihood[said.codes, 1][said.observed] == pytest.approx(likely[said.observed])
    assert said.sharpness == pytest.approx(1 / 3)


def test_question_that_nobody_was_asked_is_refused() -> None:
    with pytest.raises(EstimateError, match="no report contains 'other'"):
        answers_of(reports(other=np.full(600, NULL)), "other")


def test_squares_are_those_of_numbers_that_have_them() -> None:
    """Of a geometric number and a public one; not of a rounded one, and not of categories."""
    noisy, x = answers_of(EVERYTHING, "noisy"), answers_of(EVERYTHING, "x")

    assert noisy.squares[noisy.codes].mean() == pytest.approx(33.628333, abs=5e-7)
    assert x.squares is not None
    assert x.squares == pytest.approx(x.scores**2)
    assert answers_of(EVERYTHING, "rounded").squares is None
    assert answers_of(EVERYTHING, "other").squares is None
    assert np.array_equal(answers_of(EVERYTHING, "other").codes, OTHER)
