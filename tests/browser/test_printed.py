"""Posters and cards as they come out of the printer, and as a telephone reads them."""

import re

from playwright.sync_api import Browser
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.invitations.posters import PosterContent, cards, poster

from tests.qr_reader import read_qr
from tests.surveys import survey

LINK = "https://survey.example.org/s/exam#d=" + "0123456789abcdef" * 2
A4 = {"width": 794, "height": 1123}
LONG = {"en": "Donaudampfschifffahrtsgesellschaftskapitänsprüfungsbetrugsumfrage, " * 4}


def printed(browser: Browser, html: str) -> tuple[int, list[str]]:
    """How many sheets it takes, and what is read from a photograph of all of them."""
    page = browser.new_page(viewport=A4)
    page.set_content(html)
    page.emulate_media(media="print")
    sheets = re.findall(rb"/Type /Page\b(?!s)", page.pdf(prefer_css_page_size=True))
    wide = page.evaluate("document.documentElement.scrollWidth")
    photograph = page.screenshot(full_page=True)
    page.close()
    assert wide <= A4["width"]
    return len(sheets), read_qr(photograph)


def test_cards_fill_sheets_and_each_is_read(browser: Browser) -> None:
    """Nine cards are two sheets, with long titles and from right to left too."""
    links = [f"{LINK}&t=ABCDEFGHJKMNPQR{number:03}" for number in range(9)]
    for language, title in (("en", {"en": "Exams"}), ("ar", LONG)):
        sheets, found = printed(browser, cards(PosterContent(survey(title=title), 0, Words(language)), links))
        assert (sheets, sorted(found)) == (2, links)


def test_poster_is_one_sheet(browser: Browser) -> None:
    for language, title in (("en", {"en": "Exams"}), ("ar", LONG)):
        assert printed(browser, poster(PosterContent(survey(title=title), 0, Words(language)), LINK)) == (1, [LINK])


def test_poster_keeps_its_margins_on_a_phone(browser: Browser) -> None:
    """Where it is looked at before it is printed; nothing runs over."""
    page = browser.new_page(viewport={"width": 320, "height": 568})
    page.set_content(poster(PosterContent(survey(title=LONG), 0, Words("en")), LINK))
    box = page.locator("h1").bounding_box() or {}
    assert page.evaluate("document.documentElement.scrollWidth") == 320
    page.close()
    assert 8 <= box["x"] <= 320 - box["width"] - 8
