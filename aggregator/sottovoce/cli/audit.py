"""``audit``: test the running software against the privacy that a survey claims."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import Progress
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.audit import run
from sottovoce.audit.check import PASSED, Tick
from sottovoce.audit.python_code import private
from sottovoce.audit.run import audit_question
from sottovoce.audit.text import lines
from sottovoce.cli.command import PATH, command, waiting
from sottovoce.cli.question import check_frame_address, read_question
from sottovoce.client.link import parse_link
from sottovoce.shared.errors import SpecError
from sottovoce.shared.single_question import parse_question


@command(example="sottovoce audit exam.yaml --quick")
@click.argument("survey", type=PATH, required=False)
@click.option("--client", "url", help="Also compare the form that the aggregator behind this link serves.")
@click.option("--quick", is_flag=True, help="Try fewer values, for use while you edit the survey.")
@click.option("--question", type=PATH, help="Instead of SURVEY: one question for other pages.")
@click.option("--curator", is_flag=True, help="Instead of SURVEY: the mechanisms for data in trusted hands.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def audit(
    survey: Path | None, url: str | None, quick: bool, question: Path | None, curator: bool, as_json: bool
) -> None:
    """Test the clients against what the survey file SURVEY claims; exit code 1 unless everything passed."""
    if curator:
        document, text = _audit_curator(_options_of_surveys())
    else:
        document = (
            _audit_survey(survey, url, quick) if question is None else _audit_question(survey, question, url, quick)
        )
        text = lines(document)
    click.echo(json.dumps(document, indent=2) if as_json else "\n".join(text))
    if document["verdict"] != PASSED:
        sys.exit(1)


def _audit_survey(survey: Path | None, url: str | None, quick: bool) -> dict[str, Any]:
    """Audit a survey and return the document; raises SpecError if there is no survey, or nothing in it to audit."""
    if survey is None:
        raise SpecError("a SURVEY is needed, or --question, or --curator")
    parsed = read_survey_file(survey)
    if not parsed.private:
        raise SpecError("every question of this survey is public; nothing is claimed that an audit could test")
    if not private(parsed) and not parsed.blocks:
        raise SpecError("no answer of this survey is randomized by the device: people's own facts hide them")
    order = run.Order(parsed, None if url is None else parse_link(url), quick)
    with _bars() as begin:
        return run.report(order, run.audit(order, begin))


def _audit_question(survey: Path | None, path: Path, address: str | None, quick: bool) -> dict[str, Any]:
    """Audit one question and return the document; raises SpecError if a survey is named as well, or there is no
    question.
    """
    if survey is not None:
        raise SpecError("--question audits one question; leave out SURVEY")
    asked = read_question(path, parse_question)
    if address is not None:
        check_frame_address(address, "--client")
    with _bars() as begin:
        return audit_question(asked, address, quick, begin("core and frame", 1))


def _audit_curator(named: Sequence[str]) -> tuple[dict[str, Any], list[str]]:
    """Check the mechanisms of curator mode against their claimed epsilon and delta; return the document and its lines.

    Args:
        named: other arguments and options that were given; there must be none.

    Raises:
        SpecError: a survey is named, or an option of its audit.
    """
    # Its samplers come with libraries that take longer to load than a survey's audit has time for.
    from sottovoce.audit.curator.curator_checks import audit_curator, curator_lines, curator_report

    if named:
        raise SpecError(f"--curator audits the mechanisms themselves and samples nothing; leave out {', '.join(named)}")
    with waiting("Auditing the mechanisms"):
        document = curator_report(audit_curator())
    return document, curator_lines(document)


def _options_of_surveys() -> list[str]:
    """Return the argument and the options that were given and mean nothing with ``--curator``."""
    context = click.get_current_context()
    given = [each for each in context.command.params if each.name not in {"curator", "as_json"}]
    by_hand = [each for each in given if context.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE]
    return [each.opts[0] if isinstance(each, click.Option) else "SURVEY" for each in by_hand]


@contextmanager
def _bars() -> Iterator[run.Begin]:
    """Show a progress bar for each part."""
    console = Console(stderr=True)
    # No thread of its own: the audit forks while the bars are shown.
    with Progress(console=console, transient=True, auto_refresh=False, disable=not console.is_terminal) as progress:

        def begin(name: str, total: float) -> Tick:
            task = progress.add_task(name, total=total)
            # At once: the first step of a part can take minutes.
            progress.refresh()
            return lambda share: progress.update(task, advance=share, refresh=True)

        yield begin
