"""``link``: one-time tokens for surveys with ``access: token``, and invitations for those with ``access: blind``.

``hold`` and ``reissue`` are for personal links once an old copy of a database is put back. ``survey qr`` draws the
link of a survey as a QR code for print or the web, or on a poster.
"""

import errno
import os
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TextIO

import click
from sottovoce.aggregator.clock import present
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words, only_here
from sottovoce.aggregator.institution import institution_of
from sottovoce.aggregator.invitations import tokens
from sottovoce.aggregator.invitations.hold_messages import REISSUE, held_words, people, reissue_words
from sottovoce.aggregator.invitations.personal_links import write_links
from sottovoce.aggregator.invitations.posters import PosterContent, cards as print_cards, poster
from sottovoce.aggregator.invitations.qr_codes import png, svg_file
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.audit_log.events import MACHINE, RESTORED
from sottovoce.aggregator.surveys.lifecycle import TRIAL, newest, survey_of
from sottovoce.cli.command import FILE, ask, command, create_file
from sottovoce.cli.database import data_option, data_settings, open_storage, open_survey, print_held, served_settings
from sottovoce.shared.errors import StorageError, cannot_write

ENDINGS = (".svg", ".png", ".html")


@command(example="sottovoce link create exam --count 30 --out links.csv")
@click.argument("name")
@click.option("--count", type=click.IntRange(1, tokens.MOST), required=True, help="How many.")
@click.option("--out", type=FILE, help="CSV file to write.")
@click.option("--cards", type=FILE, help="HTML file of cards to print.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Of the cards.")
@click.option("--wave", type=click.IntRange(0), default=0, help="The wave that the links are for.")
@data_option
def create(
    name: str, count: int, out: Path | None, cards: Path | None, language: str | None, wave: int, data: Path | None
) -> None:
    """Make tokens for the survey NAME: a CSV of tokens and links, shown only now.

    With --cards they are in a page of cards, each with its QR code, eight on a sheet; and in a CSV too if --out names
    one. Some of a list whose command was cut off may work: revoke them, and make another.
    """
    settings = data_settings(data)
    storage = open_survey(data, name)
    revisions = storage.revisions(name)
    survey = survey_of(revisions[-1].document)
    if not survey.asks_for_invitation:
        raise StorageError(f'"{name}" is open to all. Personal links need "access: token" or "access: blind"')
    link = _link(settings, revisions[-1], wave)
    drawn = tokens.draw_tokens(count)
    # Written first: tokens without a list could be neither given to anybody nor revoked.
    with (
        _new_file(out) if out or not cards else nullcontext() as table,
        _new_file(cards) if cards else nullcontext() as page,
    ):
        if table is not None:
            links = ((token, f"{link}&t={token}") for token in tokens.print_tokens(drawn, name))
            write_links(table, links, survey.trial, words=Words(language or LANGUAGES[0]))
        if page is not None:
            content = PosterContent(survey, wave, Words(language or LANGUAGES[0]))
            page.write(print_cards(content, [f"{link}&t={token}" for token in tokens.print_tokens(drawn, name)]))
        for file in filter(None, (table, page)):
            _sync(file)
        tokens.add_tokens(storage, name, drawn, MACHINE)
    if survey.trial:
        click.echo(TRIAL, err=True)
    click.echo(f"{count} tokens made. They are stored as hashes only: keep the list.", err=True)


@command(example="sottovoce link revoke exam links.csv")
@click.argument("name")
@click.argument("file", type=click.File(encoding="utf-8"))
@data_option
def revoke(name: str, file: Iterable[str], data: Path | None) -> None:
    """Take back the tokens in FILE, one a line or a CSV as `create` writes it (- reads standard input)."""
    listed = [line.split(",")[0].strip() for line in file if line.strip()]
    revoked = tokens.revoke_tokens(open_survey(data, name), name, listed, MACHINE)
    click.echo(f"{revoked} tokens revoked", err=True)


