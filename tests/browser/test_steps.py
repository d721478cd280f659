"""The steps around the questions: explanation, limits, practice, check, withdrawing, forgetting."""

import json
import re

import pytest
from playwright.sync_api import Page
from sottovoce.shared import canonical
from sottovoce.shared.rational import show_epsilon

from tests.browser.conftest import NewContext
from tests.browser.states import ANSWERS, FILLED, OPEN_ALL, set_limits
from tests.browser.test_traces import EVERYTHING_KEPT
from tests.browser.visit import KEPT, READY, Visit, publish, receipt, send, stored
from tests.conftest import Running
from tests.surveys import document, survey

MOST_WORDS = 120
MOST_RECEIPT_WORDS = 100
MOST_GRADE = 8
VOWELS = re.compile(r"[aeiouy]+")


KEPT_SURVEYS = """async () => (await (await caches.open("sottovoce-kept")).keys())
    .map((request) => request.url).filter((url) => url.includes("/surveys/"))"""


@pytest.fixture
def start_page(visit: Visit) -> Page:
    """The visitor's first tab, on the explanation."""
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
    """The measure itself: a child's sentence and a lawyer's."""
    assert reading_grade(["The cat sat on the mat"]) < 1
    assert reading_grade(["Randomization mechanisms guarantee plausible deniability to participating individuals"]) > 20


def own_words(page: Page, survey_texts: list[str]) -> str:
    """What stands on the first screen, without the survey's own texts."""
    text = page.inner_text("#explanation")
    for own in survey_texts:
        assert own in text
        text = text.replace(own, "", 1)
    return text


def test_explanation_is_short_and_plain(visit: Visit, start_page: Page) -> None:
    """At most 120 words together, buttons and labels included, at a reading grade of at most 8."""
    asked = visit.site.survey.document
    names = [asked["researcher"][part]["en"] for part in ("institution", "name")]
    text = own_words(start_page, [*(asked[name]["en"] for name in ("title", "consent")), *names])
    parts = "#explanation > p, section > p, .share > p, .belief > p, .belief li, summary"
    blocks = start_page.locator(parts).all_inner_texts()
    sentences = [part for block in blocks for part in re.split(r"\.\s", block.replace("\n", " "))]

    assert 60 < len(text.split()) <= MOST_WORDS
    assert len(sentences) > 6
    assert reading_grade(sentences) <= MOST_GRADE


def told(page: Page) -> str:
    """The first screen with everything opened."""
    page.evaluate(OPEN_ALL)
    page.wait_for_function(FILLED)
    return page.inner_text("#explanation")


def test_receipt_is_short_and_plain(page: Page) -> None:
    """At most 100 words, a survey's own and those of the buttons included, at a reading grade of at most 8."""
    send(page, *ANSWERS)
    blocks = page.locator("#receipt h1, #receipt p:visible, #receipt li, #receipt summary").all_inner_texts()
    sentences = [part for block in blocks for part in re.split(r"\.\s", block)]

    assert 60 < len(page.inner_text("#receipt").split()) <= MOST_RECEIPT_WORDS
    assert reading_grade(sentences) <= MOST_GRADE


def test_explanation_says_what_follows_for_the_person(start_page: Page) -> None:
    """The odds, what somebody may come to think, what is seen, consent; epsilon and what is not hidden behind lines."""
    text = start_page.inner_text("#explanation")

    assert "75 of 100\nsend yes if it is true" in text
    assert "25 of 100\nsend yes if it is not" in text
    assert "The researchers see that someone at your network address answered, and when." in text
    assert "Taking part is voluntary." in text
    assert "You need not take part. Begin means that you agree." in text
    assert "psilon" not in text
    opened = told(start_page)
    assert "This survey costs 3.99; you allow 8." in opened
    assert "Spent at this server" not in opened
    assert "Five questions, about a minute." in opened
    assert "This page comes from the people who run the survey" in opened


def test_belief_is_told_before_after_one_answer_and_after_the_whole_report(start_page: Page) -> None:
    """Three coins and one of two thirds: 27 to 1 and 2, so 86 after the report; the bars are as long as they say."""
    bars = start_page.locator(".belief path.held").evaluate_all("all => all.map((one) => one.getAttribute('d'))")

    assert start_page.locator(".belief li").all_inner_texts() == [
        "10 before",
        "25 after one answer",
        "86 after your whole report",
    ]
    assert bars == ["M0 3H10", "M0 3H25", "M0 3H86"]


def test_picture_has_as_many_dots_as_the_odds_say(start_page: Page) -> None:
    """Two grids of a hundred; a screen reader reads the words beside them."""
    paths = start_page.locator("figure path").evaluate_all(
        "all => all.map((one) => one.getAttribute('d').split('M').length - 1)"
    )

    assert paths == [75, 25, 25, 75]
    assert start_page.locator("figure svg[aria-hidden=true]").count() == 2
    assert start_page.locator("figure p").count() == 2


