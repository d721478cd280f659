"""Files for SPSS and Stata, read back by pyreadstat."""

import csv
import re
import subprocess
from collections import Counter
from pathlib import Path

import pyreadstat
import pytest
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.aggregator.export.catalogue import SINGLE, Source
from sottovoce.aggregator.export.statistics_files import allowed_names, column_names, cut

from tests.exported import TODAY, published, send, source
from tests.surveys import document, survey

READ = {".sav": pyreadstat.read_sav, ".dta": pyreadstat.read_dta}
HAVEN = """
path <- commandArgs(TRUE)
columns <- if (endsWith(path, ".sav")) haven::read_sav(path) else haven::read_dta(path)
for (name in names(columns)) {
  values <- attr(columns[[name]], "labels")
  cat(name, attr(columns[[name]], "label"), rbind(values, names(values)), sep = "\t")
  cat("\n")
}
"""
"""Prints, of each column, its name, its label, and codes with their labels. Needs apt-get install r-cran-haven."""


@pytest.mark.parametrize("kind", READ)
def test_file_read_back_holds_reports_labels_and_channels(every: Source, folder: Path, kind: str) -> None:
    """Values, labels of questions and of values, and a and b beside each yes/no question."""
    frame, told = READ[kind](folder / f"reports{kind}")
    labels = told.variable_value_labels

    for name, column in every.reports.columns.items():
        # The distance is half a kilometre a step, and in its own unit in the file.
        expected = column / 2 if name == "far" else column
        assert Counter(frame[name].tolist()) == Counter(expected.tolist())
    assert labels["ever"] == {0: "No", 1: "Yes"}
    assert labels["where"] == {0: "Alcohol", 1: "Cannabis", 2: "Cocaine", 3: "Ecstasy"}
    assert labels["which"][3] == "Cannabis: chosen"
    assert "far" not in labels
    assert labels["days"] == {0: "low end (0)", 1: "high end (30)"}
    assert "why" not in labels  # a mask has too many values
    assert told.column_names_to_labels["ever"] == "Have you ever taken an illegal drug?"
    more = [told.column_names_to_labels[name] for name in frame if name.strip("_") in {"wave", "revision"}]
    assert [label.split()[0] for label in more] == ["Wave", "Revision"]
    assert set(frame["ever_a"].round(6)) == {0.666667}
    assert set(frame["ever_b"].round(6)) == {0.333333}
    assert told.file_label.startswith("survey exam; revision 1; digest ")


def test_spss_file_names_the_survey_and_every_channel(every: Source, folder: Path) -> None:
    """In its notes, which have lines of 80 letters."""
    _, told = pyreadstat.read_sav(folder / "reports.sav")
    notes = " ".join(told.notes)

    assert every.about.survey.digest in notes
    assert f"sottovoce {every.about.version}" in notes
    assert "ever: binary_rr, a 0.666667, b 0.333333" in notes
    assert told.variable_measure["often"] == "ordinal"


def test_channel_of_a_report_is_that_of_its_own_revision(tmp_path: Path) -> None:
    """GLMMRR takes parameters row by row; a report that was not asked is missing."""
    first, questions = survey(), document()["questions"]
    questions[0] = {**questions[0], "mechanism": {"name": "warner", "truth": "2/3"}}
    second = survey(questions=questions, revision=2, replaces=first.digest)
    storage = published(tmp_path, first, second)
    send(storage, first, [(1, 2, 0)] * 6)
    send(storage, second, [(0, 0, 1)] * 7)
    storage.close_survey("exam", TODAY)
    SINGLE["reports.dta"](source(storage, second), tmp_path / "r.dta")
    storage.close()

    frame, _ = pyreadstat.read_dta(tmp_path / "r.dta")
    rows = Counter(
        zip(frame["revision"], frame["cheated"], frame["cheated_a"].round(4), frame["cheated_b"].round(4), strict=True)
    )
    assert rows == {(1, 1, 0.75, 0.25): 6, (2, 0, 0.6667, 0.3333): 7}


