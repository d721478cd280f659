"""The first screen: who asks, whether it can be answered, what is agreed to, and buttons that stay in sight."""

import json
import re
from collections.abc import Callable, Iterator
from importlib.resources import files
from secrets import token_hex
from typing import Any

import pytest
import yaml
from playwright.sync_api import Error, Page, Route, expect
from sottovoce.aggregator.authoring.templates import template_file
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.conftest import NewContext
from tests.browser.states import FILLED, OPEN_ALL
from tests.browser.test_access import violations
from tests.browser.test_tokens import invitation
from tests.browser.visit import Visit, publish
from tests.conftest import Running
from tests.surveys import document, survey

RESEARCHER = {
    "name": {"en": "Dr A. Example", "de": "Dr. A. Beispiel"},
    "institution": {"en": "University of Example"},
    "contact": "ethics@example.org",
    "ethics": {"en": "Approved by the board, number 17."},
}

MANY_WORDS = " ".join(["word"] * 41)

BOTH = ["Begin"]

STATES = [
    ({"kind": "open", "date": "2026-05-12T09:00:00Z"}, "Open until May 12, 2026 at 9:00 AM.", BOTH),
    ({"kind": "open", "date": None}, "", BOTH),
    ({"kind": "early", "date": "2026-03-03T09:00:00Z"}, "Opens on March 3, 2026 at 9:00 AM.", []),
    ({"kind": "closed", "date": "2026-05-12"}, "This survey has been closed since May 12, 2026.", []),
    ({"kind": "closed", "date": None}, "This survey is closed.", []),
    ({"kind": "retired"}, "This version was replaced. Ask us", []),
    ({"kind": "offline"}, "No connection: you can answer now; it is sent later.", BOTH),
    ({"kind": "checking"}, "Checking your link.", BOTH),
    ({"kind": "token"}, "This link cannot be used: it was used before, was taken back, or is mistyped. Ask us", []),
]

Starts = Callable[..., Running]


@pytest.fixture
def starts(site: Running) -> Starts:
    """Publishes a survey, some of its keys changed."""
    return lambda **changes: publish(site, survey(name=f"first-{token_hex(4)}", **changes))


def test_first_step_fits_a_phone_and_has_few_words(new_context: NewContext, starts: Starts) -> None:
    """At most 110 words, or 220 characters in Chinese, without the survey's own, buttons and what is folded."""
    coin = {"name": "binary_rr", "a": "3/4", "b": "1/4"}
    asked = [{"type": "boolean", "name": f"q{n}", "label": {"en": "Q?"}, "mechanism": coin} for n in range(4)]
    site = starts(questions=asked, title=dict.fromkeys(LANGUAGES, "T"))
    page = Visit(new_context(viewport={"width": 390, "height": 844}), site).arrive()
    parts = "#explanation > p:not(.asked-by), #explanation > section"
    offenders = {}
    for language in in_turn(page):
        text = " ".join(page.locator(parts).all_inner_texts())
        box = page.locator("#explanation > .actions").bounding_box()
        assert box is not None
        before = page.locator("#explanation > .actions").evaluate(
            "node => node.previousElementSibling.previousElementSibling.innerText"
        )
        fits = (
            len(re.findall(r"[\u4e00-\u9fff]", text)) <= 220
            and len(text.split()) <= 110
            and box["y"] + box["height"] <= 844
            and page.locator("#explanation > p").last.inner_text() in {before, ""}
        )
        if not fits:
            offenders[language] = (text, box)
    assert offenders == {}


def in_turn(page: Page) -> Iterator[str]:
    """Have the page speak each language in turn; a choice that it lacks fails."""
    for language in LANGUAGES:
        page.select_option("#header select", language)
        expect(page.locator("html")).to_have_attribute("lang", language)
        yield language


def whole(site: Running, name: str) -> Running:
    """Publish README's sample, or a template."""
    text = files("sottovoce.demo").joinpath("sample.yaml").read_bytes() if name == "exam" else template_file(name)
    return publish(site, parse_survey({**yaml.safe_load(text), "name": f"near-{token_hex(4)}"}))


