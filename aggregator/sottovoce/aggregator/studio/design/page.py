"""Show the page "Design": the questions of a draft, each with its privacy cost and precision.

Every button posts the whole form, so that no button loses what was typed elsewhere on the page. The posted form is
parsed into a draft, starting from the version that the page showed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import count, takewhile
from typing import Any, NamedTuple

from flask import Response, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.authoring import draft as draft_model, draft_blocks
from sottovoce.aggregator.authoring.conditions import (
    ConditionRow,
    EarlierQuestion,
    answers_of,
    conditions_of,
    earlier_questions,
    names_of,
    posted_conditions,
)
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures, Step, panel_of, steps_of
from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft, part_at, whole_number, with_part
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.sensitivity_levels import MOST_POINTS, posted_scale, scale_of, typed_ends, uses_of
from sottovoce.aggregator.authoring.to_survey import numbered_copies, set_direct_half, with_slugs
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.studio import drafts
from sottovoce.aggregator.studio.design.diff_view import differences_in_words
from sottovoce.aggregator.studio.design.preview_page import FRAMING, anchor_of, try_out
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.survey_frame import draft_page, published_page
from sottovoce.aggregator.surveys.lifecycle import newest, survey_of
from sottovoce.shared.accounting import BELIEF_BEFORE
from sottovoce.shared.languages import LANGUAGES as OWN_NAMES
from sottovoce.shared.mechanisms.innocuous_rr import PROCEDURES, UNRELATED
from sottovoce.shared.order.orders import RANDOM, REVERSED_HALF, SCALES
from sottovoce.shared.parse_item import CONDITIONS, MATRIX_TYPES
from sottovoce.shared.spec import Question
from sottovoce.shared.survey_keys import SURVEY_MARKS
from sottovoce.shared.types import TYPES

PostedForm = Mapping[str, str]

KEPT = "kept"
"""Value of the field for a condition that only a file can say."""

_LONGEST_FACT = 64

CHANGED = 409
MOST_COMPARED = 10
"""Number of earlier versions for which the page says what changed."""

_BOUNDS = ("min", "max", "step")
_LONGEST_NUMBER = 9
_LONGEST_COUNT = 3
_STAMP = re.compile(r"[0-9a-f]{1,64}\.[0-9]{1,9}")


def posted_draft(form: PostedForm, base: SurveyDraft) -> SurveyDraft:
    """Apply the posted form, with fields such as ``q0.label.en``, to the version shown; parts without a field stay.

    Invalid input never raises: it is kept as text where the page can report it as a problem, else ignored.
    """
    cards = tuple(_card(form, number, card, base) for number, card in enumerate(base.cards))
    if "cohort" in form:
        cards = tuple(_with_cohort(card, form["cohort"] == str(number)) for number, card in enumerate(cards))
    declining, stamp = form.get("declining", base.declining), form.get("stamp", "")
    posted = replace(
        base,
        head=_head(form, base),
        cards=cards,
        people=_parse_int(form, "people", base.people),
        group=_parse_int(form, "group", base.group),
        declining=declining if declining in draft_model.DECLINING else base.declining,
        stamp=stamp if _STAMP.fullmatch(stamp) else "",
    )
    if "direct_half" in form:
        posted = set_direct_half(posted, form["direct_half"] == "1")
    for name in base.blocks:
        # An unchanged number keeps the mechanism of an imported file, with its own radius.
        if f"ask.{name}" in form and (ask := whole_number(form[f"ask.{name}"])) != base.ask_of(name):
            posted = draft_blocks.with_ask(posted, name, ask)
    return posted


def _parse_int(form: PostedForm, field: str, before: int | None) -> int | None:
    if field not in form:
        return before
    digits = "".join(character for character in form[field] if character.isdecimal())
    return min(int(digits[:12]), draft_model.MOST_PEOPLE) if digits and int(digits[:12]) else None


def _text(form: PostedForm, tags: tuple[str, ...], field: str, before: Mapping[str, str] | None) -> dict[str, str]:
    """Read a text by language; languages without a field in the form stay unchanged."""
    found = dict(before or {})
    for tag in tags:
        if f"{field}.{tag}" in form:
            found[tag] = _clean(form[f"{field}.{tag}"])
    return {tag: text for tag, text in found.items() if text}


def _clean(text: str) -> str:
    """Normalize line ends as the survey format wants them, and drop control characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").strip()
    return "".join(character for character in lines if character >= " " or character == "\n")


