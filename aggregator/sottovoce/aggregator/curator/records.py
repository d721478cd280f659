"""A curator's records, encoded as integers by the declaration; no other part of the data is passed on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.int64]
"""An integer per record: the index of a category, a bit mask of marks, or a grid point of a number.

Texts and masks of more than 52 bits have a row of words per record, the lowest first: shape (n, words).
"""

WORD_BITS = 52
"""Bits of a word, so that twice a word is still an integer of 64 bits."""


def word_count(largest: int) -> int:
    """Return how many words the values from 0 to ``largest`` need, at least 1."""
    return max(1, -(-largest.bit_length() // WORD_BITS))


def split_words(value: int, words: int) -> list[int]:
    """Return a value as so many words, the lowest first."""
    return [value >> WORD_BITS * place & (1 << WORD_BITS) - 1 for place in range(words)]


def join_words(words: Sequence[int]) -> int:
    """Return the value that ``split_words`` split."""
    return sum(word << WORD_BITS * place for place, word in enumerate(words))


def bits(values: Values, place: int) -> Values:
    """Return one bit of each record's value, 0 or 1."""
    word: Values = values if values.ndim == 1 else values[:, place // WORD_BITS]
    return word >> place % WORD_BITS & 1


@dataclass(frozen=True)
class DataRecords:
    """Some columns of a data set, in no particular order of records.

    Attributes:
        count: number of all records.
        columns: encoded values by column name, all in the same order of records.
        misfits: number of records by column name whose cell was not as declared. These exact counts are shown to the
            curator when a data set is bound and enter no answer.
    """

    count: int
    columns: Mapping[str, Values]
    misfits: Mapping[str, int]
