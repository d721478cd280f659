"""Chromium, Firefox and WebKit by the same few words.

Firefox and WebKit are Debian's, and take WebDriver's own commands: one on a socket (Marionette), the other over HTTP.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import requests
from playwright.sync_api import Browser, Error, Page

INSTALL = "apt-get install firefox-esr webkit2gtk-driver xvfb"
PATIENCE = 30
"""Seconds after which what has not come is missing."""

PREFERENCES = {
    "plain": {}, "private": {"browser.privatebrowsing.autostart": True},
    "others cut": {"network.cookie.cookieBehavior": 1}, "nothing kept": {"network.cookie.cookieBehavior": 2},
}  # fmt: skip
"""Firefox's, for each kind of visit: the storage of other sites is cut, or all."""

POLICIES = {
    "plain": [], "others cut": ["--cookies-policy=no-third-party"],
    "nothing kept": ["--enable-html5-local-storage=false"],
}  # fmt: skip
"""WebKit's, for the same."""

CUT = {name: True for name in ("enableThirdPartyCookieRestriction", "disableThirdPartyCookieMetadata",
                                    "disableThirdPartyCookieHeuristics")}  # fmt: skip
"""Chromium's, by which others' storage is cut."""

COMMANDS = {
    "CloseWindow": ("DELETE", "window"), "ExecuteScript": ("POST", "execute/sync"), "GetCurrentURL": ("GET", "url"),
    "GetWindowHandles": ("GET", "window/handles"), "Navigate": ("POST", "url"), "NewWindow": ("POST", "window/new"),
    "PerformActions": ("POST", "actions"), "SwitchToWindow": ("POST", "window"),
}  # fmt: skip
"""Marionette's names of commands, and how they go over HTTP."""

KEYS = {"ArrowDown": "\ue015", "Enter": "\ue007", "Space": " ", "Tab": "\ue004"}

Send = Callable[[str, dict[str, Any]], Any]


