"""``export``: the results of a survey as JSON, and the files that papers, archives and colleagues need."""

from pathlib import Path

import click
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.files.catalogue import SINGLE, WITH_PUBLIC, Source
from sottovoce.aggregator.files.folder import write_folder, write_zip
from sottovoce.aggregator.files.public_answers import check_no_budget
from sottovoce.aggregator.files.standing_alone import in_words
from sottovoce.aggregator.results.analysis import Results, analyse, revisions_of
from sottovoce.aggregator.results.export import export_document
from sottovoce.aggregator.results.in_words import results_in_words
from sottovoce.aggregator.shared_clock import present
from sottovoce.aggregator.storage.journal_words import EXPORTED, MACHINE
from sottovoce.aggregator.survey_life import TRIAL
from sottovoce.cli.asking import ask
from sottovoce.cli.database import data_option, data_settings, open_storage
from sottovoce.cli.output_file import check_free, new_file, write_json
from sottovoce.cli.output_folder import check_new_folder, new_folder
from sottovoce.shared.errors import StorageError

ALL, ZIP = "all", "everything.zip"
FORMATS = ["json", ALL, ZIP, *(name for name in SINGLE if name != "export.json")]


@click.command()
@click.argument("name")
@click.option("--format", "kind", type=click.Choice(FORMATS), default="json", show_default=True, help="File, or all.")
@click.option("--cohort", default=None, help="Only this cohort (json).")
@click.option(
    "--interval",
    type=click.Choice(list(METHODS)),
    default=DEFAULT_RULE.method,
    show_default=True,
    help="For shares (json).",
)
@click.option("--wave", type=click.IntRange(0), default=None, help="Only this wave.")
@click.option("--out", type=click.Path(path_type=Path), default=None, help="File to write; of all files, a new folder.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@click.option("--yes", is_flag=True, help="Write public answers without asking.")
@data_option
def export(  # noqa: PLR0913, PLR0917 - one option each
    name: str, kind: str, cohort: str | None, interval: str, wave: int | None, out: Path | None, force: bool, yes: bool,
    data: Path | None,
) -> None:  # fmt: skip
    """
    Write the results of the survey NAME as JSON (sottovoce-export/1), or the file that --format names. Files of reports
    exist when the survey, or the wave, is closed.
    """
    _check_out(kind, out, force)
    storage = open_storage(data_settings(data))
    revisions = revisions_of(storage, name)
    if not revisions:
        raise StorageError("there is no survey of this name in the data folder")
    if kind == "json":
        storage.journal.append(EXPORTED, MACHINE, f"{name} export.json")
        write_json(export_document(_told(analyse(revisions, cohort, interval, wave)), storage.journal.head()), out)
    elif cohort is not None or interval != DEFAULT_RULE.method:
        raise click.UsageError("--cohort and --interval are for --format json")
    elif out is not None:
        source = Source(storage, revisions, present(storage), wave)
        _check_public(kind, source, data_settings(data).data, yes)
        storage.journal.append(EXPORTED, MACHINE, f"{name} {kind}")
        _write_files(kind, source, out)


def _check_out(kind: str, out: Path | None, force: bool) -> None:
    """Refuse, before anything is read, what may not be written."""
    if kind == ALL and out is not None:
        check_new_folder(out)
    elif kind == "json":
        check_free(out, [".json"], force)
    elif out is None:
        raise click.UsageError("name the file with --out; of all files, a new folder")
    else:
        check_free(out, [Path(kind).suffix.lower()], force)


def _told(results: Results) -> Results:
    """The results, told in words too."""
    if results.survey.trial:
        click.echo(TRIAL, err=True)
    for words in results_in_words(results):
        click.echo(words, err=True)
    return results


def _check_public(kind: str, source: Source, data: Path, yes: bool) -> None:
    """Nothing shields public answers: how many people stand alone with theirs is said first."""
    if kind in WITH_PUBLIC:
        check_no_budget(source.about.survey, data)
        for words in in_words(source.reports_with_public, source.about.survey):
            click.echo(words, err=True)
        if not yes and not ask("Write a file with the public answers?", default=False):
            raise StorageError("nothing was written (--yes writes it without asking)")


def _write_files(kind: str, source: Source, out: Path) -> None:
    if kind == ALL:
        with new_folder(out) as folder:
            write_folder(source, folder)
    else:
        with new_file(out) as file:
            write_zip(source, file) if kind == ZIP else SINGLE[kind](source, file)
    click.echo(f"Written: {out}", err=True)
