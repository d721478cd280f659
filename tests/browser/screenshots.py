"""Takes the README's pictures of form and dashboard: ``python -m tests.browser.screenshots``."""

import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from sottovoce.demo.respondents import send_all
from sottovoce.demo.run import demo_answers, demo_survey
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.browser.chromium import launch
from tests.browser.visit import Visit, begin, log_in, press_send, receipt
from tests.conftest import Running, start
from tests.surveys import document

FOLDER = Path(__file__).parent / "screenshots"
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 960, "height": 720}


def picture(page: Page, name: str) -> None:
    page.screenshot(path=FOLDER / f"form-{name}.png", animations="disabled")


def walk(browser: Browser, site: Running, name: str, scheme: str, size: dict[str, int]) -> None:
    """One visit, a picture at each step."""
    context = browser.new_context(viewport=size, color_scheme=scheme)
    page = Visit(context, site).arrive()
    picture(page, f"{name}-start")
    page.click("#explanation summary >> nth=0")
    for truth in (0, 0, 0, 1):
        page.locator("#practice button").nth(truth).click()
    page.locator("#practice").scroll_into_view_if_needed()
    picture(page, f"{name}-practice")
    page.click("#explanation > .actions .primary")
    page.wait_for_selector("#check")
    picture(page, f"{name}-check")
    page.click("#check button:not(.primary)")
    page.wait_for_selector("fieldset input[name=q0]")
    page.evaluate("document.querySelector('fieldset').scrollIntoView()")
    picture(page, f"{name}-question")
    press_send(page, 1, 0, 2, 3, 1)
    receipt(page)
    picture(page, f"{name}-receipt")
    context.close()


def arabic() -> Survey:
    title = {"en": "Exams", "ar": "الامتحانات في هذه الجامعة"}
    label = {"en": "Have you ever cheated in an exam here?", "ar": "هل سبق أن غششت في امتحان هنا؟"}
    asked = document(title=title)
    return parse_survey({**asked, "questions": [{**asked["questions"][0], "label": label}]})


def from_right_to_left(browser: Browser) -> None:
    with tempfile.TemporaryDirectory() as data, start(Path(data), arabic()) as site:
        context = browser.new_context(viewport=PHONE, color_scheme="light", locale="ar")
        page = Visit(context, site).arrive()
        picture(page, "phone-light-arabic-start")
        begin(page)
        page.evaluate("document.querySelector('fieldset').scrollIntoView({ block: 'center' })")
        picture(page, "phone-light-arabic")
        context.close()


def results(browser: Browser, scheme: str) -> None:
    """The dashboard after the demonstration's 6,366 reports."""
    with tempfile.TemporaryDirectory() as data, start(Path(data), demo_survey()) as site:
        send_all(site.url, site.survey, demo_answers())
        site.close()
        context = browser.new_context(viewport={"width": 960, "height": 1000}, color_scheme=scheme)
        page = log_in(context, site)
        # The font may come too late for a browser's first page.
        page.reload(wait_until="networkidle")
        page.screenshot(path=FOLDER / f"dashboard-{scheme}.png", animations="disabled")
        context.close()


def builder(browser: Browser) -> None:
    """The page Design of a template, for 2,000 people."""
    with tempfile.TemporaryDirectory() as data, start(Path(data), demo_survey()) as site:
        context = browser.new_context(viewport={"width": 1280, "height": 1120}, color_scheme="light")
        page = log_in(context, site)
        page.goto(f"{site.url}/dashboard/new")
        page.click("[name=template][value=exam]")
        page.wait_for_url("**/design*")
        page.click("#fold-people > summary")
        page.fill("#people", "2000")
        page.click("#fold-people > summary")
        page.click(".savebar [value=save]")
        page.wait_for_load_state("networkidle")
        page.frame_locator("iframe.previewed").locator("#explanation, #questions").first.wait_for()
        page.screenshot(path=FOLDER / "builder.png", animations="disabled")
        context.close()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as data, start(Path(data), demo_survey()) as site, sync_playwright() as driver:
        browser = launch(driver)
        walk(browser, site, "phone-light", "light", PHONE)
        walk(browser, site, "wide-dark", "dark", DESKTOP)
        from_right_to_left(browser)
        results(browser, "light")
        builder(browser)
        browser.close()


if __name__ == "__main__":
    main()
