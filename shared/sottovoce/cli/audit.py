"""``audit``: test the running software against the privacy that a survey claims."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress
from sottovoce.aggregator.planning.survey_file import read_survey_file
from sottovoce.audit.check import FAILED, NOT_DONE, PARTS, PASSED, Check, Tick
from sottovoce.audit.javascript_code import check_javascript
from sottovoce.audit.lower_bound import MAX_SAMPLES
from sottovoce.audit.python_code import (
    check_instructions,
    check_integers,
    check_python,
    check_python_refusals,
    plan,
    private,
)
from sottovoce.audit.sampled_reports import Sampling, check_reports, python_device, runs_for
from sottovoce.audit.text import lines
from sottovoce.audit.whole_devices import check_lives, check_set, lives
from sottovoce.client.link import Link, parse_link
from sottovoce.client.page import opened
from sottovoce.shared.accounting import check_whole
from sottovoce.shared.errors import SpecError, TransportError
from sottovoce.shared.own_coin import procedure
from sottovoce.shared.spec import Question, Survey

if TYPE_CHECKING:  # the driver of browsers is only needed for --client
    from sottovoce.audit import chromium

FORMAT = "sottovoce-audit/1"
INCOMPLETE = "incomplete"
MAX_VISITS = 100_000


@click.command()
@click.argument("survey", type=click.Path(path_type=Path))
@click.option("--client", "url", help="Also audit the browser's client that the aggregator behind this link serves.")
@click.option("--n", "runs", type=int, help="Reports to sample of each invented person. [default: 10000 or fewer]")
@click.option(
    "--visits", type=int, help="With --client: visits of each person to the form. [default: as the claims need]"
)
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Probability that sampling fails what is right."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def audit(survey: Path, url: str | None, runs: int | None, visits: int | None, alpha: float, as_json: bool) -> None:
    """Test the clients against what the survey file SURVEY claims; exit code 1 unless everything passed."""
    parsed = read_survey_file(survey)
    _check_options(parsed, runs, visits, alpha)
    link = None if url is None else parse_link(url)
    samples = runs or runs_for(parsed)
    # Up to three parts sample; together they fail what is right with probability alpha at most.
    level = alpha if link is None else alpha / 3
    with _progress() as progress:
        checks = [] if link is None else _check_served(link, parsed)
        if all(check.outcome == PASSED for check in checks if check.subject == "survey"):
            checks += _audit_here(parsed, samples, level, progress)
            if link is not None:
                checks += _audit_client(link, parsed, (samples, visits), level, progress)
    document = report(parsed, checks, samples, alpha)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo("\n".join(lines(document)))
    if document["verdict"] != PASSED:
        sys.exit(1)


def _check_options(survey: Survey, runs: int | None, visits: int | None, alpha: float) -> None:
    try:
        for name, number, most in (("--n", runs, MAX_SAMPLES), ("--visits", visits, MAX_VISITS)):
            if number is not None:
                check_whole(number, 2, most, name)
    except ValueError as error:
        raise SpecError(str(error)) from None
    if not 0 < alpha < 1:
        raise SpecError("--alpha must lie between 0 and 1")
    if not private(survey):
        raise SpecError("every question of this survey is public; nothing is claimed that an audit could test")


class _Parts:
    """A progress bar for each part."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def start(self, name: str, total: float = 1.0) -> Tick:
        """A new bar; the function that moves it on."""
        task = self._progress.add_task(name, total=total)
        return lambda share: self._progress.advance(task, share)


@contextmanager
def _progress() -> Iterator[_Parts]:
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        yield _Parts(progress)


def _audit_here(survey: Survey, runs: int, alpha: float, parts: _Parts) -> Iterator[Check]:
    """Integers, Python, JavaScript and sampled reports, of this installation."""
    questions = private(survey)
    tick = parts.start("integers, Python", 2 * len(questions))
    tasks = []
    for question in questions:
        yield check_integers(question)
        tick(1)
        task = plan(question)
        if task is None:
            message = "its branches are too many, those of a smaller question as well"
            yield Check("python", question.name, NOT_DONE, question.epsilon, message=message)
        else:
            tasks.append(task)
            yield _by_hand(question) if survey.own_coin else check_python(task)
        tick(1)
    found, lacking = lives(survey)
    yield from (*check_set(survey), *check_lives(found), *lacking)
    yield check_python_refusals(survey)
    tick = parts.start("JavaScript")
    yield from check_javascript(survey, tasks, opened(), found)
    tick(1)
    sampling = Sampling(runs, alpha, parts.start("reports"))
    yield from check_reports("reports", survey, python_device(survey), sampling)


def _by_hand(question: Question) -> Check:
    assert question.mechanism is not None  # noqa: S101 - only such questions are audited
    return check_instructions("python", question, procedure(question.mechanism))


def _check_served(link: Link, survey: Survey) -> list[Check]:
    """That there is an aggregator, and what it serves: known before the long work."""
    _find_browser()
    from sottovoce.audit import served_page

    return [served_page.check_survey(link, survey)]


def _find_browser() -> None:
    try:
        from sottovoce.audit import chromium
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("playwright"):
            raise TransportError("--client needs: pip install 'sottovoce[audit]', and a Chromium") from None
        raise
    chromium.program()


def _audit_client(
    link: Link, survey: Survey, samples: tuple[int, int | None], alpha: float, parts: _Parts
) -> Iterator[Check]:
    from sottovoce.audit import browser_visit, chromium, served_page

    files, scripts = served_page.check_files(link)
    yield from files
    with chromium.Watch(chromium.PATIENCE) as watch, chromium.browser() as browser:
        sampling = Sampling(samples[0], alpha, _heard(watch, parts.start("served scripts")))
        yield from served_page.check_script(browser, scripts, survey, sampling)
        visits = samples[1] or browser_visit.visits_for(survey, alpha)
        sampling = Sampling(visits, alpha, _heard(watch, parts.start("served page")))
        yield from served_page.check_page(browser, link, survey, sampling)


def _heard(watch: "chromium.Watch", tick: Tick) -> Tick:
    def both(share: float) -> None:
        watch.heard()
        tick(share)

    return both


def report(survey: Survey, checks: list[Check], runs: int, alpha: float) -> dict[str, Any]:
    """The document (sottovoce-audit/1)."""
    outcomes = {check.outcome for check in checks}
    verdict = FAILED if FAILED in outcomes else PASSED if outcomes == {PASSED} else INCOMPLETE
    return {
        "format": FORMAT,
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        "title": survey.text(survey.title),
        "epsilon": survey.epsilon,
        "runs": runs,
        "alpha": alpha,
        "verdict": verdict,
        "checks": [check.as_dict() for check in sorted(checks, key=lambda check: PARTS.index(check.part))],
    }
