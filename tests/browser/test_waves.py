"""Waves in the form and on the dashboard: the link names one, the aggregator's clock decides."""

import json

import pytest

from tests.browser.conftest import VIEWPORT, NewContext
from tests.browser.test_access import barriers
from tests.browser.visit import Visit, begin, log_in, publish, send
from tests.conftest import Running
from tests.surveys import survey

ENTRIES = """() => new Promise((resolve) => {
  const opening = indexedDB.open("sottovoce");
  opening.onsuccess = () => {
    const reading = opening.result.transaction("reports").objectStore("reports").getAll();
    reading.onsuccess = () => resolve(reading.result);
  };
})"""
PAST = {"opens": "2000-01-01T00:00:00Z", "closes": "2001-01-01T00:00:00Z"}
PRESENT = {"opens": "2001-01-01T00:00:00Z", "closes": "2999-01-01T00:00:00Z"}


@pytest.fixture(scope="session")
def panel(site: Running) -> Running:
    """Two waves, of which the first is over."""
    return publish(site, survey(name="panel", waves=[PAST, PRESENT], privacy={"release_batch": 1}))


def test_link_names_the_wave_and_the_aggregator_decides(new_context: NewContext, panel: Running) -> None:
    visit = Visit(new_context(viewport=VIEWPORT), panel)
    shown = send(visit.open(f"{panel.link}&w=1"), 1, 0, 1)
    again = visit.open(f"{panel.link}&w=1")
    past = visit.arrive(panel.link)
    past.wait_for_selector("text=This survey has been closed since")
    assert past.locator("#explanation > .actions .primary").count() == 0

    assert json.loads(shown["bytes"])["wave"] == 1
    assert again.text_content("#receipt_id") == shown["id"]
    assert "for a wave that the survey does not have" in visit.open(f"{panel.link}&w=2").inner_text("main")
    assert [json.loads(body)["wave"] for body in visit.bodies] == [1]


def test_memo_is_charged_once_and_kept_beside_the_reports(new_context: NewContext, site: Running) -> None:
    """For all waves at the first report: two permanent answers, which say nothing of the truth."""
    coin = {"name": "coin_flip"}
    memoized = {"name": "memoized_rr", "permanent": coin, "instantaneous": coin, "waves": 4}
    boolean = survey().document["questions"][0]
    questions = [{**boolean, "mechanism": memoized}, {**boolean, "name": "q"}]
    asked = survey(name="memo", questions=questions, waves=[PAST, PRESENT])
    visit = Visit(new_context(viewport=VIEWPORT), publish(site, asked))
    page = visit.arrive(f"{visit.site.link}&w=1")
    explained = page.inner_text("main")
    begin(page)
    text = page.inner_text("main")
    send(page, 1, 0)
    page.reload()
    page.wait_for_selector("#receipt_sha256", state="attached")
    kept = page.evaluate(ENTRIES)

    assert "about 63 send yes in a wave" in text
    assert "Epsilon covers 4 waves together" in text
    # Beside them lies the survey's own text.
    entries = [entry for entry in kept if not isinstance(entry, str)]
    memo, report = sorted(entries, key=lambda entry: "report_id" in entry["body"])
    [drawn] = json.loads(memo["body"]).values()
    assert drawn["answers"] in {"00", "01", "10", "11"}
    assert "This survey is asked 2 times. Each time you answer again adds epsilon 1.10." in explained
    assert memo["epsilon"] == pytest.approx(asked.epsilon_of_memo)
    assert report["epsilon"] == pytest.approx(asked.epsilon_of_wave)
    assert visit.complaints == []


def test_dashboard_shows_one_wave_or_all(new_context: NewContext, panel: Running, axe: str) -> None:
    writer = Visit(new_context(), panel)
    send(writer.open(f"{panel.link}&w=1"), 1, 0, 1)
    context = new_context(viewport=VIEWPORT, bypass_csp=True)
    page = log_in(context, panel)
    page.click("#waves summary")
    rows = page.locator("#waves tbody tr").all_inner_texts()
    found = barriers(page, axe)
    page.goto(f"{panel.url}/dashboard/surveys/panel/results?wave=0")
    empty = page.locator("section", has_text="Nothing to show yet.").count()
    page.goto(f"{panel.url}/dashboard/surveys/panel/results?wave=7")
    refused = page.inner_text("body")

    assert [row.split()[0].casefold() for row in rows] == ["all", "0", "1"]
    assert f"{panel.link}&w=1" in rows[2]
    assert found == []
    assert empty == 3
    assert "This result is not available" in refused
