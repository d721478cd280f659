"""``docs/fair_data.ipynb``: Fair's answers, which are known, through the mechanisms of the demonstration.

``python -m tests.fair_notebook`` runs the cells below from top to bottom and writes the notebook with what they print;
a test runs them again and compares.
"""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

PLACE = Path(__file__).parents[1] / "docs" / "fair_data.ipynb"

CELLS = [
    (
        "markdown",
        "# Tables and models where the truth is known\n\n6,366 women answered a magazine's survey (Fair 1978). Here "
        "each answer goes through the mechanism of `sottovoce demo`, and every table and model of the *randomized* "
        "reports stands beside the same from the true answers. Nothing below sees a true answer but "
        "the cells that say `true`.",
    ),
    (
        "code",
        """import tempfile
from pathlib import Path

import numpy as np
from sottovoce.aggregator import open_results
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.aggregator.planning.simulated_survey import randomized
from sottovoce.demo.run import demo_answers, demo_survey

survey, answers = demo_survey(), demo_answers()
true = {q.name: np.array([q.options.index(one[q.name]) for one in answers]) for q in survey.questions}
reports = randomized(survey, list(true.values()), BatchDraws(seeded("notebook")))
folder = Path(tempfile.mkdtemp())
(folder / "survey.json").write_bytes(survey.canonical)
lines = [",".join(true), *(",".join(map(str, row)) for row in zip(*reports, strict=True))]
(folder / "reports.csv").write_text("\\n".join([*lines, ""]))
results = open_results(folder)
print(len(answers), "reports of", ", ".join(true))""",
    ),
    ("markdown", "## Two answers of each other\n\nBoth are randomized: a coin flip, and Warner's design."),
    (
        "code",
        """table = results.crosstab("affair_coin", "religious")
options = survey.questions[3].options
print(table.document["n"], "reports; independence: p =", f"{table.document['independence']['p']:.1g}")
for cell in table.rows:
    both = (true["affair_coin"] == (cell["row"] == "yes")) & (true["religious"] == options.index(cell["column"]))
    inside = cell["low"] <= both.mean() <= cell["high"]
    print(f"{cell['row']:4}{cell['column']:11} {cell['shown']:.3f} ({cell['low']:.3f} to {cell['high']:.3f})"
          f"  true {both.mean():.3f}  {'inside' if inside else 'outside'}")""",
    ),
    ("markdown", "## Shares among groups that are public"),
    (
        "code",
        """compared = results.compare("affair_coin", "age_group")
for place, group in enumerate(compared.rows):
    share = true["affair_coin"][true["age_group"] == place].mean()
    print(f"{group['group']:9} {group['shown']:.3f} ({group['low']:.3f} to {group['high']:.3f})  true {share:.3f}")""",
    ),
    (
        "markdown",
        "The first interval misses the truth by half a point: one in twenty may, in every study. The model "
        "below compares all groups with that one, and leans on it.",
    ),
    (
        "markdown",
        "## A model\n\nThe logit of the randomized answer, beside the logit of the true one (Newton's method).",
    ),
    (
        "code",
        """model = results.model("affair_coin", on=["age_group"])
X = np.column_stack([np.ones(len(answers)), *(true["age_group"] == group for group in (1, 2, 3))])
beta = np.zeros(4)
for _ in range(25):
    p = 1 / (1 + np.exp(-X @ beta))
    beta += np.linalg.solve(X.T @ (X * (p * (1 - p))[:, None]), X.T @ (true["affair_coin"] - p))
for row, known in zip(model.rows, beta, strict=True):
    print(f"{row['term']:20} {row['estimate']:6.3f} ({row['low']:6.3f} to {row['high']:6.3f})  true {known:6.3f}")""",
    ),
]


def run() -> list[str]:
    """What each code cell prints, from top to bottom, in one room of names."""
    names: dict[str, Any] = {}
    printed = []
    for kind, text in CELLS:
        if kind == "code":
            with contextlib.redirect_stdout(io.StringIO()) as told:
                exec(text, names)  # noqa: S102 - the cells above
            printed.append(told.getvalue())
    return printed


def notebook(printed: list[str]) -> str:
    """The notebook (nbformat 4.5) with what its cells printed."""
    outputs = iter(printed)
    cells = []
    for number, (kind, text) in enumerate(CELLS):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{number}", "metadata": {}, "source": text}
        if kind == "code":
            told = {"name": "stdout", "output_type": "stream", "text": next(outputs)}
            cell |= {"execution_count": None, "outputs": [told]}
        cells.append(cell)
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    return json.dumps({"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


if __name__ == "__main__":
    PLACE.write_text(notebook(run()), encoding="utf-8")
