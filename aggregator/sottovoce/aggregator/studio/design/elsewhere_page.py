"""Ask a question or block in another system: the lines for its page, and questions that are asked by a link."""

import json

from flask import current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.authoring.question_snippets import has_columns, snippet
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import only_here
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.survey_frame import draft_page
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.by_link.link_question import parse_link
from sottovoce.shared.errors import SpecError
from sottovoce.shared.single_question import asked_alone, is_frame_address

SYSTEMS = {
    "qualtrics": "Qualtrics",
    "limesurvey": "LimeSurvey",
    "redcap": "REDCap",
    "formr": "formr",
    "otree": "oTree",
    "jspsych": "jsPsych",
    "surveyjs": "SurveyJS",
    "html": "",
}
"""Names of the systems, which no language translates; of any page there is a sentence."""


def elsewhere(name: str) -> ResponseReturnValue:
    """Show the snippet of one question or block for one system, what that system stores, and how to analyze its export.

    A draft with mistakes leads back to the page that lists them.
    """
    try:
        found = asked_alone(drafts.current_survey(name))
    except SpecError:
        return redirect(url_for("studio.design", name=name, _anchor="problems"), 303)
    asked = next((each for each in found if each.name == request.args.get("question")), None)
    asked = asked or (found[0] if found else None)
    systems = {key: label for key, label in SYSTEMS.items() if asked is None or has_columns(key, asked)}
    system = request.args.get("system", "")
    system = system if system in systems else next(iter(systems))
    address = request.args.get("frame", "").strip() or f"{current_app.extensions['settings'].url}/q/1/"
    script = current_app.extensions["assets"].get("question.js").asset.body
    return render_template(
        "elsewhere.html",
        page="elsewhere",
        frame=draft_page(name, "design"),
        questions=found,
        asked=asked,
        system=system,
        systems=systems,
        address=address,
        refused=not is_frame_address(address),
        only_here=only_here(address, words()),
        lines=snippet(system, address, asked, script) if asked else "",
        document=json.dumps(asked.document, ensure_ascii=False, indent=2) if asked else "",
        most=words().write.epsilon(DEFAULT_ALLOWANCE.question),
    )


def links() -> str:
    """Show the published questions with their addresses, and the form that publishes one."""
    return _links_page()


def publish_link() -> ResponseReturnValue:
    """Publish the question in the uploaded file, and show its address."""
    sent = request.files.get("file")
    try:
        link = parse_link(parse_yaml(sent.read() if sent else b""))
    except SpecError as error:
        return _links_page(str(error)), 422
    storage().link_questions.publish(link.digest, link.canonical, g.who)
    return redirect(url_for("studio.links", _anchor=link.digest), 303)


def withdraw_link() -> ResponseReturnValue:
    """Withdraw a question: its own publisher, or an admin."""
    storage().link_questions.withdraw(request.form.get("digest", ""), g.who, g.actor.is_admin)
    return redirect(url_for("studio.links"), 303)


def _links_page(refused: str = "") -> str:
    address = f"{current_app.extensions['settings'].url}/q/1/"
    published = [
        (parse_link(json.loads(each.document)), g.actor.is_admin or g.who in each.who)
        for each in storage().link_questions.all()
    ]
    return render_template(
        "links.html", published=published, address=address, only_here=only_here(address, words()), refused=refused
    )


_ELSEWHERE, _LINKS = "/dashboard/surveys/<name>/elsewhere", "/dashboard/questions"

ROUTES = (
    Route("studio.elsewhere", "GET", _ELSEWHERE, elsewhere, "Show how to ask one question in another survey."),
    Route("studio.links", "GET", _LINKS, links, "Show the questions that are asked by a link."),
    Route("studio.publish_link", "POST", _LINKS, publish_link, "Publish a question that is asked by a link."),
    Route("studio.withdraw_link", "POST", f"{_LINKS}/withdraw", withdraw_link, "Withdraw such a question."),
)
"""Routes of the pages "Use in another survey" and "Questions asked by a link"."""
