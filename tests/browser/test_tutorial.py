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


@pytest.mark.slow
def test_steps_can_be_done(browser: Browser, tmp_path: Path) -> None:
    """From an instance without a survey to a downloaded file, each step as its text says, with its picture taken."""
    taken = []

    def take(step: Step, reader: Reader) -> None:
        taken.append(picture(reader.looking_at(step), step, tmp_path))

    walk(browser, tmp_path, take)

    assert [path.name for path in taken] == [f"tutorial-{step.name}.png" for step in steps()]
    assert min(path.stat().st_size for path in taken) > 10_000


IN_THE_STUDIO = ({"open": "the sign-in link"}, {"click": "Sign in"}, {"click": "New survey"},
                 {"click": "Create draft One question about exams"}, {"press": "Start a test run"},
                 {"click": "/s/one-question"})  # fmt: skip
IN_THE_FORM = ({"click": "Begin"}, {"answer": "first"},
               {"click": "Send"}, {"see": "Your answers have arrived"})  # fmt: skip
ON_RESULTS = (
    {"back": "over the steps of the form"},
    {"back": "to the results of the test run"},
    {"see": "Reports on this question: 1."},
)
MOST_CLICKS = 11

COUNT_PRESSES = """
    const count = (event) => { if (event.isTrusted) window.pressed(event.type); };
    addEventListener("pointerdown", count, true);
    addEventListener("keydown", (event) => { if (["Enter", " "].includes(event.key)) count(event); }, true);
"""


def test_own_report_is_on_results_after_few_clicks(browser: Browser, tmp_path: Path) -> None:
    """From an instance without a survey, by a template and its try-out; the browser's way back is a click too."""
    pressed: list[str] = []
    with reading(browser, tmp_path) as reader:
        context = reader.page().context
        context.expose_binding("pressed", lambda _, how: pressed.append(how))
        context.add_init_script(COUNT_PRESSES)
        reader.do(Step("first", "", "", (*IN_THE_STUDIO, *IN_THE_FORM, *ON_RESULTS)))
    back = [action for action in ON_RESULTS if "back" in action]
    told = [action for action in (*IN_THE_STUDIO, *IN_THE_FORM) if action.keys() & {"click", "press", "answer"}]

    # Each of these is one press at least: a count that misses some would let the way grow.
    assert len(told) < len(pressed) <= MOST_CLICKS - len(back)
