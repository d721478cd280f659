"""Convert a draft into the document of a survey, as in a survey file, and back.

Back        For a copy, a template, a file or a correction of a published survey.
Half        A random half of the people may be asked directly: two arms, a direct copy of each sensitive question,
            planned comparisons. A draft keeps the choice, the arms and each sensitive question once. Copies and
            comparisons are made for the survey's document, so that they always have the texts, options and conditions
            of their questions.
Files       Which public questions have answers in files of reports is chosen by how many people would be alone with
            theirs. Of n people spread evenly over k combinations of an arm and its public answers, (1 - 1/k)^(n - 1) is
            expected to be alone in theirs. Files leave rare answers out as ``few``, so further columns would mostly say
            that. Questions that conditions of sensitive ones read come first, as without them files cannot tell who was
            asked; the others follow in the survey's order. A question is in the files if with it at most 5 % are alone,
            or if its card says so.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

from sottovoce.aggregator.authoring.conditions import names_of, with_rows, without_not
from sottovoce.aggregator.authoring.draft import (
    ABSENT_KEYS,
    LONGEST_QUESTION,
    SCREENED_OUT,
    DraftItem,
    DraftSample,
    SurveyDraft,
    absent_keys,
    free_name,
    in_one_list,
    is_given,
    part_at,
    question_name,
    with_part,
)
from sottovoce.aggregator.authoring.sensitivity_levels import harm_of, mechanism_for
from sottovoce.shared import canonical
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import SpecError
from sottovoce.shared.languages import text_tags
from sottovoce.shared.parse_item import CONDITIONS, MEASURES, MOST_PLANNED, PlannedComparison
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import FORMAT, Question
from sottovoce.shared.survey_keys import MARKS, WITHOUT_EFFECT
from sottovoce.shared.types import TYPES

DIRECT, PROTECTED = "direct", "protected"
_ARMS = [{"name": name, "weight": 1} for name in (DIRECT, PROTECTED)]
_ONLY_PROTECTED = {"procedure", "innocuous"}
"""Keys that only protect an answer."""

MOST_ALONE = 0.05
"""Largest share of people that may be expected alone in their combination of public answers."""
UNPLANNED = 100
"""Number of people assumed where none is planned."""

_OURS = ("format", "name", "questions", "replaces", "trial")
"""Keys that a draft does not have: publishing fills them in."""


@dataclass(frozen=True)
class FileColumn:
    """A public question as a possible column of files, or a public matrix, whose rows are in none.

    Attributes:
        name: its name.
        values: number of its answers, of a matrix together.
        alone: expected share of people alone in their combination, with this question and the columns before it.
        groups: most groups of its answers that would fit; 0 if not even two do, or if the question itself fits.
        shown: True if files have it.
        decides: True if a condition of a sensitive question reads it.
    """

    name: str
    values: int
    alone: float
    groups: int
    shown: bool
    decides: bool


def file_columns(document: Mapping[str, Any], people: int | None, *, chooses: bool) -> Iterator[FileColumn]:
    """Yield the public questions of a survey's document.

    Args:
        document: what of ``in_files`` says true or false stays so; files always have each person's arm.
        people: planned number; None without one.
        chooses: others are shown if they fit.
    """
    items, n = document["questions"], people or UNPLANNED
    together = {str(arm.get("name")): 1 for arm in document.get("arms", ()) if isinstance(arm, dict)} or {"": 1}
    read = {name for item in items if _is_sensitive(item) for key in CONDITIONS for name in item.get(key, ())}
    for item in sorted(items, key=lambda each: read.isdisjoint(names_of(each))):
        is_matrix = item.get("type") == "matrix"
        is_public = item.get("public") or item.get("of", {}).get("public")
        questions = complete_questions(canonical.dump({**_BARE, "questions": [_alone(item)] if is_public else []}))
        if not questions:
            continue
        values = math.prod(question.domain.size for question in questions)
        # Arms exclude each other, so what only some are asked divides the people of these only.
        wanted = item.get(ARM) or [*together]
        inside = [arm for arm in together if arm in ([wanted] if isinstance(wanted, str) else wanted)]
        own = sum(together[arm] for arm in inside)
        rest = sum(together.values()) - own
        alone = _share(rest + own * values, n)
        fits = alone <= MOST_ALONE
        shown = not is_matrix and bool(item.get("in_files", chooses and fits) or item.get("cohort"))
        most = int(-1 / math.expm1(math.log(MOST_ALONE) / max(n - 1, 1)))
        room = 0 if fits or is_matrix else (most - rest) // max(own, 1)
        decides = not read.isdisjoint(names_of(item))
        yield FileColumn(str(item["name"]), values, alone, room if room > 1 else 0, shown, decides)
        together |= {arm: together[arm] * (values if shown else 1) for arm in inside}


def with_file_columns(document: Mapping[str, Any], people: int | None) -> dict[str, Any]:
    """Return a survey's document with ``in_files`` for the public questions that files are to have."""
    shown = {column.name for column in file_columns(document, people, chooses=True) if column.shown}
    return {**document, "questions": [_chosen(item, shown) for item in document["questions"]]}


