"""Compare two versions of a draft field by field, to show an edit conflict."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sottovoce.aggregator.authoring.draft import SurveyDraft, written_arms, written_plan
from sottovoce.aggregator.authoring.sensitivity_levels import uses_of
from sottovoce.shared import canonical


class FieldDifference(NamedTuple):
    """Field that differs between two versions, with its language tag or "", and its value in each or "".

    ``card`` is the number of its question, None for a field of the survey; ``field`` its name, such as ``label``.
    """

    card: int | None
    field: str
    tag: str
    mine: str
    theirs: str


def differences(mine: SurveyDraft, theirs: SurveyDraft) -> list[FieldDifference]:
    """Return every field that differs, in the order of the form."""
    found, other = dict(_fields(mine)), dict(_fields(theirs))
    keys = [*found, *(key for key in other if key not in found)]
    changed = [key for key in keys if found.get(key, "") != other.get(key, "")]
    return [FieldDifference(*key, found.get(key, ""), other.get(key, "")) for key in changed]


_SECTIONS = ("researcher", "after", "retention", "privacy")
"""Maps in the survey's document whose keys are separate fields of the form."""

_Key = tuple[int | None, str, str]


def _fields(draft: SurveyDraft) -> Iterator[tuple[_Key, str]]:
    for key, value in {"people": draft.people, "group": draft.group, "declining": draft.declining}.items():
        yield (None, key, ""), _as_text(value)
    yield (None, "direct_half", ""), "yes" if draft.direct_half else ""
    # As they are written in the form: a published survey has what the form leaves out.
    head = {**draft.head, "arms": written_arms(draft), "analysis_plan": written_plan(draft)}
    yield from _map_fields(None, _without_arms(draft, head), draft.tags)
    yield from (((None, "block", name), _in_line(entry)) for name, entry in draft.blocks.items())
    for number, card in enumerate(draft.cards):
        yield from _map_fields(number, _without_arms(draft, card.asked), draft.tags)
        yield (number, "harm", ""), card.harm
        yield (number, "use", ""), card.use or next(iter(uses_of(card.kind)), "")
        yield (number, "mechanism", ""), _as_text(card.mechanism)
        yield (number, "block", ""), card.block


def _without_arms(draft: SurveyDraft, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part without the arms that follow from asking a half directly."""
    return {key: value for key, value in document.items() if not draft.direct_half or key not in ("arm", "arms")}


def _map_fields(card: int | None, document: Mapping[str, Any], tags: tuple[str, ...]) -> Iterator[tuple[_Key, str]]:
    for key, value in document.items():
        if key in ("choices", "coordinates", "rows"):
            field = "rows" if key == "rows" else "options"
            for tag in tags:
                yield (card, field, tag), "\n".join(str(each.get("label", {}).get(tag, "")) for each in value)
        elif isinstance(value, Mapping) and set(value) <= set(tags):
            yield from (((card, key, tag), str(text)) for tag, text in value.items())
        elif key in _SECTIONS and isinstance(value, Mapping):
            yield from (((card, f"{key}.{of[1]}", of[2]), text) for of, text in _map_fields(card, value, tags))
        elif key == "waves" and isinstance(value, list):
            for number, wave in enumerate(value):
                yield from (((card, f"wave{number}.{end}", ""), _as_text(wave[end])) for end in wave)
        else:
            yield (card, key, ""), _as_text(value)


def _in_line(entry: Mapping[str, Any]) -> str:
    made = entry.get("mechanism")
    parts = {**made, **entry} if isinstance(made, Mapping) else entry
    return ", ".join(f"{key} {_as_text(parts[key])}" for key in parts if key != "mechanism" or parts is entry)


def _as_text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical.dump(value).decode()
