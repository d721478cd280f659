"""What lint warns of."""

import pytest
from sottovoce.aggregator.planning.lint import warnings

from tests.surveys import document, survey


@pytest.mark.parametrize(("batch", "ask", "warned"), [(25, 1, True), (60, 1, False), (25, 3, False)])
def test_few_answers_behind_a_snapshot_are_warned_of(batch: int, ask: int, warned: bool) -> None:
    """Six coins of which one is asked: 25 reports bring about four answers to each, 60 bring ten."""
    coins = [{**document()["questions"][0], "name": f"coin{number}"} for number in range(6)]
    asked = survey(questions=coins, ask=ask, privacy={"release_batch": batch})

    assert any("fewer than 10 on average" in text for text in warnings(asked, [])) is warned


@pytest.mark.parametrize(("labels", "warned"), [("plain", True), ("neutral", False)])
def test_neutral_labels_are_recommended_for_private_yes_and_no(labels: str, warned: bool) -> None:
    """A bare yes on a receipt is read as an admission; a public yes is one."""
    _, reason, year = document()["questions"]
    told = warnings(survey(report_labels=labels), [])
    public = survey(questions=[reason, year, {"type": "boolean", "name": "open", "label": {"en": "?"}, "public": True}])

    assert any(text.startswith("/report_labels: neutral is recommended") for text in told) is warned
    assert not any("neutral" in text for text in warnings(public, []))
