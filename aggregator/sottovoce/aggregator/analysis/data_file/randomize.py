"""Draw a report as a channel says, for data that are made up or collected in Python."""

import math
import os
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.analysis.data_file.column_channel import NOT_REPORTED
from sottovoce.aggregator.analysis.data_file.parse_channel import parse_channel
from sottovoce.aggregator.estimators.matrix import MatrixChannel
from sottovoce.shared.errors import AnswerError, SpecError, error_message
from sottovoce.shared.exact_noise import ReadBytes, uniform_below
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR
from sottovoce.shared.rational import MAX_DENOMINATOR


def randomize(question: Any, answer: object, read: ReadBytes = os.urandom) -> str:  # noqa: ANN401 - text, rows or a map
    """Return a report drawn for a true answer, with exactly the probabilities of the channel.

    Args:
        question: the channel: text such as ``"coin_flip"`` or ``"kary_rr odds=3 levels=never,once,often"``, or a map of
            ``matrix`` and ``levels``.
        answer: the true answer, one of the levels; True and False of a yes/no question.
        read: source of random bytes.

    Raises:
        SpecError: the channel is none, or its levels have no names.
        AnswerError: the answer is none of the levels.
    """
    try:
        made = parse_channel(question)
        reading = made.read((), "" if made.block is None else made.block.names[0])
    except ValueError as error:
        raise SpecError(f"the channel: {error_message(error)}") from None
    if NOT_REPORTED.format(number=1) in reading.options:
        raise SpecError("the channel: name its options: levels=never,once,often")
    given = reading.options[answer] if isinstance(answer, bool) and len(reading.options) == 2 else answer
    if given not in reading.options:
        raise AnswerError(f"the answer is none of: {', '.join(reading.options)}")
    channel = reading.channel
    if not isinstance(channel, MatrixChannel | InnocuousRR):
        raise SpecError("the channel: the answers of a block are drawn together, not one by one")
    truth = reading.options.index(str(given))
    drawn = _pick(tuple(channel.probability(report, truth) for report in range(len(reading.reports))), read)
    return list(reading.reports)[drawn]


def _pick(chances: tuple[Fraction, ...], read: ReadBytes) -> int:
    """Return an index with its probability, by integer weights: a float would round the probabilities."""
    whole = math.lcm(*(each.denominator for each in chances))
    if whole > MAX_DENOMINATOR or sum(chances) != 1:
        raise SpecError("the channel: its probabilities must be fractions that sum to 1, with a denominator up to 2^32")
    left = uniform_below(read, whole)
    for place, chance in enumerate(chances):
        if left < chance * whole:
            return place
        left -= int(chance * whole)
    raise AssertionError("the draw is below the sum of the weights")
