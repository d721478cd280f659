"""From margins as an analyst writes them to weights of the reports."""

import operator
from collections.abc import Sequence

from sottovoce.aggregator.analysis.options import Shares
from sottovoce.aggregator.analysis.raking import Margin, Weights, rake
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.variable_columns import Answers, answers_of
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.sentence import Sentence

BESIDE = " x "
"""Between the questions, and the categories, of a margin of several."""


def raked(columns: Columns, margins: Shares) -> Weights:
    """
    The weights of the reports that make margins hold.

    Raises:
        EstimateError: as ``rake``.
    """
    made = []
    for named, shares in margins.items():
        questions = named.split(BESIDE)
        several = len(questions) > 1
        cells = {tuple(cell.split(BESIDE)) if several else cell: share for cell, share in shares.items()}
        answers = tuple(answers_of(columns, question) for question in questions)
        _check_cells(named, answers, [cell.split(BESIDE) if several else [cell] for cell in shares])
        made.append(Margin(answers, cells))
    return rake(made)


def _check_cells(named: str, answers: Sequence[Answers], cells: Sequence[Sequence[str]]) -> None:
    categories = [each.variable.categories for each in answers]
    for cell in cells:
        if len(cell) != len(answers) or not all(map(operator.contains, categories, cell)):
            known = "; ".join(", ".join(names) for names in categories)
            raise EstimateError(
                Sentence(
                    "a share of '{variable}' names no cell; the categories are: {known}", variable=named, known=known
                )
            )


def questions_of(margins: Shares | None) -> tuple[str, ...]:
    """The questions that margins name."""
    return tuple(question for named in margins or {} for question in named.split(BESIDE))
