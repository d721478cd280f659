"""The form does its work: asks, draws once, sends one report, shows what was sent."""

import hashlib
import json
from functools import partial

from playwright.sync_api import Page, Route, expect
from sottovoce.client import bundle

from tests.browser.visit import KEPT, READY, Visit, begin, choose, press_send, receipt, send, stored

ANSWERS = (1, 0, 2, 3, 1)


BYTES = 36_000
"""Until the first question can be answered, headers and all."""

BYTES_OF_VISIT = 50_000
"""Of everything until the receipt."""


def test_first_question_is_there_after_seven_requests(visit: Visit) -> None:
    """Page, three scripts, catalogue and survey, in Brotli, and whether it is open; then what is kept for offline."""
    tab = visit.context.new_page()
    devtools = visit.context.new_cdp_session(tab)
    devtools.send("Network.enable")
    names: dict[str, str] = {}
    loaded: dict[str, float] = {}
    devtools.on("Network.responseReceived", lambda one: names.update({one["requestId"]: one["response"]["url"]}))
    devtools.on("Network.loadingFinished", lambda one: loaded.update({one["requestId"]: one["encodedDataLength"]}))
    tab.goto(visit.site.link)
    tab.wait_for_selector(READY)
    tab.evaluate(KEPT)
    # What the check and the receipt need is loaded at the same time, and needed later.
    later = ("/sending.js", "/extras.js", "/sw.js")
    first = [size for request, size in loaded.items() if not names[request].endswith(later)]
    assert sum(first) <= BYTES, sum(first)
    begin(tab)
    send(tab, *ANSWERS)
    assert sum(loaded.values()) <= BYTES_OF_VISIT, sum(loaded.values())


def test_form_makes_no_request_between_the_first_step_and_sending(visit: Visit) -> None:
    tab = visit.arrive()
    tab.evaluate(KEPT)
    before = len(visit.paths)
    begin(tab)
    send(tab, *ANSWERS)
    survey = "GET /api/v1/surveys/marriage"
    scripts = [f"GET /assets/{part}.js" for part in ("answering", "extras", "respondent", "sending")]
    first = [survey, *scripts, "GET /assets/catalogues/en.json", "GET /s/marriage", f"{survey}/status"]

    assert set(first) <= set(visit.paths[:before])
    # The worker looks for the other parts in the browser's cache alone.
    cached = {f"GET /assets/{part}.js" for part in bundle.PARTS}
    assert set(visit.paths[:before]) - set(first) <= {"GET /s/sw.js", "GET /assets/respondent.html", *cached}
    assert visit.paths[before:] == ["POST /api/v1/surveys/marriage/reports"]
    assert all(request.url.startswith((visit.site.url + "/", "data:,")) for request in visit.requests)


def test_second_script_that_does_not_arrive_is_told_and_asked_for_again(visit: Visit) -> None:
    """The explanation can be read without it; a sentence says what is missing, and the way goes on from there."""
    visit.context.route("**/answering.js*", lambda route: route.abort())
    page = visit.arrive()
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#main .problem h1")
    assert "A part of this page did not arrive." in page.inner_text("#main .problem")
    visit.context.unroute("**/answering.js*")
    page.click("button.primary")
    page.wait_for_selector("#check")

    asked = [request.url.rpartition("/")[2] for request in visit.requests if "/answering.js" in request.url]
    assert asked == ["answering.js", "answering.js?1", "answering.js?2"]


def test_first_script_that_does_not_arrive_is_told_in_time(visit: Visit) -> None:
    """Such as where a server of another release is asked for it; not while it may be on its way, and never with it."""
    visit.context.route("**/respondent.js", lambda route: route.fulfill(status=404))
    page = visit.context.new_page()
    page.goto(visit.site.link)
    broken = page.locator("#broken")
    assert not broken.is_visible()
    page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
    assert broken.is_visible()
    assert "Reload it" in broken.inner_text()

    visit.context.unroute("**/respondent.js")
    page.reload()
    page.wait_for_selector(READY)
    page.evaluate("document.getAnimations().forEach((animation) => animation.finish())")
    assert not broken.is_visible()


