"""Form, links, kiosk, Arabic and studio in Chromium, Firefox and WebKit, by the same lines.

What Chromium alone is asked stands in the files of each part.
"""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from secrets import token_hex

import pytest
from playwright.sync_api import Browser
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.cli.process import aggregator
from sottovoce.client import MemoryLedger, Respondent
from sottovoce.client.transport import Transport
from sottovoce.client.words import second_statement_in_words
from sottovoce.shared.parse_survey import parse_survey

from tests.browser.engines import Window, chromium, firefox, wait, webkit
from tests.browser.test_three_browsers import NAMES, click
from tests.browser.test_tokens import counts, invitation
from tests.browser.visit import READY, publish, stored
from tests.conftest import Running, start
from tests.surveys import survey

pytestmark = pytest.mark.slow

ANSWERS = (1, 2, 0)
BEGIN = "#explanation > .actions .primary"
CODE = "4711-west"
RECEIPT = "#receipt_sha256"
NOT_SENT = "#main .problem h1"
EXAMPLES = sorted((Path(__file__).parents[2] / "shared" / "sottovoce" / "examples").glob("[mq]*/*.yaml"))
LATER = [{"opens": f"{year}-01-01T00:00:00Z", "closes": f"{year + 70}-01-01T00:00:00Z"} for year in (2020, 2090)]
FILL = """
const { innerText } = document.querySelector("#questions");
for (const one of document.querySelectorAll("form input")) {
  if (one.type === "radio" || one.type === "checkbox") {
    if (isLast && one.type === "radio" || !document.querySelector(`[name="${one.name}"]:checked`)) one.click();
  } else {
    const [, low] = /from ([^ ]*) to/.exec(one.closest("fieldset").textContent) ?? [];
    one.value = one.type === "date" ? one.min : low;
    one.dispatchEvent(new Event("input", { bubbles: true }));
  }
}
const texts = [...document.querySelectorAll(".by-hand > *")].map((one) => one.textContent);
return [innerText, texts, [...document.querySelectorAll("form input:checked")].map(({ id }) => id)]"""
"""Chooses the first or the last option of each question; gives the text, the second statements and what was chosen."""


@pytest.fixture(scope="module", params=NAMES)
def first(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Window]:
    """Start each browser once."""
    folder = tmp_path_factory.mktemp(request.param)
    starts = {"chromium": lambda: chromium(browser, "plain"),
              "firefox": lambda: firefox(folder, "plain"), "webkit": lambda: webkit(folder, "plain")}  # fmt: skip
    with starts[request.param]() as window:
        yield window


@pytest.fixture
def window(first: Window) -> Iterator[Window]:
    found = first.another()
    yield found
    found.close()


def has(window: Window, selector: str) -> bool:
    return bool(window.run(f"return document.querySelector({json.dumps(selector)}) !== null"))


def find(window: Window, selector: str) -> None:
    """Wait for a node."""
    wait(lambda: has(window, selector))


def press(window: Window, selector: str) -> None:
    """Press the mouse in the middle of a node, once that can be pressed."""
    node = f"document.querySelector({json.dumps(selector)})"
    wait(lambda: window.run(f"return {node} !== null && !{node}.disabled"))
    window.run(f"{node}.scrollIntoView({{ block: 'center' }})")
    click(window, node)


def fill(window: Window, selector: str, text: str) -> None:
    node = f"document.querySelector({json.dumps(selector)})"
    find(window, selector)
    window.run(f"{node}.value = {json.dumps(text)}; {node}.dispatchEvent(new Event('input', {{ bubbles: true }}))")


def read(window: Window, selector: str) -> str:
    return str(wait(lambda: window.run(f"return document.querySelector({json.dumps(selector)}).textContent")))


def leave(window: Window, act: str) -> None:
    """Do what loads another page, and wait for that."""
    window.run("window.isFormer = true")
    window.run(act)
    wait(lambda: window.run("return window.isFormer === undefined && document.readyState === 'complete'"))


def begin(window: Window) -> None:
    """Go from the explanation to the questions; the check is skipped."""
    press(window, BEGIN)
    find(window, "#check, #questions")
    if has(window, "#check"):
        press(window, "#check button:not(.primary)")
    find(window, "#questions")


def arrive(window: Window, link: str) -> None:
    # A link that differs behind the # alone loads nothing.
    window.goto("about:blank")
    window.goto(link)
    find(window, READY)
    if has(window, "#invitation"):
        press(window, "#invitation .primary")
    begin(window)


def send(window: Window) -> None:
    for question, option in enumerate(ANSWERS):
        press(window, f"#q{question}-{option}")
        assert window.run(f"return document.querySelector('#q{question}-{option}').checked")
    press(window, "form button[type=submit]")


def asked(site: Running, **changes: object) -> Running:
    """Publish a survey with a name of its own."""
    return publish(site, survey(name=f"asked-{token_hex(4)}", **changes))


