"""Manage links for ethics boards, as the owner of a survey: content, expiry date and revocation."""

from functools import partial

from flask import current_app, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import MOST_VIEW_DAYS, VIEW_DAYS, new_link, storage
from sottovoce.aggregator.clock import date_of
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.storage.accounts.models import BoardView
from sottovoce.aggregator.studio.request_context import acted, days_asked, tables, today
from sottovoce.aggregator.studio.survey_frame import published_page
from sottovoce.aggregator.surveys.lifecycle import newest


def change_board(name: str) -> ResponseReturnValue:
    """Make a link, shown only in this reply, or revoke one."""
    act = request.form.get("act", "")
    if act == "end":
        # Only links of this survey are searched, so that the form cannot name one of another survey.
        for view in tables().views(name):
            if view.number == request.form.get("view"):
                tables().end_view(view.hash)
        return redirect(url_for("studio.board", name=name), 303)
    if act != "make":
        raise Refusal("malformed")
    return acted(partial(_make, name), partial(board, name), lambda: url_for("studio.board", name=name))


def _make(name: str) -> str:
    """Make a link to the newest revision; return its URL. Raise AccessRefused if days are missing or out of range."""
    days = days_asked("a link", MOST_VIEW_DAYS)
    secret, digest = new_link()
    given = request.form.get("results", "")
    shown, public, until = given in ("yes", "public"), given == "public", today() + days
    tables().add_view(BoardView(digest, name, newest(storage(), name).digest, shown, until, public))
    return f"{current_app.extensions['settings'].url}/dashboard/{'shared' if public else 'ethics'}?link={secret}"


def board(name: str, link: str = "", refused: str = "") -> str:
    """Show the links of a survey, and the form that makes one."""
    digest = newest(storage(), name).digest
    rows = [
        (view, date_of(view.expires_on), view.expires_on < today(), view.digest != digest)
        for view in tables().views(name)
    ]
    return render_template(
        "board.html",
        page="board",
        frame=published_page(name, "board"),
        rows=rows,
        link=link,
        refused=refused,
        days=VIEW_DAYS,
        most=MOST_VIEW_DAYS,
    )


_PATH = "/dashboard/surveys/<name>/board"

ROUTES = (
    Route("studio.board", "GET", _PATH, board, "List links for ethics boards."),
    Route("studio.change_board", "POST", _PATH, change_board, "Create or revoke a link for an ethics board."),
)
"""Routes of the links for ethics boards."""
