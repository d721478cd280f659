"""Visits of invented people to a served form: it is filled in, sent, and caught before anything leaves the browser."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

from playwright.sync_api import Browser, BrowserContext, Page, Request, Route
from sottovoce.audit.lower_bound import runs_to_reach
from sottovoce.audit.sampled_reports import PEOPLE, TURNS, Reported, Truth, costliest, event_count, truth_of
from sottovoce.audit.test_keys import is_signed, redeemed
from sottovoce.audit.waiting import SECONDS_OF_HOUR, present_of
from sottovoce.client.link import Link
from sottovoce.client.page import assemble, by_path
from sottovoce.shared import canonical
from sottovoce.shared.allowance import DEFAULT_ALLOWANCE
from sottovoce.shared.answers import Value
from sottovoce.shared.errors import SurveyError, TransportError
from sottovoce.shared.report import dump_report, parse_report, receipt
from sottovoce.shared.spec import Question, Survey

AT_ONCE = 8
"""Tabs that wait for their receipts together: the form takes half a second to a second to send."""

MOST = 1000
"""The most visits of each person by default."""

TOO_DEAR = "the form asks nobody this survey, which costs more than it allows unless a person says otherwise"

FIRST = "form button[type=submit]"
"""Below the questions, whichever of them are asked."""

LATER = "#later"
"""What is shown while a report waits for its moment."""

_SECONDS = 20
_TOKEN = "0" * 16
"""Never reaches the aggregator: what is sent is caught."""

_TOKEN_HASH = b'{"token_sha256":"%s"}' % sha256(_TOKEN.encode()).hexdigest().encode()


@dataclass
class Visitor:
    """
    Somebody's browser, and what left it.

    Attributes:
        context: the browser: nothing is remembered in it beforehand.
        page: the tab.
        sent: the bodies of reports.
        others: methods of requests that are not needed.
        begun: whether the questions are on the page.
        requests: what was asked for: method, address, headers, body.
    """

    context: BrowserContext
    page: Page
    sent: list[bytes] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    begun: bool = False
    requests: list[tuple[object, ...]] = field(default_factory=list)


def is_too_dear(survey: Survey) -> bool:
    """Whether the form refuses a survey to whoever has not allowed more."""
    costliest = max(question.epsilon for question in survey.questions)
    return survey.epsilon > DEFAULT_ALLOWANCE.total or costliest > DEFAULT_ALLOWANCE.question


def seen_truth(survey: Survey, person: int) -> Truth:
    """The true values of one of the four people as a form gives them: what is hidden from her has its fixed value."""
    truth = truth_of(survey, person)
    encoded = survey.encode(
        {
            question.name: None if _is_refusal(question, value) else question.answer(value)
            for question, value in zip(survey.questions, truth, strict=True)
        }
    )
    # None stands for what is not asked, and here everything is.
    return tuple(value for value in encoded if value is not None)


def turns_for(survey: Survey) -> tuple[tuple[int, ...], ...]:
    """Of whom visits are made: of nobody in turn, for every visitor has a browser of her own."""
    return TURNS[:2] if len(survey.questions) == 1 else TURNS[: len(PEOPLE)]


def visits_for(survey: Survey, alpha: float) -> int:
    """So many visits of each person find a form that sends answers as they are."""
    people = [seen_truth(survey, person) for person in range(len(PEOPLE))]
    return min(MOST, runs_to_reach(costliest(survey, people), event_count(survey), alpha))


def visits(
    browser: Browser, link: Link, survey: Survey, truths: Sequence[Truth], known: set[str]
) -> Iterator[Reported]:
    """
    A visit of each person, and what it sent.

    Args:
        browser: each visit is a new visitor's.
        link: to the form.
        survey: what it asks.
        truths: of each visitor.
        known: ids of earlier reports; those of these visits are added.

    Raises:
        TransportError: the page makes other requests than it needs, sends another number of reports than one, or an id
            a second time.
        SurveyError: what it sends is no report.
    """
    for start in range(0, len(truths), AT_ONCE):
        tabs: list[Visitor] = []
        try:
            for truth in truths[start : start + AT_ONCE]:
                tabs.append(_open(browser, link, survey))
                _fill(tabs[-1].page, survey, truth)
            for tab in tabs:
                _wait_for_receipt(tab.page, survey)
                yield _reported(tab, survey, link.wave, known)
        finally:
            for tab in tabs:
                tab.context.close()


def _open(browser: Browser, link: Link, survey: Survey) -> Visitor:
    context = browser.new_context()
    tab = Visitor(context, context.new_page())
    answer_requests(tab, link, survey)
    if survey.send_within_hours:
        tab.page.clock.install(time=present_of(survey, link.wave))
    tab.page.goto(address_of(link, survey))
    begin(tab.page)
    tab.begun = True
    return tab


def _wait_for_receipt(page: Page, survey: Survey) -> None:
    """Where a report waits for its moment, that comes at once."""
    if survey.send_within_hours:
        page.wait_for_selector(f"{LATER}, #receipt_sha256", state="attached")
        page.clock.fast_forward(1000 * survey.send_within_hours * SECONDS_OF_HOUR)
    page.wait_for_selector("#receipt_sha256", state="attached")


def address_of(link: Link, survey: Survey) -> str:
    """The link to the form, with an invented token or invitation where there has to be one."""
    token = f"&t={_TOKEN}" if survey.asks_for_invitation else ""
    return f"{link.origin}/s/{link.survey}#d={survey.digest[:32]}{token}&w={link.wave}"


def answer_requests(tab: Visitor, link: Link, survey: Survey) -> None:
    """
    Answer a visitor's requests in the place of the aggregator, of which only files and the survey are fetched.

    Args:
        tab: is told of the requests.
        link: to the form.
        survey: what it asks; where reports come with a signature, with the audit's keys, and so given in the place of
            the aggregator's.
    """
    api = f"{link.origin}/api/v1/surveys/{link.survey}"
    needed = {api, f"{api}/revisions", *(link.origin + path for path in by_path(assemble(), link.survey))}
    # Only before the first question: from then on, even when they are asked could carry an answer.
    beforehand = {
        ("GET", f"{api}/status", None): _status(survey),
        ("POST", f"{api}/token", _TOKEN_HASH): b'{"format":"sottovoce-token/1","good":true}',
    }

    def caught(route: Route) -> None:
        request = route.request
        address = request.url.partition("#")[0]
        headers = sorted(request.headers.items())
        tab.requests.append((request.method, request.url, headers, request.post_data_buffer))
        told = beforehand.get((request.method, address, request.post_data_buffer)) if not tab.begun else None
        if told is not None:
            route.fulfill(body=told, content_type="application/json")
        elif survey.is_blind and request.method == "GET" and address == api:
            route.fulfill(body=survey.canonical, content_type="application/json")
        elif survey.is_blind and request.method == "POST" and address == f"{api}/redeem" and not tab.begun:
            route.fulfill(body=_signed(survey, request.post_data_buffer or b""), content_type="application/json")
        elif request.method == "POST" and address == f"{api}/reports" and _is_let_in(survey, request):
            tab.sent.append(request.post_data_buffer or b"")
            route.fulfill(body=_receipt(tab.sent[-1]), content_type="application/json")
        elif request.method == "GET" and address in needed:
            route.continue_()
        else:
            # Whatever else it asks for could carry an answer, if only by being asked for.
            tab.others.append(request.method)
            route.abort()

    tab.context.set_default_timeout(_SECONDS * 1000)
    tab.context.route("**/*", caught)


def _is_let_in(survey: Survey, request: Request) -> bool:
    """Whether a report brings the signature of its id and nothing else, where there has to be one."""
    try:
        report = parse_report(request.post_data_buffer or b"")
    except (SurveyError, ValueError):
        return True  # What is wrong with it is told where it is read.
    return not survey.is_blind or is_signed(survey, report, request.headers.get("authorization", ""))


def _signed(survey: Survey, body: bytes) -> bytes:
    try:
        return redeemed(survey, body)
    except (SurveyError, ValueError):
        return b"{}"


def _status(survey: Survey) -> bytes:
    """That the survey is open, whatever it is: an audit answers beforehand, too."""
    revision = {"digest": survey.digest, "revision": survey.revision, "retired": False}
    revisions = [{**revision, "waves": ["open"] * len(survey.waves)}]
    return canonical.dump(
        {"format": "sottovoce-status/1", "survey": survey.name, "closed_on": None, "revisions": revisions}
    )


def begin(page: Page) -> None:
    """To the questions; what explains them is skipped, where there is any."""
    page.wait_for_selector(f"#explanation, {FIRST}")
    if page.locator("#explanation").count():
        page.click("#explanation .actions .primary")
        page.wait_for_selector(f"#check, {FIRST}")
        if page.locator("#check").count():
            page.click("#check button:not(.primary)")
    page.wait_for_selector(FIRST)


def _reported(tab: Visitor, survey: Survey, wave: int, known: set[str]) -> Reported:
    if tab.others:
        raise TransportError("the page makes requests that it does not need")
    if len(tab.sent) != 1:
        raise TransportError("the page sends another number of reports than one")
    report = parse_report(tab.sent[0])
    if (report.digest, report.wave) != (survey.digest, wave) or dump_report(report, survey) != tab.sent[0]:
        raise TransportError("the page sends something else than a report of this survey")
    if report.report_id in known:
        raise TransportError("the page draws the same id twice")
    known.add(report.report_id)
    return report.values, len(tab.sent[0]), 0


def _receipt(body: bytes) -> str:
    try:
        return json.dumps(receipt(parse_report(body), body))
    except (SurveyError, ValueError):
        return "{}"


def _fill(page: Page, survey: Survey, truth: Truth) -> None:
    """Answer what is shown, go on to the review, and press the button that sends."""
    index = 0
    for item in survey.items:
        for question in item.questions:
            if page.is_visible(f"#q{index}-0"):
                _answer(page, index, question, None if _is_refusal(question, truth[index]) else truth[index])
            index += 1
    to_review(page)
    page.click("#main .actions .primary")


def fill(page: Page, survey: Survey, asked: Collection[int], answers: Mapping[str, object]) -> None:
    """
    Answer what is shown.

    Args:
        page: with the questions on it.
        survey: whose questions.
        asked: indices of those that are on the page.
        answers: by question name; None or no entry for none.
    """
    questions = [survey.questions[index] for index in sorted(asked)]
    for place, question in enumerate(questions):
        if page.is_visible(f"#q{place}-0"):
            given = answers.get(question.name)
            _answer(page, place, question, None if given is None else question.encode(given))


def to_review(page: Page) -> None:
    """From the questions, all answered, to the step before sending."""
    for box in page.locator("form input[id^=a]:visible").all():
        box.check()
    page.click("form button[type=submit]")
    page.wait_for_selector("form", state="detached")


def _answer(page: Page, index: int, question: Question, value: Value | None) -> None:
    if value is None:
        page.check(f"#q{index}-absent")
        return
    for control, text in _controls(question, value):
        if text is None:
            page.check(f"#q{index}-{control}")
        else:
            page.fill(f"#q{index}-{control}", text)


def _controls(question: Question, value: Value) -> list[tuple[int, str | None]]:
    """(control's number, text to enter or None to tick it)."""
    grid = question.domain.grid
    if grid is not None:
        steps = value if isinstance(value, tuple) else (value,)
        return [(place, grid.text(step)) for place, step in enumerate(steps)]
    assert isinstance(value, int)  # noqa: S101 - only coordinates, which have a grid, are several
    if question.kind.truth == "options":
        return [(option, None) for option in range(question.domain.size) if value >> option & 1]
    return [(value, None)]


def _is_refusal(question: Question, value: Value) -> bool:
    return question.domain.absent and value == question.absent
