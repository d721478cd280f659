"""A survey by a person who has read nothing: an empty draft, every default, long texts, and all that a paper needs.

3,000 people of known truth answer. No figure may contradict the truth, and no page or file may fail.
"""

import random
import re
import subprocess
import sys
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import pyreadstat
import pytest
import python_calamine
import requests
from playwright.sync_api import Browser, Page
from sottovoce.client.draws import Draws
from sottovoce.client.link import Link, parse_link
from sottovoce.client.respondent import encode, randomize
from sottovoce.client.revisions import survey_for
from sottovoce.client.transport import Transport
from sottovoce.shared.report import dump_report
from sottovoce.shared.spec import Survey

from tests.browser.tutorial import reading
from tests.journey.test_collection import batch
from tests.journey.test_hostile_http import JSON

Reader = Callable[[Path], Any]
"""Opens a file; returns the number of rows and the names of columns where it holds reports."""

PEOPLE = 3000
AT_ONCE = 500
"""Reports in a batch: sent one by one, they took a third of the test."""

YEARS = ("First year", "Second year", "Third year or later")
TEXTS = {
    "q0": ("In which year of study are you at the university at the moment, counted in full years?",
           "In welchem Studienjahr sind Sie zurzeit an der Universität, in vollen Jahren gezählt?"),
    "q1": ("Have you handed in a text as your own in the last twelve months that another person had written?",
           "Haben Sie in den letzten zwölf Monaten einen fremden Text als eigenen abgegeben?"),
    "q2": ("Did a member of the staff notice it, or did you tell a member of the staff about it afterwards?",
           "Hat jemand vom Personal es bemerkt, oder haben Sie es später jemandem vom Personal erzählt?"),
    "q3": ("How many hours did you spend on paid work beside your studies in the last ordinary week?",
           "Wie viele Stunden haben Sie in der letzten gewöhnlichen Woche neben dem Studium gearbeitet?"),
}  # fmt: skip
ADDED = ("+ One of several options", "+ Yes or no", "+ Yes or no", "+ A whole number")
CHEATED = {"First year": 0.2, "Second year": 0.3, "Third year or later": 0.45}
"""Share of people who handed in a foreign text, by year."""


def press(page: Page, name: str) -> None:
    """Press a button and wait until the page that follows is still, with all that its script saves."""
    page.get_by_role("button", name=name, exact=True).last.click()
    page.wait_for_load_state("networkidle")


def design(page: Page) -> None:
    """Write the survey with every default, but for the year, which is public."""
    page.goto(f"{page.url.partition('/dashboard')[0]}/dashboard/new")
    page.get_by_label("Title").fill("A survey about studying and working at our university this year")
    with page.expect_navigation():
        page.locator("form.card:has(#title) button").click()
    page.get_by_label("Researcher").fill("Dr Ada Example")
    press(page, "+ Deutsch")
    for each in ADDED:
        press(page, each)
    for details in page.locator("main details").all():
        details.evaluate("node => { node.open = true; }")
    for name, (english, german) in TEXTS.items():
        page.locator(f"[name='{name}.label.en']").fill(english)
        page.locator(f"[name='{name}.label.de']").fill(german)
    page.locator("[name='q0.options.en']").fill("\n".join(YEARS))
    page.locator("[name='q0.options.de']").fill("Erstes Jahr\nZweites Jahr\nDrittes Jahr oder später")
    page.locator("[name='q0.harm'][value=public]").check()
    page.locator("[name='q2.if0']").select_option("q2")
    page.locator("[name='q3.min']").fill("0")
    page.locator("[name='q3.max']").fill("40")
    press(page, "Save")


def publish(page: Page) -> Link:
    press(page, "Publish …")
    press(page, "Publish")
    page.goto(re.sub(r"/[a-z]+(\?.*)?$", "/invite", page.url))
    return parse_link(re.search(r"http://\S+/s/[^\s\"<]+", page.content())[0])  # type: ignore[index]