def _head(form: PostedForm, base: SurveyDraft) -> dict[str, Any]:
    """Apply the fields of the survey itself: texts, dates, waves, access, retention, privacy, questions per person."""
    head = dict(base.head)
    for path in draft_model.HEAD_TEXTS:
        head = with_part(head, path, _text(form, base.tags, path, part_at(head, path)))
    for path, read in {**_SETTINGS, **dict.fromkeys(marks_shown(), _mark)}.items():
        field = path.removeprefix("retention.").removeprefix("privacy.")
        if field in form:
            head = with_part(head, path, read(form[field].strip()))
    if not head.get("order"):
        head.pop("keep_last", None)
    if (answer := form.get(draft_model.SCREENED_OUT, KEPT)) != KEPT:
        name, _, value = answer.partition("=")
        head = with_part(head, draft_model.SCREENED_OUT, {name: [value]} if value else {})
    if "after.label0" in form:
        rows = takewhile(lambda number: f"after.label{number}" in form, count())
        found = ((form[f"after.label{row}"].strip(), form.get(f"after.to{row}", "").strip()) for row in rows)
        head = with_part(head, "after.links", {label: link for label, link in found if label or link})
    if "wave0.opens" in form:
        head = with_part(head, "waves", _waves(form))
    # For blind access, publishing adds the public keys; a correction gets the same keys again.
    if form.get("access") in draft_model.ACCESSES:
        head["access"] = form["access"]
    return head


def _waves(form: PostedForm) -> list[dict[str, str]] | None:
    """Read the waves in order; an empty row deletes the wave."""
    rows = takewhile(lambda number: f"wave{number}.opens" in form, count())
    ends = ("opens", "closes")
    found = [{end: _moment(text) for end in ends if (text := form.get(f"wave{row}.{end}", "").strip())} for row in rows]
    return [wave for wave in found if wave] or None


def _moment(text: str) -> str:
    """Convert a browser's ``2026-12-31T23:59``, labelled as UTC on the page, to the survey format."""
    text = text.strip()
    return f"{text}:00Z" if len(text) == len("2026-12-31T23:59") else text


def _number_or_text(text: str) -> int | str:
    """Read a whole number; keep other input as text, so that the page can report it as a problem."""
    number = whole_number(text, _LONGEST_NUMBER)
    return text[:_LONGEST_NUMBER] if number is None else number


@cache
def marks_shown() -> Sequence[str]:
    """Return the keys that the page shows as a choice between yes and no: it has words for them."""
    return tuple(key for key in SURVEY_MARKS if Words("en").knows(f"design_{key}_hint"))


def _mark(text: str) -> bool | None:
    return text == "1" or None


_SETTINGS: Mapping[str, Callable[[str], object]] = {
    "researcher.contact": str,
    "after.link": str,
    "after.screen_out.link": str,
    "opens": _moment,
    "closes": _moment,
    "ask": whole_number,
    "arms": draft_model.read_arms,
    "analysis_plan": draft_model.read_plan,
    "order": lambda text: text if text == RANDOM else None,
    "quick_exit": lambda text: text if text.startswith("https:") else _mark(text),
    "retention.delete_on": str,
    "retention.ids_days": _number_or_text,
    "privacy.release_batch": _number_or_text,
    "privacy.send_within_hours": _number_or_text,
    "privacy.send_at_seconds": _number_or_text,
}
"""Settings of the survey's document by their path, with the parser of the field's text."""


