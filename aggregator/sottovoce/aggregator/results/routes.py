"""What researchers' programs use: publish, close, estimates, export."""

from typing import Any

from flask import Blueprint, Response, current_app, g, jsonify, request
from sottovoce.aggregator.access.publishing import owned
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.planning.affordable import check_affordable
from sottovoce.aggregator.planning.next_revision import next_revision
from sottovoce.aggregator.results.analysis import Results, analyse, revisions_of
from sottovoce.aggregator.results.export import export_document
from sottovoce.aggregator.survey_life import check_reopening
from sottovoce.aggregator.surveys import newest, reports_so_far
from sottovoce.aggregator.web.conditional import unless_known
from sottovoce.shared import canonical
from sottovoce.shared.errors import Problem, ReportRejected, SpecError
from sottovoce.shared.parse_survey import parse_survey

MAX_DIGITS = 4

blueprint = Blueprint("results", __name__, url_prefix="/api/v1")


def results_of(name: str, cohort: str | None, interval: str = DEFAULT_RULE.method, wave: str | None = None) -> Results:
    """
    The results of a survey, over all its revisions.

    Args:
        name: the survey's.
        cohort: a group's name; None for all respondents.
        interval: one of ``intervals.METHODS``.
        wave: as it stands in the address; None for all waves.

    Raises:
        ReportRejected: unknown survey.
        EstimateError: unknown cohort, unknown wave, or unknown interval.
    """
    revisions = revisions_of(current_app.extensions["storage"], name)
    if not revisions:
        raise ReportRejected("unknown_survey", "no survey has this name")
    return analyse(revisions, cohort, interval, _wave(wave))


@blueprint.get("/surveys")
def surveys() -> Response:
    """All revisions of the surveys that one may know of, with the number of reports so far, while open in steps."""
    keys = ("name", "revision", "digest", "closed", "retired")
    rows = [row for row in current_app.extensions["storage"].surveys() if g.actor.role(row.name)]
    return jsonify([{key: getattr(row, key) for key in keys} | {"reports": reports_so_far(row)} for row in rows])


@blueprint.post("/surveys/<name>/publish")
def publish(name: str) -> Response:
    """
    Publish the survey in the body; publishing the same one again changes nothing. ``?retire=1`` retires the revisions
    before it.
    """
    try:
        document = canonical.load(request.get_data())
    except ValueError as error:
        raise SpecError(f"the survey {error}") from None
    survey = parse_survey(document)
    if survey.name != name:
        raise SpecError([Problem("/name", "is not the name in the address")])
    check_affordable(survey)
    storage = current_app.extensions["storage"]
    with owned(storage, g.actor, name):
        stored = storage.publish(next_revision(storage, survey), retire=request.args.get("retire") == "1")
    return jsonify({"name": stored.name, "revision": stored.revision, "digest": stored.digest})


@blueprint.post("/surveys/<name>/close")
def close(name: str) -> Response:
    """Admit no more reports; the first time, show all counts."""
    storage = current_app.extensions["storage"]
    newest(storage, name)
    storage.close_survey(name, day_of(current_app.extensions["clock"]()))
    return jsonify({"name": name, "closed": True})


@blueprint.post("/surveys/<name>/reopen")
def reopen(name: str) -> Response:
    """Admit reports again, until ids are forgotten and while the window lasts; no close shows the rest again."""
    storage = current_app.extensions["storage"]
    check_reopening(storage, name, current_app.extensions["clock"]())
    storage.reopen_survey(name)
    return jsonify({"name": name, "closed": False})


@blueprint.delete("/surveys/<name>")
def delete(name: str) -> Response:
    """Delete everything of the survey but the lines that it existed; its name is never given again."""
    storage = current_app.extensions["storage"]
    newest(storage, name)
    storage.delete_survey(name)
    current_app.extensions["joint_results"].drop()
    return jsonify({"name": name, "deleted": True})


@blueprint.get("/surveys/<name>/estimates")
def estimates(name: str) -> Response:
    """Estimates from the last snapshot, for all or for ``?cohort=``, ``?wave=``; ``?interval=`` names a method."""
    return unless_known(jsonify(_document(name)))


@blueprint.get("/surveys/<name>/export")
def export(name: str) -> Response:
    """The same, as a file to keep."""
    reply = jsonify(_document(name))
    reply.headers["Content-Disposition"] = "attachment; filename=export.json"
    return unless_known(reply)


def _document(name: str) -> dict[str, Any]:
    interval = request.args.get("interval", DEFAULT_RULE.method)
    return export_document(results_of(name, request.args.get("cohort"), interval, request.args.get("wave")))


def _wave(text: str | None) -> int | None:
    """The wave asked for; no number is a wave that no survey has."""
    if not text:
        return None
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else -1
