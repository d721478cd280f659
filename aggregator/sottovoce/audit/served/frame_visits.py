"""Visit the window of a single question with invented people; its opener, of another origin, notes what it receives.

The browser's randomness is given: the page must receive the record that it makes of the answer. Requests, messages,
events and sizes beside it must be the same in each visit. Nothing leaves the browser: the audit answers each request.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from html import escape
from io import BytesIO
from typing import Any

from playwright.sync_api import Browser, Error, Frame, Page, Route
from sottovoce import records
from sottovoce.audit.check import Tick
from sottovoce.audit.exact_channel import inputs_of
from sottovoce.client.draws import Draws
from sottovoce.client.page import PageFile
from sottovoce.client.question_page import PLACE, VERSION
from sottovoce.client.randomizers import RANDOMIZERS
from sottovoce.shared.answers import Value
from sottovoce.shared.single_question import SingleQuestion
from sottovoce.shared.spec import Question

_HOST, _FRAME = "https://survey.invalid/", f"https://question.invalid{PLACE}"
_SECONDS = 20
_TAPE_BYTES = 1 << 16
_STILL = 700
"""Milliseconds in which the page notes what comes after the window has closed."""

_PAGE = """<!doctype html><html lang="en"><title>Survey</title><link rel="icon" href="data:,">
<script>heard = [];
const ours = ["record", "state", "unavailable"].map((kind) => `sottovoce-${{kind}}`);
const kinds = ["message", "focusin", "focusout", "scroll", ...ours];
for (const kind of kinds) addEventListener(kind, ({{ type, data, detail }}) => heard.push([type, data, detail]), true);
new ResizeObserver(([{{ contentRect }}]) => heard.push(["size", contentRect.height])).observe(document.documentElement);
</script><script type="module" src="{frame}element.js"></script>
<sottovoce-question src="{frame}" participant="p" question="{question}"></sottovoce-question>"""

_GIVEN = """if (opener) {{
  const tape = Uint8Array.from("{tape}".match(/../g), (pair) => parseInt(pair, 16));
  let place = 0;
  crypto.getRandomValues = (into) => (into.set(tape.subarray(place, (place += into.length))), into);
  globalThis.rewind = () => void (place = 0);
}}"""

_OTHER = "the page that asks does not receive the record that the random bytes make of the answer"
_UNLIKE = "what is requested, or what the page that asks receives, depends on the answer"
_STUCK = "it cannot be answered, or does not hand over a record"


def problem_of_visits(
    browser: Browser, asked: SingleQuestion, files: Mapping[str, PageFile], visits: int, tick: Tick
) -> str:
    """Describe the first fault of the visits, two seconds each; "" if there is none.

    ``files`` are page and element, by their paths below the question's address.
    """
    values = inputs_of(asked.question, visits)
    pages = {_HOST: _host(asked), **{_FRAME + path: file for path, file in files.items()}}
    seen = set()
    for number in range(visits):
        value, tape = values[number % len(values)], hashlib.shake_256(str(number).encode()).digest(_TAPE_BYTES)
        try:
            text = _text(_visit(browser, pages, asked.question, value, tape))
        except Error:
            return _STUCK
        masked = text.replace(_text(_expected(asked, value, tape)), "record")
        if '["sottovoce-record", null, record]' not in masked:
            return _OTHER
        seen.add(masked)
        tick(0.9 / visits)
    return _UNLIKE if len(seen) > 1 else ""


def _text(found: Any) -> str:  # noqa: ANN401 - whatever a page gives
    return json.dumps(found, sort_keys=True)


def _host(asked: SingleQuestion) -> PageFile:
    page = _PAGE.format(frame=_FRAME, question=escape(asked.canonical.decode()))
    return PageFile(page.encode(), "text/html; charset=utf-8")


def _expected(asked: SingleQuestion, value: Value, tape: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the record that random bytes make of an answer."""
    report = RANDOMIZERS[asked.mechanism.name](asked.mechanism, value, Draws(BytesIO(tape).read))
    return json.loads(records.write(replace(records.record_of(asked, report, once="device"), client=VERSION)))


def _visit(browser: Browser, pages: Mapping[str, PageFile], question: Question, value: Value, tape: bytes) -> list[Any]:
    """Return what the page that asks receives from the first input on, and all requests.

    ``pages`` are those the audit serves, by address; ``tape`` is what the browser has for randomness.
    """
    requests: list[Any] = []

    def reply(route: Route) -> None:
        request, file = route.request, pages.get(route.request.url)
        requests.append([request.method, request.url, request.headers, request.post_data])
        if file is None:
            route.abort()
            return
        policy = {"Content-Security-Policy": file.policy} if file.policy else {}
        headers = {"Content-Type": file.content_type, "Access-Control-Allow-Origin": "*", **policy}
        route.fulfill(body=file.body, headers=headers)

    with browser.new_context() as context:
        context.set_default_timeout(_SECONDS * 1000)
        context.add_init_script(_GIVEN.format(tape=tape.hex()))
        context.route("**/*", reply)
        page = context.new_page()
        page.goto(_HOST)
        with context.expect_page() as opened:
            page.click("sottovoce-question button")
        window = opened.value
        window.wait_for_selector("form")
        # Nothing that came before can depend on the answer.
        page.evaluate("heard.length = 0")
        fill_in(window, "answer", question, value)
        window.evaluate("rewind()")
        with window.expect_event("close"):
            window.click(".ending .primary")
        page.wait_for_timeout(_STILL)
        return [_masked(page.evaluate("heard")), requests]


def _masked(heard: list[Any]) -> list[Any]:
    """Return what was heard without the random number of the window."""

    def plain(part: Any) -> Any:  # noqa: ANN401 - JSON
        return {**part, "nonce": ""} if isinstance(part, dict) and "nonce" in part else part

    return [[plain(part) for part in one] for one in heard]


def fill_in(page: Page | Frame, name: str, question: Question, value: Value) -> None:
    """Choose or enter the answer to one question; the ids of its controls begin with ``name``."""
    if question.domain.absent and value == question.absent:
        page.check(f"#{name}-absent")
        return
    for control, text in _controls(question, value):
        if text is None:
            page.check(f"#{name}-{control}")
        else:
            page.fill(f"#{name}-{control}", text)


def _controls(question: Question, value: Value) -> list[tuple[int, str | None]]:
    """Return (control's number, text to enter or None to tick it)."""
    grid = question.domain.grid
    if grid is not None:
        return [(place, grid.text(step)) for place, step in enumerate(value if isinstance(value, tuple) else (value,))]
    assert isinstance(value, int)  # noqa: S101 - only coordinates, which have a grid, are several
    if question.kind.is_set:
        return [(option, None) for option in range(question.domain.size) if value >> option & 1]
    return [(value, None)]
