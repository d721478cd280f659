"""A single question in the real jsPsych and SurveyJS, and in stand-ins of systems that cannot run here."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, Page
from sottovoce import records
from sottovoce.aggregator import open_data
from sottovoce.aggregator.authoring.question_snippets import snippet
from sottovoce.client.question_page import question_scripts
from sottovoce.shared.single_question import parse_question

from tests.browser.question_host import COIN, TOGETHER, answer_in_window, be_still, frame_of, window_of, write_host

PACKAGES = Path(__file__).parent / "node_modules"
ELEMENT = question_scripts()["element.js"].encode()

JSPSYCH = """<!doctype html><meta charset="utf-8"><title>Experiment</title>
<link rel="stylesheet" href="jspsych.css"><script src="jspsych.js"></script>
<script type="module">
import { SottovoceQuestionPlugin } from "./plugin.js";
const people = Number(new URL(location).searchParams.get("people"));
const jsPsych = initJsPsych({ on_finish: () => { globalThis.csv = jsPsych.data.get().ignore("record").csv(); } });
const asked = { type: SottovoceQuestionPlugin, src: "PLACE", question: QUESTION };
const trial = (number) => ({ ...asked, participant: `p${number}` });
const mode = new URL(location).searchParams.get("simulate");
const trials = Array.from({ length: people }, (_, number) => trial(number));
if (mode) jsPsych.simulate(trials, mode, { default: { data: { piloted: true } } });
else jsPsych.run(trials);
</script>"""

SURVEYJS = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Survey</title>
<link rel="stylesheet" href="survey-core.css">
<script src="survey-core.js"></script><script src="survey-js-ui.js"></script>
<div id="main"></div>
<script type="module">
import { registerSottovoceQuestion } from "./plugin.js";
registerSottovoceQuestion(Survey);
const survey = new Survey.Model({ elements: [
  { type: "text", name: "nickname", defaultValue: "Ann" },
  { type: "sottovoce", name: "cheated", src: "PLACE", participant: "{nickname}", study: "s",
    question: JSON.stringify(QUESTION) },
] });
survey.onComplete.add(() => { globalThis.data = survey.data; });
survey.render(document.getElementById("main"));
</script>"""

REACT = """<script src="react.js"></script><script src="react-dom.js"></script>
<script src="survey-core.js"></script><script src="survey-react-ui.js"></script>"""
"""SurveyJS 3 has no library of its own around it: React draws its surveys."""

QUALTRICS = """<!doctype html><meta charset="utf-8"><title>A stand-in of Qualtrics, with documented functions</title>
<h1>A stand-in, not Qualtrics itself</h1>
<div id="container"></div><button id="next">Next</button>
<script>
embedded = {};
const question = {
  getQuestionContainer: () => document.getElementById("container"),
};
Qualtrics = { SurveyEngine: {
  addOnload: (run) => run.call(question),
  setJSEmbeddedData: (name, value) => { embedded[name] = value; },
} };
SNIPPET
</script>"""

FIELDS = """<!doctype html><meta charset="utf-8"><title>A stand-in of a page with text fields</title>
<h1>A stand-in, not the system itself</h1><form>INPUTS</form>
SNIPPET"""


def copied(folder: Path, files: dict[str, str]) -> None:
    for name, source in files.items():
        (folder / name).write_bytes((PACKAGES / source).read_bytes())


def write_page(folder: Path, page: str, place: str, plugin: str = "") -> None:
    """Write a host's page of a template, and its plugin from the adapter's module of that name."""
    (folder / "index.html").write_text(page.replace("PLACE", place).replace("QUESTION", json.dumps(COIN)))
    if plugin:
        (folder / "plugin.js").write_text(question_scripts()[plugin])


def write_jspsych(folder: Path, place: str) -> None:
    copied(folder, {"jspsych.js": "jspsych/dist/index.browser.min.js", "jspsych.css": "jspsych/css/jspsych.css"})
    write_page(folder, JSPSYCH, place, "jspsych.js")


def write_surveyjs(folder: Path, place: str) -> None:
    core = {"survey-core.js": "survey-core/survey.core.min.js", "survey-core.css": "survey-core/survey-core.min.css"}
    copied(folder, {**core, "survey-js-ui.js": "survey-js-ui/survey-js-ui.min.js"})
    write_page(folder, SURVEYJS, place, "surveyjs.js")


def lines_for(name: str, place: str) -> str:
    return snippet(name, place, parse_question(COIN), ELEMENT)


def write_surveyjs_3(folder: Path, place: str) -> None:
    own = Path(__file__).parents[1] / "surveyjs3" / "node_modules"
    files = {
        "react.js": "react/umd/react.production.min.js",
        "react-dom.js": "react-dom/umd/react-dom.production.min.js",
        "survey-core.js": "survey-core/survey.core.min.js",
        "survey-core.css": "survey-core/survey-core.min.css",
        "survey-react-ui.js": "survey-react-ui/survey-react-ui.min.js",
    }
    for name, source in files.items():
        (folder / name).write_bytes((own / source).read_bytes())
    two = '<script src="survey-core.js"></script><script src="survey-js-ui.js"></script>'
    drawn = "ReactDOM.createRoot(document.getElementById('main')).render("
    drawn += "React.createElement(SurveyReact.Survey, { model: survey }))"
    page = SURVEYJS.replace(two, REACT).replace('survey.render(document.getElementById("main"))', drawn)
    write_page(folder, page, place, "surveyjs.js")


