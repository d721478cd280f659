"""Compare whole visits to a served form from outside: what its browser sends and stores may depend on no answer.

The browser draws its own random bytes, so that what follows from them, the reported values, ids, signatures and sets of
questions, is replaced by marks; everything else must be the same in each visit, whatever was answered.

Visit a served form with invented people in a browser, whose aggregator and proxy is the audit's listener.

The listener serves the files that the aggregator under audit serves, byte for byte, and answers in its place: nothing
that a visitor sends reaches the survey. Everything is seen from outside: on the wire and in the browser's storage.
"""

import hashlib
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Error, Page
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check, Tick
from sottovoce.audit.served.frame_visits import fill_in
from sottovoce.audit.served.served_page import fetch
from sottovoce.client.link import Link
from sottovoce.client.page import by_path
from sottovoce.client.question_sample import pool_of
from sottovoce.shared.accounting import DEFAULT_ALLOWANCE
from sottovoce.shared.answers import Value
from sottovoce.shared.arms.arms import ARM, arm_index, samples
from sottovoce.shared.errors import ReportRejected, SurveyError, TransportError
from sottovoce.shared.redemption import parse_request, spell
from sottovoce.shared.report import Report, dump_report, parse_report
from sottovoce.shared.spec import Survey

from tests.conformance.client_process import API, BUSY, TOKEN, MockAggregator, link_to
from tests.conformance.listener import Listener, MockReply, WireRequest
from tests.conformance.request_rules import SECRET_IN_REPORT, TWICE, is_for_reports, is_redemption
from tests.conformance.run_plan import plan_runs, present_of
from tests.conformance.signing_keys import SCHEME, is_signed
from tests.conformance.wire_runs import SUBJECT
from tests.page_files import page_files

WAVES = "several waves of one person"
VISITS = 8
"""Visits of each course; a visit takes two seconds."""

_QUIET_SECONDS = 0.25
_LONGEST_SECONDS = 5
_DRAWN = re.compile(
    r'"(?:drawn|sendAt|answers)\\?": ?(?:\[[0-9, ]*\]|[0-9]+|\\?"[01]*\\?")'
    # Ids of later waves, which were redeemed together with the first.
    r'|"(?:id|signature)\\+": ?\\+"[A-Za-z0-9_-]+\\+"'
)
"""What a device draws beside its report: a set of questions, a moment, and what is remembered for all waves."""

TOO_DEAR = "the form refuses this survey, because it costs more than the default limit of a device"
FIRST = "#questions form button[type=submit]"
"""The button below the questions, whichever of them are asked."""

LATER = "#later"
"""What is shown while a report waits for its moment."""

_SECONDS = 20
_SECONDS_OF_HOUR = 3600


@dataclass(frozen=True)
class ServedForm:
    """A form as it is served: its survey, with the test keys, its files by path, and the wave that is answered."""

    survey: Survey
    files: Mapping[str, MockReply]
    wave: int

    def site(self) -> MockAggregator:
        return MockAggregator({self.survey.name: [self.survey]}, files=self.files)


def fetch_form(link: Link) -> dict[str, MockReply]:
    """Fetch the files of the form by path; raises TransportError if one cannot be fetched, or takes too long."""
    files = by_path(page_files(), link.survey)
    return {path: MockReply(200, fetch(link.origin + path), asset.content_type) for path, asset in files.items()}


@contextmanager
def visitor(browser: Browser, listener: Listener) -> Iterator[BrowserContext]:
    """Open a browser without stored data that can reach only the listener, its proxy for this computer as well."""
    context = browser.new_context(proxy={"server": listener.origin, "bypass": "<-loopback>"}, reduced_motion="reduce")
    context.set_default_timeout(_SECONDS * 1000)
    try:
        yield context
    finally:
        context.close()


