"""``ask: m`` in the form: one set of questions, for every tab and every visit, and nothing said of the others."""

import hashlib
import json

import pytest
from playwright.sync_api import Page
from sottovoce.client.bundle import join, modules
from sottovoce.shared import canonical

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.visit import Visit, begin, publish, receipt
from tests.conftest import Running
from tests.surveys import survey

NAMES = ("survey/errors.js", "survey/rational.js", "device/entries.js", "device/ledger.js")
LEDGER = join({name: modules()[name] for name in NAMES})
TOPICS = ("Cheated", "Copied", "Lied", "Stole", "Forged", "Bribed")


@pytest.fixture(scope="session")
def asking(site: Running) -> Running:
    """Six private questions, of which three are asked, and a public one between them."""
    boolean, _, year = survey().document["questions"]
    private = [{**boolean, "name": topic.lower(), "label": {"en": f"{topic}?"}} for topic in TOPICS]
    return publish(site, survey(name="asking", questions=[*private[:3], year, *private[3:]], ask=3))


@pytest.fixture
def visit(new_context: NewContext, asking: Running) -> Visit:
    return Visit(new_context(viewport=VIEWPORT), asking)


def asked(page: Page) -> list[str]:
    return page.locator("fieldset legend span:last-child").all_text_contents()


def test_set_is_the_same_in_every_tab_and_after_a_reload(visit: Visit) -> None:
    first, second = visit.context.new_page(), visit.context.new_page()
    for page in (first, second):
        page.goto(visit.site.link, wait_until="commit")
    for page in (first, second):
        page.wait_for_selector("#explanation")
    explained = first.inner_text("main")
    for page in (first, second):
        begin(page)
    told = asked(first)
    first.reload()
    first.wait_for_selector("#explanation")
    begin(first)

    assert len(told) == 4
    assert "Year?" in told
    assert asked(first) == asked(second) == asked(visit.open()) == told
    assert "1 of 4" in first.inner_text("main")
    assert "Of 6 private questions your device has drawn 3 for you" in explained
    assert "75% after all." in explained
    assert visit.complaints == []


def test_visitors_are_asked_different_sets(new_context: NewContext, asking: Running) -> None:
    """Eight visitors with one set would be a set that somebody chose; mostly the second has another one."""
    told: set[tuple[str, ...]] = set()
    for _ in range(8):
        context = new_context()
        told.add(tuple(asked(Visit(context, asking).open())))
        if len(told) > 1:
            return
    pytest.fail(f"all were asked {told}")


def test_report_says_nothing_of_other_questions(visit: Visit) -> None:
    page = visit.open()
    told = asked(page)
    for index in range(4):
        page.check(f"#q{index}-1")
    page.click("#questions [type=submit]")
    report = json.loads(receipt(page)["bytes"])

    labels = [question.label["en"] for question in visit.site.survey.questions]
    assert [label for label, value in zip(labels, report["values"], strict=True) if value is not None] == told
    assert page.locator("tbody td").all_text_contents().count("not asked") == 3
    assert visit.complaints == []


def test_ledger_tells_what_this_aggregator_was_given(visit: Visit) -> None:
    """The sum over its reports; the drawn set costs nothing, and other aggregators do not count."""
    spent = f"async (origin) => {{ {LEDGER}; return (await BrowserLedger.open()).spent(origin); }}"
    page = visit.open()
    before = page.evaluate(spent, visit.site.url)
    for index in range(4):
        page.check(f"#q{index}-1")
    page.click("#questions [type=submit]")
    receipt(page)

    assert before == 0
    assert page.evaluate(spent, visit.site.url) == pytest.approx(visit.site.survey.epsilon)
    assert page.evaluate(spent, visit.site.url[:-1]) == 0


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_rows_and_refusals_are_asked_as_they_are_drawn(new_context: NewContext, site: Running, rows: int) -> None:
    """A matrix shows the rows that were drawn; hidden at first, it is not counted; its condition is on a public one."""
    boolean, reason, year = survey().document["questions"]
    named = [{"name": name, "label": {"en": name.title()}} for name in ("work", "school")]
    of = {"type": "boolean", "mechanism": boolean["mechanism"], "when_absent": "no"}
    matrix = {"type": "matrix", "name": "where", "label": {"en": "Where?"}, "rows": named, "of": of,
              "visible_if": {"year": "second"}}  # fmt: skip
    refusable = {**reason, "mechanism": {"name": "kary_rr", "odds": "2"}, "absent_category": True}
    drawn = {0: [0, 3, 4], 1: [0, 2, 3], 2: [0, 1, 2]}[rows]
    site = publish(site, survey(name=f"rows-{rows}", questions=[year, matrix, refusable, boolean], ask=2))
    visit = Visit(new_context(viewport=VIEWPORT), site)
    page = visit.context.new_page()
    page.goto(f"{site.url}/healthz")
    names = sorted(site.survey.questions[index].name for index in site.survey.private)
    pool = hashlib.sha256(canonical.dump({"ask": 2, "questions": names})).hexdigest()
    kept = [names.index(site.survey.questions[index].name) for index in drawn if index in site.survey.private]
    page.evaluate(f"""async ([key, pool, kept]) => {{ {LEDGER};
      await (await BrowserLedger.open()).prepare(key, pool, () => kept);
    }}""", [[site.url, site.survey.name, 0, ""], pool, sorted(kept)])  # fmt: skip
    page = visit.open()
    shown = page.locator("fieldset.matrix fieldset").count()
    labels = page.locator("fieldset.matrix legend").all_text_contents()
    assert page.locator("fieldset.matrix").count() == (rows > 0)
    assert f"of {3 - rows}" in page.inner_text("main")
    assert not page.locator("fieldset.matrix").first.is_visible() if rows else True
    page.get_by_label("Second").check()
    for number in range(1, 3):
        page.locator(f"#q{number}-1").check()
    page.click("#questions [type=submit]")
    values = json.loads(receipt(page)["bytes"])["values"]
    assert visit.complaints == []

    assert shown == rows
    assert len(labels) == (rows + 1 if rows else 0)
    assert [index for index, value in enumerate(values) if value is not None] == drawn


def test_set_goes_with_its_report(visit: Visit) -> None:
    """Of two surveys' sets, the one whose report was forgotten is gone; the report's entry stays, without its bytes."""
    ended = f"""async () => {{ {LEDGER};
      const ledger = await BrowserLedger.open();
      const keys = ["one", "two"].map((name) => ["https://a.example", name, 0, ""]);
      for (const key of keys) await ledger.prepare(key, "digest", () => [0, 2]);
      await ledger.record(keys[0], {{ digest: "digest", epsilon: 1, body: "x", sent: true }});
      await ledger.end(keys[0], "forgotten");
      const left = await Promise.all(keys.map((key) => ledger.get([...key, "digest"])));
      return [await ledger.get(keys[0]), ...left];
    }}"""
    entry, gone, kept = visit.open().evaluate(ended)

    assert (entry["body"], entry["ended"], entry["epsilon"]) == (None, "forgotten", 1)
    assert gone is None
    assert kept["drawn"] == [0, 2]
