"""What a page that wants the true answer finds of a question in a window of its own, and what it can break."""

from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.browser.question_host import answer_in_window, window_of, write_host
from tests.browser.test_question_window import columns, drawn_in, in_window, record_of

SPY = """
  found = {};
  delays = [];
  const note = (kind, value) => {
    const all = (found[kind] ??= []);
    if (all.at(-1) !== value) all.push(value);
  };
  const attempt = (act) => {
    try { return String(act()); } catch (error) { return error.name; }
  };
  const { open } = window;
  window.open = (...all) => (peer = open.apply(window, all));
  const ATTACKS = {
    handle: () => {
      const keys = ["closed", "length", "name", "location", "history", "document", "localStorage", "innerWidth",
        "screenX", "performance", "frames", "opener", "navigation", "onfocus", "0"];
      for (const key of keys) note(key, attempt(() => (typeof peer[key] === "object" ? "object" : peer[key])));
      for (const act of ["moveTo", "resizeTo", "scrollTo", "print", "find"]) note(act, attempt(() => peer[act](1, 1)));
    },
    focus: () => {
      if (turn % 7 === 0) peer.blur();
      if (turn % 11 === 0) window.focus();
      note("has focus", document.hasFocus());
      note("place", [scrollX, scrollY, innerWidth, innerHeight, outerWidth, outerHeight, screenX, screenY].join());
      note("full screen", String(document.fullscreenElement));
    },
    traces: () => {
      note("history", history.length);
      note("entries", performance.getEntries().map(({ entryType, name }) => entryType + name)
        .filter((one) => /answer|cheated|yes|record/i.test(one)).join());
      note("colours", [...document.querySelectorAll("a.try")].map((node) => getComputedStyle(node).color).join());
      note("kept", Object.keys(localStorage).join() + Object.keys(sessionStorage).join() + document.cookie);
      note("name", window.name);
    },
  };
  for (const name of ["sottovoce", "sottovoce-question", "sottovoce-question/1", "question"]) {
    new BroadcastChannel(name).onmessage = ({ data }) => note("broadcast", JSON.stringify(data));
  }
  for (const kind of ["storage", "focus", "blur", "visibilitychange", "resize", "scroll", "pagehide", "message"]) {
    addEventListener(kind, ({ data, type }) => note("events", `${type} ${data?.type ?? ""}`));
  }
  let turn = 0;
  let before = performance.now();
  setInterval(() => {
    if (typeof peer === "undefined") return;
    turn += 1;
    for (const way of "WAYS".split(" ")) ATTACKS[way]();
    delays.push(performance.now() - before);
    before = performance.now();
  }, 5);
"""
"""All that a page may ask of a window that it opened, over and over."""

TRIES = "".join(f'<a class="try" href="PLACE{end}">.</a>' for end in ("#answer-0", "#answer-1", "#yes", "#no", ""))


def spy(page: Page, url: str, ways: str, option: int) -> tuple[dict[str, list[Any]], float]:
    """Return what such a page found from the question to its end, and its longest delay in that time."""
    page.goto(url)
    page.wait_for_function("states.length > 0")
    page.evaluate(f"() => {{ {SPY.replace('WAYS', ways)} }}")
    window = window_of(page)
    page.evaluate("() => { delays.length = 0; found = {}; }")
    answer_in_window(window, option)
    record_of(page)
    page.wait_for_function("peer.closed")
    page.wait_for_timeout(50)
    return page.evaluate("found"), page.evaluate("Math.max(...delays)")


WAYS = ("handle", "focus", "traces")
ALONE = [pytest.param(way, 20, marks=pytest.mark.slow) for way in WAYS]


