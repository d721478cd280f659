"""A survey with every question type and every mechanism: asked, checked, sent, and told in words."""

import pytest
from playwright.sync_api import Page
from sottovoce.shared.mechanisms import MECHANISMS
from sottovoce.shared.mechanisms.base import Mask
from sottovoce.shared.spec import Question

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.test_access import barriers
from tests.browser.visit import Visit, begin, receipt, stored
from tests.conftest import Running

CHECKED = ("q0-1", "q1-2", "q2-4", "q3-7", "q4-0", "q4-5", "q5-3", "q11-7", "q14-1", "q15-1", "q16-2")
TYPED = {"q6-0": "0", "q7-0": "9.5", "q8-0": " 10 ", "q9-0": "-0.3", "q9-1": "1", "q10-0": "2", "q12-0": "45"}
TYPED |= {"q13-0": "1.75", "q17-0": "2020-03-02"}


@pytest.fixture
def visitor(new_context: NewContext, every: Running) -> Visit:
    return Visit(new_context(viewport=VIEWPORT, bypass_csp=True, reduced_motion="reduce"), every)


def fill(page: Page) -> None:
    """Answer every question, section by section."""
    for target in sorted([*CHECKED, *TYPED], key=lambda target: int(target[1:].split("-")[0])):
        if not page.locator(f"#{target}").is_visible():
            go_on(page)
        if target in TYPED:
            page.fill(f"#{target}", TYPED[target])
        else:
            page.check(f"#{target}")


def go_on(page: Page) -> None:
    page.click("#questions [type=submit]")
    page.locator("progress >> visible=true").wait_for()


def told(question: Question, value: int) -> str:
    labels = [choice.label["en"] for choice in question.choices] or ["No", "Yes"]
    grid, name = question.domain.grid, getattr(question.mechanism, "name", "")

    def at(step: int) -> str:
        assert grid is not None
        return grid.text(step)

    if isinstance(question.mechanism, Mask):
        return "; ".join(label for j, label in enumerate(labels) if value >> j & 1) or "none of them"
    if name.startswith("sampled"):
        bit = {"sampled_option": ("No", "Yes"), "sampled_coordinate": ("low", "high")}[name][value % 2]
        return f"{labels[value // 2]}: {bit}"
    if name == "rounding_rr":
        return ("low", "high")[value]
    if name in {"level_table", "hadamard_response"}:
        return f"mark {value + 1} of {question.largest + 1}"
    if name == "square_wave":
        # 21 numbers in 7 ranges of 3, and 2 ranges beyond either end.
        first = 3 * (value - 2)
        return f"{at(first)} to {at(first + 2)}"
    return labels[value] if grid is None else at(value)


def test_survey_has_every_mechanism(every: Running) -> None:
    """What this file promises to try."""
    assert set(MECHANISMS) == {question.mechanism.name for question in every.survey.questions if question.mechanism}


def boxes(page: Page) -> list[tuple[str | None, float, float]]:
    fields = page.locator("fieldset input:not([type=radio], [type=checkbox]):visible").all()
    return [(field.get_attribute("type"), *(box["width"], box["height"])) for field in fields
            if (box := field.bounding_box())]  # fmt: skip


def test_fields_have_names_and_room_and_the_receipt_tells_what_is_stored(visitor: Visit) -> None:
    """A date shows what it holds no less than a number; every field is as high as a finger is wide."""
    page = visitor.open()
    days = page.get_by_role("textbox", name="On how many days a month?")
    west = page.get_by_role("group", name="Where do you stand?").get_by_role("textbox", name="Left (-1) to right (1)")
    assert days.get_attribute("inputmode") == "numeric"
    assert "q6-note" in (days.get_attribute("aria-describedby") or "")
    assert page.inner_text("#q6-note") == "A number from 0 to 30."
    assert page.get_by_role("group", name="Which of these?").get_by_role("checkbox").count() == 6
    shown = boxes(page)
    fill(page)
    assert west.get_attribute("inputmode") == "text"
    shown += boxes(page)
    assert {"text", "date"} <= {kind for kind, _, _ in shown}
    assert all(width >= 160 and height >= 44 for _, width, height in shown)

    page.click("#questions [type=submit]")
    shown = receipt(page)
    values = stored(visitor.site)[shown["id"]]

    words = page.locator("tbody td").all_text_contents()
    assert [told(*pair) for pair in zip(visitor.site.survey.questions, values, strict=True)] == words
    assert words[12:15] == ["45", "1.75", "Seldom"]
    assert visitor.complaints == []


