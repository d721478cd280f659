"""Check a draft: errors and warnings, each with its message, its field and, if there is one, a fix.

Errors that can arise on the page Design have translated messages. Anything else that ``parse_survey`` refuses can come
only from files, and is reported in its words with the key in the file.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from operator import attrgetter

from sottovoce.aggregator.authoring.conditions import condition_problems, names_of
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures, unit_epsilons
from sottovoce.aggregator.authoring.draft import HEAD_TEXTS, DraftProblem, FieldPath, SurveyDraft, on_card, part_at
from sottovoce.aggregator.authoring.edit_commands import DIRECTIONS, change
from sottovoce.aggregator.authoring.sensitivity_levels import MOST_POINTS, typed_ends
from sottovoce.aggregator.authoring.to_survey import numbered_copies, survey_document
from sottovoce.aggregator.planning.lint import is_telling
from sottovoce.aggregator.planning.sample_size import thin_cells
from sottovoce.aggregator.planning.traffic_analysis import HOUR, ONE_VISIT_SECONDS, spread
from sottovoce.aggregator.surveys.privacy_limit import most_asked
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE, NEARLY_SURE
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.parse_item import CONDITIONS
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Survey, Wave
from sottovoce.shared.types import TYPES

DAY = 24
LONGEST = 4000
"""Largest number of letters in one text."""

_OF_QUESTION = re.compile(r"/questions/(\d+)(?:/items/(\d+))?(?:/of)?(?:/([a-z_]+))?.*", re.ASCII)
_OF_BLOCK = re.compile(r"/questions/\d+(/block|/mechanism|/items|/items/\d+/(type|public|mechanism|anchor))", re.ASCII)
"""Errors that a question has only because it is in a block, and errors of the block."""

_FIELDS = {
    "visible_if": "condition",
    "any_of": "condition",
    "choices": "options",
    "mechanism": "harm",
    "innocuous": "procedure",
    "public": "harm",
}


def problems_of(draft: SurveyDraft, name: str, figures: DraftFigures | None = None) -> list[DraftProblem]:
    """Return all problems of a draft, complete or not, errors first; ``figures`` are its cost and precision, if known.

    Errors of ``parse_survey`` are left out for fields and cards that already have an error. A mend that would cause
    another error is left out too.
    """
    found = _problems(draft, name, figures)
    graves = {(problem.place, problem.key) for problem in found if problem.grave}
    for number, problem in enumerate(found):
        # No other mend than one that protects answers can cause an error in another field.
        if problem.mend.startswith(("ask:", "step:")):
            mended = _problems(change(draft, problem.mend), name, None)
            if any(each.grave and (each.place, each.key) not in graves for each in mended):
                found[number] = replace(problem, mend="")
    return found


def _problems(draft: SurveyDraft, name: str, figures: DraftFigures | None) -> list[DraftProblem]:
    figures = figures or DraftFigures(draft)
    # In the order of checks on the page.
    found = [*_texts(draft), *_answers(figures), *condition_problems(draft), *_bad_texts(draft), *_cost(figures)]
    survey, refused = None, list[DraftProblem]()
    try:
        survey = survey_of_draft(draft, name)
    except SpecError as error:
        refused = [refused_field(draft, problem) for problem in error.problems]
    found += [*_sending_delay(draft), *_people(figures, survey)]
    if draft.head.get("quick_exit") and is_telling(name):
        found.append(DraftProblem(FieldPath("quick_exit"), "telling_name", grave=False, values={"name": name}))
    reported = {problem.place.field for problem in found if problem.grave}
    cards = {problem.place.card for problem in found if problem.grave and problem.place.card is not None}
    found += [each for each in refused if each.place.field not in reported and each.place.card not in cards]
    return sorted(found, key=attrgetter("grave"), reverse=True)


def survey_of_draft(draft: SurveyDraft, name: str) -> Survey:
    """Convert a draft into a survey; SpecError if it is not yet a valid one."""
    return parse_survey(survey_document(draft, name))


def refused_field(draft: SurveyDraft, problem: Problem) -> DraftProblem:
    """Convert an error of ``parse_survey`` into a problem with the field on the page and the key in the file."""
    values = {"message": problem.message, "field": _key_of(problem.pointer)}
    place = place_of(draft, problem.pointer)
    block = "" if place.card is None else draft.cards[place.card].block
    mends = block and _OF_BLOCK.fullmatch(problem.pointer)
    return DraftProblem(place, "other", values=values, mend=f"separate:{block}" if mends else "")


def _key_of(pointer: str) -> str:
    names = [part for part in pointer.split("/") if part and not part.isdigit()]
    return names[-1].replace("~1", "/").replace("~0", "~") if names else "survey"


def place_of(draft: SurveyDraft, pointer: str) -> FieldPath:
    """Return the form field for a JSON pointer into the survey's document."""
    if found := _OF_QUESTION.fullmatch(pointer):
        number, key = _first_cards(draft)[int(found[1])] + int(found[2] or 0), found[3] or "label"
        if key == "cohort":
            return FieldPath(key)
        return on_card(number, _FIELDS.get(key, key))
    if pointer == "/questions":
        return FieldPath("add")
    parts = pointer.strip("/").split("/")
    if parts[0] in ("arms", "analysis_plan", "keep_last"):
        shown = {"keep_last": "order", "arms": "halves" if draft.direct_half else "arms"}
        return FieldPath(shown.get(parts[0], parts[0]))
    if parts[0] == "waves":
        number_of_wave, key = (*parts[1:], *("0", "opens")[len(parts) - 1 :])[:2]
        return FieldPath(f"wave{number_of_wave}.{key}")
    parts = ["after", "text"] if parts == ["after"] else parts
    return FieldPath(".".join(parts[:2]) if parts[0] in ("researcher", "after") else parts[-1] or "title")


