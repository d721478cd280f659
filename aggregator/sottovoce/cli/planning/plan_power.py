"""Output of ``plan`` for tests: of a known value, of two groups, and of two questions."""

import json

import click
from sottovoce.aggregator.planning import given_sample as given
from sottovoce.aggregator.planning.estimand import Measure
from sottovoce.aggregator.planning.given_sample import GivenSample
from sottovoce.aggregator.planning.pair_power import ODDS_RATIO, pair_plan, pair_words
from sottovoce.aggregator.planning.question_channels import question_named
from sottovoce.cli.planning.plan_arms import ArmTest, plan_arms
from sottovoce.shared.errors import SpecError
from sottovoce.shared.spec import Survey


def show_test(
    measure: Measure,
    expected: float,
    others: tuple[float | None, float | None],
    levels: tuple[float, float],
    count: int | None,
    as_json: bool,
) -> None:
    """Show a test against a known value, or else of two groups.

    Args:
        measure: the estimand and its channel.
        expected: share or mean.
        others: the known value and the value in a second group; None for none.
        levels: confidence and wanted power.
        count: number of reports; None for the number that the power needs.
        as_json: for programs.
    """
    known, other = others
    if known is not None:
        made = given.one_sample(measure, known, expected, levels, count)
    elif other is None:
        raise SpecError("--n is for --against, --known or --with")
    else:
        made = given.two_groups(measure, (expected, other), levels, count)
    _show(made, levels[1], as_json)


def check_reports_only(
    half_width: float | None, ask: tuple[int, int] | None, response_rate: float, design_effect: float
) -> None:
    """Refuse options that a test of a given number of reports would leave out.

    Args:
        half_width: wanted half-width of an interval.
        ask: numbers of questions answered and asked.
        response_rate: share of people who answer.
        design_effect: of clustered samples.

    Raises:
        SpecError: one of them is given.
    """
    if half_width is not None or ask is not None or (response_rate, design_effect) != (1.0, 1.0):
        raise SpecError(
            "--known and --n count reports: leave out --half-width, --ask, --response-rate and --design-effect"
        )


def show_two(
    file: Survey | None,
    names: tuple[str | None, str],
    test: tuple[float | None, int | None],
    power: float,
    as_json: bool,
    arms: tuple[float | None, str | None, float],
) -> None:
    """Show what two questions allow together; with an odds ratio or a number of reports, the power to find it.

    Args:
        file: the survey; None if none is named.
        names: of the questions.
        test: odds ratio and number of reports; None for what is not given.
        power: wanted power.
        as_json: for programs.
        arms: fields of ``ArmTest``; without what it compares with, the questions are of the same people.
    """
    odds_ratio, count = test
    if arms[1] is not None:
        _show(plan_arms(file, names, ArmTest(*arms), power, count), power, as_json)
        return
    if file is None or test == (None, None):
        _show_pair(file, *names, power, as_json)
        return
    both = question_named(file, names[0]), question_named(file, names[1])
    _show(given.odds_ratio_of_two(file, both, odds_ratio or ODDS_RATIO, power, count), power, as_json)


def _show_pair(file: Survey | None, first: str | None, second: str, power: float, as_json: bool) -> None:
    """Show the precision and power of an analysis of two questions."""
    if file is None:
        raise SpecError("--with is a question of a SURVEY, which is not named")
    made = pair_plan(file, question_named(file, first), question_named(file, second), power)
    click.echo(json.dumps(made.as_dict(), indent=2) if as_json else "\n".join(pair_words(made)))


def _show(made: GivenSample, power: float, as_json: bool) -> None:
    """Show the power of a number of reports, and the reports needed."""
    click.echo(json.dumps(made.as_dict(), indent=2) if as_json else "\n".join(made.in_words(power)))
