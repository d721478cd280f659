"""
What the device remembers for all waves of a survey with ``memoized_rr``: of each such question the permanent answers
for both truths, drawn once, so that what is kept is the same whatever the truth.

The memo is an entry of the ledger, with the charge for all waves. Another text of the survey finds no other memo, since
that would be a second draw; and once it is forgotten there is no further wave for this device.
"""

from collections.abc import Mapping

from sottovoce.client.draws import Draws
from sottovoce.client.ledger import MEMO, Entry, Key, Ledger, recorded
from sottovoce.client.randomizers.memoized_rr import memorize
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.spec import Survey

Memo = Mapping[int, tuple[int, int]]
"""The permanent answers for a truth of no and of yes, by the question's index."""


def keep_memo(ledger: Ledger, key: Key, survey: Survey, draws: Draws) -> Memo:
    """
    The memo, drawn and charged before the first report that makes use of it; empty if the survey needs none.

    Args:
        ledger: keeps the memo, for all waves.
        key: what is answered, in any wave.
        survey: the survey.
        draws: the source of randomness.

    Bytes: those of two picks of the permanent layer for each memoized question, whether or not one is kept already.

    Raises:
        BudgetExhausted: it was drawn for another text of the survey, forgotten, or cannot be read.
    """
    if not survey.memoized:
        return {}
    drawn = draw_memo(survey, draws)
    body = "".join(str(answer) for pair in drawn.values() for answer in pair)
    ledger.record(_key(key), Entry(survey.digest, survey.epsilon_of_memo, body, sent=True))
    kept = check_memo(ledger, key, survey)
    if kept is None:
        raise BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
    return kept


def check_memo(ledger: Ledger, key: Key, survey: Survey) -> Memo | None:
    """
    The memo that was kept, or None; nothing is drawn.

    Args:
        ledger: where to look.
        key: what is answered, in any wave.
        survey: the survey.

    Raises:
        BudgetExhausted: as for ``keep_memo``.
    """
    entry = recorded(ledger, _key(key), survey.digest)
    if entry is None:
        return None
    if entry.ended:
        raise BudgetExhausted("this device has forgotten what it drew for all waves of this survey; no other is drawn")
    digits = ["01".find(digit) for digit in entry.body]
    if len(digits) != 2 * len(survey.memoized) or -1 in digits:
        raise BudgetExhausted("the ledger cannot be read; nothing was drawn and nothing was sent")
    return {index: (digits[2 * i], digits[2 * i + 1]) for i, index in enumerate(survey.memoized)}


def draw_memo(survey: Survey, draws: Draws) -> Memo:
    """Both permanent answers of each memoized question, in the survey's order; nothing is kept or charged yet."""
    return {index: memorize(survey.questions[index].mechanism, draws) for index in survey.memoized}  # type: ignore[arg-type]


def _key(key: Key) -> Key:
    # One entry for all waves: a memo of its own for each wave would be a permanent answer drawn anew.
    return key._replace(wave=MEMO)
