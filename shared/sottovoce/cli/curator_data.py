"""What the verbs of ``curator`` share."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.curator.amounts import parse_epsilon
from sottovoce.aggregator.curator.declaration import Declaration
from sottovoce.aggregator.curator.in_words import answer_document, answer_lines
from sottovoce.aggregator.curator.questions import Question
from sottovoce.aggregator.files.data_set import DataSet, open_data_set
from sottovoce.aggregator.settings import Settings

FILE = click.Path(path_type=Path, dir_okay=False)

declaration_option = click.option(
    "--declaration", type=FILE, help="What the columns hold. [default: the file's name with .yaml]"
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
epsilon_option = click.option("--epsilon", required=True, help="What this answer may cost, such as 0.5 or 1/2.")


def named_data_set(file: Path, declaration: Path | None) -> DataSet:
    """The data set of a file, with the folder of heads that is set."""
    return open_data_set(file, declaration, Settings.from_environment().ledger_heads)


def answer(
    file: Path, declaration: Path | None, epsilon: str, make: Callable[[Declaration], Question], as_json: bool
) -> dict[str, Any]:
    """
    Ask, and print the answer.

    Args:
        file: of the data.
        declaration: of its declaration, or None.
        epsilon: as it was written.
        make: the question, checked against the declaration.
        as_json: print JSON.
    """
    amount = parse_epsilon(epsilon)
    data = named_data_set(file, declaration)
    question = make(data.declaration)
    document = answer_document(data.ask(question, amount), question.names)
    tell(document, answer_lines, as_json)
    return document


def tell(document: dict[str, Any], lines: Callable[[dict[str, Any]], Iterable[str]], as_json: bool) -> None:
    """
    Print a document.

    Args:
        document: JSON.
        lines: the same in words.
        as_json: which of both.
    """
    click.echo(json.dumps(document, indent=2, ensure_ascii=False) if as_json else "\n".join(lines(document)))