def test_form_leads_to_a_receipt_that_stays(window: Window, keyed: Running) -> None:
    site = asked(keyed, check=False)
    arrive(window, site.link)
    window.run("history.back()")
    find(window, BEGIN)
    assert site.reports() == 0
    begin(window)
    send(window)
    shown = read(window, "#receipt_bytes")
    leave(window, "location.reload()")
    assert read(window, "#receipt_bytes") == shown
    leave(window, f"location.href = '{site.url}/healthz'")
    window.run("history.back()")
    assert read(window, "#receipt_bytes") == shown
    assert site.reports() == 1
    assert json.loads(shown)["report_id"] in stored(site)


@pytest.mark.parametrize("access", ["token", "blind"])
def test_link_of_an_invitation_sends_one_report(window: Window, keyed: Running, access: str) -> None:
    """Personal and blind links are spent by it, and show its receipt again."""
    site = keyed if access == "blind" else asked(keyed, access="token")
    _, link = invitation(site)
    (spent, unspent), reports = counts(site), site.reports()
    arrive(window, link)
    send(window)
    shown = read(window, "#receipt_bytes")
    assert counts(site) == (spent + 1, unspent - 1)
    leave(window, "location.reload()")
    assert read(window, "#receipt_bytes") == shown
    assert site.reports() == reports + 1


def test_report_waits_for_the_connection(window: Window, tmp_path: Path) -> None:
    """What was drawn while the server was away arrives once, the same, when the page is loaded again."""
    with ExitStack() as ends:
        server = start(tmp_path / "data", survey())
        site = ends.enter_context(server)
        arrive(window, site.link)
        ends.close()
        send(window)
        find(window, NOT_SENT)
        assert "Not sent yet" in read(window, "#main .problem")
        ends.enter_context(aggregator(Settings(data=site.data, port=int(site.url.rpartition(":")[2]))))
        leave(window, "location.reload()")
        shown = read(window, "#receipt_bytes")
        assert list(stored(site)) == [json.loads(shown)["report_id"]]


def test_kiosk_leaves_nothing_for_the_next_person(window: Window, keyed: Running) -> None:
    site = asked(keyed, kiosk=True, check=False)
    window.goto("about:blank")
    window.goto(f"{site.link}&staff={CODE}")
    for number in (1, 2):
        fill(window, "#kiosk > form input", CODE)
        press(window, "#kiosk > form [type=submit]")
        begin(window)
        send(window)
        find(window, "#kiosk_code")
        assert site.reports() == number
        press(window, "#receipt .primary")
        find(window, "#kiosk")
        assert not has(window, "#kiosk_code, #receipt_bytes")
    assert CODE not in window.address()


def test_arabic_runs_from_right_to_left(window: Window, keyed: Running) -> None:
    site = asked(keyed, title={"en": "Exams", "ar": "الامتحانات"})
    arrive(window, f"{site.link}&lang=ar")
    root = "return [document.documentElement.lang, document.documentElement.dir]"
    assert window.run(root) == ["ar", "rtl"]
    assert window.run("return document.documentElement.scrollWidth <= innerWidth")
    send(window)
    find(window, RECEIPT)
    assert window.run(root) == ["ar", "rtl"]
    assert site.reports() == 1


def test_studio_leads_from_sign_in_to_results(window: Window, keyed: Running) -> None:
    site = asked(keyed)
    for _ in range(40):
        answers = {"cheated": "no", "reason": "fun", "year": "first"}
        Respondent(site.survey, Transport(site.url), MemoryLedger()).answer(answers)
    site.close()
    results = f"{site.url}/dashboard/surveys/{site.survey.name}/results"
    window.goto(f"{site.url}/dashboard/login")
    fill(window, "[name=token]", site.token)
    press(window, "main form [type=submit], main form button")
    wait(lambda: not window.address().endswith("/login"))
    window.goto(results)
    find(window, "section")
    assert "40" in read(window, "main")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_answered_to_the_end_in_each_arm(window: Window, keyed: Running, path: Path) -> None:
    """What is not randomized is stored as it was chosen; a second statement is that of the arm that is stored."""
    document, arms = parse_survey(parse_yaml(path.read_bytes())).document, set()
    changed = {"waves": LATER} if "waves" in document else {}
    for number in range(40):
        site = publish(keyed, parse_survey({**document, **changed, "name": f"asked-{token_hex(4)}"}))
        arrive(window, site.link)
        text, told, chosen = window.run(f"const isLast = {number % 2}; {FILL}")
        press(window, "form button[type=submit]")
        shown = json.loads(read(window, "#receipt_bytes"))
        values = stored(site)[shown["report_id"]]
        places = [place for place, value in enumerate(values) if value is not None]
        pairs = [(site.survey.questions[place], values[place]) for place in places][: -1 if site.survey.arms else None]
        facts = [asked.by_fact for asked, _ in pairs if asked.by_fact]
        assert told == [line.strip() for fact in facts for line in second_statement_in_words(site.survey, fact)]
        assert "randomize" not in text or any(not asked.by_fact for asked, _ in pairs)
        assert all(asked.admits(value) for asked, value in pairs)
        for place, (asked, value) in enumerate(pairs):
            assert asked.domain.grid or (asked.mechanism and not asked.by_fact) or f"q{place}-{value}" in chosen
        arms.add(values[-1])
        if len(arms) >= len(site.survey.arms):
            break
    assert len(arms) == max(len(site.survey.arms), 1)