def test_what_is_opened_without_a_connection_says_so_and_comes_when_opened_again(visit: Visit) -> None:
    """What few people open is asked for when they do; until it is there, a sentence stands in its place."""
    visit.context.route("**/extras.js*", lambda route: route.abort())
    page = visit.arrive()
    summary = page.locator("#explanation summary", has_text="What this cannot hide")
    summary.click()
    page.wait_for_selector("details[open] p:has-text('A part of this page did not arrive.')")
    visit.context.unroute("**/extras.js*")
    summary.click()
    summary.click()
    page.wait_for_selector("details[open] li")

    assert "did not arrive" not in page.inner_text("#explanation")
    assert "would let you answer twice, and that gives away more than once" in page.inner_text("#explanation")


def test_receipt_is_what_was_sent_and_stored(visit: Visit, page: Page) -> None:
    shown = send(page, *ANSWERS)

    assert visit.bodies == [shown["bytes"]]
    assert hashlib.sha256(shown["bytes"].encode()).hexdigest() == shown["sha256"]
    assert visit.site.survey.digest == shown["digest"]
    report = json.loads(shown["bytes"])
    assert report["report_id"] == shown["id"]
    assert report["values"] == stored(visit.site)[shown["id"]]
    words = page.locator("tbody td").all_text_contents()
    yes_no = {True: ["Answer B", "Answer A"], False: ["No", "Yes"]}
    labels = [[c.label["en"] for c in q.choices] or yes_no[q.neutral] for q in visit.site.survey.questions]
    assert [options[value] for options, value in zip(labels, report["values"], strict=True)] == words
    assert visit.context.cookies() == []
    assert visit.complaints == []
    assert visit.site.link == page.url
    headers = next(request.all_headers() for request in visit.requests if request.method == "POST")
    assert not {"cookie", "referer", "authorization"} & set(headers)


def test_questions_state_odds_choose_nothing_and_list_what_is_missing(page: Page) -> None:
    """The most common odds stand once, those of others with them, and epsilon is rounded up."""
    text = page.text_content("main") or ""
    assert "75 of 100 people send yes; if not, 25 do" in text
    assert "about 67 of 100 people send yes" in text
    assert page.locator(".badge").all_text_contents() == ["Sent unchanged; divides the results into groups."]
    assert page.locator("input:checked").count() == 0
    assert page.locator("form").get_attribute("autocomplete") == "off"
    assert "Choose an answer." not in page.inner_text("main")
    page.check("#q0-1")
    page.click("button[type=submit]")
    assert page.locator(".missing:visible").count() == 4
    assert page.evaluate("document.activeElement.className") == "problem"
    assert page.locator(".problem li").count() == 4
    page.locator(".problem li button").first.click()
    assert page.evaluate("document.activeElement.id") == "q1-1"
    page.evaluate("document.querySelectorAll('#questions details').forEach((one) => { one.open = true; })")
    epsilons = page.locator("details .hint").all_text_contents()
    assert epsilons == ["Epsilon 0.70", "Epsilon 1.10", "Epsilon 1.10"]


def test_what_is_missing_stands_on_the_line_of_its_question(page: Page) -> None:
    """Where both fit beside each other, they share a baseline."""
    page.click("button[type=submit]")
    offsets = page.locator(".problem li").evaluate_all("""(lines) => lines.map((line) => {
        const range = document.createRange();
        range.selectNodeContents(line.lastElementChild);
        const [label] = line.querySelector("button span").getClientRects();
        return range.getClientRects()[0].bottom - label.bottom;
    })""")

    assert offsets
    # More is the line below.
    assert [offset for offset in offsets if 2 < abs(offset) < 12] == []


def test_back_and_forward_lose_no_answer(visit: Visit, page: Page) -> None:
    choose(page, *ANSWERS)
    page.go_back()
    page.wait_for_selector("#check")
    page.go_back()
    page.wait_for_selector("#explanation")
    page.go_forward()
    page.go_forward()
    page.wait_for_selector("#questions")

    assert page.locator("input:checked").count() == len(ANSWERS)
    assert visit.bodies == []
    page.go_back()
    page.go_back()
    begin(page)
    assert page.locator("input:checked").count() == len(ANSWERS)
    page.click("#questions [type=submit]")
    assert [receipt(page)["bytes"]] == visit.bodies


