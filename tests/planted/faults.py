"""
Slips that somebody might make, each with the test that fails then: ``faults.yaml``, by room.

Where sources have moved or changed, a fault can no longer be planted and says so; write its code as it is now.
"""

from dataclasses import dataclass
from pathlib import Path

import yaml

JAVASCRIPT = "tests/vectors/test_javascript.py::test_javascript_does_as_its_tests_say["
"""How a test begins that is run by node: one file of tests, on the sources as they are in the repository."""


@dataclass(frozen=True)
class Fault:
    """
    One slip.

    Attributes:
        name: what goes wrong.
        file: the source, from the top of the repository.
        code: stands in it just once.
        planted: is put in its place.
        killed_by: the test that fails then.
    """

    name: str
    file: str
    code: str
    planted: str
    killed_by: str


LIST = Path(__file__).with_name("faults.yaml")

FAULTS = [Fault(**entry) for entry in yaml.safe_load(LIST.read_text(encoding="utf-8"))]
