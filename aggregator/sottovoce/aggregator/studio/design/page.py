"""Show the page "Design": the questions of a draft, each with its privacy cost and precision.

Every button posts the whole form, so that no button loses what was typed elsewhere on the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

from flask import Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.authoring.conditions import (
    ConditionRow,
    EarlierQuestion,
    condition_mode,
    condition_rows,
    earlier_questions,
)
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures, Step, panel_of, rows_of, steps_of
from sottovoce.aggregator.authoring.draft import DECLINING, HARMS, DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.draft_arms import arm_on_card, arms_of, written_arms, written_plan
from sottovoce.aggregator.authoring.draft_blocks import (
    ProtectedTogether,
    compared,
    compared_selection,
    drawable,
    joinable_cards,
    suggested,
)
from sottovoce.aggregator.authoring.draft_orders import orders_of, written_last
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.sensitivity_levels import uses_of
from sottovoce.aggregator.authoring.slugs import is_given
from sottovoce.aggregator.authoring.to_survey import with_slugs
from sottovoce.aggregator.authoring.validation import problems_of
from sottovoce.aggregator.http.routing import Query, Route
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.design.diff_view import differences_in_words
from sottovoce.aggregator.studio.design.form import posted_draft
from sottovoce.aggregator.studio.design.preview_page import framing
from sottovoce.aggregator.studio.design.rare_fields import public_answers, screened_out
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.aggregator.studio.design.trials import try_out
from sottovoce.aggregator.studio.language import words
from sottovoce.aggregator.studio.request_context import storage
from sottovoce.aggregator.studio.survey_frame import draft_page, published_page
from sottovoce.aggregator.surveys.lifecycle import newest, survey_of
from sottovoce.shared.accounting import BELIEF_BEFORE
from sottovoce.shared.languages import LANGUAGES as OWN_NAMES
from sottovoce.shared.parse_item import MATRIX_TYPES
from sottovoce.shared.spec import Question
from sottovoce.shared.types import TYPES

CHANGED = 409
MOST_COMPARED = 10
"""Number of earlier versions for which the page says what changed."""


class BlockView(NamedTuple):
    """A block of the draft.

    Attributes:
        numbers: numbers of its cards.
        found: its people and odds; None if it is incomplete.
        ask: number of its questions that each person is asked; None for all.
        drawable: numbers to choose from instead of all.
    """

    name: str
    numbers: Sequence[int]
    found: ProtectedTogether | None
    ask: int | None
    drawable: Sequence[int]
    questions: int


class TogetherView(NamedTuple):
    """Blocks of the draft, and the numbers of the cards to choose from for a new one and of those chosen.

    ``found`` is people and odds of the chosen ones in one block; None if they cannot be in one.
    """

    blocks: Sequence[BlockView]
    joinable: Sequence[int]
    selected: Sequence[int]
    found: ProtectedTogether | None


def together_view(draft: SurveyDraft, form: Mapping[str, str]) -> TogetherView:
    """Return the view of a draft; without a posted form the page chooses the cards that a block would help."""
    blocks = [_block_view(draft, name) for name in draft.blocks]
    joinable = joinable_cards(draft)
    if not form:
        found = suggested(draft)
        return TogetherView(blocks, joinable, [] if found is None else found.numbers, found)
    chosen = selected_cards(form)
    selected = [number for number in joinable if number in chosen]
    return TogetherView(blocks, joinable, selected, compared_selection(draft, selected))


def _block_view(draft: SurveyDraft, name: str) -> BlockView:
    numbers = [number for number, card in enumerate(draft.cards) if card.block == name]
    questions = sum(rows_of(draft.cards[number]) for number in numbers)
    return BlockView(name, numbers, compared(draft, name), draft.ask_of(name), drawable(draft, name), questions)


def selected_cards(form: Mapping[str, str]) -> list[int]:
    """Return the numbers of the cards that are ticked in the posted form."""
    fields = (key.removeprefix("together.") for key in form if key.startswith("together."))
    return [int(number) for number in fields if number.isascii() and number.isdigit() and len(number) <= 4]


@dataclass(frozen=True)
class ItemView:
    """Display data of a question, note or matrix.

    Attributes:
        name: name that the author typed; "" if it was generated.
        file_name: name of the question in files.
        steps: effect of each level of protection on this item.
        question: the parsed question, for a matrix its first row; None for a note or an incomplete question.
        within: margin with the expected number of people, in words; "" if that number is unknown.
        margin: sentences about the precision, and a warning if people cannot decline.
        earlier: questions that the item's condition may refer to.
        mode: ``all`` or ``any`` of them must hold; ``kept`` if only a file can say it.
    """

    card: DraftItem
    name: str
    file_name: str
    uses: Sequence[str]
    steps: Sequence[Step]
    question: Question | None
    within: str
    margin: Sequence[str]
    earlier: Sequence[EarlierQuestion]
    conditions: Sequence[ConditionRow]
    mode: str


class EarlierVersion(NamedTuple):
    """Number of a version that can be restored, its time in words, and the fields that changed after it."""

    number: int
    moment: str
    changed: Sequence[str]


def design(name: str) -> ResponseReturnValue:
    """Show the form; for a published survey without a draft, the page that begins a correction."""
    stored = drafts.find_draft(name)
    if stored is None:
        frame = published_page(name, "design")
        survey = survey_of(storage().revisions(name)[-1].document)
        return render_template("frozen.html", page="design", frame=frame, survey=survey)
    versions = storage().drafts.versions(name)
    return _page(name, stored.draft, stored.version, _earlier_versions(name, stored.draft, versions[1:]))


def _items(figures: DraftFigures, sentences: Sentences) -> list[ItemView]:
    return [
        ItemView(
            card,
            card.name if is_given(card.name) else "",
            final.name,
            uses_of(str(card.treated.get("type", ""))),
            steps_of(figures.draft, card),
            found.question if found else None,
            sentences.within(found),
            [*sentences.margin(figures.draft, found), *sentences.way_out(figures.draft, card)],
            earlier_questions(figures.draft, number),
            condition_rows(card),
            condition_mode(card),
        )
        for number, (card, found, final) in enumerate(
            zip(figures.draft.cards, figures.of_items, with_slugs(figures.draft).cards, strict=True)
        )
    ]


def _earlier_versions(name: str, draft: SurveyDraft, versions: list[int]) -> list[EarlierVersion]:
    """List the earlier versions with time and what the next one changed; only the newest are compared."""
    found: list[EarlierVersion] = []
    for number in versions:
        earlier = drafts.find_draft(name, number) if len(found) < MOST_COMPARED else None
        changed = differences_in_words(earlier.draft, draft, words()) if earlier else []
        saved = earlier.draft.saved if earlier else ""
        moment = words().moment(datetime.fromisoformat(saved)) if saved else ""
        found.append(EarlierVersion(number, moment, [each.place for each in changed]))
        draft = earlier.draft if earlier else draft
    return found


def _page(name: str, draft: SurveyDraft, version: int, versions: list[EarlierVersion]) -> Response:
    figures, sentences = DraftFigures(draft), Sentences(words())
    problems = problems_of(draft, name, figures)
    # No correction may change the access.
    revisions = storage().revisions(name)
    access = survey_of(revisions[-1].document).document["access"] if revisions else ""
    page = render_template(
        "design.html",
        page="design",
        frame=draft_page(name, "design", draft.title),
        name=name,
        draft=draft,
        kept_access=access if isinstance(access, str) else "blind",
        version=version,
        versions=versions,
        problems=problems,
        focus=request.values.get("card") or _first_open(draft),
        shows_form=not any(problem.grave for problem in problems),
        items=_items(figures, sentences),
        indices=[0, *accumulate((rows_of(card) if card.type in (*TYPES, "matrix") else 0) for card in draft.cards)],
        totals=figures.totals,
        panel=panel_of(draft, name),
        together=together_view(draft, request.form),
        sentences=sentences,
        belief_before=words().percent(BELIEF_BEFORE, 0),
        harms=HARMS,
        arms=[*arms_of(draft)],
        written_arms=written_arms(draft),
        written_plan=written_plan(draft),
        arm_on_card=arm_on_card,
        orders_of=orders_of,
        public_answers=public_answers(draft),
        screened_out=screened_out(draft),
        written_last=written_last,
        declining=DECLINING,
        types=[kind for kind in TYPES if kind != "vector"],
        row_types=[kind for kind in TYPES if kind in MATRIX_TYPES],
        truths={kind: made.truth for kind, made in TYPES.items()},
        other_languages={tag: label for tag, label in OWN_NAMES.items() if tag not in draft.tags},
    )
    return framing(page)


def _first_open(draft: SurveyDraft) -> str:
    """Return the card to open first: the first private question, else the first question, else the survey's own."""
    private = [number for number, card in enumerate(draft.cards) if card.harm != "public"]
    return str(private[0]) if private else "0" if draft.cards else "survey"


