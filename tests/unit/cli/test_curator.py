"""``curator``: a file is bound and asked; what is wrong or would say nothing releases nothing and repeats no value."""

import json
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from sottovoce.curator import bind, histogram
from sottovoce.shared.errors import SpecError

from tests.commands import done, refused, run as command

YAML = """\
format: sottovoce-data/1
record: one student, once
columns:
  year: {categories: [first, second]}
  habits: {marks: [copied, phone]}
  age: {minimum: 16, maximum: 26, step: 1, centre: 20}
"""
ROWS = "year,habits,age\n" + "first,copied,18\nsecond,copied;phone,20\nSECRET,,SECRET\n" * 100


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """300 records and their declaration."""
    (tmp_path / "data").mkdir()
    (tmp_path / "heads").mkdir()
    monkeypatch.setenv("SOTTOVOCE_LEDGER_ANCHOR_DIR", str(tmp_path / "heads"))
    found = tmp_path / "data" / "class.csv"
    found.write_text(ROWS)
    found.with_suffix(".yaml").write_text(YAML)
    return found


def run(*words: str | Path) -> Result:
    """The verb's end; it never repeats what stands in the data."""
    ended = command("curator", *words)
    assert "SECRET" not in ended.output + ended.stderr
    return ended


def told(*words: str | Path) -> dict[str, Any]:
    ended = done(run(*words, "--json"))
    return json.loads(ended.stdout)


def test_bound_file_is_counted_for_its_curator(file: Path) -> None:
    """Once, exactly, and said to be no release; the budget's terms are the usual ones."""
    found = told("bind", file, "--epsilon", "100")

    assert found["not_as_declared"] == {"year": 100, "habits": 0, "age": 100}
    assert "no release" in found["notes"][0]
    assert found["notes"][1] == "class.csv.placed holds every record; guard and delete it as the data themselves"
    assert {key: found["budget"][key] for key in ("epsilon", "delta", "neighbours", "records")} == {
        "epsilon": "100", "delta": "1/90000", "neighbours": "replace-one", "records": 300,
    }  # fmt: skip
    assert "fixed for good" in refused(run("bind", file, "--epsilon", "101")).output


QUESTIONS = {
    "count": (["--where", "year=first"], {"count": 100}),
    "count ": (["--where", "habits=copied & age>=19"], {"count": 100}),
    "count  ": (["--where", "year=other", "--where", "habits=copied", "--most", "1"], {"counts": [100, 200]}),
    "count   ": (["year", "--weight", "first:1/2", "--weight", "other:1"], {"count": "150"}),
    "histogram": (["year"], {"counts": [100, 100, 100]}),
    "histogram ": (["year", "age"], {"counts": {2: 100, 15: 100, 26: 100}}),
    "sum": (["age"], {"sum": "5800"}),
    "mean": (["age"], {"mean": "58/3", "n": 300}),
    "quantiles": (["age", "--at", "0,9", "--at", "1/2"], {"quantiles": ["20", "20"]}),
    "quantiles ": (["age"], {"quantiles": ["20"]}),
    "vector": (["age", "habits"], {"vector": [-200, 200, 100]}),
    "top": (["habits"], {"index": 0, "name": "copied"}),
    "top ": (["age"], {"index": 4, "name": "20"}),
    "top  ": (["habits", "--noise", "Laplace"], {"index": 0, "name": "copied"}),
    "cluster": (["age", "--k", "1"], {"noisy_sizes": [300]}),
    "cluster ": (["age", "--k", "1", "--method", "lloyd"], {"noisy_sizes": [300]}),
    "cluster  ": (["age", "--k", "1", "--method", "lloyd", "--ball", "l1", "--radius", "3"], {"noisy_sizes": [300]}),
}


