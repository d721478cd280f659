"""Parse the posted form of the page Design into a draft, starting from the version that the page showed."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from itertools import count, takewhile
from typing import Any

from sottovoce.aggregator.authoring.conditions import earlier_questions, posted_conditions
from sottovoce.aggregator.authoring.draft import ACCESSES, DECLINING, HARMS, MOST_PEOPLE, DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.draft_arms import arm_on_card, arms_in_field, read_arms, read_plan
from sottovoce.aggregator.authoring.draft_blocks import with_ask
from sottovoce.aggregator.authoring.draft_orders import with_order
from sottovoce.aggregator.authoring.sensitivity_levels import uses_of
from sottovoce.aggregator.authoring.slugs import free_name, question_name, short_name
from sottovoce.aggregator.studio.design.rare_fields import PostedForm, apply_procedure, apply_screen_out
from sottovoce.shared.order.orders import RANDOM
from sottovoce.shared.parse_item import CONDITIONS
from sottovoce.shared.types import TYPES

_TEXTS = ("title", "description", "consent", "notice", "neutral_title")
_RESEARCHER = ("name", "institution", "ethics")
_BOUNDS = ("min", "max", "step")
_LONGEST_NUMBER = 9
_STAMP = re.compile(r"[0-9a-f]{1,64}\.[0-9]{1,9}")


def posted_draft(form: PostedForm, base: SurveyDraft) -> SurveyDraft:
    """Apply the posted form, with fields such as ``q0.label.en``, to the version shown; parts without a field stay.

    Invalid input never raises: it is kept as text where the page can report it as a problem, else ignored.
    """
    cards = tuple(
        _with_conditions(form, number, _card(form, f"q{number}", card, base), base)
        for number, card in enumerate(base.cards)
    )
    if "cohort" in form:
        cards = tuple(_with_cohort(card, form["cohort"] == str(number)) for number, card in enumerate(cards))
    declining, stamp = form.get("declining", base.declining), form.get("stamp", "")
    posted = replace(
        base,
        head=_head(form, base),
        cards=cards,
        people=_parse_int(form, "people", base.people),
        group=_parse_int(form, "group", base.group),
        declining=declining if declining in DECLINING else base.declining,
        stamp=stamp if _STAMP.fullmatch(stamp) else "",
    )
    for name in base.blocks:
        # An unchanged number keeps the mechanism of an imported file, with its own radius.
        if f"ask.{name}" in form and (ask := _parse_ask(form[f"ask.{name}"])) != base.ask_of(name):
            posted = with_ask(posted, name, ask)
    return posted


def _parse_int(form: PostedForm, field: str, before: int | None) -> int | None:
    if field not in form:
        return before
    digits = "".join(character for character in form[field] if character.isdecimal())
    return min(int(digits[:12]), MOST_PEOPLE) if digits and int(digits[:12]) else None


def _text(form: PostedForm, field: str, tags: tuple[str, ...], before: Mapping[str, str] | None) -> dict[str, str]:
    """Read a text by language; languages without a field in the form stay unchanged."""
    found = dict(before or {})
    for tag in tags:
        if f"{field}.{tag}" in form:
            found[tag] = _clean(form[f"{field}.{tag}"])
    return {tag: text for tag, text in found.items() if text}


def _read_text(form: PostedForm, tags: tuple[str, ...], field: str, before: Mapping[str, str] | None) -> dict[str, str]:
    return _text(form, field, tags, before)


def _clean(text: str) -> str:
    """Normalize line ends as the survey format wants them, and drop control characters."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").strip()
    return "".join(character for character in lines if character >= " " or character == "\n")


def _head(form: PostedForm, base: SurveyDraft) -> dict[str, Any]:
    head = dict(base.head)
    for key in _TEXTS:
        head[key] = _text(form, key, base.tags, head.get(key))
    researcher = dict(head.get("researcher", {}))
    for key in _RESEARCHER:
        researcher[key] = _text(form, f"researcher.{key}", base.tags, researcher.get(key))
    researcher["contact"] = form.get("researcher.contact", researcher.get("contact", "")).strip()
    after = dict(head.get("after", {}))
    after["text"] = _text(form, "after.text", base.tags, after.get("text"))
    after["link"] = form.get("after.link", after.get("link", "")).strip()
    after["screen_out"] = apply_screen_out(form, after, partial(_read_text, form, base.tags))
    if "after.label0" in form:
        rows = takewhile(lambda number: f"after.label{number}" in form, count())
        found = ((form[f"after.label{row}"].strip(), form.get(f"after.to{row}", "").strip()) for row in rows)
        after["links"] = {label: link for label, link in found if label or link}
    head |= {"researcher": _written(researcher), "after": _written(after)}
    return _written(_with_settings(form, head))


