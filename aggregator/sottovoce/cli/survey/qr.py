"""``qr``: a survey's link as a QR code for print or the web, or on a poster."""

from pathlib import Path

import click
from sottovoce.aggregator.i18n.languages import LANGUAGES
from sottovoce.aggregator.i18n.only_here import only_here
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.institution import institution_of
from sottovoce.aggregator.invitations.posters import PosterContent, poster
from sottovoce.aggregator.invitations.qr_codes import png, svg_file
from sottovoce.aggregator.surveys.stored_surveys import newest, survey_of
from sottovoce.cli.command import command
from sottovoce.cli.database import data_option, data_settings, open_survey, served_settings
from sottovoce.cli.output import create_file
from sottovoce.shared.errors import StorageError

ENDINGS = (".svg", ".png", ".html")


@command(example="sottovoce survey qr exam --out poster.html")
@click.argument("name")
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), required=True, help="New .svg, .png or .html file."
)
@click.option("--wave", type=click.IntRange(0), default=0, show_default=True, help="The wave that the link is for.")
@click.option("--language", type=click.Choice(LANGUAGES), default=LANGUAGES[0], help="Of the poster.")
@data_option
def qr(name: str, out: Path, wave: int, language: str, data: Path | None) -> None:
    """Write the link to the newest revision of the survey NAME as a QR code; as .html, on a poster (A4)."""
    if out.suffix not in ENDINGS:
        raise click.UsageError(f'the name "{out}" must end in .svg, .png or .html')
    settings = data_settings(data)
    storage = open_survey(data, name)
    stored = newest(storage, name)
    survey = survey_of(stored.document)
    if wave >= len(survey.waves):
        raise StorageError(f"the survey has {len(survey.waves)} wave(s), counted from 0; there is no wave {wave}")
    link = served_settings(settings).link(name, stored.digest, wave)
    institution = institution_of(storage.institutions.documents(name), settings.shown_institution, name)
    create_file(out, _drawn(out.suffix, link, PosterContent(survey, wave, Words(language), institution)))
    if warning := only_here(link, Words(LANGUAGES[0])):
        click.echo(f"Warning: {warning}", err=True)
    click.echo(f"{out} leads to {link}", err=True)


def _drawn(ending: str, link: str, invitation: PosterContent) -> bytes:
    if ending == ".html":
        return poster(invitation, link).encode()
    warning = only_here(link, invitation.words)
    return svg_file(link, warning) if ending == ".svg" else png(link, warns=bool(warning))
