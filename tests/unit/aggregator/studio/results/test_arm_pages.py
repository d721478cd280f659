"""Results, tables and files of a survey with random arms or a design say who was asked, and compare or estimate."""

import html
import re
from collections.abc import Iterator, Sequence

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.invitation_texts import ethics
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.i18n.translator import Words, words_for
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.studio.results.results_page import PlannedResults
from sottovoce.client.draws import Draws
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import names, survey as document_of
from tests.exported import TODAY, published, send
from tests.unit.aggregator.analysis.mixtures.test_fielded import CHEATERS, UNKNOWN, reports as fielded_reports
from tests.unit.aggregator.studio.joint_pages import SITE, cells, client, document, get
from tests.vectors.arms import COIN, arms, asks
from tests.vectors.tape import Tape

__all__ = ["client"]

ACROSS = "kind=compare&outcome=cheated&against=cheated_direct"


def study(name: str) -> Survey:
    return parse_survey(
        document_of(
            asks("year", kind="select_one", choices=names(2), public=True),
            asks("cheated_direct", "direct", public=True),
            asks("cheated", "protected", mechanism=COIN),
            asks("copied", mechanism=COIN),
            arms=arms(1, 1),
            name=name,
        )
    )


def planned(name: str) -> Survey:
    plan = [
        {"question": "cheated", "against": "cheated_direct"},
        {"question": "cheated", "against": "cheated_direct", "measure": "ratio"},
        {"question": "copied", "by": "arm", "measure": "ratio"},
    ]
    return parse_survey({**study(name).document, "analysis_plan": plan})


def reports(asked: Survey) -> Iterator[Sequence[int | None]]:
    """400 reports, as the client makes them; every third person says yes."""
    for person in range(400):
        arm = person % 2
        answers = {each.name: each.options[person % 3 == 0] for each in asked.questions}
        answers[ARM] = asked.arms[arm].name
        values = encode(asked, answers, asked.places_by_arm[arm])
        yield randomize(asked, values, Draws(Tape(f"{asked.name} {person}"))).values


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    storage = published(
        tmp_path_factory.mktemp("arm-pages"),
        *map(study, ("fresh", "busy", "done")),
        *map(planned, ("planned", "waiting")),
        CHEATERS,
        UNKNOWN,
    )
    for name in ("busy", "done"):
        send(storage, study(name), reports(study(name)))
    for name in ("planned", "waiting"):
        send(storage, planned(name), reports(planned(name)))
    send(storage, CHEATERS, fielded_reports())
    send(storage, UNKNOWN, fielded_reports((400, 300)))
    for name in ("done", "planned", CHEATERS.name, UNKNOWN.name):
        storage.close_survey(name, TODAY)
    yield create_app(Settings(public_url=SITE), storage, now, {})
    storage.close()


def test_results_say_in_which_arm_a_question_was_asked(client: FlaskClient) -> None:
    page = html.unescape(get(client, "done/results").text)

    assert "Reports on this question: 200. Asked in the arms: direct." in page
    assert "Reports on this question: 200. Asked in the arms: protected." in page
    assert page.count("Asked in the arms") == 2
    links = re.findall(r'href="(/dashboard/surveys/done/tables\?kind=compare[^"]*)"', page)
    assert [re.findall(r"outcome=(\w+)", link) for link in links] == [["year"], ["copied"]]
    shown = cells(client.get(links[1], base_url=SITE).text)
    assert [line[0] for line in shown] == ["direct", "protected", "protected minus direct"]


def test_results_show_each_question_by_arm(client: FlaskClient) -> None:
    page = html.unescape(get(client, "done/results").text)
    panels = re.findall(r'<p class="label"><bdi>([^<]*)</bdi>', page)

    assert panels == ["All", "direct", "protected"] * 2
    assert re.search(r"Chi-square test of the numbers in the arms against the weights: p = 1", page)
    assert '<option value="arm" selected>' in page
    assert 'class="label"' not in get(client, "done/results?by=").text
    arms_in_file = get(client, "done/results/export.json").json["arms"]
    assert [(arm["name"], arm["reports"]) for arm in arms_in_file] == [("direct", 200), ("protected", 200)]
    assert [question["name"] for question in arms_in_file[0]["questions"]] == ["year", "copied"]
    assert "arms" not in get(client, "done/results/export.json?by=").json


def test_results_show_the_planned_comparisons(client: FlaskClient) -> None:
    """In one dot plot, with the planned measure; an open survey says how many wait; without a plan is no such part."""
    page = html.unescape(get(client, "planned/results").text)
    part = page.partition('id="plan"')[2].partition("</section>")[0]

    pair = ["direct: cheated_direct", "protected: cheated"]
    assert [line[0] for line in cells(part)] == ["cheated", "copied", *pair, "direct", "protected"]
    assert part.count('class="chart dots"') == 1
    plot = part.partition('class="chart dots"')[2].partition("<table>")[0]
    assert re.findall(r"<bdi>([^<]*)</bdi>", plot) == ["direct", "protected", "cheated", "copied"]
    assert plot.count('class="dot other"') == plot.count('class="whisker other"') + 1 == 3
    apart = re.findall(r'<span class="value">([^<]*)<small>([^<]*)</small>', plot)
    assert [f"{value} ({limits})" for value, limits in apart] == [line[3] for line in cells(part)[:2]]
    assert part.count("Ratio of") == 2
    assert "not adjusted for the number of comparisons: 3." in part
    waiting = html.unescape(get(client, "waiting/results").text)
    assert "Planned comparisons: 3. They are made once the survey is closed." in waiting
    assert 'id="plan"' not in get(client, "done/results").text


