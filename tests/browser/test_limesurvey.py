"""A single question in a real LimeSurvey 6, as its owner asks it by a link and its administrator in a window.

Runs where ``LIMESURVEY`` names a folder with LimeSurvey's files; ``tests/limesurvey/start.sh`` says what else it needs.
"""

import base64
import csv
import fcntl
import io
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from click.testing import CliRunner
from playwright.sync_api import BrowserContext, Page, Route
from sottovoce.aggregator import open_data
from sottovoce.aggregator.authoring.question_snippets import snippet
from sottovoce.cli.main import main
from sottovoce.cli.process import free_port
from sottovoce.client.question_page import question_scripts
from sottovoce.shared.by_link.link_question import LinkQuestion
from sottovoce.shared.single_question import parse_question

from tests.browser.conftest import NewContext
from tests.browser.question_host import COIN, answer_in_window, window_of
from tests.browser.test_link import answer, publish
from tests.conftest import Running

FILES = os.environ.get("LIMESURVEY", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FILES, reason="LimeSurvey was not run: LIMESURVEY names no folder with its files"),
]

START = Path(__file__).parents[1] / "limesurvey" / "start.sh"
SITE = "https://survey.example.org"
COLUMNS = ["id", "class", "type/scale", "name", "relevance", "text", "language", "mandatory", "other", "hidden"]


def sign_in(page: Page, address: str) -> None:
    page.goto(f"{address}/admin/authentication/sa/login")
    page.fill("#user", "admin")
    page.fill("#password", "password")
    page.locator("button[type=submit], input[type=submit]").first.click()
    page.wait_for_load_state("networkidle")


def paste(page: Page, address: str, number: int, lines: str) -> None:
    """Put lines into a question's text in source view, and save it."""
    sign_in(page, address)
    page.goto(f"{address}/questionAdministration/edit/questionId/{number}")
    page.wait_for_load_state("networkidle")
    page.get_by_text("Edit", exact=True).filter(visible=True).last.click()
    page.locator("#cke_question_en .cke_button__sourcedialog").click()
    page.locator(".cke_dialog textarea").filter(visible=True).first.fill(lines)
    page.locator(".cke_dialog_ui_button_ok").filter(visible=True).first.click()
    page.wait_for_timeout(500)
    with page.expect_response(lambda reply: reply.request.method == "POST"):
        page.get_by_text("Save", exact=True).filter(visible=True).first.click()
    page.wait_for_load_state("networkidle")


