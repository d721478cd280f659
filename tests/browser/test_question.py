"""One private question in a page of another system: what its host gets, sees and cannot see."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, Page
from sottovoce import records
from sottovoce.client.question_page import question_files
from sottovoce.shared.single_question import parse_asked

from tests.browser.conftest import NewContext, Show
from tests.browser.hosts import serving
from tests.browser.question_host import COIN, TOGETHER, answer, answer_both, be_still, element, frame_of, write_host
from tests.browser.test_access import FOUND, load


def told(page: Page) -> list[Any]:
    """Return what the host was told: pairs of kind and detail."""
    found: list[Any] = page.evaluate("told")
    return found


def record_of(page: Page) -> dict[str, Any]:
    page.wait_for_function("told.length > 0")
    [[kind, record]] = told(page)
    assert kind == "record"
    assert isinstance(record, dict)
    return record


def reason_of(page: Page) -> str:
    """Return the one reason for which the host got no record."""
    page.wait_for_function("told.length > 0")
    [[kind, reason]] = told(page)
    assert kind == "unavailable"
    return str(reason)


def test_host_gets_one_record_that_python_reads(tab: Page, show: Show, place: str) -> None:
    show(element(place, attributes='participant="p1" required'))
    frame = frame_of(tab)
    assert not tab.evaluate("document.querySelector('form').checkValidity()")
    be_still(frame)
    frame.locator("#answer-1").check()
    frame.wait_for_timeout(300)
    assert told(tab) == []
    answer(frame)
    record = records.read(tab.evaluate("JSON.stringify(document.querySelector('sottovoce-question').record)"))

    assert record_of(tab)["digest"] == record.digest
    assert record.once == "device"
    sent = tab.evaluate("Object.fromEntries(new FormData(document.querySelector('form')))")
    assert sent == {"nickname": "", **records.columns(record), "cheated_state": "answered"}
    tab.evaluate("document.querySelector('form').reset()")
    assert tab.evaluate("document.querySelector('form').checkValidity()")


def test_same_person_gets_the_same_draw(new_context: NewContext, tmp_path: Path, host: str, place: str) -> None:
    write_host(tmp_path, place, element(place), element(place, attributes='participant="p1" study="s" name="copy"'))
    context = new_context()
    page = context.new_page()
    page.goto(host)
    answer(frame_of(page))
    first = record_of(page)
    frame_of(page, 1)
    reports = []
    for other in (page, context.new_page()):
        other.goto(host)
        frame = frame_of(other)
        assert frame.locator("input").count() == 0
        be_still(frame)
        frame.locator("button").click()
        reports.append(record_of(other))
    assert reports == [first, first]
    copy = frame_of(page, 1)
    be_still(copy)
    copy.locator("button").click()
    page.wait_for_function("told.length == 2")
    assert told(page)[1] == ["record", first]
    assert frame_of(page).evaluate("JSON.stringify(localStorage)").count("cheated") == 0


def test_another_person_draws_anew_and_is_warned(tab: Page, show: Show, place: str) -> None:
    sentence = "under another name"
    for number in (1, 2):
        show(element(place, attributes=f'participant="p{number}"'))
        frame = frame_of(tab)
        assert (sentence in frame.inner_text("main")) == (number == 2)
        answer(frame)
    kept = frame_of(tab).evaluate("Object.keys(JSON.parse(localStorage['sottovoce-question/1']).draws).length")
    assert kept == 2


def test_third_wording_is_refused_and_all_are_counted(tab: Page, show: Show, place: str) -> None:
    """Three epsilon for one name, whatever the label and the study are; the host hears of the refusal alone."""
    for number in (1, 2, 3):
        asked = {**COIN, "label": {"en": f"Wording {number}"}}
        show(element(place, asked, f'participant="p1" study="s{number}"'))
        frame = frame_of(tab)
        if number < 3:
            answer(frame)
    assert "too much" in frame.inner_text(".problem")
    assert reason_of(tab) == "error_question_budget"


def test_block_hands_over_one_record_and_a_form_all_columns(tab: Page, show: Show, host: str, place: str) -> None:
    """One report for both answers; the same again after a reload; nothing before both are given."""
    show(element(place, TOGETHER), element(place))
    frame_of(tab, 1)
    frame = frame_of(tab)
    be_still(frame)
    frame.locator("#answer-1").check()
    frame.locator("button").click()
    assert frame.locator("#answer1-fault").is_visible()
    assert told(tab) == []
    assert "2 answers are randomized together" in frame.inner_text("main")
    assert "at most 50% sure" in frame.text_content("details")
    answer_both(frame)
    record = records.read(tab.evaluate("JSON.stringify(document.querySelector('sottovoce-question').record)"))

    assert record_of(tab)["digest"] == record.digest == parse_asked(TOGETHER).digest
    assert record.once == "device"
    assert record.value == ",".join(parse_asked(TOGETHER).values_of(record.report))
    states = {"drank_state": "answered", "lied_state": "answered", "cheated_state": "opened"}
    states |= dict.fromkeys(["cheated", "cheated_channel", "cheated_once"], "")
    sent = tab.evaluate("Object.fromEntries(new FormData(document.querySelector('form')))")
    assert sent == {"nickname": "", **records.columns(record), **states}
    tab.goto(host)
    frame = frame_of(tab)
    assert frame.locator("input").count() == 0
    be_still(frame)
    frame.locator("button").click()
    assert record_of(tab)["report"] == record.report


@pytest.mark.parametrize("is_block_first", [True, False])
def test_block_counts_for_each_question_in_it(
    tab: Page, tmp_path: Path, host: str, place: str, is_block_first: bool
) -> None:
    """Its epsilon and that of one of its questions, asked alone, are more than 3, whichever comes first."""
    both = [(TOGETHER, answer_both), ({**COIN, "name": "lied"}, answer)]
    first, second = both if is_block_first else both[::-1]
    write_host(tmp_path, place, element(place, first[0]), name="first.html")
    write_host(tmp_path, place, element(place, second[0]), name="second.html")
    tab.goto(f"{host}/first.html")
    first[1](frame_of(tab))
    tab.goto(f"{host}/second.html")
    assert "too much" in frame_of(tab).inner_text(".problem")
    assert reason_of(tab) == "error_question_budget"


def test_block_that_needs_a_survey_is_not_shown(tab: Page, show: Show, place: str) -> None:
    needing: list[dict[str, Any]] = [{"ask": 1}, {"arm": ["x"]}, {"items": TOGETHER["items"][:1]}, {"items": [None]}]
    for changes in (*needing, {"block": "drank"}):
        show(element(place, {**TOGETHER, **changes}))
        assert frame_of(tab).locator("input").count() == 0, changes
        assert reason_of(tab) in {"error_spec", "error_unexpected", "error_survey"}, changes


def test_question_that_is_changed_is_another_draw(tab: Page, show: Show, place: str) -> None:
    """It has another digest."""
    digests = set()
    for mechanism in ({"name": "binary_rr", "a": "3/4", "b": "1/4"}, {"name": "binary_rr", "a": "2/3", "b": "1/3"}):
        show(element(place, {**COIN, "mechanism": mechanism}))
        answer(frame_of(tab))
        digests.add(record_of(tab)["digest"])
    assert len(digests) == 2


def test_nothing_is_fetched_after_the_frame(tab: Page, show: Show) -> None:
    show()
    frame = frame_of(tab)
    requests: list[str] = []
    tab.context.on("request", lambda request: requests.append(request.url))
    tab.context.set_offline(True)
    answer(frame)
    assert record_of(tab)["question"] == "cheated"
    assert requests == []


def test_without_storage_the_record_says_so(tab: Page, show: Show) -> None:
    """As where a browser blocks third parties."""
    blocked = "if (parent !== window) Object.defineProperty(window, 'localStorage', { get() { throw new Error(); } })"
    tab.add_init_script(blocked)
    show()
    frame = frame_of(tab)
    assert "keeps nothing" in frame.inner_text("main")
    answer(frame)
    assert record_of(tab)["once"] == "no"


def test_cover_takes_the_input_away(tab: Page, show: Show) -> None:
    show()
    frame = frame_of(tab)
    be_still(frame)
    tab.add_style_tag(content="#cover { position: fixed; inset: 0; z-index: 9; background: #0001; }")
    tab.evaluate("document.body.append(Object.assign(document.createElement('div'), { id: 'cover' }))")
    frame.wait_for_selector("fieldset:disabled")
    frame.wait_for_selector("#covered:not([hidden])")
    tab.evaluate("document.getElementById('cover').remove()")
    frame.wait_for_selector("fieldset:enabled")


def test_mistake_of_the_host_blocks_no_form(tab: Page, tmp_path: Path, host: str, place: str) -> None:
    """People read a sentence, the host's own code a reason; what is not required keeps no form from being sent."""
    wrong = {**COIN, "mechanism": {"name": "no_such"}}
    dear = {**COIN, "mechanism": {"name": "binary_rr", "a": "24/25", "b": "1/25"}}
    mistakes = {
        "participant is missing": ([element(place, attributes="")], False),
        "named cheated": ([element(place), element(place)], False),
        "is not JSON": ([element(place).replace('{"type"', "{type")], False),
        "bad question: error_spec": ([element(place, wrong)], True),
        "too dear: error_spec": ([element(place, dear)], True),
        "not loaded": ([element("http://127.0.0.1:1/")], False),
    }
    for said, (tags, has_frame) in mistakes.items():
        write_host(tmp_path, place, *tags)
        if said == "not loaded":
            tab.add_init_script(
                "if (parent === window) { const wait = setTimeout; setTimeout = (f, ms) => wait(f, ms / 30); }"
            )
        tab.goto(host)
        assert said.rpartition(": ")[2] in reason_of(tab), said
        assert tab.evaluate("document.querySelector('form').checkValidity()"), said
        if has_frame:
            assert "/mechanism" in frame_of(tab).inner_text(".problem"), said
        else:
            slot = tab.locator("sottovoce-question").last.locator("slot")
            assert "could not be opened" in slot.inner_text(), said


