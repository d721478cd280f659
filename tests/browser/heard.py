"""The form as a screen reader has it: the accessibility tree of each state as text, in the order of a visit.

``python -m tests.browser.heard`` prints it, for somebody to read through.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright
from sottovoce.demo.run import demo_survey

from tests.browser.chromium import launch
from tests.browser.states import states
from tests.browser.visit import Visit
from tests.conftest import start


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        start(Path(folder) / "data", demo_survey()) as site,
        sync_playwright() as driver,
    ):
        browser = launch(driver)
        for name, page in states(Visit(browser.new_context(), site)):
            print(f"\n== {name}: {page.title()}\n{page.locator('body').aria_snapshot()}")
        browser.close()


if __name__ == "__main__":
    main()
