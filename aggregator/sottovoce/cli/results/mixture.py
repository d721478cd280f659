"""``mixture``: shares of designs with two samples or several draws, of a survey, of a file or from counts alone."""

from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.analysis.mixtures.mixture import MOST_DRAWS, mixture_of_counts, mixture_of_file
from sottovoce.aggregator.export.results_client.sources import read_weights
from sottovoce.cli.command import command
from sottovoce.cli.results.run_analysis import answer, level_options, show, source_options, split


@command(
    example="sottovoce results mixture answers.csv --response y --design mangat --p .7\n"
    "sottovoce results mixture --design kuk --p .6 --p .2 --counts 0:60,1:40\n"
    "sottovoce results mixture exam copied_rare"
)
@source_options
@click.argument("question", required=False)
@click.option("--design", type=click.Choice([*DESIGNS]), help="How the reports were made.")
@click.option("--p", "chances", multiple=True, help="GROUP=P of each group; of kuk, of the two decks.")
@click.option("--response", help="Column of yes and no; of kuk, of the number of red cards.")
@click.option("--group", help="Column of the groups, whose values --p names.")
@click.option("--draws", type=click.IntRange(1, MOST_DRAWS), help="Of kuk: cards that each person draws.")
@click.option("--formula", help='Of cheater detection: predictors of the shares, such as "~ x".')
@click.option("--weights", help="Column of weights, or a file of one a row (.csv).")
@click.option("--yes", help="Of counts alone: reports of yes by group, such as 200,330.")
@click.option("--n", "reports", help="Of counts alone: all reports by group, such as 500,500.")
@click.option("--counts", help="Of counts alone, of kuk: people by number of red cards, such as 0:5,1:4.")
@level_options
def mixture(
    question: str | None, design: str | None, chances: tuple[str, ...], response: str | None, group: str | None,
    draws: int | None, formula: str | None, weights: str | None, yes: str | None, reports: str | None,
    counts: str | None, **given: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Estimate shares of SURVEY, by a QUESTION of a design that it plans; of a data file; or from counts alone.

    For designs whose probabilities hold an unknown share: of yes to the other question, of liars or of cheaters. Two
    random groups with different p, or several draws a person, tell it.
    """
    alone, of_file = (yes, reports, counts), (design, response, group, draws, formula, weights, *chances)
    options, as_json, place = split("mixture", given)
    if question is not None or place["folder"] is not None:
        if any(each is not None for each in (*alone, *of_file)):
            raise click.UsageError("a QUESTION has its design: only --where, --wave, --confidence go with it")
        if question is None:
            # The name of the survey may be left out with --from.
            given["survey"], question = None, given["survey"]
        answer("mixture", {**given, "question": question})
        return
    if design is None or not chances:
        raise click.UsageError("name a SURVEY and a QUESTION of its design; or --design and --p")
    file = place.pop("survey")
    if any(place.values()) or options.keys() - {"confidence"}:
        raise click.UsageError("a data file, or counts, goes with none of the options of a SURVEY, nor with --channel")
    groups, level = _groups(chances), options.get("confidence") or 0.95
    if file is None:
        columns = response or group or weights or formula
        if columns or not (counts or (yes and reports)) or (counts and (yes or reports)):
            raise click.UsageError("name a FILE with --response; or --yes and --n, of kuk --counts, and no columns")
        found = mixture_of_counts(
            design, groups, _numbers(yes), _numbers(reports), _by_value(counts), draws or 1, level
        )
        show(found, as_json)
        return
    if response is None or any(each is not None for each in alone):
        raise click.UsageError("a FILE goes with --response, and not with --yes, --n or --counts")
    of_rows = read_weights(Path(weights)) if weights and Path(weights).suffix == ".csv" else weights
    known = read_table(Path(file)), response, group, design, groups, draws or 1, of_rows, level, formula
    show(mixture_of_file(*known), as_json)


def _groups(chances: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, each in enumerate(chances, 1):
        name, equals, chance = each.rpartition("=")
        found[name.strip() if equals else str(number)] = chance
    if len(found) < len(chances):
        raise click.UsageError("--p names a group twice")
    return found


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(each) for each in text.split(",")] if text else []
    except ValueError:
        raise click.UsageError("--yes and --n are whole numbers with commas between them, such as 200,330") from None


def _by_value(text: str | None) -> dict[int, int] | None:
    try:
        pairs = [tuple(map(int, each.split(":"))) for each in text.split(",")] if text else []
        found = {value: count for value, count in pairs}
    except ValueError:
        raise click.UsageError(
            "--counts is written as 0:5,1:4: a number of red cards, and people who report it"
        ) from None
    if len(found) < len(pairs):
        raise click.UsageError("--counts has a number of red cards twice")
    return found if text else None
