"""The respondent's page beside a SurveyJS page with the same five questions: bytes, requests, time and scripting until
the first question can be answered, in Chromium with a cold cache, as it is and as on a slow phone (CPU x4, 1.6 Mbit/s,
150 ms). On our page a person in a hurry presses Start and skips the check as soon as they are there.

Then one yes-or-no question in SurveyJS: its own boolean, and ours in a frame from another origin.

SurveyJS comes from npm for this measurement only.
"""

import gzip
import json
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, sync_playwright
from sottovoce.client.question_page import question_scripts
from sottovoce.demo.run import demo_survey
from sottovoce.shared.spec import Question

from tests.browser.chromium import find
from tests.browser.question_host import COIN, element
from tests.conftest import start

HERE = Path(__file__).parent / "surveyjs"
MODULES = HERE / "node_modules"
ROUNDS = 7
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 200_000}
"""1.6 Mbit/s in bytes per second."""
SLOWER_CPU = 4

WATCH = """{
  const pressed = new WeakSet();
  const look = () => {
    if (document.querySelectorAll(%s).length >= 5) return void (globalThis.readyAt ??= performance.now());
    const next = document.querySelector("#explanation .actions .primary, #check .actions button:not(.primary)");
    if (next && !pressed.has(next)) pressed.add(next) && next.click();
    // Not by frames: what is clicked shows its step a moment later, and a frame may be 16 ms away.
    setTimeout(look, 1);
  };
  look();
}"""
PLAIN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<script type="module" src="{site}/q/1/element.js"></script>
<script type="module" src="{site}/q/1/frame.js"></script><h1>A survey</h1>{tag}"""
OURS = "main fieldset:not(#check fieldset)"
THEIRS = ".sd-question"
TYPES = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}


def question(asked: Question) -> dict[str, Any]:
    head = {"name": asked.name, "title": asked.label["en"], "isRequired": True}
    if asked.kind.truth == "yes_no":
        return {**head, "type": "radiogroup", "choices": ["Yes", "No"]}
    choices = [{"value": choice.name, "text": choice.label["en"]} for choice in asked.choices]
    return {**head, "type": "radiogroup", "choices": choices}


def surveyjs_files(document: dict[str, Any], before: str = "") -> dict[str, bytes]:
    """The page, SurveyJS's style and two scripts, and what starts them, after the statements ``before``; compressed."""
    start_script = f'{before}new Survey.Model({json.dumps(document)}).render(document.getElementById("main"));\n'
    files = {
        "/": (HERE / "page.html").read_bytes(),
        "/survey-core.min.css": (MODULES / "survey-core" / "survey-core.min.css").read_bytes(),
        "/survey.core.min.js": (MODULES / "survey-core" / "survey.core.min.js").read_bytes(),
        "/survey-js-ui.min.js": (MODULES / "survey-js-ui" / "survey-js-ui.min.js").read_bytes(),
        "/start.js": start_script.encode(),
        "/surveyjs.js": question_scripts()["surveyjs.js"].encode(),
    }
    return {path: gzip.compress(body, 9, mtime=0) for path, body in files.items()}