class LimeSurvey:
    """A running LimeSurvey, by its address for programs."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._key = self._call("get_session_key", "admin", "password")

    def _call(self, method: str, *values: Any) -> Any:
        asked = {"method": method, "params": values, "id": 1}
        reply = requests.post(f"{self.address}/index.php/admin/remotecontrol", json=asked, timeout=60).json()
        assert reply["error"] is None, reply
        return reply["result"]

    def call(self, method: str, *values: Any) -> Any:
        return self._call(method, self._key, *values)

    def publish(
        self,
        survey: int,
        *questions: dict[str, str],
        people: tuple[str, ...] = (),
        pasted: tuple[tuple[Page, str], ...] = (),
    ) -> None:
        """Make a survey of these questions, each on a page of its own, paste lines into `cheated`, and start it."""
        rows = [{"class": "S", "name": name, "text": text} for name, text in
                (("sid", str(survey)), ("language", "en"))]  # fmt: skip
        rows += [
            {"class": "SL", "name": "surveyls_title", "text": "Study", "language": "en"},
            {"id": "1", "class": "G", "type/scale": "G1", "name": "Group", "relevance": "1", "language": "en"},
        ]
        plain = {"class": "Q", "relevance": "1", "language": "en", "mandatory": "N", "other": "N"}
        rows += [{**plain, **question} for question in questions]
        table = io.StringIO()
        writer = csv.DictWriter(table, COLUMNS, delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
        text = base64.b64encode(table.getvalue().encode()).decode()
        assert self.call("import_survey", text, "txt", "Study", survey) == survey
        self.call("set_survey_properties", survey, {"format": "S", "showwelcome": "N"})
        for page, lines in pasted:
            [number] = [each["qid"] for each in self.call("list_questions", survey) if each["title"] == "cheated"]
            paste(page, f"{self.address}/index.php", number, lines)
        assert self.call("activate_survey", survey)["status"] == "OK"
        if people:
            self.call("activate_tokens", survey)
            listed = [{"token": one, "email": f"{one}@example.org", "usesleft": 9} for one in people]
            self.call("add_participants", survey, listed, False)

    def take(self, page: Page, survey: int, parameter: str) -> None:
        """Add a parameter of the address under *Panel integration*, whose target is the question of its name."""
        address = f"{self.address}/index.php"
        sign_in(page, address)
        page.goto(f"{address}/surveyAdministration/rendersidemenulink?surveyid={survey}&subaction=panelintegration")
        page.wait_for_load_state("networkidle")
        page.get_by_text("Add URL parameter").filter(visible=True).first.click()
        page.locator("#paramname").fill(parameter)
        [target] = [each for each in page.locator("#targetquestion option").all() if parameter in each.inner_text()]
        page.locator("#targetquestion").select_option(value=target.get_attribute("value"))
        with page.expect_response(lambda reply: reply.request.method == "POST"):
            page.locator("#btnSaveParams").click()

    def rows(self, survey: int, folder: Path) -> tuple[Path, list[dict[str, str]]]:
        """Export every record as CSV with the codes of questions; return the file and its rows."""
        text = self.call("export_responses", survey, "csv", "en", "all", "code", "short")
        path = folder / f"{survey}.csv"
        path.write_bytes(base64.b64decode(text))
        with path.open(encoding="utf-8-sig", newline="") as file:
            return path, list(csv.DictReader(file, delimiter=";" if ";" in path.read_text("utf-8-sig")[:40] else ","))


@pytest.fixture(scope="module")
def limesurvey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LimeSurvey]:
    """Start LimeSurvey with a new database."""
    data, port = tmp_path_factory.mktemp("limesurvey"), free_port()
    with (Path(FILES) / "index.php").open() as files:
        # One at a time, since each writes LimeSurvey's configuration.
        fcntl.flock(files, fcntl.LOCK_EX)
        yield from _started(data, port)


def _started(data: Path, port: int) -> Iterator[LimeSurvey]:
    with subprocess.Popen([str(START), FILES, str(data), str(port)], start_new_session=True) as running:
        address = f"http://127.0.0.1:{port}"
        try:
            for _ in range(150):
                try:
                    requests.get(f"{address}/index.php", timeout=30)
                    break
                except requests.ConnectionError:
                    assert running.poll() is None
                    time.sleep(0.4)
            yield LimeSurvey(address)
        finally:
            os.killpg(running.pid, signal.SIGTERM)


QUESTION = {**COIN, "then": "", "code": "cheated", "pass": [{"person": "token"}]}
HIDDEN = {"id": "2", "type/scale": "S", "name": "cheated", "text": "Code", "hidden": "1"}
MOOD = {"id": "1", "type/scale": "S", "name": "mood", "text": "How are you?"}


@pytest.fixture
def browser_of(new_context: NewContext, limesurvey: LimeSurvey) -> Callable[[], BrowserContext]:
    """Make browsers in which LimeSurvey has a name and https, as ``then`` needs them."""

    def forward(route: Route) -> None:
        reply = route.fetch(url=limesurvey.address + route.request.url.removeprefix(SITE))
        route.fulfill(response=reply)

    def opened() -> BrowserContext:
        context = new_context(locale="en")
        context.route(re.compile(f"^{SITE}/"), forward)
        return context

    return opened


def published(
    limesurvey: LimeSurvey, page: Page, survey: int, folder: Path, *questions: dict[str, str]
) -> LinkQuestion:
    """Start an owner's survey, and publish the question that leads on to it."""
    limesurvey.publish(survey, *(questions or (MOOD, HIDDEN)), people=("anna", "bert"))
    limesurvey.take(page, survey, "cheated")
    return publish(folder, {**QUESTION, "then": f"{SITE}/index.php/{survey}?lang=en&newtest=Y"})


def through(page: Page, address: str, option: int = 1) -> None:
    page.goto(address)
    page.wait_for_selector(f"#answer0-{option}, .primary")
    if page.locator(f"#answer0-{option}").count():
        answer(page, option)
    else:
        page.get_by_role("button", name="Continue with it").click()
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_url(re.compile(f"^{SITE}"))


def forward(page: Page) -> None:
    """Press LimeSurvey's button, which is heard once its scripts have run."""
    page.wait_for_load_state("networkidle")
    with page.expect_navigation():
        page.locator("#ls-button-submit").first.click()


def finish(page: Page, mood: str) -> None:
    page.locator("input[type=text]:visible").first.fill(mood)
    forward(page)
    page.wait_for_selector(".completed-text, .completed-wrapper")


def test_owner_asks_by_a_link(
    limesurvey: LimeSurvey, browser_of: Callable[[], BrowserContext], tmp_path: Path, host: str
) -> None:
    """Two people: their codes are in the hidden question, which nobody sees, and the file is read by itself."""
    link = published(limesurvey, browser_of().new_page(), 111111, tmp_path, MOOD, HIDDEN)
    for person in ("anna", "bert"):
        page = browser_of().new_page()
        through(page, f"{host}/{link.digest}.html?token={person}")
        assert not page.get_by_text("Code", exact=True).is_visible()
        finish(page, person)
    path, rows = limesurvey.rows(111111, tmp_path)

    assert [row["mood"] for row in rows] == ["anna", "bert"]
    assert all(link.can_read(row["cheated"]) for row in rows)
    question = tmp_path / "cheated.yaml"
    question.write_bytes(link.canonical)
    shown = CliRunner().invoke(main, ["results", "estimate", str(path), "--question", str(question)])
    assert shown.exit_code == 0, shown.output
    assert "cheated: yes" in shown.output, shown.output


