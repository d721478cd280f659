import csv
import json
import math
import shutil
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.export.catalogue import SINGLE, Source
from sottovoce.aggregator.export.channels import CHANNEL_COLUMNS, Channel, channel_rows, channels_of
from sottovoce.aggregator.export.labels import coding, option_labels, value_labels
from sottovoce.aggregator.export.scripts.analysis import share_score
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.shared.channel_text import dump_block, read_block, split_channel
from sottovoce.shared.spec import Question

from tests.blocks import block, blocks, in_block
from tests.documents import one_of, question, question as question_of
from tests.exported import TODAY, drawn, files_of, published, send, source
from tests.surveys import document, every_type, months, survey
from tests.unit.aggregator.analysis.innocuous_surveys import innocuous_survey


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


NAMES = [question.name for question in survey(questions=every_type()).questions if question.mechanism is not None]


def truths(question: Question) -> list[Any]:
    """Some true values of a question, the ends among them."""
    size = question.domain.size
    if question.kind.truth == "options":
        return [0, 1, 2, 5, 2**size - 1]
    if question.kind.truth == "numbers":
        return [(0, 0), (0, 20), (20, 10)]
    return list(range(size))


def expected(channel: Channel, truth: Any, option: int) -> float:
    """The number that the scores of an option, a coordinate or a mean must have on average."""
    question = channel.question
    if question.kind.truth == "options":
        return float(truth >> option & 1)
    if question.domain.grid is None:
        return float(truth == option)
    step = truth[option] if isinstance(truth, tuple) else truth
    return float(question.domain.grid.low + step * question.domain.grid.step)


def mean_score(channel: Channel, truth: Any, scores: dict[int, float]) -> float:
    """E[score | truth] over the reports that say something, with the channel's own probabilities."""
    mechanism = channel.mechanism
    assert mechanism is not None
    weights = {value: mechanism.probability(value, truth) for value in scores}
    return float(sum(weights[value] * Fraction(score) for value, score in scores.items()) / sum(weights.values()))


ASKED = {question.name: question for question in survey(questions=every_type()).questions}


def only(**changes: object) -> Question:
    asked = {"type": "boolean", "name": "q", "label": {"en": "Q?"}, "mechanism": {"name": "coin_flip"}} | changes
    return survey(questions=[{key: value for key, value in asked.items() if value is not None}]).questions[0]


def test_codebook_tells_every_question_and_loads_nothing(every: Source, folder: Path) -> None:
    """No script, no link, no picture; a title with markup in it is text; exactly the columns that the file has."""
    page = Page((folder / "codebook.html").read_text(encoding="utf-8"))

    assert {"script", "link", "img", "iframe", "b"} & set(page.tags) == set()
    assert {"src", "href", "onclick"} & page.attributes == set()
    assert "=1+1 & <b>" in page.text
    with (folder / "reports.csv").open(encoding="utf-8") as lines:
        columns = next(csv.reader(line for line in lines if not line.startswith("#")))
    assert page.tags.count("section") == len(columns) < len(every.about.survey.questions) + 2
    for each in every.about.survey.questions:
        assert (each.label["en"] in page.text) == (each.name in columns)
    assert every.about.line in page.text
    assert "Estimated shares of" in page.text


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_unbiased_for_every_truth(every: Source, name: str) -> None:
    """Exactly, but for the rounding of what is written; bins of a number are right on average over their steps."""
    (channel,) = [each for each in every.randomizing if each.question.name == name]
    mechanism = channel.mechanism
    assert mechanism is not None
    reported = [value for value in range(mechanism.largest + 1) if mechanism.admits(value)]
    tables: list[tuple[int, dict[int, float]]] = [
        (place, dict(scores)) for place, (_, scores) in enumerate(channel.scores)
    ]
    for row in channel_rows([channel]):
        score = share_score(dict(zip(CHANNEL_COLUMNS, map(str, row), strict=True)))
        found = {value: made for value in reported if (made := score(value)) is not None}
        tables.append((channel.question.options.index(str(row[2])), found))

    assert tables
    for option, scores in tables:
        away = [
            mean_score(channel, truth, scores) - expected(channel, truth, option) for truth in truths(channel.question)
        ]
        if mechanism.name in {"square_wave", "level_table"}:
            # Values between two inputs are rounded at random, or lie in one bin.
            away = [sum(away)]
        assert max(map(abs, away)) < 1e-6


def test_yes_no_channel_is_a_forced_response_as_rs_packages_take_it(every: Source) -> None:
    """rr: p, p1, p0 sum to 1, and P(1 | yes) = p + p1, P(1 | no) = p1; RRreg takes p0 and p1, GLMMRR a and b."""
    rows = [dict(zip(CHANNEL_COLUMNS, row, strict=True)) for row in channel_rows(every.randomizing)]
    yes = [row for row in rows if row["option"] == "yes"]

    assert [row["question"] for row in yes] == ["ever", "again"]
    for row in yes:
        p, p1, p0, a, b = (float(str(row[key])) for key in ("p_truth", "p_forced_yes", "p_forced_no", "a", "b"))
        assert (p + p1 + p0, p + p1, p1) == pytest.approx((1, a, b))


