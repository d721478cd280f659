"""Import optional libraries when a file needs them."""

import importlib
from typing import Any

from sottovoce.shared.errors import EstimateError
from sottovoce.shared.file_errors import install_command

_NEEDING = {"files": "file", "cluster": "place or engine"}


def needed(name: str, extra: str = "files") -> Any:  # noqa: ANN401 - a module
    """Import a module that an extra installs.

    Args:
        name: name of the module.
        extra: name of the extra, ``files`` or ``cluster``.

    Raises:
        EstimateError: the module is not installed; the message names the extra.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise EstimateError(f"this {_NEEDING[extra]} needs {install_command(extra)}") from None
