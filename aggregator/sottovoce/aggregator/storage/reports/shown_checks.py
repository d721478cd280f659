"""
Checks of shown counts against live counts.

Shown counts are a copy of the live counts at an earlier moment, which is not stored. The numbers of reports that
arrived and were withdrawn since are known, and bound each shown count from both sides.
"""

from collections.abc import Iterator

from sottovoce.aggregator.storage.stored_totals import Cell, StoredTotals
from sottovoce.shared.spec import Survey


def wrong_shown(key: int, survey: Survey, kept: StoredTotals) -> Iterator[str]:
    """
    Describe shown counts of a revision that cannot be a copy of its live counts.

    Args:
        key: of the revision.
        survey: the revision, parsed.
        kept: stored counts of the whole database.
    """
    cells = [cell for cell in kept.shown if cell[0] == key]
    if not all(_may_be_shown(cell, kept) for cell in cells):
        yield "the numbers of shown reports cannot have been those of the rows"
    there = {place[:3] for place, number in kept.shown_counts.items() if place[0] == key and number}
    if not there <= set(cells) or not all(_may_be_counted(cell, survey, kept) for cell in cells):
        yield "the shown counts cannot have been those of the rows"


def _may_be_shown(cell: Cell, kept: StoredTotals) -> bool:
    arrived, withdrawn, at_close = kept.shown[cell]
    # After the first close, a cell is shown again only when it has grown.
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
    """Return True if the counts hold exactly as many answers a report as the survey asks of a respondent."""
    answered = [
        question.reports({value: number for (of, value), number in shown.items() if of == index})
        for index, question in enumerate(survey.questions)
    ]
    asked = len(survey.questions) - survey.unasked
    within = all(0 <= number <= reports for number in shown.values())
    return within and max(answered) <= reports and sum(answered) == reports * asked
