"""Write the codebook as a self-contained HTML page, without scripts, for light and dark screens and print."""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from sottovoce.aggregator.analysis.estimates import QuestionResult, SurveyResults
from sottovoce.aggregator.analysis.mixtures.fielded import designs_in_words
from sottovoce.aggregator.analysis.worked_example import limits
from sottovoce.aggregator.export.channels import Channel
from sottovoce.aggregator.export.flow_chart import asked_how, flow_chart
from sottovoce.aggregator.export.labels import coding, option_labels, question_label, value_labels
from sottovoce.aggregator.export.own_units import REVISION, WAVE, few_code, option_codes
from sottovoce.aggregator.export.statistics_files import column_names
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.i18n.translator import ENGLISH, Words
from sottovoce.aggregator.institution import Institution
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question, Survey

_STYLE = (
    ":root{color-scheme:light dark;--ground:#f6f5f1;--paper:#fff;--ink:#1f2328;--soft:#565d66;--line:#d9d6cc;"
    "--accent:#1d5f5a}@media (prefers-color-scheme:dark){:root{--ground:#15191c;--paper:#1d2327;--ink:#e8e6e1;"
    "--soft:#a9b0b6;--line:#384046;--accent:#7fc4bb}}"
    "body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}"
    "img{background:#fff;border-radius:4px;padding:2px}"
    "main{max-width:60rem;margin:0 auto;padding:1rem}header{border-block-end:3px solid var(--accent)}"
    ".kind{margin:0;color:var(--accent);font-weight:600}h1{margin:.2rem 0 .6rem}h2{font-size:1.1rem;margin:0 0 .4rem}"
    "section{background:var(--paper);border:1px solid var(--line);border-radius:.6rem;padding:1rem;margin:1rem 0;"
    "break-inside:avoid}table{border-collapse:collapse;width:100%}caption{text-align:start;color:var(--soft)}"
    "th,td{border-block-end:1px solid var(--line);padding:.3rem .8rem .3rem 0;text-align:start;vertical-align:top;"
    "font-weight:400}thead th{color:var(--soft)}code{overflow-wrap:anywhere}"
    ".wide,.scroll{overflow-x:auto;position:relative}@media print{header{break-after:page}}.flow.narrow{display:none}"
    "@media screen and (max-width:34rem){.flow{display:none}.flow.narrow{display:block;max-width:100%;height:auto}}"
)

EXTRA = {
    WAVE: "The wave of the report, from 0. In SPSS and Stata: wave.",
    REVISION: "The revision of the survey that was answered. In SPSS and Stata: revision.",
}
"""Descriptions of the additional columns in files of reports."""


def about_few(question: Question) -> str:
    """Say what stands for an answer that the files of reports leave out, and what that does to figures."""
    code = str(few_code(question))[: len("2000-01-01")]
    return (
        f"few ({code} in SPSS and Stata): an answer that is left out, since fewer than five people gave it, or would "
        "be left. Shares take it in the denominator; no mean or model knows it."
    )


def codebook_lines(
    channels: Sequence[Channel],
    about: About,
    results: SurveyResults,
    institution: Institution | None = None,
    notes: Sequence[Mapping[str, str]] = (),
    shown: Sequence[Question] | None = None,
) -> Iterator[str]:
    """Yield the lines of the page, with estimates beside the questions and the institution above the title.

    Args:
        channels: of the survey's questions.
        notes: sentences by question, such as on the answers that the files of reports leave out.
        shown: questions that are columns of these files; None for all.
    """
    survey, language = about.survey, about.survey.default_language
    shown = survey.questions if shown is None else shown
    title = escape(survey.text(survey.title))
    yield f"<!doctype html>{f'<!-- {about.warning} -->' if about.warning else ''}"
    yield f'<html lang="{escape(language)}"><head><meta charset="utf-8"><title>Codebook: {title}</title>'
    yield f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head><body><main>'
    if about.warning:
        yield f"<p><strong>{about.warning}</strong></p>"
    yield f"<header>{_institution(institution or Institution())}"
    yield f'<p class="kind" lang="en">Codebook</p><h1 dir="auto">{title}</h1><div lang="en">'
    yield from _front(about, language, results, shown)
    yield '</div></header><div lang="en">'
    if chart := flow_chart(survey, Words("en"), language):
        yield f"<section><h2>How people pass through the survey</h2>{chart}</section>"
    shorter = _shorter_names(survey)
    found = {each.question.name: each for each in results.questions}
    for question in shown:
        mine = [channel for channel in channels if channel.question.name == question.name]
        yield from _section(question, mine, language, shorter.get(question.name, ""))
        how = asked_how(survey, question, ENGLISH.words, language)
        how += designs_in_words(survey, ENGLISH.words, question.name)
        yield from (f"<p>{escape(each)}</p>" for each in how)
        yield from (f"<p>{escape(each[question.name])}</p>" for each in notes if question.name in each)
        yield from _shares(found.get(question.name), language, results.closed)
        yield "</section>"
    for name, description in EXTRA.items():
        yield f"<section><h2><code>{name}</code></h2><p>{description}</p></section>"
    yield "</div></main></body></html>"