def test_foreign_message_is_not_heard(tab: Page, show: Show) -> None:
    """Neither from the page itself nor from another frame, nor a second record."""
    show()
    frame = frame_of(tab)
    fake = "({ type: 'sottovoce:record', record: { question: 'cheated', value: 'no', channel: 'x', once: true } })"
    tab.evaluate(f"postMessage({fake}, '*')")
    tab.evaluate(f"""() => new Promise((go) => {{
        const frame = document.createElement("iframe");
        frame.srcdoc = "<script>parent.postMessage({fake}, '*')<\\/script>";
        frame.onload = () => setTimeout(go, 100);
        document.body.append(frame);
    }})""")
    assert told(tab) == []
    answer(frame)
    record = record_of(tab)
    frame.evaluate(f"parent.postMessage({fake}, '*')")
    tab.wait_for_timeout(200)
    assert told(tab) == [["record", record]]


def test_frame_is_accessible(tab: Page, show: Show, place: str, axe: str) -> None:
    """Before and after the button; the checker looks at a language of each direction: what it finds is not in words."""
    tab.set_viewport_size({"width": 320, "height": 568})
    found = {}
    for language in ("en", "ar", "de", "es", "fr", "hi", "pt", "zh-Hans"):
        # Another person each: the first one's answer would be told instead.
        show(element(place, attributes=f'participant="{language}"'), language=language)
        frame = frame_of(tab)
        assert frame.evaluate("document.documentElement.lang") == language
        frame.evaluate("document.querySelector('details').open = true")
        assert is_wide_enough(frame), language
        if language in {"en", "ar"}:
            be_still(frame)
            found[language] = checked(frame, axe)
            answer(frame)
            found[language] += checked(frame, axe)
    assert found == {"en": [], "ar": []}


