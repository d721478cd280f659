"""Shared parts of the ``curator`` commands: data and epsilon, printing, and a question's options as one request."""

import functools
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.clock import present
from sottovoce.aggregator.curator.data.data_set import DataSet, open_data_set
from sottovoce.aggregator.curator.data.survey_source import survey_data_set
from sottovoce.aggregator.curator.declaration import Declaration
from sottovoce.aggregator.curator.parse_epsilon import parse_epsilon
from sottovoce.aggregator.curator.questions import CuratorQuestion
from sottovoce.aggregator.curator.text_report import answer_document, answer_lines
from sottovoce.aggregator.settings import Settings
from sottovoce.cli.command import FILE, ask, options_of
from sottovoce.cli.database import data_option, data_settings, open_survey
from sottovoce.shared.errors import StorageError

declaration_option = click.option(
    "--declaration", type=FILE, help="What the columns hold. [default: the file's name with .yaml]"
)
place_options = options_of(
    click.option("--survey", help="The public answers of this closed survey, instead of a FILE."),
    declaration_option,
    data_option,
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
epsilon_option = click.option("--epsilon", required=True, help="What this answer may cost, such as 0.5 or 1/2.")


def named_data_set(file: Path | None, declaration: Path | None, survey: str | None, data: Path | None) -> DataSet:
    """Return the data set that is named, with the folder of heads that is set.

    It is a CSV or Parquet file, with the declaration in the same folder if that is None, or a closed survey of a
    database.
    """
    if (file is None) == (survey is None):
        raise click.UsageError("name a FILE, or a closed survey with --survey")
    if file is not None:
        return open_data_set(file, declaration, Settings.from_environment().ledger_anchor_dir)
    settings = data_settings(data)
    storage = open_survey(data, survey or "")
    return survey_data_set(storage, survey or "", present(storage), settings.data, settings.ledger_anchor_dir)


def of_data_set(verb: Callable[..., None]) -> Callable[..., None]:
    """Add FILE, --survey, --declaration and --data, as one data set."""

    @click.argument("file", type=FILE, required=False)
    @place_options
    @functools.wraps(verb)
    def run(
        *, file: Path | None, survey: str | None, declaration: Path | None, data: Path | None,
        **own: Any,  # noqa: ANN401 - the verb's own options
    ) -> None:  # fmt: skip
        verb(named_data_set(file, declaration, survey, data), **own)

    return run


def print_document(document: dict[str, Any], lines: Callable[[dict[str, Any]], Iterable[str]], as_json: bool) -> None:
    """Print a document as JSON, or in words by ``lines``."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False) if as_json else "\n".join(lines(document)))


@dataclass(frozen=True)
class CuratorRequest:
    """The data under their budget, columns and epsilon, as written, of a question.

    ``yes`` asks also for an answer that would say nothing.
    """

    data: DataSet
    columns: tuple[str, ...]
    epsilon: str
    as_json: bool
    yes: bool

    @property
    def column(self) -> str:
        """The only column that was named."""
        if len(self.columns) != 1:
            raise click.UsageError("name one column")
        return self.columns[0]

    def answer(self, make: Callable[[Declaration], CuratorQuestion]) -> dict[str, Any]:
        """Ask, print the answer and return it; ``make`` checks the question against the declaration."""
        amount = parse_epsilon(self.epsilon)
        question = make(self.data.declaration)
        confirm_useless([self.data.useless(question, amount)], self.yes)
        document = answer_document(self.data.ask(question, amount), question.names)
        print_document(document, answer_lines, self.as_json)
        return document


def question_options(verb: Callable[..., None]) -> Callable[..., None]:
    """Add FILE or --survey, columns, --epsilon, --declaration, --data and --json, as one ``CuratorRequest``."""

    @click.argument("words", nargs=-1, metavar="[FILE] [COLUMN]...")
    @epsilon_option
    @place_options
    @json_option
    @click.option("--yes", is_flag=True, help="Ask also for an answer that would say nothing.")
    @functools.wraps(verb)
    def run(
        *, words: tuple[str, ...], epsilon: str, survey: str | None, declaration: Path | None, data: Path | None,
        as_json: bool, yes: bool, **own: Any,  # noqa: ANN401 - the verb's own options
    ) -> None:  # fmt: skip
        file = Path(words[0]) if words and survey is None else None
        columns = words if survey is not None else words[1:]
        verb(CuratorRequest(named_data_set(file, declaration, survey, data), columns, epsilon, as_json, yes), **own)

    return run


def confirm_useless(words: Iterable[str], yes: bool) -> None:
    """Say which answers would say nothing, and stop unless they are wanted all the same. Raises StorageError if they
    are not; nothing was asked or charged.
    """
    said = [each for each in words if each]
    for each in said:
        click.echo(f"Note: {each}.", err=True)
    if said and not yes and not ask("Spend epsilon on it all the same?", default=False):
        raise StorageError("nothing was asked or charged (--yes asks all the same)")