@pytest.mark.parametrize("longest", [32, 64])
def test_names_are_such_as_the_programs_take(longest: int) -> None:
    """Digits first, reserved words, long ones, and two that become one."""
    names = ["all", "if", "str5", "1st", "_wave", "q_all", "x" * 64, "x" * 63 + "y", "cheated"]
    found = allowed_names(names, longest)

    assert found[:6] == ["q_all", "q_if", "q_str5", "q_1st", "q_wave", "q_all_2"]
    assert found[-1] == "cheated"
    assert len(set(found)) == len(names)
    assert max(map(len, found)) <= longest


@pytest.mark.parametrize("kind", READ)
def test_question_with_the_longest_name_is_in_the_file(tmp_path: Path, kind: str) -> None:
    """With value labels, next to one that differs in its last letter only; the codebook lists the shorter names."""
    questions = document()["questions"]
    names = ["x" * 64, "x" * 63 + "y", "q" * 32]
    questions = [{**questions[0], "name": name} for name in names]
    asked = survey(questions=questions)
    storage = published(tmp_path, asked)
    send(storage, asked, [(0, 1, 1)] * 6)
    storage.close_survey("exam", TODAY)
    SINGLE[f"reports{kind}"](source(storage, asked), tmp_path / f"r{kind}")
    SINGLE["codebook.html"](source(storage, asked), tmp_path / "codebook.html")
    storage.close()

    frame, told = READ[kind](tmp_path / f"r{kind}")
    shorter = column_names(asked, kind)
    codebook = (tmp_path / "codebook.html").read_text(encoding="utf-8")
    assert [frame[shorter[name]].unique().tolist() for name in names] == [[0], [1], [1]]
    assert all(told.variable_value_labels[shorter[name]] == {0: "No", 1: "Yes"} for name in names)
    assert all(f"<code>{short}</code>" in codebook for name in names if (short := shorter[name]) != name)


@pytest.mark.parametrize("kind", READ)
def test_labels_are_whole_or_stay_different(tmp_path: Path, kind: str) -> None:
    """Of 60 Chinese letters SPSS takes 40, so that two labels would be one: their codes follow, and a note says so."""
    questions, same = document()["questions"], "是" * 60
    labels = [same + "一", same + "二", "三"]
    choices = [{"name": name, "label": {"en": text}} for name, text in zip("abc", labels, strict=True)]
    asked = survey(questions=[{**questions[1], "choices": choices, "label": {"en": "问" * 80}}])
    storage = published(tmp_path, asked)
    send(storage, asked, [(0,), (1,), (2,)] * 3)
    storage.close_survey("exam", TODAY)
    SINGLE[f"reports{kind}"](source(storage, asked), tmp_path / f"r{kind}")
    storage.close()

    frame, told = READ[kind](tmp_path / f"r{kind}")
    found = told.variable_value_labels["reason"]
    assert sorted(frame["reason"]) == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    if kind == ".dta":
        assert (found, told.column_names_to_labels["reason"]) == (dict(enumerate(labels)), "问" * 80)
    else:
        assert found == {0: "是" * 38 + " (0)", 1: "是" * 38 + " (1)", 2: "三"}
        assert "values of reason are cut to 120 bytes" in " ".join(told.notes)


@pytest.mark.slow
@pytest.mark.parametrize("kind", READ)
def test_labels_are_the_same_in_r(folder: Path, kind: str) -> None:
    """What haven reads is what pyreadstat reads: labels of columns, and codes with their labels."""
    command = ["Rscript", "--vanilla", "-", str(folder / f"reports{kind}")]
    printed = subprocess.run(command, input=HAVEN, capture_output=True, text=True, check=True, timeout=600).stdout
    told = READ[kind](folder / f"reports{kind}")[1]
    read = []
    for name in told.column_names:
        labels = told.variable_value_labels.get(name, {})
        cells = [cell for code, text in labels.items() for cell in (str(int(code)), text)]
        read.append([name, *filter(None, [told.column_names_to_labels[name]]), *cells])

    assert len(read) > 20
    assert [line.split("\t") for line in printed.splitlines()] == read


