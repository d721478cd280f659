"""Put a question's channel into words: the form's own sentences with the channel's numbers."""

from collections.abc import Mapping
from fractions import Fraction
from math import floor

from sottovoce.shared.languages import FULL_STOPS, numerals
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question


def odds_in_words(question: Question, sentences: Mapping[str, str], language: str) -> str:
    """Return a few sentences, of the form's catalogue of a language, about what is sent, and the question's epsilon."""
    if question.mechanism is None:
        return sentences["cohort_note" if "cohort" in question.marks else "public_note"]
    numbers = question.mechanism.explain()
    values = {name: of_hundred(n, sentences) if isinstance(n, Fraction) else str(n) for name, n in numbers.items()}
    usual = f"odds_{question.mechanism.report_kind}"
    together = f"odds_together_{question.mechanism.report_kind}"
    # Where only the form's first sentences are known, a question of a block is described by its own channel.
    if question.member and together in sentences:
        usual = together
    own_fact = question.by_fact.procedure if question.by_fact else ""
    usual = f"odds_{own_fact}" if f"odds_{own_fact}" in sentences else usual
    # A type whose values are no numbers to people has sentences of its own: the latest date is not the largest one.
    own = f"{question.type}_{usual}"
    parts = [sentences[own if own in sentences else usual].format(**values)]
    if question.neutral:
        parts.append(sentences["neutral_note"])
    parts.append(sentences["question_epsilon"].format(epsilon=numerals(show_epsilon(question.epsilon), language)))
    return f"{sentences['gap'].join(parts)}{FULL_STOPS.get(language, '.')}"


def of_hundred(share: Fraction, sentences: Mapping[str, str]) -> str:
    """Return a share, from 0 to 1, as people of 100. One that only rounds to 0 or 100 is not shown as certain."""
    exact = 100 * share
    if exact.denominator == 1:
        return str(exact)
    number = floor(exact + Fraction(1, 2))
    if number == 0:
        return sentences["fewer_than_one"]
    return sentences["more_than_99" if number == 100 else "about"].format(number=str(number))
