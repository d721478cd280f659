"""Everybody can use the form: keyboard, screen reader, large text, other languages, either scheme."""

import re
from collections.abc import Iterable

import pytest
from playwright.sync_api import Browser, Frame, Page, expect
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.hosts import AXE
from tests.browser.states import OPEN_ALL, states
from tests.browser.visit import Visit, publish, receipt, send
from tests.conftest import Running
from tests.surveys import document

ANSWERS = (1, 0, 2, 3, 1)
LOADED = """(address) => "axe" in window || new Promise((go) => {
    const script = Object.assign(document.createElement("script"), { src: address });
    script.onload = () => go(true);
    script.onerror = () => go(false);
    document.head.append(script);
    script.remove();
})"""
FOUND = """async (options) =>
    (await axe.run({ resultTypes: ["violations"], selectors: false, preload: false, ...options })).violations
        .map((rule) => `${rule.id}: ${rule.nodes[0].html}`)"""
"""Runs the checker. Without the first options it describes elements that it has nothing against, and where they are;
the third one is for videos."""
TARGETS = """[...document.querySelectorAll("button, select, summary, .option, [type=text], [type=date], .asked-by a")]
    .filter((node) => node.checkVisibility())
    .map((node) => [node.outerHTML, node.getBoundingClientRect()])
    .map(([text, { height, width }]) => [text, Math.ceil(width), Math.ceil(height)])"""
TOLD = """[document.documentElement.lang, getComputedStyle(document.body).direction,
    document.querySelectorAll("h1").length]"""
FOCUSED = "document.activeElement.tagName + document.activeElement.className"
FOCUSED_IN = {
    "closed": "BODY",
    "explanation": "BODY",
    "summary": "DIVproblem",
    "practice": "BUTTON",
    "check answered wrong": "BUTTONprimary",
    "check told": "BUTTONprimary",
}
"""What has the focus in a state, where it is not the heading."""


@pytest.fixture(scope="session")
def foreign(site: Running) -> Running:
    """A survey that speaks Arabic, hides markup in a text, and has a choice without a translation."""
    asked = document(name="foreign", title={"en": "<img src=x onerror=alert(1)>", "ar": "استبيان"})
    asked["questions"][0]["label"] = {"en": "Cheated?<script>alert(1)</script>", "ar": "هل غششت؟"}
    return publish(site, parse_survey(asked))


def load(page: Page | Frame, axe: str) -> None:
    """Load the accessibility checker from its address; where the page's policy forbids that, the driver adds it."""
    if not page.evaluate(LOADED, axe):
        page.evaluate(AXE.read_text(encoding="utf-8"))


def violations(page: Page, axe: str, *rules: str) -> list[str]:
    """Return what the accessibility checker finds, by all of its rules or by these alone."""
    load(page, axe)
    return list(page.evaluate(FOUND, {"runOnly": rules} if rules else {}))


def barriers(page: Page, axe: str | None) -> list[str]:
    """Return what keeps somebody out: on a phone in the light, a desk in the dark; without a checker, its width."""
    found, size = [], page.viewport_size or {}
    for width, scheme in ((320, "light"), (1100, "dark")):
        page.set_viewport_size({"width": width, "height": size["height"]})
        if axe:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            found += violations(page, axe)
        if page.evaluate("document.documentElement.scrollWidth") > width:
            found.append(f"wider than {width} pixels")
    page.set_viewport_size({"width": size["width"], "height": size["height"]})
    page.emulate_media(color_scheme="light")
    return found


def kept_out(page: Page, axe: str, addresses: Iterable[str], *languages: str) -> dict[tuple[str, str], list[str]]:
    """Return what keeps somebody out, every fold open; axe sees one language, since only widths differ in others."""
    found = {}
    for address in addresses:
        for language in ("en", *languages):
            page.set_extra_http_headers({"Accept-Language": language})
            page.goto(address)
            # A page that waits for its result loads itself anew, also while the next one is on its way.
            page.wait_for_selector("#calculation", state="detached")
            page.evaluate(OPEN_ALL)
            found[address, language] = barriers(page, axe if language == "en" else None)
            told = [language, "rtl" if language == "ar" else "ltr", 1]
            found[address, language] += [] if page.evaluate(TOLD) == told else ["no heading or another language"]
    return {place: faults for place, faults in found.items() if faults}