def _first_cards(draft: SurveyDraft) -> list[int]:
    """Return the number of the first card of each entry in the survey's list of questions."""
    found: list[int] = []
    before = ""
    for number, card in numbered_copies(draft):
        found += [] if card.block and card.block == before else [number]
        before = card.block
    return found


def _texts(draft: SurveyDraft) -> Iterator[DraftProblem]:
    default, *others = draft.tags
    if not draft.title.strip():
        yield DraftProblem(FieldPath("title"), "no_title")
    for number, card in enumerate(draft.cards):
        if not card.asked.get("label", {}).get(default, "").strip():
            yield DraftProblem(on_card(number, "label"), "no_label")
    for tag in others:
        missing = [place for place, texts in _texts_with_fields(draft) if texts.get(default) and not texts.get(tag)]
        if missing:
            yield DraftProblem(missing[0], "untranslated", grave=False, values={"tag": tag, "missing": len(missing)})
    if not any(card.type in (*TYPES, "matrix") for card in draft.cards):
        yield DraftProblem(FieldPath("add"), "no_question", mend="add:boolean")


def _texts_with_fields(draft: SurveyDraft) -> Iterator[tuple[FieldPath, Mapping[str, str]]]:
    yield from ((FieldPath(path), texts) for path in HEAD_TEXTS if (texts := part_at(draft.head, path)))
    for number, card in enumerate(draft.cards):
        for key in ("label", "hint"):
            yield on_card(number, key), card.asked.get(key, {})
        for key in ("label", "source"):
            yield on_card(number, f"innocuous.{key}"), card.asked.get("innocuous", {}).get(key, {})
        for option in card.treated.get("choices", ()):
            yield on_card(number, "options"), option.get("label", {})
        for row in card.asked.get("rows", ()):
            yield on_card(number, "rows"), row.get("label", {})


def _bad_texts(draft: SurveyDraft) -> Iterator[DraftProblem]:
    for place, texts in _texts_with_fields(draft):
        longest = max(map(len, texts.values()), default=0)
        if longest > LONGEST:
            yield DraftProblem(place, "long_text", values={"letters": longest, "most": LONGEST})
        if any(text != text.translate(DIRECTIONS) for text in texts.values()):
            mend = "straighten_all" if place.card is None else f"straighten:{place.card}"
            yield DraftProblem(place, "direction", mend=mend)


