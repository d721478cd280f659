"""An aggregator on which each page of the studio has something to show, of few questions and of many."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.spec import Survey

from tests.browser.visit import add_draft
from tests.conftest import Running, start
from tests.exported import drawn, send
from tests.surveys import document, survey

MANY = 60
CLOSED = 20_000
"""A day long gone."""

TITLE = {"en": "Life on campus", "ar": "الحياة في الجامعة"}
LONG = {
    "en": "Have you, in the past twelve months, been asked by a colleague to hand in a piece of written work that "
    "somebody else had written, in part or altogether, and without saying so?",
    "ar": "هل طلب منك زميل خلال الأشهر الاثني عشر الماضية أن تسلّم عملًا مكتوبًا كتبه شخص آخر، كله أو بعضه، دون ذكر ذلك؟",
}
WORD = "Rechtsschutzversicherungsgesellschaften"
"""As long as words are; nothing breaks it."""


def of_many_questions(name: str, **more: Any) -> dict[str, Any]:
    """A document of sixty questions, one in three with a long text, and one with long options."""
    return {**document(title=TITLE, **more), "name": name, "questions": [_question(place) for place in range(MANY)]}


def _question(place: int) -> dict[str, Any]:
    named = {"name": f"q{place}", "label": LONG if place % 3 == 0 else {"en": f"Have you ever done thing {place}?"}}
    if place % 3 != 2:
        return {"type": "boolean", **named, "mechanism": {"name": "coin_flip"}}
    labels = ("Never", WORD, LONG["en"])
    choices = [{"name": f"o{index}", "label": {"en": label}} for index, label in enumerate(labels)]
    return {"type": "select_one", **named, "choices": choices, "mechanism": {"name": "kary_rr", "odds": "3"}}


def invited() -> Survey:
    """A survey that has no report yet, for people with links of their own, in two languages."""
    return survey(**{**document(title=TITLE), "name": "invited", "access": "token"})


def blind(name: str, **more: Any) -> dict[str, Any]:
    """A document for invited people whose reports nobody can tell apart, in two languages."""
    waits = {"access": "blind", "privacy": {"send_within_hours": 24}}
    return {**document(title=TITLE), "name": name, **waits, **more}


_YEARS = [{"opens": f"20{year}-01-01T00:00:00Z", "closes": f"20{year + 1}-01-01T00:00:00Z"} for year in (26, 98)]
"""A wave that is open, and one that is not open yet."""


def _keys(waves: int) -> dict[str, Any]:
    return {"access": {"blind": [spell_modulus(2**2047 + 1 + 2 * wave) for wave in range(waves)]}}


def add_drafts(site: Running) -> None:
    """One of sixty questions, and one of a single question."""
    brief = {"opens": "2027-03-01T09:00:00Z", "closes": "2027-03-01T09:08:00Z"}
    add_draft(site, of_many_questions("many-drafted", ask=3))
    add_draft(site, {**document(), "name": "single", "questions": document()["questions"][:1]})
    add_draft(site, blind("blind-drafted"))
    add_draft(site, blind("blind-brief", **brief))


def add_surveys(site: Running, reports: int) -> None:
    """One that waits for its first report, and a closed one of sixty questions."""
    storage = site.storage()
    many = parse_survey(of_many_questions("many"))
    storage.publish(invited())
    storage.publish(many)
    storage.publish(parse_survey(blind("blind", **_keys(1))))
    storage.publish(parse_survey(blind("blind-panel", waves=_YEARS, **_keys(2))))
    send(storage, many, drawn(many, reports))
    storage.close_survey(many.name, CLOSED)
    storage.close()


def begun_draft(page: Page, site: Running) -> str:
    """Where the pages of a draft are that was begun with a template of four questions."""
    page.goto(f"{site.url}/dashboard/new")
    page.locator("[name=template][value=exam]").click()
    page.wait_for_url("**/design*")
    return page.url.partition("/design")[0].removeprefix(site.url)


@contextmanager
def studio_site(folder: Path) -> Iterator[Running]:
    """With a closed survey of three questions, and all of the above."""
    with start(folder, survey(title=TITLE)) as site:
        storage = site.storage()
        send(storage, site.survey, drawn(site.survey, 200))
        storage.close_survey(site.survey.name, CLOSED)
        storage.close()
        add_surveys(site, 200)
        add_drafts(site)
        yield site
