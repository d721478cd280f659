"""Parse an analysis from a URL and run it, with the same function as the API.

Every option is a parameter of the same name, the confidence as a percentage; a formula takes the place of outcome and
predictors. A known margin is ``margin.question.category=number``, a known share in percent ``known.question.category``;
the values to predict for are ``at.predictor=category``. Empty parameters are ignored.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import chain
from typing import Any

from flask import current_app
from sottovoce.aggregator.analysis import requests
from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.jobs.queue import AnalysisStopped
from sottovoce.aggregator.analysis.requests import EVERY_KIND, Request, parse_request
from sottovoce.aggregator.api.joint_results import Calculating
from sottovoce.aggregator.http.problems import STATUS, Refusal
from sottovoce.aggregator.surveys.lifecycle import reports_so_far
from sottovoce.shared.errors import EstimateError, OptionsError

UrlQuery = Mapping[str, Sequence[str]]
"""Parameters of a URL, each with all its values."""

_DECIMAL = re.compile(r"-?([0-9]{1,15}(\.[0-9]{1,15})?|\.[0-9]{1,15})")
HUNDRED = 100

MARGIN, AT, KNOWN = "margin.", "at.", "known."

_NO_FIELDS = {"errors", "points"}
"""Options that no form has."""


@dataclass(frozen=True)
class AskedAnalysis:
    """Analysis that a URL requests, not yet validated: kind as in ``parse_request``, options as in the API's JSON."""

    kind: str
    options: Mapping[str, Any]

    @property
    def named(self) -> list[str]:
        """Variables that stand in an option of their own; the groups come first, since they form the rows."""
        readers = {each.name: each.metadata["read"] for each in fields(EVERY_KIND[self.kind])}
        names = sorted(self.options.keys() & readers.keys(), key=["groups", *readers].index)
        single = [self.options[name] for name in names if readers[name] is requests.variable_name]
        return [*single, *chain(*[self.options[name] for name in names if readers[name] is requests.variable_names])]


def asked_analysis(query: UrlQuery, kinds: Sequence[str]) -> AskedAnalysis | None:
    """Read the analysis, of one of these kinds, from the URL; None if there is none, as on a page just opened."""
    kind = _first(query, "kind")
    if kind not in kinds:
        return None
    readers = {
        each.name: requests.whole if "integer" in each.metadata["schema"].get("type", ()) else each.metadata["read"]
        for each in fields(EVERY_KIND[kind])
    }
    read = {name: _CONTROLS.get(readers[name], _first)(query, name) for name in readers if name not in _NO_FIELDS}
    options = {name: given for name, given in read.items() if given not in ("", None, [], {})}
    if formula := options.get("formula"):
        # The form always sends the choice of an outcome and of predictors; a formula names its own.
        own = {"on", "scales", "outcome"} if "~" in formula else {"on", "scales"}
        options = {name: given for name, given in options.items() if name not in own}
    return AskedAnalysis(kind, options)


def _whole(query: UrlQuery, name: str) -> object:
    """Convert text to an integer if it is one; keep other text, which validation reports with all other mistakes."""
    given = _first(query, name)
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 5 else given


def _level(query: UrlQuery, name: str) -> object:
    """Convert a percentage to a level; keep other text, which validation reports."""
    given = _first(query, name)
    return int(given) / 100 if given.isascii() and given.isdecimal() and len(given) == 2 else given


def _people(query: UrlQuery, _: str) -> list[dict[str, str]]:
    """Return the values to predict for, of the predictors of the model, which a formula names itself."""
    given = [key.removeprefix(AT) for key in query if key.startswith(AT)]
    names = given if _first(query, "formula") else query.get("on", ())
    at = {name: _first(query, f"{AT}{name}") for name in names if _first(query, f"{AT}{name}")}
    return [at] if at else []


def _known(query: UrlQuery, _: str) -> dict[str, Any]:
    """Return the known shares of the tested question, given in percent; a share of 0 is one that is known."""
    start = f"{KNOWN}{_first(query, 'question')}."
    shares = {key.removeprefix(start): _part(_first(query, key)) for key in query if key.startswith(start)}
    return {key: share for key, share in shares.items() if share != ""}