def _chosen(item: Mapping[str, Any], shown: set[str]) -> dict[str, Any]:
    found = {key: value for key, value in item.items() if key != "in_files"}
    return {**found, "in_files": True} if item.get("name") in shown and not item.get("cohort") else found


def _share(combinations: int, people: int) -> float:
    return float((1 - 1 / combinations) ** (people - 1)) if combinations > 1 else float(people == 1)


_TEXT = {"en": "q"}
_BARE = {"format": FORMAT, "name": "q", "title": _TEXT, "default_language": "en", "revision": 1}


def _is_sensitive(item: Mapping[str, Any]) -> bool:
    return item.get("type") in (*TYPES, "matrix") and not (item.get("public") or item.get("of", {}).get("public"))


def _alone(item: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: value for key, value in item.items() if key not in WITHOUT_EFFECT}, "label": _TEXT}


@lru_cache(maxsize=4096)
def complete_questions(document: bytes) -> Sequence[Question]:
    """Return the questions of a canonical survey; none where it is not complete."""
    try:
        return parse_survey(canonical.load(document)).questions
    except SpecError:
        return ()


def set_direct_half(draft: SurveyDraft, wanted: bool) -> SurveyDraft:
    """Make or take back the choice; a draft with other arms stays as it is, since they have a meaning of their own."""
    if wanted == draft.direct_half or (wanted and draft.head.get("arms")):
        return draft
    if wanted:
        return in_halves(replace(draft, direct_half=True))
    head = {key: value for key, value in draft.head.items() if key != "arms"}
    return replace(draft, head=head, cards=tuple(map(_without, draft.cards)), direct_half=False)


def in_halves(draft: SurveyDraft) -> SurveyDraft:
    """Give the sensitive questions of a draft with the choice to the arm ``protected``, and all others to everybody."""
    if not draft.direct_half:
        return draft
    split = _split(draft)
    cards = [replace(card, asked={**card.asked, ARM: [PROTECTED]}) if card.name in split else _without(card)
             for card in draft.cards]  # fmt: skip
    return replace(draft, head={**draft.head, "arms": _ARMS if split else None}, cards=tuple(cards))


def _without(card: DraftItem, left_out: str = ARM) -> DraftItem:
    return replace(card, asked={key: value for key, value in card.asked.items() if key != left_out})


def _split(draft: SurveyDraft) -> dict[str, bool]:
    """Return the names of the cards and rows for the protected half, each with whether the direct half has a copy.

    These are the sensitive questions and what depends on them. Several answers at once cannot be sent openly, so these
    and anchors are for everybody.
    """
    found: dict[str, bool] = {}
    for card in draft.cards:
        kind = card.kind
        openly = kind is None or kind.may_be_public
        on = [found[name] for key in CONDITIONS for name in card.asked.get(key, ()) if name in found]
        if on or (card.harm != "public" and kind is not None and openly and "anchor" not in card.asked):
            found |= dict.fromkeys((card.name, *names_of(card.asked)), openly and all(on))
    return found


def numbered_copies(draft: SurveyDraft) -> list[tuple[int, DraftItem]]:
    """Return the cards of the survey, each with the number of its card in the draft: a copy has its question's.

    A copy follows its question; in a block, all copies follow the block.
    """
    numbered = list(enumerate(draft.cards))
    if not draft.direct_half:
        return numbered
    names = _names_of_copies(draft)
    found: list[tuple[int, DraftItem]] = []
    for block, grouped in groupby(numbered, key=lambda each: each[1].block):
        group = list(grouped)
        for part in [group] if block else [[each] for each in group]:
            found += [*part, *((number, _copy(card, names)) for number, card in part if card.name in names)]
    return found


def _names_of_copies(draft: SurveyDraft) -> dict[str, str]:
    """Return the name of the copy of each card that has one."""
    found: dict[str, str] = {}
    taken, end = {*draft.blocks, *(card.name for card in draft.cards)}, f"_{DIRECT}"
    split = _split(draft)
    for name in [card.name for card in draft.cards if split.get(card.name)]:
        wanted = name[: LONGEST_QUESTION - len(end)] + end
        found[name] = free_name(wanted, {*taken, *found.values()}, longest=LONGEST_QUESTION)
    return with_rows(found, draft.cards)


