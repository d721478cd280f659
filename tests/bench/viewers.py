"""The results page of an open survey under fifty viewers, who load it every four seconds, alone and beside 32
connections that send reports as fast as they are taken.
"""

import tempfile
import threading
import time
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import requests
from playwright.sync_api import sync_playwright

from tests.bench.ingest import processor_seconds, report, ten_questions
from tests.bench.single import load
from tests.bench.studio import fill
from tests.browser.chromium import find
from tests.browser.visit import log_in
from tests.conftest import start

VIEWERS, EACH, SECONDS, REPORTS = 50, 4.0, 20.0, 100_000


def figures() -> None:
    """Milliseconds of a view, and of the processor for it where nothing else is done."""
    asked, (executable, environment) = ten_questions(), find()
    with tempfile.TemporaryDirectory() as folder, start(Path(folder), asked) as site, ExitStack() as stack:
        browser = stack.enter_context(sync_playwright()).chromium.launch(
            executable_path=executable, env=environment, args=["--no-sandbox"]
        )
        context = browser.new_context()
        log_in(context, site).close()
        cookies = {cookie["name"]: cookie["value"] for cookie in context.cookies()}
        browser.close()
        storage = site.storage()
        fill(storage, asked, REPORTS)
        storage.close()
        page = f"{site.url}/dashboard/surveys/{asked.name}/results"
        port = urlsplit(site.url).port or 0
        bodies = Path(folder) / "bodies"
        bodies.write_bytes(b"\n".join(report(asked) for _ in range(256)))
        idle = processor_seconds(port)
        time.sleep(SECONDS)
        idle = processor_seconds(port) - idle
        before = processor_seconds(port)
        alone = views(page, cookies)
        used = processor_seconds(port) - before - idle
        show("alone", alone)
        print(f"processor: {1000 * used / len(alone):.2f} ms a view")
        reports = threading.Thread(target=lambda: [load(port, sent_to(asked.name), 32, bodies) for _ in range(6)])
        reports.start()
        show("beside reports", views(page, cookies))
        reports.join()


def sent_to(survey: str) -> str:
    return f"/api/v1/surveys/{survey}/reports"


def views(page: str, cookies: dict[str, str]) -> list[float]:
    took: list[float] = []

    def view(delay: float) -> None:
        time.sleep(delay)
        with requests.Session() as session:
            session.cookies.update(cookies)
            end = time.monotonic() + SECONDS - EACH
            while time.monotonic() < end:
                before = time.perf_counter()
                session.get(page, timeout=20).raise_for_status()
                took.append(1000 * (time.perf_counter() - before))
                time.sleep(EACH)

    threads = [threading.Thread(target=view, args=[EACH * place / VIEWERS]) for place in range(VIEWERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took


def show(what: str, took: Iterable[float]) -> None:
    ordered = sorted(took)
    print(
        f"{what:<15} {len(ordered)} views: p50 {median(ordered):.1f} ms, p99 {ordered[len(ordered) * 99 // 100]:.1f} ms"
    )