@pytest.mark.parametrize("name", ["exam", "protection"])
def test_begin_of_whole_surveys_is_near(new_context: NewContext, site: Running, name: str) -> None:
    """In every language Begin is in the window of a phone; on a small one the first step ends within two windows."""
    running, far = whole(site, name), {}
    page = Visit(new_context(viewport={"width": 390, "height": 844}), running).arrive()
    for language in in_turn(page):
        for width, height, deepest in [(390, 844, 844), (320, 568, 2 * 568)]:
            page.set_viewport_size({"width": width, "height": height})
            box = page.locator("#explanation > .actions .primary").bounding_box()
            assert box is not None
            if box["y"] + box["height"] > deepest:
                far[language, width] = box
    assert far == {}


@pytest.mark.parametrize(("size", "text"), [((320, 568), "100%"), ((390, 664), "200%")])
def test_begin_stands_below_consent_on_a_small_screen(
    new_context: NewContext, site: Running, size: tuple[int, int], text: str
) -> None:
    """It covers nothing: who presses it has had consent before it."""
    width, height = size
    page = Visit(new_context(viewport={"width": width, "height": height}), site).arrive()
    page.evaluate("size => { document.documentElement.style.fontSize = size; }", text)
    order = page.evaluate(
        """() => ["#explanation > p:last-of-type", "#explanation > .actions", "#explanation > details"]
            .map((name) => document.querySelector(name).getBoundingClientRect().top)"""
    )

    assert order == sorted(order)
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_who_asks_stands_first(new_context: NewContext, starts: Starts, axe: str) -> None:
    asked = {
        "researcher": RESEARCHER,
        "notice": {"en": "You may ask what is kept."},
        "retention": {"ids_days": 30, "delete_on": "2099-03-31"},
        "description": {"en": "About exams."},
    }
    context = new_context(bypass_csp=True, reduced_motion="reduce")
    page = Visit(context, starts(**asked)).arrive()
    first = page.locator("#explanation > *").first.inner_text()
    link = page.locator(".asked-by a")
    leads = [link.get_attribute(name) for name in ("href", "target")]
    page.evaluate(OPEN_ALL)
    page.wait_for_function(FILLED)
    about = page.locator("#explanation > details", has_text="About this study").inner_text()
    found = violations(page, axe)

    assert first == "University of Example · Dr A. Example · Ask us"
    assert leads == ["mailto:ethics@example.org", None]
    for text in ("About exams.", "number 17", "You may ask what is kept.", "deletes itself on March 31, 2099."):
        assert text in about
    assert found == []


@pytest.fixture(scope="session")
def researched(site: Running) -> Running:
    return publish(site, survey(name="researched", researcher=RESEARCHER))


def told_of(status: dict[str, Any], code: str = "", instead: str = "") -> Callable[[Route], None]:
    """Serves the page's script with a first step that is told this state, and one more place changed."""
    line = "const { status = UNKNOWN } = known;"

    def serve(route: Route) -> None:
        try:
            script = route.fetch().text()
        except Error:
            return  # the test ended, and with it its context
        for old, new in [(line, f"const status = {json.dumps(status)};"), (code, instead)]:
            assert old in script
            script = script.replace(old, new) if old else script
        route.fulfill(body=script, content_type="text/javascript")

    return serve


def test_status_line_says_whether_it_can_be_answered(new_context: NewContext, researched: Running, axe: str) -> None:
    context = new_context(timezone_id="UTC", bypass_csp=True, reduced_motion="reduce")
    page, script, seen = context.new_page(), "**/respondent.js", []
    for status, _, _ in STATES:
        context.unroute(script)
        context.route(script, told_of(status))
        page.goto("about:blank")
        page.goto(researched.link)
        page.wait_for_selector("#explanation")
        line = page.locator("#state")
        said = line.inner_text().replace("\u202f", " ") if line.is_visible() else ""
        shown = page.locator("#explanation > .actions button").all_inner_texts()
        held = page.locator("#explanation > .actions .primary:disabled").count()
        seen.append((status, said, shown, held, violations(page, axe)))

    assert seen == [(status, told, buttons, status["kind"] == "checking", []) for status, told, buttons in STATES]


def test_trial_says_that_it_is_not_the_real_survey(new_context: NewContext, researched: Running) -> None:
    """In place of the day on which it closes."""
    context = new_context()
    context.route("**/respondent.js", told_of({"kind": "open", "date": "2026-05-12"}, "survey.document.trial", "true"))
    page = Visit(context, researched).arrive()
    told = page.inner_text("#state")

    assert told == "Test run: not the real survey."


