"""What is hidden of public answers."""

import numpy as np
import pytest
from sottovoce.aggregator.analysis.tables.small_groups import few_among, hidden


@pytest.mark.parametrize("seed", range(40))
def test_nothing_hidden_follows_from_the_margins(seed):
    """In each row and column nothing is hidden, or two cells with five respondents together, or all."""
    counts = np.array([(seed * 7919 + place * 104729) % (5 + 3 * seed) // 2 for place in range(20)]).reshape(4, 5)

    hide = hidden(counts)

    assert hide[(counts > 0) & (counts < 5)].all()
    for cells, line in [*zip(hide, counts, strict=True), *zip(hide.T, counts.T, strict=True)]:
        assert not cells.any() or cells.all() or (cells.sum() > 1 and line[cells].sum() >= 5)


def test_table_without_small_cells_is_shown_whole():
    """Empty cells are nobody's."""
    assert not hidden(np.array([[0, 5], [7, 100]])).any()


def test_group_of_rare_answers_has_a_name_that_no_answer_has():
    """A survey may have an answer of the same name."""
    assert few_among(("none", "many")) == "few"
    assert few_among(("none", "few", "_few")) == "__few"
