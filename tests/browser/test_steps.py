"""The steps around the questions: explanation, limits, practice, check, withdrawing, forgetting."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page
from sottovoce.shared import canonical
from sottovoce.shared.rational import show_epsilon

from tests.browser.conftest import NewContext
from tests.browser.states import ANSWERS, FILLED, OPEN_ALL
from tests.browser.test_traces import EVERYTHING_KEPT
from tests.browser.visit import KEPT, READY, Visit, publish, receipt, send, stored
from tests.conftest import Running
from tests.surveys import document, survey

MOST_WORDS = 120
MOST_RECEIPT_WORDS = 80
MOST_GRADE = 8
VOWELS = re.compile(r"[aeiouy]+")


KEPT_SURVEYS = """async () => (await (await caches.open("sottovoce-kept")).keys())
    .map((request) => request.url).filter((url) => url.includes("/surveys/"))"""


@pytest.fixture
def start_page(visit: Visit) -> Page:
    return visit.arrive()


def syllables(word: str) -> int:
    """How many groups of vowels, a silent e at the end apart."""
    word = word.lower()
    silent = word.endswith("e") and not word.endswith("le")
    return max(1, len(VOWELS.findall(word)) - silent)


def reading_grade(sentences: list[str]) -> float:
    """Flesch and Kincaid's: 0.39 words a sentence + 11.8 syllables a word - 15.59."""
    words = [word for sentence in sentences for word in re.findall(r"[A-Za-z]+|[0-9.]+", sentence)]
    return 0.39 * len(words) / len(sentences) + 11.8 * sum(map(syllables, words)) / len(words) - 15.59


def test_reading_grade_tells_plain_from_learned() -> None:
    assert reading_grade(["The cat sat on the mat"]) < 1
    assert reading_grade(["Randomization mechanisms guarantee plausible deniability to participating individuals"]) > 20


def told(page: Page) -> str:
    page.evaluate(OPEN_ALL)
    page.wait_for_function(FILLED)
    return page.inner_text("#explanation")


def test_explanation_says_what_follows_for_the_person(start_page: Page) -> None:
    """Three coins and one of two thirds are 27 to 1 and 2: 86 after all; the survey's own, buttons, folds apart."""
    parts = "#explanation > p:not(.asked-by), section > h2, section > p, .share > p"
    blocks = start_page.locator(parts).all_inner_texts()
    sentences = [part for block in blocks for part in re.split(r"\.\s", block.replace("\n", " "))]
    own = "Taking part is voluntary. You may stop at any time before you send."
    assert 60 < len(" ".join(blocks).replace(own, "").split()) <= MOST_WORDS
    assert len(sentences) > 6
    assert reading_grade(sentences) <= MOST_GRADE

    assert "is at most 25% sure after one private answer, 86% after all." in start_page.inner_text(".belief")
    dots = "all => all.map((one) => one.getAttribute('d').split('M').length - 1)"
    assert start_page.locator("figure path").evaluate_all(dots) == [75, 25, 25, 75]
    assert start_page.locator("figure svg[aria-hidden=true]").count() == 2
    assert start_page.locator("figure p").count() == 2

    text = start_page.inner_text("#explanation")

    assert "75 of 100 send yes if true" in text
    assert "25 of 100 send yes if false" in text
    assert "The server sees your network address and when you answer." in text
    assert "Taking part is voluntary." in text
    assert "Begin means you agree." in text
    assert "psilon" not in text
    opened = told(start_page)
    assert "The private answers cost epsilon 3.99 together" in opened
    assert "Spent at this server" not in opened
    assert "Five questions, about two minutes." in opened
    assert "This page comes from the people who run the survey" in opened
    assert "How long you took can be seen." in opened


BELIEF = "10% sure"
CERTAIN = "No one can be certain"
COIN = {"name": "binary_rr", "a": "3/4", "b": "1/4"}


def asking(count: int, **changes: Any) -> list[dict[str, Any]]:
    return [
        {"type": "boolean", "name": f"c{n}", "label": {"en": "C?"}, "mechanism": COIN} | changes for n in range(count)
    ]