def test_leaving_with_answers_asks_once(page: Page) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.reload()
    begin(page)
    page.reload()
    begin(page)
    assert asked == []
    choose(page, *ANSWERS)
    page.reload()
    begin(page)
    assert asked == ["beforeunload"]
    send(page, *ANSWERS)
    page.reload()

    assert asked == ["beforeunload"]


def test_second_tab_sends_the_bytes_of_the_first(visit: Visit, page: Page) -> None:
    second = visit.open()
    before = stored(visit.site)
    first = send(page, *ANSWERS)
    assert first == send(second, 0, 1, 0, 0, 0)

    assert visit.bodies == [first["bytes"]] * 2
    assert set(stored(visit.site)) - set(before) == {first["id"]}


def test_tabs_that_send_at_once_draw_once(visit: Visit, page: Page) -> None:
    """Of two tabs in the same moment the first write wins."""
    tabs = [page, visit.open()]
    for tab in tabs:
        choose(tab, *ANSWERS)
    for tab in tabs:
        tab.evaluate("setTimeout(() => document.querySelector('#questions [type=submit]').click(), 100)")

    assert receipt(tabs[0]) == receipt(tabs[1])
    assert len(set(visit.bodies)) == 1


def test_reload_and_back_show_the_receipt(visit: Visit, page: Page) -> None:
    shown = send(page, *ANSWERS)
    page.go_back()
    page.go_back()
    assert shown == receipt(page)
    assert page.locator("#main input").count() == 0
    page.reload()
    assert shown == receipt(page)
    page.goto("about:blank")
    page.go_back()

    assert shown == receipt(page)
    assert visit.bodies == [shown["bytes"]]


REFUSALS = (
    (409, "closed", "This survey is closed."),
    (404, "unknown_survey", "There is no survey at this address."),
    (422, "value_out_of_range", "The survey’s server refused."),
)


def test_refused_report_is_told_and_sent_again_only_when_asked(visit: Visit, page: Page) -> None:
    for number, (status, code, words) in enumerate(REFUSALS, start=1):
        page.context.unroute("**/reports")
        page.context.route("**/reports", partial(Route.fulfill, status=status, body=f'{{"code":"{code}"}}'))
        if number == 1:
            press_send(page, *ANSWERS)
        else:
            page.click("#refused .primary")
        refused = page.locator("#refused")
        expect(refused).to_contain_text(words)
        told = refused.inner_text()
        assert "_" not in told
        assert str(status) not in told
        assert page.locator("#main input").count() == 0
        page.reload()
        expect(refused).to_contain_text(words)
        assert len(visit.bodies) == number
    page.context.unroute("**/reports")
    page.click("#refused .primary")

    assert [receipt(page)["bytes"]] * (len(REFUSALS) + 1) == visit.bodies
    page.reload()
    page.wait_for_selector("#receipt")


def test_used_link_has_no_button_that_cannot_help(visit: Visit, page: Page) -> None:
    for status, code, again in ((409, "closed", 1), (401, "token_invalid", 0)):
        body = f'{{"code":"{code}"}}'
        page.context.unroute("**/reports")
        page.context.route("**/reports", partial(Route.fulfill, status=status, body=body))
        if code == "closed":
            press_send(page, *ANSWERS)
        else:
            page.click("#refused .primary")
        page.wait_for_selector("#refused:not(:has(.primary))")
        page.reload()
        page.wait_for_selector("#refused")
        assert page.locator("#refused .primary").count() == again
    assert len(visit.bodies) == 2


def test_unconfirmed_report_is_sent_again_unchanged(visit: Visit, page: Page) -> None:
    page.context.route("**/reports", lambda route: route.fulfill(json={}))
    press_send(page, *ANSWERS)
    page.wait_for_selector("#main .problem h1")
    assert "Not sent yet" in page.inner_text("#main .problem")
    page.context.unroute("**/reports")
    page.click("button.primary")

    assert [receipt(page)["bytes"]] * 2 == visit.bodies
    assert page.locator("input").count() == 0


def test_false_receipt_is_not_shown(page: Page) -> None:
    page.context.route("**/reports", lambda route: route.fulfill(json={"format": "sottovoce-receipt/1"}))
    press_send(page, *ANSWERS)
    page.wait_for_selector("#main .problem h1")

    assert "receipt is not for your answers" in page.inner_text("#main .problem")
