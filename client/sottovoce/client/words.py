"""The odds of a channel in plain words: sentences of the web client's catalogue, filled from the channel's integers."""

import json
from fractions import Fraction
from functools import cache
from importlib.resources import files
from math import floor

from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question


def odds_in_words(question: Question) -> str:
    """A few sentences about what is sent for this question, and its epsilon."""
    if question.mechanism is None:
        return say("cohort_note" if question.cohort else "public_note")
    numbers = question.mechanism.explain()
    values = {name: of_hundred(n) if isinstance(n, Fraction) else str(n) for name, n in numbers.items()}
    sentence = say(f"odds_{question.mechanism.name}", **values)
    return f"{sentence} {say('question_epsilon', epsilon=show_epsilon(question.epsilon))}."


def say(key: str, **values: str) -> str:
    """One sentence of the catalogue, its placeholders filled."""
    return catalogue()[key].format(**values)


def of_hundred(share: Fraction) -> str:
    """How many of 100 people; "about 0" and "about 100" would claim a certainty that no channel gives."""
    exact = 100 * share
    if exact.denominator == 1:
        return str(exact)
    number = floor(exact + Fraction(1, 2))
    if number == 0:
        return say("fewer_than_one")
    return say("more_than_99" if number == 100 else "about", number=str(number))


@cache
def catalogue() -> dict[str, str]:
    """Every sentence by its key."""
    text = files("sottovoce.client").joinpath("web", "catalogues", "en.json").read_text(encoding="utf-8")
    return dict(json.loads(text))
