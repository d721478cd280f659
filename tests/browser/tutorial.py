"""The tutorial's steps, done in a browser as its reader does them: ``python -m tests.browser.tutorial``.

``docs/tutorial.yaml`` holds the steps. From it come the page ``docs/tutorial.md`` and what is done here, so that
neither can say what the other does not; the pictures are taken on the way.
"""

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import Browser, FrameLocator, Locator, Page, expect, sync_playwright
from sottovoce.client import MemoryLedger, Respondent

from tests.browser.chromium import launch
from tests.browser.visit import unfold
from tests.journey.test_own_survey import serving

DOCS = Path(__file__).parents[2] / "docs"
STEPS = DOCS / "tutorial.yaml"
TEXT = DOCS / "tutorial.md"
PICTURES = DOCS / "pictures"

DESK = {"width": 1000, "height": 760}
TELEPHONE = {"width": 390, "height": 760}

HEAD = """# A survey of your own in twenty minutes

In a browser only. Nothing here needs a terminal, and you need to know nothing of epsilon. Each step is done by a test,
which also takes its picture; `python -m tests.browser.tutorial` writes the page anew.

You need a running aggregator: ask its operator, or start one ([a class](running/class.md) says how). The same
survey [from the terminal](tutorial_terminal.md).
"""

TAIL = """
## What next

* How many people you need, and what to choose: [choosing an epsilon](choosing_epsilon.md).
* Personal links, a poster, a whole class: [inviting a class](how_to/invite_a_class.md).
* What to tell your board: [for ethics boards](for_ethics_boards.md).
* What stands on the results, and what is refused: [tables, models and weights](analysing.md).

Next: [the same survey from the terminal](tutorial_terminal.md).
"""


@dataclass(frozen=True)
class Step:
    """A step; in its text, bold is pressed or filled in, italics is then seen; actions are verbs with an object."""

    name: str
    title: str
    text: str
    actions: Sequence[Mapping[str, str]]


def steps() -> list[Step]:
    found = yaml.safe_load(STEPS.read_text(encoding="utf-8"))
    return [Step(each["name"], each["title"], each["text"], each["do"]) for each in found]


def text() -> str:
    return HEAD + "".join(map(_section, range(1, len(steps()) + 1), steps())) + TAIL


def _section(number: int, step: Step) -> str:
    picture = f"![Step {number}: {step.title}](pictures/tutorial-{step.name}.png)"
    return f"\n## {number}. {step.title}\n\n{step.text}\n{picture}\n"


