"""One private question in a window of its own and by a link, in Chromium, Firefox and WebKit.

The same lines in all three, in Chromium at every run; what it alone is asked stands in the files of the window and of
the link.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count, groupby
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Browser
from sottovoce import records
from sottovoce.shared.by_link.link_question import LinkQuestion

from tests.browser.engines import Window, chromium, firefox, wait, webkit
from tests.browser.hosts import serving
from tests.browser.question_host import element, write_host
from tests.browser.test_link import LINK, publish
from tests.browser.test_question_window import WATCH

NAMES = [
    pytest.param("chromium", marks=pytest.mark.xdist_group("chromium")),
    *(pytest.param(name, marks=[pytest.mark.xdist_group(name), pytest.mark.slow]) for name in ("firefox", "webkit")),
]
PEOPLE = count()
ELEMENT = "document.querySelector('sottovoce-question')"
BUTTON = f"{ELEMENT}.shadowRoot.querySelector('button, a')"
PRIMARY = "document.querySelector('.ending .primary')"
DRAWS = "Object.values(JSON.parse(localStorage['sottovoce-question/1'] ?? '{\"draws\":{}}').draws)"

LOOK = "JSON.stringify([peer.closed, peer.length, history.length, document.hasFocus(), scrollY])"
SIZE = "return [history.length, window.name, location.href, document.title, length]"

Start = Callable[[str, str], Window]


@pytest.fixture(scope="module")
def start(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    known: dict[tuple[str, str], Window] = {}
    with ExitStack() as ends:

        def begin(name: str, kind: str) -> Window:
            if (name, kind) not in known:
                folder = tmp_path_factory.mktemp(name)
                starts = {"chromium": lambda: chromium(browser, kind),
                          "firefox": lambda: firefox(folder, kind), "webkit": lambda: webkit(folder, kind)}  # fmt: skip
                known[name, kind] = ends.enter_context(starts[name]())
            return known[name, kind]

        yield begin


@pytest.fixture(params=NAMES)
def first(request: pytest.FixtureRequest, start: Start) -> Window:
    """Return a window of each browser, which stays open."""
    return start(request.param, "plain")


class Asked:
    """A host's page with one question for a person of its own."""

    def __init__(self, window: Window, host: str, folder: Path, place: str, mode: str = "window") -> None:
        self.page, self.host, self.person = window.another(), host, f"p{next(PEOPLE)}"
        write_host(folder, place, element(place, None, f'participant="{self.person}"', mode))
        self.load()

    def load(self, path: str = "") -> None:
        self.page.goto(f"{self.host}/{path}")
        wait(lambda: self.page.run("return states.length > 0"))

    def open(self) -> Window:
        opened = self.page.opened(lambda: click(self.page, BUTTON))
        wait(lambda: opened.run("return document.querySelector('form, .problem p') !== null"))
        return opened

    def open_by_key(self) -> Window:
        self.page.run(f"{BUTTON}.focus()")
        opened = self.page.opened(lambda: self.page.press("Enter"))
        wait(lambda: opened.run("return document.activeElement.localName === 'h1'"))
        return opened

    def states(self) -> list[str]:
        found: list[str] = self.page.run("return states")
        return found

    def said(self) -> str:
        return str(self.page.run(f"return {ELEMENT}.shadowRoot.querySelector('[role=status]').textContent"))

    def columns(self) -> dict[str, str]:
        found: dict[str, str] = self.page.run(f"return {ELEMENT}.columns")
        return found

    def record(self) -> dict[str, Any]:
        wait(lambda: self.page.run("return told.some(([kind]) => kind === 'record')"))
        [found] = [detail for kind, detail in self.page.run("return told") if kind == "record"]
        assert isinstance(found, dict)
        return found


@pytest.fixture
def asked(first: Window, tmp_path: Path, host: str, place: str) -> Iterator[Asked]:
    found = Asked(first, host, tmp_path, place)
    yield found
    found.page.close()


def middle(window: Window, node: str) -> tuple[float, float]:
    window.run(f"{node}.scrollIntoView({{ block: 'nearest' }})")
    x, y, width, height = window.run(f"const b = {node}.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]")
    return x + width / 2, y + height / 2


def click(window: Window, node: str) -> None:
    window.click_at(*middle(window, node))


def choose(window: Window, option: int = 1) -> None:
    if window.run("return document.querySelectorAll('form input').length"):
        click(window, f"document.querySelectorAll('form input')[{option}]")
        assert window.run(f"return document.querySelectorAll('form input')[{option}].checked")


