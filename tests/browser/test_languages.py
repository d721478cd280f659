"""Everybody is spoken to in a language of their own, as far as page and survey speak it."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.conftest import NewContext
from tests.browser.test_access import violations
from tests.browser.test_every_type import fill, go_on
from tests.browser.test_traces import EVERYTHING_KEPT
from tests.browser.visit import Visit, begin, choose, publish, receipt, send
from tests.conftest import Running
from tests.surveys import document

NARROW = {"width": 320, "height": 640}
ROOT = "[document.documentElement.lang, document.documentElement.dir]"
MARKS = "node => [node.closest('[lang]').lang, getComputedStyle(node).direction]"

Opener = Callable[..., Visit]


@pytest.fixture
def visit_from(new_context: NewContext) -> Opener:
    def come(site: Running, locale: str, **options: Any) -> Visit:
        return Visit(new_context(locale=locale, viewport=NARROW, bypass_csp=True, **options), site)

    return come


@pytest.fixture(scope="session")
def mixed(site: Running) -> Running:
    """A survey that speaks English, German in part, and Urdu."""
    asked = document(name="mixed", title={"en": "Exams", "de": "Prüfungen", "ur": "امتحانات"})
    asked["description"] = {"en": "Three questions.", "de": "Drei Fragen."}
    asked["questions"][0]["label"] = {"en": "Cheated?", "de": "Geschummelt?", "ur": "کیا آپ نے نقل کی؟"}
    return publish(site, parse_survey(asked))


def open_page(visit: Visit, link: str = "") -> Page:
    """The visitor's page, once a language can be chosen as well."""
    page = visit.open(link)
    page.wait_for_selector("header select")
    return page


def catalogues(visit: Visit) -> list[str]:
    """In which languages sentences were asked for, in order."""
    paths = [path.removeprefix("GET /assets/catalogues/") for path in visit.paths if "/catalogues/" in path]
    return list(dict.fromkeys(path.partition(".")[0] for path in paths))


def mark(node: Locator) -> list[str]:
    return list(node.evaluate(MARKS))


def switch(page: Page, tag: str) -> None:
    """Choose a language, and wait until the page speaks it."""
    page.focus("header select")
    page.select_option("header select", tag)
    page.wait_for_function("tag => document.documentElement.lang === tag", arg=tag)


@pytest.mark.parametrize(("locale", "tag"), [("ar-EG", "ar"), ("hi-IN", "hi"), ("de-DE", "de"), ("zh-SG", "zh-Hans")])
def test_every_step_fits_and_passes_the_checker(
    visit_from: Opener, every: Running, axe: str, locale: str, tag: str
) -> None:
    visit = visit_from(every, locale, reduced_motion="reduce")
    page = open_page(visit)
    widths, found = [], []

    def look() -> None:
        widths.append(page.evaluate("document.documentElement.scrollWidth"))
        # What the checker finds is not in words, and in English another test lets it look at these steps.
        found.extend(violations(page, axe) if tag == "ar" else [])

    assert page.evaluate(ROOT) == [tag, "rtl" if tag == "ar" else "ltr"]
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    look()
    page.click("button[type=submit]")
    look()
    fill(page)
    page.click("#questions [type=submit]")
    receipt(page)
    look()

    assert found == []
    assert widths == [320] * 3
    assert catalogues(visit) == [tag]
    assert visit.complaints == []


def test_arabic_runs_from_right_to_left(visit_from: Opener, every: Running) -> None:
    """Buttons stand at the right of their labels, numbers keep their sign before them, bytes run as they are."""
    page = open_page(visit_from(every, "ar"))

    option = page.locator("label.option").first
    button, label = (option.locator(part).bounding_box() for part in ("input", "span"))
    assert button is not None
    assert label is not None
    assert button["x"] > label["x"] + label["width"]
    assert page.inner_text("#q9-note") == "عدد من \u2068-1\u2069 إلى \u20681\u2069."
    assert mark(page.locator("#q9-label")) == ["en", "ltr"]
    fill(page)
    page.go_back()
    page.fill("#q7-0", "٩٫٥")
    go_on(page)
    page.click("#questions [type=submit]")
    receipt(page)
    assert mark(page.locator("#receipt_bytes")) == ["ar", "ltr"]
    assert page.locator("tbody td bdi").count() > 0


