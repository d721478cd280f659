"""Write the codebook as a self-contained HTML page, without scripts, for light and dark screens and print."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files

from jinja2 import Environment, Template
from sottovoce.aggregator.analysis.estimates import QuestionResult, SurveyResults
from sottovoce.aggregator.analysis.mixtures.mixture import designs_in_words
from sottovoce.aggregator.analysis.worked_example import limits
from sottovoce.aggregator.export.channels import Channel, coding_by_revision, codings
from sottovoce.aggregator.export.flow_chart import asked_how, flow_chart
from sottovoce.aggregator.export.labels import option_labels, question_label, value_labels
from sottovoce.aggregator.export.statistics_files import column_names
from sottovoce.aggregator.export.tables import REVISION, WAVE, few_code, option_codes, unit_grid
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.i18n.translator import ENGLISH, Words
from sottovoce.aggregator.institution import Institution
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question

EXTRA = {
    WAVE: "The wave of the report, from 0. In SPSS and Stata: wave.",
    REVISION: "The revision of the survey that was answered. In SPSS and Stata: revision.",
}
"""Descriptions of the additional columns in files of reports."""


def about_few(question: Question) -> str:
    """Say what stands for an answer that the files of reports leave out, and what that does to figures."""
    code = str(few_code(question))[: len("2000-01-01")]
    where = f"{code} in SPSS and Stata" if unit_grid(question) is None else f"missing: {code} in SPSS, .a in Stata"
    return (
        f"few ({where}): an answer that is left out, since fewer than five people gave it, or would "
        "be left. Shares take it in the denominator; no mean or model knows it."
    )


_Table = tuple[str, Sequence[str], Sequence[Sequence[str]]]
"""Caption, headings, and rows."""


def codebook_page(
    channels: Sequence[Channel],
    about: About,
    results: SurveyResults,
    institution: Institution | None = None,
    notes: Sequence[Mapping[str, str]] = (),
    shown: Sequence[Question] | None = None,
) -> str:
    """Return the page, with estimates beside the questions and the institution above the title.

    Args:
        channels: of the survey's questions.
        notes: sentences by question, such as on the answers that the files of reports leave out.
        shown: questions that are columns of these files; None for all.
    """
    survey, language = about.survey, about.survey.default_language
    shown = survey.questions if shown is None else shown
    names = {"SPSS": column_names(survey, ".sav"), "Stata": column_names(survey, ".dta")}
    found = {each.question.name: each for each in results.questions}
    sections = []
    for question in shown:
        name, mine = question.name, [channel for channel in channels if channel.question.name == question.name]
        others = [(program, of[name]) for program, of in names.items() if of[name] != name]
        told = asked_how(survey, question, ENGLISH.words, language) + designs_in_words(survey, ENGLISH.words, name)
        told += [each[name] for each in notes if name in each]
        told += [ENGLISH.words.translate("results_redrawn")] if name in found and found[name].redrawn else []
        tables, shares = _tables(question, mine, language), _shares(found.get(name), language, results.closed)
        spent = found[name].epsilon if name in found else None
        label, epsilon = question_label(question, language), show_epsilon(spent or question.epsilon)
        how = coding_by_revision(mine, question)
        sections.append((question, label, how, epsilon, others, tables, told, shares))
    facts = [f"Reports shown: {results.reports:,}{of_wave(results)}."]
    facts += [f"Epsilon of a whole report: {show_epsilon(results.epsilon)}."] if results.epsilon else []
    facts += ["A cell of the reports is empty where the respondent was not asked, as far as they tell."]
    return _template().render(
        about=about,
        language=language,
        title=survey.text(survey.title),
        style=_read("codebook.css"),
        institution=institution or Institution(),
        researcher=survey.text(survey.document.get("researcher", {}).get("name", {})),
        facts=facts,
        columns=[(each.name, question_label(each, language), each.type) for each in shown],
        chart=flow_chart(survey, Words("en"), language),
        sections=sections,
        extra=EXTRA,
    )


def of_wave(results: SurveyResults) -> str:
    """Say of which wave alone the results are; "" of all together."""
    return "" if results.wave is None else f" of wave {results.wave} alone"


def _read(name: str) -> str:
    return files("sottovoce.aggregator.export").joinpath(name).read_text(encoding="utf-8")


@cache
def _template() -> Template:
    return Environment(autoescape=True, keep_trailing_newline=True).from_string(_read("codebook.html"))


def _tables(question: Question, channels: Sequence[Channel], language: str) -> Iterator[_Table]:
    """Yield the tables of a question's values and of its channel."""
    labels = value_labels(question, language) if len(codings(channels, question.name)) < 2 else {}
    if labels and (codes := option_codes(question)):
        both = [(str(value), str(codes[value]), text) for value, text in labels.items()]
        yield f"Values of {question.name}", ("value", "in SPSS and Stata", "meaning"), both
    elif labels:
        yield f"Values of {question.name}", ("value", "meaning"), [(str(v), t) for v, t in labels.items()]
    # Fractions, not floats: readers can check the channel exactly.
    rows = [
        (" ".join(map(str, channel.revisions)), option, rule, str(code), str(a), str(b))
        for channel in channels
        for option, _, rule, code, a, b in channel.shares
        if channel.mechanism is not None
    ]
    if rows:
        columns = ("revisions", "option", "rule", "code", "a = P(support | true)", "b = P(support | not true)")
        yield f"Channel of {question.name}", columns, rows


def _shares(result: QuestionResult | None, language: str, closed: bool) -> Iterator[tuple[*_Table, str]]:
    """Yield the table of a question's shares, if there is one, with a sentence below it, "" for none."""
    shares = [each for each in result.of_kind("share") if each.clipped is not None] if result and result.n else []
    if result is None or not shares:
        return
    labels = dict(zip(result.question.options, option_labels(result.question, language), strict=True))
    rows = []
    for each in shares:
        ends = ("", "") if each.low is None else map(ENGLISH.percent, limits(each, not closed))
        rows.append((labels.get(each.option, each.option), ENGLISH.percent(each.clipped or 0.0), *ends))
    head = f"{'Interval' if closed else 'Band'} of {100 * shares[0].confidence:.0f}%"
    caption = f"Estimated shares of {result.question.name}. {head}, n = {result.n:,}"
    note = ENGLISH.words.translate("results_no_limits") if shares[0].low is None else ""
    yield caption, ("answer", "share", "from", "to"), rows, note
