"""The page on tables, models and weights: its commands run as they stand."""

import re
import shlex
from pathlib import Path

import pytest
from sottovoce.aggregator import open_results
from sottovoce.aggregator.export.archive import write_folder

from tests.commands import run
from tests.exported import TODAY, drawn, published, send, source
from tests.surveys import survey

PAGE = (Path(__file__).parents[2] / "docs/analysing.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^    sottovoce (.+)$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed survey in the usual data folder, its files, and the page's margins."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "sottovoce-data").mkdir()
    storage = published(folder / "sottovoce-data", survey())
    send(storage, survey(), drawn(survey(), 400))
    storage.close_survey("exam", TODAY)
    (folder / "exam-files").mkdir()
    write_folder(source(storage, survey()), folder / "exam-files")
    storage.close()
    (margins,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (folder / "margins.yaml").write_text(margins)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_command_runs(place: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.chdir(place)
    ended = run(*shlex.split(command))

    assert (ended.exit_code, ended.stderr) == (0, "")
    assert len(ended.stdout) > 100


@pytest.mark.slow
def test_python_of_the_page_runs(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)
    (lines,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(lines, names)  # noqa: S102 - our own page

    assert names["open_results"] is open_results
    assert len(COMMANDS) == 9
