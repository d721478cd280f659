"""Catalogue of export files: how each is written, and which ones contain reports or public answers.

The survey as YAML and JSON, the preregistration and the methods section of a paper are written here. So are the
codebook and the estimates as a table for spreadsheets: of all respondents, then of each wave, then of each cohort.

The codebook is DDI-Codebook 2.5 XML, for data archives. The schema (codebook.xsd 2.5.1) prescribes the order of
elements: a study with its title, version and dates; the file of reports; a variable for each column with question text,
range, value labels and channel.
"""

import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, partial
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from sottovoce.aggregator.analysis.availability import FEW, check_closed
from sottovoce.aggregator.analysis.estimates import QuestionResult, RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.mixtures.mixture import designs_in_words
from sottovoce.aggregator.analysis.results_document import TOWARDS, estimates_of, export_document, mechanism_document
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, file_questions, is_few, read_reports
from sottovoce.aggregator.curator.data.released_tables import released_document, write_released_csv
from sottovoce.aggregator.curator.data.survey_source import EXACT_TABLES_SUPPRESSED, declared_at_opening
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.export.channels import (
    CHANNEL_COLUMNS,
    SCORE_COLUMNS,
    Channel,
    channel_rows,
    channels_of,
    coding_by_revision,
    codings,
    score_rows,
)
from sottovoce.aggregator.export.codebook import EXTRA, about_few, codebook_page, of_wave
from sottovoce.aggregator.export.flow_chart import asked_how
from sottovoce.aggregator.export.labels import coding, option_labels, question_label, value_labels
from sottovoce.aggregator.export.statistics_files import channel_text, write_statistics_file
from sottovoce.aggregator.export.tables import unit_grid, write_reports_csv, write_reports_parquet
from sottovoce.aggregator.export.workbook import write_workbook
from sottovoce.aggregator.file_formats.csv_cells import write_csv
from sottovoce.aggregator.file_formats.provenance import About, json_text, write_marked
from sottovoce.aggregator.i18n.translator import ENGLISH, words_for
from sottovoce.aggregator.institution import Institution
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.aggregator.surveys.lifecycle import same_question
from sottovoce.aggregator.surveys.survey_file import yaml_text
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.by_hand.protection import is_all_by_hand, protection_by
from sottovoce.shared.channel_text import dump_block
from sottovoce.shared.errors import EstimateError, StorageError
from sottovoce.shared.parse_item import planned_comparisons
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question, Survey
from sottovoce.shared.types.base import DayGrid
from sottovoce.shared.visibility import Condition

NAMESPACE = "ddi:codebook:2_5"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_FILE = "F1"

_FIGURES = (
    "kind", "option", "n", "count", "raw", "clipped", "std_error", "low", "high", "method", "confidence",
    "simultaneous_low", "simultaneous_high", "band_low", "band_high", "a", "b",
)  # fmt: skip
_SURVEY = ("survey", "revision", "digest", "epsilon_total", "version", "closed")
COLUMNS = (*_SURVEY, "wave", "cohort", "question", "type", "label", "epsilon", "option_label", *_FIGURES, "among")


def estimate_rows(
    revisions: Sequence[RevisionCounts], about: About, wave: int | None = None
) -> Iterator[tuple[object, ...]]:
    """Yield the rows of the table, by ``COLUMNS``: of one wave only, or (None) of all together, then of each.

    ``revisions`` are all of one survey, oldest first. For an open survey, ``low`` and ``high`` are valid for one look,
    the bands for all looks.
    """
    whole = analyse(revisions, wave=wave)
    views = [whole]
    if wave is None and len(whole.waves) > 1:
        views += [analyse(revisions, wave=each) for each in range(len(whole.waves))]
    views += [analyse(revisions, cohort=group.name, wave=wave) for group in whole.cohorts]
    for view in views:
        yield from result_rows(view, about)


