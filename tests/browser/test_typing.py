"""What is typed into a draft is not lost if its page is left, a browser dies, a session ends, or two people type."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from sottovoce.aggregator.authoring.draft import Draft
from sottovoce.aggregator.authoring.from_survey import draft_of

from tests.browser.visit import log_in
from tests.conftest import Running, start
from tests.surveys import document, survey

TITLE = "[name='title.en']"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator on which drafts are written."""
    with start(tmp_path_factory.mktemp("typing") / "data", survey()) as running:
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A researcher's browser."""
    context = browser.new_context()
    yield context
    context.close()


def begun(site: Running, name: str) -> str:
    """Where the page Design of a new draft is."""
    storage = site.storage()
    storage.drafts.add(name, draft_of({**document(), "name": name}).dumped)
    storage.close()
    return f"{site.url}/dashboard/surveys/{name}/design"


def titles(site: Running, name: str) -> list[str]:
    """Those of all versions, the newest first."""
    storage = site.storage()
    kept = [storage.drafts.draft(name, number) for number in storage.drafts.versions(name)]
    storage.close()
    return [Draft.read(each.document).title for each in kept if each is not None]


def opened(context: BrowserContext, site: Running, address: str) -> Page:
    """The page, signed in."""
    page = log_in(context, site)
    page.goto(address)
    return page


def says(page: Page, key: str) -> None:
    """Wait until the page says that it has saved what was typed, or has not."""
    place = page.locator("#saved")
    expect(place).to_have_text(str(place.get_attribute(f"data-{key}")))


def test_browser_that_dies_has_kept_what_was_typed(browser: Browser, context: BrowserContext, site: Running) -> None:
    """All but what came within the last second; and whoever comes back can go on."""
    address = begun(site, "dies")
    page = opened(context, site, address)
    page.fill(TITLE, "Before it died")
    says(page, "saved")
    page.locator(TITLE).press_sequentially(", and its last words")
    context.close()
    assert titles(site, "dies")[0].startswith("Before it died")

    other = browser.new_context()
    again = opened(other, site, address)
    assert again.input_value(TITLE).startswith("Before it died")
    again.fill(TITLE, "Risen")
    again.click(".savebar [value=save]")
    again.wait_for_load_state()
    other.close()
    assert titles(site, "dies")[0] == "Risen"


def test_who_goes_to_another_page_at_once_has_saved(context: BrowserContext, site: Running) -> None:
    """Though no second has gone by since the last key."""
    page = opened(context, site, begun(site, "leaves"))
    page.fill(TITLE, "Exams!")
    page.click("nav.bar a[href$='/privacy']")
    page.wait_for_url("**/privacy")

    # What was sent on leaving may arrive after the next page was asked for.
    for _ in range(100):
        if len(titles(site, "leaves")) == 2:
            break
        page.wait_for_timeout(100)
    assert titles(site, "leaves") == ["Exams!", "Exams"]


def test_text_survives_the_end_of_the_session(context: BrowserContext, site: Running) -> None:
    """It stays in its field, the page says that it is not saved, and after signing in again it is."""
    page = opened(context, site, begun(site, "ended"))
    cookies = context.cookies()
    context.clear_cookies()
    page.fill(TITLE, "Typed too late")
    says(page, "unsaved")
    assert page.input_value(TITLE) == "Typed too late"
    assert titles(site, "ended") == ["Exams"]

    context.add_cookies(cookies)  # type: ignore[arg-type]
    page.locator(TITLE).press_sequentially(".")
    says(page, "saved")
    assert titles(site, "ended")[0] == "Typed too late."


def test_two_people_who_type_lose_nothing(browser: Browser, context: BrowserContext, site: Running) -> None:
    """Whoever was slower is told, sees both texts, and chooses; both stay among the versions."""
    address = begun(site, "both")
    other = browser.new_context()
    mine, theirs = opened(context, site, address), opened(other, site, address)
    theirs.fill(TITLE, "Theirs")
    says(theirs, "saved")
    mine.fill(TITLE, "Mine")
    says(mine, "conflict")
    mine.click(".savebar [value=save]")
    expect(mine.locator("table")).to_contain_text("Theirs")
    expect(mine.locator("table")).to_contain_text("Mine")
    mine.locator("main button").first.click()
    mine.wait_for_load_state()
    other.close()

    assert {"Theirs", "Mine", "Exams"} <= set(titles(site, "both"))