def open_form(context: BrowserContext, listener: Listener, survey: Survey, wave: int) -> Page:
    """Open a new tab at the questions of a link's wave; what explains them is skipped, where there is any."""
    page = context.new_page()
    if _waits(survey):
        page.clock.install(time=present_of(survey, wave) or 0)
    page.goto(link_to(listener.origin, survey, wave))
    page.wait_for_selector(f"#invitation, #explanation, {FIRST}")
    if page.locator("#invitation").count():
        page.click("#invitation .primary")
        page.wait_for_selector("#explanation")
    if page.locator("#explanation").count():
        page.click("#explanation > .actions .primary")
        page.wait_for_selector(f"#check, {FIRST}")
        if page.locator("#check").count():
            page.click("#check button:not(.primary)")
    page.wait_for_selector(FIRST)
    return page


def answer_all(page: Page, survey: Survey, truth: Sequence[Value]) -> None:
    """Answer what is shown, part by part, and press Send; ``truth`` has values also of what is not on the page."""
    asked, parts = _asked(page.context, survey), page.locator("#questions form > div:has(> progress)")
    for part in range(max(1, parts.count())):
        if part:
            parts.nth(part).wait_for()
        for place, index in enumerate(asked):
            if page.is_visible(f"#q{place}-0"):
                fill_in(page, f"q{place}", survey.questions[index], truth[index])
        for box in page.locator("form input[id^=a]:visible").all():
            box.check()
        page.click(FIRST)


def records(context: BrowserContext) -> list[tuple[Any, Any]]:
    """Return keys and values in the databases of a visitor's browser."""
    found = context.storage_state(indexed_db=True)["origins"]
    stores = [store for origin in found for database in origin["indexedDB"] for store in database["stores"]]  # type: ignore[typeddict-item]
    return [(each["key"], each["value"]) for store in stores for each in store["records"]]


def _asked(context: BrowserContext, survey: Survey) -> list[int]:
    """Return indices of the questions on the page, in order: as the browser has drawn and recorded them."""
    # Records are in the order of waves, and the last wave is on the page.
    kept = {key[-1]: value["drawn"] for key, value in records(context) if isinstance(value, dict) and "drawn" in value}
    arm = arm_index(survey, kept.get(ARM, ""))
    unasked: set[int] = set()
    for sample in samples(survey, arm):
        named = {" ".join(survey.questions[index].name for index in unit): unit for unit in sample.units}
        names = sorted(named)
        drawn = kept[pool_of(sample.size, names)]
        unasked.update(*(named[name] for place, name in enumerate(names) if place not in drawn))
    shown = len(survey.questions) - bool(survey.arms)
    return [index for index in survey.places_by_arm[arm] if index < shown and index not in unasked]


def wait_for_receipt(page: Page, survey: Survey) -> None:
    """Wait until the report has arrived; where it waits for its moment, that comes at once."""
    if _waits(survey):
        page.wait_for_selector(f"{LATER}, #receipt_sha256", state="attached")
        page.clock.fast_forward(1000 * _waits(survey))
    page.wait_for_selector("#receipt_sha256", state="attached")


def _waits(survey: Survey) -> int:
    """Return the seconds after which no report of a survey waits any more; 0 if it is sent at once."""
    return survey.send_within_hours * _SECONDS_OF_HOUR or 2 * survey.send_at_seconds


def needed(form: ServedForm, request: WireRequest) -> bool:
    """Return whether a form needs the request: for its own files, for the survey, or to submit the report."""
    if request.method == "GET":
        api = API + form.survey.name
        return request.address in {*form.files, api, f"{api}/revisions", f"{api}/status"}
    paths = ["reports", "withdraw"]
    paths += ["redeem"] if form.survey.is_blind else ["token"] if form.survey.asks_for_token else []
    return request.method == "POST" and request.address in {f"{API}{form.survey.name}/{path}" for path in paths}


def sent_report(form: ServedForm, requests: Sequence[WireRequest], wave: int) -> Report:
    """Return a visit's one report; raises TransportError for another number or kind, SurveyError for no report."""
    survey = form.survey
    bodies = {each.body: each for each in requests if is_for_reports(each)}
    if len(bodies) != 1:
        raise TransportError("the page sends another number of reports than one")
    [(body, request)] = bodies.items()
    report = parse_report(body)
    if (report.digest, report.wave) != (survey.digest, wave) or dump_report(report, survey) != body:
        raise TransportError("the page sends something else than a report of this survey")
    if survey.is_blind and not is_signed(survey, report, request.header("Authorization") or ""):
        raise TransportError("a report does not come with the signature of its id alone")
    return report


