"""What lint warns of."""

import pytest
from sottovoce.aggregator.planning.lint import describe, warnings

from tests.surveys import document, survey


@pytest.mark.parametrize(("batch", "ask", "warned"), [(25, 1, True), (60, 1, False), (25, 3, False)])
def test_few_answers_behind_a_snapshot_are_warned_of(batch: int, ask: int, warned: bool) -> None:
    """Six coins of which one is asked: 25 reports bring about four answers to each, 60 bring ten."""
    coins = [{**document()["questions"][0], "name": f"coin{number}"} for number in range(6)]
    asked = survey(questions=coins, ask=ask, privacy={"release_batch": batch})

    assert any("fewer than 10 on average" in text for text in warnings(asked, [])) is warned


@pytest.mark.parametrize(("batch", "told"), [(25, "about 24 reports are not shown yet, up to 24 of each"), (1, "")])
def test_what_cohorts_keep_from_view_is_told(batch: int, told: str) -> None:
    """On average half a step of each; nothing where every report moves the results, or nobody is divided."""
    asked = survey(privacy={"release_batch": batch})
    undivided = survey(privacy={"release_batch": batch}, questions=document()["questions"][:2])

    assert told in "".join(describe(asked))
    assert ("not shown yet" in "".join(describe(asked))) == bool(told)
    assert "not shown yet" not in "".join(describe(undivided))
