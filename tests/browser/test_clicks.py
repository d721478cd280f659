"""How many clicks and fields it takes from nothing to results: counted, because nobody notices one more."""

from playwright.sync_api import Page

from tests.browser.conftest import NewContext
from tests.browser.visit import sign_in
from tests.conftest import Running

MOST_FOR_A_TEMPLATE, MOST_FOR_ONE_OF_ONES_OWN = 12, 45
QUESTIONS = (
    ("Yes or no", "Have you cheated?", "Haben Sie betrogen?", "", ""),
    ("Yes or no", "Were you caught?", "Wurden Sie erwischt?", "", ""),
    ("One of several options", "Which year?", "Welches Jahr?", "First\nSecond", "Erstes\nZweites"),
    ("Yes or no", "Would you do it again?", "Würden Sie es wieder tun?", "", ""),
    ("One of several options", "Why?", "Warum?", "Fear\nTime\nFun", "Angst\nZeit\nSpaß"),
    ("Yes or no", "Do friends know?", "Wissen es Freunde?", "", ""),
)


class Counted:
    """A page on which each click and each filled field counts."""

    def __init__(self, page: Page) -> None:
        self.page, self.acts = page, 0

    def press(self, name: str, role: str = "button") -> None:
        """Click a button or link of this name, and wait for the page that it leads to."""
        self.acts += 1
        place = self.page.get_by_role(role, name=name, exact=True).first  # type: ignore[arg-type]
        with self.page.expect_navigation():
            place.click()

    def open(self, selector: str) -> None:
        """Open what is folded."""
        self.acts += 1
        self.page.locator(selector).click()

    def fill(self, field: str, text: str) -> None:
        """Fill a field; one that is hidden cannot be filled."""
        self.acts += 1
        self.page.locator(f"[name='{field}']").fill(text)

    def publish_and_read(self) -> None:
        """From Design to the link for respondents, and to the results."""
        self.press("Publish …")
        self.press("Publish")
        self.press("Invite", "link")
        assert self.page.locator("main code").first.is_visible()
        self.press("Results", "link")


def begun(new_context: NewContext, site: Running) -> Counted:
    """The list of surveys, and the page for a new one."""
    page = sign_in(new_context(viewport={"width": 1280, "height": 800}), site)
    page.goto(f"{site.url}/dashboard/")
    counted = Counted(page)
    counted.press("New survey", "link")
    return counted


def test_template_leads_to_results_in_few_clicks(new_context: NewContext, site: Running) -> None:
    counted = begun(new_context, site)
    counted.acts += 1
    counted.page.locator("[name=template]").first.click()
    counted.page.wait_for_url("**/design*")
    counted.publish_and_read()

    assert counted.acts <= MOST_FOR_A_TEMPLATE


def test_own_survey_in_two_languages_leads_to_results_in_few_clicks(new_context: NewContext, site: Running) -> None:
    counted = begun(new_context, site)
    counted.fill("title", "Exams")
    counted.acts += 1
    with counted.page.expect_navigation():
        counted.page.locator("form.card:has(#title) button").click()
    if not counted.page.locator("[name='researcher.name.en']").is_visible():
        counted.open("#fold-survey > summary")
    counted.press("+ Deutsch")
    counted.fill("title.de", "Prüfungen")
    counted.fill("researcher.name.en", "Ada Example")
    for number, (kind, english, german, options, other_options) in enumerate(QUESTIONS):
        counted.press(f"+ {kind}")
        counted.fill(f"q{number}.label.en", english)
        counted.fill(f"q{number}.label.de", german)
        if options:
            counted.fill(f"q{number}.options.en", options)
            counted.fill(f"q{number}.options.de", other_options)
    counted.publish_and_read()

    assert counted.acts <= MOST_FOR_ONE_OF_ONES_OWN
