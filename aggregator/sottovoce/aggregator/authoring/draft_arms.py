"""Random arms of a draft: which cards a person of an arm is asked, and how many people that are."""

from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft

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
    """
    Read arms as ``written_arms`` writes them; a name without a weight has weight 1. None for an empty text.

    Args:
        text: from the form; what is no weight is kept as text, so that the page can report it as a problem.
    """
    found = []
    for part in text.split(","):
        name, _, weight = (each.strip() for each in part.partition(":"))
        if name or weight:
            is_number = weight.isascii() and weight.isdigit() and len(weight) <= _LONGEST_WEIGHT
            found.append({"name": name, "weight": int(weight) if is_number else weight or 1})
    return found or None


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
