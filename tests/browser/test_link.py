"""A question at an address of ours, from which a person goes on to another survey with the record."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from playwright.sync_api import Page
from sottovoce.client.question_page import link_page
from sottovoce.shared.by_link.link_question import LinkQuestion, parse_link, published_page

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.question_host import COIN, TOGETHER
from tests.browser.test_access import violations

THEN = "https://forms.example.org/survey?usp=pp_url"
LINK = {**COIN, "then": THEN, "code": "entry.1"}
CONSENT = {"en": "Nothing is stored but a randomized answer."}


@pytest.fixture
def tab(new_context: NewContext) -> Page:
    """Open a tab of a phone whose other survey is an empty page."""
    return opened(new_context)


def opened(new_context: NewContext, **options: Any) -> Page:
    """Open a tab of somebody's own before an empty survey."""
    page = new_context(viewport=VIEWPORT, **options).new_page()
    page.route(
        re.compile("^https://"), lambda route: route.fulfill(body="<!doctype html>Survey", content_type="text/html")
    )
    return page


def publish(folder: Path, document: dict[str, Any], institution: str = "A University") -> LinkQuestion:
    found = parse_link(document)
    body = published_page(link_page().body, found.canonical, institution)
    (folder / f"{found.digest}.html").write_bytes(body)
    return found


def visit(page: Page, host: str, link: LinkQuestion, more: str = "") -> None:
    """Go to a question's address, and wait until it has made up its mind."""
    page.goto("about:blank")
    page.goto(f"{host}/{link.digest}.html{more}")
    page.wait_for_selector("h1, .problem p")


def answer(page: Page, option: int = 1) -> None:
    page.locator(f"#answer0-{option}").check()
    page.get_by_role("button", name="Send").click()
    page.wait_for_selector("code")


def go_on(page: Page) -> dict[str, str]:
    """Press Continue, and return the parameters of the other survey's address."""
    page.get_by_role("button", name="Continue", exact=True).click()
    page.wait_for_url(re.compile("^https://"))
    return dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))


@pytest.fixture
def coin(tmp_path: Path) -> LinkQuestion:
    return publish(tmp_path, LINK)


def test_person_consents_answers_and_takes_the_code_along(tab: Page, tmp_path: Path, host: str) -> None:
    """Consent comes first, then the question, then what leaves: our address has never a record in it."""
    link = publish(tmp_path, {**LINK, "consent": CONSENT})
    seen: list[str] = []
    tab.on("request", lambda request: seen.append(f"{request.url} {request.headers.get('referer', '')}"))
    visit(tab, host, link)
    assert tab.title() == "A University"
    assert tab.locator("fieldset").count() == 0
    assert CONSENT["en"] in tab.inner_text("main")
    tab.get_by_role("button", name="I agree").click()
    assert tab.inner_text("h1") == "Your randomized answer goes to forms.example.org"
    assert "A University" in tab.inner_text("main")
    tab.get_by_role("button", name="Send").click()
    assert tab.locator("#answer0-fault").is_visible()
    answer(tab)
    text = tab.inner_text("main")
    assert "part of the address you go to. It stays in this browser’s history" in text
    assert "forms.example.org keeps it with your IP address" in text
    code = tab.inner_text("code")
    before = tab.evaluate("history.length")
    assert go_on(tab) == {"usp": "pp_url", "entry.1": code}
    assert tab.evaluate("history.length") == before
    assert link.read(code)[0][0] in {0, 1}
    assert link.read(code)[1] == 1
    assert [url for url in seen if code in url] == [f"{tab.url} "]