@pytest.mark.parametrize("verb", QUESTIONS)
def test_answer_is_near_the_truth_and_recorded(file: Path, verb: str) -> None:
    """At epsilon 900 the noise is as good as none; asked again, the answer is the recorded one."""
    words, expected = QUESTIONS[verb]
    assert run("bind", file, "--epsilon", "1000").exit_code == 0
    first = told(verb.strip(), file, *words, "--epsilon", "900")
    again = told(verb.strip(), file, *words, "--epsilon", "900.0")

    for key, value in expected.items():
        cells = first["values"][key]
        assert (
            {at: cell for at, cell in enumerate(cells) if cell} == value if isinstance(value, dict) else cells == value
        )
    assert (first["recorded_before"], again["recorded_before"]) == (False, True)
    assert again["values"] == first["values"]
    assert told("budget", file)["spent"]["epsilon"] == "900"
    lines = run(verb.strip(), file, *words, "--epsilon", "900").output
    assert "Entry 1 (recorded before, and cost nothing now): epsilon 900" in lines
    assert "with probability .95" in lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count"], "needs 1 to 1,000 predicates"),
        (["count", "--where", "SECRET=1"], "a declared column"),
        (["count", "--where", "year=SECRET"], "has no such name; declared are: first, second, other"),
        (["count", "--where", "year>=first"], "ask for one of them with ="),
        (["count", "--where", "age=SECRET"], "what it is compared with is none"),
        (["count", "--where", "age>=99"], "beyond its declared bounds"),
        (["count", "--where", "age=18.5"], "no such point of its grid"),
        (["count", "--where", "year=first", "--most", "2"], "between 1 and the number"),
        (["count", "year", "--weight", "first:2"], "a fraction from 0 to 1"),
        (["histogram", "habits"], "cells share no record"),
        (["histogram", "year", "year"], "none twice"),
        (["histogram", "SECRET"], "is not declared"),
        (["sum", "year"], "not declared as a number"),
        (["quantiles", "year"], "not declared as a number"),
        (["quantiles", "age", "--at", "1"], "between 0 and 1"),
        (["quantiles", "age", "--at", "0.0001"], "at most three decimals"),
        (["quantiles", "age", "--at", "SECRET"], "between 0 and 1"),
        (["vector", "year"], "categories have histograms"),
        (["vector", "age", "--radius", "0"], "a ball has a radius"),
        (["vector", "age", "--delta", "1"], "delta must be a number"),
        (["top", "SECRET"], "is not declared"),
        (["cluster", "age", "--k", "0"], "1 to 256 clusters"),
        (["cluster", "age", "--k", "0", "--method", "lloyd"], "1 to 256 clusters"),
        (["cluster", "age", "--k", "2", "--empty", "keep"], "a grid has none"),
        (["cluster", "age", "--k", "2", "--ball", "l1", "--radius", "1"], "a grid has none"),
        (["cluster", "age", "--k", "2", "--method", "lloyd", "--radius", "1"], "--ball l1"),
        (["cluster", "age", "--k", "2", "--method", "lloyd", "--ball", "l1", "--radius", "0"], "radius"),
        (["cluster", "year", "--k", "2"], "not declared as a number"),
        (["cluster", "age", "--k", "2", "--method", "lloyd", "--iterations", "0"], "1 to 100 iterations"),
        (["mean", "age", "--epsilon", "0"], "epsilon must be a number above 0"),
        (["mean", "age", "--epsilon", "-1"], "epsilon must be a number above 0"),
        (["mean", "age", "--epsilon", "nan"], "epsilon must be a number above 0"),
        (["mean", "age", "--epsilon", "3"], "3 is asked for, and 2 of 2 is left"),
    ],
)
def test_wrong_question_releases_nothing(file: Path, words: list[str], message: str) -> None:
    assert run("bind", file, "--epsilon", "2").exit_code == 0
    given = words if "--epsilon" in words else [*words, "--epsilon", "1"]
    ended = refused(run(given[0], file, *given[1:]))
    assert message in ended.output
    assert ended.stdout == ""
    assert told("budget", file)["entries"] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epsilon", "x"], "epsilon must be a number"),
        (["--epsilon", "1", "--delta", "2"], "delta must be a number"),
        (["--epsilon", "1", "--delta", "1/3000"], "delta must be below 1/(10 n)"),
    ],
)
def test_budget_with_wrong_terms_is_not_opened(file: Path, words: list[str], message: str) -> None:
    assert message in refused(run("bind", file, *words)).output
    assert not (file.parent / "class.csv.budget").exists()
    assert not list((file.parent.parent / "heads").glob("*.head"))


