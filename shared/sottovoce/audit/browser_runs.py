"""
Whole visits to a served form whose random bytes are a tape: what the browser sees of them may hang on the reported
values, and on no answer.

Each visit is made by hand, in a browser of its own: the questions are answered, the report is sent, and forgotten. What
a page asks for, reads, writes and shows from the press of the button on is noted, and so is what lies in the browser.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.resources import files
from itertools import islice
from typing import Any

from playwright.sync_api import Browser, Error, Page
from sottovoce.audit.browser_visit import (
    FIRST,
    TOO_DEAR,
    Visitor,
    address_of,
    answer_requests,
    begin,
    fill,
    is_too_dear,
    to_review,
)
from sottovoce.audit.check import FAILED, NOT_DONE, PASSED, Check, Tick
from sottovoce.audit.interference import SUBJECT
from sottovoce.audit.runs import Run, RunPlan, VectorPlan
from sottovoce.audit.waiting import present_of
from sottovoce.client.draws import Draws
from sottovoce.client.link import Link
from sottovoce.client.memo import draw_memo
from sottovoce.client.question_sample import draw_asked
from sottovoce.client.respondent import randomize
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.report import Report, dump_report
from sottovoce.shared.spec import Survey

WAVES = "several waves of one person"
LIMIT = "a form that is honest only while it is audited looks the same from outside"

_TRIED = 16
"""Runs of a vector that are looked at for the second wave."""

MOST = 24
"""Visits, about; a visit takes a second."""

_VECTORS = 2
_EVENTS = {
    "read": "what it reads of randomness",
    "clock": "how often it looks at the clock",
    "timer": "how long it waits",
    "request": "a request, or when it is made",
    "write": "what it writes in the browser",
    "page": "what it does with the page",
    "console": "what it prints",
    "source": "where its random values are from",
}
_KEPT = {
    "records": "the database",
    "places": "the storage",
    "caches": "the cache",
    "tab": "the title, address, history or cookies",
    "shown": "what the page shows",
}
_MOMENTS = {
    "waiting": "while the report waits",
    "sent": "when the report was sent",
    "forgotten": "when the report was forgotten",
}
_PARTS = ("the method", "the address", "the headers", "the body")

Part = tuple[Run, bytes]
"""What is answered in one wave, and the random bytes that there are."""

Course = list[Part]
"""What one person answers, wave by wave; the last report is forgotten."""


@dataclass
class Seen:
    """
    What one person's visits left to be seen.

    Attributes:
        sent: the reports.
        before: methods and addresses of the requests up to the press that sends, in no order.
        requests: method, address, headers and body of each one after it.
        events: what the page did meanwhile, in order: kind and details.
        kept: (moment, what lay in the browser).
        used: for each report whether it took just the random bytes that there were.
        others: whether there was a request that is not needed.
    """

    sent: list[bytes] = field(default_factory=list)
    before: set[tuple[object, ...]] = field(default_factory=set)
    requests: list[tuple[object, ...]] = field(default_factory=list)
    events: list[list[str]] = field(default_factory=list)
    kept: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    used: list[bool] = field(default_factory=list)
    others: bool = False


def check_runs(browser: Browser, link: Link, survey: Survey, plan: RunPlan, tick: Tick) -> Iterator[Check]:
    """
    A line about single visits, and one about those of people who come again in the next wave, where there is one.

    Args:
        browser: makes the visits.
        link: to the form.
        survey: what it asks.
        plan: of which the runs are taken.
        tick: told of the progress.
    """
    if is_too_dear(survey):
        yield Check("page", SUBJECT, NOT_DONE, message=TOO_DEAR)
        return
    vectors = plan.vectors[:_VECTORS]
    single = [[[(run, run.tape)] for run in telling(vector.runs, MOST // _VECTORS)] for vector in vectors]
    yield _check(SUBJECT, _Visits(browser, link, survey, tick), vectors, single)
    if len(survey.waves) > 1:
        told = sorted(
            (_again(survey, plan.vectors, vector) for vector in plan.vectors), key=lambda each: each.shown, reverse=True
        )[:_VECTORS]
        visits = _Visits(browser, replace(link, wave=0), survey, tick)
        yield _check(WAVES, visits, [each.vector for each in told], [each.courses for each in told])


def telling(runs: Sequence[Run], most: int) -> list[Run]:
    """At most so many of the runs, the first one first: each has the most pairs of answers that were in none before."""
    chosen, seen, rest = [runs[0]], _pairs(runs[0]), list(runs[1:])
    while rest and len(chosen) < most:
        best = max(rest, key=lambda run: len(_pairs(run) - seen))
        if not _pairs(best) - seen:
            break
        seen |= _pairs(best)
        chosen.append(best)
        rest.remove(best)
    return chosen


def _pairs(run: Run) -> set[tuple[str, str]]:
    given = [f"{name}={answer}" for name, answer in run.answers.items()]
    return {(one, other) for one in given for other in given}


@dataclass(frozen=True)
class _Again:
    """Visits of one vector in two waves; how many of them show a client that draws anew what is remembered."""

    vector: VectorPlan
    courses: list[Course]
    shown: int


def _again(survey: Survey, vectors: Sequence[VectorPlan], vector: VectorPlan) -> _Again:
    """
    Each of some runs in the first wave and another one in the second, where there are other bytes for what is
    remembered: those with which who draws it anew reports something else, where there are such.
    """
    memos = [_memo(each, each.runs[0]) for each in vectors]
    told = [(run, _telling_memo(survey, vector, run, memos)) for run in vector.runs[:_TRIED]]
    told.sort(key=lambda each: _shows(survey, vector, *each), reverse=True)
    seconds = told[: max(1, MOST // _VECTORS // 2)]
    firsts = [told[(place + 1) % len(told)][0] for place in range(len(seconds))]
    courses = [[(one, one.tape), second] for one, second in zip(firsts, seconds, strict=True)]
    return _Again(vector, courses, sum(_shows(survey, vector, *each) for each in seconds))


def _telling_memo(survey: Survey, vector: VectorPlan, run: Run, memos: Sequence[bytes]) -> bytes:
    """The run's tape with other bytes for what is remembered, such that show if there are any."""
    own, asked = _memo(vector, run), run.tape[: vector.redemption[1]]
    rest = run.tape[len(asked + own) :]
    tapes = [asked + memo + rest for memo in memos if len(memo) == len(own)]
    return next((tape for tape in tapes if _shows(survey, vector, run, tape)), tapes[0])


