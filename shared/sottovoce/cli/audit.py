"""``audit``: test the running software against the privacy that a survey claims."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from sottovoce.aggregator.audit.bound import MAX_SAMPLES
from sottovoce.aggregator.survey_file import read_survey_file
from sottovoce.cli.audit_check import FAILED, NOT_DONE, PASSED, Check, Tick
from sottovoce.cli.audit_code import check_integers, check_javascript, check_python, plan, private
from sottovoce.cli.audit_reports import check_reports, python_device, runs_for
from sottovoce.client.link import Link, parse_link
from sottovoce.client.page import assemble
from sottovoce.shared.accounting import check_whole
from sottovoce.shared.errors import SpecError, TransportError
from sottovoce.shared.spec import Survey

FORMAT = "sottovoce-audit/1"
MAX_VISITS = 100_000

VERDICTS = {
    PASSED: "Passed: nothing that was tried contradicts what the survey claims.",
    FAILED: "FAILED: the software does not keep what the survey claims.",
    "incomplete": "INCOMPLETE: something was not tried; this is not a pass.",
}


@click.command()
@click.argument("survey", type=click.Path(path_type=Path))
@click.option("--client", "url", help="Also audit the browser's client that the aggregator behind this link serves.")
@click.option("--n", "runs", type=int, help="Reports to sample of each invented person. [default: 10000 or fewer]")
@click.option("--visits", type=int, help="With --client: visits of each person to the form. [default: 60]")
@click.option(
    "--alpha", type=float, default=0.05, show_default=True, help="Probability that a part fails what is right."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def audit(
    survey: Path, url: str | None, runs: int | None, visits: int | None, alpha: float, as_json: bool
) -> None:
    """Test the clients against what the survey file SURVEY claims; exit code 1 unless everything passed."""
    parsed = read_survey_file(survey)
    _check_options(runs, visits, alpha)
    link = None if url is None else parse_link(url)
    console = Console(stderr=True)
    samples = runs or runs_for(parsed)
    with _progress(console) as progress:
        checks = list(_audit_here(parsed, samples, alpha, progress))
        if link is not None:
            checks += _audit_client(link, parsed, (samples, visits), alpha, progress)
    document = report(parsed, checks, samples, alpha)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        click.echo("\n".join(lines(document)))
    if document["verdict"] != PASSED:
        sys.exit(1)


def _check_options(runs: int | None, visits: int | None, alpha: float) -> None:
    try:
        for name, number, most in (("--n", runs, MAX_SAMPLES), ("--visits", visits, MAX_VISITS)):
            if number is not None:
                check_whole(number, 1, most, name)
    except ValueError as error:
        raise SpecError(str(error)) from None
    if not 0 < alpha < 1:
        raise SpecError("--alpha must lie between 0 and 1")


class _Parts:
    """A progress bar for each part."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def start(self, name: str, total: float = 1.0) -> Tick:
        """A new bar; the function that moves it on."""
        task = self._progress.add_task(name, total=total)
        return lambda share: self._progress.advance(task, share)


@contextmanager
def _progress(console: Console) -> Iterator[_Parts]:
    with Progress(console=console, transient=True) as progress:
        yield _Parts(progress)


def _audit_here(survey: Survey, runs: int, alpha: float, parts: _Parts) -> Iterator[Check]:
    """Integers, Python, JavaScript and sampled reports, of this installation."""
    questions = private(survey)
    if not questions:
        raise SpecError("every question of this survey is public; nothing is claimed that an audit could test")
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
            yield check_python(task)
        tick(1)
    tick = parts.start("JavaScript")
    yield from check_javascript(tasks, assemble()["respondent.js"].body.decode())
    tick(1)
    # Beside the client's script and page, where these are looked at; all together keep to alpha for each part.
    yield from check_reports("reports", survey, python_device(survey), runs, alpha, parts.start("reports"))


def _audit_client(
    link: Link, survey: Survey, samples: tuple[int, int | None], alpha: float, parts: _Parts
) -> list[Check]:
    try:
        from sottovoce.cli import audit_client, chromium
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("playwright"):
            raise TransportError("--client needs: pip install 'sottovoce[audit]', and a Chromium") from None
        raise
    served = audit_client.check_survey(link, survey)
    files, script = audit_client.check_files(link)
    checks = [served, *files]
    if served.outcome == FAILED:
        return checks
    with chromium.browser() as browser:
        checks += audit_client.check_script(browser, script, survey, samples[0], alpha, parts.start("served script"))
        visits = samples[1] or audit_client.VISITS
        checks += audit_client.check_page(browser, link, survey, visits, alpha, parts.start("served page"))
    return checks


def report(survey: Survey, checks: list[Check], runs: int, alpha: float) -> dict[str, Any]:
    """The document (sottovoce-audit/1)."""
    outcomes = {check.outcome for check in checks}
    verdict = FAILED if FAILED in outcomes else "incomplete" if outcomes != {PASSED} else PASSED
    return {
        "format": FORMAT,
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        "epsilon": survey.epsilon,
        "runs": runs,
        "alpha": alpha,
        "verdict": verdict,
        "checks": [check.as_dict() for check in sorted(checks, key=lambda check: [*_HEADINGS].index(check.part))],
    }


def lines(document: dict[str, Any]) -> list[str]:
    """The report as text: a line for each check, what was tried once for each part, and the verdict."""
    text = [f"{document['survey']}, revision {document['revision']}, digest {document['digest']}"]
    part = scope = ""
    for check in document["checks"]:
        if check["part"] != part:
            part, scope = check["part"], ""
            text += ["", _HEADINGS[part]]
        text.append(_line(check))
        if check["message"]:
            text.append(f"      {check['message']}")
        elif check["scope"] and check["scope"] != scope:
            scope = check["scope"]
            text.append(f"      {scope}")
    return [*text, "", VERDICTS[document["verdict"]]]


_HEADINGS = {
    "integers": "Epsilon from the survey's integers",
    "python": "Epsilon from every branch of the Python client",
    "javascript": "Epsilon from every branch of the JavaScript client",
    "reports": "Lower bounds on epsilon from reports of the Python client",
    "files": "What the aggregator serves",
    "script": "Lower bounds on epsilon from the served script",
    "page": "Lower bounds on epsilon from visits to the served page",
}


def _line(check: dict[str, Any]) -> str:
    found = "" if check["epsilon"] is None else f"{check['epsilon']:.4f}"
    claim = "" if check["claim"] is None else f"claimed {check['claim']:.4f}"
    return f"  {check['outcome']:<9} {check['subject']:<36} {found:>8}  {claim}".rstrip()
