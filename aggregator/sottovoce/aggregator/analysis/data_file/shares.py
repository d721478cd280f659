"""Write the shares and means of each column of a file: sottovoce-shares/1."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sottovoce.aggregator.analysis.data_file.anchored_shares import add_corrections
from sottovoce.aggregator.analysis.data_file.data_columns import states_of
from sottovoce.aggregator.analysis.data_file.read_table import FileTable
from sottovoce.aggregator.analysis.data_file.weighted_shares import SampleDesign, sample_design, weighted_result
from sottovoce.aggregator.analysis.estimates import QuestionResult, question_result
from sottovoce.aggregator.analysis.report_columns import Columns, strata_of
from sottovoce.aggregator.analysis.weights import kish_effect, weight_warnings
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, IntervalRule
from sottovoce.shared.errors import EstimateError, Sentence

SHARES = "sottovoce-shares/1"

IMPLAUSIBLE = "'{variable}', '{category}': the reports are further off than this channel explains; check the channel"

Document = dict[str, Any]
States = Mapping[str, tuple[int, int]]


def shares_of_file(
    table: FileTable, columns: Columns, names: Sequence[str] = (), rule: IntervalRule = DEFAULT_RULE,
    weights: ArrayLike | None = None, strata: str | None = None, clusters: str | None = None,
    anchors: Mapping[str, str] | None = None,
) -> Document:  # fmt: skip
    """Return ``shares_document`` of a file; ``names`` default to all columns but those of weights, strata and clusters.

    Raises SurveyError if there is no such column, or the design tells no variance.
    """
    own = {each for each in (weights, strata, clusters) if isinstance(each, str)}
    design = None if weights is None and not own else sample_design(table, weights, strata, clusters)
    names = names or [each.name for each in columns.survey.questions if each.name not in own]
    return shares_document(columns, names, rule, design, states_of(table), anchors or {})


def shares_document(
    columns: Columns,
    names: Sequence[str] = (),
    rule: IntervalRule = DEFAULT_RULE,
    design: SampleDesign | None = None,
    states: States = MappingProxyType({}),
    anchors: Mapping[str, str] = MappingProxyType({}),
) -> Document:
    """Return the shares of the columns with these names, or of all; raise EstimateError if there is no such column.

    Rare answers that a survey's file leaves out are one more answer; a mean would need the numbers that are left out.
    ``states`` tell how many answered and how many saw the question, by name; ``anchors`` have
    the known share of yes of columns that show careless reports.
    """
    if anchors and design is not None:
        raise EstimateError("a correction by anchors and weights, strata or clusters do not go together; leave one out")
    columns = columns.with_few(columns.few)
    nothing = columns.among(np.zeros(len(columns), bool))
    questions = {each.name: each for each in columns.survey.questions}
    for name in names:
        if name not in questions:
            words = "there is no column '{name}'; there are: {known}"
            raise EstimateError(words.format(name=name, known=", ".join(questions)))
    used = [questions[name] for name in names or questions]
    found = [
        question_result(each, strata_of(nothing if each.name in columns.few_numbers else columns, each), rule)
        for each in used
    ]
    if design is not None:
        found = [weighted_result(columns, each, design, rule) for each in found]
    document = results_document(columns.survey.name, len(columns), found)
    if design is not None:
        document["warnings"] += weight_warnings(design.weights)
        document["deff"] = kish_effect(design.weights)
    if anchors:
        add_corrections(columns, document, anchors, rule)
    for question in document["questions"]:
        if question["name"] in states:
            question["answered"], question["shown"] = states[question["name"]]
    return document


def results_document(file: str, reports: int, results: Sequence[QuestionResult]) -> Document:
    """Return results as one JSON object; ``file`` names the file, or the channel that counts came through."""
    return {
        "format": SHARES,
        "file": file,
        "reports": reports,
        "confidence": next((one.confidence for each in results for one in each.estimates), DEFAULT_RULE.confidence),
        "questions": [_question(each) for each in results],
        "warnings": [
            Sentence(IMPLAUSIBLE, variable=each.question.name, category=one.option)
            for each in results
            for one in each.estimates
            if one.implausible
        ],
    }


def _question(result: QuestionResult) -> Document:
    mechanism = result.question.mechanism
    return {
        "name": result.question.name,
        "channel": None if mechanism is None else mechanism.dump(),
        "n": result.n,
        "estimates": [asdict(estimate) for estimate in result.estimates],
    }


def share_rows(document: Document) -> list[Document]:
    """Return one flat row for each estimate, with ``question``, ``option``, ``n``, ``shown``, ``low``, ``high``, ..."""
    return [
        {"question": question["name"], **estimate, "shown": estimate["clipped"]}
        for question in document["questions"]
        for estimate in question["estimates"]
    ]
