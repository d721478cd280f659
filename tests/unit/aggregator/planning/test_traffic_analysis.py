"""What a watcher could tell is said before anybody is asked, and in the account."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sottovoce.aggregator.authoring.invitation_texts import LANGUAGES
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.planning.lint import suggestions, warnings
from sottovoce.aggregator.planning.traffic_analysis import BEFORE_THE_END, blind_limits, spread
from sottovoce.aggregator.privacy_account.document import limits, stored
from sottovoce.client import waiting

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
    assert [any("24 hours or more" in each for each in suggestions(asked(hours))) for hours in (1, 23, 24, 168)] == [
        True, True, False, False
    ]  # fmt: skip


def opened(minutes: int, hours: int = 24, **changes: Any) -> Any:
    closes = datetime(2026, 11, 2, tzinfo=UTC) + timedelta(minutes=minutes)
    return asked(hours, opens="2026-11-02T00:00:00Z", closes=f"{closes:%Y-%m-%dT%H:%M:%SZ}", **changes)


def test_devices_send_in_the_last_minutes_without_a_wait_as_this_reckons() -> None:
    """And so they wait as long as it says, and not a second longer."""
    assert waiting.BEFORE_THE_END == BEFORE_THE_END
    for found in (asked(), asked(3), opened(4), opened(60), opened(60, 1), opened(600, 2)):
        wave = found.waves[0]
        begins = wave.opens or datetime(2026, 11, 2, tzinfo=UTC)
        assert spread(found.send_within_hours, found.waves) == waiting.longest_wait(found, 0, begins)


def test_wave_too_short_for_devices_to_wait_is_told() -> None:
    """Of a few minutes gravely, as if nothing waited; below a day where few are invited; else not at all."""
    for minutes, grave in ((4, True), (10, True), (11, False), (600, False)):
        found = opened(minutes)
        assert any(each.startswith("/closes: grave") for each in warnings(found, ["en"])) == grave
        assert any(each.startswith("/closes: devices send") for each in suggestions(found)) != grave
        assert ("blind_now" in blind_limits(found)) == grave
    long = opened(24 * 60 + 5)
    assert not any("/closes" in each for each in [*warnings(long, ["en"]), *suggestions(long)])
    assert not any("/closes" in each for each in suggestions(opened(600, 2)))
    panel = asked(24, waves=[{"opens": "2025-12-01T00:00:00Z", "closes": "2025-12-01T00:09:00Z"}, *months(1)])
    assert any(each.startswith("/waves/0/closes: devices send") for each in suggestions(panel))


@pytest.mark.parametrize("language", LANGUAGES)
def test_account_says_what_a_watcher_could_do(language: str) -> None:
    """Of tokens, of blind links, and of those whose devices do not wait; in every language."""
    words = Words(language)
    told = {name: words.translate(f"ethics_limit_{name}") for name in ("token", "blind", "blind_now")}

    def said(found: Any) -> set[str]:
        return {name for name, text in told.items() if text in limits(found, words)}

    assert said(survey()) == set()
    assert said(survey(access="token")) == {"token"}
    assert said(asked()) == {"blind", "blind_now"} == set(blind_limits(asked()))
    assert said(asked(24)) == {"blind"}
    assert words.translate("privacy_stored_blind") in stored(asked(24), words)
    assert words.translate("privacy_stored_wait", hours=24) in stored(asked(24), words)
