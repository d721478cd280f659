"""
An analysis as the address of its page, and its answer: from the same function that programs are answered by.

Whoever follows the address has the same computed again. Every option is a parameter of its own name; a known margin is
``margin.question.category=number``, and the people whose outcome is to be predicted are ``at.predictor=category``. What
is left empty is not given.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import current_app
from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.requests import Request, parse_request
from sottovoce.aggregator.http.problems import STATUS, Refusal
from sottovoce.aggregator.surveys.stored_surveys import reports_so_far
from sottovoce.shared.errors import EstimateError, OptionsError

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


@dataclass(frozen=True)
class Why:
    """
    Why there is no answer.

    Attributes:
        code: of the problem, as programs are told; "empty" where no report has come.
        details: in the analysis's own words, after the option that each is about, if it is about one; none where the
            page has a sentence of its own.
    """

    code: str
    details: tuple[tuple[str, str], ...] = ()

    @property
    def status(self) -> int:
        """Of HTTP."""
        return STATUS.get(self.code, 200)


@dataclass(frozen=True)
class JointAnswer:
    """
    One of the two.

    Attributes:
        document: the answer, in the JSON form of its schema.
        why: there is none.
    """

    document: Mapping[str, Any] | None = None
    why: Why | None = None


def answer_to(asked: AskedAnalysis, document: Callable[[Request], Mapping[str, Any]]) -> JointAnswer:
    """
    Make an analysis.

    Args:
        asked: the analysis.
        document: answers it from some reports.
    """
    try:
        return JointAnswer(document(parse_request(asked.kind, dict(asked.options))))
    except OptionsError as error:
        told = tuple((each.pointer.lstrip("/"), each.message) for each in error.problems)
        return JointAnswer(why=Why(error.code, told))
    except EstimateError as error:
        return JointAnswer(why=_why(error))
    except Refusal as refusal:
        return JointAnswer(why=Why(refusal.code))


def why_nothing(name: str, wave: int | None = None) -> Why | None:
    """
    Why there are no joint results at all; None if there are.

    Args:
        name: the survey's.
        wave: the one that is asked for; None for all.
    """
    storage, clock = current_app.extensions["storage"], current_app.extensions["clock"]
    revisions = storage.revisions(name)
    try:
        check_closed(storage, revisions, wave, clock())
    except EstimateError as error:
        return _why(error)
    return None if any(map(reports_so_far, revisions)) else Why("empty")


def _why(error: EstimateError) -> Why:
    return Why(error.code) if error.code == "still_open" else Why(error.code, (("", error.args[0]),))
