"""Every page of the studio in every look: nobody is kept out by colours, size, direction, or by having no mouse."""

from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Response, expect

from tests.browser.studio_site import begun_draft, of_many_questions
from tests.browser.test_access import violations
from tests.browser.visit import add_draft, log_in, sign_in, unfold
from tests.conftest import Running
from tests.exported import TODAY, send
from tests.surveys import document
from tests.unit.aggregator.analysis.mixtures.test_fielded import UNKNOWN, reports

PAGES = (
    *("", "new", "accounts", "me", "journal"),
    *(
        f"{{draft}}/{page}"
        for page in ("design", "privacy", "preview", "elsewhere", "rehearse", "publish", "settings", "team")
    ),
    *(f"surveys/exam/{page}" for page in ("results", "files", "settings", "team", "board", "history")),
    "surveys/exam/tables?kind=crosstab&rows=cheated&columns=reason",
    "surveys/exam/models?kind=regression&outcome=cheated&on=year",
    *(f"surveys/invited/{page}" for page in ("invite", "results", "tables")),
    "surveys/single/design",
    "surveys/single/elsewhere?frame=nowhere",
)
LARGE = (
    *(f"surveys/many/{page}" for page in ("results", "tables", "privacy")),
    *(f"surveys/many-drafted/{page}" for page in ("design", "publish", "rehearse")),
)
"""Of sixty questions."""

WIDE, NARROW = {"width": 1100, "height": 800}, {"width": 320, "height": 640}
LOOKS: dict[str, tuple[dict[str, Any], str]] = {
    "light": ({"viewport": WIDE, "color_scheme": "light"}, "en"),
    "dark": ({"viewport": WIDE, "color_scheme": "dark"}, "hi"),
    "forced colours": ({"viewport": WIDE, "forced_colors": "active"}, "fr"),
    "320 px": ({"viewport": NARROW, "color_scheme": "light"}, "de"),
    "200 % text": ({"viewport": {"width": 640, "height": 800}}, "es"),
    "from the right": ({"viewport": NARROW, "color_scheme": "dark"}, "ar"),
}
MOST_BYTES = 60 * 1024

WITHOUT_A_RING = """() => {
    const node = document.activeElement;
    if (!node || node === document.body) return "";
    if (node.tagName === "IFRAME") {
        // Of what has the focus within a frame no event comes out.
        window.left.delete(node);
        return "within a frame";
    }
    const style = getComputedStyle(node), box = node.getBoundingClientRect();
    const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    return ringed && box.width > 0 && box.height > 0 ? "" : node.outerHTML.slice(0, 120);
}"""
"""What has the focus, unless it can be seen that it has. Within a frame the page in it is to be asked."""

WATCH = """() => {
    const all = "a[href], button, input, select, textarea, summary, iframe, [tabindex]";
    window.left = new Set([...document.querySelectorAll(all)].filter((node) => node.checkVisibility(
        { visibilityProperty: true }) && !node.disabled && node.tabIndex >= 0 && node.type !== "hidden"));
    document.addEventListener("focusin", ({ target }) => {
        const alike = target.type === "radio" ? document.getElementsByName(target.name) : [target];
        for (const node of alike) window.left.delete(node);
    });
    const moments = [...window.left].filter((node) => node.type === "datetime-local");
    const frames = [...window.left].filter((node) => node.tagName === "IFRAME");
    return window.left.size + 7 * moments.length + 30 * frames.length;
}"""
"""Notes what Tab does not reach; of several radio buttons one is enough. Says how many stops there may be, of which a
field of a date and time has eight, and a frame those of its page."""


@pytest.fixture(scope="module")
def draft(browser: Browser, studio: Running) -> str:
    context = browser.new_context()
    found = begun_draft(sign_in(context, studio), studio)
    context.close()
    return found.removeprefix("/dashboard/")


def _researcher(browser: Browser, studio: Running, look: dict[str, Any], language: str) -> Page:
    headers = {"Accept-Language": language}
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce", extra_http_headers=headers, **look)
    return sign_in(context, studio)


def _faults(page: Page, axe: str, larger: bool, *rules: str) -> list[str]:
    """What keeps somebody out of a page with everything unfolded."""
    if larger:
        page.evaluate("document.documentElement.style.fontSize = '200%'")
    page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
    found = violations(page, axe, *rules)
    width = page.viewport_size["width"] if page.viewport_size else 0
    if page.evaluate("document.documentElement.scrollWidth") > width:
        found.append("wider than the window")
    return found


def _visit(
    browser: Browser, studio: Running, axe: str, look: str, paths: list[str], *rules: str
) -> dict[str, list[str]]:
    options, language = LOOKS[look]
    page, larger = _researcher(browser, studio, options, language), look == "200 % text"
    if larger:
        # Where the studio's font comes late, the browser goes on with its own, which is wider.
        page.context.route("**/*.woff2", lambda route: route.abort())
    found = {}
    for path in paths:
        page.goto(f"{studio.url}/dashboard/{path}")
        # The page that waits for a result goes on to it by itself.
        page.wait_for_selector("#calculation", state="detached")
        found[path] = _faults(page, axe, larger, *rules)
    page.context.close()
    return {path: faults for path, faults in found.items() if faults}


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_every_page_passes_the_checker_in_every_look(
    browser: Browser, studio: Running, draft: str, axe: str, look: str
) -> None:
    paths = [path.format(draft=draft) for path in (*PAGES, *LARGE)]
    assert _visit(browser, studio, axe, look, paths) == {}


