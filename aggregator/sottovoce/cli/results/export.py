"""``export``: the results of a survey as JSON, and the files that papers, archives and colleagues need."""

from pathlib import Path

import click
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.published_counts import published, read_arms, revisions_of
from sottovoce.aggregator.analysis.results_document import export_document, whole_group
from sottovoce.aggregator.clock import present
from sottovoce.aggregator.curator.data.released_tables import in_words
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.estimators.intervals import METHODS
from sottovoce.aggregator.export.archive import write_file, write_folder, write_zip
from sottovoce.aggregator.export.catalogue import SINGLE, WITH_PUBLIC, Source
from sottovoce.aggregator.export.offline.locations import Bucket
from sottovoce.aggregator.export.offline.write_parquet import write_reports
from sottovoce.aggregator.institution import institution_of
from sottovoce.aggregator.storage.audit_log.events import EXPORTED, MACHINE
from sottovoce.cli.command import Number, ask, check_free, check_new_folder, command, new_file, new_folder, write_json
from sottovoce.cli.database import data_option, data_settings, open_survey
from sottovoce.cli.results.place import PlaceName, new_place, print_results, show_progress
from sottovoce.cli.results.release import release_tables
from sottovoce.shared.errors import StorageError

ALL, ZIP = "all", "everything.zip"
COUNTABLE = {"parquet": False, "parquet-with-public": True}
"""Folders of reports that ``estimate`` counts, and whether they have public answers."""
FORMATS = ["json", ALL, ZIP, *COUNTABLE, *(name for name in SINGLE if name != "export.json")]


@command(
    example="sottovoce results export exam --out results.json\nsottovoce results export exam --format all --out results"
)
@click.argument("name")
@click.option("--format", "kind", type=click.Choice(FORMATS), default="json", help="File, or all.")
@click.option("--cohort", help="Only this cohort (json).")
@click.option("--interval", type=click.Choice([*METHODS]), default=DEFAULT_RULE.method, help="For shares (json).")
@click.option(
    "--confidence",
    type=Number(0.5, 1, max_open=True),
    default=DEFAULT_RULE.confidence,
    help="Level of the limits (json).",
)
@click.option("--people", type=click.IntRange(1), help="In a group of whom all have answered (json).")
@click.option("--wave", type=click.IntRange(0), help="Only this wave.")
@click.option("--out", type=PlaceName(), help="File to write; of all and of parquet a new folder, or s3://.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@click.option("--yes", is_flag=True, help="Write public answers, or open their budget, without asking.")
@click.option(
    "--release-epsilon",
    help="Instead, tables of the public questions with noise, published for so much of the survey's budget.",
)
@data_option
def export(
    name: str, kind: str, cohort: str | None, interval: str, confidence: float, people: int | None, wave: int | None,
    out: Path | str | None, force: bool, yes: bool, release_epsilon: str | None, data: Path | None,
) -> None:  # fmt: skip
    """Write the results of the survey NAME as JSON, or another file.

    JSON is of the format sottovoce-export/1. --format names another file; "all" and "parquet" (sottovoce-reports/1,
    for "sottovoce results estimate") write a new folder. Files of reports exist when the survey, or the wave, is
    closed.
    """
    usual = (interval, confidence) == (DEFAULT_RULE.method, DEFAULT_RULE.confidence)
    if release_epsilon is not None:
        if kind != "json" or not usual or {cohort, people, wave} != {None}:
            raise click.UsageError("--release-epsilon is of the whole survey: only --out, --force, --yes go with it")
        _check_out("json", out, force)
        release_tables(name, release_epsilon, (), data, None if out is None else Path(out), yes)
        return
    _check_out(kind, out, force)
    storage = open_survey(data, name)
    # The folder has whole rows, whose counts are those published.
    revisions = (published if kind in COUNTABLE else revisions_of)(storage, name)
    if kind == "json":
        results = analyse(revisions, cohort, interval, wave, confidence)
        print_results(results)
        group = None if people is None else whole_group(revisions, results, people)
        counted = () if cohort else read_arms(storage, revisions, present(storage))
        arms = [(arm, analyse(each, None, interval, wave, confidence)) for arm, each in counted]
        storage.journal.append(EXPORTED, MACHINE, f"{name} export.json")
        write_json(export_document(results, storage.journal.head(), group, arms), None if out is None else Path(out))
    elif cohort is not None or people is not None or not usual:
        raise click.UsageError("--cohort, --interval, --confidence and --people are for --format json")
    elif out is not None:
        shown = institution_of(storage.institutions.documents(name), data_settings(data).shown_institution, name)
        source = Source(storage, revisions, present(storage), wave, institution=shown)
        _check_public(kind, source, yes)
        storage.journal.append(EXPORTED, MACHINE, f"{name} {kind}")
        _write(kind, source, out)


def _write(kind: str, source: Source, out: Path | str) -> None:
    """Write one of ``FORMATS``, but for JSON on standard output; raise StorageError with what of a folder failed."""
    failed = list[str]()
    place = new_place(out) if kind in COUNTABLE else (new_folder if kind == ALL else new_file)(Path(out))
    with place as path:
        if kind in COUNTABLE:
            write_reports(source, path, COUNTABLE[kind], show_progress)
        elif kind in {ALL, ZIP}:
            failed = (write_folder if kind == ALL else write_zip)(source, path)
        else:
            write_file(source, kind, SINGLE[kind], path)
    click.echo(f"Written: {out}", err=True)
    # The others are there.
    if failed:
        raise StorageError("\n".join(failed))


def _check_out(kind: str, out: Path | str | None, force: bool) -> None:
    """Refuse, before anything is read, what may not be written.

    Args:
        kind: one of ``FORMATS``.
        out: where to.
        force: replace a file that is there.
    """
    if kind in COUNTABLE and out is not None:
        check_new_folder(out) if isinstance(out, Path) else Bucket(out).check_new()
    elif isinstance(out, str):
        raise click.UsageError("only --format parquet goes to a bucket")
    elif kind == ALL and out is not None:
        check_new_folder(out)
    elif kind == "json":
        check_free(out, [".json"], force)
    elif out is None:
        raise click.UsageError("name the file with --out; of all files and of parquet, a new folder")
    else:
        check_free(out, [Path(kind).suffix.lower()], force)


def _check_public(kind: str, source: Source, yes: bool) -> None:
    """Nothing shields public answers: how many people stand alone with theirs is said first.

    Args:
        kind: one of ``FORMATS``.
        source: of the file.
        yes: write it without asking.

    Raises:
        StorageError: not confirmed, or they are published under a budget.
    """
    if kind in WITH_PUBLIC or COUNTABLE.get(kind):
        for words in in_words(source.reports_with_public, source.about.survey):
            click.echo(words, err=True)
        if not yes and not ask("Write a file with the public answers?", default=False):
            raise StorageError("nothing was written (--yes writes it without asking)")
