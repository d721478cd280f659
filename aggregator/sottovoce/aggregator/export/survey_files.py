"""Write the survey as YAML and JSON, and the preregistration."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.analysis.results_document import mechanism_document
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.file_formats.json_text import json_text, marked
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.surveys.survey_file import yaml_text
from sottovoce.shared.arms.analysis_plan import planned_comparisons
from sottovoce.shared.channel_text import dump_block
from sottovoce.shared.spec import Question

PREREGISTRATION = "sottovoce-preregistration/1"


def write_survey_json(path: Path, about: About) -> None:
    """Write the canonical bytes, whose SHA-256 is the digest; those of a test run contain ``"trial": true``.

    In a simulation the document gets an additional mark. It is then no valid survey, so no program accepts it.
    """
    if about.rehearsal:
        path.write_text(json_text(marked(about.survey.document, about)), encoding="utf-8")
    else:
        path.write_bytes(about.survey.canonical)


def write_survey_yaml(path: Path, about: About) -> None:
    """Write the survey as YAML, as authors do; when read again, it has the same digest."""
    header = "".join(f"# {line}\n" for line in about.lines)
    path.write_text(header + yaml_text(about.survey.document), encoding="utf-8")


def write_preregistration(path: Path, revisions: Sequence[RevisionCounts], about: About, plan: PlannedSize) -> None:
    """Write the preregistration as JSON: the decisions that publishing froze.

    Args:
        path: path of the file.
        revisions: all revisions of one survey, oldest first.
        about: provenance of the file.
        plan: planned sample size.
    """
    path.write_text(json_text(preregistration(revisions, about, plan)), encoding="utf-8")


def preregistration(revisions: Sequence[RevisionCounts], about: About, plan: PlannedSize) -> dict[str, Any]:
    """Return the preregistration: questions, mechanisms, epsilons, dates, sample size, and the planned analysis.

    Args:
        revisions: all revisions of one survey, oldest first.
        about: provenance of the file.
        plan: planned sample size.
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
        "blocks": [
            dump_block(each.mechanism, [survey.questions[index].name for index in each.questions])
            for each in survey.blocks
        ],
        "epsilon_total": survey.epsilon,
        "analysis": {
            "estimator": "unbiased, from counts of randomized reports; shown shares are forced into 0 to 1",
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
