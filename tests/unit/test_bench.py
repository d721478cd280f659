"""The measurements, which no test runs, keep up with the sources."""

import importlib
from pathlib import Path

BENCHES = sorted(path.stem for path in (Path(__file__).parents[1] / "bench").glob("[a-z]*.py"))


def test_every_measurement_can_be_imported() -> None:
    for name in BENCHES:
        importlib.import_module(f"tests.bench.{name}")
