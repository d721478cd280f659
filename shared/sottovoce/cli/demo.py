"""``demo``: 6,366 real answers, each randomized by its own respondent, collected, estimated and shown."""

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import click
import requests
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sottovoce.aggregator.clock import day_of, now
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.results.analysis import QuestionResult, Results, analyse, revisions_of
from sottovoce.aggregator.results.export import export_document
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage import Storage
from sottovoce.aggregator.web.auth import new_token
from sottovoce.cli.database import open_storage
from sottovoce.cli.output_file import write_json
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.transport import Transport
from sottovoce.demo.data import demo_answers, demo_survey
from sottovoce.shared.errors import StorageError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey

AT_ONCE = 16
MOST_ERRORS = 4.5
"""Standard errors beyond which an estimate would be a bug rather than bad luck: 1 in 150,000 for one estimate."""

Answers = dict[str, str]


@click.command()
@click.option("--folder", type=click.Path(path_type=Path, file_okay=False), help="Keep the database in this folder.")
@click.option("--export", "out", type=click.Path(path_type=Path, dir_okay=False), help="Write the results to FILE.")
@click.option("--port", type=click.IntRange(1, 65535), default=None, help="Port to listen on. [default: a free one]")
@click.option("--exit", "leave", is_flag=True, help="Stop after the results instead of leaving the dashboard open.")
def demo(folder: Path | None, out: Path | None, port: int | None, leave: bool) -> None:
    """Run a survey of 6,366 real answers from the device to the table."""
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as temporary:
        settings = Settings(data=folder or Path(temporary), port=port or _free_port())
        storage = open_storage(settings, create=True)
        token = _prepare(storage)
        with aggregator(settings):
            results, seconds = _collect(settings, storage, console)
            worst = show(results, demo_answers(), console)
            console.print(f"{results.reports} reports in {seconds:.1f} s; worst estimate {worst:.2f} std. errors away.")
            if out is not None:
                write_json(export_document(results), out)
            if not leave:
                _stay(settings, token, console)
        storage.close()
    if worst > MOST_ERRORS:
        console.print(f"An estimate lies beyond {MOST_ERRORS} standard errors of the truth.")
        sys.exit(1)


def _prepare(storage: Storage) -> str:
    survey = demo_survey()
    if storage.revisions(survey.name):
        raise StorageError("this folder holds the demonstration's survey already; choose another")
    storage.publish(survey)
    token, digest = new_token()
    storage.add_researcher("demo", digest)
    return token


def _collect(settings: Settings, storage: Storage, console: Console) -> tuple[Results, float]:
    """Send every row, close the survey, and return its results and the seconds that the sending took."""
    started = time.monotonic()
    survey = load_survey(Transport(settings.url).fetch_survey(demo_survey().name))
    send_all(settings.url, survey, demo_answers(), console)
    seconds = time.monotonic() - started
    storage.close_survey(survey.name, day_of(now()))
    return analyse(revisions_of(storage, survey.name)), seconds


@contextmanager
def aggregator(settings: Settings) -> Iterator[None]:
    """An aggregator process of its own, ready on entry and ended on exit."""
    command = [sys.executable, "-m", "sottovoce.cli", "serve", "--data", str(settings.data), "--port"]
    environment = {**os.environ, **settings.to_environment()}
    process = subprocess.Popen(  # noqa: S603 - our own
        [*command, str(settings.port)], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        _wait_until_ready(settings.url, process)
        yield
    finally:
        process.terminate()
        process.wait(timeout=20)


def _wait_until_ready(url: str, process: subprocess.Popen[bytes], seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if requests.get(f"{url}/readyz", timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.05)
    raise StorageError("the aggregator did not start")


def send_all(url: str, survey: Survey, people: Sequence[Answers], console: Console) -> None:
    """Every row as its own respondent with its own ledger, ``AT_ONCE`` of them at a time."""
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("respondents", total=len(people))

        def send(share: Sequence[Answers]) -> None:
            transport = Transport(url)
            for answers in share:
                Respondent(survey, transport, MemoryLedger()).answer(answers)
                progress.advance(task)

        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(send, [people[index::AT_ONCE] for index in range(AT_ONCE)]))


def show(results: Results, people: Sequence[Answers], console: Console) -> float:
    """Print truth beside estimate; returns the largest distance in standard errors."""
    table = Table(title=f"{results.reports} randomized reports, and the truth that only this demonstration knows")
    table.add_column("question")
    table.add_column("answer")
    for heading in ("truth", "estimate", "95 % interval", "off by"):
        table.add_column(heading, justify="right", no_wrap=True)
    worst = 0.0
    for result in results.questions:
        counts = Counter(person[result.question.name] for person in people)
        for estimate in result.estimates:
            truth = counts[estimate.option] / len(people)
            off = distance(estimate, truth)
            worst = max(worst, off)
            table.add_row(*_row(result, estimate, truth, off))
    console.print(table)
    return worst


def _row(result: QuestionResult, estimate: Estimate, truth: float, off: float) -> tuple[str, ...]:
    return (
        result.question.name,
        estimate.option,
        f"{truth:.1%}",
        f"{estimate.clipped:.1%}",
        f"{100 * estimate.low:.1f} to {estimate.high:.1%}",
        "public" if result.epsilon is None else f"{off:.2f} s.e.",
    )


def distance(estimate: Estimate, truth: float) -> float:
    """How many standard errors the raw estimate lies from the truth; infinite if it cannot be told."""
    if estimate.raw is None or estimate.std_error is None:
        return float("inf")
    gap = abs(estimate.raw - truth)
    return 0.0 if gap == 0 else gap / estimate.std_error if estimate.std_error else float("inf")


def _stay(settings: Settings, token: str, console: Console) -> None:
    console.print(f"\nDashboard: {settings.url}/dashboard/\nToken:     {token}\n\nCtrl-C ends the demonstration.")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        console.print("Ended.")


def _free_port() -> int:
    """A port that nobody has. From those that systems give to connections it could be taken before it is bound."""
    for _ in range(100):
        port = 20_000 + int.from_bytes(os.urandom(4)) % 12_000
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise StorageError("no free port was found; name one with --port")
