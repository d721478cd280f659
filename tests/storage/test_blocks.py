"""Reports of one shape as columns: counted as one would count them one by one."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from sottovoce.aggregator.storage import Arrival, Plan
from sottovoce.aggregator.storage.base import ALL
from sottovoce.aggregator.storage.blocks import blocks, frequencies, matrix
from sottovoce.aggregator.storage.rows import pack, unpack
from sottovoce.aggregator.storage.tally import change

QUESTIONS = 3
VALUES = st.one_of(st.none(), st.integers(0, 3), st.sampled_from([253, 254, 255, 256, 65535, 2**32, 2**53 - 1]))
COHORTS = st.one_of(st.none(), st.integers(0, 2))
PLANS = [
    Plan(1, 0, 25, None, lambda _, value: (value,)),
    Plan(2, None, 7, None, lambda question, value: (value, -1) if question else ()),
]
ARRIVALS = st.lists(
    st.builds(
        lambda plan, wave, report_id, values: Arrival(plan, wave, report_id, pack(values)),
        st.sampled_from(PLANS),
        st.integers(0, 1),
        st.binary(min_size=16, max_size=16),
        st.tuples(COHORTS, VALUES, VALUES),
    ),
    max_size=40,
)


@given(ARRIVALS)
def test_blocks_lose_nothing_and_keep_the_order(arrivals: list[Arrival]) -> None:
    """Every report is in one block, among its like, in the group's order."""
    found = [
        Arrival(plan, wave, *each)
        for plan, wave, report_ids, packed in blocks(arrivals)
        for each in zip(report_ids, packed, strict=True)
    ]

    def shape(arrival: Arrival) -> tuple[int, ...]:
        return arrival.plan.survey, arrival.wave, arrival.packed[0]

    seen = list(dict.fromkeys(map(shape, arrivals)))
    assert found == sorted(arrivals, key=lambda arrival: seen.index(shape(arrival)))
    assert len(blocks(arrivals)) == len(seen)


@given(ARRIVALS)
def test_frequencies_are_those_of_the_values(arrivals: list[Arrival]) -> None:
    """Column by column, nulls left out."""
    for block in blocks(arrivals):
        columns = zip(*map(unpack, block.packed), strict=True)
        assert frequencies(matrix(block.packed)) == [
            Counter(value for value in column if value is not None) for column in columns
        ]


@given(ARRIVALS)
def test_change_is_that_of_the_reports_one_by_one(arrivals: list[Arrival]) -> None:
    """Each report counts for all and for its cohort, for each of its questions what the mechanism counts."""
    cells: Counter[tuple[int, ...]] = Counter()
    counts: Counter[tuple[int, ...]] = Counter()
    for plan, wave, _, packed, _ in arrivals:
        values = unpack(packed)
        cohorts = {ALL, ALL if plan.cohort is None or values[plan.cohort] is None else values[plan.cohort]}
        for cohort in cohorts:
            assert cohort is not None
            cells[plan.survey, wave, cohort] += 1
            for question, value in enumerate(values):
                for counted in () if value is None else plan.counted(question, value):
                    counts[plan.survey, wave, cohort, question, counted] += 1
    found = change(blocks(arrivals))

    assert found.cells == sorted(cells.items())
    assert found.counts == sorted(counts.items())
    assert found.batches == {arrival.plan.survey: arrival.plan.release_batch for arrival in arrivals}
