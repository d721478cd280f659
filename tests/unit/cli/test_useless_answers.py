"""An answer that would say nothing is not sold silently, and words about it depend on public figures alone."""

import re
from pathlib import Path

import pytest
from click.testing import Result
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.curator import bind, histogram
from sottovoce.shared.errors import SpecError

from tests.commands import done, refused
from tests.unit.aggregator.curator.data.test_released_tables import data as survey_data, run as run_any
from tests.unit.cli.test_curator import QUESTIONS, YAML, file, run, told

__all__ = ["file", "survey_data"]

OTHER = "year,habits,age\n" + "second,phone,26\nfirst,,16\nfirst,copied;phone,25\n" * 100
"""Records of another data set that shares no record, and the number of them, with the first."""


@pytest.mark.parametrize("verb", QUESTIONS)
def test_answer_that_says_nothing_is_asked_for_twice(file: Path, verb: str) -> None:
    """With the epsilon that would do, which does; nothing is charged before, and --yes pays."""
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


def test_budget_of_a_survey_is_not_opened_for_tables_that_say_nothing(survey_data: Path) -> None:
    """It would be fixed for good."""
    words = ("results", "export", "exam", "--data", survey_data, "--release-epsilon", "0.001")
    assert "this answer would say nothing" in refused(run_any(*words)).output
    storage = SQLiteStorage(survey_data / "sottovoce.sqlite")
    assert not storage.releases.has_any("exam")
    storage.close()
    assert run_any(*words, "--yes").exit_code == 0


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
