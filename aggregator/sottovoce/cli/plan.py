"""``plan``: how many respondents a question needs, before anybody is asked."""

import math
from pathlib import Path

import click
from sottovoce.aggregator.planning import question_channels, sample_size as planning
from sottovoce.aggregator.planning.block_choice import GOALS, SHARES
from sottovoce.aggregator.planning.sample_size import Fieldwork, Goal
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli import plan_output
from sottovoce.cli.command import NUMBER, PATH, command
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Question, Survey


@command(
    example="sottovoce plan --prevalence 0.1 --half-width 0.03\n"
    "sottovoce plan exam.yaml --question cheated --half-width 0.03"
)
@click.argument("survey", type=PATH, required=False)
@click.option("--question", help="Name of a question of SURVEY; its own channel is used.")
@click.option("--epsilon", type=NUMBER, help="Instead of SURVEY: what publishing chooses. [default: ln 3, coin flip]")
@click.option("--options", type=click.IntRange(2, 1000), help="Number of options, without SURVEY. [default: 2]")
@click.option("--prevalence", "-p", type=NUMBER, help="Expected share of the answer, such as 0.1.")
@click.option("--mean", help="Instead, where a number or a date is asked for: its expected mean.")
@click.option(
    "--half-width",
    type=NUMBER,
    help="Wanted half-width of the interval: of a share 0.03; of a mean in its own unit, of a date in days.",
)
@click.option("--against", help="Instead: the share or mean in a second group that is to be told apart.")
@click.option("--power", type=NUMBER, default=0.8, help="With --against.")
@click.option("--confidence", type=NUMBER, default=0.95, help="Level of the interval.")
@click.option(
    "--assurance",
    type=NUMBER,
    default=planning.USUAL,
    help="Probability that the interval shown is no wider than wanted, such as 0.9. "
    "[default: 0.5, the usual formula, which promises nothing of the interval shown and its continuity correction]",
)
@click.option("--response-rate", type=NUMBER, default=1.0, help="Share of people who answer.")
@click.option("--design-effect", type=NUMBER, default=1.0, help="Of clustered samples.")
@click.option("--ask", type=(int, int), help="M Q: each respondent answers M of Q. [default: as SURVEY]")
@click.option(
    "--with", "second", help="Another question of SURVEY: what both allow together; --against: of another arm."
)
@click.option("--odds-ratio", type=NUMBER, help="With --with: the odds ratio to be found between the two.")
@click.option(
    "--with-prevalence",
    type=NUMBER,
    help="With --odds-ratio: expected share of the other question [default: 0.3]; of a design: its second share [0.1].",
)
@click.option("--known", help="Instead of --against: a known share or mean to be told from; with --with, of a design.")
@click.option("--n", "count", type=click.IntRange(1), help="With --against, --known or --odds-ratio: power of so many.")
@click.option("--total", type=NUMBER, help="Instead: the epsilon of all private questions, reported together or not.")
@click.option("--goal", type=click.Choice(GOALS), default=SHARES, help="With --total.")
@click.option("--own-coin", is_flag=True, help="Respondents toss their own coins, as under own_coin.")
@click.option("--compare", is_flag=True, help="Instead: half-widths on the device, shuffled and at a curator.")
@click.option("--out", type=PATH, help="With --compare: a picture, FILE.svg.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def plan(
    survey: Path | None, question: str | None, epsilon: float | None, options: int | None, prevalence: float | None,
    mean: str | None, half_width: float | None, against: str | None, power: float, confidence: float, assurance: float,
    response_rate: float, design_effect: float, ask: tuple[int, int] | None, second: str | None,
    odds_ratio: float | None, with_prevalence: float | None, known: str | None, count: int | None, total: float | None,
    goal: str, own_coin: bool, compare: bool, out: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Respondents needed for a half-width, or to tell two groups apart."""
    if compare:
        plan_output.compare_trust(survey, epsilon, (options, prevalence, confidence), out, as_json)
        return
    file = None if survey is None else read_survey_file(survey)
    if file is not None and not as_json:
        click.echo("".join(f"{line}\n" for line in plan_output.asked_of_some(file, (question, second))), nl=False)
    plan_output.check_source(file, question, epsilon, options)
    if total is not None:
        plan_output.show_block(file, total, goal, half_width, as_json)
        return
    if second is not None:
        shares, levels = (prevalence, with_prevalence), (confidence, power)
        test = plan_output.TwoQuestions(shares, known, against, odds_ratio, levels, count)
        plan_output.show_two(file, (question, second), test, as_json)
        return
    asked = None if file is None else question_channels.question_named(file, question)
    expected = question_channels.expected_of(asked, prevalence, mean)
    other = None if against is None else question_channels.read_value(asked, against, "--against")
    channel = question_channels.ChosenChannel(asked, math.log(3) if epsilon is None else epsilon, options or 2)
    if known is not None or count is not None:
        plan_output.check_reports_only(half_width, ask, response_rate, design_effect)
        hypothesis = None if known is None else question_channels.read_value(asked, known, "--known")
        plan_output.show_test(channel.measure, expected, (hypothesis, other), (confidence, power), count, as_json)
        return
    drawn, tosses = question_channels.asked_times(file, asked, ask), _tosses(own_coin, file, asked)
    fieldwork = Fieldwork(response_rate, clustering=design_effect, asked=drawn, own_coin=tosses)
    made = planning.plan(channel.measure, Goal(expected, half_width, other, confidence, power, assurance), fieldwork)
    plan_output.show_plan(made, channel, planning.curve(channel.others, made, channel.spent), as_json)


def _tosses(own_coin: bool, file: Survey | None, asked: Question | None) -> bool:
    """Return whether respondents toss their own coins."""
    if own_coin and asked is not None and asked.domain.grid is not None:
        raise SpecError("--own-coin is for shares only: a coin cannot randomize a number")
    return own_coin or (file is not None and file.own_coin)