def test_more_clusters_than_people_are_refused(file: Path) -> None:
    """How many there are is public under replace-one; nothing is charged."""
    few = file.with_name("few.csv")
    few.write_text("year,habits,age\n" + "SECRET,,18\n" * 3)
    declared = ["--declaration", file.with_suffix(".yaml")]
    assert run("bind", few, *declared, "--epsilon", "1").exit_code == 0
    ended = run("cluster", few, "age", *declared, "--k", "4", "--epsilon", "1")
    assert (ended.exit_code, ended.stdout) == (1, "")
    assert "fewer records than clusters" in ended.output
    assert told("budget", few, *declared)["entries"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda _: None, "it is missing, and its head says that there was one"),
        (lambda lines: [lines[0], lines[1].replace(b'"1/2"', b'"1/9"')], "entry 1 is not what was written"),
        (lambda lines: lines[:1], "it ends with entry 0, and entry 1 was answered"),
        (lambda _: [b"year,habits,age\n", b"SECRET,,18\n"], "entry 0 is not what was written"),
    ],
)
def test_wrong_ledger_answers_nothing(file: Path, change: Any, message: str) -> None:
    assert run("bind", file, "--epsilon", "2").exit_code == 0
    assert run("mean", file, "age", "--epsilon", "0.5").exit_code == 0
    ledger = file.with_name("class.csv.budget")
    found = change(ledger.read_bytes().splitlines(keepends=True))
    ledger.unlink() if found is None else ledger.write_bytes(b"".join(found))
    before = ledger.read_bytes() if ledger.exists() else None

    for words in (["mean", file, "age", "--epsilon", "0.5"], ["top", file, "year", "--epsilon", "0.5"]):
        ended = run(*words)
        assert (ended.exit_code, ended.stdout) == (1, "")
        assert message in ended.output
    assert (ledger.read_bytes() if ledger.exists() else None) == before


def test_mark_of_byte_order_and_windows_line_ends_change_no_answer(file: Path) -> None:
    """Other bytes are another data set, with the same records."""
    other = file.with_name("other.csv")
    other.write_bytes(b"\xef\xbb\xbf" + ROWS.replace("\n", "\r\n").encode())
    found = told("bind", other, "--declaration", file.with_suffix(".yaml"), "--epsilon", "1")
    assert found["records"] == 300
    assert found["not_as_declared"] == {"year": 100, "habits": 0, "age": 100}


def test_large_delta_is_warned_of(file: Path) -> None:
    """Above 1/n^2; under add/remove n is nowhere in the budget, and delta is 0 unless it is named."""
    assert any("above 1/n^2" in note for note in told("bind", file, "--epsilon", "1", "--delta", "1e-4")["notes"])
    other = file.with_name("other.csv")
    other.write_text(ROWS + "first,,20\n")
    declared = ["--declaration", file.with_suffix(".yaml")]
    found = told("bind", other, *declared, "--epsilon", "1", "--neighbours", "add/remove")
    assert (found["budget"]["delta"], found["budget"]["records"]) == ("0", None)
    assert b"301" not in (file.parent / "other.csv.budget").read_bytes()
    both = run("budget", file, other, *declared)
    assert "two relations of neighbours" in both.output


def test_changed_file_or_declaration_is_another_data_set(file: Path) -> None:
    assert run("bind", file, "--epsilon", "2").exit_code == 0
    for changed, message in [(file.with_suffix(".yaml"), "the declaration is not the one"), (file, "of another file")]:
        kept = changed.read_text()
        changed.write_text(kept.replace("20", "21"))
        assert message in refused(run("mean", file, "age", "--epsilon", "1")).output
        changed.write_text(kept)
    assert run("mean", file, "age", "--epsilon", "1").exit_code == 0


def test_place_for_heads_must_be_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is no usual one: it would lie in the backups of everything else."""
    monkeypatch.delenv("SOTTOVOCE_LEDGER_ANCHOR_DIR")
    assert "SOTTOVOCE_LEDGER_ANCHOR_DIR" in refused(run("bind", file, "--epsilon", "2")).output


def test_worked_file_of_the_chapter_works(file: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "curator.md").read_text("utf-8")
    csv, yaml, _, asked, unprotected = re.findall(r"```(?:csv|yaml|sh)\n(.*?)```", page, re.DOTALL)
    header, _, rows = csv.partition("\n")
    file.write_text(f"{header}\n{rows * 100}")
    file.with_suffix(".yaml").write_text(yaml)
    assert run("bind", file, "--epsilon", "2").exit_code == 0
    for line in asked.splitlines():
        words = shlex.split(line)[2:]
        done(run(words[0], file, *words[2:]))
    assert told("budget", file)["left"] == "1"
    assert run("reidentify", file, *shlex.split(unprotected)[4:]).exit_code == 0


def test_clusters_are_told_as_declared_and_drawn(file: Path) -> None:
    """On the column's own scale, to half a step."""
    assert run("bind", file, "--epsilon", "1000").exit_code == 0
    svg = file.parent.parent / "clusters.svg"
    found = told("cluster", file, "age", "--k", "1", "--epsilon", "900", "--svg", svg)
    assert found["values"]["centres"] == [["39/2"]]
    assert found["values"]["noisy_sizes"] == [300]
    assert svg.read_text().count("<circle") == 1