@command(example="sottovoce link stats exam")
@click.argument("name")
@data_option
def stats(name: str, data: Path | None) -> None:
    """Count the tokens of the survey NAME; which ones were used is not known to anybody."""
    counts = tokens.token_counts(open_survey(data, name), name)
    for label, count in tokens.as_document(counts).items():
        click.echo(f"{label} {'-' if count is None else count}")
    on_hold = tokens.held_of(counts)
    if on_hold is not None:
        click.echo(f"{held_words(on_hold)}; to let them be redeemed: {REISSUE} {name}", err=True)


def _sync(file: TextIO) -> None:
    file.flush()
    try:
        os.fsync(file.fileno())
    except OSError as error:
        # Any other one says that this is a pipe, or no file at all.
        if error.errno in (errno.EIO, errno.ENOSPC, errno.EDQUOT):
            raise


def _link(settings: Settings, stored: StoredSurvey, wave: int) -> str:
    waves = len(survey_of(stored.document).waves)
    if wave >= waves:
        raise StorageError(f"the survey has {waves} wave(s), counted from 0; there is no wave {wave}")
    return served_settings(settings).link(stored.name, stored.digest, wave)


def _new_file(path: Path | None) -> AbstractContextManager[TextIO]:
    if path is None and sys.stdout is None:
        raise StorageError("no link was made: there is no standard output to write to. Name a file with --out")
    if path is None:
        return nullcontext(sys.stdout)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise StorageError(f"no link was made: {cannot_write(path, error)}") from None
    return os.fdopen(handle, "w", encoding="utf-8", newline="")


@command(example="sottovoce link hold")
@data_option
def hold(data: Path | None) -> None:
    """Hold all invitations, since an old copy of the database was put back without `sottovoce db restore`."""
    storage = open_storage(data_settings(data))
    storage.hold_invitations(int(present(storage).timestamp()))
    storage.journal.append(RESTORED, MACHINE)
    print_held(storage, data)


@command(example="sottovoce link reissue exam")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@data_option
def reissue(name: str, yes: bool, data: Path | None) -> None:
    """Let invitations to the survey NAME be redeemed again that were good when the restored backup was made."""
    storage = open_survey(data, name)
    on_hold = tokens.held_of(tokens.token_counts(storage, name))
    if on_hold is None:
        click.echo("No invitation to this survey is held.", err=True)
        return
    click.echo(reissue_words(on_hold), err=True)
    if not yes and not ask("Let them be redeemed?", default=False):
        raise StorageError("none can be redeemed yet: answer yes when asked, or say --yes")
    let_go = tokens.reissue_after_restore(storage, name, MACHINE)
    click.echo(f"{let_go} can be redeemed again: up to {people(let_go)} may report twice.", err=True)


@command(example="sottovoce survey qr exam --out poster.html")
@click.argument("name")
@click.option("--out", type=FILE, required=True, help="New .svg, .png or .html file.")
@click.option("--wave", type=click.IntRange(0), default=0, help="The wave that the link is for.")
@click.option("--language", type=click.Choice(LANGUAGES), help="Of the poster.")
@data_option
def qr(name: str, out: Path, wave: int, language: str | None, data: Path | None) -> None:
    """Write the link to the newest revision of the survey NAME as a QR code; as .html, on a poster (A4)."""
    if out.suffix not in ENDINGS:
        raise click.UsageError(f'the name "{out}" must end in .svg, .png or .html')
    settings = data_settings(data)
    storage = open_survey(data, name)
    stored = newest(storage, name)
    survey = survey_of(stored.document)
    link = _link(settings, stored, wave)
    institution = institution_of(storage.institutions.documents(name), settings.shown_institution, name)
    create_file(
        out, _drawn(out.suffix, link, PosterContent(survey, wave, Words(language or LANGUAGES[0]), institution))
    )
    if warning := only_here(link, Words(LANGUAGES[0])):
        click.echo(f"Warning: {warning}", err=True)
    click.echo(f"{out} leads to {link}", err=True)


def _drawn(ending: str, link: str, invitation: PosterContent) -> bytes:
    if ending == ".html":
        return poster(invitation, link).encode()
    warning = only_here(link, invitation.words)
    return svg_file(link, warning) if ending == ".svg" else png(link, warns=bool(warning))
