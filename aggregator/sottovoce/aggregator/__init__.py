"""The aggregator; ``PUBLIC`` are its names for analysts in Python. Importing the package loads none of its modules."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.aggregator.analysis.data_file.randomize import randomize
    from sottovoce.aggregator.export.results_client.open_data import OpenData, estimate, mixture, open_data
    from sottovoce.aggregator.export.results_client.open_results import JointResult, OpenResults, open_results

PUBLIC = {
    "JointResult": "export.results_client.open_results",
    "OpenData": "export.results_client.open_data",
    "OpenResults": "export.results_client.open_results",
    "estimate": "export.results_client.open_data",
    "mixture": "export.results_client.open_data",
    "open_data": "export.results_client.open_data",
    "open_results": "export.results_client.open_results",
    "randomize": "analysis.data_file.randomize",
}
"""Module of each public name."""

__all__ = ["JointResult", "OpenData", "OpenResults", "estimate", "mixture", "open_data", "open_results", "randomize"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module's names
    """Load a public name when it is asked for."""
    if name not in PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{PUBLIC[name]}"), name)