def answer(window: Window, option: int = 1) -> None:
    """Choose, send, and wait until the window has closed itself."""
    choose(window, option)
    click(window, PRIMARY)
    wait(lambda: not window.is_open)


def text(window: Window) -> str:
    return str(window.run("return document.querySelector('main').textContent"))


def drawn_in(window: Window) -> int:
    return int(window.run(f"return {DRAWS}.length"))


def test_record_arrives_once_and_the_focus_returns(asked: Asked) -> None:
    window = asked.open()
    assert asked.states() == ["shown", "opened"]
    answer(window)
    assert asked.record()["question"] == "cheated"
    assert asked.states() == ["shown", "opened", "answered"]
    sent = asked.page.run("return Object.fromEntries(new FormData(document.querySelector('form')))")
    assert sent == {"nickname": "", **asked.columns()}
    read = records.read(asked.page.run(f"return JSON.stringify({ELEMENT}.record)"))
    assert sent == {"nickname": "", **records.columns(read), "cheated_state": "answered"}
    wait(lambda: asked.page.run(f"return {ELEMENT}.shadowRoot.activeElement?.localName === 'button'"))
    assert "Randomized and handed over" in asked.said()


def test_states_tell_declining_from_closing(asked: Asked) -> None:
    window = asked.open()
    before = drawn_in(window)
    click(window, "document.querySelector('.ending .second')")
    wait(lambda: not window.is_open)
    wait(lambda: asked.states()[-1] == "declined")
    # Longer than the page takes to see that a window was closed.
    time.sleep(0.7)
    assert asked.columns() == {
        "cheated": "", "cheated_channel": "", "cheated_once": "", "cheated_state": "declined",
    }  # fmt: skip
    window = asked.open()
    assert drawn_in(window) == before
    assert window.run("return document.querySelectorAll('form input').length") == 2
    window.close()
    wait(lambda: asked.states()[-1] == "closed")
    answer(asked.open())
    assert asked.record()["question"] == "cheated"
    assert asked.columns()["cheated_state"] == "answered"


@pytest.mark.parametrize(
    "act",
    [
        "peer.postMessage('hello', '*')",
        "peer.postMessage({ type: 'sottovoce:ask', participant: 'q', question: {} }, '*')",
        "peer.location = `${PLACE}#answer-0`",
    ],
)
def test_change_by_the_opener_covers_the_page(asked: Asked, place: str, act: str) -> None:
    asked.page.run("const { open } = window; window.open = (...all) => (window.peer = open.apply(window, all))")
    window = asked.open()
    before = drawn_in(window)
    choose(window)
    asked.page.run(act.replace("${PLACE}", place))
    wait(lambda: "start again" in text(window))
    assert window.run("return document.querySelectorAll('input').length") == 0
    assert drawn_in(window) == before
    wait(lambda: asked.states()[-1] == "blocked")
    window.close()
    wait(lambda: asked.page.run("return peer.closed"))
    answer(asked.open())
    assert asked.record()["question"] == "cheated"


def test_hand_over_is_kept_until_it_is_acknowledged(asked: Asked) -> None:
    """A page that was loaded again meanwhile gets the same record by the next press."""
    window = asked.open()
    asked.load()
    choose(window)
    click(window, PRIMARY)
    wait(lambda: "Go back to the survey and press again" in text(window))
    drawn, report = drawn_in(window), window.run(f"return {DRAWS}.at(-1).report")
    window.close()
    window = asked.open()
    assert window.run("return document.querySelectorAll('input').length") == 0
    assert drawn_in(window) == drawn
    answer(window)
    first = asked.record()
    assert first["report"] == report
    asked.load()
    answer(asked.open())
    assert asked.record() == first


@pytest.mark.slow
def test_cleared_storage_draws_anew(asked: Asked) -> None:
    answer(asked.open())
    asked.load()
    window = asked.open()
    window.run("localStorage.clear()")
    window.close()
    wait(lambda: asked.states()[-1] == "closed")
    window = asked.open()
    assert window.run("return document.querySelectorAll('input').length") == 2
    assert drawn_in(window) == 0
    answer(window)
    assert asked.record()["question"] == "cheated"


INNER = "<!doctype html><script>document.hasStorageAccess().then((isOwn) => parent.postMessage(isOwn, '*'))</script>"
HOSTS = {
    "no answer": """<!doctype html><script>states = [0]</script><button onclick="window.open('PLACE')">Go</button>""",
    "sandbox": """<!doctype html><script>states = [0]</script><iframe sandbox="allow-scripts allow-popups"
        src="index.html" style="position: fixed; inset: 0; width: 100%; height: 100%; border: 0"></iframe>""",
}


