"""One private question in a window of its own: what Chromium alone is asked; the rest stands in test_three_browsers."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from sottovoce.client.question_page import question_files
from sottovoce.shared.single_question import parse_question

from tests.browser.conftest import NewContext, Show
from tests.browser.hosts import serving
from tests.browser.question_host import COIN, TOGETHER, answer_in_window, element, window_of, write_host
from tests.browser.test_question import checked, told

LANGUAGES = ["en", "ar", "de", "es", "fr", "hi", "it", "pt", "zh-Hans"]


def in_window(place: str, question: dict[str, Any] | None = None, attributes: str = 'participant="p1"') -> str:
    """Return an element that asks in a window."""
    return element(place, question, attributes, "window")


@pytest.fixture
def asking(tab: Page, show: Show, place: str) -> Page:
    show(in_window(place))
    tab.wait_for_function("states.length > 0")
    return tab


def record_of(page: Page) -> dict[str, Any]:
    """Return the one record that the page got, whatever it heard before."""
    page.wait_for_function("told.some(([kind]) => kind === 'record')")
    [found] = [detail for kind, detail in told(page) if kind == "record"]
    assert isinstance(found, dict)
    return found


def columns(page: Page) -> dict[str, str]:
    found: dict[str, str] = page.evaluate("document.querySelector('sottovoce-question').columns")
    return found


def drawn_in(window: Page) -> int:
    """Return how many draws the question's origin keeps."""
    kept = "Object.keys(JSON.parse(localStorage['sottovoce-question/1'] ?? '{\"draws\":{}}').draws).length"
    count: int = window.evaluate(kept)
    return count


def test_block_comes_back_as_one_record(tab: Page, show: Show, place: str) -> None:
    """Each of its questions has four columns, the state as well before there is a record."""
    show(in_window(place, TOGETHER))
    tab.wait_for_function("states.length > 0")
    assert {columns(tab)[f"{name}_state"] for name in ("drank", "lied")} == {"shown"}
    window = window_of(tab)
    window.locator("#answer-1").check()
    window.locator("#answer1-0").check()
    with window.expect_event("close"):
        window.locator(".ending .primary").click()
    assert record_of(tab)["question"] == "intimate"
    assert {columns(tab)[f"{name}_state"] for name in ("drank", "lied")} == {"answered"}
    assert set(columns(tab)["drank"]) <= set("yesno")


def test_number_is_asked_by_the_page_for_every_kind(tab: Page, show: Show, place: str) -> None:
    """It takes over from the small one without another entry of the history."""
    number = {"type": "integer", "name": "times", "label": {"en": "How often?"}, "min": 0, "max": 10,
              "mechanism": {"name": "geometric", "epsilon": "1"}}  # fmt: skip
    show(in_window(place, dict(parse_question(number).document)))
    window = window_of(tab)
    assert window.evaluate("history.length") == 1
    window.locator("form input").first.fill("3")
    window.keyboard.press("Enter")
    assert not window.is_closed()
    with window.expect_event("close"):
        window.locator(".ending .primary").click()
    assert record_of(tab)["question"] == "times"


@pytest.mark.parametrize(("end", "holds"), [("decline", False), ("close", True), ("answer", False)])
def test_required_question_asks_for_an_answer_or_a_no(tab: Page, show: Show, place: str, end: str, holds: bool) -> None:
    show(in_window(place, attributes='participant="p" required'))
    tab.wait_for_function("states.length > 0")
    assert not tab.evaluate("document.querySelector('form').checkValidity()")
    window = window_of(tab)
    if end == "answer":
        answer_in_window(window)
    elif end == "close":
        window.close()
        tab.wait_for_function("states.at(-1) === 'closed'")
    else:
        with window.expect_event("close"):
            window.locator(".ending .second").click()
    assert tab.evaluate("document.querySelector('form').checkValidity()") != holds