def save_design(name: str) -> ResponseReturnValue:
    """Save the form as a new version, with the button's command applied; on an edit conflict show both versions."""
    form = request.form.to_dict()
    last = drafts.load_draft(name)
    base = drafts.find_draft(name, _number(form.get("version", ""))) or last
    typed = posted_draft(form, base.draft)
    word = form.get("do", "")
    if word == "together":
        word = f"together:{'.'.join(map(str, selected_cards(form)))}"
    mine = change(typed, word)
    # If the version that the page showed was pruned, ``drafts.save`` reports a conflict, and the page shows both.
    if not form.get("over") and form.get("of", base.draft.stamp) != base.draft.stamp:
        # The stamps differ: the page showed an earlier draft of the same name, since deleted or published.
        return _conflict_page(name, typed, last, form)
    typed_over = _number(form.get("over", "")) or _number(form.get("version", "")) or last.version
    by = form.get("by", "")
    version = drafts.save(name, typed_over, mine, again=by == "again")
    if version is None:
        return _conflict_page(name, typed, drafts.load_draft(name), form)
    if by:
        # The version just saved: with a newer one, the browser would overwrite what the person never saw.
        stored = drafts.find_draft(name, version) or drafts.load_draft(name)
        return _page(name, stored.draft, stored.version, [])
    kind, _, number = word.partition(":")
    earlier = drafts.find_draft(name, _number(number)) if kind == "version" else None
    if earlier is not None:
        drafts.save(name, version, replace(earlier.draft, stamp=mine.stamp))
    return _redirect_after(name, word, typed, mine, form.get("card", ""))


