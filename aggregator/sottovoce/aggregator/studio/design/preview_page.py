"""Preview the real form with a simulated aggregator, at a size and in a language that you choose; publish test runs.

The survey is embedded in the form, for a sandboxed frame; the page loads nothing from a server.
"""

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple, Protocol

from flask import Response, current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.accounts.ownership import claim_name
from sottovoce.aggregator.authoring.draft import whole_number
from sottovoce.aggregator.authoring.trial import is_trial_name_of, trial_name, trial_of
from sottovoce.aggregator.authoring.validation import problems_of
from sottovoce.aggregator.http import problems
from sottovoce.aggregator.http.headers import POLICY
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words, only_here
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.aggregator.studio.request_context import shown_institution, words
from sottovoce.aggregator.studio.survey_frame import draft_page
from sottovoce.aggregator.surveys.lifecycle import reports_so_far, survey_of
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.shared.errors import SpecError
from sottovoce.shared.languages import LANGUAGES as OWN_NAMES
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey
from sottovoce.shared.survey_keys import DEFAULTS, REQUIRED, SURVEY_TEXTS


class Trial(NamedTuple):
    """Test run: a survey of its own, with its link for respondents and the reader's role on it.

    ``only_here`` warns that the link works on this computer or its network only; "" for a public link.
    """

    name: str
    link: str
    reports: int
    closed: bool
    role: str
    only_here: str


def trials_of(name: str) -> Sequence[Trial]:
    """List the test runs of a survey or draft on which the reader has a role, newest first."""
    trials = [
        trial_in(row)
        for row in storage().surveys()
        if is_trial_name_of(name, row.name) and survey_of(row.document).trial and g.actor.role(row.name)
    ]
    return sorted(trials, key=lambda trial: -int(trial.name.rpartition("-")[2]))


def trial_in(row: StoredSurvey) -> Trial:
    """Build the description of a stored test run."""
    link = current_app.extensions["settings"].link(row.name, row.digest)
    return Trial(row.name, link, reports_so_far(row), row.closed, g.actor.role(row.name), only_here(link, words()))


def try_out(name: str) -> ResponseReturnValue:
    """Publish the current state of the survey as a test run, under a name of its own, and redirect to its results.

    They show its link. An incomplete survey redirects to the preview, which lists the problems.
    """
    try:
        today = current_app.extensions["clock"]().date()
        survey = trial_of(drafts.current_survey(name), trial_name(name, drafts.taken_names()), today)
        check_affordable(survey)
    except SpecError:
        return redirect(url_for("studio.preview", name=name), 303)
    with claim_name(storage(), g.actor, survey.name):
        storage().publish(survey, who=g.who)
    # The survey's team has the same roles on the test run.
    access = storage().access
    for account, role in access.granted(name):
        if account.id != g.actor.account.id:
            access.by(g.who).grant(account.id, survey.name, role)
    return redirect(url_for("studio.results", name=survey.name), 303)


def address_of_tried(trial: str) -> str:
    """Return the URL of the preview of the tested survey, if it still exists; else of the survey list."""
    names = (*[draft.name for draft in storage().drafts.drafts()], *(row.name for row in storage().surveys()))
    found = [name for name in names if is_trial_name_of(name, trial) and g.actor.role(name)]
    return url_for("studio.preview", name=found[0], _anchor="trials") if found else url_for("studio.surveys")


SIZES = ("phone", "desktop")
RIGHT_TO_LEFT = "ar"
"""Language of the form that is written from right to left."""

FRAMING = {"Content-Security-Policy": f"{POLICY}; frame-src 'self'"}
"""Headers of a page that may hold the form in a frame."""

_NO_TOKEN = "0" * 16
"""Placeholder token in the link of the preview, if the survey asks for a token; it was never issued."""


class PreviewedForm(Protocol):
    """Page of the form in pieces, with the hashes for its content security policy."""

    @property
    def pieces(self) -> tuple[str, str, str]:
        """The page split at two places: the setup (JSON), and the banner above the form."""

    @property
    def script(self) -> str:
        """Source expression for the form's script in a content security policy."""

    @property
    def style(self) -> str:
        """Source expression for the form's style in a content security policy."""


