"""Keep the memo for all waves of a survey with ``memoized_rr``: the permanent answers of each such question, for both
truths, drawn once. Both are kept, so that the memo is independent of the truth.

The memo is an entry of the ledger, with the charge for all waves. It is kept by the questions' names and the numbers of
their channels: a correction of texts or of the order finds it again, and what has no memo, or had another channel, is
never drawn a second time. Once the memo is forgotten there is no further wave for this device.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from sottovoce.client.draws import Draws
from sottovoce.client.ledger import MEMO, Entry, Key, Ledger
from sottovoce.client.randomizers import Memo, memorize
from sottovoce.client.revisions import cached_survey
from sottovoce.shared import canonical
from sottovoce.shared.errors import BudgetExhausted
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.spec import Survey

_DAMAGED = "the ledger cannot be read; nothing was drawn and nothing was sent"
_ANSWERS = {f"{no}{yes}": (no, yes) for no in (0, 1) for yes in (0, 1)}


class _StoredMemo(NamedTuple):
    """The memo of one question.

    Attributes:
        answers: a digit for a truth of no, and one for a truth of yes.
        layer: numerators and denominators of the permanent layer.
        waves: those of the layer drawn anew in each wave, and the number of waves: what the charge was made for.
    """

    answers: str
    layer: list[int]
    waves: list[int]


def keep_memo(ledger: Ledger, key: Key, survey: Survey, draws: Draws) -> Memo:
    """Return the memo, drawn and charged before the first report that makes use of it; empty if the survey needs none.

    Bytes: those of two picks of the permanent layer for each memoized question, whether or not one is kept already.

    Raises BudgetExhausted if it was drawn for other questions or another channel, forgotten, or cannot be read.
    """
    if not survey.memoized:
        return {}
    drawn = draw_memo(survey, draws)
    body = _dump(survey, drawn)
    entry = Entry(survey.digest, survey.epsilon_of_memo, body, sent=True)
    if ledger.record(_key(key), entry, survey.canonical).body == body:
        return drawn  # The ledger now holds what was drawn here; there is no need to parse it.
    stored = check_memo(ledger, key, survey)
    if stored is None:
        raise BudgetExhausted(_DAMAGED)
    return stored


def check_memo(ledger: Ledger, key: Key, survey: Survey) -> Memo | None:
    """Return the memo that was kept, or None; nothing is drawn. Raises BudgetExhausted as ``keep_memo`` does."""
    entry = ledger.get(_key(key))
    if entry is None:
        return None
    if entry.ended:
        raise BudgetExhausted("this device has forgotten what it drew for all waves of this survey; no other is drawn")
    known = _read(ledger, entry, survey)
    return {index: _recall_answers(known, survey, index) for index in survey.memoized}


def digest_of_digits(ledger: Ledger, key: Key) -> str | None:
    """Return the digest of the survey without which the memo cannot be read: an earlier release kept digits alone, in
    the order of that survey. None if it says by itself what it is for, or there is none.
    """
    entry = ledger.get(_key(key))
    return entry.digest if entry is not None and entry.body and not entry.body.startswith("{") else None


def draw_memo(survey: Survey, draws: Draws) -> Memo:
    """Draw both permanent answers of each memoized question, in the survey's order; nothing is kept or charged yet."""
    return {index: memorize(_mechanism(survey, index), draws) for index in survey.memoized}


def _recall_answers(known: Mapping[str, _StoredMemo], survey: Survey, index: int) -> tuple[int, int]:
    stored = known.get(survey.questions[index].name)
    if stored is None or (stored.layer, stored.waves) != _numbers(_mechanism(survey, index)):
        raise BudgetExhausted(
            "what this device drew for all waves of this survey was for other questions or other odds; "
            "no other is drawn and nothing was sent"
        )
    return _ANSWERS[stored.answers]


def _dump(survey: Survey, memo: Memo) -> str:
    document = {
        survey.questions[index].name: _StoredMemo(f"{no}{yes}", *_numbers(_mechanism(survey, index)))._asdict()
        for index, (no, yes) in memo.items()
    }
    return canonical.dump(document).decode()


def _read(ledger: Ledger, entry: Entry, survey: Survey) -> dict[str, _StoredMemo]:
    """Parse the memo of each question, by name, from an entry."""
    if not entry.body.startswith("{"):
        return _read_digits(ledger, entry, survey)
    try:
        found = {name: _StoredMemo(**stored) for name, stored in canonical.load(entry.body.encode()).items()}
        right = all(_is_memo(stored) for stored in found.values())
    except (ValueError, TypeError):
        right = False
    if not right:
        raise BudgetExhausted(_DAMAGED)
    return found


def _is_memo(stored: Any) -> bool:  # noqa: ANN401 - what a file holds
    # True would be 1 to Python.
    numbers = [*stored.layer, *stored.waves]
    return stored.answers in _ANSWERS and all(type(number) is int for number in numbers)


def _read_digits(ledger: Ledger, entry: Entry, survey: Survey) -> dict[str, _StoredMemo]:
    """Parse the memo of an earlier version: digits alone, in the order of the survey that they were drawn for."""
    drawn_for = survey if survey.digest == entry.digest else cached_survey(ledger, entry.digest)
    if drawn_for is None:
        raise BudgetExhausted("this device remembers an earlier version of the survey; open the link of that version")
    pairs = [entry.body[start : start + 2] for start in range(0, len(entry.body), 2)]
    if len(pairs) != len(drawn_for.memoized) or not set(pairs) <= set(_ANSWERS):
        raise BudgetExhausted(_DAMAGED)
    return {
        drawn_for.questions[index].name: _StoredMemo(pair, *_numbers(_mechanism(drawn_for, index)))
        for index, pair in zip(drawn_for.memoized, pairs, strict=True)
    }


def _mechanism(survey: Survey, index: int) -> MemoizedRR:
    mechanism = survey.questions[index].mechanism
    assert isinstance(mechanism, MemoizedRR)  # noqa: S101 - the only one with several waves
    return mechanism


def _numbers(mechanism: MemoizedRR) -> tuple[list[int], list[int]]:
    permanent, instantaneous = (_integers(layer.a, layer.b) for layer in (mechanism.permanent, mechanism.instantaneous))
    return permanent, [*instantaneous, mechanism.waves]


def _integers(*probabilities: Fraction) -> list[int]:
    return [number for each in probabilities for number in (each.numerator, each.denominator)]


def _key(key: Key) -> Key:
    # One entry for all waves: a memo of its own for each wave would be a permanent answer drawn anew.
    # Nor is it kept by the invitation: with another one the same person would have a second permanent answer.
    return key._replace(wave=MEMO, token="")