def _part(percentage: str) -> object:
    """Convert a percentage to a share; keep other text, which validation reports."""
    number = _number(percentage)
    return number / HUNDRED if isinstance(number, float) else number


def _number(given: str) -> object:
    """Convert text to a number if it is one, also with a decimal comma; keep other text."""
    written = given.replace(",", ".")
    return float(written) if _DECIMAL.fullmatch(written) else given


def _margins(query: UrlQuery, _: str) -> dict[str, dict[str, str]]:
    margins: dict[str, dict[str, str]] = {}
    for key in query:
        # Dots of a column's own name are doubled.
        question, _, category = key.removeprefix(MARGIN).replace("..", "\0").partition(".")
        if key.startswith(MARGIN) and category and _first(query, key):
            margins.setdefault(question.replace("\0", "."), {})[category.replace("\0", "..")] = _first(query, key)
    return margins


def _first(query: UrlQuery, name: str) -> str:
    """Return the first value of a parameter, stripped; "" if it is missing."""
    return next(iter(query.get(name, ())), "").strip()


_CONTROLS: Mapping[Callable[[Any], Any], Callable[[UrlQuery, str], Any]] = {
    requests.whole: _whole,
    requests.confidence: _level,
    requests.variable_names: lambda query, name: list(dict.fromkeys(filter(None, query.get(name, ())))),
    requests.flag: lambda query, name: False if _first(query, name) == "no" else None,
    requests.people: _people,
    requests.known_shares: _known,
    requests.known_mean: lambda query, _: _number(_first(query, f"{KNOWN}{_first(query, 'question')}")),
    requests.read_shares: _margins,
}
"""Functions that read the form fields of an option, by the reader of its request; others are one field of text."""


@dataclass(frozen=True)
class Why:
    """Reason why there is no result.

    Attributes:
        code: problem code of the API; "empty" if no reports exist.
        details: pairs of option (or "") and message of the analysis; empty if the page has a sentence for the code.
        job: id of the stopped analysis; "" if it was not stopped.
    """

    code: str
    details: tuple[tuple[str, str], ...] = ()
    job: str = ""

    @property
    def status(self) -> int:
        """HTTP status of the code; 200 if the code is no API problem."""
        return STATUS.get(self.code, 200)


@dataclass(frozen=True)
class JointAnswer:
    """Result of an analysis, the reason why there is none, or how far it is.

    Attributes:
        document: result in the form of its JSON schema; None if there is none.
        why: reason; None if there is a result.
        calculating: the running analysis; None if it has ended.
    """

    document: Mapping[str, Any] | None = None
    why: Why | None = None
    calculating: Calculating | None = None


def answer_to(asked: AskedAnalysis, document: Callable[[Request], Mapping[str, Any]]) -> JointAnswer:
    """Run an analysis with the function that computes the document of a request; errors become reasons."""
    try:
        return JointAnswer(document(parse_request(asked.kind, dict(asked.options))))
    except OptionsError as error:
        details = tuple((each.pointer.lstrip("/"), each.message) for each in error.problems)
        return JointAnswer(why=Why(error.code, details))
    except EstimateError as error:
        return JointAnswer(why=_why(error))
    except Refusal as refusal:
        return JointAnswer(why=Why(refusal.code))
    except Calculating as calculating:
        return JointAnswer(calculating=calculating)


def why_nothing(name: str, wave: int | None = None) -> Why | None:
    """Return the reason why no joint results exist for a wave (None: all); None if they do."""
    storage, clock = current_app.extensions["storage"], current_app.extensions["clock"]
    revisions = storage.revisions(name)
    try:
        check_closed(storage, revisions, wave, clock())
    except EstimateError as error:
        return _why(error)
    return None if any(map(reports_so_far, revisions)) else Why("empty")


def _why(error: EstimateError) -> Why:
    if error.code == "still_open":
        return Why(error.code)
    return Why(error.code, (("", error.args[0]),), error.job if isinstance(error, AnalysisStopped) else "")