@pytest.mark.parametrize(("count", "is_nearly_sure"), [(3, False), (4, True)])
def test_no_sentence_contradicts_the_belief(
    new_context: NewContext, site: Running, count: int, is_nearly_sure: bool
) -> None:
    """From 90 % on the belief stands first, and nothing up to the receipt says that none is certain."""
    asked = publish(site, survey(name=f"sure-{count}", questions=asking(count)))
    page = Visit(new_context(), asked).arrive()
    first = page.inner_text("#explanation section")
    page.click("#explanation > .actions .primary")
    page.check("#check input >> nth=1")
    page.click("#check [type=submit]")
    checked = page.inner_text("#check")
    page.click("#check .primary")
    sent = send(page, *[1] * count) and page.inner_text("#receipt")

    assert (first.index(BELIEF) < first.index("rolls dice")) == is_nearly_sure
    assert (CERTAIN in first) == (not is_nearly_sure)
    assert ("90% after all." in checked) == is_nearly_sure
    assert ("proves anything" in sent) == (not is_nearly_sure)


def test_check_is_a_step_only_where_the_survey_asks_for_it(new_context: NewContext, site: Running) -> None:
    asked = publish(site, survey(name="four", check=False, questions=asking(4)))
    visit = Visit(new_context(), asked)
    page = visit.arrive()
    page.wait_for_load_state("networkidle")
    before = len(visit.requests)
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#questions")
    send(page, 1, 0, 1, 0)

    assert [path.split()[0] for path in visit.paths[before:]] == ["POST"]
    opened = Visit(new_context(), asked).arrive()
    assert "Can the researchers know" in told(opened)


@pytest.fixture
def open_survey(site: Running) -> Running:
    asked = document()["questions"][0] | {"public": True}
    del asked["mechanism"]
    return publish(site, survey(name="open", questions=[asked]))


def test_survey_without_odds_claims_none(new_context: NewContext, open_survey: Running) -> None:
    context = new_context()
    page = Visit(context, open_survey).arrive()

    assert "Your answers are sent as you give them." in page.inner_text("#explanation .note")
    assert page.locator("figure, .belief").count() == 0
    assert page.locator("#explanation button").all_inner_texts() == ["Begin"]
    page.click("#explanation button")
    page.wait_for_selector("#q0-0")


def test_weak_spec_is_refused(visit: Visit, tampered: str) -> None:
    asked = json.loads(tampered)
    del asked["privacy"]["max_epsilon_total"]
    visit.context.route("**/api/v1/surveys/marriage", lambda route: route.fulfill(body=canonical.dump(asked)))
    page = visit.arrive(f"{visit.site.url}/s/marriage")

    assert "would give away too much: epsilon 4.32, where you allow 3." in page.inner_text("#main .problem")
    assert page.locator("fieldset").count() == 0


def test_practice_is_neither_sent_nor_kept(visit: Visit, start_page: Page) -> None:
    """The tally counts real rolls; no request but for the page's parts, no entry, no trace once it is left."""
    start_page.evaluate(KEPT)
    before = [*visit.paths]
    start_page.click("text=How it works")
    rolls = start_page.locator("#practice button")
    rolls.nth(0).click()
    assert re.search(r"The dice send: (Yes|No)", start_page.inner_text("#practice [role=status]"))
    for _ in range(10):
        rolls.nth(2).click()
    rolls.nth(1).click()
    shown = start_page.inner_text("#practice [role=status]")
    found = re.search(r"Answer yes: (\d+) of 201 rolls sent yes.\s+Answer no: [01] of 1 rolls sent yes.", shown)
    # 201 rolls at 3/4: outside these limits with a probability below 1e-9.
    assert found
    assert 110 < int(found[1]) < 187

    assert {path for path in visit.paths[len(before) :] if not path.startswith("GET /assets/")} == set()
    assert start_page.evaluate(EVERYTHING_KEPT) == []


@pytest.mark.parametrize("choices", [(1,), (0, 1), (0, 2)])
def test_check_has_two_tries_and_stays_on_the_device(visit: Visit, start_page: Page, choices: tuple[int, ...]) -> None:
    # What is kept for visits without a connection, the same for everybody, is asked for in the background.
    start_page.evaluate(KEPT)
    start_page.click("#explanation > .actions .primary")
    start_page.click("#check [type=submit]")
    assert start_page.inner_text("#check .told") == "Choose an answer."
    before = [*visit.paths]
    for tried, choice in enumerate(choices):
        assert tried == 0 or start_page.inner_text("#check .told").startswith("Not quite.")
        start_page.check(f"#check input >> nth={choice}")
        start_page.click("#check [type=submit]")
    assert "No: chance may have changed it." in start_page.inner_text("#check .told")
    assert start_page.locator("#check [type=submit]").count() == 0
    start_page.click("#check .primary")
    start_page.wait_for_selector("#q0-0")

    assert before == visit.paths
    assert start_page.evaluate(EVERYTHING_KEPT) == []


