"""Output of ``plan``: sample sizes, and the cost of local against central privacy."""

import json
import math
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from sottovoce.aggregator.planning.local_vs_central import WHEN, Price, price_of_trust, price_svg
from sottovoce.aggregator.planning.mechanism_choice import ChosenChannel
from sottovoce.aggregator.planning.plan_text import curve_title, needed_in_words, point_in_words, protection_in_words
from sottovoce.aggregator.planning.sample_size import CurvePoint, SampleSize
from sottovoce.cli.output import check_free, write_text
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey


def show_plan(made: SampleSize, channel: ChosenChannel, points: tuple[CurvePoint, ...], as_json: bool) -> None:
    """Show the sample size, its curve over epsilon, and the protection.

    Args:
        made: the plan.
        channel: its channel.
        points: of the curve over epsilon.
        as_json: for programs.
    """
    if as_json:
        document = {"epsilon": channel.spent, **made.as_dict(), "curve": [asdict(point) for point in points]}
        click.echo(json.dumps(document, indent=2))
        return
    mechanism = None if channel.question is None else channel.question.mechanism
    click.echo("\n".join(needed_in_words(made, channel.spent, mechanism)))
    if len(points) > 1:
        table = Table(title=curve_title(mechanism))
        for heading in ("epsilon", f"reports{' in each group' if made.groups > 1 else ''}", "times a direct question"):
            table.add_column(heading, justify="right")
        for point in points:
            table.add_row(*point_in_words(point))
        Console().print(table)
    elif mechanism is not None:
        click.echo(f"{mechanism.name} is not made from an epsilon: there is no curve over it.")
    for line in protection_in_words(made):
        click.echo(line)


def check_source(file: Survey | None, question: str | None, epsilon: float | None, options: int | None) -> None:
    """Refuse options that go with a survey without one, and the other way round.

    Args:
        file: the survey; None if none is named.
        question: of the survey.
        epsilon: instead of a survey.
        options: number of options, instead of a survey.

    Raises:
        SpecError: one of them is out of place.
    """
    if file is None and question is not None:
        raise SpecError("--question is one of a SURVEY, which is not named")
    if file is not None and (epsilon is not None or options is not None):
        raise SpecError("--epsilon and --options stand in place of SURVEY; the question has its own")


def compare_trust(
    survey: Path | None,
    epsilon: float | None,
    share: tuple[int | None, float | None, float],
    out: Path | None,
    as_json: bool,
) -> None:
    """Half-widths by trust, mechanism and number of people.

    Args:
        survey: must be None: the comparison is of no survey's own mechanism.
        epsilon: of one person; None for the coin flip's epsilon.
        share: options, expected share and confidence, None where the usual is meant.
        out: an SVG file to be written as well; None for none.
        as_json: for programs.

    Raises:
        SpecError: a survey is named, or epsilon is no number.
    """
    if survey is not None:
        raise SpecError("--compare is for an --epsilon, --options and --prevalence, without a SURVEY")
    spent = math.log(3) if epsilon is None else epsilon
    if not math.isfinite(spent):
        raise SpecError("--epsilon must be a number")
    options, prevalence, confidence = share
    # As it was typed, not as the nearest binary fraction.
    price = price_of_trust(Fraction(str(spent)), options or 2, 0.5 if prevalence is None else prevalence, confidence)
    check_free(out, (".svg",), force=False)
    if out is not None:
        write_text(price_svg(price), out)
    if as_json:
        click.echo(json.dumps(price.as_dict(), indent=2))
    else:
        _show_price(price)


def _show_price(price: Price) -> None:
    table = Table(title=f"half-width of a share of {price.prevalence:g} at epsilon {price.epsilon:g}")
    for heading in ("trust", "noise", "of"):
        table.add_column(heading)
    for n in price.people:
        table.add_column(f"n = {n:,}", justify="right")
    for row in price.rows:
        table.add_row(row.trust, row.name, row.subject, *(f"{width:.3g}" for width in row.half_widths))
    Console(width=140).print(table)
    conditions = {f"{row.trust}: {row.condition}" for row in price.rows if row.condition}
    click.echo("\n".join([*sorted(conditions), *WHEN]))
