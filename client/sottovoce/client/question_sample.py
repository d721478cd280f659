"""Draw the arm and the sample of questions for one respondent: with ``ask: m``, all public ones and m private ones of
the arm.

The device draws the set once, before any question is shown, and keeps it: a set drawn anew, or drawn by another party,
could be made to depend on an answer. The ledger stores it by the names of the private questions, not by the text of the
survey: a person who opens the links of two revisions with the same questions gets the same ones, and cannot choose.

The arm is drawn at Begin, after consent and before any question is shown, so it depends on no answer, and people who
leave at Start do so without knowing it. The ledger keeps it by its name, for the survey and not for a link, a revision
or, without ``arms_per_wave``, a wave: reloading, another tab or link, or a correction gives no second draw.
"""

import hashlib
from collections.abc import Callable, Sequence

from sottovoce.client.draws import Draws
from sottovoce.client.ledger import ARMS, Key, Ledger
from sottovoce.shared.arms.arms import ARM, Unit, UnitSample, samples
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.spec import Survey


def keep_asked(ledger: Ledger, key: Key, survey: Survey, draws: Draws, arm: int = 0) -> tuple[int, ...]:
    """Return the indices, in the survey's order, of what the report for ``key`` has values of.

    They come from sets kept earlier, else from sets drawn now and kept; ``arm`` is 0 without arms. Raises
    BudgetExhausted if the ledger cannot be written or read.
    """
    return _asked(survey, arm, lambda sample: _keep_units(ledger, key, survey, sample, draws))


def _keep_units(ledger: Ledger, key: Key, survey: Survey, sample: UnitSample, draws: Draws) -> list[Unit]:
    # A block is one of what is drawn from, known by the names of all its questions.
    named = {" ".join(survey.questions[index].name for index in unit): unit for unit in sample.units}
    names = sorted(named)

    def draw_places() -> tuple[int, ...]:
        drawn = _draw_units(sample, draws)
        return tuple(place for place, name in enumerate(names) if named[name] in drawn)

    # Of two visits at once the ledger keeps the set of one, and both get that.
    kept = ledger.prepare(key, pool_of(sample.size, names), draw_places)
    # What the ledger gives is used only if this survey could have drawn it: as many as it asks, each once and in order.
    # A set written there by another program could single a person out.
    if len(kept) != sample.size or list(kept) != sorted(set(kept) & set(range(len(names)))):
        raise BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
    return [named[names[place]] for place in kept]


def pool_of(ask: int, names: Sequence[str]) -> str:
    """Return a digest of what a set is drawn from, under which a ledger keeps it.

    ``ask`` is the size of the set; ``names`` are the eligible questions, those of a block as one, in order.
    """
    return hashlib.sha256(dump({"ask": ask, "questions": list(names)})).hexdigest()


def draw_asked(survey: Survey, draws: Draws, arm: int = 0) -> tuple[int, ...]:
    """Draw indices of what a report of an arm has values of, in the survey's order; every set of m units is equally
    likely.

    ``arm`` is 0 without arms. Bytes: those of below(q), below(q - 1), ..., m of them, for q units, a block as one; none
    if all are asked.
    """
    return _asked(survey, arm, lambda sample: _draw_units(sample, draws))


def _draw_units(sample: UnitSample, draws: Draws) -> list[Unit]:
    units = [*sample.units]
    # The first m places of a Fisher-Yates shuffle.
    for place in range(sample.size):
        other = place + draws.below(len(units) - place)
        units[place], units[other] = units[other], units[place]
    return units[: sample.size]


def _asked(survey: Survey, arm: int, choose: Callable[[UnitSample], list[Unit]]) -> tuple[int, ...]:
    """Return what is not left out: public questions, which no sample has, are asked of everybody in the arm."""
    unasked: set[int] = set()
    for sample in samples(survey, arm):
        drawn = choose(sample)
        unasked.update(*(unit for unit in sample.units if unit not in drawn))
    return tuple(index for index in survey.places_by_arm[arm] if index not in unasked)


def draw_arm(survey: Survey, draws: Draws) -> int:
    """Draw the index of an arm, with probability proportional to its weight. Bytes: those of pick(weights), drawn
    before the report's own.
    """
    return draws.pick([arm.weight for arm in survey.arms])


def keep_arm(ledger: Ledger, key: Key, survey: Survey, draws: Draws) -> str:
    """Return the name of the arm that stands for ``key``: one kept earlier, else one drawn now and kept. Raises
    BudgetExhausted if the ledger cannot be written or read, or names an arm that the survey does not have.
    """
    own = key._replace(token="", wave=key.wave if "arms_per_wave" in survey.document else ARMS)
    kept = ledger.prepare(own, ARM, lambda: tuple(survey.arms[draw_arm(survey, draws)].name.encode()))
    # Compared as the ledger has them: whatever else is written there is no name of an arm.
    names = [arm.name for arm in survey.arms if tuple(arm.name.encode()) == kept]
    if not names:
        raise BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
    return names[0]
