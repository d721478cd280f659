"""Random surveys, published, simulated, answered and closed: every analysis and file works, and they agree.

The surveys have every type and mechanism, absences, skip logic, few or many languages, texts of any kind, names that
other programs reserve, public questions and waves. A refusal counts as a fault unless it is one of ``REFUSALS``.
"""

import csv
import html
import io
import json
import math
import re
import shutil
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import parse_qs

import duckdb
import pyreadstat
import pytest
import python_calamine
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.estimates import ANSWERED, ASKED_AND_ANSWERED
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.export.results_client.open_results import open_results
from sottovoce.aggregator.i18n.translator import LANGUAGES
from sottovoce.aggregator.planning.simulated_survey import invent, reports_of
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.results.analysis_page import KINDS
from sottovoce.aggregator.studio.results.run_analysis import asked_analysis
from sottovoce.shared.spec import Survey
from sottovoce.shared.types.base import DayGrid

from tests.exported import TODAY, send
from tests.random_surveys import random_survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.studio.joint_pages import SITE, cells

MOMENT = datetime(2026, 1, 15, tzinfo=UTC)
"""A time within the first wave: the server closes surveys whose last wave is over."""

EACH = 25
"""Surveys of one long test."""

REFUSALS = (
    "There are no reports yet",
    "No report contains",
    "no report contains",  # two questions of which devices draw one
    "reports cannot tell",  # more parameters than so few reports can tell
    "cannot tell the parameters apart",
    "cannot be told apart",
    "fewer than 5 people",
    "Fewer than 5 people",
    "no possible cell",
    "one of its two ends, which say nothing of its spread",
    "by ranges, which say nothing of its spread",
    "such reports do not tell how these answers go together",  # a radius that does not identify a table
    "can explain in a linear model only",
    "at most 32 joint categories",
    "Everybody has the same answer",
    "show people in none of the groups",
    "so one person's reports are not independent: choose one wave",
)
"""Reasons why an analysis of any survey may be impossible, each of which tells the reader what it is."""

_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")


@dataclass(frozen=True)
class Closed:
    """A closed survey with its reports, and the browser of a researcher; ``draw`` decides what is asked."""

    client: FlaskClient
    survey: Survey
    folder: Path
    draw: Random

    def get(self, path: str, language: str = "en") -> Any:
        """Return the reply to a page, once it is computed."""
        address = f"/dashboard/surveys/{self.survey.name}/{path}"
        headers = {"Accept-Language": language}
        while (reply := self.client.get(address, base_url=SITE, headers=headers)).status_code in {202, 303}:
            time.sleep(0.2)
        return reply

    def document(self, path: str) -> Any:
        return json.loads(self.get(path).text, parse_constant=_no_number)

    def lines(self, path: str) -> list[dict[str, str]]:
        return [*csv.DictReader(io.StringIO(self.get(path).text))]

    @cached_property
    def everything(self) -> Path:
        with zipfile.ZipFile(io.BytesIO(self.get("files/everything.zip").data)) as archive:
            archive.extractall(self.folder)
        return self.folder / self.survey.name


def _no_number(text: str) -> None:
    raise AssertionError(f"{text} is not JSON")


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    storage = SQLiteStorage(tmp_path_factory.mktemp("random") / "sottovoce.sqlite")
    yield create_app(Settings(public_url=SITE, analysis_seconds=600), storage, lambda: MOMENT, {})
    storage.close()


@pytest.fixture(scope="module")
def client(app: Flask) -> FlaskClient:
    found: FlaskClient = log_in(app)[0]
    return found


ALL = [pytest.param(range(first, first + EACH), marks=pytest.mark.slow) for first in range(0, 500, EACH)]


