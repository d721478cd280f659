"""The survey as YAML and as JSON, and what was settled before anybody answered: files for the next study."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sottovoce.aggregator.analysis.estimates import RevisionCounts, mechanism_document
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.file_formats.json_text import json_text, marked
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.surveys.survey_file import yaml_text
from sottovoce.shared.spec import Question

PREREGISTRATION = "sottovoce-preregistration/1"


def write_survey_json(path: Path, about: About) -> None:
    """
    The canonical bytes, whose SHA-256 is the digest; of a try-out they say ``"trial": true`` themselves.

    With the mark of a rehearsal it is no survey any more, and whatever reads surveys refuses it.
    """
    if about.rehearsal:
        path.write_text(json_text(marked(about.survey.document, about)), encoding="utf-8")
    else:
        path.write_bytes(about.survey.canonical)


def write_survey_yaml(path: Path, about: About) -> None:
    """The same survey as authors write it: read again, it has the same digest."""
    told = "".join(f"# {line}\n" for line in about.lines)
    path.write_text(told + yaml_text(about.survey.document), encoding="utf-8")


def write_preregistration(path: Path, revisions: Sequence[RevisionCounts], about: About, plan: PlannedSize) -> None:
    """
    Write what was frozen by publishing, as JSON.

    Args:
        path: of the file.
        revisions: all of one survey, oldest first.
        about: what the file says of itself.
        plan: for how many people.
    """
    path.write_text(json_text(preregistration(revisions, about, plan)), encoding="utf-8")


def preregistration(revisions: Sequence[RevisionCounts], about: About, plan: PlannedSize) -> dict[str, Any]:
    """
    The document: questions, channels, costs, windows, people, the rule of looking, and how figures are made.

    Args:
        revisions: all of one survey, oldest first.
        about: what the file says of itself.
        plan: for how many people.
    """
    survey = about.survey
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
        "epsilon_total": survey.epsilon,
        "analysis": {
            "estimator": "unbiased, from counts of randomized reports; shown shares are forced into 0 to 1",
            "interval": DEFAULT_RULE.method,
            "confidence": DEFAULT_RULE.confidence,
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
