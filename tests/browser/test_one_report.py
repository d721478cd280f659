"""Truths that give one report cannot be told apart by anything that the page says, prints or keeps."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from sottovoce.client.page import saved_page

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.states import OPEN_ALL
from tests.browser.test_traces import EVERYTHING_KEPT
from tests.browser.visit import READY, Visit, begin, publish, receipt
from tests.conftest import Running
from tests.one_report import ASKED, bytes_for, truths

REPORT = (1, 1, 0, 1)
"""It answers the question about studying with a yes."""

NOT_SHOWN = "A question that was not shown to you was answered by chance."

TAPE = """(bytes) => {
    const system = crypto.getRandomValues.bind(crypto);
    crypto.getRandomValues = (array) => {
        const taken = bytes.splice(0, array.length);
        if (taken.length === 0) return system(array);
        array.set(taken);
        return array;
    };
}"""
"""Puts these bytes before those of the system."""


@pytest.fixture(scope="session")
def pills(site: Running) -> Running:
    return publish(site, ASKED)


def fill(page: Page, answers: dict[str, Any]) -> None:
    """Choose what somebody would who is shown what follows from it."""
    for index, question in enumerate(ASKED.questions):
        fieldset = page.locator(f"#q{index}-label")
        if not fieldset.is_visible():
            continue
        answer = answers.get(question.name)
        option = "absent" if answer is None else question.options.index(answer)
        page.check(f"#q{index}-{option}")


def looked_at(page: Page) -> list[object]:
    """What stands there, what a copy of the page would hold, what a printer would be given, and what is kept."""
    found: list[object] = []
    for media in ("screen", "print"):
        page.emulate_media(media=media)
        found += [page.inner_text("body"), page.content(), page.screenshot(full_page=True, animations="disabled")]
    page.emulate_media(media="screen")
    return [*found, page.evaluate(EVERYTHING_KEPT)]


def saved_copy(page: Page) -> bytes:
    """The file that the page gives to whoever asks for a copy."""
    with page.expect_download() as download:
        page.click("text=Save a copy")
    return Path(download.value.path()).read_bytes()


def answered(browser: Browser, address: str, pills: Running, answers: dict[str, Any], tape: bytes) -> list[object]:
    """What is left of one visit: after sending, with everything opened, and when the page is opened again."""
    context = browser.new_context(viewport=VIEWPORT, reduced_motion="reduce")
    page = Visit(context, pills).arrive(address)
    begin(page)
    fill(page, answers)
    page.evaluate(TAPE, list(tape))
    page.click("#questions [type=submit]")
    receipt(page)
    found: list[object] = [saved_copy(page)]
    page.evaluate("document.activeElement.blur()")
    found += looked_at(page)
    page.evaluate(OPEN_ALL)
    found += looked_at(page)
    page.reload()
    page.wait_for_selector(READY)
    found += looked_at(page)
    # The same file as at first.
    assert saved_copy(page) == found[0]
    context.close()
    return found


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)], ids=["some", "all"])
def test_truths_of_one_report_leave_the_same_bytes(browser: Browser, pills: Running, step: int) -> None:
    """Hidden, refused, yes or no: on the page, printed, copied, opened again, and in the ledger."""
    # Also of some, each answer to each of the two questions is there once.
    hidden, *shown = truths()
    left = [answered(browser, pills.link, pills, one, bytes_for(one, REPORT)) for one in (hidden, *shown[::step])]

    assert len(left) == {4: 4, 1: 10}[step]
    for other in left[1:]:
        assert [one == two for one, two in zip(left[0], other, strict=True)] == [True] * len(other)
    assert json.dumps(list(REPORT)).replace(" ", "") in str(left[0][-1])


def test_copy_of_a_receipt_says_all_that_the_receipt_says(new_context: NewContext, pills: Running) -> None:
    """It needs nothing else to be read, runs no script, and stands open."""
    context = new_context(viewport=VIEWPORT, reduced_motion="reduce")
    page = Visit(context, pills).open()
    fill(page, next(truths()))
    page.click("#questions [type=submit]")
    shown = receipt(page)
    file = saved_copy(page)
    page.set_content(file.decode())
    text = page.inner_text("body")
    kept = receipt(page)
    parts = page.locator("script, button, img, link, iframe").count()

    assert file.startswith(b'<!doctype html><html lang="en" dir="ltr"><meta charset="utf-8">')
    assert shown == kept
    assert shown["bytes"] in text
    for told in ("Vector", "Private answers sent: 3.", "Need to talk?", "You can withdraw until the survey closes."):
        assert told in text
    assert "Spent at this server" not in text
    assert parts == 0


def test_page_that_was_saved_tells_as_little(browser: Browser, pills: Running, tmp_path: Path) -> None:
    file = tmp_path / "saved.html"
    file.write_bytes(saved_page(pills.url, ASKED))
    first, *_, last = [
        answered(browser, file.as_uri(), pills, one, bytes_for(one, REPORT)) for one in list(truths())[::5]
    ]

    assert first == last


def test_receipt_says_the_same_of_every_question_that_may_be_hidden(new_context: NewContext, pills: Running) -> None:
    """To somebody who was shown neither of them; the values stand behind a line that is closed."""
    context = new_context(viewport=VIEWPORT)
    page = Visit(context, pills).open()
    fill(page, next(truths()))
    page.click("#questions [type=submit]")
    receipt(page)
    closed = page.inner_text("#receipt")
    page.click("text=Show exactly what was sent")
    opened = page.locator("tbody tr").all_inner_texts()
    link = page.locator("#after a")
    leads = [link.get_attribute(name) for name in ("href", "rel", "target")]

    assert "Private answers sent: 3. Chance had a say" in closed
    assert "A question that was not shown to you was answered by chance." in closed
    assert "Which year? Y1" in closed
    assert "Need to talk?" in closed
    assert leads == ["https://help.example.org/", "noopener noreferrer", "_blank"]
    assert "To study?" not in closed
    assert '"values"' not in closed
    assert not any(NOT_SHOWN in row for row in opened)
    assert page.inner_text("#receipt").count(NOT_SHOWN) == 1
