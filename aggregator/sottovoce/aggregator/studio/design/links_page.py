"""Publish questions that are asked by a link, and withdraw them."""

import json

from flask import current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.only_here import only_here
from sottovoce.aggregator.studio.language import words
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.by_link.link_question import parse_link
from sottovoce.shared.errors import SpecError


def links() -> str:
    """Show the published questions with their addresses, and the form that publishes one."""
    return _page()


def publish_link() -> ResponseReturnValue:
    """Publish the question in the uploaded file, and show its address."""
    sent = request.files.get("file")
    try:
        link = parse_link(parse_yaml(sent.read() if sent else b""))
    except SpecError as error:
        return _page(str(error)), 422
    storage().link_questions.publish(link.digest, link.canonical, g.who)
    return redirect(url_for("studio.links", _anchor=link.digest), 303)


def withdraw_link() -> ResponseReturnValue:
    """Withdraw a question: its own publisher, or an admin."""
    storage().link_questions.withdraw(request.form.get("digest", ""), g.who, g.actor.is_admin)
    return redirect(url_for("studio.links"), 303)


def _page(refused: str = "") -> str:
    address = f"{current_app.extensions['settings'].url}/q/1/"
    published = [
        (parse_link(json.loads(each.document)), g.actor.is_admin or each.who == g.who)
        for each in storage().link_questions.all()
    ]
    return render_template(
        "links.html", published=published, address=address, only_here=only_here(address, words()), refused=refused
    )


_PATH = "/dashboard/questions"

ROUTES = (
    Route("studio.links", "GET", _PATH, links, "Show the questions that are asked by a link."),
    Route("studio.publish_link", "POST", _PATH, publish_link, "Publish a question that is asked by a link."),
    Route("studio.withdraw_link", "POST", f"{_PATH}/withdraw", withdraw_link, "Withdraw such a question."),
)
"""Routes of the page "Questions asked by a link"."""