@pytest.mark.parametrize("place", ["consent", "questions"])
def test_who_declines_goes_on_with_an_empty_code(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    link = publish(tmp_path, {**LINK, **({"consent": CONSENT} if place == "consent" else {})})
    visit(tab, host, link)
    tab.get_by_role("button", name="Continue without answering").click()
    code = tab.inner_text("code")
    kept = tab.evaluate("localStorage['sottovoce-question/1']") or "{}"
    assert json.loads(kept).get("draws", {}) == {}
    assert "part of the address" not in tab.inner_text("main")
    assert go_on(tab)["entry.1"] == code
    assert link.read(code) == ([None], 0)


def test_return_offers_the_same_answer_or_another_person(tab: Page, host: str, coin: LinkQuestion) -> None:
    """Without a name for the person: no receipt, and a new draw that is not kept for whoever says so."""
    visit(tab, host, coin)
    answer(tab)
    first = go_on(tab)["entry.1"]
    visit(tab, host, coin)
    assert "This device has handed on an answer to this question." in tab.inner_text("main")
    assert tab.locator("fieldset, code").count() == 0
    tab.get_by_role("button", name="Continue with it").click()
    assert go_on(tab)["entry.1"] == first
    visit(tab, host, coin)
    tab.get_by_role("button", name="I am another person").click()
    answer(tab, 0)
    assert coin.read(go_on(tab)["entry.1"])[1] == 0
    visit(tab, host, coin)
    tab.get_by_role("button", name="Continue with it").click()
    assert go_on(tab)["entry.1"] == first


def test_person_of_the_address_is_the_participant(tab: Page, tmp_path: Path, host: str) -> None:
    """What else is passed is handed on as it is, and shown; another person of the same device is told."""
    link = publish(tmp_path, {**LINK, "pass": ["wave", {"person": "token"}]})
    codes = []
    for token in ("abc", "abc", "x_-9"):
        visit(tab, host, link, f"?wave=2&token={token}")
        assert f"The survey also receives: wave 2, token {token}" in tab.inner_text("main")
        again = tab.get_by_role("button", name="Continue with it")
        if again.count():
            assert tab.get_by_role("button", name="I am another person").count() == 0
            again.click()
        else:
            assert ("under another name" in tab.inner_text("main")) == (token == "x_-9")
            answer(tab)
        found = go_on(tab)
        assert (found["wave"], found["token"]) == ("2", token)
        codes.append(found["entry.1"])
    assert codes[0] == codes[1]
    assert link.read(codes[2])[1] == 1


OTHERS = [
    "", "?token=a", "?wave=1&token=a&x=1", "?wave=1&token=a&token=b", "?wave=1&token=a%20b", "?wave=1&token=",
    f"?wave=1&token={'a' * 65}", "?wave=1&token=a#x", "?wave=1&token=<b>", "?wave=1&token=a&then=https://evil.example",
]  # fmt: skip


def test_anything_else_in_the_address_is_refused(tab: Page, tmp_path: Path, host: str) -> None:
    link = publish(tmp_path, {**LINK, "pass": ["wave", "token"]})
    for more in OTHERS:
        tab.goto("about:blank")
        visit(tab, host, link, more)
        assert "does not lead to the question" in tab.inner_text(".problem"), more
        assert tab.locator("main a, main button, fieldset").count() == 0, more


def test_page_under_another_name_or_in_a_frame_is_refused(tab: Page, tmp_path: Path, host: str) -> None:
    """The address names what is asked, and nothing lies around it."""
    link = publish(tmp_path, LINK)
    (tmp_path / f"{'0' * 64}.html").write_bytes((tmp_path / f"{link.digest}.html").read_bytes())
    tab.goto(f"{host}/{'0' * 64}.html")
    assert "does not lead to the question" in tab.inner_text(".problem")
    (tmp_path / "index.html").write_text(f'<!doctype html><iframe src="{link.digest}.html"></iframe>')
    tab.goto(host)
    assert "inside another page" in tab.frame_locator("iframe").locator(".problem").inner_text()


def test_named_parameters_take_the_three_columns(tab: Page, tmp_path: Path, host: str) -> None:
    columns = {"value": "d[/data/a b]".replace(" ", ""), "channel": "c", "once": "o"}
    link = publish(tmp_path, {**COIN, "then": "https://survey.example.org/s", **columns})
    visit(tab, host, link)
    tab.get_by_role("button", name="Continue without answering").click()
    assert go_on(tab) == {"d[/data/ab]": "", "c": "", "o": ""}
    visit(tab, host, link)
    answer(tab)
    found = go_on(tab)
    assert found["d[/data/ab]"] in {"yes", "no"}
    assert found["c"] == "binary_rr a=3/4 b=1/4"
    assert found["o"]


def test_several_questions_are_one_stop_with_one_code(tab: Page, tmp_path: Path, host: str) -> None:
    link = publish(tmp_path, {"questions": [TOGETHER, COIN], "then": THEN, "code": "entry.1"})
    visit(tab, host, link)
    assert tab.locator("fieldset").count() == 3
    tab.locator("#answer0-1").check()
    tab.locator("#answer1-0").check()
    tab.locator("#answer2-1").check()
    tab.get_by_role("button", name="Send").click()
    both, one = link.read(go_on(tab)["entry.1"])[0]
    assert both in range(4)
    assert one in range(2)


def test_host_of_anybodys_forms_is_told(tab: Page, tmp_path: Path, host: str) -> None:
    """Its name says nothing of who reads the form; the name of other hosts is shown in ASCII."""
    visit(tab, host, publish(tmp_path, {**LINK, "then": "https://docs.google.com/forms/d/x/viewform"}))
    assert "says nothing about who reads it" in tab.inner_text("main")
    visit(tab, host, publish(tmp_path, {**LINK, "then": "https://xn--universitt-y5a.example/"}))
    assert tab.inner_text("h1").endswith("xn--universitt-y5a.example")
    assert "says nothing about who reads it" not in tab.inner_text("main")


def test_epsilon_is_counted_by_address_and_summed_over_all(tab: Page, tmp_path: Path, host: str) -> None:
    """A third wording at one address is refused, at another it is asked; the sum of all is shown."""

    def wording(number: int, then: str = THEN) -> LinkQuestion:
        return publish(tmp_path, {**LINK, "label": {"en": f"Wording {number}"}, "then": then})

    for number, sum_shown in ((1, "1.10"), (2, "2.20")):
        visit(tab, host, wording(number))
        assert f"epsilon {sum_shown} at this address" in tab.inner_text("main")
        answer(tab)
    visit(tab, host, wording(3))
    assert "too much" in tab.inner_text(".problem")
    visit(tab, host, wording(3, "https://forms.example.org/other"))
    assert "epsilon 3.30 at this address" in tab.inner_text("main")


def test_code_can_be_copied_where_the_host_takes_nothing(new_context: NewContext, tmp_path: Path, host: str) -> None:
    tab = opened(new_context, permissions=["clipboard-read", "clipboard-write"])
    link = publish(tmp_path, {**COIN, "then": THEN})
    visit(tab, host, link)
    answer(tab)
    tab.get_by_role("button", name="Copy").click()
    tab.wait_for_selector("[role=status] span")
    code = tab.inner_text("code")
    assert tab.evaluate("navigator.clipboard.readText()") == code
    assert link.read(code)[1] == 1
    assert "part of the address" not in tab.inner_text("main")
    assert go_on(tab) == {"usp": "pp_url"}


def test_device_that_keeps_nothing_says_so(tab: Page, host: str, coin: LinkQuestion) -> None:
    tab.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error(); } })")
    visit(tab, host, coin)
    assert "keeps nothing" in tab.inner_text("main")
    answer(tab)
    assert coin.read(go_on(tab)["entry.1"])[1] == 0


