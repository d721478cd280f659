"""Reports as columns, from a database and from arrays."""

import os
from datetime import UTC, datetime

import numpy as np
import pytest
from sottovoce.aggregator.analysis import report_columns as module
from sottovoce.aggregator.analysis.report_columns import Columns, read_columns
from sottovoce.aggregator.api.joint_results import IDLE, ColumnsCache
from sottovoce.aggregator.storage import ReportBatch, StoragePlan
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.shared.errors import EstimateError

from tests.documents import some_of
from tests.surveys import document, months, survey

NOW = datetime(2026, 3, 15, tzinfo=UTC)


def store(storage, asked, rows):
    """Reports (wave, values) of a survey; returns them in the order of their random ids."""
    key = storage.publish(asked).key
    arrivals = [
        ReportBatch(StoragePlan(key, None, 1, None, asked.masks), wave, os.urandom(16), pack(values))
        for wave, values in rows
    ]
    storage.store(arrivals)
    order = sorted(range(len(rows)), key=lambda row: arrivals[row].report_ids)
    return [rows[row] for row in order]


def many(number):
    """So many reports of the small survey, over three waves."""
    return [(row % 3, (row % 2, row % 5 % 3, row % 7 % 2)) for row in range(number)]


def with_mask(**changes):
    """The small survey, with a mask of 40 options besides."""
    questions = [
        *document()["questions"],
        {**some_of(40, {"name": "bitwise_rr", "a": "3/4", "b": "1/4"}), "name": "many"},
    ]
    return survey(questions=questions, **changes)


@pytest.mark.parametrize("in_memory", [module.IN_MEMORY, 0])
def test_columns_are_the_rows_in_the_order_of_their_ids(storage, monkeypatch, in_memory):
    """Values, waves and revisions; in memory, and in a file without a name."""
    monkeypatch.setattr(module, "IN_MEMORY", in_memory)
    rows = store(storage, survey(waves=months(3)), many(300))

    read = read_columns(storage, storage.revisions("exam"))

    assert read.wave.tolist() == [wave for wave, _ in rows]
    for place, name in enumerate(("cheated", "reason", "year")):
        assert read.values[name].tolist() == [values[place] for _, values in rows]
    assert (read.revision == 0).all()
    assert read.waves == (0, 1, 2)
    assert read.nbytes == 300 * 5


def test_values_take_the_bytes_that_the_largest_needs(storage):
    """Whatever width each report was stored in; what was not asked is the largest number."""
    values = [(1, 2, 0, None), (None, 1, 1, 2**40 - 1), (0, None, 0, 3), (1, 0, 1, None)]
    rows = store(storage, with_mask(ask=2), [(0, each) for each in values])

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
    """The others leave no trace, and progress counts what is read."""
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
    """Reopened, answered and closed again they are read anew; deleted they are gone."""
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
    """Columns of the small survey under ``ask: 1``, as a file has them."""
    return {
        "cheated": np.array([1.0, np.nan, 0]),
        "reason": np.ma.array([0, 2, 9], mask=[True, False, True]),
        "year": np.array([0, 1, 1]),
    }


def test_arrays_become_the_same_columns():
    """Missing values masked, or not a number as other programs write them."""
    made = Columns.from_arrays(survey(ask=1, waves=months(2)), good(), wave=[0, 1, 1], revision=[1, 1, 1])

    assert made.values["cheated"].tolist() == [1, 255, 0]
    assert made.values["reason"].tolist() == [255, 2, 255]
    assert made.wave.tolist() == [0, 1, 1]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"year": None}, "there is no column 'year'"),
        ({"age": [1, 2, 3]}, "the survey asks no question 'age'"),
        ({"year": [0, 1]}, "column 'year' has another number of rows"),
        ({"year": [0, 1, 2]}, "column 'year', row 3: not one of its reported values"),
        ({"year": [0, -1, 1]}, "column 'year', row 2: not one of its reported values"),
        ({"year": [0, 0.5, 1]}, "column 'year', row 2: not a whole number"),
        ({"year": [0, np.inf, 1]}, "column 'year', row 2: not a whole number"),
        ({"year": [0, 1, np.nan]}, "column 'year', row 3: there is no value"),
        ({"year": ["a", "b", "c"]}, "column 'year' does not hold whole numbers"),
    ],
)
def test_wrong_arrays_are_refused_with_the_place(changes, words):
    """The question and the row, and never the value."""
    arrays = {name: column for name, column in {**good(), **changes}.items() if column is not None}

    with pytest.raises(EstimateError, match=words):
        Columns.from_arrays(survey(ask=1), arrays)


def test_masks_that_cannot_be_reported_are_refused():
    """A set of another size, though it is below the largest."""
    asked = survey(
        questions=[
            {**some_of(3, {}), "type": "select_one", "mechanism": {"name": "subset_selection", "odds": "3", "size": 2}}
        ]
    )
    asked_name = asked.questions[0].name

    with pytest.raises(EstimateError, match="row 2: not one of its reported values"):
        Columns.from_arrays(asked, {asked_name: [3, 4, 5]})


def test_reports_of_another_revision_are_refused():
    """Their mechanisms are not in the file at hand."""
    with pytest.raises(EstimateError, match="column 'revision', row 2: the report answers another revision"):
        Columns.from_arrays(survey(ask=1), good(), revision=[1, 2, 1])