def result_rows(results: SurveyResults, about: About) -> Iterator[tuple[object, ...]]:
    """Yield the rows of one wave, cohort or the whole, by ``COLUMNS``."""
    document = export_document(results)
    survey = (*(document[key] for key in _SURVEY[:4]), about.version, document["closed"])
    words = words_for(language := results.survey.default_language)
    for asked, result in zip(document["questions"], results.questions, strict=True):
        labels = dict(zip(result.question.options, option_labels(result.question, language), strict=True))
        name = question_label(result.question, language)
        leading = (results.wave, results.cohort, asked["name"], asked["type"], name, asked["epsilon"])
        for among, estimate in estimates_of(asked):
            label, figures = labels.get(estimate["option"], ""), {key: estimate[key] for key in _FIGURES}
            if isinstance(result.question.domain.grid, DayGrid) and estimate["kind"] != "share":
                # One date in a column of numbers, and R reads the whole column as text.
                value, low, high = (figures[key] for key in ("clipped", "low", "high"))
                label = (
                    value or "" if low is None else f"{value} ({words.translate('results_range', low=low, high=high)})"
                )
                figures |= {key: int(DayGrid.read(figures[key])) for key in TOWARDS if figures.get(key) is not None}
            yield (*survey, *leading, label, *figures.values(), among)


def write_ddi(source: "Source", path: Path) -> None:
    """Write the document on the questions in the file of reports."""
    about, questions = source.about, file_questions(source.revisions[-1])
    root = ET.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5"})
    _study(ET.SubElement(root, "stdyDscr"), source.results, about)
    _file(ET.SubElement(root, "fileDscr", {"ID": _FILE}), source.results.reports, len(questions) + len(EXTRA))
    data = ET.SubElement(root, "dataDscr")
    for number, question in enumerate(questions, start=1):
        mine = [channel for channel in source.channels if channel.question.name == question.name]
        found = _var(data, number, question.name, _nature(question))
        _variable(found, question, mine, about.survey, question.name in source.few)
        if question.name in source.notes:
            _text(found, "notes", source.notes[question.name], "en")
    for number, (name, description) in enumerate(EXTRA.items(), start=len(questions) + 1):
        _text(_var(data, number, name, "interval"), "labl", description)
    ET.indent(root)
    warning = f"<!-- {about.warning} -->" if about.warning else ""
    text = ET.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>{warning}\n{text}\n', encoding="utf-8")


def _study(study: ET.Element, results: SurveyResults, about: About) -> None:
    survey = about.survey
    citation = ET.SubElement(study, "citation")
    title = ET.SubElement(citation, "titlStmt")
    _text(title, "titl", survey.text(survey.title), survey.default_language)
    others = {language: text for language, text in survey.title.items() if language != survey.default_language}
    _texts(title, "parTitl", others, survey)
    _text(title, "IDNo", survey.digest)
    version = ET.SubElement(citation, "verStmt")
    _text(version, "version", f"revision {survey.revision}")
    _text(version, "notes", "; ".join(about.lines))
    info = ET.SubElement(study, "stdyInfo")
    _texts(info, "abstract", survey.document.get("description", {}), survey)
    if survey.opens or survey.closes:
        summary = ET.SubElement(info, "sumDscr")
        for event, moment in (("start", survey.opens), ("end", survey.closes)):
            if moment:
                found = _text(summary, "collDate", moment.date().isoformat())
                found.attrib |= {"date": moment.date().isoformat(), "event": event}
    values = "Values of randomized questions are reports and not answers; each variable's notes name its channel."
    told = by_revision(results, protection_in_words)
    _text(study, "notes", f"{told} {values}" if any(each.private for each in (survey, *results.revisions)) else told)


def _file(description: ET.Element, reports: int, columns: int) -> None:
    text = ET.SubElement(description, "fileTxt")
    _text(text, "fileName", "reports.csv")
    size = ET.SubElement(text, "dimensns")
    _text(size, "caseQnty", str(reports))
    _text(size, "varQnty", str(columns))
    _text(text, "fileType", "CSV, UTF-8, a header, one row a report")


