"""The tutorial for the terminal, and the page for respondents: their code runs as it stands there.

That each command exists with its options ``tests/unit/test_documentation.py`` sees in no time.
"""

import shlex
from pathlib import Path

import pytest
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.shared.parse_survey import parse_survey

from tests.conftest import SharedServer
from tests.journey.test_own_survey import invoke, serving
from tests.unit.test_documentation import DOCS, blocks


@pytest.fixture
def answered(tmp_path: Path) -> Path:
    """A folder in which every command of the page has been run, in its order, and 120 people have answered."""
    lines = [line for block in blocks(DOCS / "tutorial_terminal.md", "sh") for line in block.splitlines()]
    serve, respond = (
        next(n for n, line in enumerate(lines) if line.startswith(f"sottovoce {verb}")) for verb in ("serve", "respond")
    )
    for line in lines[:serve]:
        run(tmp_path, line)
    shown = lines[serve].removesuffix(" --token-file key").split()[2:]
    with serving(tmp_path, *shown) as (_, link, _token):
        for person in range(120):
            device = Respondent.connect(link, MemoryLedger())
            device.answer({q.name: q.options[person % len(q.options)] for q in device.asked})
        answers = '{"year": "first", "copied": "no", "notes": "no", "substances": "no", "passages": "no"}'
        (tmp_path / "answers.json").write_text(answers)
        run(tmp_path, f"{lines[respond].replace('LINK', link)} --answers answers.json --yes")
        for line in lines[respond + 1 :]:
            run(tmp_path, line)
    return tmp_path


def run(folder: Path, line: str) -> None:
    assert line.startswith("sottovoce "), line
    done = invoke(folder, *shlex.split(line)[1:])
    assert done.returncode == 0, (line, done.stderr)


@pytest.mark.slow
def test_commands_lead_from_a_template_to_a_folder_of_files(
    answered: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(answered)
    exec("\n".join(blocks(DOCS / "tutorial_terminal.md", "python")), {})  # noqa: S102 - our own page

    assert "copied yes" in capsys.readouterr().out
    assert (answered / "exam-files" / "analysis.R").is_file()
    assert "copied" in (answered / "estimates.csv").read_text()


def test_library_of_the_page_for_respondents_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_server: SharedServer
) -> None:
    monkeypatch.setenv("SOTTOVOCE_LEDGER", str(tmp_path / "ledger"))
    assert invoke(tmp_path, "new", "survey.yaml").returncode == 0
    (code,) = blocks(DOCS / "for_respondents.md", "python")
    (link,) = [word for word in code.split('"') if word.startswith("https://")]
    running = shared_server.publish(parse_survey(parse_yaml((tmp_path / "survey.yaml").read_bytes())))
    exec(code.replace(link, running.link), {})  # noqa: S102 - our own page

    assert running.reports() == 1
