"""A curator's records as whole numbers, as the declaration places them; nothing else of the data goes any further."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.int64]
"""One whole number a record: an index of a category, a bit mask of marks, or a point of a number's grid."""


@dataclass(frozen=True)
class DataRecords:
    """
    Some columns of a data set, in no particular order of records.

    Attributes:
        count: of all records.
        columns: by name; all in the same order of records.
        misfits: by the column's name, in how many records the cell was not as declared. They are for the curator's
            own eyes when a data set is bound, and for no answer.
    """

    count: int
    columns: Mapping[str, Values]
    misfits: Mapping[str, int]