def test_survey_without_the_readers_language_is_marked(visit_from: Opener, site: Running) -> None:
    visit = visit_from(site, "zh-CN")
    page = open_page(visit)

    assert page.evaluate(ROOT) == ["zh-Hans", "ltr"]
    assert page.inner_text("button[type=submit]") == "发送"
    for text in ("h1", "#q0-label", "label[class=option]:has(#q2-0) span"):
        assert mark(page.locator(text)) == ["en", "ltr"]
    assert mark(page.locator("label.option span").first) == ["zh-Hans", "ltr"]
    assert page.inner_text("header p") == "调查本身的文字没有这种语言的版本。"
    assert page.input_value("header select") == "zh-Hans"
    send(page, 1, 0, 2, 3, 1)
    assert {mark(cell)[0] for cell in page.locator("tbody th span").all()} == {"en"}
    assert visit.complaints == []


def test_one_text_without_translation_is_marked(visit_from: Opener, mixed: Running) -> None:
    page = open_page(visit_from(mixed, "de-AT"))

    assert page.evaluate(ROOT) == ["de", "ltr"]
    assert page.title() == "Fragen – Prüfungen"
    assert page.locator("header p").is_hidden()
    assert page.locator("#main [lang]").all_text_contents() == [
        "Why?",
        "Time",
        "Fear",
        "Fun",
        "Year?",
        "First",
        "Second",
    ]


def test_language_of_the_survey_alone_can_be_chosen(visit_from: Opener, mixed: Running) -> None:
    """Where the page has no Urdu, the survey's texts run from right to left within a page that does not."""
    page = open_page(visit_from(mixed, "ur-PK"))

    assert page.evaluate(ROOT) == ["en", "ltr"]
    assert page.title() == "Questions – امتحانات"
    assert mark(page.locator("#q0-label")) == ["ur", "rtl"]
    assert mark(page.locator("#questions > .odds span").first) == ["en", "ltr"]
    assert page.input_value("header select") == "ur"
    assert page.locator("header p").is_hidden()


def test_every_language_is_offered_under_its_own_name(visit_from: Opener, mixed: Running) -> None:
    page = open_page(visit_from(mixed, "en"))
    options = page.locator("header option")

    tags = options.evaluate_all("all => all.map((one) => one.value)")
    assert tags[:3] == ["de", "en", "ur"]
    assert sorted({*tags} - {"ur"}) == sorted(LANGUAGES)
    assert options.evaluate_all("all => all.map((one) => one.lang)") == tags
    names = dict(zip(tags, options.all_text_contents(), strict=True))
    assert names["ar"] == "العربية"
    assert names["de"] == "Deutsch"
    assert names["hi"] == "हिन्दी"
    assert "中文" in names["zh-Hans"]


def test_switching_keeps_answers_and_draws_nothing(visit_from: Opener, site: Running) -> None:
    visit = visit_from(site, "en-US")
    visit.context.add_init_script(
        "globalThis.drawn = 0; const real = crypto.getRandomValues.bind(crypto);"
        "crypto.getRandomValues = (bytes) => { globalThis.drawn += 1; return real(bytes); };"
    )
    page = open_page(visit)
    choose(page, 1, 0, 2)
    page.click("button[type=submit]")
    checked = page.locator("input:checked").evaluate_all("all => all.map((one) => one.id)")
    drawn = page.evaluate("drawn")
    switch(page, "ar")

    assert page.evaluate(ROOT) == ["ar", "rtl"]
    assert page.locator("input:checked").evaluate_all("all => all.map((one) => one.id)") == checked
    assert page.locator(".missing:visible").all_text_contents() == ["يُرجى اختيار إجابة."] * 2
    assert page.locator(".problem li > span").all_text_contents() == ["يُرجى اختيار إجابة."] * 2
    assert "Send" not in page.inner_text("#main")
    assert page.evaluate("document.activeElement.tagName") == "SELECT"
    switch(page, "en")
    assert page.inner_text("button[type=submit]") == "Send"
    assert page.locator("#main [lang], #main [dir=rtl]").count() == 0
    assert page.evaluate("drawn") == drawn
    assert page.evaluate(EVERYTHING_KEPT) == []
    assert visit.bodies == []
    assert catalogues(visit) == ["en", "ar"]
    assert page.url == site.link
    assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    assert visit.complaints == []
    # What counts the draws would have seen them.
    send(page, 1, 0, 2, 3, 1)
    assert page.evaluate("drawn") > drawn


