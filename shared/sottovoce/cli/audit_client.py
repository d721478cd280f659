"""
The part of an audit that looks at the browser's client as an aggregator really serves it.

files    every served file, byte for byte, against this release's own
page     visits of invented people: what the form sends is caught before it leaves the browser, and answered here
script   the served script's own functions, run many times in the browser, counted as ``audit_reports`` does
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import requests
from playwright.sync_api import Browser, Error, Page, Route
from sottovoce.cli.audit_check import FAILED, PASSED, Check, Tick
from sottovoce.cli.audit_code import script_with_exports
from sottovoce.cli.audit_reports import Reported, check_reports
from sottovoce.client.link import Link
from sottovoce.client.page import assemble
from sottovoce.client.transport import Transport
from sottovoce.shared.answers import Value
from sottovoce.shared.errors import SurveyError, TransportError
from sottovoce.shared.parsing import load_survey
from sottovoce.shared.rational import dump_decimal
from sottovoce.shared.report import dump_report, parse_report, receipt
from sottovoce.shared.spec import Question, Survey

VISITS = 60
"""Visits of each of the four people by default: so many tell an answer that is sent as it is from chance."""

MAX_FILE_BYTES = 4 * 1024 * 1024
PAGE = "respondent.html"
_AT_ONCE = 2000
_SECONDS = 15
_REFUSED = "the page does not send a report as it should"

_LOAD = """async ([script, survey]) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const product = await import(url);
  const asked = await product.loadSurvey(new TextEncoder().encode(survey));
  globalThis.audited = (values, count) => {
    const reports = [];
    for (let i = 0; i < count; i += 1) {
      let read = 0;
      const draws = new product.Draws((bytes) => ((read += bytes), crypto.getRandomValues(new Uint8Array(bytes))));
      const body = product.dumpReport(product.randomize(asked, values, draws), asked);
      reports.push([JSON.parse(body).values, new TextEncoder().encode(body).length, read]);
    }
    return reports;
  };
}"""


def check_survey(link: Link, survey: Survey) -> Check:
    """
    That the aggregator serves the survey of the file.

    Raises:
        TransportError: it cannot be reached, or refuses.
        SpecError: what it serves is no survey.
    """
    served = load_survey(Transport(link.origin, sleep=lambda _: None).fetch_survey(link.survey))
    if served.digest != survey.digest:
        return Check("files", "survey", FAILED, message="the aggregator serves another survey than the file's")
    if link.digest and not survey.digest.startswith(link.digest):
        return Check("files", "survey", FAILED, message="the link names another survey than the file's")
    return Check("files", "survey", PASSED, scope=f"digest {survey.digest}")


def check_files(link: Link) -> tuple[list[Check], str]:
    """
    Every served file against this release's; and the served script.

    Raises:
        TransportError: a file cannot be fetched.
    """
    checks, script = [], ""
    for name, asset in assemble().items():
        body = _fetch(_page(link) if name == PAGE else _assets(link)[name])
        digest = hashlib.sha256(body).hexdigest()
        same = body == asset.body
        message = "" if same else "the served file is not this release's"
        checks.append(Check("files", name, PASSED if same else FAILED, scope=f"SHA-256 {digest}", message=message))
        if name == "respondent.js":
            script = body.decode(errors="replace")
    return checks, script


def check_script(browser: Browser, script: str, survey: Survey, runs: int, alpha: float, tick: Tick) -> list[Check]:
    """The served script's own drawing, counted."""
    page = browser.new_page()
    # An empty page of a secure origin: the script finds no form to fill and no network to use.
    page.route(
        "**/*", lambda route: route.fulfill(body="<!doctype html><title>audit</title>", content_type="text/html")
    )
    try:
        page.goto("https://audit.invalid/")
        page.evaluate(_LOAD, [script_with_exports(script), survey.canonical.decode()])

        def device(values: tuple[Value, ...], count: int) -> Iterator[Reported]:
            while count > 0:
                part = min(count, _AT_ONCE)
                count -= part
                for found, length, read in page.evaluate("([values, count]) => audited(values, count)", [values, part]):
                    yield tuple(found), length, read

        return check_reports("script", survey, device, runs, alpha, tick)
    except (Error, TypeError, ValueError):
        return [Check("script", "served script", FAILED, message="it does not draw a report as it should")]
    finally:
        page.close()


