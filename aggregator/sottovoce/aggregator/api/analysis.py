"""
Researchers' API for analyses of closed surveys and waves: crosstabs, comparisons, regressions and weights.

One analysis runs at a time, in an application thread. Others wait, in at most half of the threads including the
running one; further requests get a "busy" problem. The server therefore keeps admitting reports: single reports on the
event loop, batches in a free thread. The first analysis of a survey reads its reports, about one second for a million;
later ones find them in memory, until 15 minutes pass without use.
"""

import json
from collections.abc import Callable

from flask import Flask, Response, current_app, jsonify, request
from sottovoce.aggregator.analysis.estimates import revisions_of
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.api.joint_results import ColumnsCache, JointResults
from sottovoce.aggregator.api.results import note_read
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.surveys.stored_surveys import newest
from sottovoce.shared.errors import OptionsError, Problem


def register(app: Flask) -> None:
    """Add the cache of columns and the runner of analyses to the app."""
    extensions = app.extensions
    cache = ColumnsCache(extensions["storage"], extensions["clock"])
    extensions["joint_results"] = JointResults(cache, extensions["storage"], extensions["settings"].threads)


def crosstab(name: str) -> Response:
    """Crosstab of ``rows`` and ``columns``; optional: ``within``, ``margins``, ``wave``, ``where``, ``confidence``."""
    return _answer(name, "crosstab")


def compare(name: str) -> Response:
    """
    Comparison of an ``outcome`` between ``groups``.

    Optional: ``category``, ``margins``, ``wave``, ``where``, ``confidence``.
    """
    return _answer(name, "compare")


def pairs(name: str) -> Response:
    """Tests of independence for all pairs of questions, with q-values; optional: ``wave``, ``where``."""
    return _answer(name, "pairs")


def regression(name: str) -> Response:
    """
    Regression of ``outcome`` on the predictors in ``on``, or by a ``formula``.

    Optional: ``model``, ``errors``, ``cluster``, ``at``, ``margins``, ``wave``, ``where``, ``confidence``, ``strata``.
    """
    return _answer(name, "regression")


def weights(name: str) -> Response:
    """Effect of weights to known ``margins`` on the precision."""
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
    """Refuse NaN and Infinity, which Python's parser accepts but JSON does not define."""
    raise ValueError


_REFUSED = ("still_open", "options_invalid", "estimate_impossible")


def _route(kind: str, view: Callable[[str], Response], summary: str, gives: str) -> Route:
    path = f"/api/v1/surveys/<name>/{kind}"
    body = f"{kind}-request"
    return Route(f"joint.{kind}", "POST", path, view, summary, Kind.RESEARCHER, (gives,), body=body, refuses=_REFUSED)


ROUTES = (
    _route("crosstab", crosstab, "Cross-tabulate two questions of a closed survey.", "crosstab"),
    _route("compare", compare, "Compare a share or a mean between groups of a closed survey.", "comparison"),
    _route("pairs", pairs, "Test every pair of questions of a closed survey for independence.", "pairs"),
    _route("regression", regression, "Fit a regression to a closed survey.", "regression"),
    _route("weights", weights, "Compute the precision lost by weighting a closed survey to known margins.", "weights"),
)
"""Routes of joint analyses."""
