"""Options of the questions to a curator as one request, which asks, prints and returns the answer."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.curator.data.data_set import DataSet
from sottovoce.aggregator.curator.declaration import Declaration
from sottovoce.aggregator.curator.parse_epsilon import parse_epsilon
from sottovoce.aggregator.curator.questions import CuratorQuestion
from sottovoce.aggregator.curator.text_report import answer_document, answer_lines
from sottovoce.cli.curator.curator_data import (
    declaration_option,
    epsilon_option,
    json_option,
    named_data_set,
    print_document,
    survey_option,
)
from sottovoce.cli.database import data_option
from sottovoce.cli.terminal import ask
from sottovoce.shared.errors import StorageError


@dataclass(frozen=True)
class CuratorRequest:
    """Data and epsilon of a question, as they were named.

    Attributes:
        data: under their budget.
        columns: that were named.
        epsilon: as it was written.
        as_json: print JSON.
        yes: ask also for an answer that would say nothing.
    """

    data: DataSet
    columns: tuple[str, ...]
    epsilon: str
    as_json: bool
    yes: bool

    @property
    def column(self) -> str:
        """The one that was named."""
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
    """FILE or --survey, columns, --epsilon, --declaration, --data and --json, as one ``CuratorRequest``."""

    @click.argument("words", nargs=-1, metavar="[FILE] [COLUMN]...")
    @epsilon_option
    @survey_option
    @declaration_option
    @data_option
    @json_option
    @click.option("--yes", is_flag=True, help="Ask also for an answer that would say nothing.")
    @functools.wraps(verb)
    def run(  # noqa: PLR0913 - one option each
        *,
        words: tuple[str, ...],
        epsilon: str,
        survey: str | None,
        declaration: Path | None,
        data: Path | None,
        as_json: bool,
        yes: bool,
        **own: Any,  # noqa: ANN401 - the verb's own options
    ) -> None:
        file = Path(words[0]) if words and survey is None else None
        columns = words if survey is not None else words[1:]
        verb(CuratorRequest(named_data_set(file, declaration, survey, data), columns, epsilon, as_json, yes), **own)

    return run


def confirm_useless(words: Iterable[str], yes: bool) -> None:
    """Say which answers would say nothing, and stop unless they are wanted all the same.

    Raises:
        StorageError: they are not; nothing was asked or charged.
    """
    said = [each for each in words if each]
    for each in said:
        click.echo(f"Note: {each}.", err=True)
    if said and not yes and not ask("Spend epsilon on it all the same?", default=False):
        raise StorageError("nothing was asked or charged (--yes asks all the same)")
