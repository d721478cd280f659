"""What is shown but not simply asked: conditions, refusals, notes, matrices, coins of one's own."""

import json

import pytest
from playwright.sync_api import Page
from sottovoce.shared.parse_survey import parse_survey

from tests.absences import by_hand, habits
from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.states import FILLED, OPEN_ALL
from tests.browser.test_access import barriers, violations
from tests.browser.visit import Visit, begin, publish, receipt, stored
from tests.conftest import Running
from tests.documents import survey


@pytest.fixture(scope="session")
def shown(site: Running) -> Running:
    return publish(site, parse_survey({**survey(*habits()), "name": "habits"}))


@pytest.fixture(scope="session")
def tossed(site: Running) -> Running:
    asked = survey(*by_hand(), privacy={"procedure": "own_coin"}, report_labels="neutral")
    return publish(site, parse_survey({**asked, "name": "tossed"}))


@pytest.fixture
def visitor(new_context: NewContext, shown: Running) -> Visit:
    return Visit(new_context(viewport=VIEWPORT), shown)


def visible(page: Page) -> list[str]:
    """The legends that can be seen, without their numbers."""
    legends = page.locator("form legend:visible")
    return [text.splitlines()[-1] for text in legends.all_inner_texts()]


def answer_rest(page: Page) -> None:
    for question in range(2, 5):
        page.check(f"#q{question}-absent")
    page.check("#q6-absent")
    page.check("#q7-absent")


def finish(page: Page) -> dict[str, str]:
    """Send; returns the receipt."""
    page.click("#questions [type=submit]")
    return receipt(page)


def test_questions_appear_and_vanish_with_the_answers_before_them(visitor: Visit) -> None:
    page = visitor.open()
    first = visible(page)
    page.check("#q0-1")
    page.fill("#q1-0", "25")
    with_help = visible(page)
    page.check("#q0-0")
    hidden = visible(page)
    page.check("#q0-1")

    assert "How many cigarettes a day?" not in first
    assert with_help[:3] == [
        "Do you smoke?",
        "How many cigarettes a day?",
        "Help with quitting is free: ask any pharmacy.",
    ]
    assert hidden == first
    assert visible(page) == with_help
    assert page.input_value("#q1-0") == "25"


def numbers(page: Page) -> list[str]:
    return page.locator("form legend:visible .number").all_inner_texts()


def test_numbers_neither_jump_nor_change_when_a_question_comes_or_goes(visitor: Visit) -> None:
    """What everybody is asked is counted; what comes with an answer is a further question."""
    page = visitor.open()
    before = numbers(page)
    page.check("#q0-1")
    with_more = numbers(page)
    counted = [text for text in with_more if text != "Further question"]

    assert [f"{number} of {len(before)}" for number in range(1, len(before) + 1)] == before
    assert counted == before
    assert len(with_more) > len(before)
    assert with_more[1] == "Further question"


def test_page_says_that_nothing_is_kept_before_sending(visitor: Visit) -> None:
    page = visitor.arrive()
    page.evaluate(OPEN_ALL)
    page.wait_for_function(FILLED)
    told = page.inner_text("main")
    begin(page)
    page.check("#q0-1")
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    page.wait_for_selector("#explanation")
    begin(page)

    assert "No answer is kept before you send." in told
    assert page.locator("input:checked").count() == 0


def test_hidden_question_still_sends_a_report_of_the_same_length(new_context: NewContext, shown: Running) -> None:
    lengths = set()
    for smokes in (0, 1):
        context = new_context(viewport=VIEWPORT)
        page = Visit(context, shown).open()
        page.check(f"#q0-{smokes}")
        if smokes:
            page.fill("#q1-0", "3")
        answer_rest(page)
        shown_receipt = finish(page)
        values = stored(shown)[shown_receipt["id"]]
        assert len(values) == len(shown.survey.questions)
        assert None not in values
        lengths.add(len(shown_receipt["bytes"]))
    assert lengths == {len(shown_receipt["bytes"])}


def test_refusing_is_an_answer_and_saying_nothing_is_none(visitor: Visit) -> None:
    page = visitor.open()
    page.check("#q0-absent")
    answer_rest(page)
    page.uncheck("#q7-absent")
    page.click("button[type=submit]")
    told = page.locator(".problem li").all_inner_texts()
    page.check("#q7-absent")
    shown = finish(page)
    values = stored(visitor.site)[shown["id"]]

    assert [text.splitlines()[0].startswith("How many glasses a week? – Wine") for text in told] == [True]
    assert len(values) == len(visitor.site.survey.questions)
    assert visitor.complaints == []


