"""A device that is handed round: each person is started by a code, and leaves nothing behind."""

from secrets import token_hex

import pytest
from playwright.sync_api import Page, expect
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.conftest import NewContext
from tests.browser.test_access import violations
from tests.browser.test_tokens import invitation
from tests.browser.visit import KEPT, Visit, begin, give_up, press_send, publish, receipt, send, stored
from tests.conftest import Running
from tests.documents import question, survey as documented
from tests.surveys import document, months, survey

CODE = "4711-west"
LEFT = """async () => {
    const done = (request) => new Promise((go) => (request.onsuccess = () => go(request.result)));
    const found = {};
    for (const { name } of await indexedDB.databases()) {
        const database = await done(indexedDB.open(name));
        const store = database.transaction("reports").objectStore("reports");
        found[name] = (await done(store.getAllKeys())).length;
        database.close();
    }
    return [found, history.state, { ...sessionStorage }, { ...localStorage }];
}"""
"""How many entries lie in each of the browser's databases, and what else a page may leave."""

COIN = {"name": "coin_flip"}


@pytest.fixture
def kiosk(site: Running) -> Running:
    asked = survey(name=f"kiosk-{token_hex(4)}", kiosk=True, check=False, questions=document()["questions"][:2])
    return publish(site, asked)


def start_person(page: Page, code: str = CODE) -> None:
    page.fill("#kiosk > form input", code)
    page.click("#kiosk > form [type=submit]")
    page.wait_for_selector("#explanation > .actions .primary:enabled")


def test_each_person_draws_anew_and_leaves_nothing(new_context: NewContext, kiosk: Running, axe: str) -> None:
    """Two people send a report each; the device's own account has none of it, and no key of theirs."""
    visit = Visit(new_context(locale="en", service_workers="allow"), kiosk)
    page = visit.arrive(f"{kiosk.link}&staff={CODE}")
    page.evaluate(KEPT)
    assert violations(page, axe) == []
    page.fill("#kiosk > form input", "wrong")
    page.click("#kiosk > form [type=submit]")
    expect(page.get_by_text("This is not a valid code.")).to_be_visible()
    for _ in range(2):
        start_person(page)
        assert "each further answer weakens your protection" in page.inner_text("#explanation")
        page.get_by_text("What this cannot hide").click()
        expect(page.get_by_text("How long you took can be seen.")).to_be_visible()
        assert "this browser keeps it" not in page.inner_text("#explanation")
        before = visit.paths
        begin(page)
        press_send(page, 1, 0)
        page.wait_for_selector("#kiosk_code")
        assert violations(page, axe) == []
        assert visit.paths[len(before) :] == [f"POST /api/v1/surveys/{kiosk.survey.name}/reports"]
        assert page.evaluate(LEFT)[0]["sottovoce"] == 0
        page.click("#receipt .primary")
        page.wait_for_selector("#kiosk")
        left, state, *others = page.evaluate(LEFT)
        assert (left, state, others) == ({"sottovoce": 0}, None, [{}, {}])

    assert len(set(visit.bodies)) == 2


def test_receipt_is_erased_after_a_minute(new_context: NewContext, kiosk: Running) -> None:
    """By itself; with the code that it showed once, the report can still be withdrawn on the device."""
    before = stored(kiosk, alone=True)
    visit = Visit(new_context(locale="en"), kiosk)
    page = visit.context.new_page()
    page.clock.install()
    page.goto(f"{kiosk.link}&staff={CODE}")
    page.wait_for_selector("#kiosk")
    start_person(page)
    begin(page)
    press_send(page, 1, 0)
    page.clock.run_for(2000)
    code = page.inner_text("#kiosk_code")
    assert set(stored(kiosk, alone=True)) - set(before) == {code.replace(" ", "")}
    page.clock.fast_forward(61_000)
    page.wait_for_selector("#kiosk")
    page.click("#kiosk summary")
    page.fill("#kiosk details input", code)
    page.click("#kiosk details [type=submit]")
    expect(page.get_by_text("The answers with this code are withdrawn.")).to_be_visible()

    assert set(stored(kiosk, alone=True)) == set(before)


def fail_to_send(page: Page, visit: Visit) -> None:
    start_person(page)
    begin(page)
    visit.context.route("**/reports", lambda route: route.abort())
    press_send(page, 1, 0)
    give_up(page)


def test_reload_before_sending_starts_anew_and_after_it_sends_the_same(new_context: NewContext, kiosk: Running) -> None:
    """What was drawn and did not arrive is sent, not drawn again; the next person sees nothing of it."""
    before = set(stored(kiosk, alone=True))
    visit = Visit(new_context(locale="en"), kiosk)
    visit.context.clock.install()
    page = visit.arrive(f"{kiosk.link}&staff={CODE}")
    start_person(page)
    page.reload()
    page.wait_for_selector("#kiosk")
    fail_to_send(page, visit)
    page.reload()
    page.wait_for_selector("#kiosk")
    visit.context.unroute("**/reports")
    page.reload()
    with page.expect_response("**/reports"):
        page.wait_for_selector("#kiosk")
    start_person(page)

    assert page.locator("#kiosk_code, #receipt_bytes").count() == 0
    assert (len(set(visit.bodies)), len(set(stored(kiosk, alone=True)) - before)) == (1, 1)


