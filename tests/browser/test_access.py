"""Everybody can use the form: keyboard, screen reader, large text, other languages, either scheme."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.conftest import VIEWPORT
from tests.browser.states import states
from tests.browser.visit import Visit, receipt, send
from tests.conftest import Running, start
from tests.surveys import document

ANSWERS = (1, 0, 2, 3, 1)
DESKTOP = {"width": 1100, "height": 800}
TARGETS = """[...document.querySelectorAll("button, input, summary")]
    .filter((node) => node.checkVisibility())
    .map((node) => [node.outerHTML, node.offsetWidth, node.offsetHeight])"""


@pytest.fixture
def foreign(tmp_path: Path) -> Iterator[Running]:
    """An aggregator whose survey speaks Arabic, hides markup in a text, and has a choice without a translation."""
    asked = document(title={"en": "<img src=x onerror=alert(1)>", "ar": "استبيان"})
    asked["questions"][0]["label"] = {"en": "Cheated?<script>alert(1)</script>", "ar": "هل غششت؟"}
    with start(tmp_path / "data", parse_survey(asked)) as process:
        yield process


def violations(page: Page, axe: str) -> list[str]:
    """What the accessibility checker finds."""
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    return [f"{rule['id']}: {rule['nodes'][0]['html']}" for rule in found]


@pytest.mark.parametrize("size", [VIEWPORT, DESKTOP], ids=["phone", "desktop"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_passes_the_checker(
    browser: Browser, site: Running, axe: str, scheme: str, size: dict[str, int]
) -> None:
    """No violation from the explanation to a withdrawn report, nor in what may go wrong on the way."""
    context = browser.new_context(color_scheme=scheme, bypass_csp=True, reduced_motion="reduce", viewport=size)
    found = {name: violations(page, axe) for name, page in states(Visit(context, site))}
    context.close()

    assert {name: rules for name, rules in found.items() if rules} == {}
    assert len(found) == 20


def test_keyboard_alone_is_enough(visit: Visit, page: Page) -> None:
    """Tab, arrows, space and Enter reach from the first question to the receipt."""
    for question in range(len(ANSWERS)):
        while page.evaluate("document.activeElement.name") != f"q{question}":
            page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("table")
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert [receipt(page)["bytes"]] == visit.bodies
    assert page.evaluate("document.activeElement.tagName") == "H1"


def test_questions_have_names_for_screen_readers(page: Page) -> None:
    """Each question is a group with its label, and says its odds; each option is a radio button with its label."""
    group = page.get_by_role("group", name="sexual relations with somebody other than your husband while")
    assert group.count() == 1
    assert group.get_by_role("radio", name="Yes").count() == 1
    described = (group.get_attribute("aria-describedby") or "").split()
    assert any("75 send yes" in (page.text_content(f"#{name}") or "") for name in described)
    assert page.locator("[role=status][aria-live=polite]").count() == 1


def test_every_state_reflows_and_its_targets_are_large_enough(browser: Browser, site: Running) -> None:
    """
    At 320 CSS pixels, a 1280 pixel screen at 400 %, nothing scrolls sideways; and whatever can be pressed is at least
    24 pixels high and wide.
    """
    context = browser.new_context(viewport={"width": 320, "height": 256}, reduced_motion="reduce")
    for name, page in states(Visit(context, site)):
        assert page.evaluate("document.documentElement.scrollWidth") == 320, name
        targets = page.evaluate(TARGETS)
        assert [target for target in targets if min(target[1:]) < 24] == [], name
    context.close()


def test_every_state_has_a_heading_with_the_focus(browser: Browser, site: Running) -> None:
    """One h1 in each; where the page has moved on by itself, it has the focus, or the summary has."""
    context = browser.new_context(viewport=VIEWPORT, reduced_motion="reduce")
    for name, page in states(Visit(context, site)):
        assert page.locator("h1").count() == 1, name
        focused = page.evaluate("document.activeElement.tagName + document.activeElement.className")
        expected = {"closed": "BODY", "explanation": "BODY", "summary": "DIVproblem", "practice": "BUTTON"}
        expected |= {"check answered wrong": "BUTTONprimary", "check told": "BUTTONprimary"}
        assert focused == expected.get(name, "H1"), name
    context.close()


def test_picture_is_seen_without_colours(browser: Browser, site: Running) -> None:
    """Where the reader forces her own colours, the dots take them; they differ in size as well."""
    context = browser.new_context(viewport=VIEWPORT, forced_colors="active")
    page = Visit(context, site).arrive()
    on, off = (
        page.evaluate(f"Object.assign({{}}, getComputedStyle(document.querySelector('{c}')))") for c in (".on", ".off")
    )
    context.close()

    assert on["stroke"] != off["stroke"]
    assert on["strokeWidth"] != off["strokeWidth"]


def test_reader_is_spoken_to_in_her_language(browser: Browser, foreign: Running) -> None:
    """The survey's own texts, their direction, and a mark where another language stands in."""
    context = browser.new_context(locale="ar-EG")
    page = Visit(context, foreign).open()

    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["ar", "rtl"]
    assert page.title() == "استبيان"
    assert page.locator("legend span[lang]").all_text_contents()[-1] == "Year?"
    assert page.inner_text("button[type=submit]") == "متابعة"
    assert page.locator("button[type=submit] [lang]").count() == 0
    context.close()


def test_markup_in_a_survey_stays_text(browser: Browser, foreign: Running) -> None:
    """A text is shown letter by letter, whatever it looks like."""
    context = browser.new_context()
    visit = Visit(context, foreign)
    page = visit.open()
    page.on("dialog", lambda dialog: visit.complaints.append(dialog.message))

    assert page.inner_text("h1") == "<img src=x onerror=alert(1)>"
    assert "Cheated?<script>alert(1)</script>" in page.inner_text("legend >> nth=0")
    send(page, 0, 1, 1)
    assert page.locator("img, main script").count() == 0
    assert visit.complaints == []
    context.close()