def _with_settings(form: PostedForm, before: Mapping[str, Any]) -> dict[str, Any]:
    """Apply the settings in the form: dates, waves, access, retention, privacy and questions per person."""
    head = dict(before)
    for key, read in _AT_THE_TOP.items():
        if key in form:
            head[key] = read(form[key])
    if not head.get("order"):
        head.pop("keep_last", None)
    for (section, key), read in _BELOW.items():
        if key in form:
            head[section] = _written({**head.get(section, {}), key: read(form[key].strip())})
    if "wave0.opens" in form:
        head["waves"] = _waves(form)
    # For blind access, publishing adds the public keys; a correction gets the same keys again.
    if form.get("access") in ACCESSES:
        head["access"] = form["access"]
    return head


def _waves(form: PostedForm) -> list[dict[str, str]] | None:
    """Read the waves in order; an empty row deletes the wave."""
    rows = takewhile(lambda number: f"wave{number}.opens" in form, count())
    found = (_written({key: _moment(form.get(f"wave{row}.{key}", "")) for key in ("opens", "closes")}) for row in rows)
    return [wave for wave in found if wave] or None


def _written(document: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if value not in ("", {}, None)}


def _moment(text: str) -> str:
    """Convert a browser's ``2026-12-31T23:59``, labelled as UTC on the page, to the survey format."""
    text = text.strip()
    return f"{text}:00Z" if len(text) == len("2026-12-31T23:59") else text


def _parse_ask(text: str) -> int | None:
    return int(text[:6]) if text.isascii() and text.isdigit() else None


