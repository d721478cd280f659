"""Surveys with a question that an innocuous fact hides, and reports of people whose fact has another share."""

from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.surveys import document
from tests.vectors.arms import asks

SHARE, TRUTH = 0.25, 2 / 3


def innocuous(error: str | None, procedure: str = "crosswise", statement: str = "I", **more: Any) -> dict[str, Any]:
    """The keys of a question whose fact has the share 1/4, with this standard error."""
    fact: dict[str, Any] = {"label": {"en": statement}, "share": "1/4", "source": {"en": "S"}}
    fact |= {} if error is None else {"se": error}
    fact |= {"truth": "2/3"} if procedure == "unrelated_question" else {}
    return {"procedure": procedure, "innocuous": fact, **more}


def innocuous_survey(error: str | None, procedure: str = "crosswise") -> Survey:
    return parse_survey(document(questions=[asks("g", public=True), asks("y", **innocuous(error, procedure))]))


def reported(dice: np.random.Generator, truths: Any, share: float, procedure: str = "crosswise") -> Any:
    """Reports of people with these truths, of whom ``share`` have the fact."""
    fact = dice.random(len(truths)) < share
    if procedure == "crosswise":
        return (truths != fact).astype(int)
    return np.where(dice.random(len(truths)) < TRUTH, truths, fact).astype(int)


def grouped_columns(
    survey: Survey, n: int, shares: tuple[float, float], fact: float, seed: int, procedure: str = "crosswise"
) -> Columns:
    """Reports of people of whom .4 have g, and these shares of the others and of those y."""
    dice = np.random.default_rng(seed)
    g = (dice.random(n) < 0.4).astype(int)
    y = dice.random(n) < np.where(g, shares[1], shares[0])
    return Columns.from_arrays(survey, {"g": g, "y": reported(dice, y, fact, procedure)})
