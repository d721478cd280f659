"""The odds of a channel in plain words, derived from its integers."""

from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question


def odds_in_words(question: Question) -> str:
    """One or two sentences about what is sent for this question, and its epsilon."""
    if question.mechanism is None:
        return "This answer is sent as you give it."
    return f"{_sentence(question.mechanism)} Epsilon {show_epsilon(question.epsilon)}."


def _sentence(mechanism: Mechanism) -> str:
    kept, other = _of_hundred(mechanism, 1, 1), _of_hundred(mechanism, 0, 1)
    if mechanism.inputs == 2:
        return (
            f"Of 100 people whose true answer is yes, {kept} send yes; "
            f"of 100 people whose true answer is no, {other} also send yes."
        )
    return f"Of 100 people with the same true answer, {kept} send it and {other} send each of the others."


def _of_hundred(mechanism: Mechanism, truth: int, reported: int) -> str:
    weights = mechanism.weights(truth)
    exact, rest = divmod(100 * weights[reported], sum(weights))
    return str(exact) if rest == 0 else f"about {round(100 * weights[reported] / sum(weights))}"