def test_results_that_are_being_computed_have_a_bar(client: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = PlannedResults(3, why="calculating")
    monkeypatch.setattr("sottovoce.aggregator.studio.results.results_page.planned_results", lambda _: waits)

    page = get(client, "planned/results").text

    assert re.search(r"comparisons are being computed\. <progress class=\"waits\"", page)
    assert '<noscript><meta http-equiv="refresh"' in page
    assert "Load this page" not in page


def test_long_replies_show_a_bar_meanwhile(client: FlaskClient) -> None:
    for page, element in (("fresh/rehearse", "form"), ("done/files", "a")):
        found = get(client, page).text
        assert re.search(rf"<{element} [^>]*data-busy=\"busy\"", found)
        assert re.search(r'id="busy" role="status" hidden>Calculating … <progress', found)


def test_comparisons_by_arm_wait_for_the_close(client: FlaskClient) -> None:
    assert "shown by arm once the survey is closed" in get(client, "busy/results").text
    assert '<p class="label"><bdi>direct</bdi>' in get(client, "fresh/rehearse?n=600").text

    assert "kind=compare" not in get(client, "fresh/results").text


def test_direct_and_protected_questions_are_compared(app: Flask, client: FlaskClient) -> None:
    found = document(app, "done", "compare", outcome="cheated", groups="arm", against="cheated_direct")
    page = get(client, f"done/tables?{ACROSS}&groups=").text
    shown = cells(page)

    assert [line[0] for line in shown[:2]] == ["direct: cheated_direct", "protected: cheated"]
    assert [line[1] for line in shown[:2]] == [f"{100 * one['shown']:.1f}%" for one in found["values"]]
    assert "Reports in these arms: 400. Each report belongs to one arm." in page
    assert "Ratio of “protected: cheated” to “direct: cheated_direct”" in page
    assert re.search(r'<option value="cheated_direct" selected>', page.partition('name="against"')[2])
    assert get(client, f"done/tables/answer.json?{ACROSS}").json == found


def test_wrong_question_is_refused_in_words(client: FlaskClient) -> None:
    refused = {
        f"{ACROSS}&groups=year": "oes with the groups arm",
        "kind=compare&outcome=copied&against=cheated": "oth are asked in arm protected",
    }
    for query, message in refused.items():
        reply = get(client, f"done/tables?{query}")
        assert reply.status_code >= 400
        assert message in reply.text


def test_simulation_sets_no_share_of_the_arms(client: FlaskClient) -> None:
    """Their weights are in the survey; the page shows the shares that follow from them."""
    page = get(client, "fresh/rehearse?n=600").text

    assert 'name="set.copied.yes"' in page
    assert "set.arm" not in page
    was_set = [line[1] for line in cells(page) if line[0] in {"direct", "protected"}]
    assert was_set[-2:] == ["50.0%"] * 2
    compared = cells(get(client, f"fresh/rehearse/tables?n=600&{ACROSS}").text)
    assert [line[0] for line in compared[:2]] == ["direct: cheated_direct", "protected: cheated"]


def test_board_reads_of_the_arms() -> None:
    text = ethics(study("fresh"), "de")
    assert words_for("de").translate("ethics_arms", arms=2) in text
    assert "\n- arm" not in text


ASKED = f"{CHEATERS.name}/tables?kind=mixture&question=copied_rare"


def test_card_shows_the_shares_of_the_design(client: FlaskClient) -> None:
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
    lead = re.sub("<[^>]*>", "", page.partition('<p class="finding">')[2].partition("</p>")[0])
    assert lead.split()[0] == cells(part)[0][1]
    assert "Yes to the question (pi)" in lead
    assert page.index("by itself takes") > page.index('id="plan"')


def test_each_question_says_what_its_share_takes_for_granted(client: FlaskClient) -> None:
    """Beside the share that is too low, and beside one that rests on a stated share; in each language."""
    page = html.unescape(get(client, f"{CHEATERS.name}/results").text)
    assert page.count("by itself takes everybody to do as instructed") == 2
    german = html.unescape(get(client, f"{UNKNOWN.name}/results", "de").text)
    assert german.count("für sich nimmt den angegebenen Anteil von Ja auf die zweite Frage") == 2


def test_shares_are_downloaded_as_a_table(client: FlaskClient) -> None:
    lines = get(client, ASKED.replace("tables?", "tables/answer.csv?")).text.splitlines()

    assert [line.split(",")[7] for line in lines if line.startswith("share,")] == ["pi", "beta", "gamma"]
    assert sum(line.startswith("misfit,") for line in lines) == 1


def test_survey_without_a_design_has_no_card(client: FlaskClient) -> None:
    assert "kind=mixture" not in get(client, "fresh/tables").text
    assert 'value="mixture"' not in get(client, "fresh/tables").text
    refused = get(client, ASKED.replace("copied_rare", "arm"))
    assert (refused.status_code, "is in no design" in html.unescape(refused.text)) == (422, True)


@pytest.mark.parametrize("why", ["open", "calculating", "refused"])
def test_plan_without_comparisons_says_why(client: FlaskClient, monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    planned = PlannedResults(1, why=why)
    monkeypatch.setattr("sottovoce.aggregator.studio.results.results_page.planned_results", lambda _: planned)
    page = html.unescape(get(client, f"{UNKNOWN.name}/results?axis=zoom").text)

    assert Words("en").translate(f"results_plan_{why}", count=1) in page
    assert page.partition('<p class="note">')[2].startswith("'cocaine_seldom' by itself takes")
