"""``privacy``: what a survey really costs, for respondents and ethics boards, as text, JSON or a page to print."""

import json
from pathlib import Path

import click
from sottovoce.aggregator.planning.survey_file import read_survey_file
from sottovoce.cli.output_file import write_text
from sottovoce.client.privacy_account.document import Terms, account
from sottovoce.client.privacy_account.page import page
from sottovoce.client.privacy_account.text import lines


@click.command()
@click.argument("survey", type=click.Path(path_type=Path))
@click.option("--people", type=int, default=4, show_default=True, help="People in a household.")
@click.option("--waves", type=int, help="How often the same people might be asked. [default: as the survey says, or 4]")
@click.option("--respondents", type=int, help="Also: what a report costs if those of so many people are well mixed.")
@click.option("--delta", type=float, default=1e-6, show_default=True, help="Of the figures that need one.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write a page to print to this file.")
def privacy(  # noqa: PLR0913, PLR0917 - one option each
    survey: Path,
    people: int,
    waves: int | None,
    respondents: int | None,
    delta: float,
    as_json: bool,
    html: Path | None,
) -> None:
    """Show the whole privacy account of the survey file SURVEY."""
    document = account(read_survey_file(survey), Terms(people, waves, respondents, delta))
    if html is not None:
        write_text(page(document), html)
        click.echo(f"Wrote {html}.", err=True)
    if as_json:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif html is None:
        click.echo("\n".join(lines(document)))