def check_page(browser: Browser, link: Link, survey: Survey, visits: int, alpha: float, tick: Tick) -> list[Check]:
    """What the form sends when people fill it in; no report reaches the aggregator."""
    problem = ""

    def device(values: tuple[Value, ...], count: int) -> Iterator[Reported]:
        for _ in range(count):
            body = _visit(browser, link, survey, values)
            found = json.loads(body)["values"]
            yield tuple(found), len(body), 0

    try:
        return check_reports("page", survey, device, visits, alpha, tick)
    except TransportError as error:
        problem = str(error)
    except (Error, SurveyError, KeyError, TypeError, ValueError):
        problem = _REFUSED
    return [Check("page", "served page", FAILED, message=problem)]


def _visit(browser: Browser, link: Link, survey: Survey, values: tuple[Value, ...]) -> bytes:
    """One person's visit; returns the body of the one report that it sent."""
    sent: list[bytes] = []
    others: Counter[str] = Counter()
    context = browser.new_context()

    def caught(route: Route) -> None:
        request = route.request
        address = request.url.partition("#")[0]
        if request.method == "POST" and address == f"{_api(link)}/reports":
            body = request.post_data_buffer or b""
            sent.append(body)
            route.fulfill(body=_receipt(body), content_type="application/json")
        elif request.method == "GET" and address in {_page(link), _api(link), *_assets(link).values()}:
            route.continue_()
        else:
            # Whatever else it asks for could carry an answer, if only by being asked for.
            others[request.method] += 1
            route.abort()

    try:
        context.route("**/*", caught)
        page = context.new_page()
        page.set_default_timeout(_SECONDS * 1000)
        token = f"&t={_TOKEN}" if survey.asks_for_token else ""
        page.goto(f"{_page(link)}#d={survey.digest[:32]}{token}")
        _fill(page, survey, values)
    finally:
        context.close()
    if others:
        raise TransportError("the page makes requests that it does not need")
    if len(sent) != 1:
        raise TransportError("the page sends another number of reports than one")
    report = parse_report(sent[0])
    if report.digest != survey.digest or dump_report(report, survey) != sent[0]:
        raise TransportError("the page sends something else than a report")
    return sent[0]


_TOKEN = "0" * 16
"""Never reaches the aggregator: what is sent is caught."""


def _receipt(body: bytes) -> str:
    try:
        return json.dumps(receipt(parse_report(body), body))
    except (SurveyError, ValueError):
        return "{}"


def _fill(page: Page, survey: Survey, values: tuple[Value, ...]) -> None:
    page.wait_for_selector("fieldset")
    for index, (question, value) in enumerate(zip(survey.questions, values, strict=True)):
        for control, answer in _controls(question, value):
            selector = f"#q{index}-{control}"
            if answer is None:
                page.check(selector)
            else:
                page.fill(selector, answer)
    page.click("form button[type=submit]")
    page.wait_for_selector("button.primary:not([type=submit])")
    page.click("button.primary:not([type=submit])")
    page.wait_for_selector("#receipt_sha256")


def _controls(question: Question, value: Value) -> list[tuple[int, str | None]]:
    """(control's number, text to enter or None to tick it)."""
    grid = question.domain.grid
    if isinstance(value, tuple):
        assert grid is not None  # noqa: S101 - coordinates are numbers
        return [(place, dump_decimal(grid.low + step * grid.step)) for place, step in enumerate(value)]
    if grid is not None:
        return [(0, dump_decimal(grid.low + value * grid.step))]
    if question.type == "select_multiple":
        return [(option, None) for option in range(question.domain.size) if value >> option & 1]
    return [(value, None)]


def _page(link: Link) -> str:
    return f"{link.origin}/s/{link.survey}"


def _api(link: Link) -> str:
    return f"{link.origin}/api/v1/surveys/{link.survey}"


def _assets(link: Link) -> dict[str, str]:
    """The address of every file but the page, by name."""
    return {name: f"{link.origin}/assets/{name}" for name in assemble() if name != PAGE}


def _fetch(address: str) -> bytes:
    try:
        reply = requests.get(address, timeout=(10, 30), allow_redirects=False, stream=True)
        body: Any = reply.raw.read(MAX_FILE_BYTES + 1, decode_content=True)
    except (requests.RequestException, OSError):
        raise TransportError("the aggregator cannot be reached, or breaks off") from None
    except Exception:  # a body that cannot be decoded has its own errors in a library below
        raise TransportError("the aggregator's reply cannot be read") from None
    if reply.status_code != requests.codes.ok or len(body) > MAX_FILE_BYTES:
        raise TransportError(f"the aggregator does not serve the form as it should (status {reply.status_code})")
    return bytes(body)