def is_wide_enough(frame: Frame) -> bool:
    fits: bool = frame.evaluate("(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(main)")
    return fits


def test_long_words_and_colours_of_the_host_can_be_read(tab: Page, show: Show, place: str, axe: str) -> None:
    """A word that is wider than a phone is broken; what is missing has the contrast of all else on dark paper."""
    tab.set_viewport_size({"width": 320, "height": 568})
    dark = "paper:#101418 ink:#f0f0f0 accent:#7bd3c5 on-accent:#06231f line:#444444"
    style = ";".join(f"--sottovoce-{each}" for each in dark.split())
    long = {**COIN, "label": {"en": "Donaudampfschifffahrt" * 5}}
    show(element(place, long, f'participant="p1" style="{style}"'))
    frame = frame_of(tab)
    be_still(frame)
    frame.locator("button").click()
    assert frame.locator("#answer-fault").is_visible()
    assert is_wide_enough(frame)
    assert checked(frame, axe) == []


def test_question_that_is_shown_later_has_its_height(tab: Page, show: Show, place: str) -> None:
    """As on a later page of a survey: it is as tall as one that is seen from the start."""
    show(element(place), f"<div hidden>{element(place, {**COIN, 'name': 'later'})}</div>")
    frame_of(tab)
    tab.frames[2].wait_for_selector("form", state="attached")
    tab.evaluate("document.querySelector('div').hidden = false")
    for number in (0, 1):
        be_still(frame_of(tab, number))
    first, later = (each.bounding_box() for each in tab.locator("iframe").all())
    assert first
    assert later
    assert later["height"] == first["height"]


def test_another_question_in_one_element_has_its_own_record(tab: Page, show: Show) -> None:
    """As where a host shows one question after another: no column has an answer to the question before."""
    show()
    answer(frame_of(tab))
    first = record_of(tab)
    tab.evaluate("document.querySelector('sottovoce-question').question = " + json.dumps(COIN))
    assert tab.evaluate("document.querySelector('sottovoce-question').record") == first
    tab.evaluate("document.querySelector('sottovoce-question').question = " + json.dumps({**COIN, "name": "other"}))
    assert tab.evaluate("document.querySelector('sottovoce-question').columns.other") == ""
    assert tab.evaluate("new FormData(document.querySelector('form')).has('cheated')") is False
    answer(frame_of(tab))
    tab.wait_for_function("told.length === 2")
    assert tab.evaluate("document.querySelector('sottovoce-question').record.question") == "other"


