"""Write the methods section for a paper, with the mathematics from the module docstring of each mechanism."""

import inspect
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from sottovoce.aggregator.analysis.estimates import SurveyResults
from sottovoce.aggregator.export.labels import coding, question_label
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.shared.by_hand.protection import protection_by
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR
from sottovoce.shared.rational import dump_fraction, show_epsilon
from sottovoce.shared.spec import Question


def write_methods(path: Path, results: SurveyResults, about: About) -> None:
    """Write the section as Markdown.

    Args:
        path: path of the file.
        results: results of all respondents, for the numbers of reports.
        about: provenance of the file.
    """
    path.write_text("\n".join(_lines(results, about)) + "\n", encoding="utf-8")


def _lines(results: SurveyResults, about: About) -> Iterator[str]:
    survey = results.survey
    yield from [f"**{line}**" if line != about.line else f"*{line}*" for line in about.lines]
    yield from ["", f"# Methods: {survey.text(survey.title)}", "", *textwrap.wrap(_paragraph(results, about), 100), ""]
    for question in survey.questions:
        yield from [f"## {question.name}: {question_label(question, survey.default_language)}", ""]
        yield from [*textwrap.wrap(_of_question(question), 100), ""]
    yield "# Mechanisms"
    for mechanism in _different(survey.questions):
        yield from ["", f"## {mechanism.name}", "", *textwrap.indent(_mathematics(mechanism), "    ").splitlines()]


_WHO = {
    "toss": "with a coin or a die of their own",
    "fact": "by an innocuous fact of their own or on their own device, as the question says,",
    "device": "on their own device",
}


def _paragraph(results: SurveyResults, about: About) -> str:
    survey = results.survey
    who = _WHO[protection_by(survey)]
    asked = ""
    if survey.arms:
        names = ", ".join(f"{arm.name} (weight {arm.weight})" for arm in survey.arms)
        asked = f" The device drew one of the arms {names} for each respondent, after consent."
    if survey.ask:
        whole = "private questions of the arm" if survey.arms else "private questions"
        asked += f" Each was asked {survey.ask} of the {whole}, drawn by the device."
    for block in (block for block in survey.blocks if block.mechanism.ask):
        names = ", ".join(survey.questions[index].name for index in block.questions)
        asked += f" Each was asked {block.mechanism.ask} of {names}, drawn by the device."
    waves = f" It was asked in {len(survey.waves)} waves." if len(survey.waves) > 1 else ""
    # Files of reports also have those that came after a reopening and do not fill a step.
    unshown = f" of {results.received:,}" if results.closed and sum(results.waves) < results.received else ""
    state = "" if results.closed else " The survey was still open when this was written."
    return (
        f"Answers to sensitive questions were randomized by the respondents {who} before they were sent (randomized "
        f"response; Warner 1965), so that the researchers never held a true answer. A whole report is "
        f"{show_epsilon(survey.epsilon)}-locally differentially private (delta = 0), whatever else is known."
        f"{asked}{waves} "
        f"{results.reports:,}{unshown} reports were counted and {results.withdrawn:,} were withdrawn.{state} "
        f"Shares and means were estimated without bias from the counts of reports; 95 % intervals are score intervals "
        f"with continuity correction carried over to the true share. Survey {survey.name}, revision {survey.revision}, "
        f"digest {survey.digest[:16]}, analysed with sottovoce {about.version}."
    )


def _of_question(question: Question) -> str:
    if question.mechanism is None:
        return f"Public. {coding(question)}"
    numbers = ", ".join(
        f"{name} {dump_fraction(number) if not isinstance(number, int) else number}"
        for name, number in question.mechanism.explain().items()
    )
    return f"{_name(question.mechanism)} ({numbers}), epsilon {show_epsilon(question.epsilon)}. {coding(question)}"


def _name(mechanism: Mechanism) -> str:
    if not isinstance(mechanism, InnocuousRR):
        return mechanism.name
    source = next(iter(mechanism.source.values()))
    share = f"innocuous share {dump_fraction(mechanism.share)}, standard error {float(mechanism.std_error):g}: {source}"
    return f"{mechanism.known_as}, as long as no one who sees the report knows the fact; {share}"


def _different(questions: tuple[Question, ...]) -> list[Mechanism]:
    found = {q.mechanism.name: q.mechanism for q in questions if q.mechanism is not None}
    return list(found.values())


def _mathematics(mechanism: Mechanism) -> str:
    module = import_module(type(mechanism).__module__)
    return inspect.getdoc(module) or ""
