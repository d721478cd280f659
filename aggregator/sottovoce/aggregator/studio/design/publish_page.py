"""Show the texts that publishing freezes, the privacy cost and the effect of a correction, and publish."""

from collections.abc import Callable
from dataclasses import replace

from flask import Response, current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures, panel_of
from sottovoce.aggregator.authoring.draft import SurveyDraft, whole_number
from sottovoce.aggregator.authoring.to_survey import (
    UNPLANNED,
    draft_of,
    file_columns,
    numbered_copies,
    survey_document,
    with_slugs,
)
from sottovoce.aggregator.authoring.validation import problems_of, refused_field, survey_of_draft
from sottovoce.aggregator.export.flow_chart import flow_chart
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.invitations.key_file import with_known_moduli, with_moduli
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.design.diff_view import DisplayedDifference, differences_in_words
from sottovoce.aggregator.studio.design.preview_page import shown_language
from sottovoce.aggregator.studio.design.sentences import Sentences, texts_in_words
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.survey_frame import draft_page
from sottovoce.aggregator.surveys.lifecycle import (
    fate_of_counts,
    may_stay_closed,
    next_revision,
    signed_before,
    survey_of,
)
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.shared.errors import RevisionConflict, SpecError, StorageError
from sottovoce.shared.spec import Survey

REFUSED = 422


def publish(name: str) -> str:
    """Show the survey as publishing will freeze it."""
    return _page(name, ())


def _page(name: str, refused: tuple[str, ...]) -> str:
    stored = drafts.load_draft(name)
    draft, figures = stored.draft, DraftFigures(stored.draft)
    survey, messages = _survey(name)
    earlier = storage().revisions(name)
    document = survey_document(replace(draft, chooses_columns=False), name)
    asked = {item.name: item for item in survey.items} if survey else {}
    columns = file_columns(document, draft.people, chooses=draft.chooses_columns)
    return render_template(
        "publish.html",
        page="design",
        frame=draft_page(name, "design"),
        name=name,
        draft=draft,
        unplanned=None if draft.people else UNPLANNED,
        version=stored.version,
        survey=survey,
        flow="" if survey is None else flow_chart(survey, words(), shown_language(survey)),
        texts=[] if survey is None else texts_in_words(survey, words()),
        panel=panel_of(draft, name),
        refused=[words().in_this_language(message) for message in (*refused, *messages)],
        grave=[problem for problem in problems_of(draft, name, figures) if problem.grave],
        earlier=earlier,
        pooled=fate_of_counts(earlier, survey) if survey else [],
        changed=_differences(draft, earlier),
        opens_again=bool(earlier) and earlier[-1].closed,
        may_stay_closed=survey is not None and may_stay_closed(storage(), survey),
        signed_before=signed_before(earlier, survey) if survey else 0,
        totals=figures.totals,
        sentences=Sentences(words()),
        columns=[(asked[each.name], each) for each in columns if each.name in asked],
        in_arms={item.name for item in survey.items if item.arms} if survey else {},
    )


def choose_column(name: str) -> ResponseReturnValue:
    """Put a public question of a draft, or the direct copy of a sensitive one, into the files, or take it out."""
    draft, asked = drafts.load_draft(name).draft, request.form.get("question", "")
    wanted: bool | None = True if request.form.get("shown") == "1" else False if draft.chooses_columns else None
    chosen = {number for number, each in numbered_copies(with_slugs(draft)) if each.name == asked}
    cards = tuple(
        replace(card, asked={**card.asked, "in_files": wanted}) if number in chosen else card
        for number, card in enumerate(draft.cards)
    )
    version = whole_number(request.form.get("version", ""), 9) or -1
    if drafts.save(name, version, replace(draft, cards=cards)) is None:
        return _refuse(name, words().translate("publish_changed"))
    return redirect(url_for("studio.publish", name=name, _anchor="columns"), 303)


def _survey(name: str, with_keys: Callable[..., Survey] = with_known_moduli) -> tuple[Survey | None, tuple[str, ...]]:
    """Return the survey as it would be published, or the reasons that prevent it.

    A page view must not create keys: without ``with_moduli``, only known public keys are filled in.
    """
    draft = drafts.load_draft(name).draft
    try:
        survey = survey_of_draft(draft, name)
        check_affordable(survey)
        return next_revision(storage(), with_keys(storage(), survey, current_app.extensions["settings"])), ()
    except SpecError as error:
        sentences = Sentences(words())
        return None, tuple(sentences.problem(refused_field(draft, problem)) for problem in error.problems)
    except StorageError as error:
        return None, (str(error),)


def _differences(draft: SurveyDraft, earlier: list[StoredSurvey]) -> list[DisplayedDifference]:
    """List a correction's differences from the previous revision, but the planned numbers: only drafts have them."""
    if not earlier:
        return []
    before = draft_of(survey_of(earlier[-1].document).document, draft.head.get("revision", 1))
    return differences_in_words(draft, replace(before, people=draft.people, group=draft.group), words())


def publish_now(name: str) -> ResponseReturnValue:
    """Publish a draft.

    One transaction publishes the survey; a second one deletes the draft. After a crash between the two, both exist, and
    publishing again is harmless.
    """
    survey, _ = _survey(name)
    stored = drafts.load_draft(name)
    if request.form.get("version") != str(stored.version):
        return _refuse(name, words().translate("publish_changed"))
    if survey is None:
        return _refuse(name)
    whole, refused = _survey(name, with_moduli)
    if whole is None:
        return _refuse(name, *refused)
    stays_closed = request.form.get("reopen") != "1" and may_stay_closed(storage(), whole)
    try:
        storage().publish(whole, who=g.who, stay_closed=stays_closed)
    except RevisionConflict:
        return _refuse(name, words().translate("publish_conflict"))
    drafts.finish(name, stored.draft)
    there = "studio.invite" if "studio.invite" in current_app.view_functions else "studio.settings"
    return redirect(url_for(there, name=name), 303)


def _refuse(name: str, *messages: str) -> Response:
    return Response(_page(name, messages), REFUSED)


_PUBLISH = "/dashboard/surveys/<name>/publish"

ROUTES = (
    Route("studio.publish", "GET", _PUBLISH, publish, "Show what publishing makes final."),
    Route("studio.publish_now", "POST", _PUBLISH, publish_now, "Publish a draft."),
    Route("studio.choose_column", "POST", f"{_PUBLISH}/columns", choose_column, "Choose public answers for the files."),
)
"""Routes of the page "Publish"."""