def test_refusing_puts_a_number_aside(visitor: Visit) -> None:
    page = visitor.open()
    page.fill("#q6-0", "99")
    page.check("#q6-absent")
    page.click("button[type=submit]")

    assert page.is_disabled("#q6-0")
    assert page.get_attribute("#q6-0", "aria-invalid") is None
    assert page.locator("#q6-fault").is_hidden()
    page.uncheck("#q6-absent")
    assert page.is_enabled("#q6-0")


def test_acknowledging_is_needed_and_never_sent(visitor: Visit) -> None:
    page = visitor.open()
    page.check("#q0-1")
    page.fill("#q1-0", "40")
    answer_rest(page)
    page.click("button[type=submit]")
    told = page.locator(".problem li").inner_text()
    page.click(".problem li button")
    focused = page.evaluate("document.activeElement.id")
    page.check("#a3")
    shown = finish(page)

    assert "Tick this to go on." in told
    assert focused == "a3"
    body = json.loads(shown["bytes"])
    assert set(body) == {"format", "survey", "digest", "wave", "report_id", "values"}
    assert len(body["values"]) == len(visitor.site.survey.questions)


def test_nobody_need_acknowledge_what_is_hidden(visitor: Visit) -> None:
    page = visitor.open()
    page.check("#q0-0")
    answer_rest(page)
    page.click("#questions [type=submit]")
    receipt(page)


def test_matrix_has_a_group_for_each_row(visitor: Visit) -> None:
    """Screen readers hear the matrix, the row and the mark; every target is at least 24 pixels high."""
    page = visitor.open()
    matrix = page.get_by_role("group", name="How often have you taken these?")
    row = matrix.get_by_role("group", name="Sleeping pills")

    assert row.get_by_role("radio").count() == 4
    assert row.get_by_role("radio", name="Often").get_attribute("id") == "q3-2"
    assert "Without a prescription." in matrix.inner_text()
    sizes = page.locator("form input:visible").evaluate_all(
        "all => all.map((one) => one.closest('label') ?? one).map((one) => one.getBoundingClientRect().height)"
    )
    assert min(sizes) >= 24


def test_items_have_no_barrier(new_context: NewContext, shown: Running, axe: str) -> None:
    context = new_context(bypass_csp=True, reduced_motion="reduce", viewport=VIEWPORT)
    page = Visit(context, shown).open()
    page.check("#q0-1")
    page.fill("#q1-0", "25")
    page.check("#q2-2")
    page.click("button[type=submit]")
    found = barriers(page, axe)

    assert found == []


def test_own_coins_are_told_and_their_result_is_sent_as_typed(
    new_context: NewContext, tossed: Running, axe: str
) -> None:
    """Instructions from the channel, one toss for each row, neutral names, and not one value changed."""
    for round_ in range(3):
        context = new_context(viewport=VIEWPORT, bypass_csp=True, reduced_motion="reduce")
        visitor = Visit(context, tossed)
        page = visitor.open()
        coin, die = page.locator(".by-hand").all_inner_texts()
        chosen = (round_ % 2, 1, 0)
        for question, option in enumerate(chosen):
            page.check(f"#q{question}-{option}")
        found = violations(page, axe)
        page.click("#questions [type=submit]")
        shown = receipt(page)
        named = page.locator("tbody td").all_text_contents()

        assert found == []
        assert stored(tossed)[shown["id"]] == list(chosen)
        assert named == [f"Answer {'AB'[1 - option]}" for option in chosen]
    assert "On tails, then heads: choose yes, whatever is true." in coin
    assert "For each line by itself: Throw a die once" in die
    assert "On 5 to 6: choose the opposite of your true answer." in die


def test_instructions_are_told_again_in_another_language(new_context: NewContext, tossed: Running) -> None:
    """What a coin shows is a word of its own language, also after the choice of another."""
    context = new_context(viewport=VIEWPORT)
    page = Visit(context, tossed).open()
    page.select_option("select", "de")
    page.wait_for_selector("text=Bei Zahl, dann Kopf")
    said = page.locator(".by-hand").first.inner_text()

    assert "tails" not in said