def test_plan_pays_for_many_answers_at_once(file: Path) -> None:
    """Answers of its epsilon cost nothing more; an equal plan is the same one, and none follows an answer."""
    assert run("bind", file, "--epsilon", "1", "--delta", "1e-6").exit_code == 0
    opened = run("plan", file, "--answers", "26", "--epsilon", "0.05")
    assert "26 answers of epsilon 0.05 cost epsilon 0.998973 and delta 1e-06; added up they would cost 1.3." in (
        opened.output
    )
    assert "cost nothing now" in run("plan", file, "--answers", "26", "--epsilon", "1/20").output
    answer = run("count", file, "--where", "year=first", "--epsilon", "0.05")
    assert "Entry 2 (paid for by plan 1): epsilon 0.05" in answer.output
    document = told("budget", file)
    assert [(each["answers"], each["used"]) for each in document["plans"]] == [(26, 1)]
    assert "before the first answer" in refused(run("plan", file, "--answers", "2", "--epsilon", "0.0001")).output


def test_names_that_are_not_declared_are_shown_if_they_are_common(file: Path) -> None:
    file.write_text("town,year\n" + "Zürich,first\n" * 200 + "SECRET,first\n")
    file.with_suffix(".yaml").write_text(
        "format: sottovoce-data/1\nrecord: one\ncolumns:\n  town: {text: 40}\n  year: {categories: [first]}\n"
    )
    assert told("bind", file, "--epsilon", "10", "--delta", "1e-5")["not_as_declared"] == {"town": 0, "year": 0}
    found = told("names", file, "town", "--epsilon", "2", "--delta", "1e-6")

    assert list(found["values"]["counts"]) == ["Zürich"]
    assert "Zürich: " in run("names", file, "town", "--epsilon", "2", "--delta", "1e-6").output
    for words, message in [
        (["names", "town", "--delta", "0"], "need --delta"),
        (["names", "town", "--delta", "1e-5"], "not that much left"),
        (["names", "year", "--delta", "1e-6"], "not declared as text"),
        (["count", "--where", "town=Zürich"], "are not declared"),
        (["histogram", "town"], "cells share no record"),
        (["vector", "town"], "of numbers and marks"),
        (["top", "town"], "cells share no record"),
    ]:
        assert message in refused(run(words[0], file, *words[1:], "--epsilon", "1")).output
    assert told("budget", file)["spent"]["epsilon"] == "2"
    assert "cannot be text" in run("reidentify", file).output


def test_ten_thousand_marks_are_asked_in_seconds(file: Path) -> None:
    """The most frequent one, and how many records have one beyond the 52 bits of a word."""
    (file.parent / "titles.csv").write_text("title\n" + "".join(f"m{number}\n" for number in range(10_000)))
    file.write_text("marks\n" + "m1;m9999\n" * 150 + "m9999\n" * 150)
    file.with_suffix(".yaml").write_text(
        "format: sottovoce-data/1\nrecord: one\ncolumns:\n  marks: {marks: {file: titles.csv, column: title}}\n"
    )
    assert told("bind", file, "--epsilon", "1000")["not_as_declared"] == {"marks": 0}

    assert told("top", file, "marks", "--epsilon", "300")["values"] == {"index": 9999, "name": "m9999"}
    assert told("count", file, "--where", "marks=m1", "--epsilon", "300")["values"] == {"count": 150}