@pytest.mark.parametrize("kind", ["no opener", "no answer", "sandbox", "same-origin"])
def test_without_a_way_back_nothing_is_asked(asked: Asked, tmp_path: Path, place: str, kind: str) -> None:
    with ExitStack() as ends:
        window = asked.page
        # The page lies in its frame as it lies alone.
        at = middle(window, BUTTON)
        if kind == "no opener":
            window.goto(place)
        elif kind == "same-origin":
            asked.host = ends.enter_context(serving(tmp_path, {"Cross-Origin-Opener-Policy": "same-origin"}))
            asked.load()
            window = asked.open()
            wait(lambda: asked.states()[-1] == "blocked")
            assert asked.columns()["cheated_state"] == "blocked"
        else:
            (tmp_path / "other.html").write_text(HOSTS[kind].replace("PLACE", place))
            asked.load("other.html")
            wait(lambda: asked.page.run("return document.readyState === 'complete'"))
            at = middle(asked.page, "document.querySelector('button')") if kind == "no answer" else at
            window = asked.page.opened(lambda: asked.page.click_at(*at))
        wait(lambda: "no way back to the survey" in text(window))
        assert window.run("return document.querySelectorAll('input').length") == 0
        if window is not asked.page:
            window.close()


def test_browser_that_opens_no_window_gets_a_link(asked: Asked) -> None:
    asked.page.run("window.open = () => null")
    click(asked.page, BUTTON)
    wait(lambda: asked.states()[-1] == "blocked")
    assert asked.columns()["cheated_state"] == "blocked"
    answer(asked.open())
    assert asked.record()["question"] == "cheated"


def test_second_window_says_that_one_is_open(asked: Asked) -> None:
    window = asked.open()
    page, asked.page = asked.page, asked.page.another()
    asked.load()
    second = asked.open()
    assert "open in another window" in text(second)
    second.close()
    wait(lambda: asked.states()[-1] == "blocked")
    answer(window)
    again = asked.open()
    assert again.run("return document.querySelectorAll('input').length") == 0
    answer(again)
    found = asked.record()
    asked.page.close()
    asked.page = page
    assert asked.record() == found


def streams(seen: list[Any]) -> tuple[list[Any], list[list[Any]]]:
    """Return the events, and each value that the host looks at by a clock, in the order of its changes."""
    values = zip(*(json.loads(one) for one in seen if isinstance(one, str)), strict=True)
    return [one for one in seen if not isinstance(one, str)], [[one for one, _ in groupby(all_)] for all_ in values]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_host_notes_the_same_for_yes_and_no(first: Window, tmp_path: Path, host: str, place: str, way: str) -> None:
    noted = []
    for option in (0, 1):
        asked = Asked(first, host, tmp_path, place)
        # In the page's own script, whose names it shares.
        planted = json.dumps(f"({WATCH})()")
        asked.page.run(f"document.head.append(Object.assign(document.createElement('script'), {{ text: {planted} }}))")
        window = asked.open_by_key()
        # Firefox gives the focus to whichever window is driven: from here to the end that is the question's.
        asked.page.run(f"setTimeout(() => (window.seen = [{LOOK}]), 1000)")
        size = window.run(SIZE)
        time.sleep(1.5)
        if way == "mouse":
            choose(window, option)
        else:
            for key in ("Tab", "Space", *["ArrowDown"] * option):
                window.press(key)
        assert window.run("return [...document.querySelectorAll('form input')].map((node) => node.checked)")[option]
        assert window.run(SIZE) == size
        click(window, PRIMARY)
        wait(lambda sent=window: not sent.is_open)
        time.sleep(1.5)
        asked.record()
        noted.append(streams(asked.page.run("return seen")))
        asked.page.close()
    assert noted[0] == noted[1]
    assert "sottovoce:record" in str(noted)
    assert noted[0][1][0] == [False, True]


def test_keyboard_alone_answers_and_no_key_both_chooses_and_sends(asked: Asked) -> None:
    window = asked.open_by_key()
    heading = window.run("return document.activeElement.textContent")
    assert heading.startswith("Your randomized answer goes to localhost")
    for key in ("Tab", "Space", "ArrowDown", "Enter"):
        window.press(key)
    time.sleep(0.2)
    assert window.run("return document.querySelectorAll('form input')[1].checked")
    assert window.run("return document.querySelector('form button').disabled") is False
    window.press("Tab")
    assert window.run(f"return document.activeElement === {PRIMARY}")
    window.press("Enter")
    assert asked.record()["question"] == "cheated"
    wait(lambda: not window.is_open)


