"""The questions of ``curator``, a verb each; every answer is recorded in the budget before it is printed."""

from fractions import Fraction
from pathlib import Path

import click
from sottovoce.aggregator.curator.amounts import parse_delta
from sottovoce.aggregator.curator.questions import (
    count_question,
    histogram_question,
    number_question,
    vector_question,
    weighted_question,
)
from sottovoce.cli.curator_data import FILE, answer, declaration_option, epsilon_option, json_option
from sottovoce.cli.curator_more import cluster, top
from sottovoce.shared.errors import SpecError


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--where", multiple=True, help='year=first, age>=20, or several joined by " & "; more than once for a list.'
)
@click.option("--most", type=int, help="Of a list, how many one record may meet. [default: all]")
@click.option("--weights", "column", help="A column whose names have weights instead.")
@click.option("--weight", multiple=True, help="NAME:1/2, once for each name that has one.")
@epsilon_option
@declaration_option
@json_option
def count(  # noqa: PLR0913, PLR0917 - one option each
    file: Path,
    where: tuple[str, ...],
    most: int | None,
    column: str | None,
    weight: tuple[str, ...],
    epsilon: str,
    declaration: Path | None,
    as_json: bool,
) -> None:
    """How many records of FILE meet a condition, each of a list, or with which weights."""
    if column is None:
        if weight:
            raise SpecError("--weight needs --weights COLUMN")
        answer(file, declaration, epsilon, lambda declared: count_question(declared, where, most), as_json)
        return
    if where or most is not None:
        raise SpecError("--weights stands in place of --where and --most")
    answer(file, declaration, epsilon, lambda declared: weighted_question(declared, column, weight), as_json)


@click.command()
@click.argument("file", type=FILE)
@click.argument("columns", nargs=-1, required=True)
@epsilon_option
@declaration_option
@json_option
def histogram(file: Path, columns: tuple[str, ...], epsilon: str, declaration: Path | None, as_json: bool) -> None:
    """How many records of FILE are in each declared cell of COLUMNS, empty cells too."""
    answer(file, declaration, epsilon, lambda declared: histogram_question(declared, columns), as_json)


@click.command("sum")
@click.argument("file", type=FILE)
@click.argument("column")
@epsilon_option
@declaration_option
@json_option
def sum_(file: Path, column: str, epsilon: str, declaration: Path | None, as_json: bool) -> None:
    """The sum of a number."""
    answer(file, declaration, epsilon, lambda declared: number_question("sum", declared, column), as_json)


@click.command()
@click.argument("file", type=FILE)
@click.argument("column")
@epsilon_option
@declaration_option
@json_option
def mean(file: Path, column: str, epsilon: str, declaration: Path | None, as_json: bool) -> None:
    """The mean of a number."""
    answer(file, declaration, epsilon, lambda declared: number_question("mean", declared, column), as_json)


@click.command()
@click.argument("file", type=FILE)
@click.argument("columns", nargs=-1, required=True)
@click.option("--norm", type=click.Choice(["1", "2"]), default="2", show_default=True, help="Of one record's vector.")
@click.option("--radius", type=int, help="In steps; longer vectors are shrunk. [default: no declared record is longer]")
@click.option("--delta", help="That Gaussian noise may use, if it is the better one. [default: 0]")
@epsilon_option
@declaration_option
@json_option
def vector(  # noqa: PLR0913, PLR0917 - one option each
    file: Path,
    columns: tuple[str, ...],
    norm: str,
    radius: int | None,
    delta: str | None,
    epsilon: str,
    declaration: Path | None,
    as_json: bool,
) -> None:
    """The sums of several numbers or marks together, by Laplace or Gaussian noise, whichever errs less."""
    amount = Fraction(0) if delta is None else parse_delta(delta)
    answer(
        file,
        declaration,
        epsilon,
        lambda declared: vector_question(declared, columns, int(norm), radius, amount),
        as_json,
    )


QUESTIONS = (count, histogram, sum_, mean, vector, top, cluster)
