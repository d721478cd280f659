"""The notebook on Fair's answers runs from top to bottom, and says what it says when it is run."""

import json

from tests.fair_notebook import PLACE, notebook, run


def test_notebook_prints_what_stands_in_it_and_most_limits_hold_the_truth() -> None:
    """Each figure beside the one from the true answers; of the table's eight cells seven or more."""
    printed = run()

    assert json.loads(PLACE.read_text(encoding="utf-8")) == json.loads(notebook(printed))
    assert len(printed) == 4
    assert printed[1].count("inside") >= 7
    assert "true" in printed[2]
    assert "true" in printed[3]