def _shows(survey: Survey, vector: VectorPlan, run: Run, tape: bytes) -> bool:
    """Whether a client that remembers nothing of an earlier wave reports another value from these bytes."""
    rest = iter(tape)
    draws = Draws(lambda count: bytes(islice(rest, count)))
    asked = draw_asked(survey, draws)
    memo = draw_memo(survey, draws)
    return randomize(survey, survey.encode(run.answers, asked), draws, memo=memo).values != vector.outputs


def _memo(vector: VectorPlan, run: Run) -> bytes:
    """The bytes of what is remembered for all waves: after those of the questions that are asked."""
    return run.tape[vector.redemption[1] : run.tape.rindex(bytes.fromhex(vector.report_id))]


def _check(subject: str, visits: "_Visits", vectors: Sequence[VectorPlan], courses: Sequence[list[Course]]) -> Check:
    problems: list[str] = []
    count = 0
    try:
        for vector, taken in zip(vectors, courses, strict=True):
            seen = [visits.see(vector, course) for course in taken]
            count += sum(map(len, taken))
            problems += visits.wrong(vector, seen[0])
            for course, each in zip(taken[1:], seen[1:], strict=True):
                difference = first_difference(seen[0], each)
                if difference:
                    problems.append(f"{difference} depends on {_whose(taken[0], course)}")
    except (Error, SurveyError, TypeError, ValueError):
        problems.append("it cannot be filled in, or does not send a report as it should")
    scope = f"{count} visits with {len(vectors)} vectors of reports; {LIMIT}"
    return Check(
        "page", subject, FAILED if problems else PASSED, scope=scope, message="; ".join(dict.fromkeys(problems))
    )


def _whose(first: Course, second: Course) -> str:
    """The questions that two courses answer differently."""
    pairs = [(one.answers, other.answers) for (one, _), (other, _) in zip(first, second, strict=True)]
    names = {name for one, other in pairs for name in {**one, **other} if one.get(name) != other.get(name)}
    told = " and ".join(f"'{name}'" for name in sorted(names)[:2])
    return f"the answer to {told}" + (f" and {len(names) - 2} more" if len(names) > 2 else "")


def first_difference(one: Seen, other: Seen) -> str:
    """In words what two people's visits differ in; nothing if they do not."""
    for first, second in zip(one.events, other.events, strict=False):
        if first != second:
            return _EVENTS[second[0]]
    if len(one.events) != len(other.events):
        longer = max(one.events, other.events, key=len)
        return _EVENTS[longer[min(len(one.events), len(other.events))][0]]
    for asked, again in zip(one.requests, other.requests, strict=False):
        if asked != again:
            return f"{next(part for part, a, b in zip(_PARTS, asked, again, strict=True) if a != b)} of a request"
    if len(one.requests) != len(other.requests) or one.before != other.before or one.others != other.others:
        return "which requests it makes"
    return _first_kept(one, other)


def _first_kept(one: Seen, other: Seen) -> str:
    for (moment, first), (_, second) in zip(one.kept, other.kept, strict=True):
        for name, words in _KEPT.items():
            if first[name] != second[name]:
                return f"{words} {_MOMENTS[moment]}"
    return ""


