"""Bytes to integers: uniform, by rejection, and loud when randomness runs short."""

import ast
from collections import Counter
from pathlib import Path

import pytest
from sottovoce import client, shared
from sottovoce.client.draws import Draws

from tests.unit.client.fakes import reading


@pytest.mark.parametrize(
    ("bound", "data", "value"),
    [
        (1, "", 0),
        (2, "ff", 1),
        (2, "fe", 0),
        (3, "02", 2),
        (3, "0302", 2),
        (3, "ff03fb01", 1),
        (255, "ff00", 0),
        (256, "ff", 255),
        (257, "01ff0100", 256),
        (257, "ffff0101fffe0000", 0),
        (2**32 - 1, "fffffffffffffffe", 2**32 - 2),
        (2**32, "ffffffff", 2**32 - 1),
    ],
)
def test_below_rejects_exactly_from_the_bound_on(bound, data, value):
    """Beside the boundary: the last accepted and the first rejected value, and how many bytes each takes."""
    source = reading(bytes.fromhex(data))

    assert Draws(source).below(bound) == value
    assert not source.rest


@pytest.mark.parametrize("bound", [2, 3, 5, 6, 12, 255, 256])
def test_below_is_uniform_over_all_bytes(bound):
    """Over all 256 first bytes each value is met equally often, and the rest is rejected."""
    counts = Counter()
    for first in range(256):
        source = reading(bytes([first, 0]))
        value = Draws(source).below(bound)
        if len(source.rest) == 1:
            counts[value] += 1

    assert set(counts) == set(range(bound))
    assert len(set(counts.values())) == 1


@pytest.mark.parametrize("bound", [0, -1, 2**32 + 1, 2**64])
def test_below_refuses_a_bound_that_no_survey_has(bound):
    """A larger bound would loop for ever in a language with 32-bit draws."""
    with pytest.raises(ValueError, match="bound"):
        Draws(reading(b"")).below(bound)


def test_pick_walks_the_weights():
    """Every draw below the sum lands on the index that owns it; zero weights own nothing."""
    weights = (3, 0, 1, 4)

    picked = [Draws(reading(bytes([u]))).pick(weights) for u in range(8)]

    assert picked == [0, 0, 0, 2, 3, 3, 3, 3]


def test_pick_refuses_weights_without_a_sum():
    """Nothing can be drawn from nothing."""
    with pytest.raises(ValueError, match="bound"):
        Draws(reading(b"")).pick((0, 0))


@pytest.mark.parametrize("given", [b"", b"\x01"])
def test_short_read_is_an_error(given):
    """Zeros in the place of missing bits would make the noise predictable."""
    with pytest.raises(ValueError, match="too few bytes"):
        Draws(lambda _: given).identity()


def test_identity_is_sixteen_bytes():
    """128 bits as lower-case hexadecimal digits."""
    assert Draws(reading(bytes(range(240, 256)))).identity() == "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"


def test_only_draws_imports_randomness():
    """No other module of the client or the agreement can make a random number."""
    packages = [Path(module.__file__).parent for module in (client, shared)]
    importers = set()
    for path in (path for package in packages for path in package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.split(".")[0] for name in names} & {"random", "secrets", "numpy", "uuid"}:
                importers.add(path.name)

    assert importers == {"draws.py"}
