"""All designs of an experiment in one survey, with careless people, from the devices to every verb of results."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator.planning.vectorized_randomizers import Values
from sottovoce.client.link import Link
from sottovoce.demo.respondents import send_invented
from sottovoce.shared.parse_survey import parse_survey

from tests.conftest import Running
from tests.documents import names, survey
from tests.journey.test_own_survey import invoke
from tests.vectors.arms import COIN, arms, asks

PEOPLE, CARELESS = 2000, 0.1
SHARES = {"copied": 0.05, "cheated_direct": 0.05, "cheated": 0.15, "plagiarism": 0.1}
"""True shares of yes among people who read the questions."""
LISTED = 0.3
"""Share to whom the sensitive item of the list applies."""
BIASED = ("copied", "cheated_direct")
"""Questions whose uncorrected share is more than three standard errors from the truth."""


def study() -> dict[str, Any]:
    """Two arms of unequal weights, random order, a list experiment, an anchor and a crosswise item."""
    month = {"label": {"en": "My mother was born in January, February or March."}, "share": "1/4",
             "source": {"en": "Births by month"}, "fact": "birthday_mother"}  # fmt: skip
    count = {"kind": "integer", "min": 0, "public": True, "in_files": True}
    return survey(
        asks("year", kind="select_one", choices=names(3), public=True, in_files=True, order="random"),
        asks("copied", mechanism={"name": "binary_rr", "a": "20/21", "b": "1/21"}),
        asks("cheated_direct", "direct", public=True, in_files=True),
        asks("cheated", "protected", mechanism=COIN),
        asks("plagiarism", procedure="crosswise", innocuous=month),
        asks("items_four", "direct", max=4, **count),
        asks("items_five", "protected", max=5, **count),
        asks("moon", public=True, anchor=True, known_share="0", in_files=True),
        arms=arms(2, 3),
        order="random",
        name="joint",
        privacy={"release_batch": 1},
    )


def people() -> list[Values]:
    """True answers, in the order of the questions; careless people choose evenly among the options of each."""
    dice = np.random.default_rng(6)
    four = dice.binomial(4, 0.4, PEOPLE)
    read = {
        "year": dice.integers(0, 3, PEOPLE),
        **{name: (dice.random(PEOPLE) < share).astype(int) for name, share in SHARES.items()},
        "items_four": four,
        "items_five": four + (dice.random(PEOPLE) < LISTED),
        "moon": np.zeros(PEOPLE, int),
    }
    careless = dice.random(PEOPLE) < CARELESS
    questions = parse_survey(study()).questions[:-1]
    answers = [np.where(careless, dice.integers(0, each.domain.size, PEOPLE), read[each.name]) for each in questions]
    # Devices draw the arm themselves.
    return [*answers, np.zeros(PEOPLE, int)]


@pytest.fixture
def closed(running: Running, tmp_path: Path) -> Path:
    """The data folder after all people answered on devices of their own and the survey was closed."""
    asked = parse_survey(study())
    running.storage().publish(asked)
    send_invented(Link(running.url, asked.name, asked.digest[:32]), asked, [people()], 6, lambda: None)
    done = invoke(tmp_path, "survey", "close", "joint", "--data", str(running.data), "--yes")
    assert done.returncode == 0, done.stderr
    return running.data


def test_corrected_estimates_are_near_the_truth(closed: Path, tmp_path: Path) -> None:
    place = ("--data", str(closed), "--format", "all", "--yes", "--out", "files")
    assert invoke(tmp_path, "results", "export", "joint", *place).returncode == 0
    found = json.loads((tmp_path / "files/export.json").read_text(encoding="utf-8"))
    check_shares(found)
    check_comparisons(closed, tmp_path)
    # Other files leave out rare public answers, here the largest counts.
    place = ("--data", str(closed), "--format", "reports-with-public.csv", "--yes", "--out", "rows.csv")
    assert invoke(tmp_path, "results", "export", "joint", *place).returncode == 0
    counts = ("--count", "items_five", "--count", "items_four", "--arm", "arm", "--json")
    listed = json.loads(invoke(tmp_path, "results", "list-experiment", "rows.csv", *counts).stdout)
    assert listed["n"] == PEOPLE
    assert is_near(listed["share"], LISTED)


def is_near(figure: dict[str, float], truth: float) -> bool:
    return abs(figure["raw"] - truth) < 3 * figure["std_error"]


def check_shares(found: dict[str, Any]) -> None:
    assert is_near(found["careless"], CARELESS)
    shares = {each["name"]: each for each in found["questions"]}
    for name, truth in SHARES.items():
        assert is_near(shares[name]["corrected"]["estimates"][-1], truth), name
    assert not any(is_near(shares[name]["estimates"][-1], SHARES[name]) for name in BIASED)


def check_comparisons(closed: Path, tmp_path: Path) -> None:
    place = ("--among", "careful", "--data", str(closed), "--json")

    def compared(*words: str) -> dict[str, Any]:
        done = invoke(tmp_path, "results", "compare", "joint", "--groups", "arm", "--outcome", *words, *place)
        return json.loads(done.stdout)  # type: ignore[no-any-return]

    across = compared("cheated", "--against", "cheated_direct")
    truths = SHARES["cheated_direct"], SHARES["cheated"]
    assert all(is_near(value, truth) for value, truth in zip(across["values"], truths, strict=True))
    assert is_near(across["differences"][0], truths[1] - truths[0])
    within = compared("copied")
    assert all(is_near(value, SHARES["copied"]) for value in within["values"])
    assert is_near(within["differences"][0], 0)
    model = json.loads(invoke(tmp_path, "results", "regress", "joint", "copied ~ arm", *place).stdout)
    logit = np.log(SHARES["copied"] / (1 - SHARES["copied"]))
    for each, truth in zip(model["coefficients"], (logit, 0.0), strict=True):
        assert abs(each["estimate"] - truth) < 3 * each["std_error"]
    words = ("--rows", "copied", "--columns", "plagiarism")
    table = json.loads(invoke(tmp_path, "results", "crosstab", "joint", *words, *place).stdout)
    both = np.outer(*([1 - SHARES[name], SHARES[name]] for name in ("copied", "plagiarism")))
    assert all(is_near(cell, truth) for cell, truth in zip(table["cells"], both.ravel(), strict=True))