def test_send_lies_at_one_place_whatever_is_chosen(asked: Asked) -> None:
    """An answer that is missing and an explanation that is open included."""
    window = asked.open()
    where = f"const b = {PRIMARY}.getBoundingClientRect(); return [b.x, b.y, b.width, b.height]"
    places = [window.run(where)]
    click(window, PRIMARY)
    places.append(window.run(where))
    for option in (0, 1):
        choose(window, option)
        places.append(window.run(where))
    window.run("document.querySelector('details').open = true")
    places.append(window.run(where))
    window.close()
    assert places == [places[0]] * len(places)


@pytest.mark.slow
def test_option_with_the_focus_is_not_under_the_buttons(asked: Asked) -> None:
    """With text so large that the options need scrolling."""
    window = asked.open_by_key()
    window.run("document.documentElement.style.fontSize = '350%'")
    for key in ("Tab", "Space", "ArrowDown"):
        window.press(key)
    wait(lambda: window.run("return scrollY > 0"))
    wait(lambda: window.run("return document.activeElement.getBoundingClientRect().bottom <= "
                            "document.querySelector('.ending').getBoundingClientRect().top"))  # fmt: skip
    window.close()


@pytest.mark.parametrize(
    ("name", "kind", "once"),
    [
        ("chromium", "plain", "device"),
        *(
            pytest.param(*each, marks=pytest.mark.slow)
            for each in (
                # Chromium and WebKitGTK do not tell that the visit is a private one, as it always is under a driver.
                ("chromium", "others cut", "device"),
                ("firefox", "plain", "device"),
                ("firefox", "private", "visit"),
                ("firefox", "others cut", "device"),
                ("firefox", "nothing kept", "no"),
                ("webkit", "plain", "device"),
                ("webkit", "others cut", "device"),
                ("webkit", "nothing kept", "no"),
            )
        ),
    ],
)
def test_record_says_how_long_the_draw_is_kept(
    start: Start, tmp_path: Path, host: str, place: str, name: str, kind: str, once: str
) -> None:
    """A window is no part of another site: what cuts a frame off leaves it as it is."""
    first = start(name, kind)
    asked = Asked(first, host, tmp_path, place)
    answer(asked.open())
    assert asked.record()["once"] == once
    if kind == "others cut":
        (tmp_path / "inner.html").write_text(INNER)
        asked.page.run(f"const frame = document.createElement('iframe'); frame.src = '{host}/inner.html'"
                       ".replace('localhost', '127.0.0.1'); document.body.append(frame); "
                       "addEventListener('message', ({ data }) => (window.isOwn = data))")  # fmt: skip
        wait(lambda: asked.page.run("return window.isOwn === false"))
    asked.page.close()


def lead_on(window: Window, link: LinkQuestion, page: str, token: str, declines: bool) -> None:
    """Visit a question's page, and go on to the other survey's address."""
    window.goto(f"{page}?token={token}")
    wait(lambda: window.run("return document.querySelector('form') !== null"))
    assert f"The survey also receives: token {token}" in text(window)
    if not declines:
        click(window, "document.querySelector('#answer0-1')")
    click(window, f"[...document.querySelectorAll('form button')].at({-1 if declines else 0})")
    wait(lambda: window.run("return document.querySelector('code') !== null"))
    code = window.run("return document.querySelector('code').textContent")
    click(window, "document.querySelector('button.primary')")
    wait(lambda: window.address().startswith("https://"))
    found = dict(parse_qsl(urlsplit(window.address()).query))
    assert found == {"usp": "pp_url", "token": token, "entry.1": code}
    [report], once = link.read(code)
    assert (report is None) == declines
    assert once == (not declines)
    window.close()


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_link_leads_on_with_the_person_and_a_code(start: Start, tmp_path: Path, host: str, name: str) -> None:
    link = publish(tmp_path, {**LINK, "pass": ["token"]})
    (tmp_path / f"{'0' * 64}.html").write_bytes((tmp_path / f"{link.digest}.html").read_bytes())
    first = start(name, "plain")
    for token, ends in (("abc", False), ("abd", True)):
        lead_on(first.another(), link, f"{host}/{link.digest}.html", token, ends)
    window = first.another()
    for path in (f"{link.digest}.html?token=a&x=1", f"{link.digest}.html?token=a#x", f"{'0' * 64}.html?token=a"):
        window.goto(f"{host}/{path}")
        wait(lambda: "does not lead to the question" in text(window))
        assert window.run("return document.querySelectorAll('main a, main button, fieldset').length") == 0
    window.close()
