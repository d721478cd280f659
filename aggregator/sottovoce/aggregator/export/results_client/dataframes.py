"""Rows as a table of pandas or polars, whichever an analyst has."""

import importlib
from collections.abc import Mapping, Sequence
from typing import Any

from sottovoce.shared.errors import EstimateError

LIBRARIES = ("pandas", "polars")


def frame(rows: Sequence[Mapping[str, Any]], library: str | None = None) -> Any:  # noqa: ANN401 - a library's own
    """
    The rows as a table with a column for each key of any of them; empty where a row has no such key.

    Args:
        rows: flat.
        library: one of ``LIBRARIES``; None for the first that is installed.

    Raises:
        EstimateError: it is not installed, or unknown.
    """
    if library not in {None, *LIBRARIES}:
        raise EstimateError(f"a frame is one of: {', '.join(LIBRARIES)}")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    table = {column: [row.get(column) for row in rows] for column in columns}
    for name in LIBRARIES if library is None else (library,):
        try:
            return importlib.import_module(name).DataFrame(table)
        except ModuleNotFoundError:
            continue
    raise EstimateError(f"a frame needs {library or 'pandas or polars'}, which is not installed")
