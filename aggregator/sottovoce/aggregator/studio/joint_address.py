"""
An analysis as the address of its page: whoever follows the address has the same computed again.

Every option is a parameter of its own name; a known margin is ``margin.question.category=number``, and the people whose
outcome is to be predicted are ``at.predictor=category``. What is left empty is not given.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from werkzeug.datastructures import MultiDict

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


def asked_analysis(args: MultiDict[str, str], kinds: Sequence[str]) -> AskedAnalysis | None:
    """
    The analysis that is asked for; None if none is, as on a page that was just opened.

    Args:
        args: the address's query.
        kinds: those that the page makes.
    """
    kind = args.get("kind", "")
    if kind not in kinds:
        return None
    options: dict[str, Any] = {name: args[name] for name in _TEXTS[kind] if args.get(name)}
    if args.get("wave"):
        options["wave"] = _whole(args["wave"])
    if kind == "regression":
        options |= _model_options(args)
    margins = _margins(args)
    return AskedAnalysis(kind, options | ({"margins": margins} if margins and kind in _WEIGHTED else {}))


def _whole(given: str) -> object:
    """As a number if it is one; what is none is refused with all other mistakes."""
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 5 else given


def _model_options(args: MultiDict[str, str]) -> dict[str, Any]:
    # Nothing chosen is left out, and then refused as missing.
    predictors = list(dict.fromkeys(filter(None, args.getlist("on"))))
    at = {name: args[f"{AT}{name}"].strip() for name in predictors if args.get(f"{AT}{name}", "").strip()}
    return ({"on": predictors} if predictors else {}) | ({"at": [at]} if at else {})


def _margins(args: MultiDict[str, str]) -> dict[str, dict[str, str]]:
    margins: dict[str, dict[str, str]] = {}
    for key, given in args.items():
        question, _, category = key.removeprefix(MARGIN).partition(".")
        if key.startswith(MARGIN) and category and given.strip():
            margins.setdefault(question, {})[category] = given.strip()
    return margins