def test_what_does_not_fit_is_told(visitor: Visit) -> None:
    """What fits is not complained about; a number between two steps is counted as the nearer one."""
    page = visitor.open()
    fill(page)
    page.go_back()
    assert "Choose up to 3, or none." in page.locator("fieldset").nth(4).inner_text()
    for option in (1, 2):
        page.check(f"#q4-{option}")
    page.click("button[type=submit]")
    assert page.locator(".missing:visible").all_text_contents() == ["Choose no more than 3."]
    assert "Choose no more than 3." in page.inner_text(".problem li")
    for option in (1, 2):
        page.uncheck(f"#q4-{option}")
    page.fill("#q7-0", "1.7")
    assert "Counted as 1.5." in page.locator("fieldset", has=page.locator("#q7-0")).last.inner_text()
    page.fill("#q7-0", ".5")
    assert "Counted as" not in page.inner_text("#questions")
    for target, text, words in [
        ("q7-0", "-0.25", "Enter a number from 0 to 10."),
        ("q7-0", "", "Enter a number from 0 to 10."),
        ("q7-0", "1,000", "Enter a number from 0 to 10."),
        ("q6-0", "31", "Enter a number from 0 to 30."),
        ("q6-0", "1e1", "Enter a number from 0 to 30."),
        ("q9-1", "-1.1", "Enter a number from -1 to 1."),
    ]:
        if not page.locator(f"#{target}").is_visible():
            go_on(page)
        page.fill(f"#{target}", text)
        page.click("button[type=submit]")

        assert page.locator(".missing:visible").all_text_contents() == [words], text
        assert words in page.inner_text(".problem li")
        assert page.locator("[aria-invalid=true]").get_attribute("id") == target
        page.click(".problem li button")
        assert page.evaluate("document.activeElement.id") == target
        page.fill(f"#{target}", TYPED[target])
    page.keyboard.press("Enter")
    receipt(page)
    assert len(visitor.bodies) == 1


def test_answers_are_forgotten(visitor: Visit) -> None:
    page = visitor.open()
    fill(page)
    page.goto("about:blank")
    page.go_back()
    begin(page)

    assert page.locator("input:checked").count() == 0
    assert set(page.locator("[type=text]").evaluate_all("all => all.map((one) => one.value)")) == {""}


def test_every_type_has_no_barrier(visitor: Visit, axe: str) -> None:
    page = visitor.open()
    found = barriers(page, axe)
    page.click("button[type=submit]")
    found += barriers(page, axe)
    fill(page)
    found += barriers(page, axe)
    page.click("#questions [type=submit]")
    receipt(page)

    assert found + barriers(page, axe) == []


def test_rating_is_a_row_where_there_is_room(new_context: NewContext, every: Running) -> None:
    """Five marks side by side on a wide screen, which nothing makes wider."""
    context = new_context(viewport={"width": 960, "height": 720})
    page = Visit(context, every).open()
    tops = page.locator("#q2-label").evaluate(
        "label => [...label.closest('fieldset').querySelectorAll('input')].map((i) => i.getBoundingClientRect().top)"
    )
    width = page.evaluate("document.documentElement.scrollWidth")

    assert len(tops) == 5
    assert len(set(tops)) == 1
    assert width == 960
