"""``results compare NAME --planned`` makes the comparisons that the survey's file planned, and no others."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.export.catalogue import preregistration
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.cli.main import main
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.exported import TODAY, published, send, source
from tests.unit.aggregator.studio.results.test_arm_pages import reports, study

PLAN = [
    {"question": "cheated", "against": "cheated_direct", "measure": "difference", "confidence": "0.9"},
    {"question": "cheated", "against": "cheated_direct", "measure": "ratio", "confidence": "0.95"},
    {"question": "copied", "by": "arm", "measure": "difference", "confidence": "0.95"},
]


def planned(name: str) -> Survey:
    """The study of the arms' pages, with a plan."""
    return parse_survey({**study(name).document, "analysis_plan": PLAN})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a database and files: "done" and "alone" are closed, "alone" with people of one arm only."""
    folder = tmp_path_factory.mktemp("planned")
    (folder / "data").mkdir()
    (folder / "files").mkdir()
    storage = published(folder / "data", planned("done"), planned("open"), planned("alone"), study("unplanned"))
    for name in ("done", "open"):
        send(storage, planned(name), reports(planned(name)))
    send(storage, planned("alone"), [each for each in reports(planned("alone")) if each[-1] == 0])
    send(storage, study("unplanned"), reports(study("unplanned")))
    for name in ("done", "alone", "unplanned"):
        storage.close_survey(name, TODAY)
    write_folder(source(storage, planned("done")), folder / "files")
    storage.close()
    return folder


def compare(place: Path, *words: str) -> Result:
    """The ending of the command."""
    return CliRunner().invoke(main, ["results", "compare", *words, "--data", str(place / "data")])


def test_plan_is_carried_out(place: Path) -> None:
    """Each with its level; the figures are those of the same comparison made alone."""
    found = json.loads(compare(place, "done", "--planned", "--json").stdout)
    alone = ["--outcome", "cheated", "--groups", "arm", "--against", "cheated_direct", "--confidence", "0.9", "--json"]

    assert found["digest"] == planned("done").digest
    assert sorted(found["comparisons"][0]["planned"].items()) == sorted(PLAN[0].items())
    assert found["comparisons"][0]["comparison"] == json.loads(compare(place, "done", *alone).stdout)
    assert [each["problem"] for each in found["comparisons"]] == [None] * 3


def test_table_shows_the_planned_measure_alone(place: Path) -> None:
    """Differences at each level of the plan and one ratio, with the note on their number."""
    shown = " ".join(compare(place, "done", "--planned").stdout.split())

    assert "The limits are not adjusted for the number of comparisons: 3." in shown
    assert [shown.count(title) for title in ("Difference", "Ratio of")] == [2, 1]
    assert [f"direct, protected ({level}% interval)" in shown for level in (90, 95)] == [True, True]


def test_folder_of_files_gives_the_same(place: Path) -> None:
    """It has the survey, and so the plan; a direct answer is public, and not in files by default."""
    words = ["results", "compare", "--planned", "--from", str(place / "files"), "--json"]
    found = json.loads(CliRunner().invoke(main, words).stdout)["comparisons"]

    assert ["cheated_direct" in str(each["problem"]) for each in found] == [True, True, False]
    assert found[2]["comparison"]["outcome"] == "copied"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["open"], 1, "the survey is open"),
        (["unplanned"], 1, "plans no comparisons"),
        (["none"], 1, "was not found"),
        (["done", "--outcome", "cheated"], 2, "no other option goes with it"),
        (["done", "--confidence", "0.9"], 2, "no other option goes with it"),
    ],
)
def test_what_cannot_be_done_is_refused(place: Path, words: list[str], code: int, said: str) -> None:
    """The plan leaves no choice, and there is no look before the close."""
    ended = compare(place, *words, "--planned")
    assert (ended.exit_code, said in ended.stderr) == (code, True), ended.stderr


def test_comparison_without_a_result_stands_beside_the_others(place: Path) -> None:
    """People of one arm only: what needs the other arm says why it has no result, and the rest is there."""
    found = json.loads(compare(place, "alone", "--planned", "--json").stdout)["comparisons"]

    assert [each["comparison"] is None for each in found] == [True, True, False]
    assert found[2]["comparison"]["differences"] == []
    assert "There is no result. The reason:" in compare(place, "alone", "--planned").stdout


def test_question_is_still_needed_without_the_flag(place: Path) -> None:
    """As before: both options."""
    assert "--outcome" in compare(place, "done").stderr
    assert "--groups" in compare(place, "done", "--outcome", "cheated").stderr


def test_preregistration_has_the_plan(place: Path) -> None:
    """An empty list without one."""
    (place / "other").mkdir()
    storage = published(place / "other", planned("done"), study("unplanned"))
    found = [
        preregistration(source(storage, each).revisions, About.of(each), PlannedSize())["analysis"]["comparisons"]
        for each in (planned("done"), study("unplanned"))
    ]
    storage.close()

    assert found == [PLAN, []]
