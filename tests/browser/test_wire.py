"""The promise on the wire, in a real browser: of a known truth nothing is seen but what the channel lets through."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request
from sottovoce.shared.report import dump_report, parse_report

from tests.blocks import block, in_block
from tests.browser.visit import Visit, publish, receipt, stored
from tests.conftest import Running
from tests.surveys import document, every_type, survey
from tests.wire import check_frequencies

NAMES = ("often", "first", "content")
DAILY = in_block("daily", when_absent="no", visible_if={"smokes": "yes"})
ASKED = survey(
    name="wire",
    questions=[
        document()["questions"][0],
        *(asked for asked in every_type() if asked["name"] in NAMES),
        block(in_block("smokes"), DAILY),
    ],
)
"""A coin, a rating, a set, a public question, which everybody answers alike, and a block that hides one of its two."""

TRUTHS: list[dict[str, object]] = [
    {"cheated": "no", "often": "o0", "first": [], "content": "o2", "smokes": "no"},
    {"cheated": "yes", "often": "o4", "first": ["o5"], "content": "o2", "smokes": "yes", "daily": "yes"},
]

CHOSEN = [["#q0-0", "#q1-0", "#q3-2", "#q4-0"], ["#q0-1", "#q1-4", "#q2-5", "#q3-2", "#q4-1", "#q5-1"]]
"""What people of either truth tick."""


ALL_IS_KEPT = """async () => {
    const kept = async () => (await caches.open("sottovoce-kept")).keys();
    while ((await kept()).length < 2) await new Promise((go) => setTimeout(go, 20));
}"""
"""Waits until survey and sentences are kept for visits without a connection."""


@dataclass(frozen=True)
class Sent:
    """One visit: who, everything that was asked for before and after the answers, and the report."""

    truth: int
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    body: bytes

    @property
    def values(self) -> tuple[int, ...]:
        return parse_report(self.body).values  # type: ignore[return-value]


@pytest.fixture(scope="session")
def wire(site: Running) -> Running:
    return publish(site, ASKED)


def features(requests: Sequence[Request]) -> tuple[Any, ...]:
    """What can be seen of requests but a report's bytes, in an order that does not hang on which came first."""
    return tuple(
        sorted((r.method, r.url, str(sorted(r.headers.items())), len(r.post_data_buffer or b"")) for r in requests)
    )


class Person:
    """A person with a new browser; the worker, which only keeps the page, is left out."""

    def __init__(self, browser: Browser, wire: Running, truth: int) -> None:
        self._truth = truth
        self._context = browser.new_context(service_workers="block", reduced_motion="reduce")
        self._visit = Visit(self._context, wire)
        self._page = self._visit.open()

    def answer(self) -> None:
        """Once all that comes of itself has been asked for: tick, go on, send."""
        self._page.evaluate(ALL_IS_KEPT)
        self._asked = len(self._visit.requests)
        for target in CHOSEN[self._truth]:
            self._page.check(target)
        self._page.click("#questions [type=submit]")

    def leave(self) -> Sent:
        body = receipt(self._page)["bytes"].encode()
        before, after = self._visit.requests[: self._asked], self._visit.requests[self._asked :]
        sent = Sent(self._truth, features(before), features(after), body)
        assert after[-1].post_data_buffer == body
        self._context.close()
        return sent


def check(browser: Browser, wire: Running, count: int) -> None:
    """``count`` people of each truth, in random order, eight at a time."""
    truths = [truth for truth in range(len(TRUTHS)) for _ in range(count)]
    random.SystemRandom().shuffle(truths)
    seen = []
    for start_at in range(0, len(truths), 8):
        people = [Person(browser, wire, truth) for truth in truths[start_at : start_at + 8]]
        for person in people:
            person.answer()
        seen += [person.leave() for person in people]

    assert len({sent.before for sent in seen}) == 1
    # One request, of one length and with the same headers.
    assert [len(after) for after in {sent.after for sent in seen}] == [1]
    for sent in seen:
        assert sent.body == dump_report(parse_report(sent.body), ASKED)
    assert len({parse_report(sent.body).report_id for sent in seen}) == len(seen)
    check_frequencies(ASKED, TRUTHS, seen)  # type: ignore[arg-type]


def test_visits_of_either_truth_look_the_same(browser: Browser, wire: Running) -> None:
    """Four people of each truth: what is not by chance shows with the first."""
    check(browser, wire, 4)


@pytest.mark.slow
def test_thousand_visits_tell_no_more(browser: Browser, wire: Running) -> None:
    check(browser, wire, 500)


@pytest.mark.parametrize("tries", [6, pytest.param(20, marks=pytest.mark.slow)])
def test_more_tries_send_the_same_bytes(visit: Visit, tries: int) -> None:
    before = stored(visit.site)
    visit.context.route("**/reports", lambda route: route.fulfill(status=409, body='{"code":"busy"}'))
    page = visit.open()
    for target in ("#q0-1", "#q1-0", "#q2-2", "#q3-3", "#q4-1"):
        page.check(target)
    page.click("#questions [type=submit]")
    page.wait_for_selector("#main .problem h1")
    for number in range(tries):
        page = again(visit, page, number)
    visit.context.unroute("**/reports")
    page.reload()
    page.click("#refused .primary")
    shown = receipt(page)

    assert len(visit.bodies) == tries + 2
    assert set(visit.bodies) == {shown["bytes"]}
    assert set(stored(visit.site)) - set(before) == {shown["id"]}


def again(visit: Visit, page: Page, number: int) -> Page:
    """One of the ways to come back to the page, which tells of the refusal; and try again."""
    if number % 3 == 0:
        page.reload()
    elif number % 3 == 1:
        page.close()
        page = visit.context.new_page()
        page.goto(visit.site.link)
    else:
        page.goto("about:blank")
        page.go_back()
    page.wait_for_selector("#refused")
    with visit.context.expect_event("requestfinished", lambda request: request.method == "POST"):
        page.click("#refused .primary")
    page.wait_for_selector("#refused")
    return page