def test_static_frames_are_found_by_their_file_names(tab: Page, show: Show, tmp_path: Path) -> None:
    """Of one question and of a block beside it, on another origin."""
    folder = tmp_path / "frame"
    folder.mkdir()
    for name, body in question_files().items():
        (folder / name).write_bytes(body)
    with serving(folder) as origin:
        tags = [element(f"{origin}/index.html", asked) for asked in (COIN, TOGETHER)]
        show(*tags)
        assert [frame_of(tab, number).locator("input").count() for number in (0, 1)] == [2, 4]


def test_frame_in_forced_colours_and_without_motion(
    new_context: NewContext, tmp_path: Path, host: str, place: str, axe: str
) -> None:
    page = new_context(forced_colors="active", reduced_motion="reduce").new_page()
    write_host(tmp_path, place)
    page.goto(host)
    frame = frame_of(page)
    be_still(frame)
    styles = (
        "nodes => nodes.map((node) => { const s = getComputedStyle(node); return [s.borderStyle, s.borderWidth]; })"
    )
    edges = frame.locator("label.option, form button").evaluate_all(styles)
    assert len(edges) == 3
    assert all(style == "solid" and width != "0px" for style, width in edges)
    frame.locator("#answer-0").focus()
    page.keyboard.press("Space")
    ringed = "node => getComputedStyle(node).outlineStyle !== 'none'"
    assert frame.locator("#answer-0").evaluate(ringed)
    assert frame.evaluate("document.getAnimations().length") == 0
    moving = """[...document.querySelectorAll("*")].map((node) => getComputedStyle(node)).filter(
        (s) => s.animationName !== "none" || parseFloat(s.transitionDuration) > 0).length"""
    assert frame.evaluate(moving) == 0
    assert checked(frame, axe) == []


def test_required_question_that_cannot_be_shown_holds_no_form_up(tab: Page, show: Show, place: str) -> None:
    """Since nobody could answer it; the state tells."""
    show(element(place, attributes="required"))
    assert "participant is missing" in reason_of(tab)
    assert tab.evaluate("document.querySelector('form').checkValidity()")
    assert tab.evaluate("document.querySelector('sottovoce-question').state") == "blocked"


def checked(frame: Any, axe: str) -> list[str]:
    """Return the rules that the frame breaks; its content security policy lets only the driver add the checker."""
    load(frame, axe)
    return list(frame.evaluate(FOUND, {"runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]}))


def test_two_open_tabs_hand_over_one_draw(new_context: NewContext, tmp_path: Path, host: str, place: str) -> None:
    """Both showed the options before either was answered; the second gets what the first drew, whatever it chose."""
    write_host(tmp_path, place)
    context = new_context()
    pages = [context.new_page(), context.new_page()]
    for page in pages:
        page.goto(host)
        assert frame_of(page).locator("input").count() == 2
    for option, page in enumerate(pages):
        page.bring_to_front()
        answer(frame_of(page), option)
    first, second = (record_of(page) for page in pages)
    assert first == second
    kept = frame_of(pages[0]).evaluate("Object.keys(JSON.parse(localStorage['sottovoce-question/1']).draws).length")
    assert kept == 1


def test_eight_epsilon_in_all_are_the_limit(tab: Page, show: Show, tmp_path: Path, host: str, place: str) -> None:
    """Of one person before one host, over all studies and names; another person has a sum of their own."""
    dear = {"name": "binary_rr", "a": "18/19", "b": "1/19"}
    for number in (1, 2, 3):
        asked = {**COIN, "name": f"q{number}", "label": {"en": f"Question {number}"}, "mechanism": dear}
        show(element(place, asked, f'participant="p1" study="s{number}"'))
        frame = frame_of(tab)
        if number < 3:
            answer(frame)
    assert reason_of(tab) == "error_total_budget"
    write_host(tmp_path, place, element(place, asked, 'participant="p2"'), name="other.html")
    tab.goto(f"{host}/other.html")
    assert frame_of(tab).locator("input").count() == 2


def test_draw_outlives_a_host_that_leaves_too_early(tab: Page, show: Show, host: str, place: str) -> None:
    """Where the message is lost, the next visit hands over the same."""
    show(element(place, attributes='participant="p1" study="s"'))
    frame = frame_of(tab)
    be_still(frame)
    tab.evaluate("addEventListener('message', (event) => event.stopImmediatePropagation(), true)")
    frame.locator("#answer-0").check()
    frame.locator("button").click()
    frame.wait_for_selector("h1")
    drawn = frame.evaluate("Object.values(JSON.parse(localStorage['sottovoce-question/1']).draws)[0].report")
    tab.goto(host)
    again = frame_of(tab)
    be_still(again)
    again.locator("button").click()
    assert record_of(tab)["report"] == drawn
