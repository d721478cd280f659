"""A survey with everything that is shown but not simply asked: notes, absence, conditions, a matrix."""

from typing import Any

from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import Document, names, survey

COIN = {"name": "coin_flip"}
KARY = {"name": "kary_rr", "odds": "3/2"}
WEAK = {"a": "3/5", "b": "2/5"}


def asks(kind: str, name: str, **more: Any) -> Document:
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
    return parse_survey(survey(*items(), **more))


AFTER = {"text": {"en": "Need to talk?", "de": "Reden?"}, "link": "https://help.example.org/talk?from=survey#now"}


def either() -> Survey:
    """Items that one of several answers shows, alone and beside what must all hold; and a word after it."""
    return parse_survey(
        survey(
            asks("boolean", "adult", public=True),
            asks("boolean", "smokes", mechanism=COIN, when_absent="no"),
            asks("boolean", "drinks", mechanism=COIN, when_absent="no"),
            asks("boolean", "help", mechanism=COIN, when_absent="no", any_of={"smokes": "yes", "drinks": "yes"}),
            asks(
                "boolean", "paid", mechanism=COIN, when_absent="no",
                visible_if={"adult": "yes"}, any_of={"drinks": "yes", "smokes": ["yes"]},
            ),
            after=AFTER,
        )
    )  # fmt: skip


FULL = {
    "adult": "yes", "smokes": "yes", "brand": "c0", "quit": "yes", "age": "2", "which": ["c0", "c1"],
    "place": {"x0": "4", "x1": "0"}, "often_r0": "c0", "often_r1": "c2", "spent_home": "4",
}  # fmt: skip
"""Answers of somebody to whom everything is shown."""


def habits() -> list[Document]:
    """The same kinds as people would be asked them."""

    def choices(*labels: str) -> list[Document]:
        return [{"name": label.split(maxsplit=1)[0].lower(), "label": {"en": label}} for label in labels]

    def row(label: str) -> Document:
        return {"name": label.split(maxsplit=1)[0].lower(), "label": {"en": label}}

    weak = {"name": "kary_rr", "odds": "3/2"}
    often = {"type": "rating", "choices": choices("Never", "Sometimes", "Often"), "mechanism": weak}
    return [
        {
            "type": "note", "name": "welcome", "label": {"en": "The first questions are about tobacco."},
            "hint": {"en": "Think of the last twelve months."},
        },
        {
            "type": "boolean", "name": "smokes", "label": {"en": "Do you smoke?"},
            "mechanism": {"epsilon": "0.8"}, "absent_category": True,
        },
        {
            "type": "integer", "name": "daily", "label": {"en": "How many cigarettes a day?"}, "min": 0, "max": 60,
            "mechanism": {"name": "rounding_rr", **WEAK}, "when_absent": 0, "visible_if": {"smokes": "yes"},
        },
        {
            "type": "acknowledge", "name": "help", "label": {"en": "Help with quitting is free: ask any pharmacy."},
            "visible_if": {"daily": {"min": "20"}},
        },
        {
            "type": "matrix", "name": "taken", "label": {"en": "How often have you taken these?"},
            "hint": {"en": "Without a prescription."},
            "rows": [row("Cannabis"), row("Sleeping pills"), row("Painkillers of a strong kind")],
            "of": {**often, "absent_category": True},
        },
        {
            "type": "select_multiple", "name": "why", "label": {"en": "Why?"}, "max_choices": 2,
            "choices": choices("Pain", "Sleep", "Friends"), "mechanism": {"name": "sampled_option", **WEAK},
            "when_absent": [], "visible_if": {"taken_cannabis": ["sometimes", "often"]},
        },
        {
            "type": "matrix", "name": "units", "label": {"en": "How many glasses a week?"},
            "rows": [row("Beer"), row("Wine")],
            "of": {
                "type": "decimal", "min": "0", "max": "30", "step": "0.5",
                "mechanism": {"name": "rounding_rr", **WEAK}, "when_absent": "0",
            },
        },
    ]  # fmt: skip


def by_hand() -> list[Document]:
    """Questions for a coin and a die."""
    return [
        {"type": "boolean", "name": "stole", "label": {"en": "Have you ever stolen from a shop?"}, "mechanism": COIN},
        {
            "type": "matrix", "name": "fare", "label": {"en": "Have you ever travelled without a ticket?"},
            "rows": [{"name": "bus", "label": {"en": "By bus"}}, {"name": "train", "label": {"en": "By train"}}],
            "of": {"type": "boolean", "mechanism": {"name": "warner", "truth": "2/3"}},
        },
        {"type": "note", "name": "end", "label": {"en": "That was all."}},
    ]  # fmt: skip
