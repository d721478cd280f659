"""Tables of a survey's public answers, published under its budget: for ``export`` and ``crosstab``."""

from collections.abc import Sequence
from pathlib import Path

import click
from sottovoce.aggregator.clock import present
from sottovoce.aggregator.curator.data.released_tables import answers_document, release, useless_tables
from sottovoce.aggregator.curator.data.survey_source import survey_data_set
from sottovoce.aggregator.curator.parse_epsilon import parse_epsilon
from sottovoce.aggregator.curator.release import Neighbours
from sottovoce.aggregator.curator.text_report import answer_lines, decimal
from sottovoce.aggregator.storage.audit_log.events import EXPORTED, MACHINE
from sottovoce.cli.command import ask, write_json
from sottovoce.cli.curator_request import confirm_useless
from sottovoce.cli.database import data_settings, open_survey
from sottovoce.shared.errors import StorageError

_OPENS = (
    "This survey has no budget for its public answers yet. Going on opens it with epsilon {} in all, for good: this is"
    " spent at once, so that no further table of them can be published; no page, file, table or model has them exactly"
    " any more. To publish more, now or later, open a larger budget first:"
    " sottovoce curator bind --survey {} --epsilon E"
)


def release_tables(
    name: str, epsilon: str, columns: Sequence[str], data: Path | None, out: Path | None, yes: bool
) -> None:
    """Publish tables of public answers of a closed survey, and open the budget for them if there is none.

    ``epsilon`` is of all the tables together, as it was written; no ``columns`` means a table of each public question;
    ``out`` of None is standard output; ``yes`` opens the budget, and publishes tables that say nothing, without asking.

    Raises:
        BudgetExhausted: that much is not left.
        StorageError: opening the budget was not confirmed, or its ledger cannot be used.
    """
    amount = parse_epsilon(epsilon)
    settings, storage = data_settings(data), open_survey(data, name)
    public = survey_data_set(storage, name, present(storage), settings.data, settings.ledger_anchor_dir)
    reports = None if storage.releases.has_any(name) else public.source(()).count
    confirm_useless(useless_tables(public, amount, columns, reports), yes)
    if reports is not None:
        click.echo(_OPENS.format(decimal(amount), name), err=True)
        if not yes and not ask("Open this budget?", default=False):
            raise StorageError("nothing was opened or published (--yes opens it without asking)")
        public.bind(amount, None, Neighbours.REPLACE)
    storage.journal.append(EXPORTED, MACHINE, f"{name} public-tables.json")
    document = answers_document(release(public, amount, columns))
    for table in document["tables"]:
        click.echo("\n".join(answer_lines(table)), err=True)
    write_json(document, out)