def _card(form: PostedForm, number: int, card: DraftItem, base: SurveyDraft) -> DraftItem:
    prefix, tags, follow = f"q{number}", base.tags, _names_follow(base, card)
    asked = {**card.asked, "arm": draft_model.arms_in_field(draft_model.arm_on_card(card))}
    for path in _TEXTS_OF_CARDS:
        asked = with_part(asked, path, _text(form, tags, f"{prefix}.{path}", part_at(asked, path)))
    for path, read in _SETTINGS_OF_CARDS.items():
        if f"{prefix}.{path}" in form:
            asked = with_part(asked, path, read(form[f"{prefix}.{path}"].strip()))
    if form.get(f"{prefix}.name"):
        asked["name"] = draft_model.short_name(form[f"{prefix}.name"], card.name)
    if card.type in TYPES:
        asked = _apply_type(form, prefix, asked, tags, follow)
    if card.type == "matrix":
        asked["rows"] = _choices(form, f"{prefix}.rows", asked.get("rows", []), tags, follow, "r")
        asked["of"] = _apply_type(form, prefix, asked.get("of", {}), tags, follow)
    # A type without options or rows loses their order.
    if f"{prefix}.order" in form:
        asked = with_order(asked, form[f"{prefix}.order"], form.get(f"{prefix}.keep_last", "").strip())
    asked = _with_own_fact(asked)
    if f"{prefix}.in_files" in form:
        asked["in_files"] = {"1": True, "0": False if base.chooses_columns else None}.get(form[f"{prefix}.in_files"])
    if f"{prefix}.known_share" in form:
        asked["anchor"] = "known_share" in asked or None
    if asked.get("type") != "boolean":
        asked |= {"anchor": None, "known_share": None}
    asked = {key: value for key, value in asked.items() if value not in ("", {}, None)}
    asked = posted_conditions(form, prefix, asked | {"label": asked.get("label", {})}, earlier_questions(base, number))
    use = form.get(f"{prefix}.use", card.use)
    harm = form.get(f"{prefix}.harm", card.harm)
    harm = harm if harm in draft_model.HARMS else card.harm
    epsilon = form.get(f"{prefix}.epsilon", "").strip().replace(",", ".")
    return DraftItem(
        asked,
        "clearly" if harm == "public" and "procedure" in asked else harm,
        use if use in uses_of(DraftItem(asked).kind) else "",
        {"epsilon": epsilon[:20]} if epsilon else card.mechanism,
        card.block,
    )


_TEXTS_OF_CARDS = ("label", "hint", "innocuous.label", "innocuous.source")

_SETTINGS_OF_CARDS: Mapping[str, Callable[[str], object]] = {
    "arm": draft_model.arms_in_field,
    "known_share": lambda text: text[:_LONGEST_NUMBER],
    "procedure": str,
    **dict.fromkeys(
        ("innocuous.share", "innocuous.se", "innocuous.fact", "innocuous.truth"), lambda text: text[:_LONGEST_FACT]
    ),
}
"""Settings of a card's document by their path, like ``_SETTINGS``."""


def _with_own_fact(asked: dict[str, Any]) -> dict[str, Any]:
    """Return a card's document without a fact of the person's own where no procedure of a yes/no question needs it."""
    if asked.get("procedure") not in PROCEDURES or asked.get("type") != "boolean":
        return {key: value for key, value in asked.items() if key not in ("procedure", "innocuous")}
    return asked if asked["procedure"] == UNRELATED else with_part(asked, "innocuous.truth", None)


def _with_cohort(card: DraftItem, divides: bool) -> DraftItem:
    """Set or remove the mark of the cohort question; at most one question has it."""
    asked = {key: value for key, value in card.asked.items() if key != "cohort"}
    return replace(card, asked=asked | ({"cohort": True} if divides else {}))


def _names_follow(base: SurveyDraft, card: DraftItem) -> bool:
    """Return True if names of options and rows follow edited texts: before publication, if nothing else names them."""
    named = {name for each in base.cards for key in CONDITIONS for name in each.asked.get(key, {})}
    named |= {*(part_at(base.head, draft_model.SCREENED_OUT) or ())}
    own = {"keep_last", "when_absent"} & {*card.asked, *card.treated}
    is_named = not named.isdisjoint((card.name, *names_of(card.asked)))
    return base.head.get("revision", 1) == 1 and not is_named and not own and "analysis_plan" not in base.head


