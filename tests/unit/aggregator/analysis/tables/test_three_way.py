"""Tables within each category of a randomized third question."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.crosstab import crosstab, crosstab_within
from sottovoce.aggregator.analysis.tables.table import Rule
from sottovoce.shared.errors import EstimateError

from tests.blocks import block, blocks, in_block
from tests.documents import one_of, question
from tests.unit.aggregator.analysis.samples import COIN, asked, public

ALMOST_SURE = {"name": "binary_rr", "a": "9999/10000", "b": "1/10000"}


def thirds(**more):
    """Answers of 800 people to three questions, almost as they are; the third is randomized."""
    values = np.random.default_rng(1).integers(0, 2, (3, 800))
    values[0, :300] = values[1, :300] = 1
    survey = asked(question(ALMOST_SURE), question(ALMOST_SURE), question(ALMOST_SURE), **more)
    return Columns.from_arrays(survey, dict(zip("abc", values, strict=True)))


def test_crosstab_within_a_randomized_question_meets_the_tables_of_its_categories():
    """With reports that are almost sure, each table is that of the people in the category, with its limits."""
    made = thirds()
    found = crosstab_within(made, "a", "b", "c")

    assert list(found.tables) == ["no", "yes"]
    assert found.independence is None
    for category, name in enumerate(found.tables):
        alone = crosstab(made.among(made.values["c"] == category), "a", "b")
        for key in ("cells", "conditional"):
            for ours, theirs in zip(getattr(found.tables[name], key), getattr(alone, key), strict=True):
                for one, other in zip(ours, theirs, strict=True):
                    assert (one.estimate, one.raw) == (pytest.approx(other.raw, abs=2e-3),) * 2
                    assert one.std_error == pytest.approx(other.std_error, rel=0.02)
                    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=5e-3)
    assert found.tables["no"].n_pair == 800
    assert "'c' is randomized" in found.tables["no"].warnings[-1]


def test_people_who_gave_no_answer_are_left_out_within_a_randomized_question():
    """Shares of those who answered sum to 1, also within each row."""
    later = {**one_of(2, {"name": "kary_rr", "odds": "99"}), "absent_category": True}
    values = np.random.default_rng(2).integers(0, 3, (3, 900))
    made = Columns.from_arrays(asked(later, later, later), dict(zip("abc", values, strict=True)))

    for among, size in ((None, 2), ("all", 3)):
        found = crosstab_within(made, "a", "b", "c", rule=Rule(among=among))
        assert len(found.tables) == size
        for table in found.tables.values():
            assert (len(table.cells), len(table.cells[0])) == (size, size)
            assert sum(cell.estimate for line in table.cells for cell in line) == pytest.approx(1)
            assert sum(cell.raw for line in table.cells for cell in line) == pytest.approx(1)
            assert [sum(share.estimate for share in line) for line in table.conditional] == pytest.approx([1] * size)


def test_small_public_groups_are_left_out_within_a_randomized_question():
    """The table is that of the other people, as if the few had not been there, and a note has their n."""
    values = np.random.default_rng(3).integers(0, 2, (3, 700))
    values[0, :3], values[0, 3] = 2, 3
    made = Columns.from_arrays(
        asked(public(one_of(4, {})), question(ALMOST_SURE), question(ALMOST_SURE)),
        dict(zip("abc", values, strict=True)),
    )

    found, others = crosstab_within(made, "a", "b", "c"), crosstab_within(made.among(values[0] < 2), "a", "b", "c")

    for name, table in found.tables.items():
        assert table.row_categories == ("c0", "c1")
        for line, other in zip(table.cells, others.tables[name].cells[:2], strict=True):
            assert [each.raw for each in line] == pytest.approx([each.raw for each in other])
        assert table.warnings[-1] == "'a': answers of fewer than 5 people are left out: c2, c3 (n = 4)"


def test_what_a_randomized_third_question_cannot_have_is_refused():
    """Weights, two public questions with it, and three of a block whose reports do not tell their table."""
    with pytest.raises(EstimateError, match="within a public question only"):
        crosstab_within(thirds(), "a", "b", "c", np.ones(800))
    openly = public(question(COIN))
    made = Columns.from_arrays(asked(openly, openly, question(COIN)), {name: [0, 1, 1] * 9 for name in "abc"})
    with pytest.raises(EstimateError, match="take one of them as the third question"):
        crosstab_within(made, "a", "b", "c")
    five = blocks(block(*map(in_block, "abcde"), odds="20", radius=1))
    made = Columns.from_arrays(five, {name: [0, 1] * 50 for name in "abcde"})
    with pytest.raises(EstimateError, match="do not tell how these answers go together"):
        crosstab_within(made, "a", "b", "c")