def write_qualtrics(folder: Path, place: str) -> None:
    """Write the stand-in of Qualtrics."""
    (folder / "index.html").write_text(QUALTRICS.replace("SNIPPET", lines_for("qualtrics", place)))


def write_fields(folder: Path, lines: str) -> None:
    """Write the stand-in of a page with four text fields, and the lines of the system for its address."""
    ids = ["answerX1Y2value", "answerX1Y2channel", "answerX1Y2once", "answerX1Y2state"]
    names = ["cheated", "cheated_channel", "cheated_once", "cheated_state"]
    inputs = "".join(f'<li><input id="{one}" name="{other}"></li>' for one, other in zip(ids, names, strict=True))
    page = FIELDS.replace("INPUTS", inputs).replace("SNIPPET", lines.replace("{SGQ}", "X1Y2"))
    (folder / "index.html").write_text(page)


def csv_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def click_through(page: Page, number: int, option: int) -> None:
    """Answer a trial of jsPsych."""
    page.wait_for_selector(f"sottovoce-question[participant=p{number}] button")
    answer_in_window(window_of(page), option)


def run_experiment(page: Page, folder: Path, origin: str, place: str, people: int) -> tuple[Path, float]:
    """Run jsPsych; every third invented person has cheated. Returns the file that it makes, and the true share."""
    write_jspsych(folder, place)
    page.goto(f"{origin}/?people={people}")
    truth = [int(number % 3 == 0) for number in range(people)]
    for number, option in enumerate(truth):
        click_through(page, number, option)
    page.wait_for_function("globalThis.csv !== undefined")
    path = folder / "data.csv"
    path.write_text(page.evaluate("csv"))
    return path, sum(truth) / people


