"""The page to try one question, opened from a file as somebody saved it."""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page
from sottovoce.aggregator.estimators.support import DEFAULT_RULE, estimate_share

from tests.browser.conftest import NewContext
from tests.browser.engines import Window, chromium, firefox, wait, webkit
from tests.browser.test_question import checked

PAGE = (Path(__file__).parents[2] / "docs" / "try.html").as_uri()
LANGUAGES = ("en", "ar", "de", "es", "fr", "hi", "it", "pt", "zh-Hans")


@pytest.fixture
def page(new_context: NewContext) -> Iterator[Page]:
    """Its tab, on a phone, of a person who wants no motion."""
    context = new_context(viewport={"width": 390, "height": 844}, reduced_motion="reduce", offline=True)
    yield context.new_page()
    context.close()


def test_true_answer_stays_and_a_thousand_people_are_estimated(page: Page, axe: str) -> None:
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(PAGE)
    sent = set()
    for _ in range(60):
        page.get_by_role("button", name="Yes").click()
        assert "Your answer: Yes. It stays here." in page.inner_text("main")
        sent.add(page.locator("section .note").first.inner_text())
    assert sent == {"A survey would send: Yes.", "A survey would send: No."}
    page.locator("#share").fill("100")
    page.get_by_role("button", name="Let them answer").click()
    page.wait_for_selector("section:nth-of-type(2) .note")
    told = page.locator("section").nth(1).inner_text()
    assert "In truth: 100%" in told
    # One interval in forty ends below the truth, none below 80.
    assert re.search("to (100\\.0|[89][0-9]\\.[0-9])%", told)
    assert {address.partition(":")[0] for address in asked} <= {"file", "data"}
    assert page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
    assert checked(page, axe) == []


def test_page_speaks_nine_languages_on_a_narrow_screen(page: Page, axe: str) -> None:
    page.set_viewport_size({"width": 320, "height": 568})
    for language in LANGUAGES:
        page.goto(PAGE)
        page.locator("select").select_option(language)
        page.wait_for_function("tag => document.documentElement.lang === tag", arg=language)
        page.locator("button.second").first.click()
        page.locator("button.primary").click()
        page.wait_for_selector("section:nth-of-type(2) .note")
        for size in ("100%", "200%"):
            page.evaluate("size => { document.documentElement.style.fontSize = size; }", size)
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        assert checked(page, axe) == [], language


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chromium", "firefox", "webkit"])
def test_page_works_from_a_file_in_three_browsers(browser: Browser, tmp_path: Path, name: str) -> None:
    starts = {"chromium": lambda: chromium(browser, "plain"), "firefox": lambda: firefox(tmp_path, "plain"),
              "webkit": lambda: webkit(tmp_path, "plain")}  # fmt: skip
    with starts[name]() as window:
        visit(window)


def visit(window: Window) -> None:
    """Answer yes, then let a thousand people answer of whom half say yes; nothing is asked for on the way."""
    window.goto(PAGE)
    wait(lambda: window.run("return document.querySelector('button.second') !== null"))
    window.run("document.querySelector('button.second').click()")
    assert window.run("return document.querySelectorAll('section .note').length") == 1
    slide = "Object.assign(document.querySelector('#share'), { value: 50 }).dispatchEvent(new Event('input'))"
    window.run(f"{slide}; document.querySelector('button.primary').click()")
    wait(lambda: window.run("return document.querySelectorAll('section .note').length") == 2)
    sent, told = window.run(
        "return [...document.querySelectorAll('section:nth-of-type(2) div p')].map((line) => line.innerText)"
    )
    known = estimate_share("yes", int(sent.partition(" ")[0]), 1000, Fraction(3, 4), Fraction(1, 4), DEFAULT_RULE)
    shown = [f"{100 * part:.1f}" for part in (known.clipped, known.low, known.high)]
    assert re.findall(r"[0-9]+\.[0-9]", told) == shown
    asked = window.run("return performance.getEntriesByType('resource').map(({ name }) => name)")
    assert [name for name in asked if not name.startswith("data:")] == []
