"""``survey letter``: the texts that go with a survey."""

import csv
from collections.abc import Iterable
from pathlib import Path

import click
from sottovoce.aggregator.authoring import invitation_texts
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli.command import check_free, command, write_text
from sottovoce.shared.errors import SpecError
from sottovoce.shared.languages import languages_of
from sottovoce.shared.spec import Survey


@command(example="sottovoce survey letter exam.yaml --link 'https://example.org/s/exam#d=...'")
@click.argument("survey", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(["invitation", "reminder", "ethics"]),
    default="invitation",
    show_default=True,
    help="Text to write.",
)
@click.option("--language", help="One of the survey's languages. [default: its own]")
@click.option("--link", help="The respondents' link, for invitation and reminder.")
@click.option(
    "--links", type=click.File(encoding="utf-8"), help="Instead: a CSV of personal links; makes a mail merge."
)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="File to write. [default: standard output]"
)
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def letter(
    survey: Path,
    kind: str,
    language: str | None,
    link: str | None,
    links: Iterable[str] | None,
    out: Path | None,
    force: bool,
) -> None:
    """Write the invitation, the reminder to everybody or the ethics text of the survey file SURVEY."""
    check_free(out, [".csv"] if links else [".txt", ".md"], force)
    asked = read_survey_file(survey)
    spoken = languages_of(asked)
    if language is not None and language not in spoken:
        raise SpecError(f"--language must be one of: {', '.join(spoken)}")
    tag = language or asked.default_language
    text = invitation_texts.mail_merge(asked, _links_in(links), tag) if links else _text(asked, kind, link, tag)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(text, out)


def _text(survey: Survey, kind: str, link: str | None, language: str) -> str:
    if kind == "ethics":
        return invitation_texts.ethics(survey, language)
    if link is None:
        raise SpecError("--link is needed: the address under which people answer")
    return (invitation_texts.letter if kind == "invitation" else invitation_texts.reminder)(survey, link, language)


def _links_in(lines: Iterable[str]) -> list[str]:
    """Return the links of a CSV as `sottovoce link create` writes it, or of one a line."""
    links = [cell for row in csv.reader(lines) for cell in row if "/s/" in cell]
    if not links:
        raise SpecError(
            "the file that --links names holds no link to a survey. 'sottovoce link create --out' writes one"
        )
    return links