def test_jspsych_exports_columns_that_are_analyzed(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """The real package; its own CSV needs no other file."""
    path, _ = run_experiment(tab, tmp_path, host, place, 3)
    row = next(row for row in open_data(path).shares("cheated").rows)
    assert row["n"] == 3
    assert row["raw"] == pytest.approx(2 * [each["cheated"] for each in csv_rows(path)].count("yes") / 3 - 1 / 2)


@pytest.mark.parametrize("mode", ["data-only", "visual"])
@pytest.mark.parametrize("question", [COIN, TOGETHER], ids=["coin", "block"])
def test_jspsych_simulates_without_asking(
    tab: Page, tmp_path: Path, host: str, place: str, mode: str, question: dict[str, Any]
) -> None:
    """The columns are those of a person, the options' data join them; no window, no request, nothing kept."""
    write_jspsych(tmp_path, place)
    path = tmp_path / "index.html"
    path.write_text(path.read_text().replace(json.dumps(COIN), json.dumps(question)))
    asked: list[str] = []
    tab.context.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{host}/?people=4&simulate={mode}")
    if mode == "visual":
        assert tab.locator("sottovoce-question[inert]").first.get_attribute("mode") == "window"
    tab.wait_for_function("globalThis.csv !== undefined")
    (tmp_path / "data.csv").write_text(tab.evaluate("csv"))
    names = [item["name"] for item in question.get("items", [question])]
    found = csv_rows(tmp_path / "data.csv")
    assert len(found) == 4
    for row in found:
        assert row["piloted"] == "true"
        for name in names:
            assert row[name] in {"no", "yes"}
            assert (row[f"{name}_once"], row[f"{name}_state"]) == ("no", "answered")
    shares = open_data(tmp_path / "data.csv").shares(names[0])
    assert next(iter(shares.rows))["n"] == 4
    assert [url for url in asked if place in url] == []
    assert len(tab.context.pages) == 1
    assert tab.evaluate("localStorage.length") == 0


@pytest.mark.slow
def test_thousand_people_in_jspsych(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    path, truth = run_experiment(tab, tmp_path, host, place, 1000)
    row = next(row for row in open_data(path).shares("cheated").rows)
    assert row["n"] == 1000
    assert abs(row["raw"] - truth) < 3 * row["std_error"]


@pytest.mark.parametrize("write", [write_surveyjs, pytest.param(write_surveyjs_3, marks=pytest.mark.slow)])
def test_surveyjs_has_a_question_type(
    tab: Page, tmp_path: Path, host: str, place: str, write: Callable[[Path, str], None]
) -> None:
    """The real packages: value, channel and once are in the survey's data; the participant is filled in."""
    write(tmp_path, place)
    tab.goto(host)
    tab.wait_for_selector("sottovoce-question button")
    assert tab.locator("sottovoce-question").get_attribute("participant") == "Ann"
    answer_in_window(window_of(tab))
    tab.locator(".sd-navigation__complete-btn").click()
    tab.wait_for_function("globalThis.data !== undefined")
    data: dict[str, Any] = tab.evaluate("data")
    assert data["cheated"] in {"yes", "no"}
    assert {key: data[key] for key in ("nickname", "cheated_channel", "cheated_once", "cheated_state")} == {
        "nickname": "Ann", "cheated_channel": "binary_rr a=3/4 b=1/4", "cheated_once": "device",
        "cheated_state": "answered",
    }  # fmt: skip


def test_required_block_in_surveyjs_completes(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    write_surveyjs(tmp_path, place)
    path = tmp_path / "index.html"
    text = path.read_text().replace(json.dumps(COIN), json.dumps(TOGETHER))
    path.write_text(text.replace('name: "cheated"', 'name: "intimate", isRequired: true'))
    tab.goto(host)
    tab.wait_for_selector("sottovoce-question button")
    complete = tab.locator(".sd-navigation__complete-btn")
    complete.click()
    assert tab.evaluate("globalThis.data") is None
    window = window_of(tab)
    window.locator("#answer-1").check()
    window.locator("#answer1-0").check()
    with window.expect_event("close"):
        window.locator(".ending .primary").click()
    complete.click()
    tab.wait_for_function("globalThis.data !== undefined")
    assert {"drank", "drank_channel", "lied", "lied_once", "lied_state"} <= tab.evaluate("data").keys()


def test_qualtrics_snippet_in_a_stand_in(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """Next is never held up, and the record becomes embedded data; so does the state before there is one."""
    write_qualtrics(tmp_path, place)
    tab.goto(host)
    tab.wait_for_function("embedded.cheated_state === 'shown'")
    assert tab.locator("#next").is_enabled()
    answer_in_window(window_of(tab))
    tab.wait_for_function("embedded.cheated_state === 'answered'")
    assert set(tab.evaluate("embedded")) == {"cheated", "cheated_channel", "cheated_once", "cheated_state"}


@pytest.mark.parametrize("name", ["limesurvey", "redcap", "formr"])
def test_fields_are_filled_in_a_stand_in(tab: Page, tmp_path: Path, host: str, place: str, name: str) -> None:
    write_fields(tmp_path, lines_for(name, place))
    tab.goto(host)
    tab.wait_for_selector("sottovoce-question button")
    assert tab.locator("input:visible").count() == 0
    answer_in_window(window_of(tab))
    tab.wait_for_function("document.querySelector('sottovoce-question').record")
    record = records.read(tab.evaluate("JSON.stringify(document.querySelector('sottovoce-question').record)"))
    filled = tab.evaluate("[...document.querySelectorAll('input')].map((input) => input.value)")
    assert filled == [*records.columns(record).values(), "answered"]


@pytest.mark.parametrize("name", ["html", "limesurvey", "redcap", "formr"])
def test_lines_of_the_last_release_still_ask(tab: Page, tmp_path: Path, host: str, place: str, name: str) -> None:
    """Word for word as 0.4.0 printed them: they stand in surveys of others."""
    lines = json.loads(Path(__file__).with_name("lines_of_0_4_0.json").read_text())[name]
    write_fields(tmp_path, lines.replace("PLACE", place))
    tab.goto(host)
    tab.wait_for_selector("sottovoce-question button")
    answer_in_window(window_of(tab))
    tab.wait_for_function("document.querySelector('sottovoce-question').record")


@pytest.mark.parametrize("name", ["html", "limesurvey", "redcap", "formr", "qualtrics"])
@pytest.mark.parametrize("fault", ["away", "another file"])
def test_lines_say_when_the_question_cannot_be_shown(
    tab: Page, tmp_path: Path, host: str, place: str, name: str, fault: str
) -> None:
    """Its server is away, or serves another script, which does not run; the host's own fields stay hidden."""
    reply = {"body": "document.title = 'ran'", "headers": {"Access-Control-Allow-Origin": "*"}}
    tab.route(f"{place}**", lambda route: route.abort() if fault == "away" else route.fulfill(**reply))
    if name == "qualtrics":
        write_qualtrics(tmp_path, place)
    else:
        write_fields(tmp_path, lines_for(name, place))
    tab.goto(host)
    tab.get_by_text("This question cannot be shown now. Please go on without it.").wait_for()
    assert tab.title() != "ran"
    if name not in {"html", "qualtrics"}:
        assert tab.locator("input:visible").count() == 0


def test_host_that_removes_the_element_gets_nothing(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """While it is open; put back, it asks anew, since nothing was drawn."""
    write_host(tmp_path, place)
    tab.goto(host)
    frame = frame_of(tab)
    be_still(frame)
    frame.locator("#answer-1").check()
    tab.evaluate("() => { node = document.querySelector('sottovoce-question'); node.remove(); }")
    assert tab.evaluate("node.record") is None
    tab.evaluate("document.body.append(node)")
    again: Frame = frame_of(tab)
    assert again.locator("#answer-1").is_checked() is False