def _variable(
    found: ET.Element, question: Question, channels: Sequence[Channel], survey: Survey, has_few: bool
) -> None:
    _texts(found, "labl", question.label, survey)
    _texts(ET.SubElement(found, "qstn"), "qstnLit", question.label, survey)
    valid = ET.SubElement(found, "valrng")
    grid = unit_grid(question)
    largest = max((each.mechanism.largest for each in channels if each.mechanism), default=question.largest)
    ends = ("0", str(largest)) if grid is None else (grid.text(0), grid.text(grid.steps))
    ET.SubElement(valid, "range", dict(zip(("min", "max"), ends, strict=True)))
    if limits := _limits(question, survey):
        _text(found, "universe", f"Asked only where {' and '.join(limits)}.", "en")
    _text(found, "txt", coding_by_revision(channels, question), "en")
    is_one = len(codings(channels, question.name)) < 2
    by_language = {language: value_labels(question, language) if is_one else {} for language in question.label}
    for value in next(iter(by_language.values()), {}):
        category = ET.SubElement(found, "catgry")
        _text(category, "catValu", str(value))
        _texts(category, "labl", {language: labels[value] for language, labels in by_language.items()}, survey)
    if has_few:
        category = ET.SubElement(found, "catgry")
        _text(category, "catValu", FEW)
        _text(category, "labl", FEW, "en")
        _text(category, "txt", about_few(question), "en")
    day = {"schema": "ISO", "category": "date"} if isinstance(grid, DayGrid) else {}
    ET.SubElement(found, "varFormat", {"type": "character" if day or has_few else "numeric", **day})
    if how := _asked_how(question, survey):
        _text(found, "notes", how, "en")
    for channel in channels:
        numbers = " ".join(map(str, channel.revisions))
        spent = show_epsilon(channel.mechanism.epsilon if channel.mechanism else 0.0)
        _text(found, "notes", f"Revisions {numbers}: {channel_text(channel)}; epsilon {spent}")


def _var(data: ET.Element, number: int, name: str, nature: str) -> ET.Element:
    return ET.SubElement(data, "var", {"ID": f"V{number}", "name": name, "files": _FILE, "nature": nature})


def _nature(question: Question) -> str:
    """Return the level of the column: the two ends of a range are no interval, whatever the question asks."""
    if unit_grid(question) is not None:
        return "interval"
    kind = "option" if question.mechanism is None else question.mechanism.report_kind
    is_ordered = kind in {"end", "mark", "range"} or (question.type == "rating" and kind == "option")
    return "ordinal" if is_ordered else "nominal"


def _limits(question: Question, survey: Survey) -> list[str]:
    """Return what must hold for the question to be asked; empty if all are asked."""
    named = {asked.name: asked for asked in survey.questions}

    def holds(condition: Condition) -> str:
        asked, span = named[condition.question], condition.span
        if span is not None:
            return f"{asked.name} is from {asked.answer(span[0])} to {asked.answer(span[1])}"
        return f"{asked.name} is {' or '.join(asked.options[option] for option in condition.options)}"

    limits = []
    for item in (item for item in survey.items if any(asked.name == question.name for asked in item.questions)):
        limits += [f"{ARM} is {' or '.join(item.arms)}"] if item.arms else []
        limits += map(holds, item.visible_if)
        limits += [f"({' or '.join(map(holds, item.any_of))})"] if item.any_of else []
    return limits


def _texts(parent: ET.Element, name: str, texts: Mapping[str, str], survey: Survey) -> None:
    # Readers such as DDIwR and dartfx-ddi know one label, the first.
    for language, text in sorted(texts.items(), key=lambda text: text[0] != survey.default_language):
        _text(parent, name, text, language)


def _text(parent: ET.Element, name: str, text: str, language: str = "") -> ET.Element:
    found = ET.SubElement(parent, name, {_LANGUAGE: language} if language else {})
    # XML has no place for these two, not even escaped; a survey may hold them.
    found.text = text.translate(dict.fromkeys((0xFFFE, 0xFFFF), "\ufffd"))
    return found