def truth(names: list[str], options: Sequence[str], declining: float, seed: int) -> list[dict[str, object]]:
    draw = random.Random(seed)  # noqa: S311 - invented people
    people: list[dict[str, object]] = []
    for number in range(PEOPLE):
        place = number % 3
        cheated = draw.random() < CHEATED[YEARS[place]]
        answers: dict[str, object] = {names[0]: options[place], names[1]: "yes" if cheated else "no"}
        if cheated:
            answers[names[2]] = "yes" if draw.random() < 0.25 else "no"
        if draw.random() < declining:
            answers = {names[0]: options[place], names[1]: None}
        answers[names[3]] = min(40, int(draw.expovariate(1 / (6 + 4 * place))))
        people.append(answers)
    return people


def answer_all(link: Link, survey: Survey, people: list[dict[str, object]]) -> None:
    """Randomize everybody's answers as the client does, and send them."""
    for start in range(0, len(people), AT_ONCE):
        drawn = [randomize(survey, encode(survey, each), Draws()) for each in people[start : start + AT_ONCE]]
        body = batch([dump_report(report, survey) for report in drawn])
        address = f"{link.origin}/api/v1/surveys/{survey.name}/reports/batch"
        requests.post(address, data=body, headers=JSON, timeout=30).raise_for_status()


