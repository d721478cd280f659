"""Libraries that only some files need, imported when they are."""

import importlib
from typing import Any

from sottovoce.shared.errors import EstimateError


def needed(name: str) -> Any:  # noqa: ANN401 - a module
    """
    The module of this name.

    Raises:
        EstimateError: the extra that brings it is not installed; says which.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise EstimateError("this file needs pip install 'sottovoce[files]'") from None
