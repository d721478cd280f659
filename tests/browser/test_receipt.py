"""The receipt: a copy of the consent for the participant, and what people who share a device read."""

from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sottovoce.shared.languages import LANGUAGES

from tests.browser.conftest import NewContext
from tests.browser.visit import Visit, choose, publish, receipt
from tests.conftest import Running
from tests.surveys import document, survey

CONSENT = "You must be 18 or older."
RESEARCHER = {"name": {"en": "Dr A. Example"}, "contact": "ask@example.org", "ethics": {"en": "Approved, number 17."}}

LINES = """(cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return new Set([...range.getClientRects()].filter((box) => box.width).map((box) => Math.round(box.bottom))).size;
}"""
"""In how many lines the text of a cell stands."""


def answered(new_context: NewContext, site: Running, link: str = "") -> Page:
    page = Visit(new_context(locale="en"), site).arrive(link)
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#questions")
    choose(page, 1)
    page.click("form button[type=submit]")
    receipt(page)
    return page


@pytest.fixture(scope="session")
def agreed(site: Running) -> Running:
    asked = document()["questions"][:1]
    return publish(
        site, survey(name="agreed", check=False, consent={"en": CONSENT}, researcher=RESEARCHER, questions=asked)
    )


def test_copy_of_the_consent_has_all_that_was_agreed_to_and_no_answer(new_context: NewContext, agreed: Running) -> None:
    """Name, contact, text, digest and day; an earlier receipt offers none, because its day is not known."""
    page = answered(new_context, agreed)
    sent = receipt(page)
    with page.expect_download() as download:
        page.click("text=Save my consent")
    kept = Path(download.value.path()).read_text(encoding="utf-8")

    assert download.value.suggested_filename == "agreed-consent.html"
    today = page.evaluate("new Intl.DateTimeFormat('en', { dateStyle: 'long' }).format(new Date())")
    for text in ("Dr A. Example", "ask@example.org", "Approved, number 17.", CONSENT, "Begin means you agree", today):
        assert text in kept
    assert agreed.survey.digest in kept
    for secret in (sent["id"], sent["sha256"], document()["questions"][0]["label"]["en"]):
        assert secret not in kept
    page.reload()
    receipt(page)
    assert page.locator("text=Save my consent").count() == 0


@pytest.mark.parametrize("width", [700, 1100])
def test_table_breaks_no_word(new_context: NewContext, site: Running, width: int) -> None:
    """Beside a question of some length, in every language: neither what heads a column nor a short answer."""
    asked = [document()["questions"][0] | {"label": {"en": "Have you ever cheated in an exam? " * 3}}]
    long = publish(site, survey(name=f"long-label-{width}", check=False, questions=asked))
    page = answered(partial(new_context, viewport={"width": width, "height": 800}), long)
    page.click("#receipt details:has(table) summary")
    for language in LANGUAGES:
        page.locator("select").select_option(language)
        page.wait_for_function("tag => document.documentElement.lang === tag", arg=language)
        for cell in page.locator("thead th, td").all():
            assert cell.evaluate(LINES) == 1, cell.inner_text()


def test_open_survey_says_how_another_person_answers(new_context: NewContext, agreed: Running) -> None:
    """In a private window, beside the button that forgets."""
    page = answered(new_context, agreed)
    expect(page.locator("text=private window")).to_be_hidden()
    page.click("text=Do others use this device?")
    expect(page.locator("text=private window")).to_be_visible()
    expect(page.locator("text=Forget them here")).to_be_visible()


def test_personal_link_speaks_of_no_other_person(new_context: NewContext, site: Running) -> None:
    """Others have links of their own."""
    asked = survey(name="personal", check=False, access="token", questions=document()["questions"][:1])
    own = publish(site, asked)
    [token] = own.invite()
    page = answered(new_context, own, f"{own.link}&t={token}")
    page.click("text=Do others use this device?")

    expect(page.locator("text=Forget them here")).to_be_visible()
    assert page.locator("text=private window").count() == 0


LINKS = {"prolific": "https://panel.example/complete?cc=C1", "uni": "https://uni.example/done"}


@pytest.mark.parametrize(
    ("end", "shown"),
    [("&from=prolific", LINKS["prolific"]), ("&from=uni.", LINKS["uni"]), ("&from=other", None), ("", None)],
)
def test_link_after_the_receipt_goes_with_the_label_of_the_panel(
    new_context: NewContext, site: Running, end: str, shown: str | None
) -> None:
    """At the end of the respondent's link; an unknown label, and none, lead to the usual link. No request has it."""
    usual = "https://help.example.org/"
    asked = survey(
        name="panels", check=False, after={"link": usual, "links": LINKS}, questions=document()["questions"][:1]
    )
    visit = Visit(new_context(locale="en"), publish(site, asked))
    page = visit.arrive(visit.site.link + end)
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#questions")
    choose(page, 1)
    page.click("form button[type=submit]")
    receipt(page)

    assert page.locator("#after a").get_attribute("href") == (shown or usual)
    assert not any("from" in request.url for request in visit.requests)


@pytest.mark.parametrize(("student", "led"), [(0, "https://panel.example/out"), (1, "https://panel.example/done")])
def test_people_whom_the_survey_is_not_for_are_led_elsewhere(
    new_context: NewContext, site: Running, student: int, led: str
) -> None:
    """By an answer that everybody can see; what follows it is asked of the others only."""
    coin = {
        "type": "boolean",
        "mechanism": {"name": "coin_flip"},
        "when_absent": "no",
        "visible_if": {"student": "yes"},
    }
    asked = survey(
        name="screened",
        check=False,
        questions=[
            {"type": "boolean", "name": "student", "label": {"en": "Are you a student?"}, "public": True},
            {**coin, "name": "cheated", "label": {"en": "Cheated?"}},
        ],
        after={
            "link": "https://panel.example/done",
            "screen_out": {
                "when": {"student": "no"},
                "text": {"en": "This survey is for students."},
                "link": "https://panel.example/out",
            },
        },
    )
    page = Visit(new_context(locale="en"), publish(site, asked)).open()
    choose(page, student, *([1] if student else []))
    page.click("form button[type=submit]")
    receipt(page)

    assert page.locator("#after a").get_attribute("href") == led
    assert ("This survey is for students." in page.inner_text("#after")) == (not student)
