"""Design: the questions of a draft, with what they cost and give beside them; each button posts the whole form."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flask import Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.authoring.conditions import EarlierQuestion, earlier_questions, simple_condition
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures, Step, panel_of, steps_of
from sottovoce.aggregator.authoring.draft import DECLINING, HARMS, DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.from_survey import draft_of
from sottovoce.aggregator.authoring.sensitivity_levels import uses_of
from sottovoce.aggregator.authoring.slugs import is_given
from sottovoce.aggregator.authoring.validation import problems_of
from sottovoce.aggregator.http.routing import Kind, Route
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.design.diff_view import differences_in_words
from sottovoce.aggregator.studio.design.form import posted_draft
from sottovoce.aggregator.studio.design.sentences import Sentences, about
from sottovoce.aggregator.studio.design.trials import try_out
from sottovoce.aggregator.studio.language import NAMES, words
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.studio.survey_frame import draft_page, published_page
from sottovoce.aggregator.surveys.stored_surveys import newest, survey_of
from sottovoce.shared.accounting import BELIEF_BEFORE
from sottovoce.shared.spec import Question
from sottovoce.shared.types import TYPES

CHANGED = 409


@dataclass(frozen=True)
class ItemView:
    """
    What the page shows of one question, note or matrix.

    Attributes:
        card: as the draft has it.
        name: that somebody has given it, or "".
        uses: what its answers may be for.
        steps: what each step of protection would mean for it.
        question: None for a note, and for an incomplete question; of a matrix, its first row.
        margin: sentences about its precision.
        earlier: questions that it may depend on.
        condition: as ``simple_condition`` has it.
    """

    card: DraftItem
    name: str
    uses: Sequence[str]
    steps: Sequence[Step]
    question: Question | None
    margin: Sequence[str]
    earlier: Sequence[EarlierQuestion]
    condition: str


def design(name: str) -> str:
    """The form; of a published survey, what it takes to correct it."""
    kept = drafts.kept_draft(name)
    if kept is None:
        frame = published_page(name, "design")
        survey = survey_of(storage().revisions(name)[-1].document)
        return render_template("frozen.html", page="design", frame=frame, survey=survey)
    versions = storage().drafts.versions(name)
    return _page(name, kept.draft, kept.version, versions[1:])


def _kept_access(name: str) -> str:
    """Who may answer what was published, which no correction changes; "" of what was not."""
    revisions = storage().revisions(name)
    return draft_of(survey_of(revisions[-1].document).document).access if revisions else ""


def _items(figures: DraftFigures, sentences: Sentences) -> list[ItemView]:
    return [
        ItemView(
            card,
            card.name if is_given(card.name) else "",
            uses_of(str(card.treated.get("type", ""))),
            steps_of(figures.draft, card),
            found.question if found else None,
            sentences.margin(figures.draft, found),
            earlier_questions(figures.draft, number),
            simple_condition(card),
        )
        for number, (card, found) in enumerate(zip(figures.draft.cards, figures.of_items, strict=True))
    ]


def _page(name: str, draft: SurveyDraft, version: int, versions: list[int]) -> str:
    figures, sentences = DraftFigures(draft), Sentences(words())
    return render_template(
        "design.html",
        page="design",
        frame=draft_page(name, "design", draft.title),
        name=name,
        draft=draft,
        kept_access=_kept_access(name),
        version=version,
        versions=versions,
        problems=problems_of(draft, name, figures),
        items=_items(figures, sentences),
        totals=figures.totals,
        panel=panel_of(draft, name),
        sentences=sentences,
        belief_before=words().percent(BELIEF_BEFORE, 0),
        harms=HARMS,
        declining=DECLINING,
        types=[kind for kind in TYPES if kind != "vector"],
        truths={kind: made.truth for kind, made in TYPES.items()},
        about=about,
        other_languages={tag: told for tag, told in NAMES.items() if tag not in draft.tags},
    )


def save_design(name: str) -> ResponseReturnValue:
    """Keep what was typed as another version, after what the button says; of two people, the second sees both texts."""
    form = request.form.to_dict()
    last = drafts.draft_named(name)
    base = drafts.kept_draft(name, _number(form.get("version", ""))) or last
    typed = posted_draft(form, base.draft)
    word = form.get("do", "")
    mine = change(typed, word)
    # A version that is gone is no version to save over: whoever kept a page open that long is shown both texts.
    if not form.get("over") and form.get("of", base.draft.stamp) != base.draft.stamp:
        # That version was of a draft that had this name before.
        return _both(name, typed, last, form)
    typed_over = _number(form.get("over", "")) or _number(form.get("version", "")) or last.version
    by = form.get("by", "")
    version = drafts.save(name, typed_over, mine, again=by == "again")
    if version is None:
        return _both(name, typed, drafts.draft_named(name), form)
    if by:
        return _to_the_script(name, version)
    _go_back(name, word, version, mine.stamp)
    return _onwards(name, word, len(mine.cards))


def _to_the_script(name: str, version: int) -> Response:
    """The page of this very version: one that came since would be saved over without having been seen."""
    kept = drafts.kept_draft(name, version) or drafts.draft_named(name)
    return Response(_page(name, kept.draft, kept.version, []))


def _go_back(name: str, word: str, version: int, stamp: str) -> None:
    """Make an earlier version the newest one; what was typed stays among the versions."""
    kind, _, number = word.partition(":")
    earlier = drafts.kept_draft(name, _number(number)) if kind == "version" else None
    if earlier is not None:
        drafts.save(name, version, replace(earlier.draft, stamp=stamp))


def _onwards(name: str, word: str, cards: int) -> ResponseReturnValue:
    kind, _, given = word.partition(":")
    if kind == "publish":
        return redirect(url_for("studio.publish", name=name), 303)
    if kind == "try":
        return try_out(name)
    number = _number(given.partition(":")[0])
    moved = {"up": number - 1, "down": number + 1, "copy": number + 1, "add": cards - 1}
    card = moved.get(kind, number if kind in ("delete", "uncondition", "step", "absent") else -1)
    return redirect(url_for("studio.design", name=name, _anchor=f"q{card}" if 0 <= card < cards else None), 303)


def _both(name: str, mine: SurveyDraft, theirs: drafts.LoadedDraft, form: dict[str, str]) -> Response:
    page = render_template(
        "conflict.html",
        page="design",
        frame=draft_page(name, "design", theirs.draft.title),
        name=name,
        found=differences_in_words(mine, theirs.draft, words()),
        theirs=theirs.version,
        posted={key: value for key, value in form.items() if key not in ("do", "over", "by", "form_token")},
    )
    return Response(page, CHANGED, content_type="text/html; charset=utf-8")


def correct(name: str) -> ResponseReturnValue:
    """Begin a correction of a published survey; a try-out has none: what it tries is changed and tried out again."""
    if survey_of(newest(storage(), name).document).trial:
        return redirect(url_for("studio.design", name=name), 303)
    drafts.begin_correction(name)
    return redirect(url_for("studio.design", name=name), 303)


def discard(name: str) -> ResponseReturnValue:
    """Take a draft out, if its name was typed."""
    drafts.draft_named(name)
    if request.form.get("typed", "").strip() != name:
        return redirect(url_for("studio.settings", name=name, told="not_typed"), 303)
    drafts.forget(name)
    return redirect(url_for("studio.surveys"), 303)


def _number(text: str) -> int:
    return int(text[:12]) if text.isascii() and text.isdigit() else 0


_DESIGN = "/dashboard/surveys/<name>/design"
_HTML = ("text/html",)

ROUTES = (
    Route("studio.design", "GET", _DESIGN, design, "The questions of a draft.", Kind.PAGE, _HTML),
    Route("studio.save_design", "POST", _DESIGN, save_design, "Keep what was typed.", Kind.PAGE, _HTML),
    Route("studio.correct", "POST", f"{_DESIGN}/correct", correct, "Begin a correction.", Kind.PAGE, _HTML),
    Route("studio.discard", "POST", f"{_DESIGN}/discard", discard, "Take a draft out.", Kind.PAGE, _HTML),
)
"""The page Design."""