def _apply_type(
    form: PostedForm, prefix: str, asked: dict[str, Any], tags: tuple[str, ...], follow: bool
) -> dict[str, Any]:
    """Apply the type of a question, and the choices or bounds that belong to the type."""
    wanted = form.get(f"{prefix}.type", "")
    kind = TYPES[wanted if wanted in TYPES else str(asked.get("type", "boolean"))]
    asked = {key: value for key, value in asked.items() if key != "ends"} | {"type": kind.name}
    if kind.list_key == "choices":
        before = asked.get("choices", [])
        scale = posted_scale(form, prefix, tags, scale_of(before, tags))
        listed = _choices(form, f"{prefix}.options", before, tags, follow, "o")
        asked["choices"] = scale.choices(tags) if scale else listed
        asked |= {"ends": "\n".join(scale.typed)} if scale and scale.typed else {}
    for key in _BOUNDS:
        if f"{prefix}.{key}" in form and key in kind.keys:
            asked[key] = form[f"{prefix}.{key}"].strip().replace(",", ".")
    if f"{prefix}.absent" in form:
        asked["when_absent"] = form[f"{prefix}.absent"].strip() or None
    # A change of type drops the keys that only other types use.
    others = {key for made in TYPES.values() for key in made.keys} - set(kind.keys)
    return {key: value for key, value in asked.items() if key not in others}


def _choices(
    form: PostedForm, field: str, before: list[Mapping[str, Any]], tags: tuple[str, ...], follow: bool, letter: str
) -> list[Mapping[str, Any]]:
    """Read the options, one on each line; an unchanged line keeps its name, even if lines before it came or went.

    The rows of a matrix are read likewise; ``letter`` begins the name of a line without letters. With ``follow`` an
    edited line gets a new name if its name was made of its text. Lines in other languages belong to the option on the
    same line of the first language.
    """
    if f"{field}.{tags[0]}" not in form:
        return before
    lines = {tag: _lines(form.get(f"{field}.{tag}", "")) for tag in tags}
    known = {choice["label"].get(tags[0], ""): str(choice.get("name", "")) for choice in before}
    texts = lines[tags[0]]
    # If no line was added or removed, an edited line keeps the option's name: revisions add up counts by name.
    if len(texts) == len(before):
        edited = [(text, choice) for text, choice in zip(texts, before, strict=True) if text not in known]
        kept = [each for each in edited if not (follow and _is_made(each[1], tags[0], letter))]
        known |= {text: str(choice.get("name", "")) for text, choice in kept}
    taken: list[str] = [known[text] for text in texts if text in known]
    found: list[Mapping[str, Any]] = []
    used: set[str] = set()
    for place, text in enumerate(texts):
        name = known.get(text, "")
        if not name or name in used:
            name = draft_model.free_name(_made_name(text, f"{letter}{place + 1}", tags[0], letter), taken)
            taken.append(name)
        used.add(name)
        label = {tag: lines[tag][place] for tag in tags if place < len(lines[tag]) and lines[tag][place]}
        found.append({"name": name, "label": label})
    return found


def _made_name(text: str, otherwise: str, tag: str, letter: str) -> str:
    """Make the name of an option, or of a row, whose name becomes a part of a variable's and is short like one."""
    return draft_model.question_name(text, otherwise, tag) if letter == "r" else draft_model.short_name(text, otherwise)


def _is_made(choice: Mapping[str, Any], tag: str, letter: str) -> bool:
    """Return True if a name is made of the text of its option or row, with or without a number at its end."""
    made = _made_name(choice["label"].get(tag, ""), f"{letter}[0-9]+", tag, letter)
    return re.fullmatch(f"{made}(_[0-9]+)?", str(choice.get("name", "")), re.ASCII) is not None


def _lines(text: str) -> list[str]:
    return [line for each in _clean(text).split("\n") if (line := each.strip())]


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
    found: draft_blocks.ProtectedTogether | None
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
    found: draft_blocks.ProtectedTogether | None