@pytest.fixture
def stranger(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """The page of a person who has signed in, before an instance without any survey."""
    with reading(browser, tmp_path) as reader:
        page = reader.page()
        page.goto(reader.sign_in)
        press(page, "Sign in")
        yield page


def text_of(page: Page, base: str, path: str) -> str:
    """Text of a page with tables or models, once it is calculated."""
    page.goto(f"{base}/{path}")
    page.wait_for_selector("main table, main [role=alert]", timeout=60_000)
    assert page.locator("main [role=alert]").count() == 0, page.locator("main [role=alert]").inner_text()
    return page.locator("main").inner_text()


def row(text: str, beginning: str) -> list[float]:
    """Numbers of the first line of a table that begins so: estimate and limits."""
    line = next(each for each in text.splitlines() if each.startswith(f"{beginning}\t"))
    return [float(number.replace("−", "-")) for number in re.findall(r"[−-]?\d+(?:\.\d+)?", line.split("\t", 1)[1])]


def is_within(true: float, found: list[float]) -> bool:
    """True within twice the 95 % interval: of six, drawn anew, one of 95 % would miss in every fourth run."""
    estimate, low, high, *_ = found
    return estimate - 2 * (estimate - low) <= true <= estimate + 2 * (high - estimate)


@pytest.mark.parametrize("declining", [pytest.param(0.0, marks=pytest.mark.slow), 0.05])
def test_survey_with_every_default_gives_what_a_paper_needs(stranger: Page, tmp_path: Path, declining: float) -> None:
    design(stranger)
    link = publish(stranger)
    survey = survey_for(Transport(link.origin), link)
    year, cheated, noticed, hours = (question.name for question in survey.questions)
    assert all(len(question.name) <= 24 for question in survey.questions)
    years = survey.questions[0].options[: len(YEARS)]
    people = truth([year, cheated, noticed, hours], years, declining, 20261124)
    answer_all(link, survey, people)
    base = f"{link.origin}/dashboard/surveys/{survey.name}"
    stranger.goto(f"{base}/settings")
    with stranger.expect_navigation():
        stranger.get_by_role("button", name="Close").last.click()

    answered = [each for each in people if each[cheated] is not None]
    shares = [share(each, cheated) for each in (answered, *by_year(answered, year, years))]
    compared = text_of(stranger, base, f"tables?kind=compare&outcome={cheated}&groups={year}")
    assert all(is_within(100 * true, row(compared, name)) for name, true in zip(YEARS, shares[1:], strict=True))
    assert "Among those who answered." in compared

    crossed = text_of(stranger, base, f"tables?kind=crosstab&rows={cheated}&columns={year}")
    assert "had “Third year or later”" in crossed
    filtered = text_of(stranger, base, f"tables?kind=crosstab&rows={cheated}&columns={noticed}")
    assert "Among those who were asked and answered." in filtered
    assert "every pair, 3,000 reports" in text_of(stranger, base, "tables?kind=pairs")

    model = text_of(stranger, base, f"models?kind=regression&outcome={cheated}&on={year}")
    odds = [true / (1 - true) for true in shares[1:]]
    question = TEXTS["q0"][0]
    assert is_within(odds[2] / odds[0], row(model, f"{question} = {YEARS[2]}"))
    assert any(f"{claim} “{TEXTS['q1'][0]} = Yes”" in model for claim in ("odds of", "goes with"))
    assert "if declining goes with the answer itself, it does not describe all" in model
    text_of(stranger, base, f"models?kind=regression&outcome={noticed}&on={year}")
    linear = text_of(stranger, base, f"models?kind=regression&outcome={hours}&on={year}")
    estimate, _, *limits = row(linear, f"{question} = {YEARS[2]}")[:4]
    means = [mean(each, hours) for each in by_year(people, year, years)]
    assert is_within(means[2] - means[0], [estimate, *limits])

    check_files(stranger, base, tmp_path, survey)


def by_year(people: list[dict[str, object]], name: str, options: Sequence[str]) -> list[list[dict[str, object]]]:
    return [[each for each in people if each[name] == option] for option in options]


def share(people: list[dict[str, object]], name: str) -> float:
    return sum(each[name] == "yes" for each in people) / len(people)


def mean(people: list[dict[str, object]], name: str) -> float:
    return sum(int(str(each[name])) for each in people) / len(people)


def check_files(page: Page, base: str, folder: Path, survey: Survey) -> None:
    page.goto(f"{base}/files")
    links = {str(each.get_attribute("href")) for each in page.locator("main a[href*='/files/']").all()}
    found = {}
    for link in links:
        reply = page.request.get(f"{base.partition('/dashboard')[0]}{link}")
        name = link.partition("?")[0].rpartition("/")[2]
        assert reply.ok, (name, reply.status, reply.text()[:500])
        found[name] = folder / name
        found[name].write_bytes(reply.body())
    randomized = [question.name for question in survey.questions if question.mechanism is not None]
    for name, file in found.items():
        columns = READERS[file.suffix](file)
        if name.startswith("reports"):
            assert columns is not None
            rows, names = columns
            assert (rows, set(names) >= set(randomized)) == (PEOPLE, True), name
    with zipfile.ZipFile(found["everything.zip"]) as archive:
        assert archive.testzip() is None
        archive.extractall(folder / "all")
    script = next((folder / "all").rglob("analysis.py"))
    ended = subprocess.run(
        [sys.executable, script], cwd=script.parent, capture_output=True, text=True, timeout=120, check=False
    )
    assert ended.returncode == 0, ended.stderr
    shown = duckdb.sql(f"SELECT question, option, among = 'all', raw FROM '{found['estimates.csv']}'").fetchall()  # noqa: S608
    known = {(question, option, whole): float(value) for question, option, whole, value in shown}
    lines = [line.split("\t") for line in ended.stdout.splitlines()[1:]]
    assert {line[1] for line in lines} == set(randomized)
    for line in lines:
        assert float(line[5]) == pytest.approx(known[line[1], line[2], line[9] == "all"], abs=1e-6), line


def _statistics(read: Callable[[str], tuple[Any, object]]) -> Reader:
    def columns(file: Path) -> tuple[int, list[str]]:
        table, _ = read(str(file))
        return len(table), list(table.columns)

    return columns


def _sql(file: Path) -> tuple[int, list[str]]:
    table = duckdb.sql(f"SELECT * FROM '{file}'")  # noqa: S608 - a path of the test
    return len(table.fetchall()), table.columns


def _workbook(file: Path) -> None:
    assert python_calamine.load_workbook(file).sheet_names


def _xml(file: Path) -> None:
    # The program's own file.
    assert ElementTree.parse(file).getroot().tag.endswith("codeBook")  # noqa: S314


def _text(file: Path) -> None:
    assert file.read_text(encoding="utf-8")


READERS: defaultdict[str, Reader] = defaultdict(
    lambda: _text,
    {
        ".sav": _statistics(pyreadstat.read_sav),
        ".dta": _statistics(pyreadstat.read_dta),
        ".csv": _sql,
        ".parquet": _sql,
        ".xlsx": _workbook,
        ".xml": _xml,
        ".zip": lambda _: None,  # opened by the caller
    },
)
