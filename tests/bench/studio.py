"""The pages of the studio for a survey of twenty questions with ten million reports (``BENCH_REPORTS`` says how many),
and for one of sixty questions with as many as one group of the filling: until they are ready in Chromium, and their
bytes, compressed, with all that they load.

The surveys are open first, so that Results are made from the counts that are kept; Tables, Models and Files wait for
the close. Preview and Rehearse are of a draft of the same questions.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import BrowserContext, sync_playwright
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.intake.admission import SurveyRules
from sottovoce.aggregator.storage import ReportBatch, Storage
from sottovoce.aggregator.storage.pack_values import pack
from sottovoce.aggregator.surveys.lifecycle import reports_so_far
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.bench.mechanisms import row
from tests.browser.chromium import find
from tests.browser.studio_site import of_many_questions
from tests.browser.visit import log_in
from tests.conftest import Running, start
from tests.documents import one_of, question, survey

REPORTS = int(os.environ.get("BENCH_REPORTS", "10000000"))
GROUP = 20_000
ROUNDS = 5
WHILE_OPEN = ("privacy", "invite", "results")
ONCE_CLOSED = ("results", "tables", "models", "files", "settings")
OF_A_DRAFT = ("design", "privacy", "preview", "rehearse", "publish", "settings")


def twenty_questions() -> Survey:
    coins = [{**question({"name": "binary_rr", "a": "3/4", "b": "1/4"}), "name": f"coin{index}"} for index in range(10)]
    wheels = [{**one_of(8, {"epsilon": "1"}), "name": f"wheel{index}"} for index in range(10)]
    return parse_survey(survey(*coins, *wheels))


def sixty_questions() -> Survey:
    return parse_survey(of_many_questions("sixty"))


def fill(storage: Storage, asked: Survey, reports: int) -> None:
    """So many reports, a group at a time; their ids rise, since filling is not what is measured."""
    [stored] = storage.revisions(asked.name)
    plan = SurveyRules(stored, stored.key).plan
    sizes = [question.domain.size for question in asked.questions]
    values = [[(place + place // 7 * add) % size for add, size in enumerate(sizes)] for place in range(GROUP)]
    packed = b"".join(map(pack, values))
    for first in range(0, reports, GROUP):
        ids = b"".join((first + place).to_bytes(8) + os.urandom(8) for place in range(GROUP))
        storage.store([ReportBatch(plan, 0, ids, packed)])
    [stored] = storage.revisions(asked.name)
    assert reports_so_far(stored) == reports


def visit(context: BrowserContext, address: str) -> tuple[float, float]:
    """Milliseconds until the page is ready, and kilobytes on the wire; nothing was kept from before."""
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    devtools.send("Network.enable")
    devtools.send("Network.setCacheDisabled", {"cacheDisabled": True})
    loaded: list[float] = []
    devtools.on("Network.loadingFinished", lambda event: loaded.append(event["encodedDataLength"]))
    page.goto(address, wait_until="load")
    ready = page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd")
    page.close()
    return ready, sum(loaded) / 1e3


def show(context: BrowserContext, address: str, pages: Sequence[str], told: str) -> None:
    """The slowest of a few visits to each page, the first one among them; ``told`` says what the pages are of."""
    for page in pages:
        found = [visit(context, f"{address}/{page}".rstrip("/")) for _ in range(ROUNDS)]
        slowest = max(ms for ms, _ in found)
        row(f"studio: {page or 'list'}, {told}, ready, the slowest of {ROUNDS}", slowest, "ms", "<= 1000")
        row(f"studio: {page or 'list'}, {told}, bytes", max(size for _, size in found), "kB", "<= 60")


def show_all(context: BrowserContext, site: Running, asked: Survey, reports: int) -> None:
    """Each page of a survey while it is open, once it is closed, and of a draft of its questions."""
    told = f"{len(asked.questions)} questions"
    address = f"{site.url}/dashboard/surveys/{asked.name}"
    storage = site.storage()
    fill(storage, asked, reports)
    show(context, address, WHILE_OPEN, f"{told}, {reports:,} reports")
    storage.close_survey(asked.name, 20_000)
    show(context, address, ONCE_CLOSED, f"{told}, {reports:,} reports, closed")
    storage.drafts.add(f"{asked.name}-drafted", draft_of(asked.document).dumped)
    storage.close()
    show(context, f"{address}-drafted", OF_A_DRAFT, f"{told}, a draft")


def figures() -> None:
    executable, environment = find()
    twenty, sixty = twenty_questions(), sixty_questions()
    with tempfile.TemporaryDirectory() as folder, start(Path(folder), twenty) as site, sync_playwright() as playwright:
        storage = site.storage()
        storage.publish(sixty)
        storage.close()
        browser = playwright.chromium.launch(executable_path=executable, env=environment, args=["--no-sandbox"])
        context = browser.new_context()
        log_in(context, site).close()
        show_all(context, site, twenty, REPORTS)
        show_all(context, site, sixty, GROUP)
        show(context, f"{site.url}/dashboard", ("", "new"), "four surveys")
        browser.close()