@pytest.mark.parametrize("seeds", [range(4), *ALL])
def test_every_analysis_and_file_of_random_surveys_works(
    app: Flask, client: FlaskClient, seeds: range, tmp_path: Path
) -> None:
    faults = []
    for seed in seeds:
        closed = Closed(client, random_survey(seed), tmp_path / str(seed), Random(seed))  # noqa: S311
        app.extensions["storage"].publish(closed.survey)
        people = closed.draw.choice((1, 12, 100, 300, 300))
        checks = [*_simulated(closed, people)]
        _answer(app, closed, people, seed)
        checks += [*_pages(closed), *_files(closed), *_analyses(closed)]
        faults += [f"{seed}: {fault}" for fault in checks]
        shutil.rmtree(closed.folder, ignore_errors=True)
    assert not faults, "\n".join(faults)


def _answer(app: Flask, closed: Closed, people: int, seed: int) -> None:
    """Let invented people answer each wave, sometimes nobody, and close the survey."""
    storage = app.extensions["storage"]
    for wave in range(max(len(closed.survey.waves), 1)):
        if closed.draw.random() < 0.9:
            (truths,) = invent(closed.survey, people, seed=seed + wave)
            made = reports_of(closed.survey, truths, BatchDraws(seeded(f"{seed} {wave}"))).numbers
            none = null(made.itemsize)
            rows = [[None if value == none else value for value in row] for row in made.tolist()]
            send(storage, closed.survey, rows, wave)
    storage.close_survey(closed.survey.name, TODAY)


def _simulated(closed: Closed, people: int) -> Iterator[str]:
    """Yield the faults of the simulation before anybody answers."""
    language = closed.draw.choice([*LANGUAGES])
    for path in ("?", "/files?sums=1&", "/files/everything.zip?"):
        reply = closed.get(f"rehearse{path}n={people}", language)
        if reply.status_code != 200:
            yield f"rehearse{path} {reply.status_code} {_reason(reply.text)}"
        elif "zip" in path:
            yield from _failed(reply.data)


def _failed(archive: bytes) -> list[str]:
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        return [files.read(name).decode() for name in files.namelist() if name.endswith("FAILED.txt")]


def _reason(page: str) -> str:
    """Return the reason that a page gives, without marks of direction."""
    found = re.search(r'id="refused".*?</(section|div)>', page, re.DOTALL)
    text = html.unescape(re.sub("<[^>]+>", " ", found[0] if found else page[-300:]))
    return " ".join(re.sub("[\u2068\u2069]", "", text).split())


def _pages(closed: Closed) -> Iterator[str]:
    """Yield the faults of pages, in any language, and differences of Results from the file of estimates."""
    language = closed.draw.choice([*LANGUAGES])
    for path in ("results", "results?among=all", "tables", "models", "files?sums=1", "settings", "privacy"):
        reply = closed.get(path, language)
        if reply.status_code != 200:
            yield f"{path} {language} {reply.status_code} {_reason(reply.text)}"
    lines = closed.lines("files/estimates.csv")
    # The page counts people who were not asked among all.
    hides = any(row["among"] == "asked" for row in lines)
    page = closed.get(f"results?sort=asked{'' if hides else '&among=all'}").text
    # Rows of charts' numbers have line breaks between their cells.
    shown = [line[1:] for line in cells(re.sub(r">\s+<", "><", page)) if len(line) > 5]
    answered = {row["question"] for row in lines if row["n"] != "0"}
    some = ANSWERED, ASKED_AND_ANSWERED
    described = {row["question"]: some for row in lines if hides and row["among"] in some}
    wanted = [row for row in lines if not row["wave"] and not row["cohort"] and row["question"] in answered
              and row["among"] in described.get(row["question"], ("all", "asked"))]  # fmt: skip
    wanted.sort(key=lambda row: (_place(closed.survey, row), ["mean", "quantile", "share"].index(row["kind"])))
    if len(shown) != len(wanted):
        yield f"Results has {len(shown)} estimates, the file {len(wanted)}"
    for line, row in zip(shown, wanted, strict=False):
        is_date = row["type"] == "date" and row["kind"] != "share"
        figures = _DATE.findall(row["option_label"]) if is_date else [row[key] for key in ("clipped", "low", "high")]
        if not _has(f"{line[0]} {line[3]}", figures, row["kind"] == "share"):
            yield f"Results {row['question']} {row['option']}: {line}, in the file {figures}"