HEADER = "year,habits,age\n"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("other.csv", "", "has no header; its first line must name the columns"),
        ("other.csv", HEADER, "there are no records"),
        ("other.csv", HEADER.replace("age", "age,age") + "first,,18,SECRET\n", "the column 'age' stands there twice"),
        ("other.csv", HEADER.replace("age", "SECRET") + "first,,18\n", "has a name that is not declared"),
        ("other.csv", "year,habits,age,SECRET\nfirst,,18,1\n", "line 1, column 4: has a name that is not declared"),
        ("wide.csv", ",".join(f"SECRET{n}" for n in range(100_000)), "longer than 65,535 bytes"),
        ("cut.parquet", "PAR1SECRET", "cannot be read as Parquet"),
    ],
    ids=range(7),
)
def test_file_that_cannot_be_asked_opens_no_budget(file: Path, name: str, content: str, message: str) -> None:
    bad, declared = file.with_name(name), ["--declaration", file.with_suffix(".yaml"), "--epsilon", "1"]
    bad.write_text(content)
    ended = refused(run("bind", bad, *declared))
    assert (message in ended.output, ended.stdout) == (True, "")
    assert not list(file.parent.glob("*.budget"))
    assert not list((file.parent.parent / "heads").glob("*.head"))
    assert "there is none for this data set" in run("count", bad, "--where", "year=first", *declared).output


def test_cells_that_do_not_fit_are_told_to_the_curator_and_charged_nothing(file: Path) -> None:
    file.write_text(HEADER + "first,,NaN\nSECRET,copied,inf\nsecond,SECRET,99\n,,1e999\nfirst,,-0\n")
    found = told("bind", file, "--epsilon", "1")
    assert found["not_as_declared"] == {"year": 2, "habits": 1, "age": 5}
    assert told("budget", file)["spent"]["epsilon"] == "0"


def test_one_record_is_told_when_its_budget_is_opened(file: Path) -> None:
    """And costs nothing; it is one person's, whatever the noise."""
    file.write_text(HEADER + "first,,18\n")
    found = told("bind", file, "--epsilon", "1")
    assert any("there is one record only" in note for note in found["notes"])
    assert told("budget", file)["left"] == "1"
    assert "would say nothing" in run("count", file, "--where", "year=first", "--epsilon", "1/2").output


def test_budget_of_another_data_set_and_a_spent_one_answer_nothing(file: Path) -> None:
    """The first is recognized by its data; of the second only recorded answers are left."""
    words = ("count", file, "--where", "year=first", "--epsilon", "1")
    assert run("bind", file, "--epsilon", "1").exit_code == 0
    assert run(*words).exit_code == 0
    spent = run("histogram", file, "year", "--epsilon", "1/2")
    assert spent.exit_code == 1
    assert "0 of 1 is left; nothing was released or charged" in spent.output
    assert run(*words).exit_code == 0
    other = file.with_name("other.csv")
    other.write_text(HEADER + "first,,18\n" * 30)
    other.with_suffix(".yaml").write_text(YAML)
    file.with_name("class.csv.budget").rename(other.with_name("other.csv.budget"))
    refused = run("count", other, "--where", "year=first", "--epsilon", "1")
    assert refused.exit_code == 1
    assert "is the budget of another file" in refused.output
    assert "is the budget of another file" in run("bind", other, "--epsilon", "1").output


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("{file: none.csv, column: title}", "none.csv"),
        ("{file: titles.csv, column: none}", "there is no column 'none' of names"),
        ("{file: titles.csv}", "need its name and a column"),
        ("{file: titles.csv, column: broken}", "cannot be read as CSV"),
        ("{file: titles.csv, column: empty}", "a list of 1 to"),
    ],
)
def test_names_of_a_file_that_cannot_be_read_are_refused(file: Path, place: str, message: str) -> None:
    titles = "title,empty\na,\n" if "broken" not in place else 'broken\n"a\n'
    (file.parent / "titles.csv").write_text(titles)
    file.with_suffix(".yaml").write_text(
        f"format: sottovoce-data/1\nrecord: one\ncolumns:\n  year: {{categories: {place}}}\n"
    )

    assert message in refused(run("bind", file, "--epsilon", "1")).output


