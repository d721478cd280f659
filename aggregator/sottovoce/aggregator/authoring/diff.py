"""Where two versions of a draft differ, field by field: what two people see who have written over each other."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.shared import canonical


class FieldDifference(NamedTuple):
    """
    One field that two versions have differently.

    Attributes:
        card: the number of the question that it stands on; None for one of the survey.
        field: its name, such as ``label``.
        tag: of the language, or "".
        mine: as one version has it, "" if it does not.
        theirs: as the other has it.
    """

    card: int | None
    field: str
    tag: str
    mine: str
    theirs: str


def differences(mine: SurveyDraft, theirs: SurveyDraft) -> list[FieldDifference]:
    """Every field that differs, in the order of the form."""
    found, other = dict(_fields(mine)), dict(_fields(theirs))
    keys = [*found, *(key for key in other if key not in found)]
    changed = [key for key in keys if found.get(key, "") != other.get(key, "")]
    return [FieldDifference(*key, found.get(key, ""), other.get(key, "")) for key in changed]


_SECTIONS = ("researcher", "after", "retention", "privacy")
"""Parts of the survey's document whose fields stand on the form one by one."""

_Key = tuple[int | None, str, str]


def _fields(draft: SurveyDraft) -> Iterator[tuple[_Key, str]]:
    for key, value in {"people": draft.people, "group": draft.group, "declining": draft.declining}.items():
        yield (None, key, ""), _told(value)
    yield from _of_map(None, draft.head, draft.tags)
    for number, card in enumerate(draft.cards):
        yield from _of_map(number, card.asked, draft.tags)
        yield (number, "harm", ""), card.harm
        yield (number, "use", ""), card.use
        yield (number, "mechanism", ""), _told(card.mechanism)


def _of_map(card: int | None, document: Mapping[str, Any], tags: tuple[str, ...]) -> Iterator[tuple[_Key, str]]:
    for key, value in document.items():
        if key in ("choices", "coordinates"):
            for tag in tags:
                yield (card, "options", tag), "\n".join(str(each.get("label", {}).get(tag, "")) for each in value)
        elif isinstance(value, Mapping) and set(value) <= set(tags):
            yield from (((card, key, tag), str(text)) for tag, text in value.items())
        elif key in _SECTIONS and isinstance(value, Mapping):
            yield from (((card, f"{key}.{of[1]}", of[2]), told) for of, told in _of_map(card, value, tags))
        elif key == "waves" and isinstance(value, list):
            for number, wave in enumerate(value):
                yield from (((card, f"wave{number}.{end}", ""), _told(wave[end])) for end in wave)
        else:
            yield (card, key, ""), _told(value)


def _told(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else canonical.dump(value).decode()
