"""
What is shown, held against the live counts.

It is a copy of them as of an earlier moment, which is not kept; but what has come and what was withdrawn since is
known by number, and so within which bounds each shown count lies. Where nothing came since, that is one number.
"""

from collections.abc import Iterator

from sottovoce.aggregator.storage.stored_totals import Cell, StoredTotals
from sottovoce.shared.spec import Survey


def wrong_shown(key: int, survey: Survey, kept: StoredTotals) -> Iterator[str]:
    """
    What cannot be a copy of the live counts, in words.

    Args:
        key: of the revision.
        survey: the same, read.
        kept: all that is kept.
    """
    cells = [cell for cell in kept.shown if cell[0] == key]
    if not all(_may_be_shown(cell, kept) for cell in cells):
        yield "the numbers of shown reports cannot have been those of the rows"
    there = {place[:3] for place, number in kept.shown_counts.items() if place[0] == key and number}
    if not there <= set(cells) or not all(_may_be_counted(cell, survey, kept) for cell in cells):
        yield "the shown counts cannot have been those of the rows"


def _may_be_shown(cell: Cell, kept: StoredTotals) -> bool:
    arrived, withdrawn, at_close = kept.shown[cell]
    # Later steps only add to what the first close showed.
    close = 0 if at_close is None else at_close
    return (
        0 <= withdrawn <= kept.withdrawn[cell]
        and arrived <= kept.arrived[cell]
        and 0 <= close <= arrived - withdrawn <= kept.arrived[cell]
    )


def _may_be_counted(cell: Cell, survey: Survey, kept: StoredTotals) -> bool:
    arrived, withdrawn, _ = kept.shown[cell]
    shown = {place[3:]: number for place, number in kept.shown_counts.items() if place[:3] == cell}
    live = {place[3:]: number for place, number in kept.counts.items() if place[:3] == cell}
    come, gone = kept.arrived[cell] - arrived, kept.withdrawn[cell] - withdrawn
    moved = all(-gone <= live.get(place, 0) - shown.get(place, 0) <= come for place in shown.keys() | live.keys())
    return moved and _adds_up(shown, survey, arrived - withdrawn)


def _adds_up(shown: dict[tuple[int, int], int], survey: Survey, reports: int) -> bool:
    """Whether every report has a value for as many questions as a device answers."""
    answered = [
        question.reports({value: number for (of, value), number in shown.items() if of == index})
        for index, question in enumerate(survey.questions)
    ]
    asked = len(survey.questions) - survey.unasked
    within = all(0 <= number <= reports for number in shown.values())
    return within and max(answered) <= reports and sum(answered) == reports * asked
