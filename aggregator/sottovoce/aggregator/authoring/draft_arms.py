"""Random arms of a draft: which cards a person of an arm is asked, and how many people that are."""

from typing import Any

from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft


def arms_of(draft: SurveyDraft) -> dict[str, int]:
    """Return the weight of each arm by its name; empty without arms. What is no arm is left to the survey's checks."""
    found: Any = draft.head.get("arms", ())
    arms = [each for each in found if isinstance(each, dict)] if isinstance(found, list | tuple) else []
    weights = ((str(each.get("name", "")), each.get("weight", 1)) for each in arms)
    return {name: weight if type(weight) is int and weight > 0 else 1 for name, weight in weights}


def is_in(card: DraftItem, arm: str) -> bool:
    """Return True if people of this arm are asked the card; a card that names no arm is asked in all."""
    named = card.asked.get("arm", arm)
    return arm in named if isinstance(named, list | tuple) else named == arm


def share_asked(draft: SurveyDraft, card: DraftItem) -> float:
    """Return the share of people who are asked a card, by their arm; 1 without arms."""
    arms = arms_of(draft)
    asked = sum(weight for arm, weight in arms.items() if is_in(card, arm))
    return asked / sum(arms.values()) if asked else 1.0
