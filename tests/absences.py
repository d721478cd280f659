"""A survey with everything that is shown but not simply asked: notes, absence, conditions, a matrix."""

from typing import Any

from sottovoce.shared.parsing import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import Document, names, survey

COIN = {"name": "coin_flip"}
KARY = {"name": "kary_rr", "odds": "3/2"}
WEAK = {"a": "3/5", "b": "2/5"}


def asks(kind: str, name: str, **more: Any) -> Document:
    """A question of this type with this name, as label too."""
    return {"type": kind, "name": name, "label": {"en": name.title()}, **more}


def items() -> list[Document]:
    """One of each: absence by a category and by a fixed input of every type, chains, a matrix."""
    number = {"min": "0", "max": "4", "step": "1", "when_absent": "1"}
    return [
        asks("note", "welcome", hint={"en": "Take your time."}),
        asks("boolean", "adult", public=True),
        asks("boolean", "smokes", mechanism=KARY, absent_category=True),
        asks("select_one", "brand", mechanism=KARY, choices=names(3), when_absent="c1", visible_if={"smokes": "yes"}),
        asks("note", "quitting", visible_if={"smokes": ["yes"]}),
        asks("acknowledge", "sure", visible_if={"brand": ["c0", "c2"]}),
        asks("boolean", "quit", mechanism=COIN, when_absent="no", visible_if={"brand": ["c2", "c0"]}),
        asks("integer", "age", mechanism={"name": "rounding_rr", **WEAK}, min=0, max=4, when_absent=1),
        asks(
            "select_multiple", "which", choices=names(3), max_choices=2, when_absent=[],
            mechanism={"name": "sampled_option", **WEAK}, visible_if={"age": {"min": 2}, "adult": ["yes"]},
        ),
        asks(
            "vector", "place", coordinates=names(2, "x"), mechanism={"name": "sampled_coordinate", **WEAK},
            min=0, max=4, step=2, when_absent={"x1": 2, "x0": "0"}, visible_if={"which": ["c0"]},
        ),
        {
            **asks("matrix", "often", visible_if={"age": {"min": "1", "max": "3"}}),
            "rows": names(2, "r"),
            "of": {"type": "rating", "choices": names(3), "mechanism": KARY, "absent_category": True},
        },
        {
            **asks("matrix", "spent"),
            "rows": [{"name": "home", "label": {"en": "Home", "de": "Haus"}}],
            "of": {"type": "decimal", **number, "mechanism": {"name": "rounding_rr", **WEAK}},
        },
    ]  # fmt: skip


def absences(**more: Any) -> Survey:
    """The survey of these items."""
    return parse_survey(survey(*items(), **more))


FULL = {
    "adult": "yes", "smokes": "yes", "brand": "c0", "quit": "yes", "age": "2", "which": ["c0", "c1"],
    "place": {"x0": "4", "x1": "0"}, "often_r0": "c0", "often_r1": "c2", "spent_home": "4",
}  # fmt: skip
"""Answers of somebody to whom everything is shown."""
