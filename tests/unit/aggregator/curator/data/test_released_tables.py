"""Public answers of a survey are published under its budget, and exactly nowhere from then on."""

import csv
import json
import zipfile
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from jsonschema import ValidationError
from sottovoce.aggregator.analysis.shown_columns import ReportColumns
from sottovoce.aggregator.curator.data.released_tables import count_sample_uniques, in_words
from sottovoce.aggregator.curator.data.survey_source import survey_declaration
from sottovoce.aggregator.curator.declaration import Categories, NumberColumn
from sottovoce.aggregator.export.results_client.sources import StoredReports
from sottovoce.aggregator.storage.audit_log.events import BUDGET_OPENED, MACHINE
from sottovoce.aggregator.storage.copy import copy_all, save
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.spec import Survey

from tests.commands import done, refused, run
from tests.exported import NOW, answered, published, send
from tests.surveys import document, survey
from tests.unit.shared.test_schema import validator

ROWS = [(1, 0, 1, 4, 1)] * 150 + [(0, 1, 0, 9, 0)] * 50

QUESTIONS = document()["questions"]
PUBLIC = survey(
    questions=[
        *QUESTIONS[:2],
        *[
            {"type": "integer", "name": name, "label": {"en": name}, "public": True, "min": 0, "max": 9}
            for name in ("first", "second", "third")
        ],
    ]
)


def reports(*rows: tuple[int, int, int]) -> ReportColumns:
    """These public answers, under one private one."""
    columns = dict(zip(("first", "second", "third"), np.array(rows, dtype=np.uint8).T, strict=True))
    zero = np.zeros(len(rows), dtype=np.uint8)
    return ReportColumns({"cheated": np.arange(len(rows), dtype=np.uint8), **columns}, zero, zero)


def test_people_who_stand_alone_are_counted_for_one_two_and_three_answers() -> None:
    """By hand: the last by its first answer; two more by their first two; the rest are pairs."""
    found = reports((0, 0, 0), (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 0), (2, 1, 0))

    assert count_sample_uniques(found, PUBLIC) == [(1, 1), (2, 3), (3, 3)]
    assert in_words(found, PUBLIC)[1].startswith("Who knows 2 public answers of a person: 3 of 7 people")


def test_survey_with_one_public_question_tells_of_one() -> None:
    """There are no pairs of it; private answers do not count, though each is alone."""
    found = reports((0, 0, 0), (0, 0, 0))
    one = survey(questions=[*QUESTIONS[:2], PUBLIC.document["questions"][2]])
    assert count_sample_uniques(found, one) == [(1, 0)]


def told(ended: Result) -> Any:
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def opened(folder: Path) -> AbstractContextManager[SQLiteStorage]:
    return closing(SQLiteStorage(folder / "sottovoce.sqlite"))


def asked() -> Survey:
    label = {"en": "?"}
    more: list[dict[str, Any]] = [
        {"type": "integer", "name": "hours", "label": label, "min": "0", "max": "9", "step": "1", "public": True},
        {"type": "boolean", "name": "again", "label": label, "public": True},
    ]
    return survey(questions=[*document()["questions"], *more])


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "heads").mkdir()
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("SOTTOVOCE_LEDGER_ANCHOR_DIR", str(tmp_path / "heads"))
    with closing(published(folder)) as storage:
        answered(storage, asked(), ROWS)
    return folder


def release(data: Path, epsilon: str = "300") -> Any:
    return told(run("results", "export", "exam", "--data", data, "--release-epsilon", epsilon, "--yes"))


def test_budget_of_a_survey_is_not_opened_for_tables_that_say_nothing(data: Path) -> None:
    """It would be fixed for good."""
    words = ("results", "export", "exam", "--data", data, "--release-epsilon", "0.001")
    assert "this answer would say nothing" in refused(run(*words)).output
    with opened(data) as storage:
        assert not storage.releases.has_any("exam")
    assert run(*words, "--yes").exit_code == 0