def methods_lines(results: SurveyResults, about: About) -> Iterator[str]:
    """Yield the lines of the methods section in Markdown, with the mathematics from the docstring of each mechanism.

    ``results`` are those of all respondents, for the numbers of reports.
    """
    survey = results.survey
    yield from [f"**{line}**" if line != about.line else f"*{line}*" for line in about.lines]
    yield from ["", f"# Methods: {survey.text(survey.title)}", "", *textwrap.wrap(_paragraph(results, about), 100), ""]
    for index, question in enumerate(survey.questions):
        # What only some arms ask in clear is no public fact.
        is_direct = any(index not in places for places in survey.places_by_arm)
        yield from [f"## {question.name}: {question_label(question, survey.default_language)}", ""]
        told = by_revision(results, lambda each: _of_question(each, question, is_direct))  # noqa: B023 - now
        yield from [*textwrap.wrap(told, 100), ""]
    yield "# Mechanisms"
    for mechanism in {q.mechanism.name: q.mechanism for q in survey.questions if q.mechanism is not None}.values():
        module = import_module(type(mechanism).__module__)
        yield from ["", f"## {mechanism.name}", "", *textwrap.indent(inspect.getdoc(module) or "", "    ").splitlines()]


_WHO = {
    "toss": "with a coin or a die of their own",
    "fact": "by an innocuous fact of their own or on their own device, as the question says,",
    "facts": "by an innocuous fact of their own",
    "device": "on their own device",
}


def _paragraph(results: SurveyResults, about: About) -> str:
    survey = results.survey
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
    designs = designs_in_words(survey, ENGLISH.words)
    asked += "".join(f" {each} Its limits are by profile likelihood." for each in designs)
    same = "; the same people may have answered several, which limits of their sum allow for"
    who = ", each of other people" if survey.fresh_samples else same
    waves = f" It was asked in {len(survey.waves)} waves{who}." if len(survey.waves) > 1 else ""
    state = "" if results.closed else " The survey was still open when this was written."
    return (
        f"{by_revision(results, protection_in_words)}{asked}{waves} "
        f"{results.reports:,} reports{of_wave(results)} were counted and {results.withdrawn:,} were withdrawn.{state} "
        f"{estimated_in_words(survey, results.questions)} Survey {survey.name}, revision {survey.revision}, "
        f"digest {survey.digest[:16]}, analysed with sottovoce {about.version}."
    )


# Limits that are not the usual ones, by the method that files name.
_LIMITS = {
    "same-people": "of sums of waves with the largest variance that the same people allow",
    "pooled": "of shares pooled over mechanisms at the pooled variance, approximate; of pooled means, normal",
    "inverted": "of quantiles by likelihood ratio tests of the share below",
    "inversion": "of shares among those who answered by test inversion",
    "t": "of means of answers sent as given by Student's t",
    "none": "of shares of ranges none",
}


def estimated_in_words(survey: Survey, questions: Sequence[QuestionResult] = ()) -> str:
    """Return how the figures came about; only those of private questions are freed of noise."""
    used = {found.method for each in questions for found in (*each.estimates, *each.answered)}
    others = "".join(f"; those {text}" for method, text in _LIMITS.items() if method in used)
    limits = "95% intervals are score intervals with continuity correction"
    if not survey.private:
        return f"Shares and means are those of the reports; {limits}{others}."
    given = len(survey.private) < sum(each.name != ARM for each in survey.questions)
    direct = " Those of answers sent as given are shares and means of the reports." if given else ""
    return (f"Shares and means{' of private answers' if given else ''} were estimated without bias from the counts of "
            f"reports; {limits} carried over to the true share{others}.{direct}")  # fmt: skip


