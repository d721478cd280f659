"""
The sample of questions for one respondent: with ``ask: m``, all public ones and m of the private ones.

The device draws the set once, before any question is shown, and keeps it: a set drawn anew, or drawn by another party,
could be made to depend on an answer. The ledger stores it by the names of the private questions, not by the text of the
survey: a person who opens the links of two revisions with the same questions gets the same ones, and cannot choose.
"""

import hashlib

from sottovoce.client.draws import Draws
from sottovoce.client.ledger import Key, Ledger
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.spec import Survey


def keep_asked(ledger: Ledger, key: Key, survey: Survey, draws: Draws) -> tuple[int, ...]:
    """
    The set that stands for ``key``: one kept earlier, else one drawn now and kept.

    Args:
        ledger: where it is kept.
        key: what is answered.
        survey: whose questions they are.
        draws: the source of randomness.

    Returns:
        Indices of the questions to ask, in the survey's order.

    Raises:
        BudgetExhausted: the ledger cannot be written or read.
    """
    if survey.ask is None:
        return draw_asked(survey, draws)
    # A block is one of what is drawn from, known by the names of all its questions.
    named = {" ".join(survey.questions[index].name for index in unit): unit for unit in survey.units}
    names = sorted(named)

    def draw_places() -> tuple[int, ...]:
        drawn = draw_asked(survey, draws)
        return tuple(place for place, name in enumerate(names) if named[name][0] in drawn)

    # Of two visits at once the ledger keeps the set of one, and both get that.
    sample = ledger.prepare(key, _pool(survey.ask, names), draw_places)
    # What the ledger gives is used only if this survey could have drawn it: as many as it asks, each once and in order.
    # A set written there by another program could single a person out.
    if len(sample) != survey.ask or list(sample) != sorted(set(sample) & set(range(len(names)))):
        raise BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
    asked = {index for place in sample for index in named[names[place]]}
    return tuple(index for index in range(len(survey.questions)) if index in asked or index not in survey.private)


def _pool(ask: int, names: list[str]) -> str:
    """Digest of what a set is drawn from: its size and the eligible questions."""
    return hashlib.sha256(dump({"ask": ask, "questions": names})).hexdigest()


def draw_asked(survey: Survey, draws: Draws) -> tuple[int, ...]:
    """
    Indices of the questions to ask, in the survey's order; every set of m private ones is equally likely.

    Bytes: those of below(q), below(q - 1), ..., m of them, for q private questions, a block as one; none if all are
    asked.
    """
    places = list(survey.units)  # where each private question is among all questions of the survey
    asked = survey.asked_units
    if asked < len(places):
        # The first m places of a Fisher-Yates shuffle.
        for place in range(asked):
            other = place + draws.below(len(places) - place)
            places[place], places[other] = places[other], places[place]
    unasked = {index for unit in places[asked:] for index in unit}
    # By what is left out: public questions, which are not among ``places``, are asked of everybody.
    return tuple(index for index in range(len(survey.questions)) if index not in unasked)
