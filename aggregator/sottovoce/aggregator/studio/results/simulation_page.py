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
from sottovoce.aggregator.export.catalogue import RELEASED
from sottovoce.aggregator.file_formats.provenance import json_text, marked
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.results.analysis_page import JointSubject, joint_routes
from sottovoce.aggregator.studio.results.analysis_page import results as joint
from sottovoce.aggregator.studio.results.arm_split import simulated_split
from sottovoce.aggregator.studio.results.download_files import (
    DRAWN_ANEW,
    OF_CLOSED,
    OFFERED,
    by_purpose,
    missing_formats,
    sums,
)
from sottovoce.aggregator.studio.results.files_page import file_reply
from sottovoce.aggregator.studio.results.results_page import card_of, figures_of, names_in
from sottovoce.aggregator.studio.results.results_view import ResultsView, view_of
from sottovoce.aggregator.studio.results.simulation_results import (
    ENDPOINT_PREFIX,
    Rehearsed,
    Subject,
    rehearsed_file,
    rehearsed_of,
    subject_of,
)
from sottovoce.aggregator.studio.results.svg_chart import Drawing, drawing, png_of
from sottovoce.aggregator.studio.results.view_options import ViewOptions


def rehearse(name: str) -> str:
    """Show the settings of the simulation and its results, question by question."""
    subject = subject_of(name)
    rehearsed = rehearsed_of(subject)
    if rehearsed is None:
        return _nothing(subject)
    view = _view(subject, rehearsed)
    absent = dict.fromkeys(("comparisons", "links", "trial", "twice"))
    names = {**names_in(view), **absent, "endpoint_prefix": ENDPOINT_PREFIX, "rehearsed": rehearsed}
    live = render_template("results_live.html", view=view, few=False, **names)
    return render_template(
        "results.html", page="rehearse", frame=subject.frame, view=view, live=live, etag="", refresh=0, **names
    )


def download(name: str) -> Response:
    """Download the simulated results as JSON, marked so that programs reject it as real results."""
    _, found = rehearsed_file(name)
    choices, revisions = ViewOptions.of(request.args), found.made.revisions
    results = analyse(revisions, choices.cohort, confidence=choices.confidence)
    group = None if choices.people is None else group_of(revisions, results, choices.people)
    document = {**marked(export_document(results, group=group), found.about), "set": found.made.document}
    return _file(
        Response(json_text(document), content_type="application/json"),
        f"{name}-{found.made.survey.revision}.json",
        found,
    )


def figures(name: str, question: str) -> Response:
    """Download the simulated estimates of a question as CSV; the first line marks them as simulated."""
    subject, found = rehearsed_file(name)
    return _file(figures_of(_view(subject, found), question, found.about), f"{name}-{question}.csv", found)


def chart(name: str, question: str) -> Response:
    """Download the simulated charts of a question as SVG, with a warning in the picture."""
    drawn, found = _drawn(name, question)
    picture = render_template("chart.svg", drawn=drawn)
    return _file(Response(picture, content_type="image/svg+xml"), f"{name}-{question}.svg", found)


def picture(name: str, question: str) -> Response:
    """Download the simulated charts of a question as PNG, with a warning in the picture."""
    drawn, found = _drawn(name, question)
    return _file(Response(png_of(drawn), content_type="image/png"), f"{name}-{question}.png", found)


def _drawn(name: str, question: str) -> tuple[Drawing, Rehearsed]:
    subject, found = rehearsed_file(name)
    view = _view(subject, found)
    return drawing(card_of(view, question), view, words(), words().translate("rehearse_svg", mark=found.mark)), found


def files(name: str) -> str:
    """List the files; with ``?sums=1`` also the size and SHA-256 of each."""
    subject = subject_of(name)
    rehearsed = rehearsed_of(subject)
    if rehearsed is None:
        return _nothing(subject)
    made, busy = {}, False
    if request.args.get("sums") == "1":
        try:
            made = sums(rehearsed.made.source(current_app.extensions["clock"]()), with_reports=True)
        except Refusal:
            busy = True
    return render_template(
        "files.html",
        page="rehearse",
        frame=subject.frame,
        survey=rehearsed.made.survey,
        offered=by_purpose(OFFERED.keys() - RELEASED.keys()),
        of_closed=OF_CLOSED,
        missing=missing_formats(),
        drawn_anew=DRAWN_ANEW,
        release=None,
        nothing=None,
        wave=None,
        made=made,
        busy=busy,
        endpoint_prefix=ENDPOINT_PREFIX,
        rehearsed=rehearsed,
    )


def file(name: str, file: str) -> Response:
    """Download a file of the simulation."""
    _, found = rehearsed_file(name)
    return file_reply(found.made.source(current_app.extensions["clock"]()), name, file)


def _view(subject: Subject, rehearsed: Rehearsed) -> ResultsView:
    choices, made = ViewOptions.of(request.args), rehearsed.made
    return view_of(made.revisions, choices, words(), subject.plan, simulated_split(made, choices))


def _nothing(subject: Subject) -> str:
    return render_template("rehearse_nothing.html", page="rehearse", frame=subject.frame, why=subject.why)


def _simulated(name: str, _page: str, file: str) -> JointSubject | Response:
    if file:
        return _asked_of(*rehearsed_file(name))
    subject = subject_of(name)
    rehearsed = rehearsed_of(subject)
    return Response(_nothing(subject)) if rehearsed is None else _asked_of(subject, rehearsed)


def _asked_of(subject: Subject, rehearsed: Rehearsed) -> JointSubject:
    """Build the subject of an analysis from simulated reports."""
    columns, digest = rehearsed.made.reports.columns, rehearsed.made.survey.digest

    def document(asked: Request) -> Mapping[str, Any]:
        key = (digest, sorted(rehearsed.query.items()), asked)
        return joint().computed(subject.frame.name, key, lambda compute: compute(asked, columns))

    names = SurveyVariables(rehearsed.made.survey, words())
    return JointSubject(subject.frame, "rehearse", names, None, document, rehearsed)


def _file(reply: Response, name: str, rehearsed: Rehearsed) -> Response:
    reply.headers["Content-Disposition"] = f"attachment; filename={rehearsed.about.prefix}{name}"
    return reply


_PATH = "/dashboard/surveys/<name>/rehearse"
_SUMMARIES = (
    "Analyse tables of simulated people.", "Download the same as a file.",
    "Fit models to simulated people.", "Download the same as a file.",
)  # fmt: skip


def _route(endpoint: str, path: str, view: Any, summary: str) -> Route:  # noqa: ANN401
    return Route(f"{ENDPOINT_PREFIX}{endpoint}", "GET", f"{_PATH}{path}", view, summary)


ROUTES = (
    Route("studio.rehearse", "GET", _PATH, rehearse, "Show results of simulated people."),
    _route("download", "/export.json", download, "Download the same as a file."),
    _route("chart", "/<question>.svg", chart, "Download one question's charts of simulated people."),
    _route("picture", "/<question>.png", picture, "Download one question's charts of simulated people."),
    _route("figures", "/<question>.csv", figures, "Download one question's figures of simulated people."),
    *joint_routes(ENDPOINT_PREFIX, _PATH, _simulated, _SUMMARIES),
    _route("files", "/files", files, "List files of simulated people."),
    _route("file", "/files/<file>", file, "Download one file of simulated people."),
)
"""Routes of the simulation and of its files."""
