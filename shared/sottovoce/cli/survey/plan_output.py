"""What ``plan`` prints: people needed, what two questions allow together, the price of trusting nobody."""

import json
import math
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from sottovoce.aggregator.planning.lint import describe_mechanism
from sottovoce.aggregator.planning.local_vs_central import WHEN, Price, PriceRow, price_of_trust
from sottovoce.aggregator.planning.mechanism_choice import ChosenChannel
from sottovoce.aggregator.planning.pair_power import pair_plan, pair_words
from sottovoce.aggregator.planning.question_channels import question_named
from sottovoce.aggregator.planning.sample_size import CurvePoint, SampleSize
from sottovoce.cli.output_file import check_free, write_text
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey


def needed_in_words(made: SampleSize, epsilon: float | None, mechanism: Mechanism | None) -> list[str]:
    """
    How many reports and invitations, and how many an open question would need.

    Args:
        made: the plan.
        epsilon: of a report, or of all waves; None for a public question.
        mechanism: the question's own; None without a question, and for a public one.
    """
    per_group = " in each group" if made.groups > 1 else ""
    waves = 1 if mechanism is None else mechanism.waves
    per_wave, of_all = (" in each wave", f" of all {waves} waves") if waves > 1 else ("", "")
    how = "" if mechanism is None else f", {describe_mechanism(mechanism)}"
    cost = "asked openly" if epsilon is None else f"epsilon{of_all} {show_epsilon(epsilon)}"
    lines = [f"{made.reports:,} reports{per_group}{per_wave}, {cost}{how}"]
    if made.invitations != made.reports:
        lines.append(f"{made.invitations:,} people to invite{per_group}")
    if epsilon is None:
        return lines
    ratio = "" if made.ratio is None else f", {made.ratio:.1f} times fewer"
    return [*lines, f"{made.direct:,} if the question were asked openly{ratio}"]


def curve_title(mechanism: Mechanism | None) -> str:
    """Whose curve it is: one mechanism's, or of what publishing chooses at each point."""
    return f"over epsilon ({'what publishing chooses' if mechanism is None else mechanism.name})"


def point_in_words(point: CurvePoint) -> tuple[str, str, str]:
    """A row of the table over epsilon: epsilon, reports, times those of a direct question."""
    epsilon = f"{show_epsilon(point.epsilon)} (this plan)" if point.own else f"{point.epsilon:.2f}"
    reports = "out of reach" if point.reports is None else f"{point.reports:,}"
    return epsilon, reports, "" if point.ratio is None else f"{point.ratio:.1f}"


def protection_in_words(made: SampleSize) -> list[str]:
    """What would be estimated if some people said no whatever is true."""
    return [
        f"If {row.share:.0%} protect themselves by answering no, {row.expected:.1%} will be estimated "
        f"where {made.goal.expected:.1%} are true."
        for row in made.protection[1:]
    ]


WIDTH, HEIGHT = 720, 440
_LEFT, _TOP, _RIGHT, _BOTTOM = 70, 20, 250, 50
COLOURS = {"local": "#b3441e", "shuffled": "#8a6d00", "central": "#2a6fb0", "none": "#555555"}
_DASHES = ("", "6 3", "2 3", "9 3 2 3", "1 4")


def price_svg(price: Price) -> str:
    """A line for each row, its name at the right, with a description for those who listen."""
    least = math.floor(math.log10(min(width for row in price.rows for width in row.half_widths)))
    most = math.ceil(math.log10(max(width for row in price.rows for width in row.half_widths)))
    lines = [_line(row, price, (least, most), place) for place, row in enumerate(price.rows)]
    title = f"Half-width at epsilon {price.epsilon:g} by number of people: local, shuffled, central, no noise"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-size="11">'
    return "\n".join([head, f"<title>{title}</title>", *_axes(price, least, most), *lines, "</svg>", ""])


def _axes(price: Price, least: int, most: int) -> list[str]:
    found = []
    for n in price.people:
        x = _x(price, n)
        found.append(f'<path d="M{x:.1f} {_TOP}V{HEIGHT - _BOTTOM}" stroke="#ddd"/>')
        found.append(f'<text x="{x:.1f}" y="{HEIGHT - _BOTTOM + 16}" text-anchor="middle">{n:,}</text>')
    for power in range(least, most + 1):
        y = _y(10.0**power, (least, most))
        found.append(f'<path d="M{_LEFT} {y:.1f}H{WIDTH - _RIGHT}" stroke="#ddd"/>')
        found.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0**power:g}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    return [*found, f'<text x="{middle}" y="{HEIGHT - 12}" text-anchor="middle">people</text>']


def _line(row: PriceRow, price: Price, powers: tuple[int, int], place: int) -> str:
    points = " ".join(
        f"{_x(price, n):.1f},{_y(width, powers):.1f}" for n, width in zip(price.people, row.half_widths, strict=True)
    )
    colour, dashes = COLOURS[row.trust], _DASHES[place % len(_DASHES)]
    y = _TOP + 14 + 18 * place
    edge = WIDTH - _RIGHT + 12
    stroke = f'fill="none" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{dashes}"'
    return (
        f'<polyline points="{points}" {stroke}/><path d="M{edge} {y - 4}h24" {stroke}/>'
        f'<text x="{edge + 30}" y="{y}" fill="{colour}">{row.trust}: {row.name} ({row.subject})</text>'
    )


def _x(price: Price, n: int) -> float:
    low, high = math.log10(price.people[0]), math.log10(price.people[-1])
    return _LEFT + (math.log10(n) - low) / (high - low) * (WIDTH - _LEFT - _RIGHT)


def _y(width: float, powers: tuple[int, int]) -> float:
    share = (math.log10(width) - powers[0]) / (powers[1] - powers[0])
    return HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM)


def show_pair(file: Survey | None, question: str | None, beside: str, power: float, as_json: bool) -> None:
    """
    What two questions will allow together.

    Args:
        file: the survey; None where none is named.
        question: name of the first.
        beside: name of the second.
        power: of tests.
        as_json: for programs.

    Raises:
        SpecError: no survey, or no such questions.
    """
    if file is None:
        raise SpecError("--with is a question of a SURVEY, which is not named")
    made = pair_plan(file, question_named(file, question), question_named(file, beside), power)
    click.echo(json.dumps(made.as_dict(), indent=2) if as_json else "\n".join(pair_words(made)))


def show_plan(made: SampleSize, chosen: ChosenChannel, points: tuple[CurvePoint, ...], as_json: bool) -> None:
    """
    People needed.

    Args:
        made: the plan.
        chosen: its channel.
        points: of the curve over epsilon.
        as_json: for programs.
    """
    if as_json:
        document = {"epsilon": chosen.spent, **made.as_dict(), "curve": [asdict(point) for point in points]}
        click.echo(json.dumps(document, indent=2))
        return
    mechanism = None if chosen.question is None else chosen.question.mechanism
    click.echo("\n".join(needed_in_words(made, chosen.spent, mechanism)))
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


def compare_trust(
    survey: Path | None,
    epsilon: float | None,
    share: tuple[int | None, float | None, float],
    out: Path | None,
    as_json: bool,
) -> None:
    """
    Half-widths by trust, mechanism and number of people.

    Args:
        survey: must be None: the comparison is of no survey's own mechanism.
        epsilon: of one person; None for that of the coin flip.
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