@dataclass(frozen=True)
class Trace:
    """Everything that one visit leaves for an observer, with marks in place of random values.

    Attributes:
        posted: requests that carry something, in order: address, headers and body.
        fetched: other requests to the interface, in no order.
        files: requests for files of the form, in no order.
        sent: what the browser stores when the report was sent, and what its tab shows outside of the page.
        forgotten: the same when the report was forgotten.
    """

    posted: tuple[object, ...]
    fetched: frozenset[object]
    files: frozenset[object]
    sent: str
    forgotten: str


_WORDS = {
    "posted": "what it sends",
    "fetched": "what it asks for",
    "files": "how it asks for files",
    "sent": "what lies in the browser when the report was sent",
    "forgotten": "what lies in the browser when the report was forgotten",
}


def check_visits(browser: Browser, form: ServedForm, tick: Tick) -> Iterator[Check]:
    """Check single visits, some of which must send twice, and people who come again in the next wave, one by one."""
    costliest_question = max(question.epsilon for question in form.survey.questions)
    if form.survey.epsilon > DEFAULT_ALLOWANCE.total or costliest_question > DEFAULT_ALLOWANCE.question:
        yield Check("page", SUBJECT, NOT_DONE, message=TOO_DEAR)
        return
    courses = [(SUBJECT, [form.wave])]
    if len(form.survey.waves) > 1:
        courses.append((WAVES, [0, 1]))
    survey = form.survey
    runs = [run for vector in plan_runs(survey, quick=True).vectors for run in vector.runs][:VISITS]
    truths = [_encoded(form, run.answers) for run in runs]
    with Listener() as listener:
        for subject, waves in courses:
            visits = _Visits(browser, listener, form, waves)
            message = ""
            try:
                message = visits.problem(truths, lambda share: tick(share / len(courses)))
            except TransportError as error:
                message = str(error)
            except (Error, SurveyError, KeyError, TypeError, ValueError, StopIteration):
                message = "it cannot be filled in, or does not send a report as it should"
            scope = f"{len(truths) * len(waves)} visits, every second one with a reply that asks to send again"
            yield Check("page", subject, FAILED if message else PASSED, scope=scope, message=message)


def _encoded(form: ServedForm, answers: Any) -> tuple[Value, ...]:
    return tuple(value for value in form.survey.encode(answers, range(len(form.survey.questions))) if value is not None)


