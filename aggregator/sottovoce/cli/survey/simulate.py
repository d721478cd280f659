"""``simulate``: try a survey on invented respondents, in memory or against a running aggregator."""

import json
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sottovoce.aggregator.planning.simulated_survey import SimulatedEstimate, compare, invent, pilot
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.cli.command import PATH, ask, command, waiting
from sottovoce.client.link import parse_link
from sottovoce.demo.respondents import send_invented
from sottovoce.shared.errors import TransportError

_REAL = "This survey is not marked trial: invented reports would count as real ones. Send them?"


@command(example="sottovoce survey simulate exam.yaml --n 2000")
@click.argument("path", metavar="SURVEY", type=PATH)
@click.option(
    "--n", "count", type=click.IntRange(1, 10_000_000), default=10_000, help="Number of invented respondents."
)
@click.option("--seed", type=click.IntRange(0), default=1,
              help="Decides answers and reports: the same ones, sent again, count once.")  # fmt: skip
@click.option("--url", help="Send them as respondents to the survey behind this link instead.")
@click.option("--yes", is_flag=True, help="Do not ask before invented reports go into a survey that is not a test run.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def simulate(path: Path, count: int, seed: int, url: str | None, yes: bool, as_json: bool) -> None:
    """Randomize the answers of N invented respondents to the file SURVEY, and estimate."""
    survey = read_survey_file(path)
    blocks = invent(survey, count, seed)
    if url is not None:
        if not (survey.trial or yes or ask(_REAL, default=False)):
            raise TransportError("nothing was sent: the survey is not marked trial, and --yes was not said")
        link, console = parse_link(url), Console(stderr=True)
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task("respondents", total=count)
            send_invented(link, survey, blocks, seed, lambda: progress.advance(task))
        console.print(f"{count:,} reports sent.")
        return
    with waiting("Randomizing the answers"):
        rows = compare(pilot(survey, blocks, BatchDraws(seeded(f"pilot {seed}"))))
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=2))
    else:
        _show(rows, count)


def _show(rows: list[SimulatedEstimate], count: int) -> None:
    table = Table(title=f"{count:,} invented respondents")
    for heading in ("question", "answer"):
        table.add_column(heading)
    for heading in ("truth", "estimate", "interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        question, option, truth, raw, low, high = (value if isinstance(value, str) else f"{value:.4g}" for value in row)
        table.add_row(question, option, truth, raw, f"{low} to {high}")
    Console().print(table)
