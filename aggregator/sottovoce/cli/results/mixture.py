"""``mixture``: shares of designs with two samples or several draws, of a survey, of a file or from counts alone."""

from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.analysis.mixtures.mixture import mixture_of_counts
from sottovoce.aggregator.analysis.requests import odds_of_groups
from sottovoce.aggregator.export.results_client.sources import read_weights
from sottovoce.cli.command import command
from sottovoce.cli.results.run_analysis import (
    answer,
    level_options,
    request_options,
    show,
    show_file,
    source_options,
    split,
)


@command(
    example="sottovoce results mixture answers.csv --response y --design mangat --p .7\n"
    "sottovoce results mixture --design kuk --p .6 --p .2 --counts 0:60,1:40\n"
    "sottovoce results mixture exam copied_rare"
)
@source_options
@click.argument("question", required=False)
@request_options("design", "design", "p", required=False)
@request_options("design", "response", "group", "draws", required=False)
@request_options("mixture", "formula")
@click.option("--weights", help="Column of weights, or a file of one a row (.csv).")
@click.option("--yes", help="Of counts alone: reports of yes by group, such as 200,330.")
@click.option("--n", "reports", help="Of counts alone: all reports by group, such as 500,500.")
@click.option("--counts", help="Of counts alone, of kuk: people by number of red cards, such as 0:5,1:4.")
@level_options
def mixture(
    question: str | None, weights: str | None, yes: str | None, reports: str | None, counts: str | None,
    **given: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Estimate shares of SURVEY, by a QUESTION of a design that it plans; of a data file; or from counts alone.

    For designs whose probabilities hold an unknown share: of yes to the other question, of liars or of cheaters. Two
    random groups with different p, or several draws a person, tell it.
    """
    options, as_json, place = split("design", given)
    alone, of_file = (yes, reports, counts), options.keys() - {"formula", "confidence", "where", "wave"}
    if question is not None or place["folder"] is not None:
        if of_file or any(each is not None for each in (*alone, weights)):
            raise click.UsageError(
                "a QUESTION has its design: only --formula, --where, --wave, --confidence go with it"
            )
        if question is None:
            # The name of the survey may be left out with --from.
            place["survey"], question = None, place["survey"]
        answer("mixture", {**options, **place, "as_json": as_json, "question": question})
        return
    if not options.keys() >= {"design", "p"}:
        raise click.UsageError("name a SURVEY and a QUESTION of its design; or --design and --p")
    file = place.pop("survey")
    if any(place.values()) or options.keys() & {"where", "wave"}:
        raise click.UsageError("a data file, or counts, goes with none of the options of a SURVEY, nor with --channel")
    if file is None:
        columns = weights or options.keys() & {"response", "group", "formula"}
        if columns or not (counts or (yes and reports)) or (counts and (yes or reports)):
            raise click.UsageError("name a FILE with --response; or --yes and --n, of kuk --counts, and no columns")
        known = _numbers(yes), _numbers(reports), _by_value(counts), options.get("draws", 1)
        groups, level = odds_of_groups(options["p"]), options.get("confidence", 0.95)
        show(mixture_of_counts(options["design"], groups, *known, level), as_json)
        return
    if "response" not in options or any(each is not None for each in alone):
        raise click.UsageError("a FILE goes with --response, and not with --yes, --n or --counts")
    of_rows = read_weights(Path(weights)) if weights and Path(weights).suffix == ".csv" else weights
    show_file("design", Path(file), options, as_json, of_rows)


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
