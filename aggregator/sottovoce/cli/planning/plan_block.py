"""Output of ``plan --total``: several questions reported separately, some of them asked, or all together."""

import json
import math
from collections.abc import Sequence

import click
from sottovoce.aggregator.planning.block_choice import (
    HALF_WIDTH,
    JOINT,
    SHARES,
    BlockComparison,
    BlockDesign,
    block_plan,
    joinable,
)
from sottovoce.shared.errors import SpecError
from sottovoce.shared.rational import show_odds
from sottovoce.shared.spec import Survey

WORST = "at most, for one question"
ALONE = "if nothing else is known"


def show_block(file: Survey | None, total: float, goal: str, half_width: float | None, as_json: bool) -> None:
    """Show the designs for a survey's private questions.

    Args:
        file: the survey; None if none is named.
        total: epsilon of a person's whole report.
        goal: "shares" or "tables".
        half_width: of the wanted intervals; None for the usual one.
        as_json: for programs.

    Raises:
        SpecError: no survey is named.
    """
    if file is None:
        raise SpecError("--total is for the private questions of a SURVEY, which is not named")
    questions, wanted = joinable(file), HALF_WIDTH if half_width is None else half_width
    names = [question.name for question in questions]
    made = block_plan([question.domain.size for question in questions], total, goal, wanted)
    if as_json:
        both = {"same_total": made.same_total.as_dict(), "same_question": made.same_question.as_dict()}
        click.echo(json.dumps({"questions": names, "goal": goal, "half_width": wanted, **both}, indent=2))
        return
    aim = "each share" if goal == SHARES else "each cell of their tables"
    click.echo(f"{', '.join(names)}: people needed for {aim} to within {100 * wanted:g} points")
    for comparison, alike in (
        (made.same_total, "of a whole report"),
        (made.same_question, "for one question at worst"),
    ):
        click.echo("\n".join(_lines(comparison, names, alike)))


def _lines(comparison: BlockComparison, names: Sequence[str], alike: str) -> list[str]:
    designs = comparison.designs
    lines = [f"\nat the same epsilon {alike}, {comparison.epsilon:.3g}:", _row("", "people", WORST, ALONE)]
    lines += [_row(each.name, _people(each), _odds(each.one), _odds(each.alone)) for each in designs]
    best, separate = comparison.best, designs[0]
    lines.append(f"best: {best.name}")
    if best is not separate:
        lines.append(
            f"{_people(best)} people in the place of {_people(separate)}; one question at most {_odds(best.one)} in "
            f"the place of {_odds(separate.one)}"
        )
    if comparison.worse and best.kind != JOINT:
        lines.append(f"no radius is better for {', '.join(names[place] for place in comparison.worse)}")
    return lines


def _row(name: str, people: str, worst: str, alone: str) -> str:
    return f"{name:25}{people:>14}{worst:>28}{alone:>27}".rstrip()


def _people(design: BlockDesign) -> str:
    return "not identified" if design.people is None else f"{design.people:,}"


def _odds(odds: float) -> str:
    return "-" if math.isinf(odds) else f"{show_odds(odds)}:1"
