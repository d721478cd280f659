"""``items``: several yes/no questions of a data file together, as one trait or as their sum."""

from pathlib import Path

import click
from sottovoce.aggregator.analysis.item_response.items import MODELS, RASCH
from sottovoce.cli.command import PATH, command
from sottovoce.cli.results.run_analysis import channel_option, confidence_option, open_file, show


@command(example="sottovoce results items answers.csv q1 q2 q3 --channel q1=coin_flip")
@click.argument("file", type=PATH)
@click.argument("questions", nargs=-1, required=True)
@channel_option
@click.option("--model", type=click.Choice(MODELS), default=RASCH, help="2pl: own discriminations.")
@confidence_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def items(
    file: Path, questions: tuple[str, ...], channels: tuple[str, ...], model: str, confidence: float | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Fit one trait behind yes/no QUESTIONS of FILE, or estimate how many of them are yes; a row for each person."""
    show(
        dict(open_file(file, channels).items(*questions, model=model, confidence=confidence or 0.95).document), as_json
    )
