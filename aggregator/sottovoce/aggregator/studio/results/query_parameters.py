"""
An analysis as the address of its page: whoever follows the address has the same computed again.

Every option is a parameter of its own name; a known margin is ``margin.question.category=number``, and the people whose
outcome is to be predicted are ``at.predictor=category``. What is left empty is not given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Query = Mapping[str, Sequence[str]]
"""Every parameter of an address with all its values."""

MARGIN, AT = "margin.", "at."

_TEXTS = {
    "crosstab": ("rows", "columns", "within"),
    "compare": ("outcome", "groups", "category"),
    "pairs": (),
    "regression": ("outcome", "model", "cluster"),
}
_WEIGHTED = frozenset({"crosstab", "compare", "regression"})


@dataclass(frozen=True)
class AskedAnalysis:
    """
    What an address asks for.

    Attributes:
        kind: of analysis, as ``joint_request`` names them.
        options: as the JSON of a request has them.
    """

    kind: str
    options: Mapping[str, Any]


def asked_analysis(query: Query, kinds: Sequence[str]) -> AskedAnalysis | None:
    """
    The analysis that is asked for; None if none is, as on a page that was just opened.

    Args:
        query: the address's.
        kinds: those that the page makes.
    """
    kind = _first(query, "kind")
    if kind not in kinds:
        return None
    options: dict[str, Any] = {name: _first(query, name) for name in _TEXTS[kind] if _first(query, name)}
    if _first(query, "wave"):
        options["wave"] = _whole(_first(query, "wave"))
    if kind == "regression":
        options |= _model_options(query)
    margins = _margins(query)
    return AskedAnalysis(kind, options | ({"margins": margins} if margins and kind in _WEIGHTED else {}))


def _whole(given: str) -> object:
    """As a number if it is one; what is none is refused with all other mistakes."""
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 5 else given


def _model_options(query: Query) -> dict[str, Any]:
    # Nothing chosen is left out, and then refused as missing.
    predictors = list(dict.fromkeys(filter(None, query.get("on", ()))))
    at = {name: _first(query, f"{AT}{name}") for name in predictors if _first(query, f"{AT}{name}")}
    return ({"on": predictors} if predictors else {}) | ({"at": [at]} if at else {})


def _margins(query: Query) -> dict[str, dict[str, str]]:
    margins: dict[str, dict[str, str]] = {}
    for key in query:
        question, _, category = key.removeprefix(MARGIN).partition(".")
        if key.startswith(MARGIN) and category and _first(query, key):
            margins.setdefault(question, {})[category] = _first(query, key)
    return margins


def _first(query: Query, name: str) -> str:
    """The parameter without spaces around it; "" where it is not given."""
    return next(iter(query.get(name, ())), "").strip()
