"""
Small groups by public answers, which have no noise to hide in.

Groups      Categories of a public variable with fewer than 5 respondents are one group, joined by the smallest of the
            rest while that has fewer than 5: as cohorts are.
Cells       In a table of two public variables a cell with 1 to 4 respondents is not shown, and nor are others in its
            row and its column until what is hidden there is at least two cells with at least 5 respondents together.
            Otherwise the margins would tell it.
Minima      are for what is published: they protect a table, not an analyst who has the rows.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Variable

LEAST = 5
"""Respondents of a group by public answers."""


def merged(variable: Variable, counts: Sequence[int], least: int = LEAST) -> Variable:
    """
    A public variable with its small categories as one; any other one as it is.

    Args:
        variable: the variable.
        counts: respondents of each category.
        least: a group has none or so many.
    """
    if not (variable.public and isinstance(variable, ChoiceVariable)):
        return variable
    by_size = sorted(range(len(counts)), key=lambda place: (counts[place], place))
    joined = [place for place in by_size if 0 < counts[place] < least]
    rest = [place for place in by_size if counts[place] >= least]
    while rest and 0 < sum(counts[place] for place in joined) < least:
        joined.append(rest.pop(0))
    if not joined:
        return variable
    groups = [[place] for place in range(len(counts)) if place not in joined] + [sorted(joined)]
    names = tuple("+".join(variable.categories[place] for place in group) for group in groups)
    whole = variable.supports
    return replace(
        variable,
        categories=names,
        supports=lambda reported: np.stack([whole(reported)[:, group].any(axis=1) for group in groups], axis=1),
    )


def hidden(counts: NDArray[np.int64], least: int = LEAST) -> NDArray[np.bool_]:
    """
    Which cells of a table of two public variables are not shown.

    Args:
        counts: respondents of each cell, (rows, columns).
        least: a cell that is shown has none or so many.
    """
    hide = (counts > 0) & (counts < least)
    # A cell and its column are written through the transposed view too.
    while not all([_covered(hide, counts, least), _covered(hide.T, counts.T, least)]):
        pass
    return hide


def _covered(hide: NDArray[np.bool_], counts: NDArray[np.int64], least: int) -> bool:
    """Whether no row tells what is hidden in it; if one does, another cell of it is hidden first."""
    for cells, line in zip(hide, counts, strict=True):
        if _tells(cells, line, least) and not cells.all():
            # Best where the column hides something too, then one with respondents, then the smallest.
            ranks = zip(~np.asarray(hide.any(axis=0)), line == 0, line, range(len(line)), strict=True)
            *_, best = min(rank for rank, is_hidden in zip(ranks, cells, strict=True) if not is_hidden)
            cells[best] = True
            return False
    return True


def _tells(cells: NDArray[np.bool_], line: NDArray[np.int64], least: int) -> bool:
    """What is hidden in a row or column follows from its margin, or is fewer than ``least`` together."""
    return bool(cells.any()) and (int(cells.sum()) < 2 or int(line[cells].sum()) < least)