def together_view(draft: SurveyDraft, form: Mapping[str, str]) -> TogetherView:
    """Return the view of a draft; without a posted form the page chooses the cards that a block would help."""
    blocks = [_block_view(draft, name) for name in draft.blocks]
    joinable = draft_blocks.joinable_cards(draft)
    if form:
        selected = [number for number in joinable if number in selected_cards(form)]
        return TogetherView(blocks, joinable, selected, draft_blocks.compared_selection(draft, selected))
    found = draft_blocks.suggested(draft)
    return TogetherView(blocks, joinable, [] if found is None else joinable, found)


def _block_view(draft: SurveyDraft, name: str) -> BlockView:
    numbers = [number for number, card in enumerate(draft.cards) if card.block == name]
    questions = sum(draft.cards[number].row_count for number in numbers)
    found, drawn = draft_blocks.compared(draft, name), draft_blocks.drawable(draft, name)
    return BlockView(name, numbers, found, draft.ask_of(name), drawn, questions)


def selected_cards(form: Mapping[str, str]) -> list[int]:
    """Return the numbers of the cards that are ticked in the posted form."""
    numbers = (whole_number(key.removeprefix("together."), 4) for key in form if key.startswith("together."))
    return [number for number in numbers if number is not None]


@dataclass(frozen=True)
class ItemView:
    """Display data of a question, note or matrix.

    Attributes:
        index: index of its first question among the survey's.
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
    index: int
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
    draft, before = figures.draft, 0
    indices: dict[int, int] = {}
    for number, card in numbered_copies(draft):
        indices.setdefault(number, before)
        before += card.row_count if card.type in (*TYPES, "matrix") else 0
    return [
        ItemView(
            card,
            indices[number],
            card.name if draft_model.is_given(card.name) else "",
            final.name,
            uses_of(card.kind),
            steps_of(draft, card),
            found.question if found else None,
            sentences.within(found),
            [*sentences.margin(draft, card, found)],
            earlier_questions(draft, number),
            *conditions_of(card),
        )
        for number, (card, found, final) in enumerate(
            zip(draft.cards, figures.of_items, with_slugs(draft).cards, strict=True)
        )
    ]


def _earlier_versions(name: str, draft: SurveyDraft, versions: list[int]) -> list[EarlierVersion]:
    """List the earlier versions with time and what the next one changed; only the newest are compared."""
    found: list[EarlierVersion] = []
    for number in versions:
        earlier = drafts.find_draft(name, number) if len(found) < MOST_COMPARED else None
        changed = _changes(earlier.draft, draft) if earlier else []
        saved = earlier.draft.saved if earlier else ""
        found.append(EarlierVersion(number, words().moment(datetime.fromisoformat(saved)) if saved else "", changed))
        draft = earlier.draft if earlier else draft
    return found


def _changes(before: SurveyDraft, after: SurveyDraft) -> list[str]:
    """List the places that changed; a question that came or went is one place, and says so."""
    old, new = ({card.name: card for card in draft.cards} for draft in (before, after))
    came = [words().translate("design_came", number=place) for place, name in enumerate(new, 1) if name not in old]
    went = [words().translate("design_went", number=place) for place, name in enumerate(old, 1) if name not in new]
    if [name for name in old if name in new] == [name for name in new if name in old]:
        # Compared card by card, whatever their numbers are.
        before = replace(before, cards=tuple(old.get(card.name, card) for card in after.cards))
    return [*came, *went, *(each.place for each in differences_in_words(before, after, words()))]


def _page(name: str, draft: SurveyDraft, version: int, versions: list[EarlierVersion]) -> Response:
    figures, sentences = DraftFigures(draft), Sentences(words())
    problems = problems_of(draft, name, figures)
    is_complete = not any(problem.grave for problem in problems)
    # No correction may change the access.
    revisions = storage().revisions(name)
    access = survey_of(revisions[-1].document).document["access"] if revisions else ""
    private = (str(number) for number, card in enumerate(draft.cards) if card.harm != "public")
    page = render_template(
        "design.html",
        page="design",
        frame=draft_page(name, "design"),
        name=name,
        draft=draft,
        kept_access=access if isinstance(access, str) else "blind",
        version=version,
        versions=versions,
        problems=problems,
        # The card to open first: the first private question, else the first question, else the survey's own.
        focus=request.values.get("card") or next(private, "0" if draft.cards else "survey"),
        shows_form=is_complete,
        anchor=anchor_of(survey_of_draft(draft, name)) if is_complete else None,
        items=_items(figures, sentences),
        totals=figures.totals,
        panel=panel_of(draft, name),
        together=together_view(draft, request.form),
        sentences=sentences,
        belief_before=words().percent(BELIEF_BEFORE, 0),
        harms=draft_model.HARMS,
        marks=marks_shown(),
        arms=[*draft_model.arms_of(draft)],
        written_arms=draft_model.written_arms(draft),
        written_plan=draft_model.written_plan(draft),
        arm_on_card=draft_model.arm_on_card,
        scale_of=scale_of,
        typed_ends=typed_ends,
        most_points=MOST_POINTS,
        orders_of=orders_of,
        public_answers=public_answers(draft),
        screened_out=screened_out(draft),
        written_last=written_last,
        declining=draft_model.DECLINING,
        types=[kind for kind in TYPES if kind != "vector"],
        row_types=[kind for kind in TYPES if kind in MATRIX_TYPES],
        truths={kind: made.truth for kind, made in TYPES.items()},
        other_languages={tag: label for tag, label in OWN_NAMES.items() if tag not in draft.tags},
    )
    return Response(page, headers=FRAMING)


def save_design(name: str) -> ResponseReturnValue:
    """Save the form as a new version, with the button's command applied; on an edit conflict show both versions."""
    form = request.form.to_dict()
    last = drafts.load_draft(name)
    base = drafts.find_draft(name, whole_number(form.get("version", ""), 12) or 0) or last
    typed = posted_draft(form, base.draft)
    word = form.get("do", "")
    if word == "together":
        word = f"together:{'.'.join(map(str, selected_cards(form)))}"
    mine = change(typed, word)
    # If the version that the page showed was pruned, ``drafts.save`` reports a conflict, and the page shows both.
    if not form.get("over") and form.get("of", base.draft.stamp) != base.draft.stamp:
        # The stamps differ: the page showed an earlier draft of the same name, since deleted or published.
        return _conflict_page(name, typed, last, form)
    typed_over = next(filter(None, (whole_number(form.get(key, ""), 12) for key in ("over", "version"))), last.version)
    by = form.get("by", "")
    version = drafts.save(name, typed_over, mine, again=by == "again")
    if version is None:
        return _conflict_page(name, typed, drafts.load_draft(name), form)
    if by:
        # The version just saved: with a newer one, the browser would overwrite what the person never saw.
        stored = drafts.find_draft(name, version) or drafts.load_draft(name)
        return _page(name, stored.draft, stored.version, [])
    kind, _, number = word.partition(":")
    earlier = drafts.find_draft(name, whole_number(number, 12) or 0) if kind == "version" else None
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
    number = whole_number(given.partition(":")[0]) or 0
    cards = len(mine.cards)
    moved = {"copy": number + 1, "add": cards - 1}
    if kind in ("up", "down", "to"):
        # A card at the end of its block moves with the block.
        moved[kind] = next(
            (place for place, each in enumerate(mine.cards) if each in typed.cards[number : number + 1]), -1
        )
    card = moved.get(kind, number if kind in ("delete", "uncondition", "step", "absent", "scale") else -1)
    if 0 <= card < cards:
        # The text of a new card has the focus, so that it can be typed at once.
        anchor = f"q{card}.label" if kind in ("add", "copy") else f"q{card}"
        return redirect(url_for("studio.design", name=name, card=card, _anchor=anchor), 303)
    focus = {"language": "survey", "together": "together", "separate": "together"}.get(kind, focus)
    return redirect(
        url_for("studio.design", name=name, card=focus if focus in _FOCI or focus.isdecimal() else None), 303
    )