def test_export_publishes_a_table_of_each_public_question(data: Path) -> None:
    first = release(data)
    assert first["format"] == "sottovoce-release/1"
    assert [table["question"]["columns"] for table in first["tables"]] == [["hours"], ["again"]]
    assert [table["charge"]["epsilon"] for table in first["tables"]] == ["150", "150"]
    assert first["tables"][1]["values"]["counts"][:2] == [50, 150]
    again = release(data)
    assert all(table["recorded_before"] for table in again["tables"])
    assert [table["values"] for table in again["tables"]] == [table["values"] for table in first["tables"]]

    refused = run("results", "export", "exam", "--data", data, "--release-epsilon", "3", "--yes")
    assert refused.exit_code == 1
    assert "0 of 300 is left; nothing was released or charged" in refused.output


def test_nothing_is_opened_unless_somebody_agrees(data: Path) -> None:
    """Closing opens no budget; whoever says no, or nothing, has none afterwards."""
    assert run("results", "export", "exam", "--data", data, "--release-epsilon", "1").exit_code == 1
    with opened(data) as storage:
        assert not storage.releases.has_any("exam")


def test_crosstab_of_two_public_questions_goes_through_the_budget(data: Path) -> None:
    """Their table is drawn once: columns in another order are the same question."""
    assert run("curator", "bind", "--survey", "exam", "--data", data, "--epsilon", "400").exit_code == 0
    here = ("results", "crosstab", "exam", "--data", data, "--release-epsilon", "200")
    (table,) = told(run(*here, "--rows", "hours", "--columns", "again"))["tables"]
    (again,) = told(run(*here, "--rows", "again", "--columns", "hours"))["tables"]
    assert table["names"][:2] == ["0 / no", "0 / yes"]
    assert [count for count in table["values"]["counts"] if count] == [150, 50]
    assert again["recorded_before"]
    assert (again["names"], again["values"]) == (table["names"], table["values"])
    assert run(*here, "--rows", "hours", "--columns", "again", "--within", "hours").exit_code == 2


def test_exact_public_tables_are_withheld_once_a_budget_is_open(data: Path) -> None:
    """In no file and no answer; private answers and the cohort are told as before."""
    before = told(run("results", "export", "exam", "--data", data))
    assert "withheld" not in before
    release(data)

    document = told(run("results", "export", "exam", "--data", data))
    assert document["withheld"] == ["hours", "again"]
    private = [question for question in before["questions"] if question["name"] not in document["withheld"]]
    assert document["questions"] == private

    margins = {"year": {"first": 0.5, "second": 0.5}, "again": {"no": 0.5, "yes": 0.5}}
    undoing: list[tuple[str, dict[str, Any]]] = [
        ("crosstab", {"rows": "year", "columns": "again"}),
        ("compare", {"outcome": "again", "groups": "year"}),
        ("crosstab", {"rows": private[0]["name"], "columns": "again", "within": "year"}),
        ("crosstab", {"rows": private[0]["name"], "columns": "again", "margins": {"year": {"first": 1.0}}}),
        ("regression", {"outcome": "again", "on": ["year"]}),
        ("regression", {"outcome": private[0]["name"], "on": ["year", "again"]}),
        ("regression", {"outcome": private[0]["name"], "on": ["year"], "cluster": "again"}),
        ("regression", {"outcome": "again", "on": [private[0]["name"]], "cluster": "year"}),
        ("regression", {"outcome": private[0]["name"], "on": ["year"], "margins": margins}),
        ("weights", {"margins": {"again": margins["again"]}}),
        ("crosstab", {"rows": private[0]["name"], "columns": "again"}),
        ("regression", {"outcome": private[0]["name"], "on": ["hours"]}),
        ("test", {"question": "again"}),
        ("test", {"question": "hours", "mean": 3}),
    ]
    with opened(data) as storage:
        reports = StoredReports(storage, "exam", lambda: NOW)
        for kind, options in undoing:
            with pytest.raises(EstimateError, match="would undo the noise"):
                reports.answer(kind, options)
        assert reports.answer("crosstab", {"rows": private[0]["name"], "columns": "year"})["cells"]
        assert reports.answer("regression", {"outcome": private[0]["name"], "on": ["year"]})["coefficients"]


