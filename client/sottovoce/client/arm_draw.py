"""
The arm of one respondent: drawn by the device with the survey's integer weights, once, and kept by its name.

It is drawn at Begin, after consent and before any question is shown, so it depends on no answer, and people who
leave at Start do so without knowing it. The ledger keeps it for the survey and not for a link, a revision or, without
``arms_per_wave``, a wave: reloading, another tab or link, or a correction gives no second draw.
"""

from sottovoce.client.draws import Draws
from sottovoce.client.ledger import ARMS, Key, Ledger
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.spec import Survey


def draw_arm(survey: Survey, draws: Draws) -> int:
    """
    Index of an arm, with probability proportional to its weight.

    Bytes: those of pick(weights), drawn before the report's own.
    """
    return draws.pick([arm.weight for arm in survey.arms])


def keep_arm(ledger: Ledger, key: Key, survey: Survey, draws: Draws) -> str:
    """
    The name of the arm that stands for ``key``: one kept earlier, else one drawn now and kept.

    Args:
        ledger: where it is kept.
        key: what is answered.
        survey: whose arms they are.
        draws: the source of randomness.

    Raises:
        BudgetExhausted: the ledger cannot be written or read, or names an arm that the survey does not have.
    """
    own = key._replace(token="", wave=key.wave if "arms_per_wave" in survey.document else ARMS)
    kept = ledger.prepare(own, ARM, lambda: tuple(survey.arms[draw_arm(survey, draws)].name.encode()))
    # Compared as the ledger has them: whatever else is written there is no name of an arm.
    names = [arm.name for arm in survey.arms if tuple(arm.name.encode()) == kept]
    if not names:
        raise BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
    return names[0]
