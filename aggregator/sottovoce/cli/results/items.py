"""``items``: several yes/no questions of each person together, as one trait or as their sum."""

from typing import Any

import click
from sottovoce.cli.command import command
from sottovoce.cli.results.run_analysis import answer, level_options, request_options, source_options


@command(
    example="sottovoce results items exam cheated copied lied\n"
    "sottovoce results items answers.csv q1 q2 q3 --channel q1=coin_flip"
)
@source_options
@click.argument("questions", nargs=-1)
@request_options("items", "model")
@level_options
def items(questions: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Fit one trait behind yes/no QUESTIONS of SURVEY, or estimate how many of them are yes."""
    if given["folder"] is not None and given["survey"] is not None:
        # The name of the survey may be left out with --from.
        questions, given["survey"] = (given["survey"], *questions), None
    answer("items", {**given, "questions": questions})