def _number_or_text(text: str) -> int | str:
    """Read a whole number; keep other input as text, so that the page can report it as a problem."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else text[:_LONGEST_NUMBER]


_AT_THE_TOP: Mapping[str, Callable[[str], object]] = {
    "opens": _moment,
    "closes": _moment,
    "ask": _parse_ask,
    "arms": read_arms,
    "analysis_plan": read_plan,
    "order": lambda text: text if text == RANDOM else None,
    "quick_exit": lambda text: text == "1" or None,
    "kiosk": lambda text: text == "1" or None,
}
_BELOW: Mapping[tuple[str, str], Callable[[str], object]] = {
    ("retention", "delete_on"): str,
    ("retention", "ids_days"): _number_or_text,
    ("privacy", "release_batch"): _number_or_text,
    ("privacy", "send_within_hours"): _number_or_text,
    ("privacy", "send_at_seconds"): _number_or_text,
}
"""Settings of the survey's document, at the top level or in a section, with the parser of the field's text."""


def _card(form: PostedForm, prefix: str, card: DraftItem, base: SurveyDraft) -> DraftItem:
    asked, tags, follow = dict(card.asked), base.tags, _names_follow(base, card)
    asked["arm"] = arms_in_field(form.get(f"{prefix}.arm", arm_on_card(card)))
    for key in ("label", "hint"):
        asked[key] = _text(form, f"{prefix}.{key}", tags, asked.get(key))
    if form.get(f"{prefix}.name"):
        asked["name"] = short_name(form[f"{prefix}.name"], card.name)
    if card.type in TYPES:
        asked = _apply_type(form, prefix, asked, tags, follow)
    if card.type == "matrix":
        asked["rows"] = _choices(form, f"{prefix}.rows", asked.get("rows", []), tags, follow, "r")
        asked["of"] = _apply_type(form, prefix, asked.get("of", {}), tags, follow)
    asked = _apply_order(form, prefix, asked)
    asked = apply_procedure(form, prefix, asked, partial(_read_text, form, tags))
    if f"{prefix}.in_files" in form:
        asked["in_files"] = True if form[f"{prefix}.in_files"] == "1" else None
    if f"{prefix}.known_share" in form:
        share = form[f"{prefix}.known_share"][:_LONGEST_NUMBER]
        asked |= {"anchor": True if share else None, "known_share": share}
    if asked["type"] != "boolean":
        asked |= {"anchor": None, "known_share": None}
    kind, use = str(asked.get("of", asked).get("type", "")), form.get(f"{prefix}.use", card.use)
    harm = form.get(f"{prefix}.harm", card.harm)
    harm = harm if harm in HARMS else card.harm
    epsilon = form.get(f"{prefix}.epsilon", "").strip().replace(",", ".")
    return DraftItem(
        {key: value for key, value in asked.items() if value not in ("", {}, None)} | {"label": asked["label"]},
        "clearly" if harm == "public" and "procedure" in asked else harm,
        use if use in uses_of(kind) else "",
        {"epsilon": epsilon[:20]} if epsilon else card.mechanism,
        card.block,
    )


def _apply_order(form: PostedForm, prefix: str, asked: dict[str, Any]) -> dict[str, Any]:
    """Apply the order of options or rows; a type without them loses it."""
    if f"{prefix}.order" not in form:
        return asked
    return with_order(asked, form[f"{prefix}.order"], form.get(f"{prefix}.keep_last", "").strip())


def _with_conditions(form: PostedForm, number: int, card: DraftItem, base: SurveyDraft) -> DraftItem:
    asked = posted_conditions(form, f"q{number}", card.asked, earlier_questions(base, number))
    return replace(card, asked=asked)


def _with_cohort(card: DraftItem, divides: bool) -> DraftItem:
    """Set or remove the mark of the cohort question; at most one question has it."""
    asked = {key: value for key, value in card.asked.items() if key != "cohort"}
    return replace(card, asked=asked | ({"cohort": True} if divides else {}))


def _names_follow(base: SurveyDraft, card: DraftItem) -> bool:
    """Return True if names of options and rows follow edited texts: before publication, if nothing else names them."""
    named = {name for each in base.cards for key in CONDITIONS for name in each.asked.get(key, {})}
    named |= base.head.get("after", {}).get("screen_out", {}).get("when", {}).keys()
    own = {"keep_last", "when_absent"} & {*card.asked, *card.treated}
    return base.head.get("revision", 1) == 1 and card.name not in named and not own and "analysis_plan" not in base.head


def _apply_type(
    form: PostedForm, prefix: str, asked: dict[str, Any], tags: tuple[str, ...], follow: bool
) -> dict[str, Any]:
    """Apply the type of a question, and the choices or bounds that belong to the type."""
    wanted = form.get(f"{prefix}.type", "")
    kind = TYPES[wanted if wanted in TYPES else str(asked.get("type", "boolean"))]
    asked["type"] = kind.name
    if kind.list_key == "choices":
        asked["choices"] = _choices(form, f"{prefix}.options", asked.get("choices", []), tags, follow)
    for key in _BOUNDS:
        if f"{prefix}.{key}" in form and key in kind.keys:
            asked[key] = form[f"{prefix}.{key}"].strip().replace(",", ".")
    if kind.list_key == "choices" and form.get(f"{prefix}.most"):
        asked["max_choices"] = int(form[f"{prefix}.most"][:3]) if form[f"{prefix}.most"].isdecimal() else None
    if f"{prefix}.absent" in form:
        asked["when_absent"] = form[f"{prefix}.absent"].strip() or None
    return {key: value for key, value in asked.items() if key not in _not_of(kind.name)}


def _not_of(kind: str) -> set[str]:
    """Return the keys that only other types use; a change of type must drop them."""
    return {key for made in TYPES.values() for key in made.keys} - set(TYPES[kind].keys)


def _choices(
    form: PostedForm,
    field: str,
    before: list[Mapping[str, Any]],
    tags: tuple[str, ...],
    follow: bool,
    letter: str = "o",
) -> list[Mapping[str, Any]]:
    """Read the options, one on each line; an unchanged line keeps its name, even if lines before it came or went.

    The rows of a matrix are read likewise; ``letter`` begins the name of a line without letters. With ``follow`` an
    edited line gets a new name if its name was made of its text. Lines in other languages belong to the option on the
    same line of the first language.
    """
    if f"{field}.{tags[0]}" not in form:
        return before
    lines = {tag: _lines(form.get(f"{field}.{tag}", "")) for tag in tags}
    known = {choice["label"].get(tags[0], ""): str(choice["name"]) for choice in before}
    texts = lines[tags[0]]
    # If no line was added or removed, an edited line keeps the option's name: revisions add up counts by name.
    if len(texts) == len(before):
        edited = [(text, choice) for text, choice in zip(texts, before, strict=True) if text not in known]
        kept = [each for each in edited if not (follow and _is_made(each[1], tags[0], letter))]
        known |= {text: str(choice["name"]) for text, choice in kept}
    taken: list[str] = [known[text] for text in texts if text in known]
    found: list[Mapping[str, Any]] = []
    used: set[str] = set()
    for place, text in enumerate(texts):
        name = known.get(text, "")
        if not name or name in used:
            name = free_name(_made_name(text, f"{letter}{place + 1}", tags[0], letter), taken)
            taken.append(name)
        used.add(name)
        label = {tag: lines[tag][place] for tag in tags if place < len(lines[tag]) and lines[tag][place]}
        found.append({"name": name, "label": label})
    return found


def _made_name(text: str, otherwise: str, tag: str, letter: str) -> str:
    """Make the name of an option, or of a row, whose name becomes a part of a variable's and is short like one."""
    return question_name(text, otherwise, tag) if letter == "r" else short_name(text, otherwise)


def _is_made(choice: Mapping[str, Any], tag: str, letter: str) -> bool:
    """Return True if a name is made of the text of its option or row, with or without a number at its end."""
    made = _made_name(choice["label"].get(tag, ""), f"{letter}[0-9]+", tag, letter)
    return re.fullmatch(f"{made}(_[0-9]+)?", str(choice["name"]), re.ASCII) is not None


def _lines(text: str) -> list[str]:
    return [line for each in _clean(text).split("\n") if (line := each.strip())]
