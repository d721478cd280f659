"""
Which questions a respondent is asked: with ``ask: m``, all public ones and m of the private ones.

The device draws the set once, before any question is shown, and keeps it: a set drawn anew, or drawn by somebody else,
could be made to depend on an answer.
"""

from sottovoce.client.draws import Draws
from sottovoce.shared.spec import Survey


def draw_asked(survey: Survey, draws: Draws) -> tuple[int, ...]:
    """
    Indices of the questions to ask, in the survey's order; every set of m private ones is equally likely.

    Bytes: those of below(q), below(q - 1), ..., m of them, for q private questions; none if all are asked.
    """
    places = list(survey.private)  # where each private question stands among all questions of the survey
    asked = len(places) if survey.ask is None else survey.ask
    if asked < len(places):
        # The first m places of a Fisher-Yates shuffle.
        for place in range(asked):
            other = place + draws.below(len(places) - place)
            places[place], places[other] = places[other], places[place]
    unasked = places[asked:]
    # By what is left out: public questions, which are not among ``places``, are asked of everybody.
    return tuple(index for index in range(len(survey.questions)) if index not in unasked)
