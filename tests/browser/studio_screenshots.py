"""Takes a picture of each page of the studio: ``python -m tests.browser.studio_screenshots [PAGE ...]``.

Each in the light, in the dark, on a phone, and on a phone from right to left; for looking at them one by one.
"""

import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from sottovoce.demo.respondents import send_all
from sottovoce.demo.run import demo_answers, demo_survey

from tests.browser.chromium import launch
from tests.browser.studio_site import add_drafts, add_surveys, begun_draft
from tests.browser.visit import log_in
from tests.conftest import Running, start

FOLDER = Path(__file__).parent / "screenshots" / "studio"
MANY_REPORTS = 1000
"""Of the survey of sixty questions."""

TALLEST = 1400
"""What a page has below is cut off: the picture shows how it begins."""

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
LOOKS: dict[str, tuple[dict[str, Any], str]] = {
    "light": ({"viewport": WIDE, "color_scheme": "light"}, "en"),
    "dark": ({"viewport": WIDE, "color_scheme": "dark"}, "en"),
    "phone": ({"viewport": PHONE, "color_scheme": "light"}, "en"),
    "arabic": ({"viewport": PHONE, "color_scheme": "light"}, "ar"),
}

PAGES = {
    "list": "/dashboard/",
    "new": "/dashboard/new",
    "design": "{draft}/design",
    "design-of-one-question": "/dashboard/surveys/single/design",
    "design-of-sixty-questions": "/dashboard/surveys/many-drafted/design",
    "privacy-of-a-draft": "{draft}/privacy",
    "preview": "{draft}/preview",
    "rehearse": "{draft}/rehearse",
    "publish": "{draft}/publish",
    "settings-of-a-draft": "{draft}/settings",
    "privacy": "{demo}/privacy",
    "invite": "{demo}/invite",
    "invite-by-personal-links": "{invited}/invite",
    "design-blind": "/dashboard/surveys/blind-drafted/design",
    "design-blind-and-brief": "/dashboard/surveys/blind-brief/design",
    "preview-blind": "/dashboard/surveys/blind-drafted/preview",
    "publish-blind": "/dashboard/surveys/blind-drafted/publish",
    "privacy-of-a-blind-draft": "/dashboard/surveys/blind-drafted/privacy",
    "invite-blind": "/dashboard/surveys/blind/invite",
    "invite-blind-panel": "/dashboard/surveys/blind-panel/invite",
    "results-empty": "{invited}/results",
    "results": "{demo}/results",
    "results-of-sixty-questions": "/dashboard/surveys/many/results",
    "tables": "{demo}/tables?kind=crosstab&rows={rows}&columns={columns}",
    "models": "{demo}/models?kind=regression&outcome={rows}&on={columns}",
    "files": "{demo}/files",
    "settings": "{demo}/settings",
    "team": "{demo}/team",
    "board": "{demo}/board",
    "history": "{demo}/history",
    "accounts": "/dashboard/accounts",
    "institution": "/dashboard/institution",
    "me": "/dashboard/me",
}
"""Where each page is."""


def take(page: Page, name: str) -> None:
    """A picture of the page, of which what is below ``TALLEST`` is cut off, as a small file."""
    page.evaluate("document.activeElement.blur()")
    window = dict(page.viewport_size or {})
    height = min(TALLEST, max(window["height"], page.evaluate("document.documentElement.scrollHeight")))
    # What keeps to the lower edge of the window would else lie across the middle of the picture.
    page.set_viewport_size({"width": window["width"], "height": height})
    page.screenshot(path=FOLDER / f"{name}.jpeg", type="jpeg", quality=55, animations="disabled")
    page.set_viewport_size({"width": window["width"], "height": window["height"]})


def addresses(site: Running, page: Page, wanted: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each page that is wanted, by its name."""
    questions = [question.name for question in site.survey.questions]
    rows, columns = questions[0], questions[3]
    places = {
        "demo": f"/dashboard/surveys/{site.survey.name}",
        "invited": "/dashboard/surveys/invited",
        "draft": begun_draft(page, site),
        "rows": rows,
        "columns": columns,
    }
    for name, address in PAGES.items():
        if not wanted or name in wanted:
            yield name, site.url + address.format(**places)


def take_all(browser: Browser, site: Running, wanted: Sequence[str]) -> None:
    first = log_in(browser.new_context(), site)
    listed = list(addresses(site, first, wanted))
    for look, (options, language) in LOOKS.items():
        context = browser.new_context(**options, extra_http_headers={"Accept-Language": language})
        page = log_in(context, site)
        for name, address in listed:
            page.goto(address, wait_until="networkidle")
            take(page, f"{name}-{look}")
        context.close()


def main(wanted: Sequence[str]) -> None:
    """After the demonstration's 6,366 reports."""
    FOLDER.mkdir(exist_ok=True, parents=True)
    with tempfile.TemporaryDirectory() as data, start(Path(data), demo_survey()) as site, sync_playwright() as driver:
        send_all(site.url, site.survey, demo_answers())
        site.close()
        add_surveys(site, MANY_REPORTS)
        add_drafts(site)
        browser = launch(driver)
        take_all(browser, site, wanted)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