def _conflict_page(name: str, mine: SurveyDraft, theirs: drafts.LoadedDraft, form: dict[str, str]) -> Response:
    page = render_template(
        "conflict.html",
        page="design",
        frame=draft_page(name, "design"),
        name=name,
        found=differences_in_words(mine, theirs.draft, words()),
        theirs=theirs.version,
        posted={key: value for key, value in form.items() if key not in ("do", "over", "by", "form_token")},
    )
    return Response(page, CHANGED)


def correct(name: str) -> ResponseReturnValue:
    """Begin a correction of a published survey; a test run has none, since a changed survey gets a new test run."""
    if not survey_of(newest(storage(), name).document).trial:
        drafts.begin_correction(name)
    return redirect(url_for("studio.design", name=name), 303)


def discard(name: str) -> ResponseReturnValue:
    """Delete a draft, if the person typed its name as confirmation."""
    drafts.load_draft(name)
    if request.form.get("typed", "").strip() != name:
        return redirect(url_for("studio.settings", name=name, outcome="not_typed"), 303)
    drafts.forget(name)
    return redirect(url_for("studio.surveys", deleted=1), 303)


class PublicAnswer(NamedTuple):
    """An answer to a public question: value of the field, number of the question, and the answer's text or name."""

    value: str
    number: int
    label: Mapping[str, str]
    answer: str