def _institution(institution: Institution) -> str:
    logo = f'<img src="{escape(institution.logo)}" alt="" height="28"> ' if institution.logo else ""
    link = escape(institution.imprint)
    parts = [logo + escape(institution.name), f'<a lang="en" href="{link}">Imprint</a>' if link else ""]
    return f'<p dir="auto">{" · ".join(filter(None, parts))}</p>' if any(parts) else ""


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
    if labels and (codes := option_codes(question)):
        both = [(str(value), str(codes[value]), text) for value, text in labels.items()]
        yield from _table(f"Values of {question.name}", ("value", "in SPSS and Stata", "meaning"), both)
    elif labels:
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


def _front(about: About, language: str, results: SurveyResults, shown: Sequence[Question]) -> Iterator[str]:
    """Yield the first page: the survey's provenance, and every column with its text."""
    survey = about.survey
    yield f"<p><code>{escape(about.line)}</code></p>"
    if "researcher" in survey.document:
        name = survey.text(survey.document["researcher"]["name"])
        yield f'<p lang="{escape(language)}" dir="auto">{escape(name)}</p>'
    facts = [f"Reports shown: {results.reports:,}."]
    facts += [f"Epsilon of a whole report: {show_epsilon(survey.epsilon)}."] if survey.private else []
    facts += ["A cell of the reports is empty where the respondent was not asked, as far as they tell."]
    yield f"<p>{' '.join(facts)}</p>"
    rows = [(each.name, question_label(each, language), each.type) for each in shown]
    yield from _table("Columns of the reports", ("name", "question", "type"), rows)


def _shares(result: QuestionResult | None, language: str, closed: bool) -> Iterator[str]:
    shares = [each for each in result.of_kind("share") if each.clipped is not None] if result and result.n else []
    if result is None or not shares:
        return
    labels = dict(zip(result.question.options, option_labels(result.question, language), strict=True))
    rows = []
    for each in shares:
        ends = ("", "") if each.low is None else map(ENGLISH.percent, limits(each, not closed))
        rows.append((labels.get(each.option, each.option), ENGLISH.percent(each.clipped or 0.0), *ends))
    head = f"{'Interval' if closed else 'Band'} of {100 * shares[0].confidence:.0f}%"
    columns = ("answer", "share", "from", "to")
    yield from _table(f"Estimated shares of {result.question.name}. {head}, n = {result.n:,}", columns, rows)
    if shares[0].low is None:
        yield f"<p>{escape(ENGLISH.words.translate('results_no_limits'))}</p>"


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table in a scrollable region, focusable so that keyboard users can scroll it (WCAG 2.1.1)."""
    name = escape(caption)
    yield f'<div class="wide" role="region" tabindex="0" aria-label="{name}"><table><caption>{name}</caption>'
    headings = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    yield f"<thead><tr>{headings}</tr></thead><tbody>"
    for row in rows:
        # A long name may break after an underscore, and no word inside.
        yield "<tr>" + "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in row).replace("_", "_<wbr>") + "</tr>"
    yield "</tbody></table></div>"
