"""A page of another system that asks a single question, in a window or in a frame."""

import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Page

COIN = {"type": "boolean", "name": "cheated", "label": {"en": "Have you ever cheated in an exam?"},
        "mechanism": {"name": "binary_rr", "a": "3/4", "b": "1/4"}}  # fmt: skip

TOGETHER: dict[str, Any] = {
    "block": "intimate",
    "items": [
        {"type": "boolean", "name": name, "label": {"en": f"Have you ever {name}?"}} for name in ("drank", "lied")
    ],
    "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
}

PAGE = """<!doctype html><html lang="{language}"><meta charset="utf-8"><title>Host</title>
<script type="module" src="{frame}element.js"></script>
<script type="module" src="{frame}frame.js"></script>
<script>told = [];
states = [];
addEventListener("sottovoce-state", (event) => states.push(event.detail));
for (const kind of ["record", "unavailable"])
  addEventListener(`sottovoce-${{kind}}`, (event) => told.push([kind, event.detail]));
</script>
<h1>A survey</h1><form id="form" action="sent"><label>Name <input name="nickname"></label>
{questions}<button>Next</button></form>"""

ELEMENT = """<sottovoce-question src="{frame}" mode="{mode}" question='{question}' {attributes}></sottovoce-question>"""


MOVED = 700
"""Milliseconds after which a frame that was moved takes input."""


def element(
    frame: str,
    question: dict[str, Any] | None = None,
    attributes: str = 'participant="p1" study="s"',
    mode: str = "frame",
) -> str:
    """Return the element's tag; ``question`` is a document, by default a coin, ``mode`` the way of asking."""
    return ELEMENT.format(frame=frame, question=json.dumps(question or COIN), attributes=attributes, mode=mode)


def write_host(folder: Path, frame: str, *questions: str, name: str = "index.html", language: str = "en") -> None:
    """Write a host's page of these elements, by default one, whose script comes from the frame's address."""
    tags = "\n".join(questions or [element(frame)])
    (folder / name).write_text(PAGE.format(frame=frame, questions=tags, language=language), encoding="utf-8")


def frame_of(page: Page, number: int = 0) -> Frame:
    """Return the frame of a question on the page, once it has made up its mind."""
    page.wait_for_function("n => document.querySelectorAll('sottovoce-question').length > n", arg=number)
    place = page.locator("sottovoce-question").nth(number).locator("iframe")
    frame = place.element_handle().content_frame()
    assert frame is not None
    frame.wait_for_selector("form, .problem p, h1")
    return frame


def window_of(page: Page, number: int = 0) -> Page:
    """Press the button of a question on the page, and return its window, once that has made up its mind."""
    page.wait_for_function("n => document.querySelectorAll('sottovoce-question').length > n", arg=number)
    with page.context.expect_page() as opened:
        page.locator("sottovoce-question").nth(number).locator("button").click()
    window = opened.value
    window.wait_for_selector("form, .problem p")
    return window


def answer_in_window(window: Page, option: int = 1) -> None:
    """Choose an option, if there are any, and send; the window closes itself."""
    if window.locator("input").count():
        window.locator(f"#answer-{option}").check()
    with window.expect_event("close"):
        window.locator(".ending .primary").click()


def answer(frame: Frame, option: int = 1) -> None:
    be_still(frame)
    frame.locator(f"#answer-{option}").check()
    frame.locator("button").click()
    frame.wait_for_selector("h1")


def answer_both(frame: Frame) -> None:
    """Choose yes to the first question of a block and no to the second, and press the button."""
    be_still(frame)
    frame.locator("#answer-1").check()
    frame.locator("#answer1-0").check()
    frame.locator("button").click()
    frame.wait_for_selector("h1")


def be_still(frame: Frame) -> None:
    """Bring the whole frame into view, or it takes no answer; wait: Chromium drops input to a frame that just moved."""
    if isinstance(frame, Frame):
        frame.frame_element().scroll_into_view_if_needed()
    frame.wait_for_selector("fieldset:enabled")
    frame.page.wait_for_timeout(MOVED)
