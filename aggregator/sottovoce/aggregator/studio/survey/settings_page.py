"""Close, reopen and delete a survey, and retire earlier revisions, on the page "Settings"."""

from flask import current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.design.preview_page import address_of_tried
from sottovoce.aggregator.studio.survey_frame import frame_of, stage_of
from sottovoce.aggregator.surveys.lifecycle import check_reopening, hours_of_waiting, newest, survey_of
from sottovoce.shared.errors import ReportRejected

OUTCOMES = ("not_typed", "cannot_reopen")
"""Reasons for a refused step that the page has a message for."""


def settings(name: str) -> str:
    """Show the actions on a survey; for a draft, the action that deletes it."""
    revisions = storage().revisions(name)
    outcome = next((each for each in OUTCOMES if each == request.args.get("outcome")), "")
    frame = frame_of(name, "settings")
    if not revisions:
        return render_template("draft_settings.html", page="settings", frame=frame, name=name, outcome=outcome)
    return render_template(
        "settings.html",
        page="settings",
        frame=frame,
        name=name,
        outcome=outcome,
        survey=survey_of(revisions[-1].document),
        stage=stage_of(revisions),
        revisions=revisions,
        links=[str(current_app.extensions["settings"].link(row.name, row.digest)) for row in revisions],
        has_draft=drafts.find_draft(name) is not None,
        # Privacy: what closing would lose must not depend on reports that are not shown, or it would tell of each.
        was_closed=any(row.was_closed for row in revisions),
        waits=hours_of_waiting(storage(), name),
    )


def close(name: str) -> ResponseReturnValue:
    """Close the survey to reports; the first close also publishes all counts."""
    newest(storage(), name)
    storage().close_survey(name, day_of(current_app.extensions["clock"]()), g.who)
    return _redirect_back(name)


def reopen(name: str) -> ResponseReturnValue:
    """Reopen the survey; possible before its closing time, and until its report ids are deleted."""
    try:
        check_reopening(storage(), name, current_app.extensions["clock"]())
    except ReportRejected as error:
        if error.code == "unknown_survey":
            raise
        return _redirect_back(name, outcome="cannot_reopen")
    storage().reopen_survey(name, g.who)
    return _redirect_back(name)


def retire(name: str) -> ResponseReturnValue:
    """Retire all earlier revisions, so that only the newest one accepts reports."""
    storage().publish(survey_of(newest(storage(), name).document), retire=True, who=g.who)
    return _redirect_back(name)


def delete(name: str) -> ResponseReturnValue:
    """Delete the survey except its log entries, if the person typed its name; a test run needs no confirmation."""
    is_trial = survey_of(newest(storage(), name).document).trial
    if not is_trial and request.form.get("typed", "").strip() != name:
        return _redirect_back(name, outcome="not_typed")
    storage().delete_survey(name, g.who)
    storage().drafts.delete(name)
    current_app.extensions["joint_results"].drop(name)
    current_app.extensions["rendered_results"].drop(name)
    return redirect(address_of_tried(name) if is_trial else url_for("studio.surveys", deleted=1), 303)


def _redirect_back(name: str, outcome: str | None = None) -> ResponseReturnValue:
    return redirect(url_for("studio.settings", name=name, outcome=outcome), 303)


_SETTINGS = "/dashboard/surveys/<name>/settings"

ROUTES = (
    Route("studio.settings", "GET", _SETTINGS, settings, "Show the settings of a survey."),
    Route("studio.close", "POST", f"{_SETTINGS}/close", close, "Close a survey."),
    Route("studio.reopen", "POST", f"{_SETTINGS}/reopen", reopen, "Reopen a survey."),
    Route("studio.retire", "POST", f"{_SETTINGS}/retire", retire, "Retire earlier revisions."),
    Route("studio.delete", "POST", f"{_SETTINGS}/delete", delete, "Delete a survey."),
)
"""Routes of the page "Settings"."""
