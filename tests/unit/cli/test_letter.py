"""From a workbook to a survey file, and from a survey file to letters."""

from pathlib import Path

import pytest
from sottovoce.aggregator.authoring.templates import template_file
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import SpecError

from tests.commands import done, refused, run
from tests.unit.aggregator.authoring.workbooks import workbook

LINK = "https://example.org/s/exam#d=0123456789abcdef0123456789abcdef"


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    """The template on exams, which speaks English and German."""
    (tmp_path / "exam.yaml").write_bytes(template_file("exam"))
    return tmp_path / "exam.yaml"


def test_workbook_becomes_a_survey_file_that_lint_takes(tmp_path: Path) -> None:
    """Names such as yes and no are quoted; what did not come over is told."""
    form = tmp_path / "form.xlsx"
    form.write_bytes(
        workbook(
            survey=(
                ("type", "name", "label", "relevant"),
                ("select_one yn", "smokes", "Do you smoke: yes or no?", ""),
                ("select_one yn", "daily", "Every day?", "${smokes} = 'yes'"),
                ("text", "why", "Why?", ""),
            ),
            choices=(("list_name", "name", "label"), ("yn", "yes", "Yes"), ("yn", "no", "No")),
        )
    )
    out = tmp_path / "survey.yaml"
    result = done(run("new", out, "--from", form))
    assert [question.name for question in read_survey_file(out).questions] == ["smokes", "daily"]
    assert "left out: survey, row 4: free text identifies people" in result.stderr
    assert run("lint", out).exit_code == 0


def test_form_that_costs_more_than_devices_allow_says_so(tmp_path: Path) -> None:
    """It is written, and the next command would refuse it."""
    form, out = tmp_path / "form.xlsx", tmp_path / "survey.yaml"
    rows = [("select_one yn", f"q{number}", "Did you?") for number in range(12)]
    choices = (("list_name", "name", "label"), ("yn", "yes", "Yes"), ("yn", "no", "No"))
    form.write_bytes(workbook(survey=(("type", "name", "label"), *rows), choices=choices))
    result = done(run("new", out, "--from", form))
    assert out.exists()
    assert "to change before it can be published: a whole report costs epsilon" in result.stderr


def test_what_is_no_workbook_writes_nothing(tmp_path: Path) -> None:
    form = tmp_path / "form.xlsx"
    form.write_text("type,name,label\n")
    result = run("new", tmp_path / "survey.yaml", "--from", form)

    assert (result.exit_code, result.stderr.strip()) == (
        1,
        "Error: this is not an .xlsx workbook, whatever its name; save it as .xlsx in your spreadsheet program; "
        "files of other survey systems are not read.",
    )
    assert list(tmp_path.iterdir()) == [form]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--link", LINK], "You are invited to answer"),
        (["--link", LINK, "--kind", "reminder", "--language", "de"], "Wir wissen nicht, wer geantwortet hat"),
        (["--kind", "ethics"], "WHAT THIS DOES NOT PROTECT AGAINST"),
    ],
)
def test_letter_is_written(survey: Path, options: list[str], said: str) -> None:
    assert said in done(run("survey", "letter", survey, *options)).stdout


def test_mail_merge_takes_what_token_create_writes(survey: Path) -> None:
    """A row for each link; the header and the line of a try-out are none."""
    links = survey.parent / "tokens.csv"
    links.write_text(f"token,link\nAAAA,{LINK}&t=AAAA\nBBBB,{LINK}&t=BBBB\n")
    out = survey.parent / "merge.csv"
    done(run("survey", "letter", survey, "--links", links, "--out", out))
    assert out.read_text(encoding="utf-8").count("&t=BBBB") == 3


@pytest.mark.parametrize("options", [[], ["--link", LINK, "--language", "fr"]])
def test_letter_without_link_or_in_no_language_of_the_survey_is_refused(survey: Path, options: list[str]) -> None:
    result = refused(run("survey", "letter", survey, *options))
    assert "--l" in result.stderr
    assert not isinstance(result.exception, SpecError)
