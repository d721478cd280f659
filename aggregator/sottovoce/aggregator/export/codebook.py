"""Write the codebook as a self-contained HTML page, without scripts, for light and dark screens and print."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from sottovoce.aggregator.export.channels import Channel
from sottovoce.aggregator.export.labels import coding, question_label, value_labels
from sottovoce.aggregator.export.own_units import REVISION, WAVE
from sottovoce.aggregator.export.statistics_files import column_names
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question, Survey

_STYLE = (
    ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1rem}"
    "table{border-collapse:collapse}th,td{border:1px solid;padding:.2rem .6rem;text-align:start;vertical-align:top}"
    "code{overflow-wrap:anywhere}section{break-inside:avoid}.wide{overflow-x:auto}"
)

EXTRA = {
    WAVE: "The wave of the report, from 0. In SPSS and Stata: wave.",
    REVISION: "The revision of the survey that was answered. In SPSS and Stata: revision.",
}
"""Descriptions of the additional columns in files of reports."""


def write_codebook(path: Path, channels: Sequence[Channel], about: About) -> None:
    """
    Write the page.

    Args:
        path: path of the file.
        channels: channels of all questions.
        about: provenance of the file.
    """
    path.write_text("\n".join(_lines(channels, about)) + "\n", encoding="utf-8")


def _lines(channels: Sequence[Channel], about: About) -> Iterator[str]:
    survey, language = about.survey, about.survey.default_language
    title = escape(survey.text(survey.title))
    yield f"<!doctype html>{f'<!-- {about.warning} -->' if about.warning else ''}"
    yield f'<html lang="{escape(language)}"><head><meta charset="utf-8"><title>Codebook: {title}</title>'
    yield f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body><main>'
    if about.warning:
        yield f"<p><strong>{about.warning}</strong></p>"
    yield f'<h1 dir="auto">{title}</h1><div lang="en">'
    yield f"<p>Codebook. <code>{escape(about.line)}</code></p>"
    yield "<p>A cell of the reports is empty where the respondent was not asked.</p>"
    shorter = _shorter_names(survey)
    for question in survey.questions:
        mine = [channel for channel in channels if channel.question.name == question.name]
        yield from _section(question, mine, language, shorter.get(question.name, ""))
    for name, description in EXTRA.items():
        yield f"<section><h2><code>{name}</code></h2><p>{description}</p></section>"
    yield "</div></main></body></html>"


def _shorter_names(survey: Survey) -> dict[str, str]:
    """Return a sentence for each question that has another name in the files for SPSS or Stata."""
    names = {"SPSS": column_names(survey, ".sav"), "Stata": column_names(survey, ".dta")}
    found: dict[str, str] = {}
    for question in survey.questions:
        other = [f"in {program} <code>{of[question.name]}</code>" for program, of in names.items()
                 if of[question.name] != question.name]  # fmt: skip
        if other:
            found[question.name] = f"<p>Its name is {', '.join(other)}.</p>"
    return found


def _section(question: Question, channels: Sequence[Channel], language: str, shorter: str) -> Iterator[str]:
    yield f"<section><h2><code>{question.name}</code></h2>{shorter}"
    yield f'<p lang="{escape(language)}" dir="auto">{escape(question_label(question, language))}</p>'
    yield f"<p>{question.type}. {escape(coding(question))}</p>"
    if question.mechanism is not None:
        yield f"<p>Epsilon of one report: {show_epsilon(question.epsilon)}.</p>"
    labels = value_labels(question, language)
    if labels:
        yield from _table(f"Values of {question.name}", ("value", "meaning"), [(str(v), t) for v, t in labels.items()])
    # Fractions, not floats: readers can check the channel exactly.
    rows = [
        (" ".join(map(str, channel.revisions)), option, rule, str(code), str(a), str(b))
        for channel in channels
        for option, _, rule, code, a, b in channel.shares
        if channel.mechanism is not None
    ]
    if rows:
        columns = ("revisions", "option", "rule", "code", "a = P(support | true)", "b = P(support | not true)")
        yield from _table(f"Channel of {question.name}", columns, rows)
    yield "</section>"


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table in a scrollable region, focusable so that keyboard users can scroll it (WCAG 2.1.1)."""
    name = escape(caption)
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{name}"><table><caption>{name}</caption>'
    yield (
        "<thead><tr>" + "".join(f'<th scope="col">{escape(column)}</th>' for column in columns) + "</tr></thead><tbody>"
    )
    for row in rows:
        yield "<tr>" + "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in row) + "</tr>"
    yield "</tbody></table></div>"
