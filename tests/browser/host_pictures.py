"""Takes the pictures of hosts but oTree and LimeSurvey: ``python -m tests.browser.host_pictures``."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.browser import test_question_hosts as hosts
from tests.browser.chromium import launch
from tests.browser.hosts import serving
from tests.browser.question_host import element, write_host
from tests.browser.test_link import LINK, answer, publish, visit
from tests.conftest import start
from tests.surveys import survey

FOLDER = Path(__file__).parents[2] / "docs" / "hosts" / "pictures"
SIZE = {"width": 640, "height": 420}
HOSTS: dict[str, Callable[[Path, str], None]] = {
    "html": lambda folder, place: write_host(folder, place, element(place, mode="window")),
    "jspsych": hosts.write_jspsych,
    "surveyjs": hosts.write_surveyjs,
    "qualtrics": hosts.write_qualtrics,
    "fields": lambda folder, place: hosts.write_fields(folder, hosts.lines_for("redcap", place)),
}


def picture(page: Page, name: str) -> None:
    page.wait_for_selector("sottovoce-question button")
    page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / f"{name}.png", animations="disabled", full_page=True)


def main() -> None:
    with tempfile.TemporaryDirectory() as data, start(Path(data), survey()) as site, sync_playwright() as driver:
        browser = launch(driver)
        with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as origin:
            page = browser.new_page(viewport=SIZE)
            visit(page, origin, publish(Path(folder), LINK))
            answer(page)
            page.screenshot(path=FOLDER / "link.png", animations="disabled", full_page=True)
            page.close()
        for name, write in HOSTS.items():
            with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as origin:
                write(Path(folder), f"{site.url}/q/1/")
                page = browser.new_page(viewport=SIZE)
                page.goto(f"{origin}/?people=1")
                picture(page, name)
                page.close()


if __name__ == "__main__":
    main()
