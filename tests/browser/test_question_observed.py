"""Recorders on a page see the same whatever is answered in the frame of a single question."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from sottovoce.shared.single_question import parse_asked

from tests.browser.conftest import NewContext
from tests.browser.question_host import MOVED, be_still, element, frame_of, write_host

RRWEB = Path(__file__).parent / "node_modules" / "rrweb" / "dist" / "rrweb.umd.min.cjs"

WATCH = """() => {
  seen = { replay: [], events: [], changes: [], sizes: [] };
  rrweb.record({ emit: (event) => seen.replay.push(event), recordCrossOriginIframes: true, recordCanvas: true });
  const kinds = Object.keys(window).filter((key) => key.startsWith("on") && !key.startsWith("ondevice"));
  for (const type of ["focusin", "focusout", ...kinds.map((key) => key.slice(2))]) {
    const note = ({ target, data, key }) => {
      seen.events.push([type, target?.nodeName ?? "window", key ?? null, data ?? null]);
    };
    for (const place of [window, document]) place.addEventListener(type, note, true);
  }
  new MutationObserver((all) => seen.changes.push(...all.map(({ type, target }) => [type, target.nodeName])))
    .observe(document, { attributes: true, characterData: true, childList: true, subtree: true });
  const note = (all) => seen.sizes.push(...all.map((one) => [one.target.nodeName, one.contentRect.height]));
  const sizes = new ResizeObserver(note);
  for (const node of [document.body, ...document.querySelectorAll("sottovoce-question")]) sizes.observe(node);
}"""
"""Everything that a page can note of what people do on it; a machine's motion sensors speak at any time."""

SIX = {"type": "select_one", "name": "did", "label": {"en": "Which of these did you do?"},
       "choices": [{"name": f"o{number}", "label": {"en": f"Option {number}"}} for number in range(6)],
       "mechanism": {"name": "kary_rr", "epsilon": "1"}}  # fmt: skip

OWN = """<label><input type="radio" name="q">Yes</label><label><input type="radio" name="q">No</label>
<button type="button" onclick="dispatchEvent(new Event('message'))">Send</button>"""
"""The same question in the page itself."""


def seen(page: Page, key: str) -> Any:
    """Return what the page noted while one option was chosen by one key and handed over by another.

    A key is held until the focus has moved: on a busy machine, the page or the frame may see it let go.
    """
    page.mouse.move(5, 5)
    page.wait_for_timeout(200)
    page.add_script_tag(content=RRWEB.read_text(encoding="utf-8"))
    page.evaluate(WATCH)
    page.locator("input[name=nickname]").focus()
    for each in ("Tab", key, "Tab", "Enter"):
        finish_frames(page)
        page.keyboard.down(each)
        finish_frames(page)
        page.keyboard.up(each)
    page.wait_for_timeout(400)
    finish_frames(page)
    return plain(page.evaluate("seen"))


def finish_frames(page: Page) -> None:
    """Wait until the page has told its listeners what it tells them later, such as `selectionchange`."""
    page.wait_for_timeout(150)
    page.evaluate("""async () => {
      for (let n = 0; n < 2; n += 1) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }""")


def plain(value: Any) -> Any:
    """Return the same without times, and with one record for every other."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        if value.get("type") == "sottovoce:record":
            return "record"
        return {key: plain(each) for key, each in value.items() if key not in {"timestamp", "timeOffset", "now"}}
    return value


@pytest.mark.parametrize("size", [(1280, 720), (320, 568)])
def test_recorders_see_the_same_for_yes_and_no(
    new_context: NewContext, tmp_path: Path, host: str, place: str, size: tuple[int, int]
) -> None:
    """Session replay, capturing listeners for every event, and observers of changes and sizes."""
    noted = []
    for key in ("Space", "ArrowDown"):
        page = new_context(viewport={"width": size[0], "height": size[1]}).new_page()
        write_host(tmp_path, place, element(place))
        page.goto(host)
        frame = frame_of(page)
        be_still(frame)
        noted.append(seen(page, key))
        assert frame.locator("h1").count() == 1
    one, other = noted
    assert '"record"' in json.dumps(one["events"])
    assert len(one["replay"]) > 2
    assert one == other


def test_recorders_tell_answers_apart_in_the_page_itself(new_context: NewContext, tmp_path: Path, host: str) -> None:
    """So the test above can fail."""
    noted = []
    for key in ("Space", "ArrowDown"):
        page = new_context().new_page()
        write_host(tmp_path, "/none/", OWN)
        page.goto(host)
        noted.append(seen(page, key))
    assert noted[0] != noted[1]


SCROLLED = """() => {
  moves = [];
  addEventListener("scroll", () => moves.push(scrollY), true);
}"""


@pytest.mark.parametrize("way", ["keyboard", "mouse"])
def test_page_around_a_frame_in_half_view_does_not_move_to_the_option(
    new_context: NewContext, tmp_path: Path, host: str, place: str, way: str
) -> None:
    """It shows the whole frame first, whichever option follows; a press before that is not taken."""
    above, below = (f'<div style="height: {height}px"></div>' for height in (235, 900))
    noted = []
    for option in (0, 4):
        page = new_context(viewport={"width": 800, "height": 600}).new_page()
        write_host(tmp_path, place, above, element(place, dict(parse_asked(SIX).document)), below)
        page.goto(host)
        frame = frame_of(page)
        page.wait_for_timeout(MOVED)
        page.evaluate(SCROLLED)
        if way == "mouse":
            box = frame.locator("label.option").nth(option).bounding_box()
            assert box
            assert box["y"] + box["height"] > 600 or option == 0
            page.mouse.click(box["x"] + 100, box["y"] + 10)
        else:
            page.locator("input[name=nickname]").focus()
            page.keyboard.press("Tab")
            frame.wait_for_selector("fieldset:enabled")
            page.wait_for_timeout(MOVED)
            for key in ["Shift+Tab", "Shift+Tab", "Space", *["ArrowDown"] * option]:
                page.keyboard.press(key)
        finish_frames(page)
        assert frame.locator("input:checked").count() == (way == "keyboard")
        noted.append(page.evaluate("moves"))
    assert noted[0] == noted[1]
    assert noted[0] != []
