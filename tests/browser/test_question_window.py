"""One private question in a window of its own: what the page that opened it gets, sees and cannot do."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, Page
from sottovoce import records
from sottovoce.client.question_page import question_files
from sottovoce.shared.single_question import parse_question

from tests.browser.conftest import NewContext
from tests.browser.hosts import serving
from tests.browser.question_host import COIN, TOGETHER, answer_in_window, element, window_of, write_host
from tests.browser.test_question import checked, told

LANGUAGES = ["en", "ar", "de", "es", "fr", "hi", "it", "pt", "zh-Hans"]


def in_window(place: str, question: dict[str, Any] | None = None, attributes: str = 'participant="p1"') -> str:
    """Return an element that asks in a window."""
    return element(place, question, attributes, "window")


@pytest.fixture
def asking(tab: Page, tmp_path: Path, host: str, place: str) -> Page:
    """Return a host's page with one question."""
    write_host(tmp_path, place, in_window(place))
    tab.goto(host)
    tab.wait_for_function("states.length > 0")
    return tab


def record_of(page: Page) -> dict[str, Any]:
    """Return the one record that the page got, whatever it heard before."""
    page.wait_for_function("told.some(([kind]) => kind === 'record')")
    [found] = [detail for kind, detail in told(page) if kind == "record"]
    assert isinstance(found, dict)
    return found


def columns(page: Page) -> dict[str, str]:
    """Return the columns that the page would store."""
    found: dict[str, str] = page.evaluate("document.querySelector('sottovoce-question').columns")
    return found


def drawn_in(window: Page) -> int:
    """Return how many draws the question's origin keeps."""
    kept = "Object.keys(JSON.parse(localStorage['sottovoce-question/1'] ?? '{\"draws\":{}}').draws).length"
    count: int = window.evaluate(kept)
    return count


def test_record_comes_back_and_the_window_closes(asking: Page) -> None:
    """The host hears of states and of one record; the focus is on the button again, and a form has four columns."""
    window = window_of(asking)
    assert window.evaluate("document.activeElement.textContent").startswith("Your randomized answer goes to localhost")
    answer_in_window(window)
    record = record_of(asking)
    assert record["once"] == "device"
    read = records.read(asking.evaluate("JSON.stringify(document.querySelector('sottovoce-question').record)"))
    assert columns(asking) == {**records.columns(read), "cheated_state": "answered"}
    sent = asking.evaluate("Object.fromEntries(new FormData(document.querySelector('form')))")
    assert sent == {"nickname": "", **columns(asking)}
    asking.wait_for_function(
        "document.querySelector('sottovoce-question').shadowRoot.activeElement?.localName === 'button'"
    )
    assert asking.evaluate("states") == ["shown", "opened", "answered"]
    assert "Randomized and handed over" in asking.locator("sottovoce-question [role=status]").inner_text()


