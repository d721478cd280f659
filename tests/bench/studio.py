"""
The pages of the studio for a survey of twenty questions with ten million reports (``BENCH_REPORTS`` says how many):
until they are ready in Chromium, and their bytes, compressed, with all that they load.

The survey is open, so that Results are made from the counts that are kept; Tables, Models and Files wait for the close.
"""

import os
import tempfile
from pathlib import Path

from playwright.sync_api import BrowserContext, sync_playwright
from sottovoce.aggregator.collect.survey_rules import SurveyRules
from sottovoce.aggregator.storage import Arrival, Storage
from sottovoce.aggregator.storage.rows import pack
from sottovoce.aggregator.surveys import reports_so_far
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.bench.mechanisms import row
from tests.browser.chromium import find
from tests.browser.visit import log_in
from tests.conftest import start
from tests.documents import one_of, question, survey

REPORTS = int(os.environ.get("BENCH_REPORTS", "10000000"))
GROUP = 20_000
ROUNDS = 5
PAGES = ("", "surveys/{name}/design", "surveys/{name}/privacy", "surveys/{name}/invite", "surveys/{name}/results")
PAGES_OF_CLOSED = ("surveys/{name}/tables", "surveys/{name}/models", "surveys/{name}/files", "surveys/{name}/settings")


def twenty_questions() -> Survey:
    """Ten with yes and no, ten with one of eight options."""
    coins = [{**question({"name": "binary_rr", "a": "3/4", "b": "1/4"}), "name": f"coin{index}"} for index in range(10)]
    wheels = [{**one_of(8, {"epsilon": "1"}), "name": f"wheel{index}"} for index in range(10)]
    return parse_survey(survey(*coins, *wheels))


def fill(storage: Storage, asked: Survey) -> None:
    """So many reports, a group at a time; their ids rise, since filling is not what is measured."""
    [stored] = storage.revisions(asked.name)
    plan = SurveyRules(stored, stored.key).plan
    coins, wheels = ([place >> bit & 1 for bit in range(10)] for place in range(GROUP)), range(10)
    values = [(*coin, *((place + add) % 8 for add in wheels)) for place, coin in enumerate(coins)]
    packed = b"".join(map(pack, values))
    for first in range(0, REPORTS, GROUP):
        ids = b"".join((first + place).to_bytes(8) + os.urandom(8) for place in range(GROUP))
        storage.store([Arrival(plan, 0, ids, packed)])
    [stored] = storage.revisions(asked.name)
    assert reports_so_far(stored) == REPORTS


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


def show(context: BrowserContext, url: str, name: str, pages: tuple[str, ...]) -> None:
    """The slowest of a few visits to each page, the first one among them."""
    for page in pages:
        found = [visit(context, f"{url}/dashboard/{page.format(name=name)}") for _ in range(ROUNDS)]
        told = page.rpartition("/")[2] or "list"
        slowest = max(ms for ms, _ in found)
        row(f"studio: {told}, {REPORTS:,} reports, ready, the slowest of {ROUNDS}", slowest, "ms", "<= 1000")
        row(f"studio: {told}, bytes", max(size for _, size in found), "kB", "<= 60")


def figures() -> None:
    """While it is open, and once it is closed."""
    executable, environment = find()
    asked = twenty_questions()
    with tempfile.TemporaryDirectory() as folder, start(Path(folder), asked) as site, sync_playwright() as playwright:
        storage = site.storage()
        fill(storage, asked)
        browser = playwright.chromium.launch(executable_path=executable, env=environment, args=["--no-sandbox"])
        context = browser.new_context()
        log_in(context, site).close()
        show(context, site.url, asked.name, PAGES)
        storage.close_survey(asked.name, 20_000)
        storage.close()
        show(context, site.url, asked.name, PAGES_OF_CLOSED)
        browser.close()
