"""``privacy``: what a survey really costs, for respondents and ethics boards, as text, JSON or a page to print."""

import json
from pathlib import Path

import click
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.privacy_account.document import AccountTerms, account, usual_delta
from sottovoce.aggregator.privacy_account.page import page
from sottovoce.aggregator.privacy_account.text import lines
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli.command import FILE, NUMBER, PATH, check_free, command, write_text
from sottovoce.client.words import catalogue
from sottovoce.shared.accounting import is_large_delta


@command(example="sottovoce survey privacy exam.yaml --html privacy.html")
@click.argument("survey", type=PATH)
@click.option("--people", type=int, default=4, help="People in a household.")
@click.option("--waves", type=int, help="How often the same people might be asked. [default: as the survey says, or 4]")
@click.option("--respondents", type=int, help="Also: what a report costs if those of so many people are well mixed.")
@click.option("--delta", type=NUMBER, help="Of the figures that need one. [default: 1e-6, or 1/n^2 if that is less]")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
@click.option("--html", type=FILE, help="Write a page to print to this file.")
@click.option("--language", type=click.Choice(LANGUAGES), default=LANGUAGES[0], help="Of the account.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def privacy(
    survey: Path, people: int, waves: int | None, respondents: int | None, delta: float | None, as_json: bool,
    html: Path | None, language: str, force: bool,
) -> None:  # fmt: skip
    """Show the whole privacy account of the survey file SURVEY."""
    check_free(html, [".html"], force)
    if delta is None:
        delta = usual_delta(respondents)
    parsed, words = read_survey_file(survey), Words(language)
    document = account(parsed, AccountTerms(people, waves, respondents, delta), catalogue(language), words)
    if respondents is not None and is_large_delta(delta, respondents):
        click.echo(f"warning: delta is above 1/n^2 ({1 / respondents**2:.2g}): too large for so many people", err=True)
    if html is not None:
        write_text(page(document, parsed, words), html)
        click.echo(f"Wrote {html}.", err=True)
    if as_json:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif html is None:
        click.echo("\n".join(lines(document, words)))
