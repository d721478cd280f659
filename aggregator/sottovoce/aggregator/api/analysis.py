"""Serve analyses of closed surveys and waves to researchers: crosstabs, comparisons, tests, regressions and weights.

An analysis runs in a process of its own, one of each survey at a time, so the server keeps admitting reports. A request
waits a short time for it; then the reply is 202, and ``Location`` has the address of the analysis. The first analysis
of a survey reads its reports, about one second for a million; later ones find them in memory, until 15 minutes pass
without use.
"""

import json
from collections.abc import Callable
from functools import partial

from flask import Flask, Response, current_app, jsonify, request, url_for
from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.jobs.queue import AnalysisLimits, QueuedJob, within_container
from sottovoce.aggregator.analysis.published_counts import published
from sottovoce.aggregator.analysis.requests import KINDS_OF_REQUEST, parse_request
from sottovoce.aggregator.api.joint_results import Calculating, ColumnsCache, JointResults
from sottovoce.aggregator.api.results import note_read
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.surveys.lifecycle import newest
from sottovoce.shared.errors import OptionsError, Problem


def register(app: Flask) -> None:
    """Add the cache of columns and the runner of analyses to the app."""
    extensions = app.extensions
    storage, settings = extensions["storage"], extensions["settings"]
    limits = AnalysisLimits(settings.analysis_seconds, within_container(settings.analysis_memory))
    cache = ColumnsCache(storage, extensions["clock"])
    extensions["joint_results"] = JointResults(cache, storage, settings.threads, limits)


def _answer(name: str, kind: str) -> Response:
    """Compute an analysis of one of the kinds of ``analysis.requests``, with the options in the body."""
    newest(current_app.extensions["storage"], name)
    try:
        given = json.loads(request.get_data(), parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise OptionsError([Problem("", "the body is not JSON")]) from None
    asked = parse_request(kind, given)
    return _reply(name, lambda: _results().document(name, asked, again=True))


def analysis(name: str, job: str) -> Response:
    """Return the result of an analysis that took longer than its first request waited, or say how far it is."""
    return _reply(name, lambda: _results().result(_job(name, job)))


def cancel(name: str, job: str) -> Response:
    """Stop an analysis that waits or runs."""
    found = _job(name, job)
    _results().jobs.stop(found)
    return jsonify(progress_document(Calculating(found, 0)))


def _results() -> JointResults:
    found: JointResults = current_app.extensions["joint_results"]
    return found


def _job(name: str, job: str) -> QueuedJob:
    found = _results().find(name, job)
    if found is None:
        raise Refusal("not_found", GONE)
    return found


def _reply(name: str, document: Callable[[], Document]) -> Response:
    try:
        found = document()
    except Calculating as calculating:
        reply = jsonify(progress_document(calculating))
        reply.status_code = 202
        reply.headers["Location"] = url_for("joint.analysis", name=name, job=calculating.job.id)
        reply.headers["Retry-After"] = ASK_AGAIN
        return reply
    note_read(name, published(current_app.extensions["storage"], name))
    return jsonify(found)


def progress_document(calculating: Calculating) -> Document:
    """Return how far an analysis is, as a ``sottovoce-progress/1`` document."""
    job = calculating.job
    state = "finished" if job.finished.is_set() or job.stopping else "waiting" if calculating.place else "running"
    done, whole = job.progress or (0, 0)
    return {
        "format": "sottovoce-progress/1", "state": state, "seconds": job.seconds,
        "place": calculating.place, "steps_done": done, "steps": whole,
    }  # fmt: skip


def _refuse(_: str) -> None:
    """Refuse NaN and Infinity, which Python's parser accepts but JSON does not define."""
    raise ValueError


PROGRESS = "analysis-progress"
ASK_AGAIN = "2"
"""Seconds after which to ask again for an analysis that is being computed."""

GONE = "this analysis is not here: the server was restarted, or its result was not fetched for a while; send it again"
_REFUSED = ("still_open", "options_invalid", "estimate_impossible", "analysis_stopped")
_JOB = "/api/v1/surveys/<name>/analyses/<job>"


def _route(kind: str, summary: str, gives: str = "") -> Route:
    path, view = f"/api/v1/surveys/<name>/{kind}", partial(_answer, kind=kind)
    return Route(f"joint.{kind}", "POST", path, view, summary, Kind.RESEARCHER, (gives or kind,),
                 body=f"{kind}-request", refuses=_REFUSED, pending=PROGRESS,
                 body_schema=KINDS_OF_REQUEST[kind].schema())  # fmt: skip


ROUTES = (
    _route("crosstab", "Cross-tabulate two questions of a closed survey."),
    _route("compare", "Compare a share or a mean between groups of a closed survey.", "comparison"),
    _route("pairs", "Test every pair of questions of a closed survey for independence."),
    _route("test", "Test a question of a closed survey against known shares or a known mean."),
    _route("mixture", "Estimate the shares of a design of a closed survey."),
    _route("items", "Fit one trait behind several yes/no questions of a closed survey, or their sum."),
    _route("regression", "Fit a regression to a closed survey."),
    _route("weights", "Compute the precision lost by weighting a closed survey to known margins."),
    Route("joint.analysis", "GET", _JOB, analysis, "Get the result of a long analysis, or its progress.",
          Kind.RESEARCHER, ("crosstab", "comparison", "pairs", "test", "mixture", "items", "regression", "weights"),
          refuses=("not_found", "estimate_impossible", "analysis_stopped"), pending=PROGRESS),
    Route("joint.cancel", "DELETE", _JOB, cancel, "Cancel an analysis.", Kind.RESEARCHER, (PROGRESS,),
          refuses=("not_found",)),
)  # fmt: skip
"""Routes of joint analyses."""