class _Visits:
    """Makes them, each person in a browser of her own."""

    def __init__(self, browser: Browser, link: Link, survey: Survey, tick: Tick) -> None:
        self._browser, self._link, self._survey, self._tick = browser, link, survey, tick
        self._script = files("sottovoce.audit").joinpath("browser_device.mjs").read_text(encoding="utf-8")
        self._left: dict[str, Any] | None = None

    def see(self, vector: VectorPlan, course: Course) -> Seen:
        """One person's visits."""
        context = self._browser.new_context(service_workers="block")
        seen = Seen()
        try:
            for place, (run, tape) in enumerate(course):
                tab = Visitor(context, context.new_page())
                link = replace(self._link, wave=self._link.wave + place)
                answer_requests(tab, link, self._survey)
                tab.page.add_init_script(f"{self._script};audited.feed({[*tape]});{self._clock(link.wave)}")
                tab.page.goto(address_of(link, self._survey))
                asked = [index for index, value in enumerate(vector.outputs) if value is not None]
                # What is asked and what is redeemed is drawn before the first question.
                begin, end = vector.redemption
                rest = tape[end:]
                self._begin(tab, tape[begin:end])
                self._answer(tab, run, rest, asked)
                seen.before |= {request[:2] for request in tab.requests}
                tab.requests.clear()
                self._send(tab, is_last=place == len(course) - 1)
                _note(tab, len(rest), seen)
                tab.page.close()
        finally:
            context.close()
        self._tick(1 / MOST)
        return seen

    def _clock(self, wave: int) -> str:
        """The clock on the wall shows a moment only where a report waits for its own."""
        return f"audited.live({present_of(self._survey, wave)})" if self._survey.send_within_hours else ""

    @staticmethod
    def _begin(tab: Visitor, redemption: bytes) -> None:
        """From the first step to the questions."""
        page = tab.page
        page.wait_for_selector(f"#explanation, {FIRST}")
        _rest(page)
        page.evaluate("(tape) => audited.feed(tape)", [*redemption] or None)
        begin(page)
        tab.begun = True

    def _answer(self, tab: Visitor, run: Run, tape: bytes, asked: list[int]) -> None:
        """From the questions to the press that sends."""
        page = tab.page
        fill(page, self._survey, asked, run.answers)
        to_review(page)
        _rest(page)
        page.evaluate("(tape) => (audited.watch(), audited.feed(tape))", [*tape])

    def _send(self, tab: Visitor, is_last: bool) -> None:
        """From that press until nothing is left."""
        page = tab.page
        page.click("#main .actions .primary")
        page.wait_for_selector("#receipt_sha256", state="attached")
        _rest(page)
        page.evaluate("() => audited.keep('sent')")
        if not is_last:
            return
        page.locator("#receipt > .actions button").nth(1).click()
        page.click("#confirm .primary")
        # Whether it says that it has ended is not asked: what lies there then is looked at.
        page.wait_for_selector("#ended, #receipt")
        _rest(page)
        page.evaluate("() => audited.keep('forgotten')")

    def wrong(self, vector: VectorPlan, seen: Seen) -> list[str]:
        """What is wrong with these visits, whatever others are."""
        asked, waves = self._survey, range(self._link.wave, self._link.wave + len(seen.used))
        named = [(asked.name, asked.digest, wave, vector.id_in(asked, wave)) for wave in waves]
        reports = [dump_report(Report(*about, vector.outputs), asked) for about in named]
        problems = []
        if seen.sent != reports:
            problems.append("the report is not the one that its draws make: other values, another id or other bytes")
        if not all(seen.used):
            problems.append("it does not use just the random bytes that its draws take")
        if seen.others:
            problems.append("the page makes requests that it does not need")
        sources = {event[1] for event in seen.events if event[0] == "source"}
        problems += [
            f"it has values from elsewhere than crypto.getRandomValues: {source}" for source in sorted(sources)
        ]
        # What was sent in an earlier wave was not forgotten.
        left = None if len(reports) > 1 else {name: each for name, each in seen.kept[-1][1].items() if name != "shown"}
        if self._left not in (None, left):
            problems.append("what is left after forgetting hangs on what was reported")
        self._left = left
        return problems


def _note(tab: Visitor, length: int, seen: Seen) -> None:
    told = tab.page.evaluate("() => audited.told()")
    seen.sent += tab.sent
    seen.requests += tab.requests
    seen.events += told["events"]
    seen.kept += [(moment, kept) for moment, kept in told["kept"]]
    seen.used.append(told["used"] == length)
    seen.others |= bool(tab.others)


def _rest(page: Page) -> None:
    """Until the page does nothing more by itself."""
    page.wait_for_function("() => audited.isAtRest()")
