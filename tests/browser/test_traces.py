"""The true answer is nowhere: not in the page's markup, not in the browser's profile, not at the aggregator.

The survey's own text holds every option, so finding an option's name proves nothing. What would betray an answer is
a difference: something that occurs more often for the chosen options than for the others, or the true values in
their order. Twenty-four questions with weak odds make sure that the drawn values are not the true ones by accident.
"""

import json
import os
import re
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Error, Page, Playwright
from sottovoce.client.page import saved_page

from tests.browser.chromium import find
from tests.browser.visit import KEPT, Visit, begin, choose, press_send, send, stored
from tests.conftest import Running, start
from tests.page_files import page_files
from tests.surveys import survey

QUESTIONS, OPTIONS = 24, 6
TRUE = tuple((question * 7 + 2) % OPTIONS for question in range(QUESTIONS))
ENCODINGS = ("utf-8", "utf-16-le")
EVERYTHING_KEPT = """async () => {
    const names = (await indexedDB.databases()).map((database) => database.name);
    const open = (name) => new Promise((done) => (indexedDB.open(name).onsuccess = (e) => done(e.target.result)));
    const all = (store) => new Promise((done) => (store.getAll().onsuccess = (e) => done(e.target.result)));
    const kept = [];
    for (const database of await Promise.all(names.map(open))) {
        for (const name of database.objectStoreNames) {
            kept.push(...(await all(database.transaction(name).objectStore(name))));
        }
        database.close();
    }
    return kept;
}"""


def name(question: int, option: int) -> str:
    return f"sentinel{question:02}x{option}"


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """An aggregator whose survey's options have names that occur nowhere else."""
    questions = [
        {
            "type": "select_one",
            "name": f"q{question}",
            "label": {"en": f"Question {question}"},
            "choices": [
                {"name": name(question, o), "label": {"en": name(question, o).upper()}} for o in range(OPTIONS)
            ],
            "mechanism": {"name": "kary_rr", "odds": "9/8"},
        }
        for question in range(QUESTIONS)
    ]
    with start(tmp_path_factory.mktemp("planted") / "data", survey(name="planted", questions=questions)) as process:
        yield process


def contents(folder: Path) -> bytes:
    return b"\n".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


def occurrences(folder: Path, text: str) -> int:
    """How often a text is in the files of a folder, in either of the encodings that browsers write."""
    content = contents(folder)
    return sum(content.count(text.encode(code)) for code in ENCODINGS)


def differences(folder: Path) -> list[int]:
    """The questions whose chosen option occurs in the folder's files another number of times than the rest."""
    content, found = contents(folder), Counter[str]()
    for some, code in product((name(0, 0), name(0, 0).upper()), ENCODINGS):
        # One search for all names, which are equally long: a profile is large.
        start, length = some[: -len("00x0")].encode(code), len(some.encode(code))
        places = [match.start() for match in re.finditer(re.escape(start), content)]
        found.update(content[place : place + length].decode(code, "replace") for place in places)
    return [
        question
        for question, spelling in product(range(QUESTIONS), (str.lower, str.upper))
        if found[spelling(name(question, TRUE[question]))]
        not in [found[spelling(name(question, o))] for o in range(OPTIONS) if o != TRUE[question]]
    ]


@contextmanager
def persistent(playwright: Playwright, profile: Path, dies: bool = False) -> Iterator[BrowserContext]:
    """A browser that keeps its profile in this folder; on exit all is written, unless it dies first."""
    executable, environment = find()
    context = playwright.chromium.launch_persistent_context(
        str(profile), executable_path=executable, env=environment, reduced_motion="reduce",
        args=["--no-sandbox", "--renderer-process-limit=1"],
    )  # fmt: skip
    try:
        yield context
        if dies:
            processes = with_profile(profile)
            assert processes
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
    finally:
        with suppress(Error):
            context.close()


def with_profile(profile: Path) -> list[int]:
    mark = f"--user-data-dir={profile}\0".encode()
    return [int(file.parent.name) for file in Path("/proc").glob("[0-9]*/cmdline") if mark in read(file)]


def read(file: Path) -> bytes:
    """A process's command line, if it is still there."""
    with suppress(OSError):
        return file.read_bytes()
    return b""