def test_long_consent_is_a_step_of_its_own(new_context: NewContext, starts: Starts, axe: str) -> None:
    context = new_context(bypass_csp=True, reduced_motion="reduce")
    page = Visit(context, starts(consent={"en": MANY_WORDS})).arrive()
    first = page.inner_text("#explanation")
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#consent")
    text = page.inner_text("#consent")
    found = violations(page, axe)
    page.click("#consent button:not(.primary)")
    page.wait_for_selector("#explanation")
    page.click("#explanation > .actions .primary")
    page.click("#consent .primary")
    page.wait_for_selector("#check")

    assert "Begin shows what you agree to." in first
    assert MANY_WORDS not in first
    assert MANY_WORDS in text
    assert found == []


def test_short_consent_stands_on_the_first_step(new_context: NewContext, starts: Starts) -> None:
    context = new_context()
    consent = MANY_WORDS.removesuffix(" word")
    page = Visit(context, starts(consent={"en": consent})).arrive()
    first = page.inner_text("#explanation")
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#check")

    assert consent in first
    assert "Begin means you agree." in first


def test_own_coin_speaks_of_no_dice(new_context: NewContext, starts: Starts) -> None:
    context = new_context()
    page = Visit(context, starts(privacy={"procedure": "own_coin"}, questions=[document()["questions"][0]])).arrive()
    page.evaluate(OPEN_ALL)
    page.wait_for_function(FILLED)
    said = [page.inner_text("main")]
    page.click("#explanation > .actions .primary")
    said.append(page.inner_text("#check"))
    for _ in range(2):
        page.check("#check input >> nth=0")
        page.click("#check [type=submit]")
        said.append(page.inner_text("#check"))
    page.click("#check .primary")
    page.check("#q0-1")
    said.append(page.inner_text("main"))
    page.click("#questions [type=submit]")
    page.wait_for_selector("#receipt")
    page.evaluate(OPEN_ALL)
    said.append(page.inner_text("main"))

    assert "You toss a coin for each private answer" in said[0]
    assert [text for text in said if "dice" in text.lower() or " die" in text.lower()] == []


def test_personal_link_says_that_it_was_opened(new_context: NewContext, starts: Starts) -> None:
    """Whoever runs the survey sees more of a personal link than of an open one."""
    context = new_context()
    site = starts(access="token")
    page = Visit(context, site).arrive(invitation(site)[1])
    text = page.inner_text("#explanation")

    assert "The server sees that this link was opened at your network address, and when." in text


VISIBLE = """() => ["main", "footer"].flatMap((name) =>
    document.querySelector(name).innerText.split(/\\s+/).filter((word) => /[\\p{L}\\p{N}]/u.test(word)))"""
"""The words of a step, without the choice of a language."""

FOUR = ["Have you been harassed at work?", "Did you tell anyone?", "Was it a superior?", "Did you think of leaving?"]


def test_four_questions_take_six_taps_and_few_words(new_context: NewContext, starts: Starts) -> None:
    """From the link to the receipt at most 220 words, the survey's own included, and one tap beside each answer."""
    coin = {"name": "binary_rr", "a": "3/4", "b": "1/4"}
    asked = [
        {"type": "boolean", "name": f"q{n}", "label": {"en": text}, "mechanism": coin} for n, text in enumerate(FOUR)
    ]
    taps = ["#explanation > .actions .primary", *(f"#q{n}-1" for n in range(4)), "#questions [type=submit]"]
    site = starts(title={"en": "Life at work"}, questions=asked, check=False, researcher=RESEARCHER)
    page = Visit(new_context(locale="en"), site).arrive()
    words = [*page.evaluate(VISIBLE)]
    for tap in taps:
        page.click(tap)
        if tap == taps[0]:
            page.wait_for_selector("#questions")
            words += page.evaluate(VISIBLE)
    page.wait_for_selector("#receipt")
    words += page.evaluate(VISIBLE)

    assert len(taps) == 6
    assert 150 < len(words) <= 220, len(words)


def test_sample_has_few_words(new_context: NewContext, site: Running) -> None:
    """What counts: the survey's own, buttons, headings of folded parts and the line at the foot of each step."""
    page = Visit(new_context(locale="en"), whole(site, "exam")).arrive()
    words = page.evaluate(VISIBLE)
    before = len(words) - words[::-1].index("Begin")
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#questions")
    words += page.evaluate(VISIBLE)
    for group in page.locator("#questions fieldset").all():
        group.locator("input").first.check()
    page.click("#questions [type=submit]")
    page.wait_for_selector("#receipt")
    words += page.evaluate(VISIBLE)

    assert before <= 120, before
    assert len(words) <= 280, len(words)