def test_block_comes_back_as_one_record(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """Each of its questions has four columns, the state as well before there is a record."""
    write_host(tmp_path, place, in_window(place, TOGETHER))
    tab.goto(host)
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


def test_number_is_asked_by_the_page_for_every_kind(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """It takes over from the small one without another entry of the history."""
    number = {"type": "integer", "name": "times", "label": {"en": "How often?"}, "min": 0, "max": 10,
              "mechanism": {"name": "geometric", "epsilon": "1"}}  # fmt: skip
    write_host(tmp_path, place, in_window(place, dict(parse_question(number).document)))
    tab.goto(host)
    window = window_of(tab)
    assert window.evaluate("history.length") == 1
    window.locator("form input").first.fill("3")
    window.keyboard.press("Enter")
    assert not window.is_closed()
    with window.expect_event("close"):
        window.locator(".ending .primary").click()
    assert record_of(tab)["question"] == "times"


def test_declining_is_told_apart_from_closing(asking: Page) -> None:
    """Neither holds up a form that asks for no answer; nothing is drawn, and the question can be opened again."""
    window = window_of(asking)
    with window.expect_event("close"):
        window.locator(".ending .second").click()
    asking.wait_for_function("states.at(-1) === 'declined'")
    asking.wait_for_timeout(700)
    assert columns(asking) == {"cheated": "", "cheated_channel": "", "cheated_once": "", "cheated_state": "declined"}
    window = window_of(asking)
    assert drawn_in(window) == 0
    window.close()
    asking.wait_for_function("states.at(-1) === 'closed'")
    answer_in_window(window_of(asking))
    assert record_of(asking)["question"] == "cheated"


@pytest.mark.parametrize(("end", "holds"), [("decline", False), ("close", True), ("answer", False)])
def test_required_question_asks_for_an_answer_or_a_no(
    tab: Page, tmp_path: Path, host: str, place: str, end: str, holds: bool
) -> None:
    """As other controls of the form do."""
    write_host(tmp_path, place, in_window(place, attributes='participant="p" required'))
    tab.goto(host)
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
def test_frame_takes_no_answer_where_the_page_could_watch(
    tab: Page, tmp_path: Path, host: str, place: str, trap: str
) -> None:
    """Strips over the gaps between options, a box that shows one option at a time, a frame that is faded."""
    write_host(tmp_path, place, f'<div id="around">{element(place)}</div>')
    tab.goto(host)
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


@pytest.mark.parametrize("act", ["message", "ask", "fragment"])
def test_change_by_the_opener_covers_the_page(asking: Page, act: str) -> None:
    """Nothing is drawn, what was chosen is gone, and the person is asked to start again."""
    with asking.expect_popup() as opened:
        asking.evaluate("""() => {
          const { open } = window;
          window.open = (...all) => (peer = open.apply(window, all));
          document.querySelector("sottovoce-question").shadowRoot.querySelector("button").click();
        }""")
    window = opened.value
    window.wait_for_selector("form")
    window.locator("#answer-1").check()
    asking.evaluate({
        "message": "peer.postMessage('hello', '*')",
        "ask": "peer.postMessage({ type: 'sottovoce:ask', participant: 'q', question: {} }, '*')",
        "fragment": "url => { peer.location = url + '#answer-0'; }",
    }[act], window.url)  # fmt: skip
    window.wait_for_selector(".problem p")
    assert "start again" in window.inner_text("main")
    assert window.locator("input").count() == 0
    assert drawn_in(window) == 0
    asking.wait_for_function("states.at(-1) === 'blocked'")
    window.close()
    answer_in_window(window_of(asking))
    assert record_of(asking)["question"] == "cheated"


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


def test_lost_acknowledgement_gives_the_same_record_again(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """A page that was reloaded meanwhile does not know the window; it says so, and draws nothing twice."""
    write_host(tmp_path, place, in_window(place))
    tab.context.add_init_script("const wait = setTimeout; setTimeout = (f, ms) => wait(f, ms > 4000 ? 300 : ms);")
    tab.goto(host)
    window = window_of(tab)
    tab.goto(host)
    window.locator("#answer-1").check()
    window.locator(".ending .primary").click()
    window.wait_for_selector(".problem p")
    assert "Go back to the survey and press again" in window.inner_text("main")
    drawn = window.evaluate("Object.values(JSON.parse(localStorage['sottovoce-question/1']).draws)[0].report")
    window.close()
    again = window_of(tab)
    assert again.locator("input").count() == 0
    answer_in_window(again)
    assert record_of(tab)["report"] == drawn


@pytest.mark.parametrize("kind", ["no opener", "no answer", "sandboxed host"])
def test_without_a_way_back_nothing_is_asked(
    new_context: NewContext, tmp_path: Path, host: str, place: str, kind: str
) -> None:
    """No option is shown, nothing is drawn, and it says what to do."""
    context = new_context()
    context.add_init_script("const wait = setTimeout; setTimeout = (f, ms) => wait(f, ms > 4000 ? 300 : ms);")
    page = context.new_page()
    if kind == "no opener":
        page.goto(place)
        window = page
    else:
        write_host(tmp_path, place, in_window(place), name="inner.html")
        (tmp_path / "index.html").write_text(
            "<!doctype html><button onclick=\"window.open('PLACE')\">Go</button>".replace("PLACE", place)
            if kind == "no answer"
            else '<!doctype html><iframe sandbox="allow-scripts allow-popups" src="inner.html"></iframe>'
        )
        page.goto(host)
        button = page.locator("button") if kind == "no answer" else page.frames[1].locator("sottovoce-question button")
        with context.expect_page() as opened:
            button.click()
        window = opened.value
    window.wait_for_selector(".problem p")
    assert "no way back to the survey" in window.inner_text("main")
    assert window.locator("input").count() == 0


def test_host_that_shares_no_window_is_told_so(tab: Page, tmp_path: Path, place: str) -> None:
    """With Cross-Origin-Opener-Policy: same-origin the window asks nothing, and the state says blocked."""
    write_host(tmp_path, place, in_window(place))
    with serving(tmp_path, {"Cross-Origin-Opener-Policy": "same-origin"}) as origin:
        tab.goto(origin)
        window = window_of(tab)
        assert "no way back to the survey" in window.inner_text("main")
        tab.wait_for_function("states.at(-1) === 'blocked'")
        assert columns(tab)["cheated_state"] == "blocked"


def test_browser_that_opens_no_window_gets_a_link(asking: Page) -> None:
    """As in other programs' browsers; through it the question is asked as ever."""
    asking.evaluate("() => { window.open = () => null; }")
    asking.locator("sottovoce-question button").click()
    asking.wait_for_selector("sottovoce-question a")
    assert columns(asking)["cheated_state"] == "blocked"
    with asking.context.expect_page() as opened:
        asking.locator("sottovoce-question a").click()
    window = opened.value
    window.wait_for_selector("form")
    answer_in_window(window)
    assert record_of(asking)["question"] == "cheated"


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


def test_second_window_says_that_one_is_open(new_context: NewContext, tmp_path: Path, host: str, place: str) -> None:
    """Until the first is closed; the two draw once."""
    write_host(tmp_path, place, in_window(place))
    context = new_context()
    pages = [context.new_page(), context.new_page()]
    for page in pages:
        page.goto(host)
    first = window_of(pages[0])
    second = window_of(pages[1])
    assert "open in another window" in second.inner_text("main")
    second.close()
    answer_in_window(first)
    again = window_of(pages[1])
    assert again.locator("input").count() == 0
    answer_in_window(again)
    assert record_of(pages[1]) == record_of(pages[0])


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


def test_send_lies_at_one_place_whatever_is_chosen(asking: Page) -> None:
    """Missing answer, either option, open explanation: the pointer is over the same spot of the host after it."""
    window = window_of(asking)
    places = [window.locator(".ending .primary").bounding_box()]
    window.locator(".ending .primary").click()
    places.append(window.locator(".ending .primary").bounding_box())
    for option in (0, 1):
        window.locator(f"#answer-{option}").check()
        places.append(window.locator(".ending .primary").bounding_box())
    window.evaluate("document.querySelector('details').open = true")
    places.append(window.locator(".ending .primary").bounding_box())
    assert all(place == places[0] for place in places)


def test_keyboard_reaches_everything_and_no_key_both_chooses_and_sends(asking: Page) -> None:
    """Enter on an option sends nothing; the tab key leads from the options to Send."""
    asking.locator("sottovoce-question button").focus()
    with asking.context.expect_page() as opened:
        asking.keyboard.press("Enter")
    window = opened.value
    window.wait_for_selector("form")
    for key in ("Tab", "Space", "ArrowDown", "Enter"):
        window.keyboard.press(key)
    window.wait_for_timeout(200)
    assert not window.is_closed()
    assert window.locator("#answer-1").is_checked() or window.locator("#answer-0").is_checked()
    window.keyboard.press("Tab")
    assert window.evaluate("document.activeElement.matches('.ending .primary')")
    # The window may be gone before the key is let go: the event says whether it closed.
    with window.expect_event("close"), suppress(Error):
        window.keyboard.press("Enter")
    assert record_of(asking)["question"] == "cheated"


def test_window_and_button_are_accessible(tab: Page, tmp_path: Path, host: str, place: str, axe: str) -> None:
    """In every language, on a narrow screen and with text of twice the size; the button says that a window opens.

    The checker looks at two languages, one of each direction: what it finds is not in words.
    """
    tab.set_viewport_size({"width": 320, "height": 568})
    found = {}
    for language in LANGUAGES:
        write_host(tmp_path, place, in_window(place), language=language)
        tab.goto(host)
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


def test_last_releases_lines_ask_in_a_window(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """They name no way; what they listen to comes as before."""
    write_host(tmp_path, place, in_window(place).replace('mode="window" ', ""))
    tab.goto(host)
    answer_in_window(window_of(tab))
    assert record_of(tab)["question"] == "cheated"


def test_window_of_a_static_host(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """Of one question and of a block, by the name of the file."""
    folder = tmp_path / "static"
    folder.mkdir()
    for name, body in question_files().items():
        (folder / name).write_bytes(body)
    with serving(folder) as origin:
        write_host(tmp_path, place, *(in_window(f"{origin}/index.html", asked) for asked in (COIN, TOGETHER)))
        tab.goto(host)
        tab.wait_for_function("states.length > 1")
        for number, inputs in enumerate((2, 4)):
            window = window_of(tab, number)
            assert window.locator("input").count() == inputs
            window.close()