@pytest.fixture
def open_survey(site: Running) -> Running:
    """A survey that protects nothing."""
    asked = document()["questions"][0] | {"public": True}
    del asked["mechanism"]
    return publish(site, survey(name="open", questions=[asked]))


def test_survey_without_odds_claims_none(new_context: NewContext, open_survey: Running) -> None:
    """Where every answer is sent as given there is no picture, nothing to practise, nothing to check."""
    context = new_context()
    page = Visit(context, open_survey).arrive()

    assert "Every answer is sent as you give it." in page.inner_text("#explanation .note")
    assert page.locator("figure, .belief").count() == 0
    assert page.locator("#explanation button").all_inner_texts() == ["Begin"]
    page.click("#explanation button")
    page.wait_for_selector("#q0-0")


def test_limits_are_the_persons_own(visit: Visit, start_page: Page) -> None:
    """A lower limit refuses before anything is asked, naming the cost; a higher one goes on; a reload forgets both."""
    start_page.evaluate(OPEN_ALL)
    set_limits(start_page, "3", "3.98")
    start_page.wait_for_selector("#main .problem h1")
    assert "epsilon 3.99, where you allow 3.98" in start_page.inner_text("#main .problem")
    assert start_page.locator("fieldset").count() == 0
    start_page.evaluate(OPEN_ALL)
    set_limits(start_page, "1.2", "4")
    start_page.wait_for_selector("#explanation")
    assert "you allow 4." in told(start_page)
    start_page.reload()
    start_page.wait_for_selector("#explanation")
    assert "you allow 8." in told(start_page)
    assert start_page.evaluate(EVERYTHING_KEPT) == []
    assert visit.bodies == []


@pytest.mark.parametrize("text", ["", "-1"])
def test_limit_that_is_no_number_is_not_taken(start_page: Page, text: str) -> None:
    """The browser's own message says so, and the page stays."""
    start_page.evaluate(OPEN_ALL)
    set_limits(start_page, text, "8")

    assert start_page.locator("input:invalid").count() == 1
    assert start_page.locator("#explanation").count() == 1


def test_weak_spec_is_allowed_only_by_the_person(visit: Visit, tampered: str) -> None:
    """Above the default limits the page refuses; whoever allows more sees what it costs before being asked."""
    asked = json.loads(tampered)
    del asked["privacy"]["max_epsilon_total"]
    visit.context.route("**/api/v1/surveys/marriage", lambda route: route.fulfill(body=canonical.dump(asked)))
    page = visit.arrive(f"{visit.site.url}/s/marriage")
    assert "would give away too much: epsilon 4.32, where you allow 3." in page.inner_text("#main .problem")
    page.evaluate(OPEN_ALL)
    set_limits(page, "5", "8")
    page.wait_for_selector("#explanation")

    assert "99 of 100\nsend yes" in page.inner_text("figure")


def test_practice_is_neither_sent_nor_kept(visit: Visit, start_page: Page) -> None:
    """The tally counts real rolls; no request, no entry, no trace once it is left."""
    before = [*visit.paths]
    start_page.click("text=Try it first")
    rolls = start_page.locator("#practice fieldset button")
    rolls.nth(0).click()
    assert re.search(r"The dice send: (Yes|No)", start_page.inner_text("#practice [role=status]"))
    for _ in range(10):
        rolls.nth(2).click()
    rolls.nth(1).click()
    told = start_page.inner_text("#practice [role=status]")
    found = re.search(r"Answer yes: (\d+) of 201 rolls sent yes.\s+Answer no: [01] of 1 rolls sent yes.", told)
    # 201 rolls at 3/4: outside these limits with a probability below 1e-9.
    assert found
    assert 110 < int(found[1]) < 187
    start_page.click("#practice .primary")

    assert "of 201 rolls" not in start_page.content()
    # The parts of the page, and what is kept for visits without a connection: the same for everybody.
    after = {path for path in visit.paths if path not in before}
    assert {path for path in after if not path.startswith(("GET /assets/", "GET /s/sw.js"))} == set()
    assert start_page.evaluate(EVERYTHING_KEPT) == []


