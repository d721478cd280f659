"""A real browser before a real aggregator."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright
from sottovoce.aggregator.invitations.key_file import KeysFile
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.transport import Transport
from sottovoce.demo.run import demo_survey

from tests.browser.chromium import launch
from tests.browser.hosts import AXE, serving
from tests.browser.question_host import write_host
from tests.browser.studio_site import studio_site
from tests.browser.visit import Visit, publish
from tests.conftest import Running, start
from tests.invited import blind_survey, key
from tests.surveys import every_type, survey

NewContext = Callable[..., BrowserContext]
"""Takes the options of ``Browser.new_context``."""

Show = Callable[..., None]
"""Takes the tags of questions, by default one, and the language of the page that asks them."""

WITHOUT_WORKER = {"access", "arms", "ask", "blocks", "every_type", "innocuous", "items", "kiosk", "languages",
                  "order", "receipt", "refusals", "sections", "start", "waves"}  # fmt: skip
"""Files on what a page says: it keeps nothing for visits without a connection, which is a fifth of a visit's work."""

VIEWPORT = {"width": 360, "height": 740}
"""A small phone."""


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as driver:
        yield driver


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """A headless Chromium; without one the tests fail, they are never skipped."""
    browser = launch(playwright)
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A real aggregator with the demonstration's questions for all tests of a process: they count what they add."""
    with start(tmp_path_factory.mktemp("site") / "data", demo_survey()) as process:
        yield process


@pytest.fixture(scope="session")
def every(site: Running) -> Running:
    """A survey that asks every type of question, in English."""
    return publish(site, survey(name="every", questions=every_type()))


@pytest.fixture(scope="session")
def answered(site: Running) -> Running:
    """A closed survey with sixty reports, twenty of them from one cohort; tests only read it."""
    answered = publish(site, survey(name="answered"))
    transport = Transport(answered.url)
    for number in range(60):
        answers = {"cheated": "no", "reason": "fun", "year": "second" if number < 20 else "first"}
        Respondent(answered.survey, transport, MemoryLedger()).answer(answers)
    answered.close()
    return answered


@pytest.fixture(scope="session")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator with a key for a survey whose reports are signed."""
    folder, asked = tmp_path_factory.mktemp("keyed"), blind_survey()
    KeysFile(str(folder / "keys"))._write({asked.name: (key(0),)})
    with start(folder / "data", asked, blind_keys_file=str(folder / "keys")) as process:
        yield process


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator on which each page of the studio has something to show."""
    with studio_site(tmp_path_factory.mktemp("studio") / "data") as site:
        yield site


@pytest.fixture
def new_context(browser: Browser, request: pytest.FixtureRequest) -> Iterator[NewContext]:
    """A browser with nothing remembered, where nothing moves: painting that 60 times a second is a tenth of all."""
    contexts: list[BrowserContext] = []
    workers = "block" if request.path.stem.removeprefix("test_") in WITHOUT_WORKER else "allow"
    usual = {"service_workers": workers, "reduced_motion": "reduce"}

    def open_context(**options: Any) -> BrowserContext:
        contexts.append(browser.new_context(**{**usual, **options}))
        return contexts[-1]

    yield open_context
    for context in contexts:
        context.close()


@pytest.fixture
def visit(new_context: NewContext, site: Running) -> Visit:
    """A new visitor on a phone, with nothing remembered."""
    return Visit(new_context(viewport=VIEWPORT), site)


@pytest.fixture
def page(visit: Visit) -> Page:
    """The visitor's first tab, on the form."""
    return visit.open()


@pytest.fixture(scope="session")
def axe() -> Iterator[str]:
    """The address of the accessibility checker's script: a browser that has loaded it once has it compiled."""
    with serving(AXE.parent, {"Cache-Control": "max-age=86400"}) as origin:
        yield f"{origin}/{AXE.name}"


@pytest.fixture(scope="session")
def tampered(site: Running) -> str:
    """The survey's text with a coin that nearly always tells the truth."""
    text = site.survey.canonical.decode().replace('"3/4"', '"99/100"')
    assert json.loads(text)["questions"][0]["mechanism"]["a"] == "99/100"
    return text


@pytest.fixture
def host(tmp_path: Path) -> Iterator[str]:
    """Serve the files of the test's folder, as the host of a single question, on an origin of its own."""
    with serving(tmp_path) as origin:
        yield origin


@pytest.fixture
def place(site: Running) -> str:
    """Return the address of the frame of a single question."""
    return f"{site.url}/q/1/"


@pytest.fixture
def tab(new_context: NewContext) -> Page:
    return new_context().new_page()


@pytest.fixture
def show(tab: Page, tmp_path: Path, host: str, place: str) -> Show:
    """Load a host's page in the tab, written anew."""

    def load(*questions: str, **options: str) -> None:
        write_host(tmp_path, place, *questions, **options)
        tab.goto(host)

    return load
