"""A survey that fields a design has a card on Analyses, its shares on Results, and files of them; others have none."""

import html
from collections.abc import Iterator

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.studio.results.results_page import PlannedResults

from tests.exported import TODAY, published, send
from tests.unit.aggregator.analysis.mixtures.test_fielded import CHEATERS, UNKNOWN, reports
from tests.unit.aggregator.studio.joint_pages import SITE, cells, client, get
from tests.unit.aggregator.studio.results.test_arm_pages import study

__all__ = ["client"]

ASKED = f"{CHEATERS.name}/tables?kind=mixture&question=copied_rare"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """A closed survey of each design, and one without."""
    storage = published(tmp_path_factory.mktemp("design-pages"), CHEATERS, UNKNOWN, study("plain"))
    send(storage, CHEATERS, reports())
    send(storage, UNKNOWN, reports((400, 300)))
    for name in (CHEATERS.name, UNKNOWN.name):
        storage.close_survey(name, TODAY)
    yield create_app(Settings(public_url=SITE), storage, now, {})
    storage.close()


def test_card_shows_the_shares_of_the_design(client: FlaskClient) -> None:
    """With limits, the bounds of the share of yes, and for whom epsilon holds; in each language its own words."""
    page = html.unescape(get(client, ASKED).text)

    assert [line[0] for line in cells(page)] == [
        "Yes to the question (pi)", "No to the question (beta)", "Always say no (gamma)"
    ]  # fmt: skip
    assert "yes is true of at least" in page
    assert "Epsilon of people who do as instructed is" in page
    assert "results.mixture(question='copied_rare')" in page
    assert "Sagen immer Nein" in get(client, ASKED, "de").text


def test_results_show_the_design_among_what_was_planned(client: FlaskClient) -> None:
    """At an edge, and with an unknown share of the other question, they say so."""
    page = html.unescape(get(client, f"{UNKNOWN.name}/results").text)
    part = page.partition('id="plan"')[2].partition("</section>")[0]

    assert [line[0] for line in cells(part)] == ["Yes to the question (pi)", "Yes to the second question (q)"]
    assert "pi and q are both too low" in part
    assert "at the edge of what is possible" in part


def test_each_question_says_what_its_share_takes_for_granted(client: FlaskClient) -> None:
    """Beside the share that is too low, and beside one that rests on a stated share; in each language."""
    page = html.unescape(get(client, f"{CHEATERS.name}/results").text)
    assert page.count("by itself takes everybody to do as instructed") == 2
    german = html.unescape(get(client, f"{UNKNOWN.name}/results", "de").text)
    assert german.count("für sich nimmt den angegebenen Anteil von Ja auf die zweite Frage") == 2


def test_shares_are_downloaded_as_a_table(client: FlaskClient) -> None:
    """A line for each share, and the misfit."""
    lines = get(client, ASKED.replace("tables?", "tables/answer.csv?")).text.splitlines()

    assert [line.split(",")[7] for line in lines if line.startswith("share,")] == ["pi", "beta", "gamma"]
    assert sum(line.startswith("misfit,") for line in lines) == 1


def test_survey_without_a_design_has_no_card(client: FlaskClient) -> None:
    """And the address with another question is refused in words."""
    assert "kind=mixture" not in get(client, "plain/tables").text
    assert 'value="mixture"' not in get(client, "plain/tables").text
    refused = get(client, ASKED.replace("copied_rare", "arm"))
    assert (refused.status_code, "is in no design" in html.unescape(refused.text)) == (422, True)


@pytest.mark.parametrize("why", ["open", "calculating", "refused"])
def test_plan_without_comparisons_says_why(client: FlaskClient, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    """In a sentence of its own for each reason."""
    planned = PlannedResults(1, why=why)
    monkeypatch.setattr("sottovoce.aggregator.studio.results.results_page.planned_results", lambda _: planned)
    page = html.unescape(get(client, f"{UNKNOWN.name}/results?axis=zoom").text)

    assert Words("en").translate(f"results_plan_{why}", count=1) in page
