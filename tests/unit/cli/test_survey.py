"""The life of a survey from the command line: what is said and asked before a step, also without a terminal."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sottovoce.aggregator.authoring.templates import template_file
from sottovoce.aggregator.storage.connect import FILE
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.survey_file import new
from sottovoce.shared import canonical
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey

from tests.commands import done, refused, run as command
from tests.storage.test_contract import arrival
from tests.surveys import document, survey
from tests.unit.shared.test_languages import translated


@pytest.fixture
def data(tmp_path: Path) -> Path:
    storage = SQLiteStorage(tmp_path / FILE)
    key = storage.publish(survey()).key
    for numbers in (range(25), range(25, 30)):
        storage.store([arrival(key, number) for number in numbers])
    storage.close()
    return tmp_path


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sottovoce.cli.command.on_terminal", lambda: True)


def run(data: Path, *words: str, typed: str = "") -> Result:
    return command("survey", *words, "--data", data, typed=typed)


def correction(data: Path, revision: int = 2) -> str:
    path = data / f"{revision}.json"
    path.write_bytes(canonical.dump(document(revision=revision, title={"en": f"Corrected {revision}"})))
    return str(path)


def listed(data: Path) -> list[str]:
    return [re.sub(r"\s+([0-9a-f]{64})?", " ", line).strip() for line in run(data, "list").stdout.splitlines()]


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize(("typed", "state"), [("\n", "answers"), ("y\n", "answers"), ("n\n", "superseded")])
def test_publish_asks_what_becomes_of_the_earlier_revision(data: Path, typed: str, state: str) -> None:
    ended = done(run(data, "publish", correction(data), typed=typed))
    assert "Links that were handed out stay good" in ended.stderr
    assert "/s/exam#d=" in ended.stdout
    assert listed(data) == ["exam Open Reports: 25", f"Revision 1 {state}", "Revision 2 answers"]


@pytest.mark.parametrize(("option", "state"), [([], "answers"), (["--keep"], "answers"), (["--retire"], "superseded")])
def test_publish_without_a_terminal_keeps_the_earlier_revision(data: Path, option: list[str], state: str) -> None:
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
    assert "a question that public answers hid from some people shows the counts of all" in refused.stderr

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
    for words in (["close", "--yes"], ["reopen"]):
        assert run(data, words[0], "exam", *words[1:]).exit_code == 0
    assert "is unchanged or has at least 25 more reports" in done(run(data, "close", "exam")).stderr


def test_reopen_says_why_it_cannot(data: Path) -> None:
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
    ended = refused(run(data, verb, "nobody"))
    assert ended.stderr.startswith(f'Error: survey "nobody" was not found in {data}/. Run "sottovoce survey list"')


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A survey file in English, French in part, and Swahili, which the form itself does not speak."""
    asked = translated()
    asked["title"]["sw"] = "Mitihani"
    asked["report_labels"] = "neutral"
    (tmp_path / "survey.json").write_text(json.dumps(asked), encoding="utf-8")
    return tmp_path / "survey.json"


def test_missing_texts_are_warned_about(path: Path) -> None:
    result = done(command("lint", path))
    assert "  texts in en, fr, sw, zh-Hans" in result.stdout.splitlines()
    lines = result.stderr.splitlines()
    told = [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")]
    kinder = [line.removeprefix("suggestion: ") for line in lines if line.startswith("suggestion: ")]
    assert len(told) + len(kinder) == len(lines)
    assert kinder[0].startswith("researcher: people are shown first who asks")
    assert kinder[1].startswith("question 1 'cheated', line 1: randomize it together with reason, in one block")
    assert (
        kinder[2]
        == "question 1 'cheated', line 1: people cannot decline; absent_category: true offers “Prefer not to say”"
    )
    assert told[0].startswith("fr: shown in another language: consent, line 1, question 2 ")
    assert told[0].endswith(", label, line 1")
    assert told[1].startswith("sw: shown in another language: consent, ")
    assert told[1].endswith(" and 2 more")
    assert told[2:] == [
        "sw: the form's own sentences are not in this language",
        "zh-Hans: the survey has no title in this language, so the form does not offer it",
    ]


def test_json_says_the_same(path: Path) -> None:
    result = command("lint", path, "--json")
    found = json.loads(result.stdout)

    asked = parse_survey(json.loads(path.read_text(encoding="utf-8")))
    assert result.stderr == ""
    assert (found["languages"], found["missing_texts"]["en"]) == (["en", "fr", "sw", "zh-Hans"], [])
    assert len(found["missing_texts"]["fr"]) == 7
    assert (len(found["warnings"]), len(found["suggestions"])) == (4, 4)
    assert dump(found["document"]) == asked.canonical
    assert (found["digest"], found["epsilon"]) == (asked.digest, asked.epsilon)
    assert [question["public"] for question in found["questions"]] == [False, False, True]


def test_mistakes_have_places_for_people_and_pointers_for_programs(tmp_path: Path) -> None:
    asked = translated()
    asked["questions"][1]["typo"] = 1
    (tmp_path / "wrong.json").write_text(json.dumps(asked, indent=1), encoding="utf-8")
    people, programs = (command("lint", tmp_path / "wrong.json", *more) for more in ([], ["--json"]))

    assert (people.exit_code, programs.exit_code) == (1, 1)
    name = asked["questions"][1]["name"]
    assert people.stderr.splitlines()[1].startswith(f"question 2 '{name}', typo, line ")
    assert json.loads(programs.stdout) == {
        "problems": [{"pointer": "/questions/1/typo", "message": "is not a known key"}]
    }


def test_template_is_written_as_it_stands_with_its_sources(tmp_path: Path) -> None:
    path = tmp_path / "exam.yaml"
    result = command("new", path, "--template", "exam")

    assert path.read_bytes() == template_file("exam")
    assert "copied: after Höglinger, Jann and Diekmann (2016)" in result.stderr
    assert command("lint", path).exit_code == 0


@pytest.mark.parametrize("chosen", [["--template", "about"], ["--template", "exam", "--example", "geometric"]])
def test_unknown_or_two_surveys_are_refused(tmp_path: Path, chosen: list[str]) -> None:
    result = CliRunner().invoke(new, [str(tmp_path / "new.yaml"), *chosen])

    assert isinstance(result.exception, SpecError)
    assert list(tmp_path.iterdir()) == []
