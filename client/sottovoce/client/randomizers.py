"""Randomize: what a device draws for each mechanism, whose channel is in ``sottovoce.shared.mechanisms``.

Each randomizer takes the mechanism, a true value and the source of randomness, and gives the reported value. It pays
``mechanism.epsilon``, and reads the same bytes whatever the truth. ``perturb`` gives a whole report.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sottovoce.client.draws import Draws
from sottovoce.shared.answers import Value
from sottovoce.shared.by_hand.protection import is_by_hand
from sottovoce.shared.mechanisms.base import Table
from sottovoce.shared.mechanisms.bits import Bits
from sottovoce.shared.mechanisms.geometric import Geometric
from sottovoce.shared.mechanisms.hadamard_response import HadamardResponse
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.mechanisms.level_table import LevelTable
from sottovoce.shared.mechanisms.memoized_rr import MemoizedRR
from sottovoce.shared.mechanisms.rounding_rr import RoundingRR
from sottovoce.shared.mechanisms.sampled_coordinate import SampledCoordinate
from sottovoce.shared.mechanisms.sampled_option import SampledOption
from sottovoce.shared.mechanisms.subset_selection import SubsetSelection
from sottovoce.shared.spec import Question, Survey

Memo = Mapping[int, tuple[int, int]]
"""The permanent answers for a truth of no and of yes, by the question's index."""

_SIGNS = (0, 1, -1)  # of the three directions


def draw_from_row(mechanism: Table, value: int, draws: Draws) -> int:
    """Draw a report by the mechanism's weights for ``value``: 0 or 1, a category, or an output of the square wave.
    Bytes: those of ``below(sum of a row)``; coin flip 1.
    """
    return draws.pick(mechanism.weights(value))


def draw_bits(mechanism: Bits, value: int, draws: Draws) -> int:
    """Draw a mask with a bit for each option, from option 0 on, each with the weights of its own truth.

    Epsilon: for ``bitwise_rr`` it counts on at most max_choices options chosen. Bytes: those of k picks.
    """
    bits = mechanism.selected_bits(value)
    # Every bit is drawn, also for options not chosen, so that reads and time do not depend on the answer.
    return sum(draws.pick(mechanism.bit.weights(bits >> option & 1)) << option for option in range(mechanism.options))


def randomize_sampled_option(mechanism: SampledOption, value: int, draws: Draws) -> int:
    """Draw ``2 * option + bit`` for one of the options, when the mask of the chosen ones is ``value``. Bytes: those of
    below(k) and of the bit's pick.
    """
    # Drawn before the answer is used, so the choice of the option costs no epsilon.
    option = draws.below(mechanism.options)
    return 2 * option + draws.pick(mechanism.bit.weights(value >> option & 1))


def randomize_subset_selection(mechanism: SubsetSelection, value: int, draws: Draws) -> int:
    """Draw a mask of ``size`` options, likelier to hold option ``value``. Bytes: those of one pick for the truth, then
    of below(k - 1), below(k - 2), ..., ``size`` of them, whether or not it is in the set.
    """
    included = draws.pick(mechanism.inclusion)
    others = [option for option in range(mechanism.options) if option != value]
    # The first ``size`` places of a Fisher-Yates shuffle; the last is not used when the truth takes its place.
    for place in range(mechanism.size):
        other = place + draws.below(len(others) - place)
        others[place], others[other] = others[other], others[place]
    selected = others[: mechanism.size - included] + [value] * included
    return sum(1 << option for option in selected)


