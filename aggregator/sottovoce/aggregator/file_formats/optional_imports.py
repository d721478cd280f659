"""Libraries that only some files need, imported when they are."""

import importlib
from typing import Any

from sottovoce.shared.errors import EstimateError

_NEEDING = {"files": "file", "cluster": "place or engine"}


def needed(name: str, extra: str = "files") -> Any:  # noqa: ANN401 - a module
    """
    The module of this name, which this extra brings.

    Raises:
        EstimateError: the extra that brings it is not installed; says which.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise EstimateError(f"this {_NEEDING[extra]} needs pip install 'sottovoce[{extra}]'") from None
