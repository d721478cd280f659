"""How a verb ends: well, or with what is wrong in words and an exit code that says so."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from sottovoce.cli.main import main

from tests.commands import refused


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["respond", "https://a.example/nothing"], "Error: the link must look like"),
        (["survey", "list", "--data", "nowhere"], "Error: no database was found in nowhere/"),
        (["results", "export", "exam", "--data", "nowhere"], "Error: no database was found in nowhere/"),
    ],
)
def test_expected_error_is_told_and_ends_with_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    """No traceback; a program that calls a verb must not take a failure for a success."""
    monkeypatch.chdir(tmp_path)
    ended = refused(CliRunner().invoke(main, words))
    assert ended.stderr.startswith(said)
    assert ended.stdout == ""


def test_survey_file_with_mistakes_is_told_line_by_line(tmp_path: Path) -> None:
    """A line for each mistake, with where it is."""
    (tmp_path / "survey.yaml").write_text("format: sottovoce-survey/1\nname: exam\nrevision: nought\n")
    ended = refused(CliRunner().invoke(main, ["lint", str(tmp_path / "survey.yaml")]))
    assert any(line.startswith("revision, line 3: ") for line in ended.stderr.splitlines())
    assert "nought" not in ended.output