def test_later_steps_switch_as_well(visit_from: Opener, site: Running) -> None:
    page = open_page(visit_from(site, "en-US"))
    choose(page, 1, 0, 2, 3, 1)
    switch(page, "fr")
    assert page.inner_text("button[type=submit]") == "Envoyer"
    assert page.locator("input:checked").count() == 5
    page.click("#questions [type=submit]")
    shown = receipt(page)
    french = page.locator("tbody td").all_text_contents()
    assert {cell.get_attribute("data-column") for cell in page.locator("tbody td").all()} == {"Envoyé"}
    switch(page, "en")
    said = {"Yes": "Oui", "No": "Non", "Answer A": "Réponse A", "Answer B": "Réponse B"}
    assert [said.get(text, text) for text in page.locator("tbody td").all_text_contents()] == french
    switch(page, "hi")
    assert receipt(page) == shown
    assert page.inner_text("h1") == "धन्यवाद। आपके उत्तर पहुँच गए हैं।"


def test_language_that_cannot_be_loaded_changes_nothing(visit_from: Opener, site: Running) -> None:
    visit = visit_from(site, "en-US")
    page = open_page(visit)
    visit.context.route("**/catalogues/de.json", lambda route: route.fulfill(status=503, body="{}"))
    page.select_option("header select", "de")
    page.wait_for_function("document.querySelector('header select').value === 'en'")

    assert page.inner_text("button[type=submit]") == "Send"
    visit.context.unroute("**/catalogues/de.json")
    switch(page, "de")
    assert page.inner_text("button[type=submit]") == "Senden"


@pytest.mark.parametrize(
    ("locale", "words"), [("es-419", "Falta una parte de su enlace"), ("pt-BR", "Falta uma parte do seu link")]
)
def test_refusal_is_told_in_the_devices_language(visit_from: Opener, site: Running, locale: str, words: str) -> None:
    """Before there is a survey, the device alone says which language; it can be changed all the same."""
    page = open_page(visit_from(site, locale), f"{site.url}/s/marriage#d=xyz")

    assert words in page.inner_text("#main .problem")
    switch(page, "de")
    assert "Ein Teil Ihres Links fehlt" in page.inner_text("#main .problem")


def test_several_languages_still_load_one_catalogue(visit_from: Opener, mixed: Running) -> None:
    """A device that asks for French, then German, meets a survey that speaks German: only that is loaded."""
    visit = visit_from(mixed, "fr-FR")
    visit.context.add_init_script(
        "Object.defineProperty(navigator, 'languages', { value: ['fr-FR', 'fr', 'de-DE', 'de', 'en'] })"
    )
    page = open_page(visit)

    assert page.evaluate(ROOT) == ["de", "ltr"]
    assert catalogues(visit) == ["de"]
    assert sum(path.startswith("GET /assets/catalogues/") for path in visit.paths[:8]) == 1


def test_language_is_given_by_the_link_and_kept_when_the_page_is_loaded_again(
    visit_from: Opener, mixed: Running
) -> None:
    """What is chosen comes before it, and holds after a reload; what no one speaks is passed over."""
    visit = visit_from(mixed, "en-US")
    for named, spoken in (("de", "de"), ("tlh", "en"), ("%3Cb%3E", "en")):
        page = visit.arrive(f"{mixed.link}&lang={named}")
        assert page.evaluate("document.documentElement.lang") == spoken
    page.select_option("select", "ar")
    page.wait_for_selector("html[lang=ar]")
    page.reload()
    page.wait_for_selector("#explanation")
    assert page.evaluate("[document.documentElement.lang, document.querySelector('select').value]") == ["ar", "ar"]
    begin(page)
    page.reload()
    page.wait_for_selector("#explanation")
    assert page.evaluate("document.documentElement.lang") == "ar"