WATCH = """() => {
  seen = [];
  const { open } = window;
  window.open = (...all) => (peer = open.apply(window, all));
  const strips = Array.from({ length: 60 }, (_, row) => `<i style="position:fixed;inset-inline:0;top:${10 * row}px;` +
    `height:10px;opacity:0" data-row="${row}"></i>`);
  document.body.insertAdjacentHTML("beforeend", `<div style="height: 40rem; overflow: auto">${strips.join("")}</div>`);
  const kinds = Object.keys(window).filter((key) => key.startsWith("on") && !key.startsWith("ondevice"));
  for (const kind of ["focusin", "focusout", ...kinds.map((key) => key.slice(2))]) {
    for (const place of [window, document]) {
      const note = ({ data, target, type }) => seen.push([type, data?.type, target?.dataset?.row]);
      place.addEventListener(kind, note, true);
    }
  }
  let last = "";
  setInterval(() => {
    if (typeof peer === "undefined") return;
    const now = JSON.stringify([peer.closed, peer.length, history.length, document.hasFocus(), scrollY]);
    if (now !== last) seen.push(last = now);
  }, 5);
}"""
"""What a host can note of a window that it opened, with strips over itself where the options will lie."""


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_host_notes_the_same_for_all_answers(
    new_context: NewContext, tmp_path: Path, host: str, place: str, way: str
) -> None:
    """Events, focus, size and length of the history, in their order, with strips and scrolling boxes of its own."""
    noted = []
    for option in (0, 1):
        page = new_context().new_page()
        write_host(tmp_path, place, in_window(place))
        page.goto(host)
        page.wait_for_function("states.length > 0")
        page.evaluate(WATCH)
        page.locator("sottovoce-question button").focus()
        with page.context.expect_page() as opened:
            page.keyboard.press("Enter")
        window = opened.value
        window.wait_for_selector("form")
        page.wait_for_timeout(300)
        page.evaluate("seen.length = 0")
        if way == "mouse":
            window.locator("label.option").nth(option).click()
        else:
            for key in ("Tab", "Space", *["ArrowDown"] * option):
                window.keyboard.press(key)
        assert window.locator("form input").nth(option).is_checked()
        answered = page.evaluate("seen.length")
        with window.expect_event("close"):
            window.locator(".ending .primary").click()
        page.wait_for_timeout(900)
        assert answered == 0
        noted.append(page.evaluate("seen"))
    assert noted[0] == noted[1]
    assert "sottovoce:record" in str(noted)


@pytest.mark.parametrize("trap", ["strips", "low box", "faded"])
def test_frame_takes_no_answer_where_the_page_could_watch(tab: Page, show: Show, place: str, trap: str) -> None:
    """Strips over the gaps between options, a box that shows one option at a time, a frame that is faded."""
    show(f'<div id="around">{element(place)}</div>')
    frame = tab.locator("iframe").element_handle().content_frame()
    assert frame is not None
    frame.wait_for_selector("fieldset:enabled")
    style = {"strips": "", "low box": "height: 3rem; overflow: auto", "faded": "opacity: .9"}[trap]
    tab.evaluate("style => { around.style = style; }", style)
    if trap == "strips":
        gap = frame.locator("label.option").first.bounding_box()
        assert gap
        top = gap["y"] + gap["height"] + 1
        strip = f"position: fixed; left: 0; right: 0; top: {top}px; height: 2px; z-index: 9"
        tab.evaluate(
            "style => { const s = document.createElement('i'); s.style = style; document.body.append(s); }", strip
        )
    frame.wait_for_selector("fieldset:disabled")


def test_headers_give_it_a_process_of_its_own(asking: Page) -> None:
    """And keep it in the opener's group, to which the answer goes."""
    window = window_of(asking)
    assert window.evaluate("[originAgentCluster, opener !== null, crossOriginIsolated]") == [True, True, False]


def test_work_of_the_window_is_not_felt_by_a_host_of_the_same_site(tab: Page, tmp_path: Path, place: str) -> None:
    """The host's timers go on while the window counts."""
    with serving(tmp_path) as origin:
        same_site = origin.replace("localhost", "127.0.0.1")
        write_host(tmp_path, place, in_window(place))
        tab.goto(same_site)
        window = window_of(tab)
        tab.evaluate(
            "() => { ticks = []; setInterval(() => ticks.push(performance.timeOrigin + performance.now()), 10); }"
        )
        began, ended = window.evaluate("""() => {
          const now = () => performance.timeOrigin + performance.now();
          const began = now();
          while (now() < began + 600);
          return [began, now()];
        }""")
        tab.wait_for_timeout(100)
        during = tab.evaluate("([from, to]) => ticks.filter((at) => at > from && at < to).length", [began, ended])
        assert during > 2


def test_opener_that_changes_at_send_draws_nothing_twice(asking: Page) -> None:
    """A message between Send and the draw ends the asking; the next window draws, once."""
    window = window_of(asking)
    window.locator("#answer-1").check()
    # The storage's lock is held by another window until the message has come.
    held = "navigator.locks.request('sottovoce-question/1', () => new Promise((free) => { letGo = free; }))"
    window.evaluate(f"() => {{ {held}; }}")
    window.locator(".ending .primary").click()
    window.evaluate("dispatchEvent(new MessageEvent('message', { source: opener, origin: 'https://x.example' }))")
    window.evaluate("letGo()")
    window.wait_for_selector(".problem p")
    window.wait_for_timeout(200)
    assert drawn_in(window) == 0


