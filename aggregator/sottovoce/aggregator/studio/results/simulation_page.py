"""Show the page "Simulate": results, analyses and files as they will be, computed from simulated reports.

Every reply depends only on the survey and the URL. Nothing is stored, written to the audit log or cached, and no reply
has an ETag, so that no cache can confuse it with real results.
"""

from collections.abc import Mapping
from typing import Any

from flask import Response, current_app, render_template, request
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.requests import Request
from sottovoce.aggregator.analysis.results_document import export_document, group_of
from sottovoce.aggregator.file_formats.provenance import json_text, marked
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.request_context import attachment, words
from sottovoce.aggregator.studio.results import simulation_results
from sottovoce.aggregator.studio.results.analysis_page import JointSubject, joint_routes, results as joint
from sottovoce.aggregator.studio.results.arm_split import simulated_split
from sottovoce.aggregator.studio.results.files_page import file_reply, files_list
from sottovoce.aggregator.studio.results.results_page import PicturedResults, names_in, picture_routes
from sottovoce.aggregator.studio.results.results_view import ResultsView, view_of
from sottovoce.aggregator.studio.results.view_options import ViewOptions


def rehearse(name: str) -> str:
    """Show the settings of the simulation and its results, question by question."""
    subject = simulation_results.subject_of(name)
    rehearsed = simulation_results.rehearsed_of(subject)
    if rehearsed is None:
        return _nothing(subject)
    view = _view(subject, rehearsed)
    absent = dict.fromkeys(("comparisons", "designed", "links", "trial", "twice"))
    names = {**names_in(view), **absent, "endpoint_prefix": simulation_results.ENDPOINT_PREFIX, "rehearsed": rehearsed}
    live = render_template("results_live.html", view=view, few=False, **names)
    return render_template(
        "results.html", page="rehearse", frame=subject.frame, view=view, live=live, etag="", refresh=0, **names
    )


def download(name: str) -> Response:
    """Download the simulated results as JSON, marked so that programs reject it as real results."""
    _, found = simulation_results.rehearsed_file(name)
    choices, revisions = ViewOptions.of(request.args), found.revisions
    results = analyse(revisions, choices.cohort, confidence=choices.confidence)
    group = None if choices.people is None else group_of(revisions, results, choices.people)
    document = {**marked(export_document(results, group=group), found.about), "set": found.document}
    called = f"{found.about.prefix}{name}-{found.survey.revision}.json"
    return attachment(json_text(document), "application/json", called)


def _pictured(name: str) -> PicturedResults:
    subject, found = simulation_results.rehearsed_file(name)
    return PicturedResults(_view(subject, found), found.about, words().translate("rehearse_svg", mark=found.mark))


def files(name: str) -> str:
    """List the files; with ``?sums=1`` also the size and SHA-256 of each."""
    subject = simulation_results.subject_of(name)
    rehearsed = simulation_results.rehearsed_of(subject)
    if rehearsed is None:
        return _nothing(subject)
    return files_list(
        rehearsed.source(current_app.extensions["clock"]()),
        page="rehearse",
        frame=subject.frame,
        survey=rehearsed.survey,
        release=None,
        nothing=None,
        wave=None,
        endpoint_prefix=simulation_results.ENDPOINT_PREFIX,
        rehearsed=rehearsed,
    )


def file(name: str, file: str) -> Response:
    """Download a file of the simulation."""
    _, found = simulation_results.rehearsed_file(name)
    return file_reply(found.source(current_app.extensions["clock"]()), name, file)


def _view(subject: simulation_results.Subject, rehearsed: simulation_results.Rehearsed) -> ResultsView:
    choices = ViewOptions.of(request.args)
    return view_of(rehearsed.revisions, choices, subject.plan, simulated_split(rehearsed, choices))


def _nothing(subject: simulation_results.Subject) -> str:
    return render_template("rehearse_nothing.html", page="rehearse", frame=subject.frame, why=subject.why)


def _simulated(name: str, _page: str, file: str) -> JointSubject | Response:
    if file:
        return _asked_of(*simulation_results.rehearsed_file(name))
    subject = simulation_results.subject_of(name)
    rehearsed = simulation_results.rehearsed_of(subject)
    return Response(_nothing(subject)) if rehearsed is None else _asked_of(subject, rehearsed)


def _asked_of(subject: simulation_results.Subject, rehearsed: simulation_results.Rehearsed) -> JointSubject:
    """Build the subject of an analysis from simulated reports."""
    columns, digest = rehearsed.reports.columns, rehearsed.survey.digest

    def document(asked: Request) -> Mapping[str, Any]:
        key = (digest, sorted(rehearsed.setting.query.items()), asked)
        return joint().computed(subject.frame.name, key, lambda compute: compute(asked, columns))

    names = SurveyVariables(rehearsed.survey, words())
    return JointSubject(
        subject.frame, "rehearse", names, None, document, rehearsed, base="rehearse_base.html",
        endpoint_prefix=simulation_results.ENDPOINT_PREFIX,
    )  # fmt: skip


_PATH = "/dashboard/surveys/<name>/rehearse"
_SUMMARIES = (
    "Analyse tables of simulated people.", "Download the same as a file.",
    "Fit models to simulated people.", "Download the same as a file.",
)  # fmt: skip
_PICTURES = (
    "Download one question's charts of simulated people.", "Download one question's charts of simulated people.",
    "Download one question's figures of simulated people.",
)  # fmt: skip


def _route(endpoint: str, path: str, view: Any, summary: str) -> Route:  # noqa: ANN401
    return Route(f"{simulation_results.ENDPOINT_PREFIX}{endpoint}", "GET", f"{_PATH}{path}", view, summary)


ROUTES = (
    Route("studio.rehearse", "GET", _PATH, rehearse, "Show results of simulated people."),
    _route("download", "/export.json", download, "Download the same as a file."),
    *picture_routes(simulation_results.ENDPOINT_PREFIX, _PATH, _pictured, _PICTURES, has_etag=False),
    *joint_routes(simulation_results.ENDPOINT_PREFIX, _PATH, _simulated, _SUMMARIES),
    _route("files", "/files", files, "List files of simulated people."),
    _route("file", "/files/<file>", file, "Download one file of simulated people."),
)
"""Routes of the simulation and of its files."""
