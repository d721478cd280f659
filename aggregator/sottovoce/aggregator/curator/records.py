"""A curator's records, encoded as integers by the declaration; no other part of the data is passed on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.int64]
"""One integer per record: the index of a category, a bit mask of marks, or a grid point of a number."""


@dataclass(frozen=True)
class DataRecords:
    """
    Some columns of a data set, in no particular order of records.

    Attributes:
        count: number of all records.
        columns: encoded values by column name, all in the same order of records.
        misfits: number of records by column name whose cell was not as declared. These exact counts are shown to the
            curator when a data set is bound and enter no answer.
    """

    count: int
    columns: Mapping[str, Values]
    misfits: Mapping[str, int]
