"""Import optional libraries when a file needs them."""

import importlib
from typing import Any

from sottovoce.shared.errors import EstimateError, install_command

_NEEDING = {"files": "file", "cluster": "place or engine"}


def needed(name: str, extra: str = "files") -> Any:  # noqa: ANN401 - a module
    """Import a module that the extra ``files`` or ``cluster`` installs; raise EstimateError if it is not there."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise EstimateError(f"this {_NEEDING[extra]} needs {install_command(extra)}") from None