def _redirect_after(name: str, word: str, typed: SurveyDraft, mine: SurveyDraft, focus: str) -> ResponseReturnValue:
    """Redirect to the page that a button leads to.

    ``mine`` is the draft after the button's change of ``typed``; the card ``focus`` stays open unless the button opens
    another.
    """
    kind, _, given = word.partition(":")
    if kind == "publish":
        return redirect(url_for("studio.publish", name=name), 303)
    if kind == "try":
        return try_out(name)
    if kind == "elsewhere":
        return redirect(url_for("studio.elsewhere", name=name, question=given), 303)
    number = _number(given.partition(":")[0])
    cards = len(mine.cards)
    moved = {"copy": number + 1, "add": cards - 1}
    if kind in ("up", "down", "to"):
        # A card at the end of its block moves with the block.
        moved[kind] = next(
            (place for place, each in enumerate(mine.cards) if each in typed.cards[number : number + 1]), -1
        )
    card = moved.get(kind, number if kind in ("delete", "uncondition", "step", "absent") else -1)
    if 0 <= card < cards:
        return redirect(url_for("studio.design", name=name, card=card, _anchor=f"q{card}"), 303)
    focus = {"language": "survey", "together": "together", "separate": "together"}.get(kind, focus)
    return redirect(
        url_for("studio.design", name=name, card=focus if focus in _FOCI or focus.isdecimal() else None), 303
    )


def _conflict_page(name: str, mine: SurveyDraft, theirs: drafts.LoadedDraft, form: dict[str, str]) -> Response:
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
    """Begin a correction of a published survey; a test run has none, since a changed survey gets a new test run."""
    if survey_of(newest(storage(), name).document).trial:
        return redirect(url_for("studio.design", name=name), 303)
    drafts.begin_correction(name)
    return redirect(url_for("studio.design", name=name), 303)


def discard(name: str) -> ResponseReturnValue:
    """Delete a draft, if the person typed its name as confirmation."""
    drafts.load_draft(name)
    if request.form.get("typed", "").strip() != name:
        return redirect(url_for("studio.settings", name=name, outcome="not_typed"), 303)
    drafts.forget(name)
    return redirect(url_for("studio.surveys"), 303)


def _number(text: str) -> int:
    return int(text[:12]) if text.isascii() and text.isdigit() else 0


_DESIGN = "/dashboard/surveys/<name>/design"
_FOCI = ("people", "survey", "together", "whole")

ROUTES = (
    Route("studio.design", "GET", _DESIGN, design, "Show the questions of a draft.",
          query=(Query("card", "The card that is open: its number from 0, people, survey, together or whole."),)),
    Route("studio.save_design", "POST", _DESIGN, save_design, "Save changes of a draft."),
    Route("studio.correct", "POST", f"{_DESIGN}/correct", correct, "Begin a correction."),
    Route("studio.discard", "POST", f"{_DESIGN}/discard", discard, "Delete a draft."),
)  # fmt: skip
"""Routes of the page "Design"."""
