"""Whoever has answered is shown what was sent, and sends what waits, whatever became of the survey since."""

import time
from pathlib import Path
from secrets import token_hex

import pytest
from sottovoce.aggregator.surveys.lifecycle import next_revision
from sottovoce.client.page import saved_page
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.states import OPEN_ALL
from tests.browser.visit import KEPT, READY, Visit, begin, choose, press_send, publish, receipt, send
from tests.conftest import Running
from tests.surveys import survey

ANSWERS = (1, 2, 0)
TITLE = "Exams, corrected"


@pytest.fixture
def access() -> str:
    """Who may answer."""
    return "open"


@pytest.fixture
def site(site: Running, access: str) -> Running:
    """A survey that is about to change."""
    return publish(site, survey(name=f"changes-{token_hex(4)}", access=access))


@pytest.fixture
def visit(new_context: NewContext, site: Running) -> Visit:
    return Visit(new_context(viewport=VIEWPORT), site)


def correct(site: Running, retire: bool = False) -> Survey:
    storage = site.storage()
    document = {**site.survey.document, "revision": 2, "title": {"en": TITLE}}
    corrected = next_revision(storage, parse_survey(document))
    storage.publish(corrected, retire)
    storage.close()
    # The aggregator may remember for a second what it told last.
    time.sleep(1.1)
    return corrected


def close(site: Running) -> None:
    site.close()
    time.sleep(1.1)


def link(site: Running, named: Survey, token: str = "") -> str:
    return f"{site.url}/s/{named.name}#d={named.digest[:32]}{'&t=' + token if token else ''}"


def asks_for(visit: Visit) -> list[str]:
    """The paths of all requests to the survey's own addresses."""
    return [path for path in visit.paths if "/api/" in path]


def test_old_link_answers_under_its_own_revision_after_a_correction(
    new_context: NewContext, visit: Visit, site: Running
) -> None:
    """The form that the link names is what is asked, and its report is taken; the newest link asks the newest."""
    newest = correct(site)
    page = visit.open()
    assert page.inner_text("h1") == "Exams"
    assert send(page, *ANSWERS)["digest"] == site.survey.digest
    assert f"GET /api/v1/surveys/{site.survey.name}/revisions" in visit.paths
    other = Visit(new_context(), site)
    page = other.open(link(site, newest))

    assert page.inner_text("h1") == TITLE
    assert f"GET /api/v1/surveys/{site.survey.name}/revisions" not in other.paths


@pytest.mark.parametrize("how", ["withdraw", "forget"])
def test_report_of_one_revision_is_told_by_the_link_of_another(visit: Visit, site: Running, how: str) -> None:
    """Receipt in the words that were answered, withdraw and forget; nothing is asked a second time."""
    shown = send(visit.open(), *ANSWERS)
    newest = correct(site)
    before = len(asks_for(visit))
    page = visit.arrive(link(site, newest))
    assert receipt(page) == shown
    assert len(asks_for(visit)) == before
    assert "Cheated?" in page.text_content("#sent")  # type: ignore[operator]
    page.evaluate(OPEN_ALL)
    page.locator("#receipt button").filter(has_text={"withdraw": "Withdraw", "forget": "Forget"}[how]).first.click()
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    page = visit.arrive()

    assert page.locator("#ended").count() == 1
    assert page.evaluate(ON_TEXTS, "count") == 0
    assert len(visit.bodies) == {"withdraw": 2, "forget": 1}[how]


ON_TEXTS = """async (what) => {
    const done = (request) => new Promise((go) => (request.onsuccess = () => go(request.result)));
    const database = await done(indexedDB.open("sottovoce"));
    const store = database.transaction("reports", "readwrite").objectStore("reports");
    const result = await done(store[what](IDBKeyRange.bound(["survey"], ["survey", []])));
    database.close();
    return result;
}"""
"""Counts or deletes the surveys' texts that the ledger keeps."""