def test_tests_of_pairs_tell_nothing_of_public_questions(data: Path) -> None:
    """Their statistics depend on the exact margins."""
    with opened(data) as storage:
        reports = StoredReports(storage, "exam", lambda: NOW)
        before = reports.answer("pairs", {})
        release(data)
        after = reports.answer("pairs", {})
    pairs, left = ([{one["first"], one["second"]} for one in each["pairs"]] for each in (before, after))
    assert left == [pair for pair in pairs if not pair & {"hours", "again"}]
    assert 0 < len(left) < len(pairs)


def test_folder_of_reports_has_no_exact_counts_of_public_questions(data: Path, tmp_path: Path) -> None:
    for name, has_counts in (("before", True), ("after", False)):
        out = tmp_path / name
        assert run("results", "export", "exam", "--data", data, "--format", "parquet", "--out", out).exit_code == 0
        counts = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["public"]
        assert all(set(each) == ({"year", "hours", "again"} if has_counts else {"year"}) for each in counts.values())
        counted = told(run("results", "estimate", out))
        release(data)
    assert counted["withheld"] == ["hours", "again"]
    assert not {"hours", "again"} & {question["name"] for question in counted["questions"]}


def test_documents_have_their_schema(data: Path, tmp_path: Path) -> None:
    assert run("curator", "bind", "--survey", "exam", "--data", data, "--epsilon", "9").exit_code == 0
    check = validator("release").validate
    printed = release(data, "3")
    check(printed)
    assert run("curator", "mean", "--survey", "exam", "--data", data, "hours", "--epsilon", "1").exit_code == 0
    out = tmp_path / "public-tables.json"
    assert run("results", "export", "exam", "--data", data, "--format", out.name, "--out", out).exit_code == 0
    written = json.loads(out.read_text(encoding="utf-8"))
    check(written)
    assert len(written["tables"]) == 3
    with pytest.raises(ValidationError):
        check({**printed, "tables": [{**printed["tables"][0], "exact": [1]}]})


def test_journal_has_who_opened_a_budget_and_for_which_survey(data: Path) -> None:
    """Once: what is published later is a file that was written."""
    release(data)
    release(data)
    with opened(data) as storage:
        noted = [(each.who, each.about) for each in storage.journal.entries() if each.what == BUDGET_OPENED]
    assert noted == [(MACHINE, "exam")]


def test_files_hold_what_was_published_and_nothing_exact(data: Path, tmp_path: Path) -> None:
    release(data)
    out = tmp_path / "everything.zip"
    assert run("results", "export", "exam", "--data", data, "--format", out.name, "--out", out).exit_code == 0
    with zipfile.ZipFile(out) as archive:
        members = {Path(name).name: archive.read(name).decode(errors="replace") for name in archive.namelist()}
    public = {"hours", "again"}
    rows = list(csv.DictReader(members["estimates.csv"].splitlines()))
    assert not public & {row["question"] for row in rows}
    assert not public & {question["name"] for question in json.loads(members["export.json"])["questions"]}
    assert not {"hours", "again"} & set(members["reports.csv"].splitlines()[0].split(","))
    tables = list(csv.DictReader(members["public-tables.csv"].splitlines()))
    assert {"entry": "1", "columns": "hours", "cell": "4", "value": "150"}.items() <= tables[4].items()
    assert json.loads(members["public-tables.json"])["left"] == "0"

    for name in ("reports-with-public.csv", "public-tables.csv"):
        ended = run("results", "export", "exam", "--data", data, "--format", name, "--out", tmp_path / name, "--yes")
        assert ended.exit_code == (0 if name == "public-tables.csv" else 1), ended.output


