"""A long form comes in sections, each with its own progress; nothing outside the page can tell what was answered."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sottovoce.shared.parse_survey import parse_survey

from tests.absences import COIN, asks
from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.test_access import barriers
from tests.browser.visit import Visit, add_draft, begin, publish, receipt, sign_in
from tests.conftest import Running
from tests.documents import Document, survey

NEXT = "#questions [type=submit]"
TEXTS = {"work": 5, "home": 9}
"""Before which question each text of the survey stands."""
FOCUSED = "document.activeElement.textContent"


def yes_no(count: int, **more: Any) -> list[Document]:
    return [asks("boolean", f"q{number}", public=True, **more) for number in range(count)]


def long_form() -> list[Document]:
    """Fourteen questions in three sections, the first with two that only some are asked; the last is private."""
    questions = [*yes_no(13), asks("boolean", "last", mechanism=COIN)]
    for name, before in reversed(TEXTS.items()):
        questions.insert(before, asks("note", name))
    further = [
        asks("boolean", f"more{number}", public=True, when_absent="no", visible_if={"q0": "yes"}) for number in range(2)
    ]
    return [*questions[:1], *further, *questions[1:]]


@pytest.fixture(scope="session")
def long(site: Running) -> Running:
    return publish(site, parse_survey(survey(*long_form(), name="sections", title={"en": "Long", "ar": "طويل"})))


def answer(page: Page, choice: int = 0) -> None:
    """Answer every question in sight, those that come with an answer included."""
    while page.locator("form fieldset:visible:not(:has(:checked))").count():
        page.locator("form fieldset:visible:not(:has(:checked)) input").nth(choice).check()


def sent(page: Page) -> list[int]:
    return list(json.loads(receipt(page)["bytes"])["values"])


def heads(page: Page) -> list[str]:
    """The heading of the section in sight, and the number of each question."""
    numbers = page.locator("form .number:visible").all_inner_texts()
    return [*page.locator("form h2:visible").all_inner_texts(), *numbers]


def test_each_section_has_its_own_progress(new_context: NewContext, long: Running, axe: str) -> None:
    page = Visit(new_context(viewport=VIEWPORT, bypass_csp=True), long).open()
    sizes = (5, 4, 5)
    for index, size in enumerate(sizes):
        head = f"Part {index + 1} of 3"
        assert heads(page) == [head, *(f"{number} of {size}" for number in range(1, size + 1))]
        assert page.locator("progress:visible").evaluate("bar => [bar.value, bar.max]") == [index + 1, 3]
        assert page.inner_text(NEXT) == ("Send" if index == 2 else "Next")
        assert page.get_by_role("button", name="Go back").count() == min(index, 1)
        assert page.title() == f"{head} – Long"
        assert page.evaluate(FOCUSED) == (head if index else "Long")
        assert barriers(page, axe) == []
        answer(page, 1)
        page.click(NEXT)
    receipt(page)


def test_section_is_left_only_with_its_answers(new_context: NewContext, long: Running) -> None:
    page = Visit(new_context(), long).open()
    page.check("#q0-1")
    page.click(NEXT)

    assert heads(page)[0] == "Part 1 of 3"
    expect(page.locator("#questions > .problem li")).to_have_count(4 + 2)
    answer(page)
    expect(page.locator("#questions > .problem")).to_be_hidden()
    page.click(NEXT)
    assert heads(page)[0] == "Part 2 of 3"


def test_nothing_outside_tells_what_was_answered(new_context: NewContext, long: Running) -> None:
    """With and without further questions: one request from the first section on, and as many entries of history."""
    seen = set()
    for choice in (0, 1):
        visit = Visit(new_context(), long)
        page = visit.arrive()
        page.wait_for_load_state("networkidle")
        before = len(visit.paths)
        begin(page)
        lengths = []
        for _ in range(3):
            answer(page, choice)
            lengths.append(page.evaluate("history.length"))
            page.click(NEXT)
        values = sent(page)

        assert values[:-1] == [1 - choice] * (2 + 13)
        seen.add((*lengths, *visit.paths[before:]))
    assert len(seen) == 1
    assert [path for path in seen.pop() if isinstance(path, str)] == ["POST /api/v1/surveys/sections/reports"]


def test_back_and_forward_keep_what_was_chosen(new_context: NewContext, long: Running) -> None:
    """By the button and by the browser; what is passed over by Forward is shown before anything is sent."""
    visit = Visit(new_context(), long)
    page = visit.open()
    answer(page, 1)
    page.click(NEXT)
    answer(page)
    page.click(NEXT)
    answer(page)
    page.get_by_role("button", name="Go back").click()
    expect(page.locator("form h2:visible")).to_have_text("Part 2 of 3")
    page.go_back()
    assert heads(page)[0] == "Part 1 of 3"
    page.check("#q0-1")
    page.go_forward()
    page.go_forward()
    expect(page.locator("form h2:visible")).to_have_text("Part 3 of 3")
    page.click(NEXT)

    expect(page.locator("form h2:visible")).to_have_text("Part 1 of 3")
    expect(page.locator("#questions > .problem li")).to_have_count(2)
    expect(page.locator("#questions > .problem")).to_be_focused()
    assert visit.bodies == []
    answer(page)
    for _ in range(3):
        page.click(NEXT)
    assert sent(page)[:3] == [1, 1, 1]
    # An entry more would tell that a further question was shown.
    assert page.evaluate("[history.state.step, history.state.behind, history.length]") == [4, 4, 6]
    page.go_back()
    receipt(page)


def test_section_says_only_what_is_in_it(new_context: NewContext, long: Running) -> None:
    page = Visit(new_context(), long).open()
    odds = page.locator("#questions > .odds")
    expect(odds).to_be_hidden()
    page.check("#q0-1")
    expect(page.locator("form [role=status]")).to_contain_text("More1")
    answer(page)
    page.click(NEXT)
    expect(page.locator("form [role=status]")).to_be_empty()
    answer(page)
    page.click(NEXT)
    expect(odds).to_be_visible()


def test_reload_begins_anew_and_asks_before(new_context: NewContext, long: Running) -> None:
    page = Visit(new_context(), long).open()
    answer(page)
    page.click(NEXT)
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept())[1])
    page.reload()
    begin(page)

    assert asked == ["beforeunload"]
    assert heads(page)[0] == "Part 1 of 3"
    assert page.locator("form :checked").count() == 0


@pytest.mark.parametrize(
    ("questions", "more", "sizes"),
    [
        (yes_no(12), {}, []),
        (yes_no(13), {}, [7, 6]),
        (yes_no(24), {}, [8, 8, 8]),
        ([*yes_no(2), asks("note", "early"), *yes_no(13)[2:]], {}, [7, 6]),
        (long_form(), {"order": "random"}, [7, 7]),
        ([*long_form(), asks("boolean", "other", mechanism=COIN)], {"ask": 1}, [5, 4, 5]),
    ],
    ids=["short", "just long", "longer", "early text", "drawn order", "drawn questions"],
)
def test_sections_are_those_of_the_survey(
    new_context: NewContext, site: Running, questions: list[Document], more: dict[str, Any], sizes: list[int]
) -> None:
    """A short form has none; without texts, and where order is drawn, they are equal; a handful begins none."""
    asked = survey(*questions, name=f"form-{len(questions)}-{'-'.join(more)}", **more)
    page = Visit(new_context(), publish(site, parse_survey(asked))).open()
    texts = page.locator("form > div:not(.bar)").all()
    found = [text.locator(".number").all_text_contents() for text in texts]

    assert [sum(" of " in number for number in numbers) for numbers in found] == sizes
    assert page.inner_text(NEXT) == ("Next" if sizes else "Send")


def test_preview_goes_to_a_question_of_a_later_section(new_context: NewContext, site: Running) -> None:
    add_draft(site, survey(*yes_no(13), name="long-drafted"))
    page = sign_in(new_context(), site)
    page.goto(f"{site.url}/dashboard/surveys/long-drafted/preview/s/long-drafted?at=12")
    expect(page.locator("#q12-label")).to_be_visible()
    page.evaluate("postMessage(1, '*')")
    expect(page.locator("#q1-label")).to_be_visible()
    expect(page.locator("#q12-label")).to_be_hidden()