def test_forgotten_report_still_counts(visit: Visit, page: Page) -> None:
    """On a shared phone: wiped from the browser, kept by the aggregator; no visit that follows keeps the survey."""
    page.evaluate(KEPT)
    shown = send(page, *ANSWERS)
    page.click("text=Do others use this device?")
    page.click("text=Forget them here")
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    assert "wiped" in page.inner_text("#ended")
    assert page.evaluate(KEPT_SURVEYS) == []

    assert visit.bodies == [shown["bytes"]]
    assert shown["id"] in stored(visit.site)
    kept_apart(visit, page, shown, "forgotten")
    page.wait_for_load_state("networkidle")
    assert page.evaluate(KEPT_SURVEYS) == []


def kept_apart(visit: Visit, page: Page, shown: dict[str, str], ended: str) -> None:
    """The ledger's entry has lost its bytes, and the page says the same after a reload and in a new tab."""
    [entry] = page.evaluate(EVERYTHING_KEPT)
    assert (entry["body"], entry["ended"], entry["digest"]) == (None, ended, shown["digest"])
    assert show_epsilon(entry["epsilon"]) == "3.99"
    told = page.inner_text("#ended")
    posted = len(visit.bodies)
    page.reload()
    for tab in (page, visit.arrive()):
        tab.wait_for_selector("#ended")
        assert told == tab.inner_text("#ended")
        assert shown["id"] not in tab.content()
    assert posted == len(visit.bodies)


def test_other_tab_buys_no_second_draw_after_withdrawing(visit: Visit, page: Page) -> None:
    """Questions that stood open in a second tab end where the first tab ended."""
    second = visit.open()
    send(page, *ANSWERS)
    page.click("text=Withdraw my answers")
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    for question, option in enumerate(ANSWERS):
        second.check(f"#q{question}-{option}")
    second.click("#questions [type=submit]")
    second.wait_for_selector("#ended")

    assert len(visit.bodies) == 2


def test_withdrawn_report_is_gone_everywhere(visit: Visit, page: Page) -> None:
    """The browser keeps its cost alone; where the aggregator refuses, that is told, and the receipt is still there."""
    shown = send(page, *ANSWERS)
    assert shown["id"] in stored(visit.site)
    visit.context.route("**/withdraw", lambda route: route.fulfill(status=409, body='{"code":"closed"}'))
    page.click("text=Withdraw my answers")
    page.click("#confirm .primary")
    page.wait_for_selector("#main .problem h1")
    assert "This survey is closed." in page.inner_text("#main .problem")
    page.click("#main .problem button")

    assert shown == receipt(page)
    page.reload()
    assert shown == receipt(page)
    assert shown["id"] in stored(visit.site)
    visit.context.unroute("**/withdraw")
    page.click("text=Withdraw my answers")
    assert "You cannot answer again" in page.inner_text("#confirm")
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    assert "were withdrawn" in page.inner_text("h1")

    assert [json.dumps({"report_id": shown["id"]}, separators=(",", ":"))] * 2 == visit.bodies[1:]
    assert shown["id"] not in stored(visit.site)
    kept_apart(visit, page, shown, "withdrawn")


def test_second_survey_of_one_server_tells_what_was_spent(visit: Visit, page: Page) -> None:
    send(page, *ANSWERS)
    page.click("text=Show exactly what was sent")
    assert "Spent at this server: 3.99." in page.inner_text("#receipt")
    other = visit.site.survey.canonical.decode().replace('"name":"marriage"', '"name":"other"')
    visit.context.route("**/api/v1/surveys/other", lambda route: route.fulfill(body=other))
    page.goto(f"{visit.site.url}/s/other")
    page.wait_for_selector(READY)

    assert "Spent at this server: 3.99." in told(page)


def test_receipt_explains_itself(page: Page) -> None:
    """At most 80 words, a survey's own and those of the buttons included, at a reading grade of at most 8."""
    send(page, *ANSWERS)
    blocks = page.locator("#receipt h1, #receipt p:visible, #receipt li, #receipt summary").all_inner_texts()
    sentences = [part for block in blocks for part in re.split(r"\.\s", block)]
    assert 40 < len(page.inner_text("#receipt").split()) <= MOST_RECEIPT_WORDS
    assert reading_grade(sentences) <= MOST_GRADE
    told = page.inner_text("#receipt")
    page.click("text=Show exactly what was sent")
    exact = page.inner_text("#receipt")

    assert "Private answers sent: 4. Chance had a say: none proves anything about you." in told
    assert "not shown to you" not in exact
    assert "that is chance protecting you" not in told
    assert "that is chance protecting you" in exact
    assert "Sottovoce program can compare" in exact
