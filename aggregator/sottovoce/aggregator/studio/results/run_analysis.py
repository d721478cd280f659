"""The answer to an analysis, or why there is none: from the same function that programs are answered by."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import current_app
from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.requests import Request, parse_request
from sottovoce.aggregator.http.problems import STATUS, Refusal
from sottovoce.aggregator.studio.results.query_parameters import AskedAnalysis
from sottovoce.aggregator.surveys.stored_surveys import reports_so_far
from sottovoce.shared.errors import EstimateError, OptionsError


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