class _Visits:
    """Visits that go through one sequence of events."""

    def __init__(self, browser: Browser, listener: Listener, form: ServedForm, waves: Sequence[int]) -> None:
        self._browser = browser
        self._listener = listener
        self._form = form
        self._waves = waves

    def problem(self, truths: Sequence[Sequence[Value]], tick: Tick) -> str:
        """Describe the first difference between the visits; "" if there is none."""
        seen: dict[bool, Trace] = {}
        for place, truth in enumerate(truths):
            is_twice = place % 2 == 1
            trace = self._visit(truth, truths[place - 1], is_twice)
            expected = seen.setdefault(is_twice, trace)
            for name, words in _WORDS.items():
                if getattr(trace, name) != getattr(expected, name):
                    return f"{words} depends on the answers, or changes from visit to visit"
            tick(1 / len(truths))
        return ""

    def _visit(self, truth: Sequence[Value], other: Sequence[Value], is_twice: bool) -> Trace:
        form = self._form
        site = form.site()
        site.failures += [BUSY] * is_twice
        with self._listener.recording(site.answer) as requests, visitor(self._browser, self._listener) as context:
            reports: list[Report] = []
            for wave, given in zip(self._waves, (truth, other), strict=False):
                before = len(requests)
                page = open_form(context, self._listener, form.survey, wave)
                answer_all(page, form.survey, given)
                wait_for_receipt(page, form.survey)
                reports.append(sent_report(form, requests[before:], wave))
                sent = _stored(context, page)
                self._rest(requests)
                if wave != self._waves[-1]:
                    page.close()
            page.click("#receipt > details > summary")
            page.click("#receipt > details button")
            page.click("#confirm .primary")
            # Whether it says that it has ended is not asked: what lies there then is looked at.
            page.wait_for_selector("#ended, #receipt")
            forgotten = _stored(context, page)
            self._rest(requests, is_back=len(self._waves) > 1)
        if not all(needed(form, each) for each in requests):
            raise TransportError("the page makes requests that it does not need")
        if reports[-1].report_id in forgotten:
            raise TransportError("the browser keeps the report when it was forgotten")
        return self._trace(requests, reports, sent, forgotten)

    def _rest(self, requests: Sequence[WireRequest], *, is_back: bool = False) -> None:
        """Wait until the service worker has fetched what it keeps, and the browser has looked for a newer one.

        When a person came again (``is_back``), the browser looks for a newer worker in its own time, a second or more
        after the worker's last request, whatever was answered. ``requests`` grow meanwhile.
        """
        begun = time.monotonic()
        count = -1
        while time.monotonic() - begun < _LONGEST_SECONDS:
            workers = sum(1 for each in requests if each.header("Service-Worker"))
            if count == len(requests) and not (is_back and workers == 1):
                return
            count = len(requests)
            time.sleep(_QUIET_SECONDS)

    def _trace(self, requests: Sequence[WireRequest], reports: Sequence[Report], sent: str, forgotten: str) -> Trace:
        marks = [mark for report in reports for mark in _marks(dump_report(report, self._form.survey), report)]
        for each in requests:
            if is_redemption(each):
                self._check_redemption(each, requests)
                marks.append(each.body.decode())
            if is_for_reports(each):
                marks.append((each.header("Authorization") or "").removeprefix(SCHEME).removeprefix(f"Bearer {TOKEN}"))

        def masked(text: str) -> str:
            for mark in filter(None, marks):
                text = text.replace(mark, "<drawn>")
            return _DRAWN.sub("<drawn>", text)

        # Chromium sends headers in an order of its own.
        posted = tuple(
            (each.line, masked(str(sorted(each.headers))), masked(each.body.decode())) for each in requests if each.body
        )
        fetched = [each for each in requests if not each.body]
        api, files = ([each for each in fetched if each.address.startswith(API) == is_api] for is_api in (True, False))
        return Trace(
            posted,
            frozenset((each.line, *sorted(each.headers)) for each in api),
            frozenset((each.line, *sorted(each.headers)) for each in files),
            masked(sent),
            masked(forgotten),
        )

    def _check_redemption(self, request: WireRequest, requests: Sequence[WireRequest]) -> None:
        """Check that an invitation is redeemed for one id per wave, and that what is blinded goes nowhere else."""
        try:
            asked = parse_request(request.body)
        except (ReportRejected, ValueError):
            raise TransportError(TWICE) from None
        if len(asked.blinded) != len(self._form.survey.waves) or asked.invitation != TOKEN:
            raise TransportError(TWICE)
        secrets = [TOKEN, *(spell(each) for each in asked.blinded)]
        others = [f"{each.line} {each.headers} {each.body!r}" for each in requests if not is_redemption(each)]
        if any(secret in text for text in others for secret in secrets):
            raise TransportError(SECRET_IN_REPORT)


def _marks(body: bytes, report: Report) -> list[str]:
    """Return texts that depend on the random draws of a report and may differ between visits."""
    text = body.decode()
    values = text[text.index('"values"') :]
    digest = hashlib.sha256(body).hexdigest()
    return [values, values.replace('"', '\\"'), values.replace('"', '\\\\\\"'), digest, report.report_id]


def _stored(context: BrowserContext, page: Page) -> str:
    """Return the browser's storage and the tab's title and address, as JSON."""
    state = context.storage_state(indexed_db=True)
    cookies = [cookie for cookie in state["cookies"] if cookie["name"] != "audit"]
    return json.dumps([cookies, state["origins"], page.title(), page.url], sort_keys=True)
