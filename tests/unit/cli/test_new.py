"""What lint says of a survey, to people and to programs."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sottovoce.aggregator.authoring.templates import template_file
from sottovoce.cli.main import main
from sottovoce.cli.survey_file import lint, new
from sottovoce.shared.canonical import dump
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey

from tests.unit.shared.test_languages import translated


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A survey file in English, French in part, and Swahili, which the form itself does not speak."""
    asked = translated()
    asked["title"]["sw"] = "Mitihani"
    asked["report_labels"] = "neutral"
    (tmp_path / "survey.json").write_text(json.dumps(asked), encoding="utf-8")
    return tmp_path / "survey.json"


def test_missing_texts_are_warned_about(path: Path) -> None:
    """Which texts, in which language; what the form will do; nothing about the default language."""
    result = CliRunner().invoke(lint, [str(path)])

    assert result.exit_code == 0
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
    """Every missing text by its pointer, all warnings, and the survey that would be published."""
    result = CliRunner().invoke(lint, [str(path), "--json"])
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
    """Both say as many, and both end with 1."""
    asked = translated()
    asked["questions"][1]["typo"] = 1
    (tmp_path / "wrong.json").write_text(json.dumps(asked, indent=1), encoding="utf-8")
    people, programs = (
        CliRunner().invoke(main, ["lint", str(tmp_path / "wrong.json"), *more]) for more in ([], ["--json"])
    )

    assert (people.exit_code, programs.exit_code) == (1, 1)
    name = asked["questions"][1]["name"]
    assert people.stderr.splitlines()[1].startswith(f"question 2 '{name}', typo, line ")
    assert json.loads(programs.stdout) == {
        "problems": [{"pointer": "/questions/1/typo", "message": "is not a known key"}]
    }


def test_template_is_written_as_it_stands_with_its_sources(tmp_path: Path) -> None:
    """The file as it is, and after whom each item is."""
    path = tmp_path / "exam.yaml"
    result = CliRunner().invoke(new, [str(path), "--template", "exam"])

    assert path.read_bytes() == template_file("exam")
    assert "copied: after Höglinger, Jann and Diekmann (2016)" in result.stderr
    assert CliRunner().invoke(lint, [str(path)]).exit_code == 0


@pytest.mark.parametrize("chosen", [["--template", "about"], ["--template", "exam", "--example", "geometric"]])
def test_unknown_or_two_surveys_are_refused(tmp_path: Path, chosen: list[str]) -> None:
    """And nothing is written."""
    result = CliRunner().invoke(new, [str(tmp_path / "new.yaml"), *chosen])

    assert isinstance(result.exception, SpecError)
    assert list(tmp_path.iterdir()) == []
