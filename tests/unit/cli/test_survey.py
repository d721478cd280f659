"""The life of a survey from the command line: what is said and asked before a step, also without a terminal."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.main import main
from sottovoce.shared import canonical

from tests.storage.test_contract import arrival
from tests.surveys import document, survey


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder with a survey, of which thirty reports have come."""
    storage = SQLiteStorage(tmp_path / FILE)
    key = storage.publish(survey()).key
    for numbers in (range(25), range(25, 30)):
        storage.store([arrival(key, number) for number in numbers])
    storage.close()
    return tmp_path


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody sits at a terminal."""
    monkeypatch.setattr("sottovoce.cli.command.on_terminal", lambda: True)


def run(data: Path, *words: str, typed: str = "") -> Result:
    """The command, with what is typed."""
    return CliRunner().invoke(main, ["survey", *words, "--data", str(data)], input=typed)


def correction(data: Path, revision: int = 2) -> str:
    """A corrected survey's file."""
    path = data / f"{revision}.json"
    path.write_bytes(canonical.dump(document(revision=revision, title={"en": f"Corrected {revision}"})))
    return str(path)


def listed(data: Path) -> list[str]:
    """What the list says, without digests."""
    return [re.sub(r"\s+([0-9a-f]{64})?", " ", line).strip() for line in run(data, "list").stdout.splitlines()]


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("typed", "state"), [("\n", "answers"), ("y\n", "answers"), ("n\n", "superseded")])
def test_publish_asks_what_becomes_of_the_earlier_revision(data: Path, typed: str, state: str) -> None:
    """After saying what the correction does; by default it goes on answering. The link is printed."""
    ended = run(data, "publish", correction(data), typed=typed)

    assert ended.exit_code == 0, ended.output
    assert "Links that were handed out stay good" in ended.stderr
    assert "/s/exam#d=" in ended.stdout
    assert listed(data) == ["exam Open Reports: 25", f"Revision 1 {state}", "Revision 2 answers"]


@pytest.mark.parametrize(("option", "state"), [([], "answers"), (["--keep"], "answers"), (["--retire"], "superseded")])
def test_publish_without_a_terminal_keeps_the_earlier_revision(data: Path, option: list[str], state: str) -> None:
    """Unless it is told otherwise."""
    assert run(data, "publish", correction(data), *option).exit_code == 0
    assert listed(data)[1:] == [f"Revision 1 {state}", "Revision 2 answers"]


@pytest.mark.usefixtures("terminal")
def test_publish_asks_nothing_of_a_first_revision(data: Path) -> None:
    """Nor of one that is published already."""
    path = data / "other.json"
    path.write_bytes(canonical.dump(document(name="other", trial=True)))
    ended = [run(data, "publish", str(path)) for _ in range(2)]

    assert [one.exit_code for one in ended] == [0, 0]
    assert [one.stderr.splitlines()[1:] for one in ended] == [["Test run: not the real survey."]] * 2
    assert "other  Open  Reports: 0  Test run: not the real survey.\n" in run(data, "list").stdout


@pytest.mark.usefixtures("terminal")
def test_close_says_what_it_will_show_and_asks(data: Path) -> None:
    """Five reports by themselves: somebody may think again."""
    refused = run(data, "close", "exam", typed="n\n")
    assert (refused.exit_code, listed(data)[0]) == (1, "exam Open Reports: 25")
    assert "in each group (revision, wave, cohort) up to 24 reports" in refused.stderr
    assert "results stay as they are until the next close" in refused.stderr

    assert run(data, "close", "exam", typed="y\n").exit_code == 0
    assert listed(data)[0] == "exam Closed Reports: 30"


@pytest.mark.usefixtures("terminal")
def test_close_says_what_devices_still_keep_and_asks(data: Path) -> None:
    """They send within hours, and by then nothing is taken: also where all reports are shown already."""
    path = data / "waits.json"
    path.write_bytes(canonical.dump(document(name="waits", privacy={"send_within_hours": 24})))
    assert run(data, "publish", str(path)).exit_code == 0
    refused = run(data, "close", "waits", typed="n\n")

    assert refused.exit_code == 1
    assert "Devices wait up to 24 hours before they send. If you close now, the server refuses" in refused.stderr
    assert run(data, "close", "waits", "--yes").exit_code == 0


@pytest.mark.usefixtures("terminal")
def test_second_close_says_when_it_shows_more_and_asks_nothing(data: Path) -> None:
    """After a reopening."""
    for words in (["close", "--yes"], ["reopen"]):
        assert run(data, words[0], "exam", *words[1:]).exit_code == 0
    ended = run(data, "close", "exam")

    assert ended.exit_code == 0
    assert "is unchanged or has at least 25 more reports" in ended.stderr


def test_reopen_says_why_it_cannot(data: Path) -> None:
    """Once report ids are forgotten."""
    storage = SQLiteStorage(data / FILE)
    storage.close_survey("exam", 1)
    storage.purge(1)
    storage.close()
    ended = run(data, "reopen", "exam")

    assert (ended.exit_code, "forgotten" in ended.stderr) == (1, True)


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("typed", "gone"), [("exam\n", True), ("yes\n", False)])
def test_delete_wants_the_name_typed(data: Path, typed: str, gone: bool) -> None:
    """A yes is typed too soon."""
    ended = run(data, "delete", "exam", typed=typed)

    assert ended.exit_code == (0 if gone else 1)
    assert listed(data) == ([] if gone else ["exam Open Reports: 25", "Revision 1 answers"])


def test_delete_without_a_terminal_wants_to_be_told(data: Path) -> None:
    """Nothing is deleted by a script that does not say so; then the name is never given again."""
    assert run(data, "delete", "exam").exit_code == 1
    assert run(data, "delete", "exam", "--yes").exit_code == 0
    ended = run(data, "publish", correction(data))

    assert (ended.exit_code, listed(data)) == (1, [])
    assert "choose another" in ended.stderr


@pytest.mark.parametrize("verb", ["close", "reopen", "delete"])
def test_survey_that_is_not_there_is_an_error(data: Path, verb: str) -> None:
    """In words."""
    ended = run(data, verb, "nobody")

    assert ended.exit_code == 1
    assert ended.stderr.startswith(f'Error: survey "nobody" was not found in {data}/. Run "sottovoce survey list"')
