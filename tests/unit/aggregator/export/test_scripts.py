"""The scripts beside the files run by themselves, and print what the software estimates."""

import math
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest
from sottovoce.aggregator.analysis.estimates import SurveyResults, analyse
from sottovoce.aggregator.export.catalogue import SINGLE, Source

from tests.documents import one_of, question
from tests.exported import TODAY, drawn, published, send, source
from tests.surveys import document, months, survey

Figures = dict[tuple[str, ...], tuple[int, float, float, float, float]]
RSCRIPT = shutil.which("Rscript")
WEBR = Path(__file__).parents[4] / "tests" / "webr"


def printed(text: str, wave: int = 0) -> Figures:
    """(n, estimate, standard error, low, high) by question, option and people, of one wave."""
    rows = [line.split("\t") for line in text.strip().splitlines()[1:] if line.count("\t") == 9]
    return {
        (row[1], row[2], row[9]): (int(row[4]), *(float(cell) for cell in row[5:9]))  # type: ignore[misc]
        for row in rows if row[0] == str(wave)
    }  # fmt: skip


def estimated(results: SurveyResults) -> Figures:
    """The same of the software, of what is randomized."""
    return {
        (result.question.name, each.option, people): (
            each.n,
            each.raw or 0.0,
            each.std_error or 0.0,
            each.low,
            each.high,
        )
        for result in results.questions
        for people, estimates in (("all", result.estimates), ("answered", result.answered))
        for each in estimates
        if result.question.mechanism is not None and (each.kind == "mean" or not result.of_kind("mean"))
    }


def run(folder: Path) -> str:
    """What the script prints, in an interpreter that finds nothing but the standard library."""
    command = [sys.executable, "-I", "-S", str(folder / "analysis.py")]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout


def agree(found: Figures, expected: Figures) -> bool:
    """Every figure to the digits printed; limits of means are made in another way."""
    assert found.keys() == expected.keys()
    return all(
        found[key][0] == expected[key][0]
        and all(map(lambda a, b: math.isclose(a, b, abs_tol=1.1e-6), found[key][1:figures], expected[key][1:figures]))
        for key in expected
        for figures in [5 if key[1] != "mean" and key[0] != "compass" else 3]
    )


def test_analysis_in_python_prints_what_the_software_estimates(every: Source, folder: Path) -> None:
    """Every type and mechanism: n, estimate, standard error, and the limits of each share."""
    expected = estimated(analyse(every.revisions))

    assert len(expected) > 45
    assert agree(printed(run(folder)), expected)


@pytest.fixture(scope="module")
def declinable(tmp_path_factory: pytest.TempPathFactory) -> tuple[SurveyResults, Path]:
    """Results and files of questions that may be declined: a yes/no, a choice by sets, and one by bits; few reports."""
    folder = tmp_path_factory.mktemp("declinable")
    kinds = [
        {**question({"name": "kary_rr", "odds": "3"}), "name": "a", "absent_category": True},
        {**one_of(4, {"name": "subset_selection", "odds": "3", "size": 2}), "name": "b", "absent_category": True},
        {**one_of(3, {"name": "hadamard_response", "odds": "3"}), "name": "c", "absent_category": True},
        {**one_of(3, {"name": "kary_rr", "odds": "3"}), "name": "d"},
    ]
    asked = survey(questions=kinds)
    storage = published(folder, asked)
    send(storage, asked, drawn(asked, 80))
    storage.close_survey("exam", TODAY)
    found = source(storage, asked)
    for name in ("reports.csv", "channels.csv", "scores.csv", "analysis.py", "analysis.R"):
        SINGLE[name](found, folder / name)
    results = analyse(found.revisions)
    storage.close()
    return results, folder


def test_analysis_in_python_prints_shares_among_those_who_answered(declinable: tuple[SurveyResults, Path]) -> None:
    """The estimates, errors and limits of the page, beside those among all."""
    expected = estimated(declinable[0])

    assert sum(key[2] == "answered" for key in expected) == 9
    assert agree(printed(run(declinable[1])), expected)


def test_analysis_in_python_takes_waves_and_revisions_apart(tmp_path: Path) -> None:
    """Equal channels of two revisions are added up; a wave stands by itself, as in the results of that wave."""
    first = survey(waves=months(2))
    questions = document()["questions"]
    questions[0] = {**questions[0], "mechanism": {"name": "warner", "truth": "2/3"}}
    second = survey(waves=months(2), questions=questions, revision=2, replaces=first.digest)
    storage = published(tmp_path, first, second)
    for number, asked in enumerate((first, second)):
        for wave in (0, 1):
            send(storage, asked, drawn(asked, 60 + 20 * wave, f"{number}{wave}"), wave)
    storage.close_survey("exam", TODAY)
    found = source(storage, second)
    for name in ("reports.csv", "channels.csv", "scores.csv", "analysis.py"):
        SINGLE[name](found, tmp_path / name)
    text = run(tmp_path)
    for wave in (0, 1):
        mine = {key: row for key, row in printed(text, wave).items() if key[0] == "reason"}
        assert agree(
            mine, {k: v for k, v in estimated(analyse(found.revisions, wave=wave)).items() if k[0] == "reason"}
        )
    storage.close()

    channels = [line.split("\t")[1:5] for line in text.splitlines() if line.startswith("0\tcheated")]
    assert channels == [["cheated", "yes", "1", "60"], ["cheated", "yes", "2", "60"]]


def test_analysis_in_r_has_no_line_that_is_too_long() -> None:
    script = files("sottovoce.aggregator.export.scripts").joinpath("analysis.R").read_text(encoding="utf-8")
    assert [line for line in script.splitlines() if len(line) > 120] == []


@pytest.mark.slow
def test_analysis_in_r_prints_shares_among_those_who_answered(declinable: tuple[SurveyResults, Path]) -> None:
    """The same figures as in Python."""
    command = ["node", "run.mjs", str(declinable[1])]
    text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=WEBR, timeout=600).stdout
    assert agree(printed(text), estimated(declinable[0]))


@pytest.mark.slow
def test_analysis_in_r_compiled_for_node_prints_what_the_software_estimates(every: Source, folder: Path) -> None:
    """The same figures as in Python, without an R that is installed."""
    command = ["node", "run.mjs", str(folder)]
    text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=WEBR, timeout=600).stdout
    assert agree(printed(text), estimated(analyse(every.revisions)))


if RSCRIPT is not None:
    # Where there is none, .ci/run says so; the packages rr, RRreg and GLMMRR are tried where they are installed.
    def test_analysis_in_r_prints_what_the_software_estimates(every: Source, folder: Path) -> None:
        """The same figures as in Python."""
        command = [str(RSCRIPT), "--vanilla", "analysis.R"]
        text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
        assert agree(printed(text), estimated(analyse(every.revisions)))
