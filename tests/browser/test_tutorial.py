"""The tutorial can be followed: its steps are done in a browser, and the page says what is done."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.tutorial import PICTURES, TEXT, Reader, Step, picture, reading, steps, text, walk, words


def test_page_is_made_of_the_steps() -> None:
    """Written anew by ``python -m tests.browser.tutorial``, which takes the pictures too; none is left over."""
    assert TEXT.read_text(encoding="utf-8") == text()
    assert {path.name for path in PICTURES.glob("tutorial-*")} == {f"tutorial-{step.name}.png" for step in steps()}


@pytest.mark.parametrize("step", steps(), ids=lambda step: step.name)
def test_text_names_whatever_is_pressed_filled_in_and_looked_at(step: Step) -> None:
    """In bold or italics; a longer name may be shortened, and "Saved." is on every page that saves."""
    told = words(step.text)
    named = [
        action.get("in", "").partition(" (")[0] or what
        for action in step.actions
        for verb, what in [next(iter(action.items()))]
        if verb in {"click", "choose", "see", "download", "type", "select", "press"} and what != "Saved."
    ]

    assert [name for name in named if not any(name in each or each in name for each in told)] == []
    assert "see" in step.actions[-1]


def test_steps_can_be_done(browser: Browser, tmp_path: Path) -> None:
    """From an instance without a survey to a downloaded file, each step as its text says, with its picture taken."""
    taken = []

    def take(step: Step, reader: Reader) -> None:
        taken.append(picture(reader.looking_at(step), step, tmp_path))

    walk(browser, tmp_path, take)

    assert [path.name for path in taken] == [f"tutorial-{step.name}.png" for step in steps()]
    assert min(path.stat().st_size for path in taken) > 10_000


AT_THE_DESK = ({"click": "Sign in"}, {"click": "Surveys"}, {"click": "New survey"}, {"choose": "Studying and exams"},
               {"click": "Begin"}, {"press": "Try out"})  # fmt: skip
ON_THE_PHONE = ({"click": "Begin"}, {"click": "To the questions"}, {"answer": "first"}, {"click": "Continue"},
                {"click": "Send"}, {"see": "Your report has arrived"})  # fmt: skip
MOST_CLICKS = 12


def test_own_report_is_on_results_after_few_clicks(browser: Browser, tmp_path: Path) -> None:
    """From an instance without a survey, by a template and its try-out; answering the form is not counted."""
    phone = [{**action, "device": "telephone"} for action in ON_THE_PHONE]
    before = ({"open": "the sign-in link"}, *AT_THE_DESK, {"open": "the try-out's link", "device": "telephone"})
    last = ({"again": "the page"}, {"click": "Results of"}, {"see": "Reports on this question: 1."})
    with reading(browser, tmp_path) as reader:
        reader.do(Step("first", "", "", (*before, *phone, *last)))
    pressed = [action for action in (*before, *last) if action.keys() & {"click", "choose", "press"}]

    assert len(pressed) <= MOST_CLICKS
