"""``curator``: noisy answers from data in trusted hands, under a budget that cannot be overspent."""

from fractions import Fraction
from pathlib import Path

import click
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.parse_epsilon import parse_delta, parse_epsilon
from sottovoce.aggregator.curator.text_report import bound_document, bound_lines, budget_document, budget_lines, decimal
from sottovoce.cli.command import command
from sottovoce.cli.curator.curator_data import (
    FILE,
    declaration_option,
    json_option,
    named_data_set,
    print_document,
    survey_option,
)
from sottovoce.cli.database import data_option


@command(example="sottovoce curator bind people.csv --epsilon 1")
@click.argument("file", type=FILE, required=False)
@survey_option
@declaration_option
@data_option
@click.option("--epsilon", required=True, help="Of everything that will ever be answered.")
@click.option("--delta", help="As well. [default: 1/n^2 under replace-one, else 0]")
@click.option(
    "--neighbours",
    type=click.Choice([each.value for each in Neighbours]),
    default=Neighbours.REPLACE.value,
    show_default=True,
    help="One record is another one, and n is public; or one is there or not.",
)
@json_option
def bind(  # noqa: PLR0913, PLR0917 - one option each
    file: Path | None,
    survey: str | None,
    declaration: Path | None,
    data: Path | None,
    epsilon: str,
    delta: str | None,
    neighbours: str,
    as_json: bool,
) -> None:
    """Check the data once and open their budget; what is printed is for their curator alone."""
    amounts = parse_epsilon(epsilon), None if delta is None else parse_delta(delta)
    named = named_data_set(file, declaration, survey, data)
    document = bound_document(*named.bind(*amounts, Neighbours(neighbours)))
    print_document(document, bound_lines, as_json)


@command(example="sottovoce curator budget people.csv")
@click.argument("files", type=FILE, nargs=-1)
@survey_option
@declaration_option
@data_option
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
    relations = {each["budget"]["neighbours"] for each in found}
    if len(relations) > 1:
        note = "These budgets have two relations of neighbours: their figures are not to be compared or added."
    names = [*(file.name for file in files), *([survey] if survey else [])]
    lines = [line for name, each in zip(names, found, strict=True) for line in (f"{name}:", *budget_lines(each))]
    print_document({"budgets": found, "note": note}, lambda _: [*lines, note], as_json)