def test_each_noisy_number_has_its_interval(file: Path) -> None:
    """From the noisy number and the public bound; whole numbers err by less than the bound, and fractions within it."""
    assert run("bind", file, "--epsilon", "1000").exit_code == 0
    found = told("histogram", file, "year", "--epsilon", "1")
    bound = found["error"]["t"] - 1
    assert found["intervals"] == {"counts": [[each - bound, each + bound] for each in found["values"]["counts"]]}
    first, bounds = found["values"]["counts"][0], found["intervals"]["counts"][0]
    lines = run("histogram", file, "year", "--epsilon", "1").output
    assert f"first: {first} ({bounds[0]} to {bounds[1]})" in lines
    mean = told("mean", file, "age", "--epsilon", "1")
    half = Fraction(mean["error"]["t"])
    centre = Fraction(mean["values"]["mean"])
    assert mean["intervals"] == {"mean": [str(centre - half), str(centre + half)]}
    assert "intervals" not in told("top", file, "year", "--epsilon", "1")


OTHER = "year,habits,age\n" + "second,phone,26\nfirst,,16\nfirst,copied;phone,25\n" * 100
"""Records of another data set that shares no record, and the number of them, with the first."""


@pytest.mark.parametrize("verb", QUESTIONS)
def test_answer_that_says_nothing_is_asked_for_twice(file: Path, verb: str) -> None:
    words = [verb.strip(), file, *QUESTIONS[verb][0]]
    assert run("bind", file, "--epsilon", "1000").exit_code == 0
    refused = run(*words, "--epsilon", "0.0001")
    assert refused.exit_code == 1
    assert "this answer would say nothing: its error may reach" in refused.output
    assert "nothing was asked or charged (--yes asks all the same)" in refused.output
    assert told("budget", file)["entries"] == []
    enough = re.search(r"; epsilon (\S+) would do", refused.output)
    assert enough
    assert run(*words, "--epsilon", enough[1]).exit_code == 0
    done(run(*words, "--epsilon", "0.0001", "--yes"))
    # It is recorded now, and looking at it again costs nothing.
    assert run(*words, "--epsilon", "0.0001").exit_code == 0


def test_what_is_said_before_a_charge_depends_on_no_record(file: Path) -> None:
    """Two data sets that differ in all records: words and exit codes are equal, whatever is asked, right or wrong."""
    other = file.with_name("other.csv")
    other.write_text(OTHER)
    other.with_suffix(".yaml").write_text(YAML)
    asked = [[verb.strip(), *words] for verb, (words, _) in QUESTIONS.items()]
    asked += [["histogram", "unknown"], ["count", "--where", "year=third"], ["top"], ["sum", "year"],
              ["vector", "year"],
              ["cluster", "age", "--k", "301"], ["cluster", "age", "--k", "0"], ["mean", "age", "age"]]  # fmt: skip
    said: list[list[tuple[int, str]]] = []
    for each in (file, other):
        assert run("bind", each, "--epsilon", "1/2").exit_code == 0
        said.append([_said(each, words, epsilon) for words in asked for epsilon in ("0.0001", "0.001", "0.6")])
    assert said[0] == said[1]
    assert {code for code, _ in said[0]} == {1, 2}
    assert any("is left" in words for _, words in said[0])


def _said(each: Path, words: list[str], epsilon: str) -> tuple[int, str]:
    ended: Result = run(words[0], each, *words[1:], "--epsilon", epsilon)
    assert told("budget", each)["entries"] == []
    return ended.exit_code, ended.output.replace(each.name, "")


def test_number_of_records_that_is_not_public_is_not_used(file: Path) -> None:
    """Under add/remove there is no range to compare with; not even the refusal may tell the number."""
    assert run("bind", file, "--epsilon", "2", "--neighbours", "add/remove").exit_code == 0
    assert "say nothing" not in done(run("count", file, "--where", "year=first", "--epsilon", "0.0001")).output


def test_python_asks_only_if_told_to(tmp_path: Path) -> None:
    """A program cannot be asked; it says beforehand that it wants such answers."""
    for name in ("heads", "data"):
        (tmp_path / name).mkdir()
    declared = {"record": "one", "columns": {"town": {"categories": ["a", "b"]}}}
    data = {"town": ["a"] * 50}
    paths = {"heads": tmp_path / "heads", "budget": tmp_path / "data" / "towns.budget"}
    with pytest.raises(SpecError, match="this answer would say nothing"):
        histogram(bind(data, declared, epsilon=1, **paths), "town", epsilon=0.01)
    bound = bind(data, declared, epsilon=1, useless=True, **paths)
    assert bound.left == 1
    assert len(histogram(bound, "town", epsilon=0.01).values["counts"]) == 3