def protection_in_words(survey: Survey) -> str:
    """Return what was randomized and what was sent as given; of a report without protection no epsilon is named."""
    if not survey.private:
        return "Every answer was sent as given; nothing was randomized."
    private, given = (
        ", ".join(asked.name for asked in survey.questions if bool(asked.mechanism) is is_private and asked.name != ARM)
        for is_private in (True, False)
    )
    direct = ", ".join(arm.name for arm, units in zip(survey.arms, survey.units_by_arm, strict=False) if not units)
    hidden = protection_by(survey)
    who = _WHO["facts" if hidden == "fact" and is_all_by_hand(survey) else hidden]
    known = "as long as no one who sees it knows the person's facts" if hidden == "fact" else "whatever else is known"
    spent = show_epsilon(survey.epsilon_of_memo + len(survey.waves) * survey.epsilon_of_wave)
    all_waves = f", those of all {len(survey.waves)} waves {spent}" if len(survey.waves) > 1 else ""
    in_clear = f" Answers to {given} were sent as given, without protection, and the researchers hold them."
    return (
        f"Answers to {private} were randomized by the respondents {who} before they were sent "
        f"(randomized response; Warner 1965), so that the researchers never held a true answer to these questions. "
        f"The private answers of a report are together {show_epsilon(survey.epsilon)}-locally differentially "
        f"private{all_waves} (delta = 0), {known}.{in_clear if given else ''}"
        f"{f' Nothing is randomized in the reports of {direct}.' if direct else ''}"
    )


def by_revision(results: SurveyResults, told: Callable[[Survey], str]) -> str:
    """Say what holds of the reports; where it differs between the revisions that are counted, of each of them."""
    found = {each.revision: told(each) for each in results.revisions}
    if len(same := set(found.values())) < 2:
        return "".join(same) or told(results.survey)
    return " ".join(f"Revision {number}: {text}" for number, text in found.items() if text)


def _of_question(survey: Survey, newest: Question, is_direct: bool) -> str:
    """Say how a question was sent and who was asked it; "" if the revision does not ask it."""
    question = next((each for each in survey.questions if each.name == newest.name), None)
    if question is None:
        return ""
    told = f"{_sent(question, is_direct, survey)} {_asked_how(question, survey)}".rstrip()
    return told if same_question(question, newest) else f"{told} It was another question, which no result counts."


def _asked_how(question: Question, survey: Survey) -> str:
    """Say who was asked a question, and as what no answer counts in its shares."""
    own = ["Shares among all have a category of no answer; shares among those who answered leave these people out."]
    how = asked_how(survey, question, ENGLISH.words, survey.default_language)
    return " ".join([*how, *(own if question.domain.absent else [])])


def _sent(question: Question, is_direct: bool, survey: Survey) -> str:
    if question.mechanism is None:
        return f"{'Asked directly' if is_direct else 'Public'}. {coding(question)}"
    numbers = ", ".join(
        f"{name} {str(number) if not isinstance(number, int) else number}"
        for name, number in question.mechanism.explain().items()
    )
    has_no_limits = question.mechanism.report_kind == "range"
    no_limits = f" {ENGLISH.words.translate('results_no_limits')}" if has_no_limits else ""
    spent = show_epsilon(question.epsilon)
    return f"{_name(question, survey)} ({numbers}), epsilon {spent}. {coding(question)}{no_limits}"


def _name(question: Question, survey: Survey) -> str:
    mechanism = question.by_fact
    if mechanism is None:
        return question.mechanism.name if question.mechanism else ""
    source = survey.text(mechanism.source)
    share = f"innocuous share {mechanism.share!s}, standard error {float(mechanism.std_error):g}: {source}"
    return f"{mechanism.known_as}, as long as no one who sees the report knows the fact; {share}"


PREREGISTRATION = "sottovoce-preregistration/1"


def write_survey_json(path: Path, about: About) -> None:
    """Write the canonical bytes, whose SHA-256 is the digest; those of a test run contain ``"trial": true``.

    In a simulation the document gets an additional mark. It is then no valid survey, so no program accepts it.
    """
    if about.rehearsal:
        write_marked(path, about.survey.document, about)
    else:
        path.write_bytes(about.survey.canonical)


