"""Files leave rare public answers out as ``few``: shares of such a file are those of the pages, the rest is refused."""

import json
from collections import Counter
from csv import DictReader
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator import open_data, open_results
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.export.offline.write_parquet import write_reports
from sottovoce.aggregator.export.read_archive import read_folder, results_of_archive
from sottovoce.aggregator.export.results_client.sources import FolderReports, StoredReports
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.spec import Survey

from tests.documents import names
from tests.exported import TODAY, published, send, source
from tests.surveys import document, survey

COUNTS = (3, 20, 129)
"""People of each answer; the rarest is left out, and with it the next, so that nobody is alone."""

COIN, _, _ = document()["questions"]
SHOWN = {"label": {"en": "?"}, "public": True, "in_files": True}
ASKED = survey(
    questions=[
        COIN,
        {**SHOWN, "type": "select_one", "name": "year", "choices": names(3)},
        {**SHOWN, "type": "decimal", "name": "hours", "min": "0", "max": "50", "step": "0.5"},
        {**SHOWN, "type": "date", "name": "born", "min": "2000-01-01", "max": "2000-12-31"},
        {**SHOWN, "type": "boolean", "name": "often"},
    ]
)
STATISTICS = ("reports.sav", "reports.dta")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of people with these answers; of hours, days and often as well one answer is rare."""
    place = tmp_path_factory.mktemp("few")
    storage = published(place, ASKED)
    years = chain.from_iterable(repeat(year, people) for year, people in enumerate(COUNTS))
    send(storage, ASKED, [(number % 2, year, 10 if number < 2 else 11, 1 if number < 2 else 2, number > 1)
                          for number, year in enumerate(years)])  # fmt: skip
    storage.close_survey(ASKED.name, TODAY)
    (place / "files").mkdir()
    write_folder(source(storage, ASKED), place / "files")
    storage.close()
    return place / "files"


def test_word_stands_for_rare_answers_and_no_cell_is_empty(folder: Path) -> None:
    """In CSV and Parquet alike, in questions of every type."""
    with (folder / "reports.csv").open(encoding="utf-8") as file:
        rows = list(DictReader(file))
    duckdb = needed("duckdb")
    parquet = Counter(duckdb.read_parquet(str(folder / "reports.parquet")).project("year").fetchnumpy()["year"])

    assert Counter(row["year"] for row in rows) == parquet == {"2": 129, "few": 23}
    assert {name: {row[name] for row in rows} for name in ("hours", "born", "often")} == {
        "hours": {"few", "5.5"}, "born": {"few", "2000-01-03"}, "often": {"few", "1"},
    }  # fmt: skip
    assert all(row.values() for row in rows)


@pytest.mark.parametrize("name", STATISTICS)
def test_labelled_code_stands_for_rare_answers_and_is_not_missing(folder: Path, name: str) -> None:
    """So that SPSS, Stata and R have 129 of 152, 84.9 %; codes are below the least value."""
    pyreadstat = needed("pyreadstat")
    read = pyreadstat.read_sav if name.endswith("sav") else pyreadstat.read_dta
    frame, about = read(str(folder / name))
    labels = about.variable_value_labels

    assert frame["year"].value_counts(normalize=True)[2] == pytest.approx(129 / 152)
    assert (labels["year"][-1], labels["often"][-1]) == ("few", "few")
    assert sorted(frame["hours"].unique()) == [-1, 5.5]
    assert labels["hours"] == {-1: "few"}
    assert {f"{day:%Y-%m-%d}" for day in frame["born"]} == {"1999-12-31", "2000-01-03"}
    assert not frame.isna().any().any()
    assert not about.missing_ranges


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_share_of_an_answer_in_a_file_is_that_of_the_pages(folder: Path, kind: str, tmp_path: Path) -> None:
    """129 of 152, and few beside it; of what is left out there is no share, of numbers with it no mean."""
    for name in ("survey.json", f"reports.{kind}"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    results = {each.question.name: each for each in results_of_archive(read_folder(tmp_path)).questions}
    pages = {each["name"]: each for each in json.loads((folder / "export.json").read_text())["questions"]}
    shown = {each["option"]: each for each in pages["year"]["estimates"]}

    assert {each.option: each.raw for each in results["year"].estimates} == pytest.approx(
        {"c2": 129 / 152, "few": 23 / 152}
    )
    own = next(each for each in results["year"].estimates if each.option == "c2")
    assert (own.raw, own.low, own.high) == (shown["c2"]["raw"], shown["c2"]["low"], shown["c2"]["high"])
    assert results["year"].n == pages["year"]["n"] == 152
    assert (results["hours"].n, results["hours"].estimates[0].raw) == (0, None)


def test_answer_that_is_left_out_somewhere_has_no_share(tmp_path: Path) -> None:
    """Of two groups: what one leaves out and the other shows is few of both, so that the rest is that of the pages."""
    asked = survey(
        questions=[COIN, *({**SHOWN, "type": "select_one", "name": name, "choices": names(3)} for name in ("a", "b"))]
    )
    storage = published(tmp_path, asked)
    send(storage, asked, [(0, 0, b) for b, n in enumerate((50, 40, 3)) for _ in range(n)])
    send(storage, asked, [(0, 1, b) for b, n in enumerate((60, 0, 30)) for _ in range(n)])
    storage.close_survey(asked.name, TODAY)
    (tmp_path / "files").mkdir()
    write_folder(source(storage, asked), tmp_path / "files")
    storage.close()
    (result,) = (each for each in results_of_archive(read_folder(tmp_path / "files")).questions
                 if each.question.name == "b")  # fmt: skip

    assert {each.option: each.raw for each in result.estimates} == pytest.approx({"c0": 110 / 183, "few": 73 / 183})


def test_tables_of_a_file_have_few_as_an_answer_and_models_refuse_it(folder: Path) -> None:
    """Unless the reports are left out on request; an answer that is left out has no share of its own, not 0 %."""
    results = open_results(folder)
    table = results.crosstab("cheated", "year")
    refused: list[tuple[str, dict[str, Any]]] = [
        ("regression", {"formula": "cheated ~ year"}), ("regression", {"formula": "hours ~ cheated"}),
        ("compare", {"outcome": "hours", "groups": "cheated"}), ("test", {"question": "year"}),
        ("crosstab", {"rows": "cheated", "columns": "year", "where": "often = yes"}),
        ("crosstab", {"rows": "cheated", "columns": "year", "margins": {"year": {"c2": 1}}}),
    ]  # fmt: skip

    assert table.document["column_categories"] == ["c2", "few"]
    assert results.compare("year", "cheated", "c2").document["n"] == 152
    assert results.compare("year", "cheated").document["category"] == "c2"
    assert results.pairs().document["reports"] == 152
    for kind, options in refused:
        with pytest.raises(EstimateError, match=r"leaves out rare answers of [0-9]+ reports as few.*say --drop-few"):
            FolderReports(folder).answer(kind, options)
    assert results.compare("hours", "cheated", drop_few=True).document["n"] == 129
    assert results.crosstab("cheated", "year", drop_few=True).document["n"] == 129


def _read_back(folder: Path, asked: Survey, reports: list[tuple[int, ...]]) -> tuple[StoredReports, FolderReports]:
    storage = published(folder, asked)
    send(storage, asked, reports)
    storage.close_survey(asked.name, TODAY)
    (folder / "files").mkdir()
    write_folder(source(storage, asked), folder / "files")
    return StoredReports(storage, asked.name, now), FolderReports(folder / "files")


@pytest.mark.parametrize("shown_to", [["c2"], ["c0"], ["c0", "c1"]])
def test_who_was_asked_is_not_guessed_from_rare_answers(tmp_path: Path, shown_to: list[str]) -> None:
    """What the file tells of who was asked is that of the pages, in its own question's table too; else it is refused.

    The file has c2, and c0 or c1 as few.
    """
    hidden = {**COIN, "name": "y", "visible_if": {"year": shown_to}, "when_absent": "no"}
    asked = survey(questions=[{**SHOWN, "type": "select_one", "name": "year", "choices": names(3)}, COIN, hidden])
    rows = [(year, n % 2, n % 3 % 2) for year, people in enumerate((3, 40, 120)) for n in range(people)]
    stored, read = _read_back(tmp_path, asked, rows)
    for groups in ("cheated", "year"):
        options = {"outcome": "y", "groups": groups}
        if shown_to == ["c0"]:
            with pytest.raises(EstimateError, match="leaves out rare answers to 'year' as few, and they tell who was"):
                read.answer("compare", options)
            assert read.answer("compare", {**options, "among": "all"})["n"] == len(rows)
            continue
        page, file = (each.answer("compare", options) for each in (stored, read))
        # The pages leave the three out as a group; in the file, they are part of one.
        left = 3 if groups == "year" and shown_to == ["c0", "c1"] else 0
        assert (page["n"] + left, page.get("people")) == (file["n"], file.get("people"))
        assert left or page["values"][-1]["raw"] == file["values"][-1]["raw"]


def test_answer_that_a_file_leaves_out_is_not_compared(tmp_path: Path) -> None:
    """By default the last answer is, here one of the rare; another one is as on the pages, among what both show."""
    year = {**SHOWN, "type": "select_one", "name": "year", "choices": names(4)}
    rows = [(answer, n % 2) for answer, people in enumerate((90, 30, 3, 4)) for n in range(people)]
    stored, read = _read_back(tmp_path, survey(questions=[year, COIN]), rows)
    options = {"outcome": "year", "groups": "cheated"}
    with pytest.raises(EstimateError, match=r"leaves out the answer 'c3' as few, .*; choose one of: c0, c1, few"):
        read.answer("compare", options)
    page, file = (
        [[row["raw"] for row in each.answer("compare", {**options, "category": one})["values"]] for one in ("c0", "c1")]
        for each in (stored, read)
    )
    # The pages leave out the people of rare answers; the file does not tell whose answer is which of them.
    assert [sum(group) for group in zip(*page, strict=True)] == pytest.approx([1, 1])
    assert page[1] == pytest.approx([c1 / (c0 + c1) for c0, c1 in zip(*file, strict=True)])


@pytest.mark.parametrize("silent", [0, 3, 30])
def test_those_who_answered_have_no_share_where_the_silent_are_few(tmp_path: Path, silent: int) -> None:
    """The rest would be a share of others than on the pages; that of all people is the same."""
    openly = {**SHOWN, "type": "boolean", "name": "openly", "absent_category": True}
    rows = [(answer, n % 2) for answer, people in enumerate((90, 3, silent)) for n in range(people)]
    _, read = _read_back(tmp_path, survey(questions=[openly, COIN]), rows)
    with pytest.raises(EstimateError, match="some of the people who gave no answer as few"):
        read.answer("compare", {"outcome": "openly", "groups": "cheated"})


@pytest.mark.parametrize(
    ("kind", "options", "words"),
    [
        ("pairs", {}, "associations and weights do not go together"),
        ("test", {"question": "cheated", "shares": {"yes": 0.3}}, "test and weights do not go together"),
        ("compare", {"outcome": "cheated", "groups": "year", "margins": {"year": {"c2": 1}}}, "margins do not go tog"),
    ],
)
def test_weights_are_never_left_aside(folder: Path, kind: str, options: dict[str, Any], words: str) -> None:
    """An analysis that takes none, or makes its own, says so."""
    with pytest.raises(EstimateError, match=words):
        FolderReports(folder).answer(kind, options, [1.0] * 152)


@pytest.mark.parametrize("name", STATISTICS)
def test_statistics_file_read_as_data_has_few_as_an_answer(folder: Path, name: str, tmp_path: Path) -> None:
    """Its shares take it in, its models refuse it; a file of somebody else may have an answer of that name."""
    (tmp_path / name).write_bytes((folder / name).read_bytes())
    data = open_data(tmp_path / name)
    (tmp_path / "other.csv").write_text("often,age\n" + "few,30\nmany,40\n" * 20, encoding="utf-8")

    assert {row["option"]: row["shown"] for row in data.shares("year").rows} == pytest.approx(
        {"C2": 129 / 152, "few": 23 / 152}
    )
    with pytest.raises(EstimateError, match="leaves out rare answers of 23 reports as few"):
        data.regress("often", ["year"])
    with pytest.raises(EstimateError, match="leaves out rare answers of 23 reports as few"):
        data.compare("cheated", "often", where="year = C2")
    assert open_data(tmp_path / "other.csv").regress("age", ["often"]).document["n"] == 40


def test_offline_folder_of_counted_rows_has_few_as_an_answer(tmp_path: Path) -> None:
    """The cohort is the only public column there."""
    asked = survey(questions=[COIN, {**SHOWN, "type": "select_one", "name": "year", "choices": names(3),
                                     "cohort": True}])  # fmt: skip
    storage = published(tmp_path, asked)
    send(storage, asked, [(0, year) for year, people in enumerate(COUNTS) for _ in range(people)])
    storage.close_survey(asked.name, TODAY)
    (tmp_path / "out").mkdir()
    write_reports(source(storage, asked), tmp_path / "out")
    storage.close()

    assert FolderReports(tmp_path / "out").answer("compare", {"outcome": "cheated", "groups": "year"})["n"] == 152
    assert int(FolderReports(tmp_path / "out").columns.few["year"].sum()) == 23


def test_codebooks_say_how_many_are_left_out(folder: Path) -> None:
    """And what that does to shares and means."""
    words = "few (-1 in SPSS and Stata): an answer that is left out"
    for name in ("codebook.html", "ddi.xml"):
        text = (folder / name).read_text(encoding="utf-8")
        assert words in text
        assert "few (1999-12-31" in text
        assert "Shares take it in the denominator" in text
    assert f"23 reports: {words}" in (folder / "codebook.html").read_text(encoding="utf-8")


def test_report_of_a_randomized_question_is_never_few(folder: Path, tmp_path: Path) -> None:
    """A file that says so was damaged."""
    (tmp_path / "survey.json").write_bytes((folder / "survey.json").read_bytes())
    lines = (folder / "reports.csv").read_text(encoding="utf-8").splitlines()
    lines[1] = f"few,{lines[1].partition(',')[2]}"
    (tmp_path / "reports.csv").write_text("\n".join(lines), encoding="utf-8")

    with pytest.raises(SpecError, match="column 'cheated': only public answers are left out"):
        read_folder(tmp_path)