def _answers(figures: DraftFigures) -> Iterator[DraftProblem]:
    """Yield the problems of rows and options, then those of numbers."""
    draft = figures.draft
    # A list or a map as the type, which no page of a draft could show, raises TypeError here.
    kinds = [TYPES.get(card.treated.get("type", "")) for card in draft.cards]
    for number, (card, kind) in enumerate(zip(draft.cards, kinds, strict=True)):
        if card.type == "matrix" and not card.asked.get("rows"):
            yield DraftProblem(on_card(number, "rows"), "no_rows")
        if kind is not None and kind.list_key == "choices":
            labels = [choice["label"].get(draft.tags[0], "") for choice in card.treated.get("choices", ())]
            if typed_ends(card.treated):
                yield DraftProblem(on_card(number, "first"), "bad_scale", values={"most": MOST_POINTS})
            elif len(labels) < 2:
                yield DraftProblem(on_card(number, "options"), "few_options")
            elif len(set(labels)) < len(labels):
                yield DraftProblem(on_card(number, "options"), "same_options")
    for number, (card, kind) in enumerate(zip(draft.cards, kinds, strict=True)):
        # A block has no numbers, and says so itself.
        if kind is not None and kind.truth == "number" and not card.block:
            # Of a file a 0 is a number, and of the form an empty text none.
            if any(card.treated.get(key, "") in ("", None) for key in kind.required):
                yield DraftProblem(on_card(number, "min"), "no_bounds")
            elif figures.questions[number] is None:
                yield DraftProblem(on_card(number, "min"), "bad_bounds")


def _cost(figures: DraftFigures) -> Iterator[DraftProblem]:
    draft = figures.draft
    epsilons = [0.0 if each is None or each.mechanism is None else each.epsilon for each in figures.questions]
    for number, (card, epsilon) in enumerate(zip(draft.cards, epsilons, strict=True)):
        is_first = not card.block or number == 0 or draft.cards[number - 1].block != card.block
        if epsilon > DEFAULT_ALLOWANCE.question and is_first:
            yield DraftProblem(
                on_card(number, "harm"),
                "dear_question",
                values={"spent": _figure(epsilon), "allowed": _figure(DEFAULT_ALLOWANCE.question)},
                mend=f"separate:{card.block}" if card.block else f"step:{number}:little",
            )
    total = figures.totals.epsilon
    grave = total > DEFAULT_ALLOWANCE.total
    if grave or total >= NEARLY_SURE:
        units = unit_epsilons([*zip(draft.cards, epsilons, strict=True)])
        limit = DEFAULT_ALLOWANCE.total if grave else NEARLY_SURE
        ask = most_asked(units, len(units), limit) if _may_draw(draft) else 0
        values = {"spent": _figure(total), "allowed": _figure(DEFAULT_ALLOWANCE.total)}
        key, mend = "dear_survey" if grave else "nearly_sure", f"ask:{ask}" if ask else ""
        yield DraftProblem(FieldPath("ask"), key, grave, values, mend)


def _may_draw(draft: SurveyDraft) -> bool:
    """Return True if ``ask`` is allowed: no condition may depend on a private question, which may not be drawn."""
    private = {name: card.block for card in draft.cards if card.harm != "public" for name in names_of(card.asked)}
    # A block is asked as a whole, and has no ask of its own beside the survey's.
    return not any(draft.ask_of(name) is not None for name in draft.blocks) and all(
        name not in private or (card.block and private[name] == card.block)
        for card in draft.cards
        for key in CONDITIONS & set(card.asked)
        for name in card.asked[key]
    )


def _figure(epsilon: float) -> float:
    return float(show_epsilon(epsilon))