def preregistration(revisions: Sequence[RevisionCounts], about: About, plan: PlannedSize) -> dict[str, Any]:
    """Return the decisions that publishing froze.

    They are questions, mechanisms, epsilons, dates, sample size and planned analysis; ``revisions`` are oldest first.
    """
    survey = about.survey
    counted = "randomized reports" if survey.private else "reports"
    return {
        **about.marks,
        "format": PREREGISTRATION,
        "survey": survey.name,
        "version": about.version,
        "title": dict(survey.title),
        "revisions": [{"revision": each.survey.revision, "digest": each.survey.digest} for each in revisions],
        "opens": survey.document.get("opens"),
        "closes": survey.document.get("closes"),
        "waves": survey.document.get("waves", []),
        "planned": {"people": plan.people, "group": plan.group},
        "access": survey.document["access"],
        "privacy": survey.document["privacy"],
        "asked_of_each": survey.ask,
        "blocks": [
            dump_block(each.mechanism, [survey.questions[index].name for index in each.questions])
            for each in survey.blocks
        ],
        "epsilon_total": survey.epsilon,
        "analysis": {
            "estimator": f"unbiased, from counts of {counted}; shown shares are forced into 0 to 1",
            "interval": DEFAULT_RULE.method,
            "confidence": DEFAULT_RULE.confidence,
            "comparisons": [each.dump() for each in planned_comparisons(survey)],
            "looks": "while the survey is open limits hold at all looks together; tables and models come after close",
        },
        "questions": [_question(question) for question in survey.questions],
    }


def _question(question: Question) -> dict[str, Any]:
    return {
        "name": question.name,
        "type": question.type,
        "label": dict(question.label),
        "options": list(question.options),
        "mechanism": mechanism_document(question),
        "epsilon": None if question.mechanism is None else question.epsilon,
    }


