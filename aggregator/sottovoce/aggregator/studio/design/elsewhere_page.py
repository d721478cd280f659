"""Show the lines that ask a question or block of a survey in a page of another system."""

import json

from flask import current_app, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.authoring.question_snippets import HOSTS, has_columns, snippet
from sottovoce.aggregator.http.routing import Query, Route
from sottovoce.aggregator.i18n.only_here import only_here
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.language import words
from sottovoce.aggregator.studio.survey_frame import draft_page, published_page
from sottovoce.shared.allowance import DEFAULT_ALLOWANCE
from sottovoce.shared.errors import SpecError
from sottovoce.shared.rational import show_epsilon
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
    stored = drafts.find_draft(name)
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
    return render_template(
        "elsewhere.html",
        page="elsewhere",
        frame=draft_page(name, "design", stored.draft.title) if stored else published_page(name, "design"),
        questions=found,
        asked=asked,
        system=system,
        systems=systems,
        address=address,
        refused=not is_frame_address(address),
        only_here=only_here(address, words()),
        lines=snippet(system, address, asked) if asked else "",
        document=json.dumps(asked.document, ensure_ascii=False, indent=2) if asked else "",
        most=show_epsilon(DEFAULT_ALLOWANCE.question),
    )


ROUTES = (
    Route(
        "studio.elsewhere",
        "GET",
        "/dashboard/surveys/<name>/elsewhere",
        elsewhere,
        "Show how to ask one question in another survey.",
        query=(
            Query("question", "Name of the question or block."),
            Query("system", f"The other system: {', '.join(HOSTS)}."),
            Query("frame", "Address of the question."),
        ),
    ),
)
"""Route of the page "Use in another survey"."""