def _people(figures: DraftFigures, survey: Survey | None) -> Iterator[DraftProblem]:
    """Yield what is wrong with the researcher, with what all answers together would show, and with numbers of people;
    ``survey`` is None if the draft is not complete.

    Public questions are warned of whose answers together would be unique to many respondents (sample uniques).
    """
    draft = figures.draft
    researcher = draft.head.get("researcher", {})
    if not researcher.get("name"):
        # The survey file has no place for an institution, contact or ethics text without the researcher's name.
        grave = any(researcher.get(key) for key in ("institution", "contact", "ethics"))
        yield DraftProblem(FieldPath("researcher.name"), "no_researcher", grave)
    elif not researcher.get("contact"):
        yield DraftProblem(FieldPath("researcher.contact"), "no_contact", grave=False)
    questions = [card for card in draft.cards if card.type in (*TYPES, "matrix")]
    if questions and all(card.harm == "public" for card in questions):
        yield DraftProblem(on_card(0, "harm"), "all_public", grave=False)
    named = [(number, name) for number, card in enumerate(draft.cards) for name in names_of(card.asked)]
    items = {each.name: (each, item) for item in survey.items for each in item.questions} if survey else {}
    asked = [items.get(name, (figures.questions[number], None)) for number, name in named]
    thin = thin_cells(asked, [arm.name for arm in survey.arms] if survey else (), draft.people)
    if thin is not None:
        number = named[thin.widest][0]
        values = {"cells": thin.cells, "people": thin.people}
        # A cohort must stay public, so there is no fix.
        mend = "" if draft.cards[number].asked.get("cohort") else f"step:{number}:little"
        yield DraftProblem(on_card(number, "harm"), "alone", False, values, mend)
    if draft.people is None:
        yield DraftProblem(FieldPath("people"), "no_people", grave=False)
    elif draft.group is not None and draft.group < draft.people:
        yield DraftProblem(FieldPath("group"), "small_group")


def _sending_delay(draft: SurveyDraft) -> Iterator[DraftProblem]:
    """Check the sending delay of unlinkable links: the time of a report could still link it to its invitation."""
    hours, place = draft.head.get("privacy", {}).get("send_within_hours"), FieldPath("send_within_hours")
    is_open = not hours and not draft.head.get("privacy", {}).get("send_at_seconds")
    # The time of a report hints at the private answers after which a question is shown.
    private = {name for card in draft.cards if card.harm != "public" for name in names_of(card.asked)}
    named = [card.asked.get(key, {}) for card in draft.cards for key in CONDITIONS]
    hints = any(private & set(each) for each in named if isinstance(each, Mapping))
    if is_open and hints and draft.access != "blind":
        yield DraftProblem(place, "shows_time", grave=False, mend=f"wait:{DAY}")
    if draft.access != "blind" or not isinstance(hours, int | None):
        return
    in_one_visit = len(draft.waves) < 2 or bool(draft.head.get("fresh_samples"))
    if not hours and in_one_visit:
        yield DraftProblem(place, "no_wait")
    elif (hours or DAY) < DAY:
        yield DraftProblem(place, "short_wait", grave=False)
    for field, wave in _windows(draft) if hours else ():
        seconds = spread(hours or 0, [wave])
        if seconds <= ONE_VISIT_SECONDS and in_one_visit:
            yield DraftProblem(FieldPath(field), "no_window")
        elif seconds < HOUR * min(hours or 0, DAY):
            yield DraftProblem(FieldPath(field), "short_window", grave=False)


def _windows(draft: SurveyDraft) -> Iterator[tuple[str, Wave]]:
    """Yield the field of each closing time and its wave; waves without two valid times are left out."""
    rows = [(f"wave{number}.closes", wave) for number, wave in enumerate(draft.waves)] or [("closes", draft.head)]
    for field, row in rows:
        with suppress(ValueError):
            opens, closes = (datetime.fromisoformat(str(row.get(key, ""))) for key in ("opens", "closes"))
            if opens.tzinfo and closes.tzinfo:
                yield field, Wave(opens, closes)
