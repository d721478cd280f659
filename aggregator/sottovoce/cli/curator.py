"""``curator``: noisy answers from data in trusted hands, under a budget that cannot be overspent.

Before the first answer: who could be found in a table that is published as it is, and many answers of equal epsilon,
charged together. Every answer is recorded in the budget before it is printed.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.curator import questions
from sottovoce.aggregator.curator.clusters.cluster import (
    MOST_NUMBERS,
    LloydOptions,
    cluster_question,
    cluster_svg,
    in_thousandths,
)
from sottovoce.aggregator.curator.data.data_set import DataSet, read_table
from sottovoce.aggregator.curator.noisy_max import EXPONENTIAL, NOISES
from sottovoce.aggregator.curator.parse_epsilon import parse_delta, parse_epsilon
from sottovoce.aggregator.curator.reidentification import reidentify_document, reidentify_lines, write_coarsened
from sottovoce.aggregator.curator.release import Neighbours
from sottovoce.aggregator.curator.text_report import (
    answer_document,
    bound_document,
    bound_lines,
    budget_document,
    budget_lines,
    decimal,
)
from sottovoce.cli.command import FILE, PATH, check_free, command, write_text
from sottovoce.cli.curator_request import (
    CuratorRequest,
    declaration_option,
    epsilon_option,
    json_option,
    named_data_set,
    of_data_set,
    place_options,
    print_document,
    question_options,
)
from sottovoce.shared.errors import SpecError


@command(example="sottovoce curator reidentify people.csv --sensitive illness")
@click.argument("file", type=FILE)
@click.option("--public", multiple=True, help="A column that others may know. [default: all but the sensitive one]")
@click.option("--sensitive", help="The column that they should not learn.")
@click.option("--with", "other", type=FILE, help="A second table of an attacker, with its .yaml in the same folder.")
@click.option("--k", type=click.IntRange(2), default=5, help="People whom every group should have.")
@click.option("--out", type=PATH, help="Also write the coarsened table to this new CSV file.")
@declaration_option
@json_option
def reidentify(
    file: Path, public: tuple[str, ...], sensitive: str | None, other: Path | None, k: int, out: Path | None,
    declaration: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Report who could be identified if FILE was published without noise; for its curator's own eyes."""
    if other is not None and sensitive is None:
        raise click.UsageError("--with needs --sensitive, the column that both tables have")
    table = read_table(file, declaration, public, sensitive)
    second = None if other is None else read_table(other, None, (), sensitive)
    print_document(reidentify_document(table, second, k), reidentify_lines, as_json)
    if out is not None:
        write_coarsened(table, k, out)


@command(example="sottovoce curator bind people.csv --epsilon 1")
@of_data_set
@click.option("--epsilon", required=True, help="Of everything that will ever be answered.")
@click.option("--delta", help="As well. [default: 1/n^2 under replace-one, else 0]")
@click.option(
    "--neighbours",
    type=click.Choice([each.value for each in Neighbours]),
    default=Neighbours.REPLACE.value,
    help="One record is another one, and n is public; or one is there or not.",
)
@json_option
def bind(named: DataSet, epsilon: str, delta: str | None, neighbours: str, as_json: bool) -> None:
    """Check the data once and open their budget; what is printed is for their curator alone."""
    amounts = parse_epsilon(epsilon), None if delta is None else parse_delta(delta)
    print_document(bound_document(*named.bind(*amounts, Neighbours(neighbours))), bound_lines, as_json)


@command(example="sottovoce curator budget people.csv")
@click.argument("files", type=FILE, nargs=-1)
@place_options
@json_option
def budget(
    files: tuple[Path, ...], survey: str | None, declaration: Path | None, data: Path | None, as_json: bool
) -> None:
    """Show a budget, the questions answered from it, and the rest; for several files also the largest use."""
    named = [named_data_set(file, declaration, None, None) for file in files]
    if survey is not None or not files:
        named.append(named_data_set(None, declaration, survey, data))
    found = [budget_document(each.budget.read()) for each in named]
    if len(found) == 1:
        print_document(found[0], budget_lines, as_json)
        return
    largest = max(Fraction(each["spent"]["epsilon"]) for each in found)
    note = f"Epsilon {decimal(largest)} was spent on any person, if no person is in two of these files."
    if len({each["budget"]["neighbours"] for each in found}) > 1:
        note = "These budgets have two relations of neighbours: their figures are not to be compared or added."
    names = [*(file.name for file in files), *([survey] if survey else [])]
    lines = [line for name, each in zip(names, found, strict=True) for line in (f"{name}:", *budget_lines(each))]
    print_document({"budgets": found, "note": note}, lambda _: [*lines, note], as_json)


@command(example="sottovoce curator plan people.csv --answers 26 --epsilon 0.05")
@click.option("--answers", type=int, required=True, help="How many answers there may be.")
@epsilon_option
@click.option("--delta", help="Of all of them together. [default: all of the budget's that is left]")
@of_data_set
@json_option
def plan(named: DataSet, answers: int, epsilon: str, delta: str | None, as_json: bool) -> None:
    """Pay for a number of answers of equal epsilon at once, before the first answer; unused ones are not given back."""
    amounts = parse_epsilon(epsilon), None if delta is None else parse_delta(delta)
    print_document(answer_document(named.open_plan(answers, *amounts), ()), _lines, as_json)


