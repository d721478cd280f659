"""Output of ``plan``: sample sizes, the cost of local against central privacy, questions together or apart, and tests.

Tests are of a known value, of two groups, of two questions, and of two questions in different arms.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import click
from rich.console import Console
from rich.table import Table
from sottovoce.aggregator.planning import block_choice as blocks, sample_size as given
from sottovoce.aggregator.planning.lint import describe_mechanism
from sottovoce.aggregator.planning.local_vs_central import WHEN, Price, price_of_trust, price_svg
from sottovoce.aggregator.planning.question_channels import (
    ChosenChannel,
    Measure,
    expected_of,
    question_named,
    read_value,
)
from sottovoce.aggregator.planning.sample_size import CurvePoint, GivenSample, SampleSize, arms_apart, design_power
from sottovoce.cli.command import check_free, write_text
from sottovoce.cli.results.place import terminal_words
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.parse_item import planned_comparisons
from sottovoce.shared.rational import show_epsilon, show_odds
from sottovoce.shared.spec import Survey

OF_DESIGN = (
    "'{question}' and '{against}' are one question in the two groups of the design {design}: plan it with --known, a "
    "share of yes that the expected one, -p, is to be told from"
)
WORST = "at most, for one question"
ALONE = "if nothing else is known"


def show_plan(made: SampleSize, channel: ChosenChannel, points: tuple[CurvePoint, ...], as_json: bool) -> None:
    """Show the sample size, its curve over epsilon, and the protection."""
    if as_json:
        document = {"epsilon": channel.spent, **made.as_dict(), "curve": [asdict(point) for point in points]}
        click.echo(json.dumps(document, indent=2))
        return
    mechanism = None if channel.question is None else channel.question.mechanism
    click.echo("\n".join(needed_in_words(made, channel.spent, mechanism)))
    if len(points) > 1:
        chosen = "what publishing chooses" if mechanism is None else mechanism.name
        table = Table(title=f"over epsilon ({chosen})")
        for heading in ("epsilon", f"reports{' in each group' if made.groups > 1 else ''}", "times a direct question"):
            table.add_column(heading, justify="right")
        for point in points:
            own = " (this plan)" if point.own else ""
            reports = "out of reach" if point.reports is None else f"{point.reports:,}"
            ratio = "" if point.ratio is None else f"{point.ratio:.1f}"
            table.add_row(f"{show_epsilon(point.epsilon)}{own}", reports, ratio)
        Console().print(table)
    elif mechanism is not None:
        click.echo(f"{mechanism.name} is not made from an epsilon: there is no curve over it.")
    for line in protection_in_words(made):
        click.echo(line)


def needed_in_words(made: SampleSize, epsilon: float | None, mechanism: Mechanism | None) -> list[str]:
    """Describe the numbers of reports and invitations, and the reports that a public question would need.

    ``epsilon`` is the cost of a report, or of all waves, and None for a public question; ``mechanism`` is None for
    one, too, and without a question.
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


def asked_of_some(survey: Survey, names: Sequence[str | None]) -> list[str]:
    """Say which of these questions public answers hide from some people: results do not count them."""
    is_open = {each.name: each.mechanism is None for each in survey.questions}
    found = []
    for item in survey.items:
        every, either = ([is_open[each.question] for each in some] for some in (item.visible_if, item.any_of))
        hides, tells = any(every) or (bool(either) and all(either)), all((*every, *either))
        found += [each.name for each in item.questions if hides and (tells or each.domain.absent)]
    told = (
        "'{}' is not asked of everybody: only people whose public answers lead to it count, so divide by their share."
    )
    return [told.format(name) for name in names if name in found]


def protection_in_words(made: SampleSize) -> list[str]:
    """Describe the bias if some respondents always answer no."""
    return [
        f"If {row.share:.0%} protect themselves by answering no, {row.expected:.1%} will be estimated "
        f"where {made.goal.expected:.1%} are true."
        for row in made.protection[1:]
    ]