def test_same_person_hands_on_the_same_code(
    limesurvey: LimeSurvey, browser_of: Callable[[], BrowserContext], tmp_path: Path, host: str
) -> None:
    """An abandoned visit, then the whole way again; another person in the same browser has a draw of her own."""
    link = published(limesurvey, browser_of().new_page(), 222222, tmp_path)
    page = browser_of().new_page()
    address = f"{host}/{link.digest}.html"
    through(page, f"{address}?token=anna")
    through(page, f"{address}?token=anna")
    finish(page, "anna")
    through(page, f"{address}?token=bert")
    finish(page, "bert")
    _, rows = limesurvey.rows(222222, tmp_path)

    codes = {row["mood"]: row["cheated"] for row in rows if row["mood"]}
    assert set(codes) == {"anna", "bert"}
    assert {row["cheated"] for row in rows if row["token"] == "anna"} == {codes["anna"]}
    assert all(map(link.can_read, codes.values()))


def test_link_in_the_middle_begins_a_second_record(
    limesurvey: LimeSurvey, browser_of: Callable[[], BrowserContext], tmp_path: Path, host: str
) -> None:
    """Why our page comes first: the record that was begun before stays unfinished, without the answer."""
    later = {**MOOD, "id": "3", "name": "later", "text": "And now?"}
    link = published(limesurvey, browser_of().new_page(), 333333, tmp_path, MOOD, HIDDEN, later)
    page = browser_of().new_page()
    page.goto(f"{SITE}/index.php/333333?lang=en&newtest=Y&token=anna")
    page.locator("input[type=text]:visible").first.fill("first")
    forward(page)
    page.get_by_text("And now?").wait_for()
    through(page, f"{host}/{link.digest}.html?token=anna")
    _, rows = limesurvey.rows(333333, tmp_path)

    assert (rows[0]["mood"], rows[0]["cheated"]) == ("first", "")


def lines_of(site: Running) -> str:
    script = question_scripts()["element.js"].encode()
    return snippet("limesurvey", f"{site.url}/q/1/", parse_question(COIN), script)


CHEATED = {"id": "2", "type/scale": "Q", "name": "cheated", "text": ""}


PARTS = [{"class": "SQ", "id": str(place), "name": name, "text": name}
         for place, name in enumerate(("value", "channel", "once", "state"), 3)]  # fmt: skip


def test_administrator_asks_in_a_window(
    limesurvey: LimeSurvey, new_context: NewContext, site: Running, tmp_path: Path
) -> None:
    """The lines as they are printed: fields are hidden and filled, a person draws once, and the export is analyzed."""
    context = new_context(locale="en")
    questions = (CHEATED, *PARTS, {**MOOD, "id": "7"})
    pasted = ((new_context(locale="en").new_page(), lines_of(site)),)
    limesurvey.publish(444444, *questions, people=("anna", "bert"), pasted=pasted)
    records = []
    for person in ("anna", "anna", "bert"):
        page = context.new_page()
        page.goto(f"{limesurvey.address}/index.php/444444?lang=en&newtest=Y&token={person}")
        page.wait_for_selector("sottovoce-question button")
        assert page.locator("input[type=text]:visible").count() == 0
        answer_in_window(window_of(page), 1)
        page.wait_for_function("document.querySelector('sottovoce-question').record")
        records.append(page.evaluate("document.querySelector('sottovoce-question').record.value"))
        forward(page)
        page.get_by_text("How are you?").wait_for()
        if len(records) != 1:
            finish(page, person)
        page.close()
    path, rows = limesurvey.rows(444444, tmp_path)

    assert records[0] == records[1]
    assert {"cheated[value]", "cheated[channel]", "cheated[once]", "cheated[state]"} <= rows[0].keys()
    assert [row["cheated[state]"] for row in rows] == ["answered"] * 3
    assert [row["n"] for row in open_data(path).shares("cheated").rows] == [3]


def test_survey_goes_on_where_the_questions_server_is_away(
    limesurvey: LimeSurvey, new_context: NewContext, site: Running
) -> None:
    context = new_context(locale="en")
    pasted = ((new_context(locale="en").new_page(), lines_of(site)),)
    limesurvey.publish(555555, CHEATED, *PARTS, {**MOOD, "id": "7"}, pasted=pasted)
    context.route(re.compile(f"^{site.url}/q/"), lambda route: route.abort())
    page = context.new_page()
    page.goto(f"{limesurvey.address}/index.php/555555?lang=en&newtest=Y")
    page.get_by_text("This question cannot be shown now. Please go on without it.").wait_for()
    forward(page)
    page.get_by_text("How are you?").wait_for()