@pytest.mark.parametrize(("ways", "rounds"), [(" ".join(WAYS), 2), *ALONE])
@pytest.mark.parametrize("relation", ["other site", "same site"])
def test_hostile_page_finds_the_same_for_yes_and_no(
    tab: Page, tmp_path: Path, host: str, place: str, ways: str, relation: str, rounds: int
) -> None:
    """A page of the same site may share a process with the window."""
    origin = host if relation == "other site" else host.replace("localhost", "127.0.0.1")
    # A clock of 5 ms may miss what holds for less: of each thing, all that was seen in any round counts.
    found: tuple[set[str], set[str]] = (set(), set())
    delays: tuple[list[float], list[float]] = ([], [])
    for number in range(2 * rounds):
        person = f'participant="person{number}"'
        write_host(tmp_path, place, in_window(place, attributes=person), TRIES.replace("PLACE", place))
        # Yes and no, no and yes: what changes with time falls on both.
        option = (0, 1, 1, 0)[number % 4]
        seen, delay = spy(tab, origin, ways, option)
        found[option].update(f"{kind} {value}" for kind, values in seen.items() for value in values)
        delays[option].append(delay)
    assert found[0] == found[1]
    assert "events message sottovoce:record" in found[0]
    assert is_by_chance(*delays)


def is_by_chance(one: list[float], other: list[float]) -> bool:
    """Whether the ranks of two groups differ by less than four standard errors, as 1 in 16,000 times by chance."""
    ranks = {value: place for place, value in enumerate(sorted(one + other))}
    size = len(one)
    error = ((2 * size + 1) / 6) ** 0.5
    return abs(mean(ranks[value] for value in one) - mean(ranks[value] for value in other)) < 4 * error


ACTS = {
    "replaces": "peer.location = 'about:blank'",
    "closes": "peer.close()",
    "renames": "document.querySelector('sottovoce-question').setAttribute('participant', 'other'); window.name = 'x'; "
    "peer.postMessage({ type: 'sottovoce:ask', participant: 'other' }, '*')",
    "sends twice": "for (const _ of [1, 2]) peer.postMessage({ type: 'sottovoce:kept' }, '*')",
}


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_opener_neither_loses_nor_doubles_a_draw(
    tab: Page, tmp_path: Path, host: str, place: str, act: str, when: str
) -> None:
    """Before Send nothing is drawn; after it, the one draw is what the next press hands over."""
    write_host(tmp_path, place, in_window(place))
    tab.goto(host)
    tab.wait_for_function("states.length > 0")
    tab.evaluate("""() => {
      const { open } = window;
      window.open = (...all) => (peer = open.apply(window, all));
    }""")
    window = window_of(tab)
    window.on("dialog", lambda dialog: dialog.accept())
    if when == "before":
        window.locator("#answer-1").check()
        tab.evaluate(ACTS[act])
        if act in {"renames", "sends twice"}:
            window.wait_for_selector(".problem p")
            assert window.locator("input").count() == 0
        # One that meets a navigation is lost.
        tab.wait_for_function("peer.closed || peer.close()")
    else:
        # It acts on the record before the element hears of it.
        tab.evaluate(f"""addEventListener("message", (event) => {{
          if (event.data?.type !== "sottovoce:record") return;
          event.stopImmediatePropagation();
          window.stolen = event.data.record;
          {ACTS[act]};
          setInterval(() => peer.close(), 100);
        }}, true)""")
        window.locator("#answer-1").check()
        window.locator(".ending .primary").click()
        tab.wait_for_function("window.stolen && peer.closed")
    stolen = tab.evaluate("window.stolen")
    tab.goto(host)
    window = window_of(tab)
    assert drawn_in(window) == (when == "after")
    assert window.locator("input").count() == (2 if when == "before" else 0)
    answer_in_window(window)
    record = record_of(tab)
    assert stolen in (None, record)
    assert columns(tab)["cheated_state"] == "answered"


def test_delays_of_a_page_in_one_loop_are_noticed() -> None:
    """So the test of delays can fail."""
    assert not is_by_chance([float(number) for number in range(40)], [float(number) for number in range(100, 140)])
    assert is_by_chance([1.0, 4.0, 5.0, 8.0], [2.0, 3.0, 6.0, 7.0])