def public_answers(draft: SurveyDraft) -> Sequence[PublicAnswer]:
    """Return the answers by which people can be screened out: of public yes/no and single choice questions."""
    return [
        PublicAnswer(f"{card.name}={name}", number, label, name)
        for number, card in enumerate(draft.cards, 1)
        if card.harm == "public" and card.type in ("boolean", *SCALES)
        for name, label in answers_of(card).items()
    ]


def screened_out(draft: SurveyDraft) -> str:
    """Return the answer for which the survey is not, as its field has it; "" for none."""
    when = part_at(draft.head, draft_model.SCREENED_OUT)
    if not when:
        return ""
    name, wanted = next(iter(when.items()))
    answers = [wanted] if isinstance(wanted, str) else wanted
    is_one = len(when) == 1 and isinstance(answers, list | tuple) and len(answers) == 1
    value = f"{name}={answers[0]}" if is_one else KEPT
    return value if value in {each.value for each in public_answers(draft)} else KEPT


def orders_of(card: DraftItem) -> Sequence[str]:
    """Return the orders that a card can have besides the written one; empty without options or rows."""
    if card.type == "matrix":
        return (RANDOM,)
    if card.kind is None or card.kind.list_key != "choices":
        return ()
    return (RANDOM, REVERSED_HALF) if card.type in SCALES else (RANDOM,)


def written_last(card: DraftItem) -> str:
    """Return what stays at the end as its field has it: how many, or names if they are not the last ones."""
    last = [str(name) for name in card.asked.get("keep_last", ())]
    return str(len(last)) if last and last == _names(card.asked)[-len(last) :] else ", ".join(last)


def with_order(asked: Mapping[str, Any], order: str, last: str) -> dict[str, Any]:
    """Return a card's document with the order of its options or rows; what is wrong is left to the survey's checks.

    ``order`` is a word of ``orders_of``, or "" for the written order; ``last`` is as ``written_last`` writes it.
    """
    found = {key: value for key, value in asked.items() if key not in ("order", "keep_last")}
    if order not in orders_of(DraftItem(found, "", "")):
        return found
    names = _names(found)
    number = whole_number(last, _LONGEST_COUNT)
    listed = [each.strip() for each in last.split(",")]
    kept = [*filter(None, listed if number is None else names[len(names) - min(number, len(names)) :])]
    return found | {"order": order} | ({"keep_last": kept} if kept else {})


def _names(asked: Mapping[str, Any]) -> list[str]:
    listed = asked.get("rows" if asked.get("type") == "matrix" else "choices", ())
    return [str(each.get("name", "")) for each in listed]


_DESIGN = "/dashboard/surveys/<name>/design"
_FOCI = ("people", "survey", "together", "whole")

ROUTES = (
    Route("studio.design", "GET", _DESIGN, design, "Show the questions of a draft."),
    Route("studio.save_design", "POST", _DESIGN, save_design, "Save changes of a draft."),
    Route("studio.correct", "POST", f"{_DESIGN}/correct", correct, "Begin a correction."),
    Route("studio.discard", "POST", f"{_DESIGN}/discard", discard, "Delete a draft."),
)  # fmt: skip
"""Routes of the page "Design"."""
