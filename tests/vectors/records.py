"""Vectors of single questions: digest, bytes, record and columns; and questions that may not stand alone."""

from typing import Any

from sottovoce import records
from sottovoce.shared.errors import SpecError
from sottovoce.shared.single_question import parse_question

from tests.documents import names, one_of, question
from tests.vectors.cases import GOOD, named
from tests.vectors.tape import taped

MOST_OPTIONS = 7

BAD: list[dict[str, Any]] = [
    {**question({}), "public": True},
    question(named("binary_rr", a="300/511", b="1/511")),
    question(GOOD["memoized_rr"][0][0]["mechanism"]),
    {"type": "matrix", "name": "m", "label": {"en": "M"}, "rows": names(2, "r"),
     "of": {"type": "boolean", "mechanism": named("coin_flip")}},
    {"type": "note", "name": "n", "label": {"en": "N"}},
    {**one_of(3, named("kary_rr", odds="3")), "visible_if": {"other": ["yes"]}, "absent_category": True},
]  # fmt: skip
"""Right in a survey, perhaps, but not alone."""


def record_vectors() -> dict[str, Any]:
    """Return the vectors; ``client`` is left out of the records, because each release has another."""
    drawn = [vector for cases in GOOD.values() for document, answers in cases for vector in _of(document, answers)]
    return {"drawn": drawn, "bad": [_canonical(document) for document in BAD]}


def _of(document: dict[str, Any], answers: list[Any]) -> list[dict[str, Any]]:
    try:
        parsed = parse_question(document)
    except SpecError:
        return []
    if len(parsed.question.options) > MOST_OPTIONS:
        return []
    answer = (answers or parsed.question.options)[-1]
    tape, draws = taped(f"record {parsed.digest}")
    record = records.simulate(document, answer, draws)
    fields = {key: getattr(record, key) for key in records.KEYS if key != "client"}
    written = {"question": parsed.document, "answer": answer, "bytes": tape.taken.hex()}
    return [{**written, "record": fields, "columns": records.columns(record)}]


def _canonical(document: dict[str, Any]) -> dict[str, Any]:
    """Return a bad question with its mechanism as devices get it, so that it is refused for being alone."""
    return (
        {**document, "mechanism": {"name": "binary_rr", "a": "3/4", "b": "1/4"}} if "public" in document else document
    )