def policy(form: PreviewedForm) -> str:
    """Return the content security policy of the frame.

    ``sandbox`` without ``allow-same-origin`` gives it an opaque origin without storage or cookies. It runs only the
    form's script, and ``default-src 'none'`` forbids every request.
    """
    return (
        f"sandbox allow-scripts allow-forms; default-src 'none'; script-src {form.script}; style-src {form.style}; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    )


def pretended(survey: Survey) -> Survey:
    """Return the survey for the preview; blind access is replaced, because a draft has no keys yet.

    Blind access becomes token access, or open access if the survey memoizes draws, which tokens do not allow.
    """
    if not survey.is_blind:
        return survey
    return parse_survey({**survey.document, "access": "open" if survey.memoized else "token"})


def page_of(
    form: PreviewedForm, survey: Survey, catalogues: Mapping[str, Any], languages: Sequence[str], banner: str,
    at: int | None = None, institution: Mapping[str, str] | None = None,
) -> str:  # fmt: skip
    """Build the page of the form.

    Args:
        catalogues: catalogues of the form, by language.
        languages: preferred languages of the simulated device, best first.
        banner: plain text above the form, in the first language.
        at: index of the question to begin with; None for the form's first step.
        institution: what the form shows of it; empty or None if nothing.
    """
    shown = pretended(survey)
    held: dict[str, Any] = {"name": shown.name, "digest": shown.digest[:32], "text": shown.canonical.decode()}
    held |= {"institution": institution} if institution else {}
    setup = {"catalogues": catalogues, "languages": list(languages), "survey": held, "at": at}
    # Escape "<": otherwise a text with "</script>" would end the element that holds the JSON.
    written = json.dumps(setup, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    before, between, after = form.pieces
    return f'{before}{written}{between}<aside class="preview" dir="auto">{escape(banner)}</aside>\n{after}'


def preview(name: str) -> Response:
    """Show the form in a frame; for an incomplete draft, list its problems."""
    stored = drafts.find_draft(name)
    survey = previewed_survey(name)
    size = request.args.get("size", "")
    page = render_template(
        "preview.html",
        page="preview",
        frame=draft_page(name, "preview"),
        name=name,
        survey=survey,
        size=size if size in SIZES else SIZES[0],
        chosen=shown_language(survey) if survey else "",
        offered=_offered(survey) if survey else {},
        right_to_left=RIGHT_TO_LEFT,
        anchor=anchor_of(survey),
        lacking=[each for each in problems_of(stored.draft, name) if each.grave] if stored and not survey else [],
        sentences=Sentences(words()),
        may_try=g.actor.role(name) == "owner",
        trials=trials_of(name),
    )
    return Response(page, headers=FRAMING)


def anchor_of(survey: Survey | None) -> str | None:
    """Return what the form's link has after its hash sign: a token, if the survey asks for one."""
    return f"t={_NO_TOKEN}" if survey and pretended(survey).asks_for_token else None


# Keys of a survey for which the form has no parts of its own.
_USUAL = {
    *(*REQUIRED, *DEFAULTS, *SURVEY_TEXTS, "opens", "closes", "report_labels"),
    *("researcher", "check", "after", "trial", "replaces"),
}
# Keys and mechanisms within it that have such parts; a text that looks like one does no harm.
_RARE = re.compile(rb'"(joint_rr|memoized_rr|order|own_coin|innocuous|screen_out)"')

# A form with more items may have sections.
_LONG = 12


def previewed_survey(name: str) -> Survey | None:
    """Return the survey as its draft or newest revision has it; None while it is incomplete."""
    try:
        return drafts.current_survey(name)
    except SpecError:
        return None


def _offered(survey: Survey) -> dict[str, str]:
    """Map languages to their own names: first those of the survey, then others that the form is translated into."""
    return {tag: OWN_NAMES.get(tag, tag) for tag in (*survey.title, *LANGUAGES)}


def shown_language(survey: Survey) -> str:
    """Return the language in ``?in=``; else the reader's, if the survey has it; else the survey's default."""
    if request.args.get("in", "") in _offered(survey):
        return request.args["in"]
    return words().language if words().language in survey.title else survey.default_language


def preview_form(name: str, same: str) -> Response:
    """Serve the form; the URL ends like a survey link, because the form reads the survey's name from it."""
    make = current_app.extensions["preview"]
    survey = previewed_survey(name)
    if make is None or survey is None or same != name:
        return problems.response("not_found")
    waits = survey.send_within_hours + survey.send_at_seconds > 0
    institution = shown_institution(name).in_form
    own_parts = survey.document.keys() - _USUAL or _RARE.search(survey.canonical)
    is_rare = bool(institution or survey.is_blind or waits or own_parts or len(survey.items) > _LONG)
    form, tag = make(is_rare), shown_language(survey)
    spoken = tag if tag in LANGUAGES else LANGUAGES[0]
    # Embed two catalogues at most, to keep the frame small; the page around it offers the other languages.
    assets, tags = current_app.extensions["assets"], {spoken, survey.default_language}
    packed = {each: assets.get(f"catalogues/{each}.json") for each in LANGUAGES if each in tags}
    catalogues = {each: json.loads(found.asset.body) for each, found in packed.items() if found}
    at = whole_number(request.args.get("at", ""))
    page = page_of(form, survey, catalogues, [tag, spoken], Words(spoken).translate("preview_banner"), at, institution)
    reply = Response(page)
    reply.headers["Content-Security-Policy"] = policy(form)
    return reply


_PREVIEW = "/dashboard/surveys/<name>/preview"

ROUTES = (
    Route("studio.preview", "GET", _PREVIEW, preview, "Preview the form as respondents will see it."),
    Route("studio.preview_form", "GET", f"{_PREVIEW}/s/<same>", preview_form,
          "Serve the form with a simulated aggregator."),
    Route("studio.try_out", "POST", f"{_PREVIEW}/trial", try_out, "Start a test run."),
)  # fmt: skip
"""Routes of the page "Preview", of its frame, and to publish a test run; ``studio.delete`` deletes one."""