def check_source(file: Survey | None, question: str | None, epsilon: float | None, options: int | None) -> None:
    """Refuse options that go with a survey without one, and the other way round, with a SpecError."""
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
    """Compare half-widths by trust, mechanism and number of people.

    ``epsilon`` of None is the coin flip's. ``share`` is options, expected share and confidence, None where the usual is
    meant. ``out`` is an SVG file to be written as well. Raises SpecError if a survey is named, since the comparison is
    of no survey's own mechanism, or epsilon is no number.
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


def show_block(file: Survey | None, total: float, goal: str, half_width: float | None, as_json: bool) -> None:
    """Show the designs for a survey's private questions; raises SpecError if no survey is named.

    ``total`` is epsilon of a person's whole report, ``goal`` "shares" or "tables", a ``half_width`` of None the usual
    one.
    """
    if file is None:
        raise SpecError("--total is for the private questions of a SURVEY, which is not named")
    questions, wanted = blocks.joinable(file), blocks.HALF_WIDTH if half_width is None else half_width
    names = [question.name for question in questions]
    made = blocks.block_plan([question.domain.size for question in questions], total, goal, wanted)
    if as_json:
        click.echo(json.dumps({"questions": names, "goal": goal, "half_width": wanted, **asdict(made)}, indent=2))
        return
    aim = "each share" if goal == blocks.SHARES else "each cell of their tables"
    click.echo(f"{', '.join(names)}: people needed for {aim} to within {100 * wanted:g} points")
    for comparison, alike in (
        (made.same_total, "of a whole report"),
        (made.same_question, "for one question at worst"),
    ):
        click.echo("\n".join(_lines(comparison, names, alike)))


def _lines(comparison: blocks.BlockComparison, names: Sequence[str], alike: str) -> list[str]:
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
    if comparison.worse and best.kind != blocks.JOINT:
        lines.append(f"no radius is better for {', '.join(names[place] for place in comparison.worse)}")
    return lines


def _row(name: str, people: str, worst: str, alone: str) -> str:
    return f"{name:25}{people:>14}{worst:>28}{alone:>27}".rstrip()


def _people(design: blocks.BlockDesign) -> str:
    return "not identified" if design.people is None else f"{design.people:,}"


def _odds(odds: float) -> str:
    return "-" if math.isinf(odds) else f"{show_odds(odds)}:1"


def show_test(
    measure: Measure,
    expected: float,
    others: tuple[float | None, float | None],
    levels: tuple[float, float],
    count: int | None,
    as_json: bool,
) -> None:
    """Show a test against a known value, or else of two groups.

    ``others`` are the known value and the value in a second group, ``levels`` confidence and wanted power; a ``count``
    of None means the number of reports that the power needs.
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
    """Refuse, with a SpecError, options that a test of a given number of reports would leave out.

    ``ask`` is the numbers of questions answered and asked.
    """
    if half_width is not None or ask is not None or (response_rate, design_effect) != (1.0, 1.0):
        raise SpecError(
            "--known and --n count reports: leave out --half-width, --ask, --response-rate and --design-effect"
        )


class TwoQuestions(NamedTuple):
    """Options of a plan for two questions: expected shares, and values as typed; None for what is not given.

    ``levels`` are confidence and wanted power, ``n`` is a number of reports, or of people in all arms.
    """

    shares: tuple[float | None, float | None]
    known: str | None
    against: str | None
    odds_ratio: float | None
    levels: tuple[float, float]
    n: int | None


def show_two(file: Survey | None, names: tuple[str | None, str], test: TwoQuestions, as_json: bool) -> None:
    """Show what two questions allow together, or the power to find a difference of arms or an odds ratio.

    With a known share they are those of a design, with a value to compare with of different arms, else of the same
    people.

    Raises:
        SpecError: no survey or question of this name, a value that is none, or a design without a known share.
        EstimateError: an arm asks both, or the values are equal or out of range.
    """
    if file is None:
        raise SpecError("--with is a question of a SURVEY, which is not named")
    both = question_named(file, names[0]), question_named(file, names[1])
    (prevalence, other), (_, power) = test.shares, test.levels
    asked = {question.name for question in both}
    planned = next((each for each in planned_comparisons(file) if asked == {each.question, each.against}), None)
    if planned and planned.design and test.known is None:
        raise SpecError(OF_DESIGN.format(question=planned.question, against=planned.against, design=planned.design))
    if test.known is not None:
        # The second share: of those who say yes to the other question, or who always say no.
        expected = expected_of(both[0], prevalence, None), 0.1 if other is None else other
        made = design_power(file, both, expected, read_value(both[0], test.known, "--known"), test.levels, test.n)
    elif test.against is not None:
        expected = expected_of(both[0], prevalence, None), read_value(both[1], test.against, "--against")
        made = arms_apart(file, both, expected, test.levels, test.n)
    elif (*test.shares, test.odds_ratio, test.n) == (None, None, None, None):
        _show_pair(blocks.pair_plan(file, *both, power), as_json)
        return
    else:
        first, second = (usual if one is None else one for one, usual in zip(test.shares, blocks.MARGINS, strict=True))
        odds_ratio = test.odds_ratio or blocks.ODDS_RATIO
        made = given.odds_ratio_of_two(file, both, odds_ratio, power, test.n, (first, second))
    _show(made, power, as_json)


def _show_pair(made: blocks.PairPlan, as_json: bool) -> None:
    """Show the precision and power of an analysis of two questions."""
    sentences = [f"{made.first}, {made.second}", *blocks.pair_words(made, terminal_words())]
    if made.cell is None:
        sentences.append("one of them is a number: its means among groups can be compared; plan with --mean --against")
    click.echo(json.dumps(asdict(made), indent=2) if as_json else "\n".join(sentences))


def _show(made: GivenSample, power: float, as_json: bool) -> None:
    """Show the power of a number of reports, and the reports needed."""
    click.echo(json.dumps(made.as_dict(), indent=2) if as_json else "\n".join(made.in_words(power)))
