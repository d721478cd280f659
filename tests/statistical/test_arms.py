"""Experiments with a direct and a protected arm: limits of both shares, their difference and ratio in many samples.

Few direct admissions are what such experiments are made for, so most settings expect fewer than five.
"""

from typing import NamedTuple

import numpy as np
import pytest
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.tables.arm_comparison import compare_across_arms
from sottovoce.aggregator.estimators.intervals import exact
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import survey
from tests.statistical.exact import binomial
from tests.vectors.arms import COIN, arms, asks

Z = 1.959964
CHANNELS = {"coin_flip": (0.75, 0.25), "binary_rr": (0.9, 0.05)}
MECHANISMS = {"coin_flip": COIN, "binary_rr": {"name": "binary_rr", "a": "9/10", "b": "1/20"}}


class Setting(NamedTuple):
    """True shares in the direct and the protected arm, people in both, and the mechanism."""

    direct: float
    protected: float
    people: tuple[int, int]
    mechanism: str


class Held(NamedTuple):
    """How often limits hold the truth, and their mean width over that of linearised limits that know all shares; of the
    direct arm's share over that of exact limits.
    """

    coverage: dict[str, float]
    width: dict[str, float]


def of_open_answers(share: float, n: int) -> float:
    """Mean width of exact limits (Clopper and Pearson) of a share that is asked openly."""
    low, high = exact(np.arange(n + 1), n, 1.0, 0.0, 0.95)
    return float(binomial(n, np.array([share]))[0] @ (high - low))


def held(setting: Setting, runs: int) -> Held:
    """Coverage of both shares, their difference and ratio, and of the difference of a question of both arms."""
    direct, protected, people, name = setting
    made = parse_survey(survey(asks("openly", "direct", public=True),
                               asks("hidden", "protected", mechanism=MECHANISMS[name]),
                               asks("common", mechanism=MECHANISMS[name]), arms=arms(1, 1)))  # fmt: skip
    generator, (a, b) = np.random.Generator(np.random.PCG64(people[0])), CHANNELS[name]
    arm = np.repeat([0, 1], people)
    chance = b + (a - b) * protected
    errors = (np.sqrt(direct * (1 - direct) / people[0]), np.sqrt(chance * (1 - chance) / people[1]) / (a - b))
    common = np.sqrt(chance * (1 - chance) * sum(1 / n for n in people)) / (a - b)
    right = {"direct": (direct, of_open_answers(direct, people[0]) / (2 * Z)), "protected": (protected, errors[1]),
             "difference": (protected - direct, np.hypot(*errors)), "ratio": (protected / direct, np.inf),
             "common": (0.0, common)}  # fmt: skip
    inside, widths = dict.fromkeys(right, 0), dict.fromkeys(right, 0.0)
    for _ in range(runs):
        truth = generator.random(arm.size) < np.where(arm == 0, direct, protected)
        same = generator.random(arm.size) < protected
        reported = [np.where(each, generator.random(arm.size) < a, generator.random(arm.size) < b)
                    for each in (truth, same)]  # fmt: skip
        columns = Columns.from_arrays(made, {
            "openly": np.ma.masked_array(truth.astype(int), mask=arm == 1),
            "hidden": np.ma.masked_array(reported[0].astype(int), mask=arm == 0),
            "common": reported[1].astype(int), "arm": arm})  # fmt: skip
        both = compare_across_arms(columns, ("hidden", "openly"))
        common = compare_across_arms(columns, ("common",))
        figures = (*both.values, *both.differences, *both.ratios, *common.differences)
        for each, one in zip(right, figures, strict=True):
            low, high = one.low or 0.0, np.inf if one.high is None else one.high
            inside[each] += low <= right[each][0] <= high
            widths[each] += high - low
    return Held(
        {each: count / runs for each, count in inside.items()},
        {each: total / runs / (2 * Z * right[each][1]) for each, total in widths.items() if each != "ratio"},
    )


FEW = Setting(0.02, 0.25, (150, 150), "coin_flip")
SETTINGS = (
    FEW,
    Setting(0.01, 0.2, (300, 300), "binary_rr"),
    Setting(0.005, 0.15, (300, 600), "binary_rr"),
    Setting(0.02, 0.3, (400, 1600), "coin_flip"),
    Setting(0.2, 0.35, (250, 250), "coin_flip"),
    Setting(0.2, 0.35, (200, 800), "binary_rr"),
)


@pytest.mark.parametrize(
    ("setting", "runs", "least"),
    [(FEW, 100, 0.95 - 3 * 0.0218), *(pytest.param(each, 2000, 0.9345, marks=pytest.mark.slow) for each in SETTINGS)],
)
def test_limits_hold_where_few_admit_openly(setting: Setting, runs: int, least: float) -> None:
    """Three of 150 and others: at most 1.10 of the width needed, 1.25 where fewer than 20 are expected to admit."""
    found = held(setting, runs)
    assert min(found.coverage.values()) >= least, found
    widest = {"direct": 1.25 if setting.direct * setting.people[0] < 20 else 1.10}
    assert all(width <= widest.get(name, 1.10) for name, width in found.width.items()), found