def randomize_hadamard_response(mechanism: HadamardResponse, value: int, draws: Draws) -> int:
    """Draw a column in 0 .. K - 1, likelier one of option ``value``. Bytes: those of one pick and of below(K / 2)."""
    # The side first, then one of its K/2 columns: two draws of fixed size in place of K weights (Acharya et al. 2019).
    own = draws.pick(mechanism.inclusion)
    return mechanism.column(value, own, draws.below(mechanism.columns // 2))


def randomize_rounding_rr(mechanism: RoundingRR, value: int, draws: Draws) -> int:
    """Draw 0 or 1, for the least or the largest value, when the truth is step ``value``. Bytes: those of below(steps),
    also where nothing is to be rounded, and of the bit's pick.
    """
    # Unbiased rounding to an end of the range; it needs no epsilon, because only the next draw is reported.
    end = draws.pick(mechanism.ends(value))
    return draws.pick(mechanism.bit.weights(end))


def randomize_sampled_coordinate(mechanism: SampledCoordinate, value: tuple[int, ...], draws: Draws) -> int:
    """Draw ``2 * coordinate + end`` for one of the coordinates, when their true steps are ``value``. Bytes: those of
    below(d) and of ``rounding_rr``.
    """
    # Drawn before the values are used: all epsilon goes to one number, which beats dividing it (Nguyen et al. 2016).
    coordinate = draws.below(mechanism.coordinates)
    return 2 * coordinate + randomize_rounding_rr(mechanism.number, value[coordinate], draws)


def randomize_level_table(mechanism: LevelTable, value: int, draws: Draws) -> int:
    """Draw the index of an output, when the truth is step ``value``. Bytes: those of below(steps), also where the truth
    is a level, and of one pick from a row.
    """
    # Rounding at random between two levels keeps the estimate of a mean unbiased.
    below, ends = mechanism.neighbours(value)
    return draws.pick(mechanism.rows[below + draws.pick(ends)])


def randomize_geometric(mechanism: Geometric, value: int, draws: Draws) -> int:
    """Draw a step in 0 .. steps, when the truth is step ``value``. Bytes: those of one pick for the direction and of
    steps - 1 for the magnitude, whatever the noise.
    """
    sign = _SIGNS[draws.pick(mechanism.direction)]
    onward = mechanism.onward
    magnitude = going = 1
    for _ in range(mechanism.steps - 1):
        going &= draws.pick(onward)
        magnitude += going
    return min(max(value + sign * magnitude, 0), mechanism.steps)


def memorize(mechanism: MemoizedRR, draws: Draws) -> tuple[int, int]:
    """Draw the permanent answers for a truth of no and of yes: both, so that the memo reveals nothing of the truth."""
    # Both truths, so that the number of bytes read and the memo's size say nothing about the answer.
    no, yes = (draws.pick(mechanism.permanent.weights(truth)) for truth in (0, 1))
    return no, yes


def recall(mechanism: MemoizedRR, memo: Sequence[int], value: int, draws: Draws) -> int:
    """Draw one wave's report: the permanent answer for ``value`` through the instantaneous layer.

    ``memo`` is from ``memorize``, for a truth of no and of yes; the draws are read alike whatever the truth.
    """
    # The second layer hides a change of the answer from one wave to the next (RAPPOR, Erlingsson et al. 2014).
    return draws.pick(mechanism.instantaneous.weights(memo[value]))


def randomize_memoized_rr(mechanism: MemoizedRR, value: int, draws: Draws) -> int:
    """Draw 0 or 1, the report for a single wave with a memo of its own.

    Epsilon covers all waves under one memo. Bytes: two picks of the permanent layer and one of the instantaneous.
    """
    return recall(mechanism, memorize(mechanism, draws), value, draws)


def randomize_joint_rr(block: JointRR, values: Sequence[int], draws: Draws) -> tuple[int, ...]:
    """Draw a category for each question of the block that is asked, together; ``values`` are their true categories in
    order.

    Epsilon: ``block.epsilon``, for all of them together and for each. Bytes: those of one ``pick`` from weights that
    sum to ``total``, whatever the truth and the report.
    """
    place = draws.pick(block.offset_weights)
    reported = []
    for size, value in zip(reversed(block.asked_sizes), reversed(values), strict=True):
        place, moved = divmod(place, size)
        reported.append((value + moved) % size)
    return tuple(reversed(reported))


RANDOMIZERS: dict[str, Callable[[Any, Any, Draws], int]] = {
    "binary_rr": draw_from_row,
    "kary_rr": draw_from_row,
    "memoized_rr": randomize_memoized_rr,
    "subset_selection": randomize_subset_selection,
    "hadamard_response": randomize_hadamard_response,
    "optimal_unary": draw_bits,
    "sampled_option": randomize_sampled_option,
    "bitwise_rr": draw_bits,
    "rounding_rr": randomize_rounding_rr,
    "level_table": randomize_level_table,
    "square_wave": draw_from_row,
    "geometric": randomize_geometric,
    "sampled_coordinate": randomize_sampled_coordinate,
}
"""``randomize(mechanism, value, draws) -> reported value``, by the mechanism's name; blocks are drawn as a whole."""


def perturb(survey: Survey, values: Sequence[Value | None], draws: Draws, memos: Memo) -> tuple[int | None, ...]:
    """Return the reported values: each question that is asked in order, and where a block begins the whole block.

    ``values`` are checked true values, one for each question, None for those that are not asked.
    """
    reported: list[int | None] = []
    for index, (question, value) in enumerate(zip(survey.questions, values, strict=True)):
        if question.member:
            if question.member.position == 0:
                truths = values[index : index + len(question.member.block.sizes)]
                reported += _perturb_block(question.member.block, truths, draws)
        elif value is None:
            reported.append(None)
        else:
            reported.append(_perturb_one(question, value, draws, is_by_hand(survey, question), memos.get(index)))
    return tuple(reported)


def _perturb_block(mechanism: JointRR, values: Sequence[Value | None], draws: Draws) -> list[int | None]:
    """Return the reported categories of a block's questions that are asked, None for the others."""
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