@contextmanager
def serving(files: dict[str, bytes]) -> Iterator[str]:
    """A host of compressed files; gives its origin."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = files.get(self.path, b"")
            self.send_response(200 if body else 404)
            self.send_header("Content-Type", TYPES.get(Path(self.path).suffix, "text/html") + "; charset=utf-8")
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def visit(browser: Browser, link: str, questions: str, is_slow: bool) -> dict[str, float]:
    """One visit with a cold cache, until the five elements that ``questions`` names are there."""
    # A telephone says a language that the page speaks; a browser without a locale asks for none.
    context = browser.new_context(viewport={"width": 360, "height": 740}, locale="en-US")
    page = context.new_page()
    page.add_init_script(WATCH % json.dumps(questions))
    devtools = context.new_cdp_session(page)
    for domain in ("Network", "Performance"):
        devtools.send(f"{domain}.enable")
    loaded: list[float] = []
    devtools.on("Network.loadingFinished", lambda event: loaded.append(event["encodedDataLength"]))
    if is_slow:
        devtools.send("Network.emulateNetworkConditions", SLOW)
        devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER_CPU})
    page.goto(link, wait_until="commit")
    page.wait_for_function("() => globalThis.readyAt !== undefined", polling=5)
    metrics = {one["name"]: one["value"] for one in devtools.send("Performance.getMetrics")["metrics"]}
    found = {
        "bytes": sum(loaded),
        "requests": float(len(loaded)),
        "question, ms": page.evaluate("readyAt"),
        "scripting, ms": metrics["ScriptDuration"] * 1e3,
    }
    context.close()
    return found


def five_questions() -> dict[str, Any]:
    """The demonstration's survey in SurveyJS's words."""
    survey = demo_survey()
    return {"title": survey.title["en"], "elements": [question(asked) for asked in survey.questions]}


def one_question(browser: Browser, site: str) -> None:
    """Medians until one question can be answered on a slow phone: ours in two pages, and a boolean of SurveyJS."""
    pages = {
        "our frame in a plain page": {
            "/": gzip.compress(PLAIN.format(tag=element(f"{site}/q/1/"), site=site).encode())
        },
        "our frame in SurveyJS": with_our_question(f"{site}/q/1/"),
        "SurveyJS's own boolean": surveyjs_files({"elements": [{"type": "boolean", "name": "cheated"}]}),
    }
    for name, files in pages.items():
        # The frame is another site than the page only under another host name.
        with serving(files) as link:
            found = [first_input(browser, link.replace("127.0.0.1", "localhost")) for _ in range(ROUNDS)]
        print(f"slow phone: one question, {name:<28} {statistics.median(found):>8,.0f} ms")


def with_our_question(frame: str) -> dict[str, bytes]:
    """A page of SurveyJS whose one question is ours."""
    private = {"type": "sottovoce", "name": "cheated", "participant": "p", "src": frame, "mode": "frame"}
    elements = [{**private, "question": json.dumps(COIN)}]
    files = surveyjs_files({"elements": elements}, "registerSottovoceQuestion(Survey);\n")
    page, script = (gzip.decompress(files[path]).decode() for path in ("/", "/start.js"))
    page = page.replace('<script src="start.js">', '<script type="module" src="start.js">')
    script = f'import {{ registerSottovoceQuestion }} from "./surveyjs.js";\nimport "{frame}frame.js";\n{script}'
    return {**files, "/": gzip.compress(page.encode()), "/start.js": gzip.compress(script.encode())}


def first_input(browser: Browser, link: str) -> float:
    """Milliseconds from the request until a question, wherever on the page, can be answered."""
    context = browser.new_context(viewport={"width": 360, "height": 740}, locale="en-US")
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", SLOW)
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER_CPU})
    begun = time.perf_counter()
    page.goto(link, wait_until="commit")
    place = page.wait_for_selector("sottovoce-question iframe, .sd-question input", state="attached")
    frame = place.content_frame() if place else None
    if frame is not None:
        frame.wait_for_selector("fieldset:enabled")
    found = 1000 * (time.perf_counter() - begun)
    context.close()
    return found


def figures() -> None:
    """Medians of visits in turn, and how many times as much the other page takes."""
    executable, environment = find()
    with (
        tempfile.TemporaryDirectory() as folder,
        start(Path(folder), demo_survey()) as site,
        serving(surveyjs_files(five_questions())) as other,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=executable, env=environment, args=["--no-sandbox"])
        pages = {"Sottovoce": (site.link, OURS), "SurveyJS": (other, THEIRS)}
        for is_slow in (False, True):
            runs: dict[str, list[dict[str, float]]] = {name: [] for name in pages}
            for _ in range(ROUNDS):
                for name, (link, questions) in pages.items():
                    runs[name].append(visit(browser, link, questions, is_slow))
            report(runs, "slow phone" if is_slow else "as it is")
        browser.close()
        # One process for page and frame, or the frame would be spared what slows the page.
        options = [
            "--no-sandbox",
            "--disable-site-isolation-trials",
            "--disable-features=IsolateOrigins,site-per-process",
        ]
        browser = playwright.chromium.launch(executable_path=executable, env=environment, args=options)
        one_question(browser, site.url)
        browser.close()


def report(runs: dict[str, list[dict[str, float]]], condition: str) -> None:
    ours, theirs = runs.values()
    for figure in ours[0]:
        own, other = (statistics.median(run[figure] for run in found) for found in (ours, theirs))
        print(f"{condition}: {figure:<16} {own:>10,.0f}   SurveyJS {other:>10,.0f}   {other / own:>6.1f} x")


if __name__ == "__main__":
    figures()
