"""The files that ``export --format`` names: whether they may be written, and writing them."""

from pathlib import Path

import click
from sottovoce.aggregator.curator.data.sample_uniques import in_words
from sottovoce.aggregator.export.archive import write_file, write_folder, write_zip
from sottovoce.aggregator.export.catalogue import SINGLE, WITH_PUBLIC, Source
from sottovoce.aggregator.export.offline.write_parquet import write_reports
from sottovoce.cli.output import check_free, check_new_folder, new_file, new_folder
from sottovoce.cli.place import check_new_place, new_place, show_progress
from sottovoce.cli.terminal import ask
from sottovoce.shared.errors import StorageError

ALL, ZIP = "all", "everything.zip"
COUNTABLE = {"parquet": False, "parquet-with-public": True}
"""Folders of reports that ``estimate`` counts, and whether they have public answers."""
FORMATS = ["json", ALL, ZIP, *COUNTABLE, *(name for name in SINGLE if name != "export.json")]


def check_out(kind: str, out: Path | str | None, force: bool) -> None:
    """Refuse, before anything is read, what may not be written.

    Args:
        kind: one of ``FORMATS``.
        out: where to.
        force: replace a file that is there.
    """
    if kind in COUNTABLE and out is not None:
        check_new_place(out)
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


def check_public(kind: str, source: Source, yes: bool) -> None:
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


def write_files(kind: str, source: Source, out: Path | str) -> list[str]:
    """Write one of them, or a folder.

    Args:
        kind: one of ``FORMATS``, but for JSON on standard output.
        source: of what.
        out: where to.

    Returns:
        One sentence for each file of ``all`` or the archive that could not be written; the others are there.
    """
    if kind in COUNTABLE:
        with new_place(out) as folder:
            write_reports(source, folder, COUNTABLE[kind], show_progress)
    elif kind == ALL:
        with new_folder(Path(out)) as folder:
            return write_folder(source, folder)
    elif kind == ZIP:
        with new_file(Path(out)) as file:
            return write_zip(source, file)
    else:
        with new_file(Path(out)) as file:
            write_file(source, kind, SINGLE[kind], file)
    return []
