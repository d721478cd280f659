"""
Joint results for researchers' programs: tables, comparisons, regressions and weights of what is closed.

One analysis runs at a time, in one of the threads that run the application; others wait in as many threads as leave
half of them free, and what comes beyond that is told to come back. So reports are admitted meanwhile: single ones on
the event loop, batches in a thread that is left. The first analysis of a survey reads its reports, about a second for a
million; later ones find them in memory, until 15 minutes pass without any.
"""

import json
from collections.abc import Callable

from flask import Flask, Response, current_app, jsonify, request
from sottovoce.aggregator.analysis.estimates import revisions_of
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.api.joint_results import JointResults, KeptColumns
from sottovoce.aggregator.api.results import note_read
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.surveys.stored_surveys import newest
from sottovoce.shared.errors import OptionsError, Problem


def register(app: Flask) -> None:
    """Give an app what the routes keep."""
    extensions = app.extensions
    kept = KeptColumns(extensions["storage"], extensions["clock"])
    extensions["joint_results"] = JointResults(kept, extensions["storage"], extensions["settings"].threads)


def crosstab(name: str) -> Response:
    """A table of two questions: ``rows``, ``columns``, and ``within``, ``margins``, ``wave`` if wanted."""
    return _answer(name, "crosstab")


def compare(name: str) -> Response:
    """An ``outcome`` among ``groups``; ``category``, ``margins``, ``wave`` if wanted."""
    return _answer(name, "compare")


def pairs(name: str) -> Response:
    """Every pair of questions tested for independence, with q values; ``wave`` if wanted."""
    return _answer(name, "pairs")


def regression(name: str) -> Response:
    """An ``outcome`` explained ``on`` others; ``model``, ``errors``, ``cluster``, ``at``, ``margins``, ``wave``."""
    return _answer(name, "regression")


def weights(name: str) -> Response:
    """What weights to known ``margins`` cost."""
    return _answer(name, "weights")


def _answer(name: str, kind: str) -> Response:
    newest(current_app.extensions["storage"], name)
    try:
        given = json.loads(request.get_data(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise OptionsError([Problem("", "the body is not JSON")]) from None
    document = current_app.extensions["joint_results"].document(name, parse_request(kind, given))
    note_read(name, revisions_of(current_app.extensions["storage"], name))
    return jsonify(document)


def _refuse(_: str) -> None:
    """NaN and Infinity, which are no JSON."""
    raise ValueError


_REFUSED = ("still_open", "options_invalid", "estimate_impossible")


def _route(kind: str, view: Callable[[str], Response], summary: str, gives: str) -> Route:
    path = f"/api/v1/surveys/<name>/{kind}"
    body = f"{kind}-request"
    return Route(f"joint.{kind}", "POST", path, view, summary, Kind.RESEARCHER, (gives,), body=body, refuses=_REFUSED)


ROUTES = (
    _route("crosstab", crosstab, "Cross-tabulate two questions of a closed survey.", "crosstab"),
    _route("compare", compare, "Compare a share or a mean between groups of a closed survey.", "comparison"),
    _route("pairs", pairs, "Every pair of questions tested for independence, of what is closed.", "pairs"),
    _route("regression", regression, "Fit a regression to a closed survey.", "regression"),
    _route("weights", weights, "What weights to known margins cost, of what is closed.", "weights"),
)
"""Analyses of several answers together."""