def test_choosing_leaves_no_mark_and_sending_nothing_but_the_report(visit: Visit, page: Page) -> None:
    """An answer is a property of its control, never an attribute: the markup after choosing is the markup before."""
    before = page.content()
    choose(page, 1, 0, 2, 3, 1)
    # The row of buttons is measured once it is shown, whatever is chosen.
    assert before.replace(" stays", "") == page.content().replace(" stays", "")
    assert page.evaluate(EVERYTHING_KEPT) == []
    shown = send(page, 1, 0, 2, 3, 1)

    assert page.locator("input, form").count() == 0
    kept = page.evaluate(EVERYTHING_KEPT)
    epsilon = visit.site.survey.epsilon
    expected = {"digest": shown["digest"], "epsilon": pytest.approx(epsilon), "body": shown["bytes"], "sent": True}
    assert [expected, visit.site.survey.canonical.decode()] == kept
    others = "[localStorage.length, sessionStorage.length, history.state?.step, document.cookie]"
    assert page.evaluate(others) == [0, 0, 2, ""]


def test_no_file_holds_the_true_answers(playwright: Playwright, planted: Running, tmp_path: Path) -> None:
    """Whether the page came from the aggregator or was opened from a file."""
    profile, file, before = tmp_path / "profile", tmp_path / "saved.html", stored(planted)
    file.write_bytes(saved_page(planted.url, planted.survey))
    with persistent(playwright, profile) as context:
        sent = [send(Visit(context, planted).open(link), *TRUE) for link in ("", file.as_uri())]

    drawn = {shown["id"]: json.loads(shown["bytes"])["values"] for shown in sent}
    assert len(drawn) == 2
    assert list(TRUE) not in drawn.values()
    # The searches find what is there: the reports in the profile, the reports and the survey at the aggregator.
    assert all(occurrences(profile, report_id) > 0 for report_id in drawn)
    assert stored(planted) == {**before, **drawn}
    assert occurrences(planted.data, name(0, 0)) > 0
    for folder in (profile, planted.data):
        assert_no_answer(folder)


def keep_unsent(context: BrowserContext, planted: Running) -> Page:
    """Answer without a connection, after the page has been kept: the report waits."""
    page = Visit(context, planted).open()
    page.evaluate(KEPT)
    context.set_offline(True)
    press_send(page, *TRUE)
    page.wait_for_selector("#main .problem h1")
    return page


@pytest.mark.parametrize("dies", [False, True], ids=["closed", "killed"])
def test_kept_report_is_all_that_is_kept(playwright: Playwright, planted: Running, tmp_path: Path, dies: bool) -> None:
    profile = tmp_path / "profile"
    with persistent(playwright, profile, dies) as context:
        page = keep_unsent(context, planted)
        entry, text = page.evaluate(EVERYTHING_KEPT)

    assert text == planted.survey.canonical.decode()
    report = json.loads(entry["body"])
    assert entry["sent"] is False
    assert report["values"] != list(TRUE)
    assert occurrences(profile, report["report_id"]) > 0
    # The survey is there, kept for visits without a connection, with all its options alike.
    assert occurrences(profile, name(0, 0)) > 0
    assert_no_answer(profile)


def test_crash_before_sending_leaves_nothing(playwright: Playwright, planted: Running, tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    with persistent(playwright, profile, dies=True) as context:
        page = Visit(context, planted).open()
        page.evaluate(KEPT)
        choose(page, *TRUE)
    assert_no_answer(profile)
    with persistent(playwright, profile) as context:
        page = Visit(context, planted).open()

        assert page.locator("input:checked").count() == 0
        assert page.evaluate(EVERYTHING_KEPT) == []


def assert_no_answer(folder: Path) -> None:
    """The files tell the chosen options neither from the others nor in their order."""
    assert differences(folder) == []
    assert [order for order in (",", ", ", "", " ") if occurrences(folder, order.join(map(str, TRUE)))] == []


def test_search_finds_a_planted_leak(playwright: Playwright, planted: Running, tmp_path: Path) -> None:
    """A page that kept the answers beside the report would be caught by the search above."""
    script = page_files()["sending.js"].body.decode()
    faulty = script.replace("body, sent: false }", "body, sent: false, answers }")
    assert faulty != script
    profile = tmp_path / "profile"
    with persistent(playwright, profile) as context:
        context.route("**/sending.js", lambda route: route.fulfill(body=faulty, content_type="text/javascript"))
        send(Visit(context, planted).open(), *TRUE)

    assert differences(profile) == list(range(QUESTIONS))


def test_page_left_in_the_middle_is_empty_on_return(page: Page) -> None:
    choose(page, 1, 0, 2, 3, 1)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("about:blank")
    page.go_back()
    page.wait_for_selector("#explanation")
    begin(page)

    assert page.locator("input:checked").count() == 0
