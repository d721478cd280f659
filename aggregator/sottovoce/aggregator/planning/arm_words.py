"""Description of a survey's random arms, and what an author should know of them, for ``lint``."""

from collections.abc import Iterator
from itertools import combinations, zip_longest

from sottovoce.shared.spec import Item, Survey


def describe_arms(survey: Survey) -> list[str]:
    """Return a line with the arms and their expected shares; none without arms."""
    if not survey.arms:
        return []
    whole = sum(arm.weight for arm in survey.arms)
    shares = ", ".join(f"{arm.name} {arm.weight / whole:.0%}" for arm in survey.arms)
    kept = "anew in each wave" if "arms_per_wave" in survey.document else "once for a person"
    return [f"arms: {shares}, drawn by the device at Begin, {kept}; a whole report costs as much as in the dearest arm"]


def arm_warnings(survey: Survey) -> list[str]:
    """Return warnings about an arm that no item names: people in it see only what everybody sees."""
    named = {name for item in survey.items for name in item.arms}
    return [
        f"/arms/{index}: no question or note is asked in arm {arm.name} and not in all; is it a control?"
        for index, arm in enumerate(survey.arms)
        if arm.name not in named
    ]


def arm_suggestions(survey: Survey) -> list[str]:
    """Return notes about questions of two arms that differ in wording, which then is a part of the difference."""
    places = {item.name: place for place, item in enumerate(survey.items)}
    return [
        f"/questions/{places[other.name]}: is worded differently than {one.name} in another arm; a difference between "
        "the arms is then one of wording, too"
        for one, other in _counterparts(survey)
        if not _is_same_wording(one, other)
    ]


def _counterparts(survey: Survey) -> Iterator[tuple[Item, Item]]:
    """Yield questions of one type that stand at the same place among those of two arms alone."""
    own = [
        [item for item in survey.items if item.questions and item.is_in(arm.name) and item.arms] for arm in survey.arms
    ]
    seen = set()
    for first, second in combinations(own, 2):
        for one, other in zip_longest(first, second):
            if one and other and one is not other and one.type == other.type and (one.name, other.name) not in seen:
                seen.add((one.name, other.name))
                yield one, other


def _is_same_wording(one: Item, other: Item) -> bool:
    """Return True if each text equals the other one, or continues it, such as with a sentence about protection."""
    return all(
        text.startswith(other.label.get(tag, text)) or other.label.get(tag, text).startswith(text)
        for tag, text in one.label.items()
    )