@pytest.mark.parametrize("language", ["en", "ar", "de", "es", "fr", "hi", "it", "pt-PT", "zh-Hans"])
def test_every_step_is_accessible_in_every_language(
    new_context: NewContext, tmp_path: Path, host: str, axe: str, language: str
) -> None:
    """Without findings of axe, without anything beyond 320 pixels, and whole by keyboard; Arabic runs to the left."""
    tab = opened(new_context, locale=language, bypass_csp=True)
    tab.set_viewport_size({"width": 320, "height": 568})
    link = publish(tmp_path, {**LINK, "then": "https://docs.google.com/x", "consent": CONSENT, "pass": ["token"]})
    visit(tab, host, link, "?token=abc")
    found = []
    for _ in range(3):
        assert tab.evaluate("document.activeElement.tagName") == "H1"
        found.append(tab.inner_text("h1"))
        assert tab.evaluate("document.documentElement.scrollWidth <= 320")
        # What the checker finds is not in words.
        assert language not in {"en", "ar"} or violations(tab, axe) == []
        if tab.locator("fieldset").count():
            tab.keyboard.press("Tab")
            tab.keyboard.press("Space")
            tab.keyboard.press("Tab")
            tab.keyboard.press("Enter")
            tab.wait_for_selector("code")
        elif not tab.locator("code").count():
            tab.locator("button.primary").focus()
            tab.keyboard.press("Enter")
            tab.wait_for_selector("fieldset")
    assert tab.evaluate("document.documentElement.dir") == ("rtl" if language == "ar" else "ltr")
    assert len(set(found)) == 2
    assert tab.evaluate("document.documentElement.lang").split("-")[0] == language.split("-", maxsplit=1)[0]
    assert not re.search(r"\{\w+\}", tab.inner_text("main"))


@pytest.fixture(autouse=True)
def _quiet(tab: Page) -> Iterator[None]:
    """Fail where the page's script has failed."""
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    yield
    assert faults == []
