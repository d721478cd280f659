"""What is typed into a draft is not lost if its page is left, a browser dies, a session ends, or two people type."""

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.to_survey import draft_of

from tests.browser.conftest import NewContext
from tests.browser.visit import add_draft, sign_in, unfold
from tests.conftest import Running
from tests.surveys import document

TITLE = "[name='title.en']"


@pytest.fixture
def context(new_context: NewContext) -> BrowserContext:
    return new_context()


def begun(site: Running, name: str) -> str:
    """Where the page Design of a new draft is, with the card of the survey open."""
    add_draft(site, {**document(), "name": name})
    return f"{site.url}/dashboard/surveys/{name}/design?card=survey"


def titles(site: Running, name: str) -> list[str]:
    """Those of all versions, the newest first."""
    storage = site.storage()
    kept = [storage.drafts.draft(name, number) for number in storage.drafts.versions(name)]
    storage.close()
    return [SurveyDraft.read(each.document).title for each in kept if each is not None]


def opened(context: BrowserContext, site: Running, address: str) -> Page:
    page = sign_in(context, site)
    page.goto(address)
    return page


def says(page: Page, key: str) -> None:
    place = page.locator("#saved")
    expect(place).to_have_text(str(place.get_attribute(f"data-{key}")))


def test_browser_that_dies_has_kept_what_was_typed(
    new_context: NewContext, context: BrowserContext, site: Running
) -> None:
    """All but what came within the last second; and whoever comes back can go on."""
    address = begun(site, "dies")
    page = opened(context, site, address)
    page.fill(TITLE, "Before it died")
    says(page, "saved")
    page.locator(TITLE).press_sequentially(", and its last words")
    context.close()
    assert titles(site, "dies")[0].startswith("Before it died")

    other = new_context()
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


def lose_saves(page: Page, *, arrive: bool) -> None:
    """Let no reply to a save come back to the page, and the save itself arrive or not."""

    def lose(route: Route) -> None:
        if route.request.method != "POST":
            route.continue_()
            return
        if arrive:
            route.fetch(max_redirects=0)
        route.abort()

    page.route("**/design", lose)


def types_on(page: Page, site: Running, name: str, typed: str) -> None:
    """More is typed after what is there, and saved by its button, and nobody else is said to have been there."""
    expect(page.locator(TITLE)).to_have_value(typed)
    page.locator(TITLE).press("End")
    page.locator(TITLE).press_sequentially("!")
    page.click(".savebar [value=save]")
    page.wait_for_load_state()
    expect(page.locator(TITLE)).to_have_value(f"{typed}!")
    assert titles(site, name)[0] == f"{typed}!"
    assert page.evaluate("sessionStorage.length") == 0


def test_who_loads_the_page_again_at_once_goes_on_typing(context: BrowserContext, site: Running) -> None:
    page = opened(context, site, begun(site, "again"))
    for times in range(1, 4):
        page.fill(TITLE, f"Typed {times}")
        page.reload()
        expect(page.locator(TITLE)).to_have_value(f"Typed {times}")
    types_on(page, site, "again", "Typed 3")


@pytest.mark.parametrize("arrive", [True, False], ids=["reply", "save"])
def test_what_was_lost_on_its_way_is_there_when_the_page_is_loaded_again(
    context: BrowserContext, site: Running, *, arrive: bool
) -> None:
    name = f"lost-{'reply' if arrive else 'save'}"
    page = opened(context, site, begun(site, name))
    lose_saves(page, arrive=arrive)
    page.fill(TITLE, "On its way")
    says(page, "unsaved")
    assert (titles(site, name)[0] == "On its way") is arrive
    page.unroute("**/design")
    page.reload()
    types_on(page, site, name, "On its way")


def test_who_heard_of_no_reply_goes_on_typing(context: BrowserContext, site: Running) -> None:
    """The versions since are of this very page, so that nobody else is written over."""
    page = opened(context, site, begun(site, "unheard"))
    lose_saves(page, arrive=True)
    page.fill(TITLE, "Once")
    says(page, "unsaved")
    page.unroute("**/design")
    page.fill(TITLE, "Twice")
    says(page, "saved")
    types_on(page, site, "unheard", "Twice")


