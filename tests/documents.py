"""Documents of surveys and questions for tests and vectors, as an author would write them."""

from typing import Any

import pytest
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question

Document = dict[str, Any]


def survey(*questions: Document, **more: Any) -> Document:
    return {
        "format": "sottovoce-survey/1",
        "name": "vector",
        "revision": 1,
        "default_language": "en",
        "title": {"en": "Vector"},
        "questions": list(questions),
        **more,
    }


def question(mechanism: Document, kind: str = "boolean", **more: Any) -> Document:
    return {"type": kind, "name": "q", "label": {"en": "Q"}, "mechanism": mechanism, **more}


def names(count: int, prefix: str = "c") -> list[Document]:
    return [{"name": f"{prefix}{i}", "label": {"en": f"{prefix.upper()}{i}"}} for i in range(count)]


def one_of(count: int, mechanism: Document, kind: str = "select_one") -> Document:
    return question(mechanism, kind, choices=names(count))


def some_of(count: int, mechanism: Document, **more: Any) -> Document:
    return question(mechanism, "select_multiple", choices=names(count), **more)


def number(low: str | int, high: str | int, step: str | int, mechanism: Document) -> Document:
    return question(mechanism, "decimal", min=low, max=high, step=step)


def day(low: str, high: str, mechanism: Document, **more: Any) -> Document:
    return question(mechanism, "date", min=low, max=high, **more)


def vector(count: int, low: str | int, high: str | int, step: str | int, mechanism: Document) -> Document:
    return question(mechanism, "vector", coordinates=names(count, "x"), min=low, max=high, step=step)


def parsed(document: Document) -> Question:
    return parse_survey(survey(document)).questions[0]


def problems_of(document: Document) -> list[tuple[str, str]]:
    """(pointer, message) of every mistake in a survey file."""
    with pytest.raises(SpecError) as caught:
        parse_survey(document)
    return [(problem.pointer, problem.message) for problem in caught.value.problems]


def wrong_places(document: Document) -> list[str]:
    return [pointer for pointer, _ in problems_of(document)]
