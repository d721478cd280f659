"""What a watcher could tell is said before anybody is asked, and in the account."""

from typing import Any

import pytest
from sottovoce.aggregator.authoring.letters import LANGUAGES
from sottovoce.aggregator.planning.lint import suggestions, warnings
from sottovoce.aggregator.planning.watched import blind_limits
from sottovoce.aggregator.privacy_account.sentences import limits, stored
from sottovoce.aggregator.studio.words import Words

from tests.surveys import months, survey


def asked(hours: int = 0, **changes: Any) -> Any:
    """A survey for invited people whose devices wait so long."""
    privacy = {"privacy": {"send_within_hours": hours}} if hours else {}
    return survey(access="blind", **privacy, **changes)


@pytest.mark.parametrize(
    ("found", "grave"),
    [
        (asked(), True),
        (asked(1), False),
        (asked(waves=months(2)), False),
        (asked(waves=months(2), fresh_samples=True), True),
        (asked(1, waves=months(2), fresh_samples=True), False),
        (survey(access="token"), False),
    ],
    ids=str,
)
def test_one_visit_that_pairs_is_grave(found: Any, grave: bool) -> None:
    """Unless devices wait, or the same people are asked again."""
    assert any("grave" in each for each in warnings(found, ["en"])) == grave


def test_short_wait_is_told_for_few_people() -> None:
    """A day is enough."""
    assert [any("24 hours or more" in each for each in suggestions(asked(hours))) for hours in (1, 23, 24, 168)] == [
        True, True, False, False
    ]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_account_says_what_a_watcher_could_do(language: str) -> None:
    """Of tokens, of blind links, and of those whose devices do not wait; in every language."""
    words = Words(language)
    told = {name: words.say(f"ethics_limit_{name}") for name in ("token", "blind", "blind_now")}

    def said(found: Any) -> set[str]:
        return {name for name, text in told.items() if text in limits(found, words)}

    assert said(survey()) == set()
    assert said(survey(access="token")) == {"token"}
    assert said(asked()) == {"blind", "blind_now"} == set(blind_limits(asked()))
    assert said(asked(24)) == {"blind"}
    assert words.say("privacy_stored_blind") in stored(asked(24), words)
    assert words.say("privacy_stored_wait", hours=24) in stored(asked(24), words)
