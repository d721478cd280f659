"""The questions of ``curator``, a verb each; every answer is recorded in the budget before it is printed."""

from fractions import Fraction

import click
from sottovoce.aggregator.curator.noisy_max import EXPONENTIAL, NOISES
from sottovoce.aggregator.curator.parse_epsilon import parse_delta
from sottovoce.aggregator.curator.questions import (
    count_question,
    histogram_question,
    names_question,
    number_question,
    quantile_question,
    top_question,
    vector_question,
    weighted_question,
)
from sottovoce.cli.command import command
from sottovoce.cli.curator.question_request import CuratorRequest, question_options
from sottovoce.shared.errors import SpecError


@command(example="sottovoce curator count people.csv --where 'age>=65' --epsilon 0.5")
@click.option("--where", multiple=True, help='year=first, age>=20, or several joined by " & "; again for a list.')
@click.option("--most", type=int, help="Of a list, how many one record may meet. [default: all]")
@click.option(
    "--weight", multiple=True, help="Instead, of the named column: NAME:1/2, once for each name that has one."
)
@question_options
def count(asked: CuratorRequest, where: tuple[str, ...], most: int | None, weight: tuple[str, ...]) -> None:
    """Count the records that meet a condition, or each of a list, or sum weights of one column's names."""
    if not weight:
        if asked.columns:
            raise SpecError("a count is of conditions; name them with --where")
        asked.answer(lambda declared: count_question(declared, where, most))
        return
    if where or most is not None:
        raise SpecError("--weight stands in place of --where and --most")
    asked.answer(lambda declared: weighted_question(declared, asked.column, weight))


@command(example="sottovoce curator histogram people.csv region --epsilon 0.5")
@question_options
def histogram(asked: CuratorRequest) -> None:
    """Count the records in each declared cell of the columns, empty cells too."""
    asked.answer(lambda declared: histogram_question(declared, asked.columns))


@command("sum", example="sottovoce curator sum people.csv income --epsilon 0.5")
@question_options
def sum_(asked: CuratorRequest) -> None:
    """The sum of a number."""
    asked.answer(lambda declared: number_question("sum", declared, asked.column))


@command(example="sottovoce curator mean people.csv income --epsilon ln2")
@question_options
def mean(asked: CuratorRequest) -> None:
    """The mean of a number."""
    asked.answer(lambda declared: number_question("mean", declared, asked.column))


@command(example="sottovoce curator vector people.csv income rent --epsilon 0.5")
@click.option("--norm", type=click.Choice(["1", "2"]), default="2", show_default=True, help="Of the radius.")
@click.option("--radius", type=int, help="In steps; longer records are shrunk. [default: none]")
@click.option("--delta", help="That Gaussian noise may use, if it is the better one. [default: 0]")
@question_options
def vector(asked: CuratorRequest, norm: str, radius: int | None, delta: str | None) -> None:
    """The sums of several numbers or marks together, by Laplace or Gaussian noise, whichever errs less."""
    amount = Fraction(0) if delta is None else parse_delta(delta)
    asked.answer(lambda declared: vector_question(declared, asked.columns, int(norm), radius, amount))


@command(example="sottovoce curator top people.csv region --epsilon 0.5")
@click.option(
    "--noise",
    type=click.Choice(list(NOISES)),
    default=EXPONENTIAL.name,
    show_default=True,
    help="Exponential errs less; Laplace is the textbook's.",
)
@question_options
def top(asked: CuratorRequest, noise: str) -> None:
    """The most frequent name or mark of a column; its number is a question of its own."""
    asked.answer(lambda declared: top_question(declared, asked.column, noise))


@command(example="sottovoce curator quantiles people.csv income --at 1/4 --at 1/2 --epsilon 0.5")
@click.option("--at", multiple=True, help="0.5, 1/4; again for several, which share epsilon. [default: 1/2]")
@question_options
def quantiles(asked: CuratorRequest, at: tuple[str, ...]) -> None:
    """The median of a number, or other quantiles; each is a point of its grid."""
    asked.answer(lambda declared: quantile_question(declared, asked.column, at))


@command(example="sottovoce curator names people.csv town --epsilon 1 --delta 1e-9")
@click.option("--delta", required=True, help="Largest probability that a name of one record is shown.")
@question_options
def names(asked: CuratorRequest, delta: str) -> None:
    """Common names of a column of text, which are not declared, and their numbers."""
    amount = parse_delta(delta)
    asked.answer(lambda declared: names_question(declared, asked.column, amount))
