"""Reports of one shape as columns: counted as one would count them one by one."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sottovoce.aggregator.storage import ReportBatch, StoragePlan
from sottovoce.aggregator.storage.pack_values import pack, unpack
from sottovoce.aggregator.storage.reports.batch_columns import (
    NO_COHORT,
    change,
    count,
    matrix,
    merge,
    report_ids,
    split,
    tallies,
    tally,
)

QUESTIONS = 3
VALUES = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([253, 254, 255, 256, 65535, 2**32, 2**53 - 1]))
COHORTS = st.one_of(st.none(), st.integers(0, 2))
PLANS = [StoragePlan(1, 0, 25, None, {}), StoragePlan(2, None, 7, 2, {1: 53, 2: 9})]


def counted(plan: StoragePlan, question: int, value: int) -> list[int]:
    """What one reported value adds one to; bits beyond the options are nobody's."""
    options = plan.masks.get(question)
    return [value] if options is None else [*(bit for bit in range(options) if value >> bit & 1), options]


ARRIVALS = st.lists(
    st.builds(
        lambda plan, wave, report_id, values: ReportBatch(
            plan, wave, report_id, pack(values), () if plan.tokens is None else (report_id[::-1],)
        ),
        st.sampled_from(PLANS),
        st.integers(0, 1),
        st.binary(min_size=16, max_size=16),
        st.tuples(COHORTS, VALUES, VALUES),
    ),
    max_size=40,
)


@given(ARRIVALS)
def test_merging_keeps_every_report_in_the_order_of_ids(arrivals: list[ReportBatch]) -> None:
    """Each is among its like, with its own token, and splitting gives the reports back."""
    merged = merge(arrivals)
    shapes = [(one.plan.survey, one.wave, one.size, one.packed[0]) for one in merged]
    reports = list(split(merged))

    assert shapes == sorted(set(shapes))
    assert sorted(reports, key=repr) == sorted(arrivals, key=repr)
    for one in merged:
        firsts = [report_id[:8] for _, report_id in report_ids([one])]
        assert firsts == sorted(firsts)
    assert list(split(merge(reports))) == reports
    assert count(merged) == len(arrivals)


@given(ARRIVALS)
def test_tallies_are_those_of_the_values_one_by_one(arrivals: list[ReportBatch]) -> None:
    """Column by column, masks bit by bit, nulls left out; each count is told once."""
    for one in merge(arrivals):
        expected = Counter(
            (question, key)
            for report in split([one])
            for question, value in enumerate(unpack(report.packed))
            if value is not None
            for key in counted(one.plan, question, value)
        )
        found = tallies(matrix(one.packed, len(one)), one.plan.masks).tolist()
        assert found == [[0, *key, number] for key, number in sorted(expected.items())]


@given(st.integers(1, 52), st.data())
def test_masks_of_any_type_are_counted_bit_by_bit(options: int, data: st.DataObject) -> None:
    """Narrow and wide, signed and not, most or least significant byte first, every second of a larger array, none."""
    masks = data.draw(st.lists(st.integers(0, (1 << options) - 1), max_size=40))
    kinds = [kind for kind in ("u1", "<u2", ">u4", "<i8", ">u8") if 8 * np.dtype(kind).itemsize > options]
    array = np.array(masks, dtype=np.int64).astype(data.draw(st.sampled_from(kinds)))
    expected = Counter(bit for mask in masks for bit in range(options) if mask >> bit & 1)
    expected[options] = len(masks)

    assert tally(np.repeat(array, 2)[::2], options) == {key: number for key, number in expected.items() if number}


@given(st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**53)), max_size=40))
def test_values_are_counted_one_by_one(values: list[int]) -> None:
    """Near each other or far apart."""
    assert tally(np.array(values, dtype=np.int64)) == Counter(values)


@given(ARRIVALS)
def test_change_is_that_of_the_reports_one_by_one(arrivals: list[ReportBatch]) -> None:
    """Each report counts once, for its cohort or for none, for each of its questions what the mechanism counts."""
    cells: Counter[tuple[int, ...]] = Counter()
    counts: Counter[tuple[int, ...]] = Counter()
    for arrival in arrivals:
        plan, wave, values = arrival.plan, arrival.wave, unpack(arrival.packed)
        of = None if plan.cohort is None else values[plan.cohort]
        cohort = NO_COHORT if of is None else of
        cells[plan.survey, wave, cohort] += 1
        for question, value in enumerate(values):
            for key in () if value is None else counted(plan, question, value):
                counts[plan.survey, wave, cohort, question, key] += 1
    found = change(merge(arrivals))

    assert found.cells.tolist() == [[*key, number] for key, number in sorted(cells.items())]
    assert found.counts.tolist() == [[*key, number] for key, number in sorted(counts.items())]
    assert found.batches == {arrival.plan.survey: arrival.plan.release_batch for arrival in arrivals}


@given(
    st.lists(st.tuples(st.integers(0, 70_000) | st.just(2**53 - 1), st.integers(1, 5)), min_size=1, max_size=40),
    st.sampled_from([0, 17, 53]),
)
def test_values_that_stand_for_several_reports_are_counted_as_often(rows: list[tuple[int, int]], options: int) -> None:
    """By place, sorted, and bit by bit."""
    values, times = (
        np.array(column, dtype=kind) for column, kind in zip(zip(*rows, strict=True), ("u8", "u4"), strict=True)
    )

    assert tally(values, options, times) == tally(np.repeat(values, times), options)
