"""The reported values of one respondent: each question by its randomizer, and each block at once."""

from collections.abc import Sequence

from sottovoce.client.draws import Draws
from sottovoce.client.memo import Memo
from sottovoce.client.randomizers import RANDOMIZERS, randomize_joint_rr, recall
from sottovoce.shared.answers import Value
from sottovoce.shared.by_hand.protection import is_by_hand
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR
from sottovoce.shared.spec import Question, Survey


def perturb(survey: Survey, values: Sequence[Value | None], draws: Draws, memos: Memo) -> tuple[int | None, ...]:
    """
    The reported values: each question that is asked in order, and where a block begins the whole block.

    Args:
        survey: the survey.
        values: the true values, checked: one for each question, None for those that are not asked.
        draws: the source of randomness.
        memos: the permanent answers of the questions that have some.
    """
    reported: list[int | None] = []
    for index, (question, value) in enumerate(zip(survey.questions, values, strict=True)):
        if isinstance(question.mechanism, JointMember):
            if question.mechanism.position == 0:
                truths = values[index : index + len(question.mechanism.block.sizes)]
                reported += _perturb_block(question.mechanism.block, truths, draws)
        elif value is None:
            reported.append(None)
        else:
            reported.append(_perturb_one(question, value, draws, is_by_hand(survey, question), memos.get(index)))
    return tuple(reported)


def _perturb_block(mechanism: JointRR, values: Sequence[Value | None], draws: Draws) -> list[int | None]:
    """The reported categories of a block's questions that are asked, None for the others."""
    asked = {position: value for position, value in enumerate(values) if isinstance(value, int)}
    if not asked:
        return [None] * len(values)
    drawn = randomize_joint_rr(mechanism, [*asked.values()], draws)
    found = dict(zip(asked, drawn, strict=True))
    return [found.get(position) for position in range(len(values))]


def _perturb_one(question: Question, value: Value, draws: Draws, by_hand: bool, memo: Sequence[int] | None) -> int:
    # The respondent's own coin or fact has already randomized the value: randomizing again would be another channel.
    if question.mechanism is None or by_hand:
        assert isinstance(value, int)  # noqa: S101 - a vector question is neither public nor for coins
        return value
    if memo is not None:
        return recall(question.mechanism, memo, value, draws)  # type: ignore[arg-type]
    return RANDOMIZERS[question.mechanism.name](question.mechanism, value, draws)
