"""Random arms in the form: drawn after Begin, the same in every tab, and said in questions and receipt."""

import json

import pytest
from playwright.sync_api import Page
from sottovoce.aggregator.authoring.to_survey import draft_of, set_direct_half
from sottovoce.client.words import catalogue

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.states import OPEN_ALL
from tests.browser.test_access import barriers, kept_out
from tests.browser.visit import Visit, begin, publish, receipt, sign_in
from tests.conftest import Running
from tests.exported import TODAY, send
from tests.surveys import survey
from tests.unit.aggregator.studio.results.test_arm_pages import planned, reports
from tests.vectors.arms import COIN, asks

WORDS = catalogue("en")
AFTER = {"direct": "Thank you, direct.", "protected": "Thank you, protected."}


@pytest.fixture(scope="session")
def experiment(site: Running) -> Running:
    """One question asked directly in one arm and with a coin in the other, and a note that one of them reads."""
    boolean, _, _ = survey().document["questions"]
    shared = {"type": boolean["type"], "label": {"en": "Cheated?"}}
    questions = [
        {"type": "note", "name": "story", "label": {"en": "A story."}, "arm": "direct"},
        {**shared, "name": "cheated_direct", "public": True, "arm": "direct"},
        {**shared, "name": "cheated", "mechanism": {"name": "coin_flip"}, "arm": "protected"},
    ]
    arms = [{"name": name, "weight": 1} for name in AFTER]
    after = {"by_arm": {name: {"en": text} for name, text in AFTER.items()}}
    return publish(site, survey(name="experiment", questions=questions, arms=arms, after=after))


def arm_of(page: Page) -> str:
    said = page.locator("#questions > .note").inner_text()
    return {WORDS["arm_direct"]: "direct", WORDS["arm_randomized"]: "protected"}[said]


def test_arm_is_drawn_after_begin_and_kept(new_context: NewContext, experiment: Running) -> None:
    visit = Visit(new_context(viewport=VIEWPORT), experiment)
    page = visit.arrive()
    assert WORDS["explain_title_arms"] in page.inner_text("#explanation")
    assert page.evaluate("async () => (await indexedDB.databases()).length") == 1
    kept = """() => new Promise((go) => { const opened = indexedDB.open("sottovoce"); opened.onsuccess = () => {
        const keys = opened.result.transaction("reports").objectStore("reports").getAllKeys();
        keys.onsuccess = () => { opened.result.close(); go(keys.result.length); }; }; })"""
    assert page.evaluate(kept) == 0

    begin(page)
    arm = arm_of(page)
    assert page.evaluate(kept) == 1
    assert ("A story." in page.inner_text("#questions")) == (arm == "direct")
    assert page.locator("#questions fieldset").count() == 1
    page.reload()
    page.wait_for_selector("#explanation")
    begin(page)
    assert [arm_of(page), arm_of(visit.open())] == [arm, arm]
    assert visit.complaints == []


def test_each_arm_has_its_own_receipt_and_all_bodies_are_equally_long(
    new_context: NewContext, experiment: Running
) -> None:
    """Until both arms have come: what was sent, the arm among it, whether chance had a say, and the closing text."""
    lengths, seen = set(), set()
    for _ in range(40):
        if len(seen) == len(AFTER):
            break
        visit = Visit(new_context(viewport=VIEWPORT), experiment)
        page = visit.open()
        arm = arm_of(page)
        page.check("#q0-1")
        page.click("#questions [type=submit]")
        values = json.loads(receipt(page)["bytes"])["values"]
        text = page.inner_text("#receipt")

        assert values[-1] == list(AFTER).index(arm)
        assert [value is None for value in values[:2]] == [arm != "direct", arm == "direct"]
        title = WORDS["receipt_title_open" if arm == "direct" else "receipt_title"]
        assert page.inner_text("#receipt h1") == title
        assert f"{WORDS['arm_label']} {arm}" in text
        assert AFTER[arm] in text
        assert visit.complaints == []
        lengths.add(len(visit.bodies[-1]))
        seen.add(arm)
    assert seen == AFTER.keys()
    assert len(lengths) == 1


def test_set_of_an_arm_is_said_kept_and_sent(new_context: NewContext, site: Running) -> None:
    """A block of the arm is one of what is drawn; a reload shows the same questions, and the rest is sent as null."""
    coins = [asks(name, "protected", mechanism=COIN) for name in ("first", "last")]
    block = {"block": "two", "arm": ["protected"], "mechanism": {"name": "joint_rr", "odds": "9", "radius": 0},
             "items": [asks("a"), asks("b")]}  # fmt: skip
    questions = [asks("openly", "direct", public=True), *coins, block]
    arms = [{"name": "direct", "weight": 1}, {"name": "protected", "weight": 1000}]
    running = publish(site, survey(name="drawn", questions=questions, arms=arms, ask=2))
    visit = Visit(new_context(viewport=VIEWPORT), running)
    page = visit.open()
    said = page.locator("#questions > .note").all_inner_texts()
    count = page.locator("#questions fieldset").count()
    assert said == [WORDS["arm_randomized"], WORDS["explain_ask"].format(private=3, asked=2)]
    shown = page.inner_text("#questions form")
    page.reload()
    page.wait_for_selector("#explanation")
    begin(page)
    assert page.inner_text("#questions form") == shown
    for place in range(count):
        page.check(f"#q{place}-1")
    page.click("#questions [type=submit]")
    values = json.loads(receipt(page)["bytes"])["values"]
    assert (values[0], values[-1], len(values) - 2 - values[1:-1].count(None)) == (None, 1, count)
    assert count in (2, 3)
    assert visit.complaints == []


def test_results_by_arm_have_no_barrier(new_context: NewContext, site: Running, axe: str) -> None:
    compared = publish(site, planned("compared-arms"))
    storage = site.storage()
    send(storage, compared.survey, reports(compared.survey))
    storage.close_survey(compared.survey.name, TODAY)
    storage.close()
    page = sign_in(new_context(bypass_csp=True, reduced_motion="reduce"), compared)
    page.goto(f"{site.url}/dashboard/surveys/{compared.survey.name}/results")
    page.wait_for_selector("#plan")
    page.evaluate(OPEN_ALL)

    assert barriers(page, axe) == []


def test_choice_of_a_direct_half_and_its_picture_have_no_barrier(
    new_context: NewContext, site: Running, axe: str
) -> None:
    asked = survey().document["questions"][0]
    draft = draft_of(
        {**survey().document, "questions": [asked, {"type": "note", "name": "n", "label": {"en": "Note"}}]}
    )
    storage = site.storage()
    storage.drafts.add("halves", set_direct_half(draft, wanted=True).dumped)
    storage.close()
    page = sign_in(new_context(bypass_csp=True, reduced_motion="reduce", viewport=VIEWPORT), site)
    wheres = ("design?card=whole", "publish", "privacy")
    assert kept_out(page, axe, [f"{site.url}/dashboard/surveys/halves/{where}" for where in wheres], "ar") == {}