def test_receipt_is_told_in_words_without_a_connection_and_after_close(visit: Visit, site: Running) -> None:
    page = visit.open()
    page.evaluate(KEPT)
    shown = send(page, *ANSWERS)
    close(site)
    visit.context.set_offline(True)
    page.reload()
    page.wait_for_selector(READY)
    assert receipt(page) == shown
    assert "Cheated?" in page.text_content("#sent")  # type: ignore[operator]
    visit.context.set_offline(False)
    before = len(asks_for(visit))

    assert receipt(visit.arrive()) == shown
    assert len(asks_for(visit)) == before


def test_saved_page_tells_the_receipt_without_its_survey_or_a_connection(
    visit: Visit, site: Running, tmp_path: Path
) -> None:
    """A file without the survey in it asked for it once, and needs nobody to show what was sent."""
    file = tmp_path / "saved.html"
    file.write_bytes(saved_page(site.url))
    page = visit.open(f"{file.as_uri()}#s={site.survey.name}&d={site.survey.digest[:32]}")
    shown = send(page, *ANSWERS)
    visit.context.set_offline(True)
    page.reload()
    page.wait_for_selector(READY)

    assert receipt(page) == shown
    assert "Cheated?" in page.text_content("#sent")  # type: ignore[operator]


def test_entry_of_an_older_release_is_told_without_words_where_there_are_none(
    new_context: NewContext, site: Running
) -> None:
    """Where neither ledger nor aggregator has the survey's words: the bytes, and what can be done about them."""
    visit = Visit(new_context(service_workers="block"), site)
    page = visit.open()
    shown = send(page, *ANSWERS)
    page.evaluate(ON_TEXTS, "delete")
    page = visit.arrive()
    assert receipt(page) == shown
    visit.context.route(f"{site.api}*", lambda route: route.abort())
    visit.context.route(f"{site.api}/revisions", lambda route: route.abort())
    page.reload()
    page.wait_for_selector("#receipt")

    assert page.text_content("#receipt_bytes") == shown["bytes"]
    assert page.locator("#receipt button").count() == 2


def test_queued_report_is_sent_after_a_correction(visit: Visit, site: Running) -> None:
    page = visit.open()
    page.evaluate(KEPT)
    visit.context.set_offline(True)
    press_send(page, *ANSWERS)
    page.wait_for_selector("#main .problem h1")
    page.close()
    newest = correct(site)
    visit.context.set_offline(False)
    shown = receipt(visit.arrive(link(site, newest)))

    assert set(visit.bodies) == {shown["bytes"]}
    assert shown["digest"] == site.survey.digest


@pytest.mark.parametrize(
    ("kind", "words"), [("close", "This survey has been closed since"), ("retire", "This version was replaced.")]
)
def test_survey_that_cannot_be_answered_says_so_before_the_first_question(
    visit: Visit, site: Running, kind: str, words: str
) -> None:
    if kind == "close":
        close(site)
    else:
        correct(site, retire=True)
    page = visit.arrive()
    page.wait_for_selector("#explanation:not(:has(> .actions .primary))")
    assert words in page.inner_text("#explanation")
    assert visit.bodies == []


def test_survey_that_is_closed_after_it_was_opened_says_so_when_sent(visit: Visit, site: Running) -> None:
    """Begin asks the server nothing: the refusal has words, and the answers are kept on the device alone."""
    late = visit.open()
    close(site)
    press_send(late, *ANSWERS)
    late.wait_for_selector("#refused")

    assert "This survey is closed." in late.inner_text("#refused")


def test_mistyped_link_is_told_without_asking_anybody(visit: Visit, site: Running) -> None:
    """Two check letters find a wrong one; no request names the survey."""
    (token,) = site.invite() if site.survey.asks_for_token else ("0123456789ABCDEFXX",)
    page = visit.arrive(link(site, site.survey, token))

    assert "missing or mistyped" in page.inner_text("#main .problem")
    assert asks_for(visit) == []


def test_no_connection_at_begin_goes_on_and_says_so(visit: Visit) -> None:
    page = visit.arrive()
    page.evaluate(KEPT)
    visit.context.set_offline(True)
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#check")

    assert "it is sent later" in page.inner_text("#status")


def test_contradicting_revisions_are_refused(visit: Visit, site: Running) -> None:
    forked = site.survey.canonical.decode().replace('"Exams"', '"Forged"')
    visit.context.route(site.api, lambda route: route.fulfill(body=forked))
    page = visit.arrive()

    assert "contradict each other" in page.inner_text("#main .problem")
    assert visit.bodies == []


