"""``curator plan``: many answers of equal epsilon, charged together."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.curator.parse_epsilon import parse_delta, parse_epsilon
from sottovoce.aggregator.curator.text_report import answer_document, decimal
from sottovoce.cli.command import command
from sottovoce.cli.curator.curator_data import (
    FILE,
    declaration_option,
    epsilon_option,
    json_option,
    named_data_set,
    print_document,
    survey_option,
)
from sottovoce.cli.database import data_option


@command(example="sottovoce curator plan people.csv --answers 26 --epsilon 0.05")
@click.argument("file", type=FILE, required=False)
@click.option("--answers", type=int, required=True, help="How many answers there may be.")
@epsilon_option
@click.option("--delta", help="Of all of them together. [default: all of the budget's that is left]")
@survey_option
@declaration_option
@data_option
@json_option
def plan(  # noqa: PLR0913, PLR0917 - one option each
    file: Path | None,
    answers: int,
    epsilon: str,
    delta: str | None,
    survey: str | None,
    declaration: Path | None,
    data: Path | None,
    as_json: bool,
) -> None:
    """Pay for a number of answers of equal epsilon at once, before the first answer; unused ones are not given back."""
    named = named_data_set(file, declaration, survey, data)
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