@dataclass(frozen=True)
class Source:
    """Data source of the files of one survey; reports are read once, when a file needs them.

    Attributes:
        storage: the database, or simulated reports.
        revisions: all revisions of the survey, oldest first.
        now: the current time, which determines what is closed.
        wave: of the reports in the files; None for all.
        set_up: settings of a simulation; None for real reports.
        institution: that the codebook names.
    """

    storage: ReadableReports
    revisions: Sequence[RevisionCounts]
    now: datetime
    wave: int | None = None
    set_up: Mapping[str, Any] | None = None
    institution: Institution = Institution()

    @cached_property
    def about(self) -> About:
        """Provenance that every file states."""
        surveys = [each.survey for each in self.revisions]
        return About.of(surveys[-1], self.set_up is not None, surveys)

    @cached_property
    def reports(self) -> ReportColumns:
        """Reports with private questions and the coarsened cohort.

        Raises EstimateError if the survey or wave is not closed, or there are no reports.
        """
        return self._reports(public=False)

    @cached_property
    def few(self) -> dict[str, int]:
        """Number of reports whose rare answer the files leave out, by public question in them; empty before close."""
        public = [each.name for each in file_questions(self.revisions[-1]) if each.mechanism is None]
        try:
            columns = self.reports.columns if public else {}
        except EstimateError:
            return {}
        return {name: left for name in public if (left := int(is_few(columns[name]).sum()))}

    @cached_property
    def notes(self) -> dict[str, str]:
        """Sentences on the questions of which the files of reports have another n than the results; none while open."""
        conditional = [each for each in self.results.questions if each.conditional]
        try:
            columns = self.reports.columns if conditional else {}
        except EstimateError:
            return {}
        counted = {name: int((~is_null(values)).sum()) for name, values in columns.items()}
        found = [(each, counted[each.question.name]) for each in conditional if each.question.name in counted]
        return {each.question.name: _other_n(each, n) for each, n in found if n != each.n}

    @cached_property
    def reports_with_public(self) -> ReportColumns:
        """Reports with private questions and all public answers.

        Raises:
            EstimateError: the survey or wave is not closed, or there are no reports.
            StorageError: public answers are published under a budget; exact ones would undo its noise.
        """
        # Exact answers next to noisy tables would undo the noise.
        self.check_not_released()
        return self._reports(public=True)

    def check_not_released(self) -> None:
        """Check that public answers are not published under a budget, whose noise exact ones would undo; else
        StorageError.
        """
        if self.released:
            raise StorageError(EXACT_TABLES_SUPPRESSED)

    @property
    def released(self) -> bool:
        """Say whether public answers are published under a budget."""
        return self.revisions[-1].released

    @property
    def has_tables(self) -> bool:
        """Say whether there is a ledger of published tables; a database older than its budget has none."""
        return self.storage.releases is not None and self.storage.releases.has_ledger(self.about.survey.name)

    def _reports(self, public: bool) -> ReportColumns:
        check = partial(check_closed, self.storage, [each.stored for each in self.revisions], self.wave, self.now)
        check()
        found = read_reports(self.storage, self.revisions, self.wave, public)
        # Once more, since a survey that was opened meanwhile may have got reports that were read, too.
        check()
        return found

    @cached_property
    def released_tables(self) -> dict[str, Any]:
        """Tables of public answers published so far under the survey's budget, as a JSON document.

        Raises StorageError if there is no budget, or its ledger was changed.
        """
        if self.storage.releases is None or not self.has_tables:
            raise StorageError("the survey has no budget, so that nothing was published of its public answers")
        lines = b"".join(self.storage.releases.lines(self.about.survey.name))
        return released_document(lines, declared_at_opening(self.revisions, lines)[1], self.about)

    @cached_property
    def channels(self) -> list[Channel]:
        """Channels of all questions of the newest revision."""
        return channels_of(self.revisions, [question.name for question in self.about.survey.questions])

    @property
    def randomizing(self) -> list[Channel]:
        """Channels of randomized questions, the only ones that an analyst must decode."""
        return [channel for channel in self.channels if channel.mechanism is not None]

    @property
    def plan(self) -> PlannedSize:
        """Planned sample size, as far as the researcher entered it."""
        tables = self.storage.drafts
        return PlannedSize() if tables is None else tables.plan(self.about.survey.name)

    @cached_property
    def results(self) -> SurveyResults:
        """Published results of the wave, or of all waves together."""
        return analyse(self.revisions, wave=self.wave)


def _other_n(result: QuestionResult, n: int) -> str:
    question = result.question
    coded = "no answer" if question.domain.absent else repr(question.answer(question.absent or 0))
    where, others = ("in the files", "Results") if n > result.n else ("on Results", "the files")
    return (
        f"{question.name}: files of reports have n = {n:,}, Results and estimates.csv n = {result.n:,}. People who "
        f"were not asked count as {coded}{'' if question.mechanism else ' or few'} {where}; {others} leave them out."
    )


Write = Callable[[Source, Path], object]


UNSURE_FACTS = (
    "{names}: errors and limits here leave out that the innocuous share is an estimate itself; those in estimates.csv "
    "have its standard error."
)


def _of_text(text: Callable[[Source], str]) -> Write:
    return lambda source, path: path.write_text(text(source), encoding="utf-8")


def _as_comments(about: About) -> str:
    return "".join(f"# {line}\n" for line in about.lines)


def _script(name: str, say: str) -> Write:
    def write(source: Source) -> str:
        script = files("sottovoce.aggregator.export.scripts").joinpath(name).read_text(encoding="utf-8")
        # Beside shares of an innocuous fact, whose own error no file of reports or channels has.
        unsure = [q.name for q in source.about.survey.questions if q.by_fact and q.by_fact.std_error]
        said = [*source.notes.values(), *([UNSURE_FACTS.format(names=", ".join(unsure))] if unsure else [])]
        return _as_comments(source.about) + script + "".join(f"{say.format(note)}\n" for note in said)

    return _of_text(write)