def test_two_people_whose_sending_failed_are_both_counted(new_context: NewContext, kiosk: Running) -> None:
    """The second person draws their own, while the first one's report waits; nothing of either stays."""
    before = set(stored(kiosk, alone=True))
    visit = Visit(new_context(locale="en"), kiosk)
    visit.context.clock.install()
    page = visit.arrive(f"{kiosk.link}&staff={CODE}")
    for _ in range(2):
        fail_to_send(page, visit)
        page.reload()
        page.wait_for_selector("#kiosk")
    visit.context.unroute("**/reports")
    page.reload()
    page.wait_for_selector("#kiosk")
    for _ in range(2):
        page.wait_for_load_state("networkidle")
    page.reload()
    page.wait_for_selector("#kiosk")

    assert len(set(visit.bodies)) == len(set(stored(kiosk, alone=True)) - before) == 2
    assert page.evaluate(LEFT)[0] == {"sottovoce": 0}


def test_receipt_that_comes_after_a_failure_is_shown_to_nobody(new_context: NewContext, kiosk: Running) -> None:
    """Sent by itself or by the button: the next person may be looking. After a minute the page begins anew."""
    visit = Visit(new_context(locale="en"), kiosk)
    visit.context.clock.install()
    page = visit.arrive(f"{kiosk.link}&staff={CODE}")
    fail_to_send(page, visit)
    visit.context.unroute("**/reports")
    page.click("#main .problem .primary")
    page.wait_for_selector("#kiosk, #receipt")

    assert page.locator("#receipt").count() == 0
    fail_to_send(page, visit)
    page.clock.fast_forward(61_000)
    page.wait_for_selector("#kiosk")


def test_code_of_the_staff_leaves_the_address(new_context: NewContext, kiosk: Running) -> None:
    """A digest with a salt takes its place, so that a reload still knows it; no store has the code."""
    visit = Visit(new_context(locale="en"), kiosk)
    page = visit.arrive(f"{kiosk.link}&staff={CODE}")
    page.reload()
    page.wait_for_selector("#kiosk")

    assert CODE not in f"{page.url} {page.evaluate(LEFT)} {page.evaluate('document.documentElement.outerHTML')}"
    start_person(page)
    assert CODE not in f"{page.url} {page.evaluate(LEFT)}"
    other = visit.arrive(f"{kiosk.link}&staff={CODE}")
    assert other.url != page.url


def test_token_on_a_card_starts_its_person(new_context: NewContext, site: Running) -> None:
    """Whether the device was opened with a code of the staff, too, or not."""
    invited = publish(site, survey(name=f"cards-{token_hex(4)}", kiosk=True, check=False, access="token"))
    token, _ = invitation(invited)
    page = Visit(new_context(locale="en"), invited).arrive(f"{invited.link}&staff={CODE}")
    start_person(page, token.lower())
    begin(page)
    press_send(page, 1, 2, 0)
    page.wait_for_selector("#kiosk_code")
    page.click("#receipt .primary")
    page.wait_for_selector("#kiosk")
    page.fill("#kiosk > form input", token)
    page.click("#kiosk > form [type=submit]")
    page.wait_for_selector("#explanation")

    expect(page.locator("#explanation > .actions .primary")).to_have_count(0)


def test_next_person_is_not_asked_about_the_report_of_the_owner(new_context: NewContext, site: Running) -> None:
    """A report of the owner that did not arrive is neither shown to the next person nor sent as theirs."""
    invited = publish(site, survey(name=f"cards-{token_hex(4)}", kiosk=True, check=False, access="token"))
    _, own = invitation(invited)
    visit = Visit(new_context(locale="en"), invited)
    visit.context.route("**/reports", lambda route: route.abort())
    visit.context.clock.install()
    page = visit.arrive(own)
    begin(page)
    press_send(page, 1, 2, 0)
    give_up(page)
    page.close()
    page = visit.arrive(invited.link)
    page.wait_for_selector("#kiosk, #same-person")

    expect(page.locator("#kiosk")).to_have_count(1)


def test_answers_of_a_person_who_went_away_leave_the_screen(new_context: NewContext, kiosk: Running) -> None:
    page = Visit(new_context(locale="en"), kiosk).context.new_page()
    page.clock.install()
    page.goto(f"{kiosk.link}&staff={CODE}")
    page.wait_for_selector("#kiosk")
    start_person(page)
    assert "five minutes" in page.inner_text("#explanation")
    begin(page)
    choices = page.locator("#questions input[type=radio]")
    choices.first.check()
    page.clock.fast_forward(200_000)
    page.keyboard.press("Tab")
    page.clock.fast_forward(200_000)
    expect(choices.first).to_be_checked()
    page.clock.fast_forward(301_000)
    page.wait_for_selector("#kiosk")

    expect(choices).to_have_count(0)


def test_link_without_a_code_is_for_a_device_of_ones_own(new_context: NewContext, kiosk: Running) -> None:
    """The report is drawn once, and stays; with the code nobody else is shown it."""
    visit = Visit(new_context(), kiosk)
    page = visit.open(kiosk.link)
    sent = send(page, 1, 0)
    page.reload()
    assert receipt(page) == sent
    visit.arrive(f"{kiosk.link}&staff={CODE}").wait_for_selector("#kiosk")

    assert receipt(visit.arrive()) == sent


@pytest.mark.parametrize(
    "more",
    [{"waves": months(2)}, {"access": "blind"}, {"privacy": {"send_within_hours": 24}},
     {"privacy": {"send_at_seconds": 180}}],
)  # fmt: skip
def test_what_would_stay_on_the_device_is_refused(more: dict[str, object]) -> None:
    """Waves, signed ids, reports that wait; and draws that are remembered."""
    memo = {"name": "memoized_rr", "permanent": COIN, "instantaneous": COIN, "waves": 2}
    for asked in (question(COIN), question(memo)) if "waves" in more else (question(COIN),):
        with pytest.raises(SpecError) as raised:
            parse_survey(documented(asked, kiosk=True, **more))
        assert {problem.pointer for problem in raised.value.problems} == {"/kiosk"}
