"""Small surveys that tests ask."""

from itertools import pairwise
from typing import Any

from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey


def document(**changes: Any) -> dict[str, Any]:
    """A survey file with one question of each kind, some top-level keys changed; None removes a key."""
    result: dict[str, Any] = {
        "format": "sottovoce-survey/1",
        "name": "exam",
        "revision": 1,
        "default_language": "en",
        "title": {"en": "Exams"},
        "questions": [
            {"type": "boolean", "name": "cheated", "label": {"en": "Cheated?"}, "mechanism": {"name": "coin_flip"}},
            {
                "type": "select_one",
                "name": "reason",
                "label": {"en": "Why?"},
                "choices": [{"name": name, "label": {"en": name.title()}} for name in ("time", "fear", "fun")],
                "mechanism": {"name": "kary_rr", "odds": "3"},
            },
            {
                "type": "select_one",
                "name": "year",
                "label": {"en": "Year?"},
                "choices": [{"name": name, "label": {"en": name.title()}} for name in ("first", "second")],
                "public": True,
                "cohort": True,
            },
        ],
    }
    result.update(changes)
    return {key: value for key, value in result.items() if value is not None}


def survey(**changes: Any) -> Survey:
    return parse_survey(document(**changes))


def months(count: int) -> list[dict[str, str]]:
    """So many waves, one after the other, a month each, at most 11."""
    days = [f"2026-{month:02}-01T00:00:00Z" for month in range(1, count + 2)]
    return [{"opens": opens, "closes": closes} for opens, closes in pairwise(days)]


ANSWERS = {"cheated": "yes", "reason": "fear", "year": "second"}
"""One respondent's answers to it."""


def _asks(kind: str, name: str, label: str, mechanism: dict[str, Any] | None, **more: Any) -> dict[str, Any]:
    treatment = {"public": True} if mechanism is None else {"mechanism": mechanism}
    return {"type": kind, "name": name, "label": {"en": label}, **treatment, **more}


def _named(*labels: str) -> list[dict[str, Any]]:
    return [{"name": f"o{index}", "label": {"en": label}} for index, label in enumerate(labels)]


_RANGE = {"min": "0", "max": "10", "step": "0.5"}
_SCALE = ("Never", "Seldom", "Sometimes", "Often", "Always")
_WEAK = {"a": "3/5", "b": "2/5"}


def every_type() -> list[dict[str, Any]]:
    """Questions of every type, with every mechanism, then public ones; together below the page's allowance."""
    substances = _named("Alcohol", "Cannabis", "Cocaine", "Ecstasy", "Opioids", "Tobacco")
    reasons = _named("Work", "Friends", "Family", "Sleep", "Boredom", "Pain", "Habit", "Another one")
    wave = {"name": "square_wave", "odds": "3/2", "bins": 7, "width": 2}
    layer = {"name": "binary_rr", **_WEAK}
    memo = {"name": "memoized_rr", "permanent": layer, "instantaneous": layer, "waves": 2}
    return [
        _asks("boolean", "ever", "Have you ever taken an illegal drug?", {"name": "warner", "truth": "2/3"}),
        _asks("select_one", "where", "Where, mostly?", {"name": "kary_rr", "odds": "3/2"}, choices=substances[:4]),
        _asks("rating", "often", "How often?", {"name": "kary_rr", "odds": "3/2"}, choices=_named(*_SCALE)),
        _asks(
            "select_one", "why", "Why?", {"name": "subset_selection", "odds": "3/2", "size": 3}, choices=reasons
        ),
        _asks(
            "select_multiple", "which", "Which of these?", {"name": "sampled_option", **_WEAK},
            choices=substances, max_choices=3, hint={"en": "In the last twelve months."},
        ),
        _asks(
            "select_multiple", "first", "Which first?", {"name": "bitwise_rr", **_WEAK},
            choices=substances, max_choices=1,
        ),
        _asks("integer", "days", "On how many days a month?", {"name": "rounding_rr", **_WEAK}, min=0, max=30),
        _asks("decimal", "spent", "How many hours a week?", {"epsilon": "1.4"}, **_RANGE),
        _asks("decimal", "weekly", "How many units of alcohol a week?", wave, **_RANGE),
        _asks(
            "vector", "compass", "Where do you stand?", {"name": "sampled_coordinate", **_WEAK},
            coordinates=_named("Left (-1) to right (1)", "Closed (-1) to open (1)"), min="-1", max="1", step="0.1",
        ),
        _asks("decimal", "far", "How far is the nearest clinic?", {"name": "geometric", "ratio": "19/20"}, **_RANGE),
        _asks("select_one", "town", "Which?", {"name": "hadamard_response", "odds": "3/2"}, choices=reasons),
        _asks("integer", "age", "How old are you?", None, min=18, max=99),
        _asks("decimal", "height", "How tall are you, in metres?", None, min="0.5", max="2.5", step="0.01"),
        _asks("rating", "content", "How content are you?", None, choices=_named(*_SCALE), cohort=True),
        _asks("boolean", "again", "Have you taken any this month?", memo),
        _asks("select_one", "best", "What helps most?", {"name": "optimal_unary", "odds": "3/2"}, choices=reasons[:4]),
        _asks(
            "date", "since", "Since when?", {"name": "rounding_rr", "a": "11/20", "b": "9/20"},
            min="2019-12-30", max="2026-01-05", step=7,
        ),
    ]  # fmt: skip
