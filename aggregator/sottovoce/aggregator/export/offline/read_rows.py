"""The reports of a folder row by row, each as often as it is there, for tables and models."""

from collections.abc import Iterator

import numpy as np
from sottovoce.aggregator.export.offline.count import layout_of, read_rows
from sottovoce.aggregator.export.offline.offline_results import Opened
from sottovoce.aggregator.export.read_archive import Archive
from sottovoce.aggregator.export.read_csv import Read, joined
from sottovoce.aggregator.export.row_validation import Expected
from sottovoce.aggregator.storage.reports.batch_columns import is_null
from sottovoce.shared.errors import SpecError


def all_rows(folder: Opened) -> Archive:
    """
    The reports as columns; they must fit into memory, as joint analyses need them.

    Raises:
        SpecError: a part is not its own, or a row in it is impossible; says where.
    """
    surveys = {survey.revision: survey for survey in folder.described.surveys}
    blocks = list(_blocks(folder, Expected(folder.described.survey, surveys)))
    if not blocks:
        raise SpecError("there are no reports in the folder")
    columns, wave, revision = joined(blocks)
    return Archive(folder.described.survey, surveys, columns, wave, revision)


def _blocks(folder: Opened, expected: Expected) -> Iterator[Read]:
    names = folder.described.header[:-1]
    for of_wave, path, part in folder.described.parts:
        first = 1
        with folder.place.whole(path, part) as file:
            for columns, times in read_rows(file, layout_of(folder.described, of_wave.revision)):
                block = {name: _whole(column) for name, column in zip(names, columns, strict=True)}
                block[expected.wave] = np.full(len(times), of_wave.wave, dtype=np.int64)
                block[expected.revision] = np.full(len(times), of_wave.revision, dtype=np.int64)
                narrow, wave, revision = expected.checked(block, first, f"{path}, row")
                first += len(times)
                yield (
                    {name: np.repeat(column, times) for name, column in narrow.items()},
                    np.repeat(wave, times),
                    np.repeat(revision, times),
                )


def _whole(column: np.ndarray) -> np.ndarray:
    """Values as they are checked: -1 where there is none, and where one is larger than any report."""
    values = np.where(is_null(column), 0, column)
    if len(values) and int(values.max()) > 2**53:
        raise SpecError("a value is out of range: no report can be it")
    return np.where(is_null(column), -1, values.astype(np.int64))