@pytest.mark.parametrize(
    ("choices", "words"),
    [((1,), "That is right."), ((0, 1), "That is right."), ((0, 2), "No: chance may change each answer")],
)
def test_check_has_two_tries_and_stays_on_the_device(
    visit: Visit, start_page: Page, choices: tuple[int, ...], words: str
) -> None:
    """Right or wrong, it is told, nothing is sent or kept, and the questions follow."""
    # What is kept for visits without a connection, the same for everybody, is asked for in the background.
    start_page.evaluate(KEPT)
    start_page.click("#explanation .actions .primary")
    start_page.click("#check [type=submit]")
    assert start_page.inner_text(".told") == "Choose an answer."
    before = [*visit.paths]
    for tried, choice in enumerate(choices):
        assert tried == 0 or start_page.inner_text(".told").startswith("Not quite.")
        start_page.check(f"#check input >> nth={choice}")
        start_page.click("#check [type=submit]")
    assert words in start_page.inner_text(".told")
    assert start_page.locator("#check [type=submit]").count() == 0
    start_page.click("#check .primary")
    start_page.wait_for_selector("#q0-0")

    # What a visit ends with is asked for as soon as there is a question, whatever was checked.
    assert [*before, "GET /assets/sending.js"] == visit.paths
    assert start_page.evaluate(EVERYTHING_KEPT) == []


def test_withdrawn_report_is_gone_everywhere(visit: Visit, page: Page) -> None:
    """After asking once more the aggregator deletes it, the browser keeps its cost alone, and nobody is asked again."""
    shown = send(page, *ANSWERS)
    assert shown["id"] in stored(visit.site)
    page.click("text=Withdraw this report")
    assert "You cannot answer again" in page.inner_text("#confirm")
    assert shown["id"] in stored(visit.site)
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    assert "was withdrawn" in page.inner_text("h1")

    assert [json.dumps({"report_id": shown["id"]}, separators=(",", ":"))] == visit.bodies[1:]
    assert shown["id"] not in stored(visit.site)
    kept_apart(visit, page, shown, "withdrawn")


def test_forgotten_report_still_counts(visit: Visit, page: Page) -> None:
    """On a shared phone: wiped from the browser, kept by the aggregator, and no second draw."""
    shown = send(page, *ANSWERS)
    page.click("text=Forget it on this device")
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    assert "wiped" in page.inner_text("#ended")

    assert visit.bodies == [shown["bytes"]]
    assert shown["id"] in stored(visit.site)
    kept_apart(visit, page, shown, "forgotten")


def test_forgotten_survey_is_not_kept_for_later_visits(page: Page) -> None:
    """Not when it is forgotten, and not by the visits that follow."""
    page.evaluate(KEPT)
    send(page, *ANSWERS)
    page.click("text=Forget it on this device")
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    assert page.evaluate(KEPT_SURVEYS) == []
    page.reload()
    page.wait_for_selector("#ended")
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
    page.click("text=Withdraw this report")
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    for question, option in enumerate(ANSWERS):
        second.check(f"#q{question}-{option}")
    second.click("button[type=submit]")
    second.wait_for_selector("table")
    second.click("button.primary")
    second.wait_for_selector("#ended")

    assert len(visit.bodies) == 2


def test_withdrawal_that_is_refused_keeps_the_report(visit: Visit, page: Page) -> None:
    """It is told, and the receipt is still there."""
    shown = send(page, *ANSWERS)
    visit.context.route("**/withdraw", lambda route: route.fulfill(status=409, body='{"code":"closed"}'))
    page.click("text=Withdraw this report")
    page.click("#confirm .primary")
    page.wait_for_selector("#main .problem h1")
    assert "This survey is closed." in page.inner_text("#main .problem")
    page.click("#main .problem button")

    assert shown == receipt(page)
    page.reload()
    assert shown == receipt(page)


def test_second_survey_of_one_server_tells_what_was_spent(visit: Visit, page: Page) -> None:
    """The total per aggregator stands behind a line of the receipt, and of the next survey's first page."""
    send(page, *ANSWERS)
    page.click("text=Show exactly what was sent")
    assert "Spent at this server: 3.99." in page.inner_text("#receipt")
    other = visit.site.survey.canonical.decode().replace('"name":"marriage"', '"name":"other"')
    visit.context.route("**/api/v1/surveys/other", lambda route: route.fulfill(body=other))
    page.goto(f"{visit.site.url}/s/other")
    page.wait_for_selector(READY)

    assert "Spent at this server: 3.99." in told(page)


def test_receipt_explains_itself(page: Page) -> None:
    """What follows from it, and behind a line what was sent, why it may differ, and how to verify it."""
    send(page, *ANSWERS)
    told = page.inner_text("#receipt")
    page.click("text=Show exactly what was sent")
    exact = page.inner_text("#receipt")

    assert "Private answers sent: 4. Chance had a say in each, so none of them proves anything about you." in told
    assert "What chance changes is not your lie." in told
    assert "not shown to you" not in exact
    assert "that is chance protecting you" not in told
    assert "that is chance protecting you" in exact
    assert "Sottovoce program can compare" in exact
