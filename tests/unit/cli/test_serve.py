"""``serve`` tells what its settings leave open."""

import pytest
from sottovoce.aggregator.settings import Settings
from sottovoce.cli.serve import notes


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({}, ["SOTTOVOCE_PUBLIC_URL"]),
        ({"public_url": "https://survey.example.org"}, []),
        ({"trusted_hosts": "survey.example.org"}, []),
    ],
)
def test_operator_is_told_that_any_host_name_is_accepted(settings: dict[str, str], told: list[str]) -> None:
    """With what ends it; nothing where a name is known."""
    found = list(notes(Settings(**settings)))

    assert len(found) == len(told)
    assert all(word in line for word, line in zip(told, found, strict=True))


def test_setting_for_frames_is_ignored_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """It names the setting and what to do instead."""
    monkeypatch.setenv("SOTTOVOCE_EMBED_ORIGINS", "https://a.example")
    (line,) = notes(Settings(public_url="https://survey.example.org"))

    assert line.startswith("SOTTOVOCE_EMBED_ORIGINS is ignored")
    assert "Link to it" in line
