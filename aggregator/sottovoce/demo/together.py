"""Compare two real answers in one report with a coin flip each: the same people, epsilon and answers."""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.crosstab import crosstab
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import perturb
from sottovoce.demo.respondents import DemoAnswers
from sottovoce.demo.run import demo_survey
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

FIRST, SECOND = "affair", "hardly_religious"
_HARDLY = ("not_at_all", "mildly")
_COIN = {"mechanism": {"name": "coin_flip"}}
_BLOCK = {"name": "joint_rr", "odds": "9", "radius": 0}


class ComparedCell(NamedTuple):
    """A cell of the table of two yes/no answers.

    Attributes:
        answers: answer to the first and to the second question.
        truth: its true share.
        apart: low and high end of the 95 % interval from two coin flips.
        together: the same from one report of both answers.
    """

    answers: tuple[str, str]
    truth: float
    apart: tuple[float, float]
    together: tuple[float, float]


def compare_cells(people: Sequence[DemoAnswers], draws: Draws | None = None) -> list[ComparedCell]:
    """Randomize two answers of everybody both ways, and return the cells of both tables.

    ``people`` has true answers, as option names by question name; ``draws`` of None are the system's.
    """
    truths = [(int(each["affair_coin"] == "yes"), int(each["religious"] in _HARDLY)) for each in people]
    asked = [{"type": "boolean", "name": name, "label": {"en": name}} for name in (FIRST, SECOND)]
    apart = _survey([{**each, **_COIN} for each in asked])
    together = _survey([{"block": "both", "mechanism": _BLOCK, "items": asked}])
    first, second = (_table(survey, truths, draws or Draws()) for survey in (apart, together))
    return [
        ComparedCell(
            (("no", "yes")[row], ("no", "yes")[column]),
            truths.count((row, column)) / len(truths),
            first[row][column],
            second[row][column],
        )
        for row, column in product((1, 0), repeat=2)
    ]


def _survey(questions: list[dict[str, Any]]) -> Survey:
    return parse_survey({**demo_survey().document, "questions": questions})


def _table(survey: Survey, truths: Sequence[tuple[int, int]], draws: Draws) -> list[list[tuple[float, float]]]:
    first, second = zip(*(perturb(survey, truth, draws, {}) for truth in truths), strict=True)
    columns = Columns.from_arrays(survey, {FIRST: list(first), SECOND: list(second)})
    cells = crosstab(columns, FIRST, SECOND).cells
    return [[(cell.low or 0.0, 1.0 if cell.high is None else cell.high) for cell in row] for row in cells]


def in_words(cells: Sequence[ComparedCell]) -> list[str]:
    """Return the comparison as lines of text, with the widths of the intervals."""
    rows = [
        f"  {' and '.join(cell.answers):12}{cell.truth:>8.1%}{_interval(cell.apart):>18}{_interval(cell.together):>18}"
        for cell in cells
    ]
    wide, narrow = (
        sum(high - low for low, high in ends) for ends in ([c.apart for c in cells], [c.together for c in cells])
    )
    return [
        f"Two answers, {FIRST.replace('_', ' ')} and {SECOND.replace('_', ' ')}, at the same epsilon, 2.20:",
        f"  {'':12}{'truth':>8}{'two coin flips':>18}{'one report':>18}",
        *rows,
        f"One report of both (a block) has intervals of {narrow / wide:.0%} of the width; the odds of one answer are "
        "9:1 for people who know the other, and 5:1 for anyone else, instead of 3:1.",
    ]


def _interval(ends: tuple[float, float]) -> str:
    return f"{100 * ends[0]:.1f} to {ends[1]:.1%}"