def refuse(visit: Visit) -> None:
    visit.context.route("**/reports", lambda route: route.fulfill(status=401, body='{"code":"token_invalid"}'))


def refused_with(visit: Visit, address: str) -> str:
    refuse(visit)
    page = visit.open(address)
    press_send(page, *ANSWERS)
    page.wait_for_selector("#refused")
    page.close()
    return visit.bodies[-1]


@pytest.mark.parametrize("access", ["token"])
def test_same_person_sends_the_same_bytes_with_every_link(visit: Visit, site: Running) -> None:
    """However often the aggregator refuses, and with however many links, it sees one set of bytes; then one receipt."""
    first, *others = (link(site, site.survey, token) for token in site.invite(4))
    body = refused_with(visit, first)
    for other in others[:-1]:
        page = visit.context.new_page()
        page.goto(other)
        page.click("#same-person .primary")
        page.wait_for_selector("#refused")
        page.close()
    visit.context.unroute("**/reports")
    page = visit.context.new_page()
    page.goto(others[-1])
    page.click("#same-person .primary")
    shown = receipt(page)

    assert set(visit.bodies) == {body} == {shown["bytes"]}
    assert len(visit.bodies) == 4
    assert site.reports() == 1
    assert [receipt(visit.arrive(each)) for each in (first, *others)] == [shown] * 4
    assert len(visit.bodies) == 4


@pytest.mark.parametrize("access", ["token"])
def test_somebody_else_has_an_answer_of_their_own(visit: Visit, site: Running) -> None:
    """Two people with one device: the second says no, and is asked; the first one's report stays as it is."""
    first, second = (link(site, site.survey, token) for token in site.invite(2))
    body = refused_with(visit, first)
    visit.context.unroute("**/reports")
    page = visit.context.new_page()
    page.goto(second)
    page.wait_for_selector("#same-person")
    assert "answering anew would give away more" in page.inner_text("#same-person")
    page.click("#same-person button:not(.primary)")
    page.wait_for_selector("#explanation")
    begin(page)
    shown = send(page, *ANSWERS)
    assert shown["bytes"] != body
    page = visit.context.new_page()
    page.goto(first)
    page.wait_for_selector("#refused")

    assert visit.bodies == [body, shown["bytes"]]
    assert receipt(visit.arrive(second)) == shown


@pytest.mark.parametrize("access", ["token"])
@pytest.mark.parametrize("is_same", [True, False])
def test_links_opened_side_by_side_are_asked_about_when_sent(visit: Visit, site: Running, is_same: bool) -> None:
    """Both were opened before either was answered: the second one's answers are not drawn before somebody has said."""
    refuse(visit)
    pages = [visit.context.new_page() for _ in range(2)]
    for page, token in zip(pages, site.invite(2), strict=True):
        page.goto(link(site, site.survey, token))
        page.wait_for_selector(READY)
        begin(page)
        choose(page, *ANSWERS)
    for page, shown in zip(pages, ("#refused", "#same-person"), strict=True):
        page.click("#questions [type=submit]")
        page.wait_for_selector(shown)
    assert len(visit.bodies) == 1
    pages[1].click("#same-person .primary" if is_same else "#same-person button:not(.primary)")
    pages[1].wait_for_selector("#refused")

    assert len(visit.bodies) == 2
    assert len(set(visit.bodies)) == (1 if is_same else 2)


@pytest.mark.parametrize("access", ["token"])
def test_forgetting_a_refused_report_wipes_every_copy(visit: Visit, site: Running) -> None:
    """Under whichever links it lies; no link draws a second one."""
    first, second = (link(site, site.survey, token) for token in site.invite(2))
    refused_with(visit, first)
    page = visit.context.new_page()
    page.goto(second)
    page.click("#same-person .primary")
    page.wait_for_selector("#refused")
    page.click("#refused button:not(.primary)")
    page.click("#confirm .primary")
    page.wait_for_selector("#ended")
    assert page.evaluate(ON_TEXTS, "count") == 0

    assert [visit.arrive(each).locator("#ended").count() for each in (first, second)] == [1, 1]