def _copy(card: DraftItem, names: Mapping[str, str]) -> DraftItem:
    asked = {key: value for key, value in card.asked.items() if key not in _ONLY_PROTECTED}
    # A card's ``in_files`` decides about its copy: files have every randomized answer.
    return DraftItem({**_renamed(asked, names[card.name], names), ARM: [DIRECT]}, "public")


def with_copies(draft: SurveyDraft) -> SurveyDraft:
    """Return a draft with the choice as one without it, that has the copies and the planned comparisons."""
    names, head = _names_of_copies(draft), dict(draft.head)
    if "keep_last" in head:
        head["keep_last"] = [each for name in head["keep_last"] for each in (name, names.get(name)) if each]
    plan = list(head.get("analysis_plan") or ())
    plan += [each for each in _comparisons(draft, names) if each not in plan]
    cards = tuple(_without(card, "in_files") if card.name in names else card for _, card in numbered_copies(draft))
    return replace(draft, head={**head, "analysis_plan": plan[:MOST_PLANNED] or None}, cards=cards, direct_half=False)


def _comparisons(draft: SurveyDraft, names: Mapping[str, str]) -> Iterator[dict[str, str]]:
    # A correction keeps the plan that was published.
    for card in draft.cards if draft.head.get("revision", 1) == 1 else ():
        if card.name in names and card.treated.get("type") in TYPES:
            for end in [f"_{row['name']}" for row in card.asked["rows"]] if card.type == "matrix" else [""]:
                yield PlannedComparison(card.name + end, MEASURES[0], "0.95", against=names[card.name] + end).dump()


def folded(draft: SurveyDraft) -> SurveyDraft:
    """Return the draft with the choice that makes the same survey, such as for a correction; else the draft itself."""
    if draft.head.get("arms") != _ARMS:
        return draft
    copies = {card.name: card for card in draft.cards if card.asked.get(ARM) == [DIRECT]}
    found = replace(draft, cards=tuple(card for card in draft.cards if card.name not in copies), direct_half=True)
    names = _names_of_copies(found)
    shown = {name for name, copy in names.items() if copy in copies and copies[copy].asked.get("in_files")}
    files = {"in_files": True}
    cards = (replace(card, asked={**card.asked, **files}) if card.name in shown else card for card in found.cards)
    found = replace(found, cards=tuple(cards))
    planned = [*_comparisons(found, names)]
    head = dict(draft.head)
    if "keep_last" in head:
        head["keep_last"] = [name for name in head["keep_last"] if name not in copies]
    if own := [each for each in head.pop("analysis_plan", ()) if each not in planned]:
        head["analysis_plan"] = own
    found = in_halves(replace(found, head=head))
    return found if with_copies(found) == draft else draft


def survey_document(draft: SurveyDraft, name: str) -> dict[str, Any]:
    """Convert a draft, complete or not, into a document for ``parse_survey``.

    Empty texts are left out, and so is ``ask`` unless it is below the number of private questions.
    """
    draft = with_slugs(draft)
    draft = with_copies(draft) if draft.direct_half else draft
    document = _without_empty({**draft.head, "default_language": draft.tags[0]})
    cards = [without_not(card, draft.cards) if CONDITIONS & card.asked.keys() else card for card in draft.cards]
    questions = draft.entries(_item(card, draft.declining) for card in cards)
    for entry in questions:
        # A block has the arm of its items; the survey's checks refuse items of different arms.
        arms = [item.get(ARM) for item in entry.get("items", ())]
        if arms and arms[0] is not None and all(each == arms[0] for each in arms):
            items = [{key: item[key] for key in item if key != ARM} for item in entry["items"]]
            entry |= {ARM: arms[0], "items": items}
    ask = document.pop("ask", None)
    if isinstance(ask, int) and ask < len(DraftSample(draft).units):
        document["ask"] = ask
    made = {"format": FORMAT, "name": name, **document, "questions": questions}
    return with_file_columns(made, draft.people) if draft.chooses_columns else made


