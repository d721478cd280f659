"""``serve`` tells what its settings leave open."""

import json
from pathlib import Path

import pytest
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.connect import open_url
from sottovoce.cli.process import free_port
from sottovoce.cli.serve import notes

from tests.commands import run
from tests.surveys import document, survey


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


def test_file_whose_survey_was_deleted_is_a_warning_and_the_others_are_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A unit file names it for years: the node starts again, and says why this one is not there."""
    file = tmp_path / "exam.yaml"
    file.write_text(json.dumps(document()), encoding="utf-8")
    storage = open_url("", tmp_path)
    for name in ("exam", "other"):
        storage.publish(survey(name=name))
    storage.delete_survey("exam")
    storage.close()
    served: list[str] = []
    monkeypatch.setattr("sottovoce.cli.serve.run", lambda _, lines: served.extend(lines))
    result = run("serve", file, "--data", tmp_path, "--port", free_port())

    assert (result.exit_code, result.output) == (0, "")
    assert [line for line in served if "deleted" in line] == [
        f"Warning: {file} is not published: its survey was deleted, and devices remember its name."
    ]
    assert [line.split(":")[0] for line in served if line.startswith("Survey ")] == ["Survey other"]