def _place(survey: Survey, row: dict[str, str]) -> int:
    return [question.name for question in survey.questions].index(row["question"])


def _has(text: str, values: Sequence[str], is_share: bool) -> bool:
    """True if a text shows all values, each to its last digit."""
    if any(map(_DATE.fullmatch, values)):
        return all(each in text for each in values)
    numbers = [each.replace("−", "-").replace(",", "") for each in _NUMBER.findall(text)]
    return all(any(_rounds(number, float(value) * (100 if is_share else 1)) for number in numbers)
               for value in values if value)  # fmt: skip


def _rounds(number: str, value: float) -> bool:
    return abs(float(number) - value) <= 1.01 * 10 ** -len(number.partition(".")[2])


def _files(closed: Closed) -> Iterator[str]:
    """Yield the faults of files, each opened by its own reader, and figures in which they differ."""
    zipped = closed.get("files/everything.zip")
    if zipped.status_code != 200:
        if not _reason(zipped.text).count("no reports yet"):
            yield f"everything.zip {zipped.status_code} {_reason(zipped.text)}"
        return
    yield from _failed(zipped.data)
    folder = closed.everything
    rows = {name: _sorted(READERS[Path(name).suffix](folder / name)) for name in
            ("reports.csv", "reports.parquet", "reports.sav", "reports.dta")}  # fmt: skip
    width = len(rows["reports.csv"][0])
    yield from (f"{name} has other reports" for name, found in rows.items()
                if _sorted([row[:width] for row in found]) != rows["reports.csv"])  # fmt: skip
    book = python_calamine.load_workbook(folder / "estimates.xlsx").get_sheet_by_index(0).to_python()
    if len(book) != len((folder / "estimates.csv").read_text().splitlines()):
        yield "estimates.xlsx has other estimates"
    yield from _counted_again(folder)


