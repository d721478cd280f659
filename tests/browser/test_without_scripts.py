"""The studio without JavaScript: the whole way, but for the form itself, its preview and copying."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.tutorial import Reader, Step, reading, respond
from tests.conftest import Running

PEOPLE = 27
"""More than one step, and enough of each year of study for a model."""

BEGIN = (
    {"open": "the sign-in link"},
    {"click": "Sign in"},
    {"click": "New survey"},
    {"click": "Create draft Studying and exams"},
    {"see": "not yet open for answers"},
)
DESIGN = (
    {"type": "1500", "in": "How many will answer?"},
    {"click": "Save"},
    {"see": "every share comes within 6 points"},
    {"choose": "Badly.", "within": "Question 2"},
    {"click": "Save"},
    {"see": "be within 9 points", "within": "Question 2"},
    {"choose": "A little.", "within": "Question 2"},
    {"click": "Save"},
    {"see": "be within 4 points", "within": "Question 2"},
    {"choose": "Clearly.", "within": "Question 2"},
    {"select": "all 4 private questions", "in": "Each person gets"},
    {"type": "Dr A. Example", "in": "Researcher (English)"},
    {"type": "exams.example.org", "in": "Where they can ask you"},
    {"click": "Save"},
    {"see": "90% likely"},
    {"see": "1 thing to mend before publishing"},
    {"click": "One thing cannot stay as it is"},
    {"type": "exams@example.org", "in": "Where they can ask you"},
)
ACCESS = (
    {"select": "Anyone with a personal link", "in": "Who can answer"},
    {"click": "Save"},
    {"see": "Ready to be published"},
    {"click": "Privacy"},
    {"see": "a whole report"},
    {"click": "Design"},
    {"click": "Preview"},
    {"see": "Test run"},
)
TRY_OUT = ({"press": "Start a test run"}, {"see": "Open this link on your phone"})
PUBLISH = (
    {"see": "Reports on this question: 1."},
    {"click": "Back to the real survey"},
    {"click": "Design"},
    {"click": "Publish"},
    {"see": "What is frozen"},
    {"click": "Publish"},
    {"see": "Personal links"},
    {"type": str(PEOPLE), "in": "How many links?"},
)
CLOSE = (
    {"click": "Results"},
    {"see": "25 of 1,500 planned"},
    {"click": "Settings"},
    {"click": "Close the survey"},
    {"see": f"Closed · {PEOPLE} reports"},
)
COPIED = "While studying here, did you ever take answers from somebody next to you in an exam?"
ANALYSE = (
    {"click": "Results"},
    {"see": f"Reports on this question: {PEOPLE}."},
    {"click": "Tables"},
    {"select": "Which year of study are you in?", "in": "Rows"},
    {"select": COPIED, "in": "Columns"},
    {"click": "Show"},
    {"see": "contain both questions"},
    {"click": "Models"},
    {"select": COPIED, "in": "Outcome"},
    {"select": "Linear", "in": "Model"},
)
FILES = ({"click": "Files"}, {"download": "everything.zip"}, {"click": "Show sizes"}, {"see": "SHA-256"})
DELETE = (
    {"click": "Settings"},
    {"type": "something-else", "in": "To confirm, type the name: studying-and-exams"},
    {"click": "Delete everything"},
    {"see": "Nothing was deleted"},
    {"type": "studying-and-exams", "in": "To confirm, type the name: studying-and-exams"},
    {"click": "Delete everything"},
)


@pytest.fixture
def reader(browser: Browser, tmp_path: Path) -> Iterator[Reader]:
    with reading(browser, tmp_path, scripts=False) as reader:
        yield reader


def do(reader: Reader, *actions: Mapping[str, str]) -> Page:
    """So many things, one after the other; the page that they end on."""
    reader.do(Step("", "", "", actions))
    return reader.page()


def test_whole_way_needs_no_script(reader: Reader) -> None:
    """From the link that signs in to the deletion of a survey that was answered, closed, analysed and kept."""
    page = do(reader, *BEGIN, *DESIGN)
    page.get_by_text("Dates, access, deletion").click()
    page = do(reader, *ACCESS)
    expect(page.locator("noscript .error")).to_be_visible()
    page = do(reader, *TRY_OUT)
    respond(page.locator(".invited a[dir=ltr]").inner_text(), 0)
    page.reload()

    page = do(reader, *PUBLISH)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Download a table").click()
    with Path(waiting.value.path()).open(encoding="utf-8") as file:
        links = [row["link"] for row in csv.DictReader(file)]
    for person, link in enumerate(links):
        respond(link, person)
    assert len(set(links)) == PEOPLE

    page = do(reader, *CLOSE, *ANALYSE)
    page.get_by_role("checkbox", name="Which year of study are you in?").check()
    page = do(reader, {"click": "Show"})
    assert page.locator("#answer table").count(), page.locator("#answer").inner_text()

    page = do(reader, *FILES, *DELETE)
    assert page.locator("th[scope=row] a").all_inner_texts() == ["Studying and exams"]
    assert page.locator(".tag").count() == 1


def test_form_and_frame_without_scripts_say_one_true_sentence(browser: Browser, site: Running) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    told = []
    for address in (f"{site.url}/q/1/", site.link):
        page.goto(address)
        told.append([line for line in page.inner_text("body").splitlines() if line.strip()])
    # Nor later: both would come after a while.
    for late in ("#status", "#broken"):
        expect(page.locator(late)).to_have_css("display", "none")
    context.close()

    assert told == [
        ["This question needs JavaScript: it protects your answer."],
        ["This survey needs JavaScript: it protects your answers."],
    ]