def _export(source: Source, path: Path) -> None:
    journal = source.storage.journal
    write_marked(path, export_document(source.results, None if journal is None else journal.head()), source.about)


def _report_files(name: str, read: Callable[[Source], ReportColumns]) -> dict[str, Write]:
    def statistics(source: Source, path: Path) -> None:
        reports = read(source)
        channels = [channel for channel in source.channels if channel.question.name in reports.columns]
        # With all public answers a file tells who was asked.
        notes = source.notes.values() if reports is source.reports else ()
        write_statistics_file(path, reports, channels, source.about, notes)

    return {
        f"{name}.csv": lambda source, path: write_reports_csv(path, read(source), source.about),
        f"{name}.parquet": lambda source, path: write_reports_parquet(path, read(source), source.about),
        f"{name}.sav": statistics,
        f"{name}.dta": statistics,
    }


OF_REPORTS = _report_files("reports", lambda source: source.reports)
"""Files of reports, for closed surveys and closed waves."""

WITH_PUBLIC = _report_files("reports-with-public", lambda source: source.reports_with_public)
"""
Files with exact public answers, which no noise protects.

They are never part of an archive, and the researcher first sees how many respondents are unique.
"""


def _codebook(s: Source) -> str:
    shown = file_questions(s.revisions[-1])
    few = {each.name: f"{s.few[each.name]:,} reports: {about_few(each)}" for each in shown if each.name in s.few}
    return codebook_page(s.channels, s.about, s.results, s.institution, [few, s.notes], shown)


AT_ANY_TIME: dict[str, Write] = {
    "export.json": _export,
    "estimates.csv": lambda s, path: write_csv(path, s.about, COLUMNS, estimate_rows(s.revisions, s.about, s.wave)),
    "estimates.xlsx": lambda s, path: write_workbook(
        path, s.about, [COLUMNS, *estimate_rows(s.revisions, s.about, s.wave)], "Estimates"
    ),
    "codebook.html": _of_text(_codebook),
    "ddi.xml": write_ddi,
    # When it is read again, it has the same digest.
    "survey.yaml": _of_text(lambda s: _as_comments(s.about) + yaml_text(s.about.survey.document)),
    "survey.json": lambda source, path: write_survey_json(path, source.about),
    "preregistration.json": _of_text(lambda s: json_text(preregistration(s.revisions, s.about, s.plan))),
    "methods.md": _of_text(lambda s: "\n".join([*methods_lines(s.results, s.about), ""])),
    "channels.csv": lambda s, path: write_csv(path, s.about, CHANNEL_COLUMNS, channel_rows(s.randomizing)),
    "scores.csv": lambda s, path: write_csv(path, s.about, SCORE_COLUMNS, score_rows(s.randomizing)),
    "analysis.py": _script("analysis.py", "print({!r}, file=sys.stderr)"),
    "analysis.R": _script("analysis.R", "message({!r})"),
}
"""Files of texts and published counts, available at any time."""

RELEASED: dict[str, Write] = {
    "public-tables.json": lambda source, path: write_marked(path, source.released_tables, source.about),
    "public-tables.csv": lambda source, path: write_released_csv(path, source.released_tables, source.about),
}
"""Files for surveys whose public answers are published under a budget: the noisy tables so far."""

SINGLE: dict[str, Write] = AT_ANY_TIME | OF_REPORTS | WITH_PUBLIC | RELEASED


def together(source: Source) -> Iterator[tuple[str, Write]]:
    """Yield all files of an archive, without exact public answers, and the survey file of each earlier revision."""
    yield from (AT_ANY_TIME | OF_REPORTS | (RELEASED if source.has_tables else {})).items()
    for revision in source.revisions[:-1]:
        yield f"survey-{revision.survey.revision}.json", _earlier(revision)


def _earlier(revision: RevisionCounts) -> Write:
    return lambda _, path: write_survey_json(path, About.of(revision.survey))
