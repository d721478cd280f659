"""``simulate``: try a survey on invented respondents, in memory or against a running aggregator."""

import itertools
import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.planning.batch_randomizers import BatchDraws, Values, seeded
from sottovoce.aggregator.planning.simulated_survey import Piloted, answers_of, invent, pilot, randomized, true_figure
from sottovoce.aggregator.planning.survey_file import read_survey_file
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.draws import Draws
from sottovoce.client.link import parse_link
from sottovoce.client.respondent import Allowance
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import TransportError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Question, Survey

UNLIMITED = Allowance(float("inf"), float("inf"))
"""Invented respondents have nothing to lose."""


@click.command()
@click.argument("path", metavar="SURVEY", type=click.Path(path_type=Path))
@click.option("--n", "count", type=click.IntRange(1, 10_000_000), default=10_000, show_default=True)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Decides the invented answers.")
@click.option("--url", help="Send them as respondents to the survey behind this link instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def simulate(path: Path, count: int, seed: int, url: str | None, as_json: bool) -> None:
    """Randomize the answers of N invented respondents to the file SURVEY, and estimate."""
    survey = read_survey_file(path)
    blocks = invent(survey, count, seed)
    if url is not None:
        console = Console(stderr=True)
        sending = _send(survey, blocks, url, seed)
        for _ in track(sending, "respondents", total=count, console=console, transient=True):
            pass
        console.print(f"{count:,} reports sent.")
        return
    rows = compare(pilot(survey, blocks, BatchDraws(seeded(f"pilot {seed}"))))
    if as_json:
        keys = ("question", "option", "truth", "raw", "low", "high")
        click.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows], indent=2))
    else:
        _show(rows, count)


Row = tuple[str | float, ...]


def compare(piloted: Piloted) -> list[Row]:
    """(question, option, truth, raw estimate, low, high) for everything but the shares of bins."""
    rows = []
    for result, truth in zip(piloted.results.questions, piloted.truths, strict=True):
        for estimate in result.estimates:
            true = true_figure(result.question, truth, estimate)
            if true is not None and estimate.raw is not None:
                figures = ((float(true), 0), (estimate.raw, 0), (estimate.low, -1), (estimate.high, 1))
                written = [_written(result.question, estimate, *each) for each in figures]
                rows.append((result.question.name, estimate.option, *written))
    return rows


def _written(question: Question, estimate: Estimate, value: float, towards: int) -> float | str:
    """A figure as the question's own numbers are written."""
    grid = question.domain.grid
    return value if grid is None or estimate.kind == "share" else grid.figure(value, towards)


def _show(rows: list[Row], count: int) -> None:
    table = Table(title=f"{count:,} invented respondents")
    for heading in ("question", "answer"):
        table.add_column(heading)
    for heading in ("truth", "estimate", "interval"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        question, option, truth, raw, low, high = (value if isinstance(value, str) else f"{value:.4g}" for value in row)
        table.add_row(question, option, truth, raw, f"{low} to {high}")
    Console().print(table)


def _send(survey: Survey, blocks: Iterable[list[Values]], url: str, seed: int) -> Iterator[int]:
    """Answer as one respondent after the other; gives their numbers."""
    link = parse_link(url)
    transport = Transport(link.origin)
    served = load_survey(transport.fetch_survey(link.survey))
    if served.digest != survey.digest:
        raise TransportError("the aggregator's survey is not the one in the file; nothing was sent")
    tosses, numbers = BatchDraws(seeded(f"tosses {seed} {link.wave}")), itertools.count()
    for truths in blocks:
        # Whoever tosses coins of their own types what the toss says.
        typed = randomized(survey, truths, tosses) if survey.own_coin else truths
        for place in range(len(truths[0])):
            number = next(numbers)
            draws = Draws(seeded(f"respondent {seed} {link.wave} {number}"))
            me = Respondent(served, transport, MemoryLedger(), draws=draws, allowance=UNLIMITED, wave=link.wave)
            me.answer(answers_of(survey, typed, place))
            yield number
