"""Read and write the random arms of a draft: which cards a person of an arm is asked, and how many people that are."""

from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.shared.parse_item import MEASURES

_LONGEST_WEIGHT = 9


def arms_of(draft: SurveyDraft) -> dict[str, int]:
    """Return the weight of each arm by its name; empty without arms. What is no arm is left to the survey's checks."""
    found: Any = draft.head.get("arms", ())
    arms = [each for each in found if isinstance(each, dict)] if isinstance(found, list | tuple) else []
    weights = ((str(each.get("name", "")), each.get("weight", 1)) for each in arms)
    return {name: weight if type(weight) is int and weight > 0 else 1 for name, weight in weights}


def written_arms(draft: SurveyDraft) -> str:
    """Return the arms as the page shows them, such as ``direct: 1, protected: 2``; "" without arms."""
    return ", ".join(f"{name}: {weight}" for name, weight in arms_of(draft).items())


def read_arms(text: str) -> list[dict[str, Any]] | None:
    """Read arms as ``written_arms`` writes them; a name without a weight has weight 1. None for an empty text.

    What is no weight is kept as text, so that the page can report it as a problem.
    """
    found = []
    for part in text.split(","):
        name, _, weight = (each.strip() for each in part.partition(":"))
        if name or weight:
            is_number = weight.isascii() and weight.isdigit() and len(weight) <= _LONGEST_WEIGHT
            found.append({"name": name, "weight": int(weight) if is_number else weight or 1})
    return found or None


def written_plan(draft: SurveyDraft) -> str:
    """Return the planned comparisons, one a line, such as ``copied against copied_direct, ratio``."""
    found: Any = draft.head.get("analysis_plan", ())
    return "\n".join(_written_comparison(each) for each in found if isinstance(each, dict))


def _written_comparison(planned: dict[str, Any]) -> str:
    compared = next((f"{key} {planned[key]}" for key in ("against", "by") if key in planned), "")
    given = {"measure": MEASURES[0], "confidence": "0.95", **planned}
    more = [given["measure"]] if given["measure"] != MEASURES[0] else []
    more += [given["confidence"]] if given["confidence"] != "0.95" else []
    more += [f"{key} {planned[key]}" for key in ("category", "design") if key in planned]
    return ", ".join([f"{planned.get('question', '')} {compared}".strip(), *map(str, more)])


def read_plan(text: str) -> list[dict[str, Any]] | None:
    """Read planned comparisons as ``written_plan`` writes them; None for an empty text."""
    lines = [[part.strip() for part in line.split(",")] for line in text.splitlines() if line.strip()]
    return [_comparison(*line) for line in lines] or None


def _comparison(compared: str, *more: str) -> dict[str, Any]:
    words = compared.split()
    # What is no comparison is kept as it was typed, so that the page can report it as a problem.
    is_whole = len(words) == 3 and words[1] in {"against", "by"}
    found = {"question": words[0], words[1]: words[2]} if is_whole else {"question": compared}
    for each in filter(None, more):
        key, _, value = each.partition(" ")
        is_level = each.startswith("0.")
        is_named = key in {"category", "design"}
        found |= {key: value} if is_named else {"confidence" if is_level else "measure": each}
    return found


def arm_on_card(card: DraftItem) -> str:
    """Return the names of the card's arms as its field has them, such as ``direct``; "" for all arms."""
    named = card.asked.get("arm", ())
    return named if isinstance(named, str) else ", ".join(map(str, named))


def arms_in_field(selected: str) -> list[str] | None:
    """Return the names in a card's field, which ``arm_on_card`` wrote; None for all arms."""
    return [name.strip() for name in selected.split(",") if name.strip()] or None


def is_in(card: DraftItem, arm: str) -> bool:
    """Return True if people of this arm are asked the card; a card that names no arm is asked in all."""
    named = card.asked.get("arm", arm)
    return arm in named if isinstance(named, list | tuple) else named == arm
