"""Folders of reports that a user names, on a disk or in a bucket, and their results in words."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from sottovoce.aggregator.analysis.estimates import SurveyResults
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.export.offline.locations import BUCKET, Bucket
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.privacy_account.text import filled
from sottovoce.cli.command import is_shown, new_folder
from sottovoce.client.words import readers_languages

MANY = 500_000
"""Number of reports from which on reading takes long enough to show progress."""


class PlaceName(click.ParamType[Path | str]):
    """A path, or the address of a bucket as it was typed."""

    name = "path"

    def convert(self, value: Path | str, param: click.Parameter | None, ctx: click.Context | None) -> Path | str:  # noqa: ARG002 - click's signature
        """Return a path; text that begins with ``s3://`` stays text."""
        return value if isinstance(value, Path) or value.startswith(BUCKET) else Path(value)


@contextmanager
def new_place(out: Path | str) -> Iterator[Path]:
    """Yield a place for a folder that gets its name, or goes to its bucket, only when all of it is there. Raises
    StorageError if it cannot be written.
    """
    if isinstance(out, Path):
        with new_folder(out) as folder:
            yield folder
        return
    with tempfile.TemporaryDirectory(prefix="sottovoce-") as place:
        folder = Path(place, "reports")
        folder.mkdir()
        yield folder
        Bucket(out).take(folder)


def show_progress(done: int, whole: int, what: str = "read") -> None:
    """Show progress on a large number of reports; ``what`` has been done with them."""
    if whole >= MANY and is_shown():
        click.echo(f"\r{done:,} of {whole:,} reports {what}", err=True, nl=done >= whole)


def terminal_words() -> Words:
    """Return the translator for the language of the environment."""
    return Words(next(iter(readers_languages()), "en"))


def print_results(results: SurveyResults) -> None:
    """Print the results in words on standard error."""
    if results.survey.trial:
        click.echo(terminal_words().translate("trial"), err=True)
    for sentence in results_in_words(results, terminal_words()):
        click.echo(filled(sentence), err=True)