def _sorted(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    return sorted(([*map(_cell, row)] for row in rows), key=str)


def _cell(cell: Any) -> object:
    """Return a cell as every format has it."""
    if cell is None or cell != cell or cell == "":  # noqa: PLR0124 - NaN and NaT
        return None
    if hasattr(cell, "isoformat"):
        return cell.isoformat()[:10]
    try:
        return round(float(cell), 6)
    except ValueError:
        return str(cell)


def _csv(path: Path) -> list[list[str]]:
    return [*csv.reader(path.read_text(encoding="utf-8").splitlines())][1:]


def _statistics(read: Any, path: Path) -> list[list[object]]:
    """Rows of a file of SPSS or Stata, with the word for the code of rare answers that are left out."""
    (frame, meta), (numbers, _) = read(str(path)), read(str(path), user_missing=True, disable_datetime_conversion=True)
    for column, labels in meta.variable_value_labels.items():
        few = numbers[column].isin([code for code, text in labels.items() if text == "few"])
        frame[column] = frame[column].astype(object).mask(few, "few")
    return frame.to_numpy().tolist()


READERS: dict[str, Any] = {
    ".csv": _csv,
    ".parquet": lambda path: duckdb.read_parquet(str(path)).fetchall(),
    ".sav": partial(_statistics, pyreadstat.read_sav),
    ".dta": partial(_statistics, pyreadstat.read_dta),
}


def _counted_again(folder: Path) -> Iterator[str]:
    """Yield figures of the page that reports in the files do not give."""
    export = json.loads((folder / "export.json").read_text())
    (folder / "export.json").unlink()
    counted = open_results(folder).export
    asked = {question["name"]: question for question in export["questions"]}
    for question in counted["questions"]:
        # Public answers that few people gave are not in files of reports: nor is then a correction by an anchor.
        if "corrected" not in question:
            asked[question["name"]].pop("corrected", None)
        # Nor does a file without them know who was asked, and says so.
        if asked[question["name"]].get("asked_only") and not question["asked_only"]:
            continue
        if question["n"] and question["epsilon"] and not _alike(question, asked[question["name"]]):
            yield f"reports give other estimates of {question['name']}"


def _alike(one: Any, other: Any) -> bool:
    """True if two documents are equal but for the last digits of their numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-7)
    return bool(one == other)


def _requests(closed: Closed) -> Iterator[str]:
    """Yield the addresses of analyses of the variables that the pages offer."""
    draw, survey = closed.draw, closed.survey
    every = [variable for question in survey.questions for variable in variables_of(question)]
    groups = [each.full_name for each in every if each.categories]
    public = [each.full_name for question in survey.questions if question.mechanism is None
              for each in variables_of(question) if each.categories]  # fmt: skip
    names = [each.full_name for each in every]
    yield "tables?kind=pairs"
    for _ in range(2):
        among = draw.choice(("", "&among=all", "&confidence=90"))
        if len(groups) > 1:
            rows, columns = draw.sample(groups, 2)
            within = f"&within={draw.choice(public)}" if public and draw.random() < 0.3 else ""
            yield f"tables?kind=crosstab&rows={rows}&columns={columns}{within}{among}"
        outcome, *on = draw.sample(names, min(len(names), draw.randint(2, 4)))
        others = [name for name in groups if name != outcome]
        if others:
            yield f"tables?kind=compare&outcome={outcome}&groups={draw.choice(others)}{among}"
        if on:
            yield f"models?kind=regression&outcome={outcome}&on={'&on='.join(on)}{among}" + draw.choice(
                ("", "&declining=common", "&strata=no")
            )


def _analyses(closed: Closed) -> Iterator[str]:
    """Yield the faults of analyses: of their pages, of their files, and of the same made from the files of reports."""
    for path in _requests(closed):
        reply = closed.get(path)
        if reply.status_code == 422 and any(reason in _reason(reply.text) for reason in REFUSALS):
            continue
        if reply.status_code != 200:
            yield f"{path} {reply.status_code} {_reason(reply.text)}"
            continue
        files = {kind: path.replace("?", f"/answer.{kind}?") for kind in ("csv", "json", "xlsx")}
        found, lines = closed.document(files["json"]), closed.lines(files["csv"])
        if closed.get(files["xlsx"]).status_code != 200:
            yield f"{files['xlsx']} fails"
        yield from (f"{path}: the page has {shown}, the file {line}" for shown, line in
                    _different(cells(reply.text), lines, found.get("dates", [])))  # fmt: skip
        page, _, query = path.partition("?")
        asked = asked_analysis(parse_qs(query), KINDS[page])
        assert asked is not None
        # Files of reports lack public answers, or those that few people gave.
        names = parse_request(asked.kind, dict(asked.options)).names
        public = {question.name for question in closed.survey.questions if question.mechanism is None}
        # Who was asked follows from them.
        public |= {question.name for item in closed.survey.items for question in item.questions
                   if public & {condition.question for condition in item.conditions}}  # fmt: skip
        if (names or not public) and public.isdisjoint(name.partition(".")[0] for name in names):
            reports = open_results(closed.everything).reports
            assert reports is not None
            if not _alike(reports.answer(asked.kind, dict(asked.options)), found):
                yield f"{path}: files of reports give another result"


def _different(
    page: list[list[str]], lines: list[dict[str, str]], dates: Sequence[str]
) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield the lines of a page that differ from those of its file: of values of groups, and of pairs."""
    values = [line for line in lines if line["figure"] == "value"]
    pairs = [line for line in lines if line["figure"] == "pair" and line["p"]]
    for shown, line in zip(page, values, strict=False):
        figures, text = [line[key] for key in ("shown", "low", "high")], " ".join(shown[1:])
        if line["columns"] in dates:
            is_there = all(DayGrid.figure(float(figure)) in text for figure in figures)
        else:
            is_there = _has(text, figures, "%" in shown[1])
        if line["shown"] and not is_there:
            yield shown, line
    for shown, line in zip(page, pairs, strict=False):
        if not _has(" ".join(shown[1:]), [line["statistic"]], is_share=False):
            yield shown, line
