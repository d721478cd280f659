"""Settings: what opens, closes, reopens and deletes a survey."""

from flask import current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.clock import day_of
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.design.trials import address_of_tried
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.studio.survey_frame import draft_page, published_page, stage_of
from sottovoce.aggregator.surveys.lifecycle import check_reopening, hours_of_waiting
from sottovoce.aggregator.surveys.stored_surveys import newest, survey_of
from sottovoce.shared.errors import ReportRejected

TOLD = ("not_typed", "cannot_reopen")
"""What the page may have to say of a step that was not done."""


def settings(name: str) -> str:
    """What can be done with a survey, and what cannot be undone."""
    revisions = storage().revisions(name)
    told = request.args.get("told", "")
    told = told if told in TOLD else ""
    if not revisions:
        draft = drafts.draft_named(name).draft
        frame = draft_page(name, "settings", draft.title)
        return render_template("draft_settings.html", page="settings", frame=frame, name=name, told=told)
    return render_template(
        "settings.html",
        page="settings",
        frame=published_page(name, "settings"),
        name=name,
        told=told,
        survey=survey_of(revisions[-1].document),
        stage=stage_of(revisions),
        revisions=revisions,
        links=[_link(row.name, row.digest) for row in revisions],
        has_draft=drafts.kept_draft(name) is not None,
        **_closing(name),
    )


def _closing(name: str) -> dict[str, object]:
    """What closing will show: the rest of so many cells, or nothing, also after another close; and what it may lose."""
    database = storage()
    was_closed = any(cell.at_close is not None for row in database.revisions(name) for cell in database.cells(row.key))
    alone = 0 if was_closed else database.unshown(name)
    return {"was_closed": was_closed, "alone": alone, "waits": hours_of_waiting(database, name)}


def close(name: str) -> ResponseReturnValue:
    """Admit no more reports; the first time, show all counts."""
    newest(storage(), name)
    storage().close_survey(name, day_of(current_app.extensions["clock"]()), g.who)
    return _back(name)


def reopen(name: str) -> ResponseReturnValue:
    """Admit reports again, until ids are forgotten and while the window lasts."""
    try:
        check_reopening(storage(), name, current_app.extensions["clock"]())
    except ReportRejected as error:
        if error.code == "unknown_survey":
            raise
        return _back(name, told="cannot_reopen")
    storage().reopen_survey(name, g.who)
    return _back(name)


def retire(name: str) -> ResponseReturnValue:
    """Let only the newest revision answer from now on."""
    last = newest(storage(), name)
    storage().publish(survey_of(last.document), retire=True, who=g.who)
    return _back(name)


def delete(name: str) -> ResponseReturnValue:
    """Delete everything of the survey but the lines that it existed, if its name was typed; a try-out by one click."""
    is_trial = survey_of(newest(storage(), name).document).trial
    if not is_trial and request.form.get("typed", "").strip() != name:
        return _back(name, told="not_typed")
    storage().delete_survey(name, g.who)
    storage().drafts.delete(name)
    current_app.extensions["joint_results"].drop()
    return redirect(address_of_tried(name) if is_trial else url_for("studio.surveys"), 303)


def _link(name: str, digest: str) -> str:
    return str(current_app.extensions["settings"].link(name, digest))


def _back(name: str, told: str | None = None) -> ResponseReturnValue:
    return redirect(url_for("studio.settings", name=name, told=told), 303)


_SETTINGS = "/dashboard/surveys/<name>/settings"
_HTML = ("text/html",)

ROUTES = (
    Route("studio.settings", "GET", _SETTINGS, settings, "What can be done with a survey.", Kind.PAGE, _HTML),
    Route("studio.close", "POST", f"{_SETTINGS}/close", close, "Close a survey.", Kind.PAGE, _HTML),
    Route("studio.reopen", "POST", f"{_SETTINGS}/reopen", reopen, "Open a survey again.", Kind.PAGE, _HTML),
    Route("studio.retire", "POST", f"{_SETTINGS}/retire", retire, "Retire earlier revisions.", Kind.PAGE, _HTML),
    Route("studio.delete", "POST", f"{_SETTINGS}/delete", delete, "Delete a survey.", Kind.PAGE, _HTML),
)
"""The page of a survey's life."""
