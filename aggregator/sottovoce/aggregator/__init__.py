"""The aggregator; of it, analysts in Python need ``open_results`` alone. Importing the package loads nothing else."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sottovoce.aggregator.export.results_client.open_results import open_results

__all__ = ["open_results"]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the module's names
    """Load ``open_results`` when it is asked for."""
    if name != "open_results":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sottovoce.aggregator.export.results_client.open_results import open_results

    return open_results