def test_link_that_is_followed_again_asks_again(asking: Page) -> None:
    """Its first window was closed without an answer."""
    asking.evaluate("() => { window.open = () => null; }")
    asking.locator("sottovoce-question button").click()
    for state in ("closed", "answered"):
        with asking.context.expect_page() as opened:
            asking.locator("sottovoce-question a").click()
        opened.value.wait_for_selector("form")
        if state == "closed":
            opened.value.close()
        else:
            answer_in_window(opened.value)
        asking.wait_for_function("state => states.at(-1) === state", arg=state)


def test_answered_question_stays_so_where_it_is_moved(asking: Page) -> None:
    """Its columns as well, since forms of other systems are put together anew."""
    answer_in_window(window_of(asking))
    asking.wait_for_function("states.at(-1) === 'answered'")
    before = columns(asking)
    asking.evaluate("document.forms[0].prepend(document.querySelector('sottovoce-question'))")
    assert columns(asking) == before
    assert asking.evaluate("Object.fromEntries(new FormData(document.forms[0])).cheated_state") == "answered"


def test_second_question_of_one_name_is_refused(asking: Page) -> None:
    """In one form its columns could not be told apart; the first one stays."""
    asking.evaluate("() => document.forms[0].append(document.querySelector('sottovoce-question').cloneNode())")
    found = asking.evaluate("[...document.querySelectorAll('sottovoce-question')].map((node) => node.state)")
    assert found == ["shown", "blocked"]


def test_leaving_is_asked_about_from_the_first_choice(asking: Page) -> None:
    """And not before, nor after the answer was handed over."""
    window = window_of(asking)
    asked: list[str] = []
    window.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    window.locator("#answer-0").check()
    window.close(run_before_unload=True)
    window.wait_for_timeout(300)
    assert asked == ["beforeunload"]
    answer_in_window(window)
    assert asked == ["beforeunload"]


def test_without_storage_the_record_says_no(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """And a private window of a browser that tells says visit."""
    for script, once in (
        ("if (opener) Object.defineProperty(window, 'localStorage', { get() { throw new Error(); } })", "no"),
        ("if (opener) StorageManager.prototype.getDirectory = () => Promise.reject(new Error())", "visit"),
    ):
        page = tab.context.browser.new_context().new_page()  # type: ignore[union-attr]
        page.context.add_init_script(script)
        write_host(tmp_path, place, in_window(place))
        page.goto(host)
        answer_in_window(window_of(page))
        assert record_of(page)["once"] == once
        page.context.close()


def test_window_and_button_are_accessible(tab: Page, show: Show, place: str, axe: str) -> None:
    """The button says that a window opens; one language of each direction is checked: findings are not in words."""
    tab.set_viewport_size({"width": 320, "height": 568})
    found = {}
    for language in LANGUAGES:
        show(in_window(place), language=language)
        assert "cheated" in tab.locator("sottovoce-question button").inner_text(), language
        found[language] = checked(tab, axe) if language in LANGUAGES[:2] else []
        window = window_of(tab)
        window.set_viewport_size({"width": 320, "height": 568})
        assert window.evaluate("document.documentElement.lang") == language
        assert (window.evaluate("document.documentElement.dir") == "rtl") == (language == "ar")
        window.evaluate("document.querySelector('details').open = true")
        for size in ("", "200%"):
            window.evaluate("size => { document.documentElement.style.fontSize = size; }", size)
            wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            assert not window.evaluate(wide), (language, size)
        found[language] += checked(window, axe) if language in LANGUAGES[:2] else []
        assert "localhost" in window.inner_text("h1"), language
        window.close()
    assert {language: rules for language, rules in found.items() if rules} == {}


def test_last_releases_lines_ask_in_a_window(tab: Page, show: Show, place: str) -> None:
    """They name no way; what they listen to comes as before."""
    show(in_window(place).replace('mode="window" ', ""))
    answer_in_window(window_of(tab))
    assert record_of(tab)["question"] == "cheated"


def test_window_of_a_static_host(tab: Page, show: Show, tmp_path: Path) -> None:
    folder = tmp_path / "static"
    folder.mkdir()
    for name, body in question_files().items():
        (folder / name).write_bytes(body)
    with serving(folder) as origin:
        show(*(in_window(f"{origin}/index.html", asked) for asked in (COIN, TOGETHER)))
        tab.wait_for_function("states.length > 1")
        for number, inputs in enumerate((2, 4)):
            window = window_of(tab, number)
            assert window.locator("input").count() == inputs
            window.close()