def test_pages_of_sixty_questions_pass_the_checker(browser: Browser, studio: Running, axe: str) -> None:
    """In the look with least room, by rules that more questions may break: all of them take as long as forty visits."""
    paths = ["surveys/many/results", "surveys/many-drafted/design"]
    rules = ("aria-valid-attr-value", "button-name", "duplicate-id-aria", "heading-order", "label")
    assert _visit(browser, studio, axe, "200 % text", paths, *rules) == {}


@pytest.mark.parametrize("path", ["{draft}/design", "surveys/exam/tables?kind=crosstab&rows=cheated&columns=reason"])
def test_page_is_used_with_the_keyboard_alone(browser: Browser, studio: Running, draft: str, path: str) -> None:
    page = _researcher(browser, studio, {"viewport": WIDE}, "en")
    page.goto(f"{studio.url}/dashboard/{path.format(draft=draft)}")

    assert _walked(page) == []
    page.context.close()


@pytest.mark.slow
def test_every_page_is_used_with_the_keyboard_alone(browser: Browser, studio: Running, draft: str) -> None:
    page = _researcher(browser, studio, {"viewport": WIDE}, "en")
    found = {}
    for path in PAGES:
        page.goto(f"{studio.url}/dashboard/{path.format(draft=draft)}")
        found[path] = _walked(page)
    page.context.close()

    assert {path: faults for path, faults in found.items() if faults} == {}


def _walked(page: Page) -> list[str]:
    """As far as Tab goes: what was not seen to have the focus, and whether anything was left out."""
    # A page that waits for its result loads itself anew.
    page.wait_for_selector("#calculation", state="detached")
    page.evaluate("document.activeElement.blur()")
    found = []
    for _ in range(page.evaluate(WATCH) + 5):
        page.keyboard.press("Tab")
        ringless = page.evaluate(WITHOUT_A_RING)
        found.append(page.frames[-1].evaluate(WITHOUT_A_RING) if ringless == "within a frame" else ringless)
    left = page.evaluate("[...window.left].map((node) => node.outerHTML.slice(0, 120))")
    return [*filter(None, found), *(f"not reached: {each}" for each in left)]


def _loaded(context: BrowserContext, address: str) -> int:
    """Bytes of a page with all that it loads, but for the font, which is loaded once, and a form in a frame."""
    page = context.new_page()
    replies: list[Response] = []
    page.on("response", lambda reply: reply.frame == page.main_frame and replies.append(reply))
    page.goto(address, wait_until="networkidle")
    found = sum(reply.request.sizes()["responseBodySize"] for reply in replies if reply.request.resource_type != "font")
    page.close()
    return int(found)


def test_pages_of_sixty_questions_are_small(browser: Browser, studio: Running) -> None:
    context = browser.new_context()
    log_in(context, studio).close()
    sizes = {path: _loaded(context, f"{studio.url}/dashboard/{path}") for path in LARGE}
    context.close()

    assert all(sizes.values())
    assert {path: size for path, size in sizes.items() if size > MOST_BYTES} == {}


def test_alarm_lies_beside_the_choice_of_what_is_shown(browser: Browser, studio: Running) -> None:
    storage = studio.storage()
    storage.publish(UNKNOWN)
    send(storage, UNKNOWN, reports((400, 300)))
    storage.close_survey(UNKNOWN.name, TODAY)
    storage.close()
    page = sign_in(browser.new_context(viewport=WIDE), studio)
    page.goto(f"{studio.url}/dashboard/surveys/{UNKNOWN.name}/results")

    alarm, choice = (page.locator(place).bounding_box() for place in ("section.error", "#choices"))
    page.context.close()
    assert alarm
    assert choice
    assert alarm["y"] < choice["y"] + choice["height"]
    assert alarm["x"] + alarm["width"] <= choice["x"]


def test_live_form_follows_the_card_in_use(browser: Browser, studio: Running) -> None:
    kinds = [of_many_questions("followed")["questions"][place] for place in range(6)]
    add_draft(studio, {**document(), "name": "followed", "questions": kinds})
    page = _researcher(browser, studio, {"viewport": {"width": 1280, "height": 800}}, "en")
    page.goto(f"{studio.url}/dashboard/surveys/followed/design")
    frame = page.frame_locator("iframe.previewed")
    expect(frame.locator("#q0-label")).to_be_in_viewport()
    page.locator("#q5 summary").first.click()
    expect(frame.locator("#q5-label")).to_be_in_viewport()
    assert page.evaluate("document.activeElement.closest('.question').id") == "q5"
    unfold(page.locator("[name='q5.if0']")).select_option("q2")
    expect(page.locator("#if5 input[type=checkbox]")).to_have_count(3)
    page.context.close()


MOST_HEIGHT = {"surveys/six/design": 2000, "surveys/many-drafted/design": 6000, "surveys/many/results": 8000}
"""Highest pages in a window of 1,280 x 800, in pixels: with more, nobody finds a question again."""


def test_pages_are_no_longer_than_promised(browser: Browser, studio: Running) -> None:
    kinds = [of_many_questions("six")["questions"][place] for place in (1, 2, 3, 4, 5, 7)]
    add_draft(studio, {**document(), "name": "six", "questions": kinds})
    page = _researcher(browser, studio, {"viewport": {"width": 1280, "height": 800}}, "en")
    found = {}
    for path in MOST_HEIGHT:
        page.goto(f"{studio.url}/dashboard/{path}")
        # The font is optional: a browser that waited too long for it shows the page in another one, which is wider.
        page.evaluate("document.fonts.load('1rem \"Source Sans 3\"')")
        page.reload()
        found[path] = page.evaluate("document.documentElement.scrollHeight")
        assert page.locator(".question > details[open]").count() == path.endswith("design")
    page.context.close()

    assert {path: height for path, height in found.items() if height > MOST_HEIGHT[path]} == {}