def test_questions_of_one_block_name_its_channel_beside_their_own() -> None:
    """Single rows are right for single questions; the text is enough to decode the block."""
    asked = blocks(block(in_block("a"), in_block("b", 3)), {**question_of({"name": "coin_flip"}), "name": "c"})
    stored = StoredSurvey(1, asked.name, 1, asked.digest, asked.canonical, True, 0)
    channels = channels_of([RevisionCounts(stored, asked, ())], ["a", "b", "c"])
    rows = [dict(zip(CHANNEL_COLUMNS, row, strict=True)) for row in channel_rows(channels)]

    assert [row["block"] for row in rows] == ["joint_rr odds=9 radius=0 k=2,3 with=a,b"] * 4 + [""]
    assert (rows[0]["a"], rows[0]["b"]) == pytest.approx((11 / 14, 3 / 14))
    assert [row["epsilon"] for row in rows[:4]] == pytest.approx([math.log(9)] * 4)


def test_channel_of_a_drawn_block_is_read_as_it_was_written() -> None:
    mechanism = blocks(block(*map(in_block, "abc")) | {"ask": 2}).blocks[0].mechanism
    text = dump_block(mechanism, "abc")
    assert text == "joint_rr odds=9 radius=0 k=2,2,2 ask=2 with=a,b,c"
    assert read_block(split_channel(text)) == (mechanism, tuple("abc"))


def test_labels_of_values_are_in_the_language_asked_for() -> None:
    choices = [{"name": "a", "label": {"en": "One", "de": "Eins"}}, {"name": "b", "label": {"en": "Two"}}]
    question = only(type="select_one", choices=choices, mechanism={"name": "kary_rr", "odds": "3"})

    assert value_labels(question, "de") == {0: "Eins", 1: "Two"}


def test_labels_of_values_are_those_of_their_kind() -> None:
    question = only(mechanism={"name": "kary_rr", "odds": "3"}, absent_category=True)
    assert option_labels(question, "en") == ["No", "Yes", "No answer"]
    assert option_labels(question, "pt-BR") == ["Não", "Sim", "Sem resposta"]

    assert value_labels(survey(report_labels="neutral").questions[0], "en") == {0: "Report B", 1: "Report A"}

    assert value_labels(ASKED["why"], "en") == {}
    assert value_labels(ASKED["town"], "en") == {}
    assert value_labels(only(type="integer", min=0, max=5000, mechanism=None, public=True), "en") == {}


def test_every_kind_of_report_has_its_sentence() -> None:
    for each in ASKED.values():
        private = coding(each).startswith("A randomized report and not the answer. ")
        assert private == (each.mechanism is not None)
        assert len(coding(each).split(". ")) >= 1 + private


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
        {**question({"name": "geometric", "epsilon": "2"}), "name": "e", "type": "integer", "min": -3, "max": 7},
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


@pytest.mark.parametrize(("error", "is_said"), [("1/40", True), (None, False)])
def test_analysis_says_that_it_takes_an_innocuous_share_for_exact(
    tmp_path: Path, error: str | None, is_said: bool
) -> None:
    """No file that it reads has that error; where there is none, its figures are those of the software."""
    hidden = innocuous_survey(error)
    names = ("reports.csv", "channels.csv", "scores.csv", "analysis.py", "analysis.R", "export.json")
    files_of(tmp_path, (hidden, [(place % 2, int(place % 5 < 2)) for place in range(400)]), names=names)
    command = [sys.executable, str(tmp_path / "analysis.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    (own,) = json.loads((tmp_path / "export.json").read_text())["questions"][1]["estimates"]
    ends = printed(done.stdout)["y", "yes", "all"][2:]

    for text in (done.stderr, (tmp_path / "analysis.R").read_text()):
        assert ("y: errors and limits here leave out that the innocuous share is an estimate" in text) == is_said
    assert (ends != pytest.approx((own["std_error"], own["low"], own["high"]), abs=1e-5)) == is_said


def test_analysis_in_r_has_no_line_that_is_too_long() -> None:
    script = files("sottovoce.aggregator.export.scripts").joinpath("analysis.R").read_text(encoding="utf-8")
    assert [line for line in script.splitlines() if len(line) > 120] == []


@pytest.mark.slow
def test_analysis_in_r_prints_shares_among_those_who_answered(declinable: tuple[SurveyResults, Path]) -> None:
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
        command = [str(RSCRIPT), "--vanilla", "analysis.R"]
        text = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder).stdout
        assert agree(printed(text), estimated(analyse(every.revisions)))
