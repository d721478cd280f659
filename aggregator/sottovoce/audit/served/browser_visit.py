"""Visit a served form with invented people in a browser, whose aggregator and proxy is the audit's listener.

The listener serves the files that the aggregator under audit serves, byte for byte, and answers in its place: nothing
that a visitor sends reaches the survey. Everything is seen from outside: on the wire and in the browser's storage.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Frame, Page
from sottovoce.audit.client_process import link_to
from sottovoce.audit.listener import Listener, MockReply, WireRequest
from sottovoce.audit.mock_aggregator import API, MockAggregator
from sottovoce.audit.request_rules import is_for_reports
from sottovoce.audit.runs import present_of
from sottovoce.audit.test_keys import is_signed
from sottovoce.client.question_sample import pool_of
from sottovoce.shared.allowance import DEFAULT_ALLOWANCE
from sottovoce.shared.answers import Value
from sottovoce.shared.arms.arms import ARM, arm_index, samples
from sottovoce.shared.errors import TransportError
from sottovoce.shared.report import Report, dump_report, parse_report
from sottovoce.shared.spec import Question, Survey

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
        """Return the aggregator of one visit."""
        return MockAggregator({self.survey.name: [self.survey]}, files=self.files)


def is_too_dear(survey: Survey) -> bool:
    """Return whether a survey costs more than the default limit: the form then refuses it."""
    costliest_question = max(question.epsilon for question in survey.questions)
    return survey.epsilon > DEFAULT_ALLOWANCE.total or costliest_question > DEFAULT_ALLOWANCE.question


@contextmanager
def visitor(browser: Browser, listener: Listener) -> Iterator[BrowserContext]:
    """Open a browser without stored data that can reach only the listener, its proxy for this computer as well."""
    context = browser.new_context(proxy={"server": listener.origin, "bypass": "<-loopback>"})
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
    """Answer what is shown, and press the button that sends; ``truth`` has values also of what is not on the page."""
    for place, index in enumerate(_asked(page.context, survey)):
        question, value = survey.questions[index], truth[index]
        if page.is_visible(f"#q{place}-0"):
            fill_in(page, f"q{place}", question, value)
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
    """Return the one report of a visit's requests.

    Raises:
        TransportError: there is another number of reports than one, or something else is sent.
        SurveyError: what is sent is no report.
    """
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
        steps = value if isinstance(value, tuple) else (value,)
        return [(place, grid.text(step)) for place, step in enumerate(steps)]
    assert isinstance(value, int)  # noqa: S101 - only coordinates, which have a grid, are several
    if question.kind.truth == "options":
        return [(option, None) for option in range(question.domain.size) if value >> option & 1]
    return [(value, None)]