def with_slugs(draft: SurveyDraft) -> SurveyDraft:
    """Return the draft with slugs of the question texts in place of default names such as ``q1``."""
    names: dict[str, str] = {}
    for number, card in enumerate(draft.cards):
        others = {
            *draft.blocks,
            *with_rows(names, draft.cards).values(),
            *(each.name for each in draft.cards[number + 1 :]),
        }
        # A row of a grid, whose name begins with the grid's, is no other question either.
        others |= {name.removesuffix(row.removeprefix(card.name)) for row in names_of(card.asked) for name in others}
        made = question_name(str(card.asked.get("label", {}).get(draft.tags[0], "")), card.name, draft.tags[0])
        names[card.name] = card.name if is_given(card.name) else free_name(made, others, longest=LONGEST_QUESTION)
    names = with_rows(names, draft.cards)
    cards = tuple(replace(card, asked=_renamed(card.asked, names[card.name], names)) for card in draft.cards)
    head = dict(draft.head)
    if "keep_last" in head:
        head["keep_last"] = [names.get(name, name) for name in head["keep_last"]]
    if "analysis_plan" in head:
        head["analysis_plan"] = [_rename_in_plan(each, names) for each in head["analysis_plan"]]
    if when := part_at(head, SCREENED_OUT):
        head = with_part(head, SCREENED_OUT, {names.get(name, name): when[name] for name in when})
    return replace(draft, head=head, cards=cards)


def _rename_in_plan(planned: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    parts = {key: planned[key].partition(".") for key in ("question", "against") if key in planned}
    return {**planned, **{key: f"{names.get(name, name)}{dot}{end}" for key, (name, dot, end) in parts.items()}}


def _renamed(asked: Mapping[str, Any], name: str, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a question's document with its new name, and with the new names of other questions in its conditions."""
    shown = {key: {names.get(name, name): wanted for name, wanted in asked[key].items()}
             for key in CONDITIONS & asked.keys()}  # fmt: skip
    return {**asked, **shown, "name": name}


def _item(card: DraftItem, declining: str) -> dict[str, Any]:
    treated = {key: value for key, value in card.treated.items() if key not in ABSENT_KEYS}
    if card.type in (*TYPES, "matrix"):
        treated |= absent_keys(card, declining)
        if card.harm == "public":
            treated["public"] = True
        else:
            treated = {key: value for key, value in treated.items() if key not in MARKS}
            # A block has one mechanism for all its questions; a person's own fact hides an answer without any.
            if not card.block and "procedure" not in treated:
                treated["mechanism"] = dict(mechanism_for(card, "absent_category" in treated))
    return _without_empty({**card.asked, "of": treated} if card.type == "matrix" else treated)


def _without_empty(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without empty texts, empty maps and None."""
    found = {}
    for key, value in document.items():
        filled = _without_empty(value) if isinstance(value, Mapping) else value
        if isinstance(value, list | tuple):
            filled = [_without_empty(each) if isinstance(each, Mapping) else each for each in value]
        if filled not in ("", {}, None):
            found[key] = filled
    return found


def draft_of(document: Mapping[str, Any], revision: int = 1) -> SurveyDraft:
    """Convert a survey's document, which need not be valid, into a draft without a name."""
    head = {key: value for key, value in document.items() if key not in _OURS} | {"revision": revision}
    blocks, items = in_one_list(document.get("questions", ()))
    cards = tuple(card_of(item, block) for block, item in items)
    if isinstance(head.get("access"), Mapping):
        # Keys for blind signatures belong to one survey; publishing finds or creates them.
        head["access"] = "blind"
    default = str(document.get("default_language", "en"))
    tags = (default, *sorted(text_tags(document) - {default}))
    head["default_language"] = default
    return folded(_set_common_declining(SurveyDraft(head, cards, tags=tags, declining="each", blocks=blocks)))


def card_of(item: Mapping[str, Any], block: str = "") -> DraftItem:
    """Convert one item of a survey's list of questions into a card, with the type that a file need not name."""
    item = {"type": "boolean", **item}
    harm, use, mechanism = harm_of(DraftItem(item).treated)
    return replace(DraftItem.of(item, harm, use, block), mechanism=mechanism)


def _set_common_declining(draft: SurveyDraft) -> SurveyDraft:
    """Replace ``each`` by the common way of declining if all questions have the same one."""
    treated = [card.treated for card in draft.cards if card.kind]
    able = [card.treated for card in draft.cards if card.kind and card.kind.takes_category]
    sets = [card.treated for card in draft.cards if card.kind and card.kind.is_set]
    if able and all(one.get("absent_category") is True for one in able) and all("when_absent" in one for one in sets):
        way = "own"
    elif treated and all("when_absent" in one for one in treated):
        way = "counted"
    elif all("absent_category" not in one and "when_absent" not in one for one in treated):
        way = "never" if treated else "own"
    else:
        way = "each"
    return replace(draft, declining=way)
