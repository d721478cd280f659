"""Faults planted in the browser's client, in its scripts as they are assembled."""

from collections.abc import Sequence

import pytest
from sottovoce.client import bundle

Change = tuple[str, str, str]
"""A module, what stands in it, and what is put in its place."""


def plant(monkeypatch: pytest.MonkeyPatch, changes: Sequence[Change]) -> None:
    """Change these modules wherever the client's scripts are assembled from now on."""
    original = bundle.modules

    def planted(*entries: str) -> dict[str, str]:
        sources = original(*entries)
        for path, right, wrong in changes:
            if path in sources:
                assert right in sources[path]
                sources[path] = sources[path].replace(right, wrong)
        return sources

    monkeypatch.setattr(bundle, "modules", planted)
