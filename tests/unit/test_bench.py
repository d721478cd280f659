"""The measurements, which no test runs, keep up with the sources."""

import importlib
from pathlib import Path

import pytest

BENCHES = sorted(path.stem for path in (Path(__file__).parents[1] / "bench").glob("[a-z]*.py"))


@pytest.mark.parametrize("name", BENCHES)
def test_measurement_can_be_imported(name: str) -> None:
    """Every name that it takes from the sources is there."""
    importlib.import_module(f"tests.bench.{name}")