class Window:
    """A window of Firefox or WebKit."""

    def __init__(self, send: Send, handle: str) -> None:
        self._send, self._handle = send, handle

    def _do(self, command: str, **given: Any) -> Any:
        self._send("SwitchToWindow", {"handle": self._handle})
        return self._send(command, given)

    def _act(self, kind: str, *actions: dict[str, Any]) -> None:
        self._do("PerformActions", actions=[{"type": kind, "id": kind, "actions": actions}])

    def goto(self, url: str) -> None:
        self._do("Navigate", url=url)

    def address(self) -> str:
        """Return the address, even if nothing answers there."""
        return str(self._do("GetCurrentURL"))

    def run(self, script: str) -> Any:
        """Return what the body of a function returns in the page."""
        return self._do("ExecuteScript", script=script, args=[])

    def press(self, key: str) -> None:
        self._act("key", {"type": "keyDown", "value": KEYS[key]}, {"type": "keyUp", "value": KEYS[key]})

    def click_at(self, x: float, y: float) -> None:
        move = {"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0, "origin": "viewport"}
        self._act("pointer", move, {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def close(self) -> None:
        self._do("CloseWindow")

    @property
    def is_open(self) -> bool:
        return self._handle in self._send("GetWindowHandles", {})

    def opened(self, act: Callable[[], object]) -> "Window":
        """Return the window that opens while something is done."""
        before = self._send("GetWindowHandles", {})
        act()
        handle = wait(lambda: [one for one in self._send("GetWindowHandles", {}) if one not in before])[0]
        return Window(self._send, handle)

    def another(self) -> "Window":
        """Open one that has nothing to do with this."""
        return Window(self._send, self._do("NewWindow", type="window")["handle"])


class ChromiumWindow(Window):
    def __init__(self, page: Page, kind: str) -> None:
        self._page, self._kind = page, kind
        if kind == "others cut":
            session = page.context.new_cdp_session(page)
            session.send("Network.enable")
            session.send("Network.setCookieControls", CUT)

    def goto(self, url: str) -> None:
        self._page.goto(url)

    def address(self) -> str:
        return str(self.run("return location.href"))

    def run(self, script: str) -> Any:
        return self._page.evaluate(f"() => {{{script}}}")

    def press(self, key: str) -> None:
        try:
            self._page.keyboard.press(key)
        except Error:
            # A key may close the window before it is let go.
            if self.is_open:
                raise

    def click_at(self, x: float, y: float) -> None:
        self._page.mouse.click(x, y)

    def close(self) -> None:
        self._page.close()

    @property
    def is_open(self) -> bool:
        # The driver hears of it while it waits.
        self._page.context.pages[0].wait_for_timeout(1)
        return not self._page.is_closed()

    def opened(self, act: Callable[[], object]) -> Window:
        with self._page.context.expect_page() as opened:
            act()
        return ChromiumWindow(opened.value, self._kind)

    def another(self) -> Window:
        return ChromiumWindow(self._page.context.new_page(), self._kind)


def wait(look: Callable[[], Any]) -> Any:
    """Return the first true value that ``look`` gives; what it raises while a page is still coming is not heard."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            if value := look():
                return value
        except Exception:
            if time.monotonic() > until:
                raise
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.05)


@contextmanager
def chromium(browser: Browser, kind: str) -> Iterator[Window]:
    """Visit with Chromium, whose visits are private ones; hosts beyond this machine answer with an empty page."""
    context = browser.new_context()
    context.route(re.compile("^https://"), lambda route: route.fulfill(body="Survey", content_type="text/html"))
    yield ChromiumWindow(context.new_page(), kind)
    context.close()


@contextmanager
def firefox(folder: Path, kind: str) -> Iterator[Window]:
    lines = {"marionette.port": 0, "network.proxy.type": 0, **PREFERENCES[kind]}
    (folder / "user.js").write_text(
        "".join(f"user_pref({json.dumps(key)}, {json.dumps(value)});\n" for key, value in lines.items())
    )
    with running(["firefox-esr", "-headless", "-marionette", "-no-remote", "-profile", str(folder)]):
        port = int(wait((folder / "MarionetteActivePort").read_text))
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as line, line.makefile("rb") as heard:

            def hear() -> Any:
                size = b""
                while (byte := heard.read(1)) != b":":
                    size += byte
                return json.loads(heard.read(int(size)))

            numbers = count()

            def send(command: str, given: dict[str, Any]) -> Any:
                said = json.dumps([0, next(numbers), f"WebDriver:{command}", given]).encode()
                line.sendall(b"%d:%b" % (len(said), said))
                _, _, fault, result = hear()
                if fault:
                    raise RuntimeError(fault["message"])
                return result["value"] if isinstance(result, dict) and set(result) == {"value"} else result

            hear()
            send("NewSession", {})
            yield Window(send, send("GetWindowHandles", {})[0])


@contextmanager
def webkit(folder: Path, kind: str) -> Iterator[Window]:
    """Start WebKit on a screen of its own; every visit under a driver is a private one."""
    needed("Xvfb")
    number, told = os.pipe()
    with running(["Xvfb", "-displayfd", str(told), "-screen", "0", "1280x1024x24"], pass_fds=[told]):
        os.close(told)
        with os.fdopen(number) as screen:
            environment = {**os.environ, "DISPLAY": f":{screen.readline().strip()}", "HOME": str(folder)}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with running(["WebKitWebDriver", "--host=127.0.0.1", f"--port={port}"], env=environment):
            base = f"http://127.0.0.1:{port}/session"

            def call(method: str, path: str, given: dict[str, Any]) -> Any:
                body = given if method == "POST" else None
                answer = requests.request(method, base + path, json=body, timeout=PATIENCE).json()["value"]
                if isinstance(answer, dict) and "error" in answer:
                    raise RuntimeError(answer["message"])
                return answer

            wait(lambda: socket.create_connection(("127.0.0.1", port)).close() or True)
            [browser] = Path("/usr/lib").glob("*/webkit2gtk-4.1/MiniBrowser")
            options = {"binary": str(browser), "args": ["--automation", *POLICIES[kind]]}
            asked = {"alwaysMatch": {"webkitgtk:browserOptions": options}}
            place = f"/{call('POST', '', {'capabilities': asked})['sessionId']}/"

            def send(command: str, given: dict[str, Any]) -> Any:
                method, path = COMMANDS[command]
                return call(method, place + path, given)

            yield Window(send, send("GetWindowHandles", {})[0])
            call("DELETE", place[:-1], {})


def needed(program: str) -> None:
    if not shutil.which(program):
        raise RuntimeError(f"{program} is missing, so its browser was not tried: {INSTALL}")


@contextmanager
def running(command: list[str], **options: Any) -> Iterator[None]:
    """Run a program that is not heard, and end it."""
    needed(command[0])
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(command, **quiet, **options) as process:
        try:
            yield
        finally:
            process.terminate()
