"""``demo``: 6,366 real answers, each randomized by its own respondent, collected, estimated and shown."""

import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from threading import Event, Thread

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sottovoce.aggregator.accounts.account_invitations import sign_in_link
from sottovoce.aggregator.analysis.estimates import SurveyResults
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.i18n.translator import ENGLISH
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.audit_log.events import EXPORTED, MACHINE
from sottovoce.cli.command import FILE, check_free, command, write_json
from sottovoce.cli.database import open_storage
from sottovoce.cli.process import aggregator, capture_signals, free_port
from sottovoce.cli.server import bind
from sottovoce.demo import run

_TURNS_OF_A_SESSION = 600
"""Half seconds after which a session counts as used: well before it would end."""


@command(example="sottovoce demo")
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Keep the database in this folder.")
@click.option("--export", "out", type=FILE, help="Write the results to FILE.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to listen on. [default: a free one]")
@click.option("--exit", "leave", is_flag=True, help="Stop after the results instead of leaving the dashboard open.")
def demo(folder: Path | None, out: Path | None, force: bool, port: int | None, leave: bool) -> None:
    """Run a survey of 6,366 real answers from the device to the table."""
    check_free(out, [".json"], force)
    # A signal must stop the aggregator process and remove its folder too, so it sets an Event and ends nothing itself.
    with capture_signals() as stopped, tempfile.TemporaryDirectory() as temporary:
        settings = Settings(data=folder or Path(temporary), port=port or free_port())
        bind(settings).close()
        storage = open_storage(settings, create=True)
        click.echo("Starting a server for the demonstration …", err=True)
        worst = _run(settings, storage, out, leave, stopped)
        storage.close()
    if worst > run.MOST_ERRORS:
        click.echo(f"An estimate lies beyond {run.MOST_ERRORS} standard errors of the truth.", err=True)
        sys.exit(1)


def _run(settings: Settings, storage: Storage, out: Path | None, leave: bool, stopped: Event) -> float:
    console, owner, people = Console(stderr=True), run.prepare(storage), run.demo_answers()
    with aggregator(settings, stopped):
        if not leave:
            console.print(f"Watch it fill, signed in, once: {_link(storage, settings, owner)}", soft_wrap=True)
        seconds, results = _send(settings.url, people, console, stopped), run.close(storage)
        rows = run.compare(results, people)
        _show(rows, f"{results.reports:,} randomized reports, and the truth that only the demonstration knows", console)
        console.print("\n".join([*results_in_words(results), "", *run.in_words(run.compare_cells(people)), ""]))
        worst = max(row.off for row in rows)
        console.print(f"{results.reports:,} reports in {seconds:.1f} s; worst estimate {worst:.2f} std. errors away.")
        _export(results, storage, out)
        if not leave:
            _stay(storage, settings, owner, console, stopped)
    return worst


def _export(results: SurveyResults, storage: Storage, out: Path | None) -> None:
    if out is not None:
        storage.journal.append(EXPORTED, MACHINE, f"{results.survey.name} export.json")
        write_json(export_document(results, storage.journal.head()), out)


def _send(url: str, people: list[dict[str, str]], console: Console, stopped: Event) -> float:
    """The seconds that the sending took.

    Raises:
        click.Abort: a signal stopped this process before all had been sent.
    """
    started, is_over = time.monotonic(), Event()
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("respondents", total=len(people))
        Thread(target=_tell, args=(progress, is_over), daemon=True).start()
        try:
            run.send(url, people, lambda: progress.advance(task), stopped)
        finally:
            is_over.set()
    if stopped.is_set():
        raise click.Abort
    return time.monotonic() - started


def _tell(progress: Progress, is_over: Event) -> None:
    """Print every second how many people have answered, where a file or a pipe shows no bar."""
    [task] = progress.tasks
    while not progress.console.is_terminal:
        progress.console.print(f"{task.completed:,.0f} of {task.total:,.0f} people have answered")
        if is_over.wait(1):
            return


def _show(rows: Iterable[run.DemoEstimate], title: str, console: Console) -> None:
    table = Table("question", "answer", title=title)
    for heading in ("truth", "estimate", "95% interval", "off by"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, found, truth, off, is_public in rows:
        shown = "public" if is_public else f"{off:.2f} s.e."
        figures = ENGLISH.percent(truth), ENGLISH.point(found.clipped, ENGLISH.percent), run.interval(found.ends)
        table.add_row(name, found.option, *figures, shown)
    console.print(table)


def _link(storage: Storage, settings: Settings, owner: Account) -> str:
    return sign_in_link(storage.access.by(MACHINE), settings.url, owner.id, day_of(now()), at_once=True)


def _stay(storage: Storage, settings: Settings, owner: Account, console: Console, stopped: Event) -> None:
    # Not wrapped: a link that is broken into two lines opens nothing.
    ending = "Ctrl-C ends the demonstration, and deletes its surveys unless you gave --folder."
    told = f"\nDashboard, signed in, once: {_link(storage, settings, owner)}\nData: {settings.data}\n\n{ending}"
    console.print(told, soft_wrap=True)
    turn = 0
    while not stopped.wait(0.5):  # for ever, no order would be heard on Windows
        turn += 1
        if turn % _TURNS_OF_A_SESSION == 0:
            run.keep_signed_in(storage, owner, int(now().timestamp()))
    console.print("Ended.")