def _lines(document: Mapping[str, Any]) -> Iterator[str]:
    cost, asked = document["charge"], document["question"]
    each = Fraction(asked["epsilon"])
    whole, delta = decimal(Fraction(cost["epsilon"])), decimal(Fraction(cost["delta"]))
    yield (
        f"Plan, entry {document['entry']}: {asked['answers']:,} answers of epsilon {decimal(each)} cost epsilon {whole}"
        f" and delta {delta}; added up they would cost {decimal(asked['answers'] * each)}."
    )
    yield "Ask with this --epsilon; such answers cost nothing more, and unused ones are not given back."
    if document["recorded_before"]:
        yield "It was paid for before, and cost nothing now."


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
        asked.answer(lambda declared: questions.count_question(declared, where, most))
        return
    if where or most is not None:
        raise SpecError("--weight stands in place of --where and --most")
    asked.answer(lambda declared: questions.weighted_question(declared, asked.column, weight))


@command(example="sottovoce curator histogram people.csv region --epsilon 0.5")
@question_options
def histogram(asked: CuratorRequest) -> None:
    """Count the records in each declared cell of the columns, empty cells too."""
    asked.answer(lambda declared: questions.histogram_question(declared, asked.columns))


@command("sum", example="sottovoce curator sum people.csv income --epsilon 0.5")
@question_options
def sum_(asked: CuratorRequest) -> None:
    """The sum of a number."""
    asked.answer(lambda declared: questions.number_question("sum", declared, asked.column))


@command(example="sottovoce curator mean people.csv income --epsilon ln2")
@question_options
def mean(asked: CuratorRequest) -> None:
    """The mean of a number."""
    asked.answer(lambda declared: questions.number_question("mean", declared, asked.column))


@command(example="sottovoce curator vector people.csv income rent --epsilon 0.5")
@click.option("--norm", type=click.Choice(["1", "2"]), default="2", help="Of the radius.")
@click.option("--radius", type=int, help="In steps; longer records are shrunk. [default: none]")
@click.option("--delta", help="That Gaussian noise may use, if it is the better one. [default: 0]")
@question_options
def vector(asked: CuratorRequest, norm: str, radius: int | None, delta: str | None) -> None:
    """The sums of several numbers or marks together, by Laplace or Gaussian noise, whichever errs less."""
    amount = Fraction(0) if delta is None else parse_delta(delta)
    asked.answer(lambda declared: questions.vector_question(declared, asked.columns, int(norm), radius, amount))


@command(example="sottovoce curator top people.csv region --epsilon 0.5")
@click.option(
    "--noise",
    type=click.Choice([*NOISES]),
    default=EXPONENTIAL.name,
    help="Exponential errs less; Laplace is the textbook's.",
)
@question_options
def top(asked: CuratorRequest, noise: str) -> None:
    """The most frequent name or mark of a column; its number is a question of its own."""
    asked.answer(lambda declared: questions.top_question(declared, asked.column, noise))


@command(example="sottovoce curator quantiles people.csv income --at 1/4 --at 1/2 --epsilon 0.5")
@click.option("--at", multiple=True, help="0.5, 1/4; again for several, which share epsilon. [default: 1/2]")
@question_options
def quantiles(asked: CuratorRequest, at: tuple[str, ...]) -> None:
    """The median of a number, or other quantiles; each is a point of its grid."""
    asked.answer(lambda declared: questions.quantile_question(declared, asked.column, at))


@command(example="sottovoce curator names people.csv town --epsilon 1 --delta 1e-9")
@click.option("--delta", required=True, help="Largest probability that a name of one record is shown.")
@question_options
def names(asked: CuratorRequest, delta: str) -> None:
    """Common names of a column of text, which are not declared, and their numbers."""
    amount = parse_delta(delta)
    asked.answer(lambda declared: questions.names_question(declared, asked.column, amount))


@command(example="sottovoce curator cluster people.csv income age --k 3 --epsilon 1")
@click.option("--k", type=int, required=True, help="Clusters.")
@click.option(
    "--method",
    type=click.Choice(["grid", "lloyd"]),
    help="A noisy grid, or Lloyd's algorithm with noise. [default: grid for up to ten numbers, else lloyd]",
)
@click.option("--iterations", type=int, help="Of lloyd; fixed, epsilon is shared among them. [default: 5]")
@click.option("--empty", type=click.Choice(["redraw", "keep"]), help="Of lloyd: an empty cluster's centre. [redraw]")
@click.option("--ball", type=click.Choice(["l1"]), help="Of lloyd: shrink points into this ball. [default: a box]")
@click.option("--radius", type=int, help="Of the ball, in steps from the middle of each number.")
@click.option("--svg", type=FILE, help="Also draw centres and noisy sizes to this file.")
@question_options
def cluster(asked: CuratorRequest, k: int, method: str | None, svg: Path | None, **lloyd: Any) -> None:  # noqa: ANN401
    """Centres of k clusters of some numbers, their noisy sizes and how near their members are."""
    check_free(svg, [".svg"], force=False)
    options = _lloyd_options(method or ("grid" if len(asked.columns) <= MOST_NUMBERS else "lloyd"), **lloyd)
    found = asked.answer(lambda declared: cluster_question(declared, asked.columns, k, options))
    if svg is not None:
        write_text(cluster_svg(in_thousandths(found["values"], asked.data.declaration, asked.columns), 1000), svg)


def _lloyd_options(
    method: str, iterations: int | None, empty: str | None, ball: str | None, radius: int | None
) -> LloydOptions | None:
    if (ball is None) != (radius is None):
        raise SpecError("--ball l1 needs --radius, and --radius needs --ball l1")
    if method == "grid" and (iterations, empty, radius) != (None, None, None):
        raise SpecError("--iterations, --empty and --ball are of --method lloyd; a grid has none")
    if method == "grid":
        return None
    return LloydOptions(5 if iterations is None else iterations, empty == "keep", radius)
