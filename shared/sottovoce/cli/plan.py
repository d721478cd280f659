"""``plan``: how many respondents a question needs, before anybody is asked."""

import json
import math
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table
from sottovoce.aggregator.planning import sample_size as planning
from sottovoce.aggregator.planning.plan_text import (
    channel_of,
    drawn_from,
    needed_in_words,
    point_in_words,
    protection_in_words,
    question_named,
)
from sottovoce.aggregator.planning.sample_size import CurvePoint, Fieldwork, Goal, Plan
from sottovoce.aggregator.planning.survey_file import read_survey_file
from sottovoce.shared.spec import Question

EPSILONS = (0.5, math.log(2), 1.0, math.log(3), 1.5, 2.0, 3.0)
"""Where the curve is shown."""


@click.command()
@click.argument("survey", type=click.Path(path_type=Path), required=False)
@click.option("--question", help="Name of a question of SURVEY; its own channel is used.")
@click.option("--epsilon", type=float, help="Instead of SURVEY: of the best channel. [default: ln 3, the coin flip]")
@click.option("--options", type=click.IntRange(2), default=2, help="Number of options, with --epsilon. [default: 2]")
@click.option("--prevalence", "-p", type=float, required=True, help="Expected share of the answer, such as 0.1.")
@click.option("--half-width", type=float, help="Wanted half-width of the interval, such as 0.03.")
@click.option("--against", type=float, help="Instead: the share in a second group that is to be told apart.")
@click.option("--power", type=float, default=0.8, show_default=True, help="With --against.")
@click.option("--confidence", type=float, default=0.95, show_default=True)
@click.option("--assurance", type=float, default=0.5, show_default=True, help="Probability of reaching the half-width.")
@click.option("--response-rate", type=float, default=1.0, show_default=True)
@click.option("--design-effect", type=float, default=1.0, show_default=True, help="Of clustered samples.")
@click.option("--ask", type=(int, int), default=None, help="M Q: each respondent answers M of Q. [default: as SURVEY]")
@click.option("--own-coin", is_flag=True, help="Respondents toss their own coins, as under own_coin.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def plan(  # noqa: PLR0913, PLR0917 - one option each
    survey: Path | None,
    question: str | None,
    epsilon: float | None,
    options: int,
    prevalence: float,
    half_width: float | None,
    against: float | None,
    power: float,
    confidence: float,
    assurance: float,
    response_rate: float,
    design_effect: float,
    ask: tuple[int, int] | None,
    own_coin: bool,
    as_json: bool,
) -> None:
    """Respondents needed for a half-width, or to tell two groups apart."""
    file = None if survey is None else read_survey_file(survey)
    asked = None if file is None else question_named(file, question)
    spent = asked.epsilon if asked is not None else math.log(3) if epsilon is None else epsilon
    channel = planning.kary(spent, options) if asked is None else channel_of(asked)
    goal = Goal(prevalence, half_width, against, confidence, power, assurance)
    by_file = (1, 1) if file is None or file.ask is None else (file.ask, len(file.private))
    m, q = ask or by_file
    drawn = (m, q * drawn_from(asked))
    own_coin = own_coin or (file is not None and file.own_coin)
    fieldwork = Fieldwork(response_rate, clustering=design_effect, asked=drawn, own_coin=own_coin)
    made = planning.plan(channel, goal, fieldwork)
    points = planning.curve(EPSILONS, goal, fieldwork, options)
    if as_json:
        document = {"epsilon": spent, **made.as_dict(), "curve": [_point(point) for point in points]}
        click.echo(json.dumps(document, indent=2))
    else:
        _show(made, spent, points, asked)


def _point(point: CurvePoint) -> dict[str, float | int | None]:
    return {"epsilon": point.epsilon, "reports": point.reports, "ratio": point.ratio}


def _show(made: Plan, epsilon: float, points: tuple[CurvePoint, ...], asked: Question | None) -> None:
    click.echo("\n".join(needed_in_words(made, epsilon, asked)))
    table = Table(title="over epsilon (best channel)")
    for heading in ("epsilon", f"reports{' in each group' if made.groups > 1 else ''}", "times a direct question"):
        table.add_column(heading, justify="right")
    for point in points:
        table.add_row(*point_in_words(point))
    Console().print(table)
    for line in protection_in_words(made):
        click.echo(line)