def test_barriers_are_found(browser: Browser, axe: str) -> None:
    page = browser.new_page(viewport=VIEWPORT)
    page.set_content("""<!doctype html><html lang="en"><title>Faults</title><main><h1>Faults</h1>
        <input><div style="width: 700px">wide</div><p class="light">pale</p><p class="dark">pale</p></main>
        <style>.light { color: #eee; } .dark { color: #000; }
        @media (prefers-color-scheme: dark) { body { background: #000; } .light { color: #fff; } div { color: #fff; }
        h1 { color: #fff; } .dark { color: #222; } }</style>""")
    found = barriers(page, axe)
    page.close()

    assert [rule for rule in found if rule.startswith("label:")] != []
    assert "wider than 320 pixels" in found
    assert "wider than 1100 pixels" not in found
    assert re.findall('color-contrast: <p class="(light|dark)"', " ".join(found)) == ["light", "dark"]


def test_every_state_is_for_everybody(new_context: NewContext, site: Running, axe: str) -> None:
    """Nothing scrolls sideways at 320 CSS pixels, which a 1280 pixel screen has at 400 %."""
    context = new_context(bypass_csp=True, reduced_motion="reduce", viewport={"width": 320, "height": 256})
    found = {}
    for name, page in states(Visit(context, site)):
        assert page.evaluate("document.documentElement.scrollWidth") == 320, name
        assert [target for target in page.evaluate(TARGETS) if min(target[1:]) < 44] == [], name
        assert page.locator("h1").count() == 1, name
        assert page.evaluate(FOCUSED) == FOCUSED_IN.get(name, "H1"), name
        found[name] = barriers(page, axe)

    assert {name: rules for name, rules in found.items() if rules} == {}
    assert len(found) == 18


def test_keyboard_alone_is_enough(visit: Visit, page: Page) -> None:
    for question in range(len(ANSWERS)):
        while page.evaluate("document.activeElement.name") != f"q{question}":
            page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    assert [receipt(page)["bytes"]] == visit.bodies
    assert page.evaluate("document.activeElement.tagName") == "H1"


def test_questions_have_names_for_screen_readers(page: Page) -> None:
    group = page.get_by_role("group", name="sexual relations with somebody other than your husband while")
    assert group.count() == 1
    assert group.get_by_role("radio", name="Yes").count() == 1
    assert "75 of 100 people send yes" in page.inner_text("#questions > .odds")
    assert group.get_attribute("aria-describedby") == "q0-hint"
    page.click("#questions [type=submit]")
    assert group.get_attribute("aria-describedby") == "q0-hint q0-fault"
    group.get_by_role("radio", name="No").check()
    assert group.get_attribute("aria-describedby") == "q0-hint"
    assert page.locator("[role=status][aria-live=polite]").count() == 1


def test_picture_is_seen_without_colours(new_context: NewContext, site: Running) -> None:
    context = new_context(viewport=VIEWPORT, forced_colors="active")
    page = Visit(context, site).arrive()
    on, off = (
        page.evaluate(f"Object.assign({{}}, getComputedStyle(document.querySelector('{c}')))") for c in (".on", ".off")
    )

    assert on["stroke"] != off["stroke"]
    assert on["strokeWidth"] != off["strokeWidth"]


def test_reader_is_spoken_to_in_her_language(new_context: NewContext, foreign: Running) -> None:
    context = new_context(locale="ar-EG")
    page = Visit(context, foreign).open()

    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["ar", "rtl"]
    assert page.title() == "الأسئلة – استبيان"
    assert page.locator("legend span[lang]").all_text_contents()[-1] == "Year?"
    assert page.inner_text("button[type=submit]") == "إرسال"
    assert page.locator("button[type=submit] [lang]").count() == 0


def test_markup_in_a_survey_stays_text(new_context: NewContext, foreign: Running) -> None:
    context = new_context()
    visit = Visit(context, foreign)
    page = visit.open()
    page.on("dialog", lambda dialog: visit.complaints.append(dialog.message))

    assert page.inner_text("h1") == "<img src=x onerror=alert(1)>"
    assert "Cheated?<script>alert(1)</script>" in page.inner_text("legend >> nth=0")
    send(page, 0, 1, 1)
    assert page.locator("img, main script").count() == 0
    assert visit.complaints == []


def test_title_of_the_page_names_the_step(visit: Visit) -> None:
    page = visit.arrive()
    own = visit.site.survey.title["en"]
    assert page.title() == own
    page.click("#explanation > .actions .primary")
    assert page.title() == f"One question first – {own}"
    page.click("#check button:not(.primary)")
    assert page.title() == f"Questions – {own}"
    page.select_option("select", "de")
    expect(page).to_have_title(re.compile("^Fragen – "))
    page.go_back()
    expect(page).to_have_title(re.compile("^Zuerst eine Frage – "))
