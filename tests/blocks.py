"""Surveys with one block, and its reports, for tests."""

from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sottovoce.shared.mechanisms.joint_rr import JointRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import Document, names, survey

Whole = NDArray[np.int64]


def in_block(name: str, options: int = 2, **more: Any) -> Document:
    """A question of a block with so many options; two mean yes and no."""
    if options == 2:
        return {"type": "boolean", "name": name, "label": {"en": name.upper()}, **more}
    return {"type": "select_one", "name": name, "label": {"en": name.upper()}, "choices": names(options), **more}


def block(*items: Document, odds: str = "9", radius: int = 0, name: str = "intimate") -> Document:
    return {"block": name, "mechanism": {"name": "joint_rr", "odds": odds, "radius": radius}, "items": list(items)}


def blocks(*asked: Document, **more: Any) -> Survey:
    return parse_survey({**survey(*asked), **more})


def channel(mechanism: JointRR) -> tuple[Whole, NDArray[np.float64]]:
    """All combinations, (m, d), and P(reported | true) of any two, (true, reported)."""
    combinations = np.array(list(product(*map(range, mechanism.sizes))))
    found = [[float(mechanism.probability(x, y)) for y in combinations.tolist()] for x in combinations.tolist()]
    return combinations, np.array(found)


def reports(mechanism: JointRR, truth: Whole, rng: np.random.Generator) -> Whole:
    """A report for each row of true categories, (n, d)."""
    combinations, chances = channel(mechanism)
    codes = np.ravel_multi_index(tuple(truth.T), mechanism.sizes)
    drawn = np.empty(len(codes), int)
    for code in np.unique(codes):
        here = codes == code
        drawn[here] = rng.choice(len(combinations), int(here.sum()), p=chances[code])
    return combinations[drawn]