def test_save_that_was_overtaken_by_its_own_page_changes_nothing(context: BrowserContext, site: Running) -> None:
    """What was sent on leaving may arrive after the page that came back has sent it, and more."""
    page = opened(context, site, begun(site, "late"))
    bodies: list[str] = []

    def hold(route: Route) -> None:
        bodies.append(route.request.post_data or "")
        route.abort()

    page.route("**/design", lambda route: hold(route) if route.request.method == "POST" else route.continue_())
    page.fill(TITLE, "Left")
    says(page, "unsaved")
    page.unroute("**/design")
    page.reload()
    types_on(page, site, "late", "Left")

    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    reply = context.request.post(page.url, data=bodies[0], headers=headers)
    assert reply.status == 409
    assert titles(site, "late")[0] == "Left!"


def test_who_comes_back_after_somebody_else_sees_both_texts(context: BrowserContext, site: Running) -> None:
    """What was lost on its way is not laid over what came since, and is not thrown away either."""
    page = opened(context, site, begun(site, "since"))
    lose_saves(page, arrive=False)
    page.fill(TITLE, "Mine")
    says(page, "unsaved")
    storage = site.storage()
    storage.drafts.save("since", 1, draft_of({**document(title={"en": "Theirs"}), "name": "since"}).dumped)
    storage.close()
    page.unroute("**/design")
    for _ in range(2):
        page.reload()
        expect(page.locator("table")).to_contain_text("Theirs")
        expect(page.locator("table")).to_contain_text("Mine")
    page.locator("main button").first.click()
    types_on(page, site, "since", "Mine")
    assert "Theirs" in titles(site, "since")


def test_other_page_of_the_draft_makes_good_what_was_lost(context: BrowserContext, site: Running) -> None:
    page = opened(context, site, begun(site, "beside"))
    lose_saves(page, arrive=False)
    page.fill(TITLE, "Seen elsewhere")
    says(page, "unsaved")
    page.unroute("**/design")
    page.click("nav.bar a[href$='/privacy']")
    expect(page.locator("h1")).to_have_text("Seen elsewhere")
    assert titles(site, "beside")[0] == "Seen elsewhere"


def test_browser_that_keeps_nothing_saves_all_the_same(context: BrowserContext, site: Running) -> None:
    refusing = "Object.defineProperty(window, 'sessionStorage', {get() { throw new DOMException('no') }})"
    context.add_init_script(refusing)
    page = opened(context, site, begun(site, "forbidden"))
    errors: list[object] = []

    def note(error: object) -> None:
        errors.append(error)

    page.on("pageerror", note)
    page.fill(TITLE, "First")
    says(page, "saved")
    page.fill(TITLE, "Second")
    page.click(".savebar [value=save]")
    page.wait_for_load_state()
    assert titles(site, "forbidden") == ["Second", "First", "Exams"]
    assert errors == []


def test_text_survives_the_end_of_the_session(context: BrowserContext, site: Running) -> None:
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


def test_two_people_who_type_lose_nothing(new_context: NewContext, context: BrowserContext, site: Running) -> None:
    address = begun(site, "both")
    other = new_context()
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


def test_what_stands_beside_a_question_follows_what_is_typed(context: BrowserContext, site: Running) -> None:
    """Its steps are those of its own channel, also when people may decline; and a list is asked what it is for."""
    page = opened(context, site, begun(site, "follows"))
    coin, what = page.locator("#s0clearly"), page.locator("[name='q0.use']")
    expect(coin).to_contain_text("75 send it")
    unfold(page.locator("[name=declining][value=own]")).check()
    expect(coin).to_contain_text("60 send it")
    expect(what).to_have_count(0)

    unfold(page.locator("[name='q0.type']")).select_option("select_multiple")
    expect(what).to_have_count(2)
    page.check("[name='q0.use'][value=together]")
    page.fill("[name='q0.options.en']", "Coffee\nTea\nPills")
    expect(coin).to_contain_text("Epsilon")
    says(page, "saved")
    expect(page.locator("[name='q0.use'][value=together]")).to_be_checked()