@pytest.mark.parametrize("kind", READ)
def test_options_keep_the_codes_of_their_names(tmp_path: Path, kind: str) -> None:
    """1, 2, 99 and -99, for SPSS, Stata and the codebook; the category of no answer has the next number."""
    questions = document()["questions"]
    choices = [{"name": name, "label": {"en": f"Option {name}"}} for name in ("1", "2", "99", "minus_99")]
    item = {**questions[1], "choices": choices, "absent_category": True, "mechanism": {"epsilon": "1"}}
    asked = survey(questions=[item])
    storage = published(tmp_path, asked)
    send(storage, asked, [(0,), (1,), (2,), (3,), (4,)] * 2)
    storage.close_survey("exam", TODAY)
    for name in (f"reports{kind}", "codebook.html"):
        SINGLE[name](source(storage, asked), tmp_path / name)
    storage.close()

    frame, told = READ[kind](tmp_path / f"reports{kind}")
    assert sorted({*frame["reason"]}) == [-99, 1, 2, 99, 100]
    assert told.variable_value_labels["reason"] == {
        1: "Option 1", 2: "Option 2", 99: "Option 99", -99: "Option minus_99", 100: "No answer"}  # fmt: skip
    cells = re.sub(r"<[^>]*>", "|", (tmp_path / "codebook.html").read_text(encoding="utf-8").replace("<wbr>", ""))
    assert re.search(r"\|3\|+-99\|+Option minus_99\|", cells)


@pytest.mark.parametrize("kind", READ)
def test_numbers_and_days_are_those_of_the_csv_file(tmp_path: Path, kind: str) -> None:
    """-0.1 and not -0.0999999999999999, and days without a time; a rare day that is left out is labelled."""
    shown = {"public": True, "in_files": True}
    tenth = {**shown, "type": "decimal", "name": "far", "label": {"en": "Far?"}, **dict(min="-2", max="10", step="0.1")}
    born = {**shown, "type": "date", "name": "born", "label": {"en": "Born?"}, "min": "1900-01-01", "max": "2000-01-01"}
    asked = survey(questions=[document()["questions"][0], tenth, born])
    storage = published(tmp_path, asked)
    send(storage, asked, [*[(1, step, 0) for step in range(0, 121, 3) for _ in range(5)], *[(1, None, 0)] * 5])
    send(storage, asked, [(0, 0, 25_000)] * 4 + [(0, 3, None)] * 5 + [(0, 6, 400)])
    storage.close_survey("exam", TODAY)
    for name in (f"reports{kind}", "reports.csv"):
        SINGLE[name](source(storage, asked), tmp_path / name)
    storage.close()

    frame, told = READ[kind](tmp_path / f"reports{kind}")
    with (tmp_path / "reports.csv").open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    texts = {"1899-12-31": "few", "nan": ""}
    for name in ("far", "born"):
        expected = [str(float(row["far"])) if name == "far" and row["far"] else row[name] for row in rows]
        assert Counter(texts.get(str(cell), str(cell)) for cell in frame[name]) == Counter(expected)
    assert [*told.variable_value_labels["born"].values()] == ["few"]
    assert "few" in read_table(tmp_path / f"reports{kind}").columns["born"].values
    assert told.original_variable_types["born"] == {".sav": "DATE11", ".dta": "%td"}[kind]


def test_text_is_cut_between_words_or_letters() -> None:
    """Half a letter would make the file unreadable, and half a word is hard to read."""
    assert cut("aÄÄ", 4) == "aÄ"
    assert cut("taken an illegal drug", 15) == "taken an"
    assert cut("taken an illegal drug", 16) == "taken an illegal"
    assert cut("short", 80) == "short"