@dataclass
class Reader:
    """Who does the steps, at a desk and with a telephone; ``scripts`` says whether pages may run theirs."""

    browser: Browser
    sign_in: str
    scripts: bool = True
    _pages: dict[str, Page] = field(default_factory=dict)
    _link: str = ""

    def page(self, device: str = "desk") -> Page:
        if device not in self._pages:
            size = TELEPHONE if device == "telephone" else DESK
            context = self.browser.new_context(
                viewport=size,  # type: ignore[arg-type]
                locale="en",
                reduced_motion="reduce",
                java_script_enabled=self.scripts,
            )
            self._pages[device] = context.new_page()
        return self._pages[device]

    def looking_at(self, step: Step) -> Page:
        """Where the last thing is that a step tells to look at."""
        return self.page(step.actions[-1].get("device", "desk"))

    def do(self, step: Step) -> None:
        for action in step.actions:
            verb, what = next(iter(action.items()))
            getattr(self, f"_{verb}")(self._place(action), what, action)

    def _place(self, action: Mapping[str, str]) -> Locator:
        whole = self.page(action.get("device", "desk")).locator("body")
        within = action.get("within")
        if within == "the form":
            return whole.page.frame_locator("iframe.previewed").locator("body")
        return whole.get_by_role("region", name=within, exact=True) if within else whole

    def _open(self, place: Locator, what: str, _: Mapping[str, str]) -> None:
        tried = self.page().locator(".invited a[dir=ltr]").first
        links = {"the sign-in link": lambda: self.sign_in, "the link": lambda: self._link}
        place.page.goto(links.get(what, lambda: str(tried.get_attribute("href")))())

    def _press(self, place: Locator, what: str, _: Mapping[str, str]) -> None:
        """A button, where a link has the same name."""
        place.get_by_role("button", name=what, exact=True).locator("visible=true").first.click()

    def _back(self, place: Locator, _: str, __: Mapping[str, str]) -> None:
        place.page.go_back()

    def _click(self, place: Locator, what: str, _: Mapping[str, str]) -> None:
        """A button, else a link, of just this name, else of one that holds it."""
        named = [
            place.get_by_role(role, name=what, exact=exact) for exact in (True, False) for role in ("button", "link")
        ]  # type: ignore[arg-type]
        named[0].or_(named[1]).or_(named[2]).or_(named[3]).first.wait_for()
        next(each for each in named if each.count()).first.click()

    def _choose(self, place: Locator, what: str, _: Mapping[str, str]) -> None:
        unfold(place.get_by_role("radio", name=what, include_hidden=True)).check()

    def _type(self, place: Locator, what: str, action: Mapping[str, str]) -> None:
        unfold(place.get_by_label(action["in"], exact=True)).fill(what)

    def _select(self, place: Locator, what: str, action: Mapping[str, str]) -> None:
        fields = place.get_by_label(action["in"], exact=True)
        unfold(fields.first)
        fields.locator("visible=true").select_option(label=what)

    def _answer(self, place: Locator, _: str, __: Mapping[str, str]) -> None:
        place.locator("form fieldset").first.wait_for()
        for question in place.locator("form fieldset").all():
            question.get_by_role("radio").first.check()

    def _see(self, place: Locator, what: str, action: Mapping[str, str]) -> None:
        expect(place).to_contain_text(what, timeout=20_000)
        if place.locator("#link").count() and "device" not in action:
            self._link = place.locator("#link").inner_text()

    def _others(self, place: Locator, what: str, _: Mapping[str, str]) -> None:
        """So many people answer, each with a device of their own."""
        for person in range(int(what)):
            respond(self._link, person)
        place.page.reload()

    def _download(self, place: Locator, what: str, _: Mapping[str, str]) -> None:
        with place.page.expect_download() as waiting:
            place.get_by_role("link", name=what).click()
        assert Path(waiting.value.path()).stat().st_size > 10_000


def respond(link: str, person: int) -> None:
    """Somebody answers, with a device of their own; people of different numbers differ in what they say."""
    device = Respondent.connect(link, MemoryLedger())
    device.answer({question.name: question.options[person % len(question.options)] for question in device.asked})


def picture(page: Page, step: Step, folder: Path) -> Path:
    """What the window shows after a step, with the last thing that it tells to look at in the middle."""
    last = step.actions[-1]
    place: Page | Locator | FrameLocator = page
    if last.get("within") == "the form":
        place = page.frame_locator("iframe.previewed")
    elif "within" in last:
        place = page.get_by_role("region", name=last["within"], exact=True)
    found = place.get_by_text(last["see"]).locator("visible=true").first
    found.evaluate("node => node.scrollIntoView({ block: 'center' })")
    file = folder / f"tutorial-{step.name}.png"
    page.screenshot(path=file, animations="disabled")
    return file


def walk(browser: Browser, folder: Path, after: Callable[[Step, Reader], None]) -> None:
    """The whole way, from an instance without any survey; ``after`` is called after each step."""
    with reading(browser, folder) as reader:
        for step in steps():
            reader.do(step)
            after(step, reader)


@contextmanager
def reading(browser: Browser, folder: Path, scripts: bool = True) -> Iterator[Reader]:
    """A reader before an instance without any survey."""
    with serving(folder, token_file=False) as (printed, _, _token):
        link = re.search(r"http\S+/dashboard/sign-in\S+", printed)
        assert link
        yield Reader(browser, link[0], scripts)


def main() -> None:
    PICTURES.mkdir(exist_ok=True)
    TEXT.write_text(text(), encoding="utf-8")
    with tempfile.TemporaryDirectory() as data, sync_playwright() as driver:
        browser = launch(driver)
        with closing(browser):
            walk(browser, Path(data), lambda step, reader: print(picture(reader.looking_at(step), step, PICTURES).name))


def words(value: Any) -> set[str]:
    return set(re.findall(r"\*{1,2}([^*]+)\*{1,2}", " ".join(str(value).split())))


if __name__ == "__main__":
    main()
