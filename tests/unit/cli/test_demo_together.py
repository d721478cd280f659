"""The demonstration's two answers in one report: the same people and epsilon, half the interval."""

from sottovoce.aggregator.planning.vectorized_randomizers import seeded
from sottovoce.client.draws import Draws
from sottovoce.demo.run import compare_cells, demo_answers, in_words


def test_one_report_has_half_the_interval_and_finds_the_truth() -> None:
    """In all four cells, whose truths are those of the file; the text says what it costs for one answer."""
    people = demo_answers()
    cells = compare_cells(people, Draws(seeded("together")))
    assert round(sum(cell.truth for cell in cells), 9) == 1
    yes = sum(each["affair_coin"] == "yes" for each in people)
    assert round((cells[0].truth + cells[1].truth) * len(people)) == yes
    for cell in cells:
        low, high = cell.together
        assert low <= cell.truth <= high
        assert 0.4 < (high - low) / (cell.apart[1] - cell.apart[0]) < 0.65
    told = in_words(cells)
    assert len(told) == 7
    assert "9:1 for people who know the other, and 5:1 for anyone else, instead of 3:1" in told[-1]