def test_budget_outlives_reopening_and_correction(data: Path) -> None:
    """The data grow by a revision that asks less; what was spent stays spent, and columns are those of the opening."""
    first = release(data)
    assert run("survey", "reopen", "exam", "--data", data).exit_code == 0
    corrected = survey(
        revision=2, replaces=asked().digest, questions=[*document()["questions"], asked().document["questions"][-1]]
    )
    with opened(data) as storage:
        storage.publish(corrected)
        send(storage, corrected, [(1, 0, 1, 1)] * 60)
    assert run("survey", "close", "exam", "--data", data, "--yes").exit_code == 0

    assert [table["recorded_before"] for table in release(data)["tables"]] == [True, True]
    ended = run("results", "export", "exam", "--data", data, "--release-epsilon", "30", "--yes")
    assert "0 of 300 is left" in ended.output
    assert told(run("curator", "budget", "--survey", "exam", "--data", data, "--json"))["budget"]["records"] == 200
    assert len(first["tables"]) == 2


def test_restored_and_copied_databases_spend_one_budget(data: Path, tmp_path: Path) -> None:
    """A backup from before the last answer is behind its head and refuses; a copy goes on where this one was."""
    assert run("curator", "bind", "--survey", "exam", "--data", data, "--epsilon", "3").exit_code == 0
    here = ("--survey", "exam", "--epsilon", "1")
    for name in ("before", "copied"):
        (tmp_path / name).mkdir()
    copied = SQLiteStorage(tmp_path / "copied" / "sottovoce.sqlite", unfinished=True)
    with opened(data) as storage, closing(copied):
        save(storage, tmp_path / "before" / "sottovoce.sqlite")
        assert run("curator", "top", *here, "again", "--data", data).exit_code == 0
        copy_all(storage, copied)

    refused = run("curator", "mean", *here, "hours", "--data", tmp_path / "before")
    assert refused.exit_code == 1
    assert "the budget is behind its head" in refused.output
    assert run("curator", "mean", *here, "hours", "--data", tmp_path / "copied").exit_code == 0
    # Now the first one is behind: two databases, one budget.
    assert "is behind its head" in run("curator", "mean", *here, "hours", "--data", data).output


def test_try_out_has_no_budget(data: Path) -> None:
    tried = survey(name="tried", trial=True)
    with opened(data) as storage:
        storage.publish(tried)
        send(storage, tried, [(1, 0, 1)] * 30)
    ended = refused(run("results", "export", "tried", "--data", data, "--release-epsilon", "1", "--yes"))
    assert "a test run has no budget" in ended.output


def test_open_survey_is_not_published(data: Path) -> None:
    assert run("survey", "reopen", "exam", "--data", data).exit_code == 0
    ended = refused(run("results", "export", "exam", "--data", data, "--release-epsilon", "1", "--yes"))
    assert "the survey is open" in ended.output
    with opened(data) as storage:
        assert not storage.releases.has_any("exam")


def test_declaration_follows_from_the_survey() -> None:
    declared = survey_declaration([asked()])
    assert {name: type(kind) for name, kind in declared.columns.items()} == {"hours": NumberColumn, "again": Categories}
    assert declared.exact == ("year",)


def test_closed_survey_is_asked_under_its_budget(data: Path) -> None:
    here = ["--survey", "exam", "--data", data]
    assert run("survey", "reopen", "exam", "--data", data).exit_code == 0
    assert "open" in refused(run("curator", "bind", *here, "--epsilon", "1000")).output
    assert run("survey", "close", "exam", "--data", data).exit_code == 0
    bound = run("curator", "bind", *here, "--epsilon", "1000", "--json")
    assert json.loads(bound.stdout)["records"] == 200

    answers = {}
    for words in (
        ["histogram", "again"],
        ["count", "--where", "hours<=4 & again=yes"],
        ["mean", "hours"],
        ["top", "again"],
    ):
        ended = done(run("curator", words[0], *here, *words[1:], "--epsilon", "200", "--json"))
        answers[words[0]] = json.loads(ended.stdout)["values"]
    assert answers["histogram"]["counts"][:2] == [50, 150]
    assert answers["count"] == {"count": 150}
    assert answers["mean"]["mean"] == "21/4"
    assert answers["top"]["name"] == "yes"

    out = data.parent / "reports-with-public.csv"
    written = refused(run("results", "export", "exam", "--data", data, "--format", out.name, "--out", out, "--yes"))
    assert "a budget for this survey's public answers was opened" in written.output
    assert not out.exists()
