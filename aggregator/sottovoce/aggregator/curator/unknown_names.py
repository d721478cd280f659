"""Noisy histogram of names that are not known beforehand: only those that many records have.

Answer       c_j + x_j for each name j that occurs, if it is at least T; x_j exact discrete Laplace noise. Other names
             are left out. Declared cells need no threshold: prefer ``histogram`` where the names are known.
Rate         epsilon under add/remove; epsilon / 2 under replace-one, where two names change by 1.
Threshold    T is the smallest integer with P(1 + x >= T) <= delta. P(x >= t) = a^t / (1 + a), a = e^(-rate).
Privacy      (epsilon, delta): a name of one record that comes or goes is shown with probability P(1 + x >= T), which is
             the exact delta under both relations, since under replace-one the names that leave and arrive are shown in
             different data. All other counts change by 1 and are covered by the noise.
Time         Noise is drawn for each name that occurs, so that time depends on how many there are.
Error        Of the count of one name, whether it is shown or not.
Sources      Korolova, Kenthapadi, Mishra and Ntoulas 2009; Bun, Nissim and Stemmer 2016 (stability).
"""

import math
from fractions import Fraction

import numpy as np
from sottovoce.aggregator.curator.declaration import Values, join_words
from sottovoce.aggregator.curator.noise_distribution import add_laplace, laplace_error, laplace_tail
from sottovoce.aggregator.curator.release import Charge, Release, ReleaseTerms
from sottovoce.shared.exact_noise import ExactNoise

_ROUNDED = 1 + 1e-9


def names_histogram(values: Values, terms: ReleaseTerms, draws: ExactNoise, delta: Fraction) -> Release:
    """Release the names that many records have, with their noisy counts.

    ``values`` are names as ``declaration.TextColumn`` encodes them, shape (n, words); ``delta``, in (0, 1/2), else
    ValueError, is the largest probability that a name of one record is shown.
    """
    rate = terms.epsilon / terms.neighbours.of(1, 2)
    least = threshold(rate, delta)
    names, counts = np.unique(values, axis=0, return_counts=True)
    noisy = add_laplace(counts.tolist(), rate, draws)
    shown = {_text(name): count for name, count in zip(names.tolist(), noisy, strict=True) if count >= least}
    return Release(
        values={"counts": dict(sorted(shown.items(), key=lambda each: (-each[1], each[0]))), "threshold": least},
        charge=Charge(terms.epsilon, delta),
        sensitivity=f"These counts change by at most {terms.neighbours.of(1, 2)} in all {terms.neighbours.in_words}.",
        error={"one name": laplace_error(rate, 1)},
        notes=(
            f"names with a noisy count below {least} are left out",
            f"a name of one record is shown with probability {chance(rate, least):.3g}, within delta",
        ),
    )


def threshold(rate: Fraction, delta: Fraction) -> int:
    """Return the smallest noisy count that is shown; raise ValueError if delta is not in (0, 1/2)."""
    if not 0 < delta < Fraction(1, 2):
        raise ValueError("unknown names need a delta between 0 and 1/2: one that is in one record may be shown")
    # P(1 + x >= T) <= delta is T >= 1 + ln(1 / (delta (1 + a))) / rate, from below because of rounding.
    least = max(2, math.floor(1 - math.log(delta * (1 + math.exp(-rate))) / float(rate)) - 1)
    while chance(rate, least) * _ROUNDED > delta:
        least += 1
    return least


def chance(rate: Fraction, least: int) -> float:
    """Return the probability that a name of one record is shown."""
    return laplace_tail(rate, least - 1) / 2


def _text(words: list[int]) -> str:
    value = join_words(words)
    return value.to_bytes((value.bit_length() + 7) // 8, "little").decode(errors="replace")
