"""Write the codebook as DDI-Codebook 2.5 XML, for data archives.

The schema (codebook.xsd 2.5.1) prescribes the order of elements: a study with its title, version and dates; the file of
reports; a variable for each column with question text, range, value labels and channel.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

from sottovoce.aggregator.analysis.tables.small_groups import FEW
from sottovoce.aggregator.export.channels import Channel
from sottovoce.aggregator.export.codebook import EXTRA, about_few
from sottovoce.aggregator.export.labels import coding, value_labels
from sottovoce.aggregator.export.own_units import unit_grid
from sottovoce.aggregator.export.statistics_files import channel_text
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question, Survey

NAMESPACE = "ddi:codebook:2_5"
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_FILE = "F1"


def write_ddi(
    path: Path, channels: Sequence[Channel], questions: Sequence[Question], reports: int, about: About
) -> None:
    """Write the document; ``questions`` are those in the file of reports, ``reports`` their number."""
    root = ET.Element("codeBook", {"xmlns": NAMESPACE, "version": "2.5"})
    _study(ET.SubElement(root, "stdyDscr"), about)
    _file(ET.SubElement(root, "fileDscr", {"ID": _FILE}), reports, len(questions) + len(EXTRA))
    data = ET.SubElement(root, "dataDscr")
    for number, question in enumerate(questions, start=1):
        mine = [channel for channel in channels if channel.question.name == question.name]
        _variable(data, number, question, mine)
    for number, (name, description) in enumerate(EXTRA.items(), start=len(questions) + 1):
        _text(_var(data, number, name, "interval"), "labl", description)
    ET.indent(root)
    warning = f"<!-- {about.warning} -->" if about.warning else ""
    text = ET.tostring(root, encoding="unicode")
    path.write_text(f'<?xml version="1.0" encoding="UTF-8"?>{warning}\n{text}\n', encoding="utf-8")


def _study(study: ET.Element, about: About) -> None:
    survey = about.survey
    citation = ET.SubElement(study, "citation")
    title = ET.SubElement(citation, "titlStmt")
    _text(title, "titl", survey.text(survey.title), survey.default_language)
    for language, text in _others(survey.title, survey).items():
        _text(title, "parTitl", text, language)
    _text(title, "IDNo", survey.digest)
    version = ET.SubElement(citation, "verStmt")
    _text(version, "version", f"revision {survey.revision}")
    _text(version, "notes", "; ".join(about.lines))
    info = ET.SubElement(study, "stdyInfo")
    for language, text in survey.document.get("description", {}).items():
        _text(info, "abstract", text, language)
    if survey.opens or survey.closes:
        summary = ET.SubElement(info, "sumDscr")
        for event, moment in (("start", survey.opens), ("end", survey.closes)):
            if moment:
                found = _text(summary, "collDate", moment.date().isoformat())
                found.attrib |= {"date": moment.date().isoformat(), "event": event}
    _text(study, "notes", "Answers to private questions were randomized by the respondents before they were sent; the "
          "values in the file are reports and not answers, and each variable's notes name its channel.")  # fmt: skip


def _file(description: ET.Element, reports: int, columns: int) -> None:
    text = ET.SubElement(description, "fileTxt")
    _text(text, "fileName", "reports.csv")
    size = ET.SubElement(text, "dimensns")
    _text(size, "caseQnty", str(reports))
    _text(size, "varQnty", str(columns))
    _text(text, "fileType", "CSV, UTF-8, a header, one row a report")


def _variable(data: ET.Element, number: int, question: Question, channels: Sequence[Channel]) -> None:
    found = _var(data, number, question.name, _nature(question))
    for language, text in question.label.items():
        _text(found, "labl", text, language)
    asked = ET.SubElement(found, "qstn")
    for language, text in question.label.items():
        _text(asked, "qstnLit", text, language)
    valid = ET.SubElement(found, "valrng")
    grid = unit_grid(question)
    ends = ("0", str(question.largest)) if grid is None else (grid.text(0), grid.text(grid.steps))
    ET.SubElement(valid, "range", dict(zip(("min", "max"), ends, strict=True)))
    _text(found, "txt", coding(question), "en")
    by_language = {language: value_labels(question, language) for language in question.label}
    for value in next(iter(by_language.values()), {}):
        category = ET.SubElement(found, "catgry")
        _text(category, "catValu", str(value))
        for language, labels in by_language.items():
            _text(category, "labl", labels[value], language)
    if question.mechanism is None:
        category = ET.SubElement(found, "catgry")
        _text(category, "catValu", FEW)
        _text(category, "labl", about_few(question), "en")
    ET.SubElement(found, "varFormat", {"type": "numeric"})
    for channel in channels:
        numbers = " ".join(map(str, channel.revisions))
        spent = show_epsilon(channel.mechanism.epsilon if channel.mechanism else 0.0)
        _text(found, "notes", f"Revisions {numbers}: {channel_text(channel)}; epsilon {spent}")


def _var(data: ET.Element, number: int, name: str, nature: str) -> ET.Element:
    return ET.SubElement(data, "var", {"ID": f"V{number}", "name": name, "files": _FILE, "nature": nature})


def _nature(question: Question) -> str:
    if question.domain.grid is not None:
        return "interval"
    return "ordinal" if question.type == "rating" else "nominal"


def _others(texts: Mapping[str, str], survey: Survey) -> dict[str, str]:
    return {language: text for language, text in texts.items() if language != survey.default_language}


def _text(parent: ET.Element, name: str, text: str, language: str = "") -> ET.Element:
    found = ET.SubElement(parent, name, {_LANGUAGE: language} if language else {})
    found.text = text
    return found
