"""What the results' page shows: a band as long as people may look again, and after that the interval for one look."""

import re
from csv import DictReader
from dataclasses import replace
from io import BytesIO, StringIO
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest
from flask import Flask
from PIL import Image
from sottovoce.aggregator.analysis.estimates import QuestionResult, analyse
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.analysis.results_document import export_document
from sottovoce.aggregator.analysis.worked_example import limits
from sottovoce.aggregator.authoring.draft import empty_draft
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.storage.drafts import PlannedSize
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.results import results_page, results_view
from sottovoce.aggregator.studio.results.results_page import MOST_RENDERINGS, RenderingCache
from sottovoce.aggregator.studio.results.results_view import ResultsView
from werkzeug.test import TestResponse

from tests.exported import send
from tests.invited import blind_survey
from tests.storage.test_contract import arrival
from tests.surveys import document, every_type, months, survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.conftest import SITE


@pytest.fixture
def app(public_app: Flask, storage: SQLiteStorage) -> Flask:
    key = storage.publish(survey()).key
    storage.store([arrival(key, number, (number % 3 > 0, number % 3, number % 2)) for number in range(50)])
    return public_app


def get(app: Flask, address: str = "exam/results", **headers: str) -> TestResponse:
    return log_in(app)[0].get(f"/dashboard/surveys/{address}", base_url=SITE, headers=headers)


def yes(storage: SQLiteStorage) -> Estimate:
    return analyse(revisions_of(storage, "exam")).questions[0].estimates[0]


def told(low: float, high: float) -> str:
    return f"{low * 100:.1f}% to {high * 100:.1f}%"


def test_open_survey_shows_the_band_and_a_closed_one_the_interval(app: Flask, storage: SQLiteStorage) -> None:
    """Whoever looks again and again may trust the band; after the close it is worked out for no page and no file."""
    arithmetic = "66% of the reports (n = 50) said yes; 2 × 66% − 1/2 = 82.0%. 95% "
    before, shown = yes(storage), get(app).text
    assert "The shares of these groups come at the close" in shown
    assert before.band_low is not None
    assert before.band_high is not None
    band = told(before.band_low, before.band_high)
    assert (band in shown, told(before.low, before.high) in shown, f"{arithmetic}band: " in shown) == (
        True,
        False,
        True,
    )
    assert set(re.findall("95% (band|interval)", shown)) == {"band"}

    storage.close_survey("exam", 20_000)
    estimate, shown = yes(storage), get(app).text
    exported = export_document(analyse(revisions_of(storage, "exam")))["questions"]
    assert (estimate.band_low, estimate.band_high) == (None, None)
    assert {each["band_low"] for question in exported for each in question["estimates"]} == {None}
    assert (told(estimate.low, estimate.high) in shown, f"{arithmetic}interval: " in shown) == (True, True)
    assert band not in shown
    assert set(re.findall("95% (band|interval)", shown)) == {"interval"}


def test_band_that_is_there_after_close_is_not_shown(
    app: Flask, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page goes by the survey's state, whatever estimates hold."""
    found = analyse(revisions_of(storage, "exam"))
    banded = replace(found, closed=True, questions=tuple(map(_protected, found.questions)))
    monkeypatch.setattr(results_view, "analyse", lambda *_, **__: banded)
    shown = get(app).text
    estimates = [each for question in banded.questions for each in question.estimates]

    for estimate in estimates:
        assert told(estimate.low, estimate.high) in shown
        if estimate.band_low is not None and estimate.band_high is not None:
            assert told(estimate.band_low, estimate.band_high) not in shown
    assert set(re.findall("95% (band|interval)", shown)) == {"interval"}


def _protected(question: QuestionResult) -> QuestionResult:
    """The question with a table of what self-protection would mean."""
    return replace(question, protection=[(0.0, each) for each in question.estimates[:1]])


def test_limits_are_the_interval_where_there_is_no_band(storage: SQLiteStorage) -> None:
    """A mean has none, and neither has what was pooled from different channels."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number) for number in range(25)])
    estimate = replace(yes(storage), band_low=None, band_high=None)

    assert limits(estimate, still_open=True) == (estimate.low, estimate.high)


def test_page_and_file_say_the_same(app: Flask) -> None:
    reply = get(app, "exam/results/export.json")

    assert reply.headers["Content-Disposition"] == "attachment; filename=export.json"
    assert reply.json["reports"] == 50


def test_every_language_tells_the_page_in_its_own_words(app: Flask) -> None:
    for language in LANGUAGES:
        page, picture = (
            get(app, f"exam/results{part}", **{"Accept-Language": language}).text for part in ("", "/cheated.svg")
        )
        assert f'lang="{language}"' in page
        assert ("Of 100 people" in page) is (language == "en")
        assert Words(language).translate("results_numbers") in page
        assert Words(language).translate("results_share_axis") in picture


def test_states_are_told_in_words(app: Flask, storage: SQLiteStorage) -> None:
    """A draft, fewer than a step, closed without a report, a try-out: each page says what it is."""
    storage.drafts.add("sketch", empty_draft("Sketch", "en").dumped)
    few = storage.publish(survey(name="few")).key
    storage.store([arrival(few, number) for number in range(7)])
    storage.publish(survey(name="none"))
    storage.close_survey("none", 20_000)
    storage.publish(survey(name="exam-trial-1", trial=True))
    storage.publish(survey(name="linked", access="token"))
    told = {name: get(app, f"{name}/results").text for name in ("sketch", "few", "none", "exam-trial-1", "linked")}

    assert "This survey is a draft" in told["sketch"]
    assert "Figures appear from 25 reports on" in told["few"]
    # Until there are figures, the page shows the one link that everybody uses, and its QR code.
    links = {"sketch": 0, "few": 1, "none": 0, "exam-trial-1": 1, "linked": 0}
    assert {name: text.count('<img class="qr"') for name, text in told.items()} == links
    assert "/s/few#d=" in told["few"]
    assert "There is nothing to estimate." in told["none"]
    assert "They say nothing about respondents." in told["exam-trial-1"]


@pytest.mark.parametrize("page", ["invite", "results", "tables", "models", "files"])
def test_page_that_comes_later_says_so_of_a_draft(app: Flask, storage: SQLiteStorage, page: str) -> None:
    storage.drafts.add("sketch", empty_draft("A title", "en").dumped)
    told = get(app, f"sketch/{page}", Accept="text/html")
    assert told.status_code == 200
    assert "<bdi>A title</bdi>" in told.text
    assert Words("en").translate(f"later_{page}") in told.text
    assert ('surveys/sketch/rehearse">Simulate with' in told.text) is (page != "invite")
    assert get(app, f"nothing/{page}", Accept="text/html").status_code == 404


def test_fewer_than_a_step_and_no_report_are_one_page(app: Flask, storage: SQLiteStorage) -> None:
    """Byte for byte and by its ETag: nobody can see whether a report has come."""
    key = storage.publish(survey(name="few")).key
    before = get(app, "few/results")
    storage.store([arrival(key, number) for number in range(24)])

    assert get(app, "few/results").headers["ETag"] == before.headers["ETag"]


TOKEN = re.compile(r'name="form_token" value="[0-9a-f]+"')
"""What differs from one view to the next."""


def test_page_of_a_reopened_survey_tells_nothing_of_what_came(app: Flask, storage: SQLiteStorage) -> None:
    """Seven reports that the second close did not show: neither they nor their number; nor are there steps any more."""
    storage.close_survey("exam", 20_000)
    storage.reopen_survey("exam")
    meanwhile = get(app, "exam/results").text
    storage.close_survey("exam", 20_000)
    before = TOKEN.sub("", get(app, "exam/results").text)
    storage.reopen_survey("exam")
    key = storage.revisions("exam")[-1].key
    storage.store([arrival(key, number) for number in range(100, 107)])
    storage.close_survey("exam", 20_000)

    assert "Closing it again shows everything" in meanwhile
    assert "then in steps of" not in meanwhile
    assert "Reports that are not shown here" not in before
    assert TOKEN.sub("", get(app, "exam/results").text) == before


def test_people_of_a_class_are_told(app: Flask, storage: SQLiteStorage) -> None:
    assert "available after the survey closes" in get(app, "exam/results?people=50").text
    storage.close_survey("exam", 20_000)
    told = get(app, "exam/results?people=50").text

    assert re.search("41 of these 50, between [0-9]+ and 50", told)
    assert "50 reports are shown for 60 people" in get(app, "exam/results?people=60").text
    for written in ("0", "-3", "x", "1e3", "9" * 40):
        assert "This is no number of people" in get(app, f"exam/results?people={written}").text


def test_groups_stand_side_by_side_and_options_by_size(app: Flask) -> None:
    beside = get(app, "exam/results?by=cohort").text
    alone = get(app, "exam/results?cohort=first").text
    (first,) = re.findall(r'class="value">([^<]+)<small>([^<]+)', alone)[:1]
    sizes = re.findall(r'class="value">([0-9.]+)%', get(app, "exam/results?sort=size").text)

    assert first in re.findall(r'class="value">([^<]+)<small>([^<]+)', beside)
    assert [float(size) for size in sizes[1:4]] == sorted(map(float, sizes[1:4]), reverse=True)


def test_question_that_makes_the_groups_is_not_divided_by_them(app: Flask, storage: SQLiteStorage) -> None:
    """Each group has all of one answer to it."""
    storage.close_survey("exam", 20_000)
    divided = {name: "First" in get(app, f"exam/results/{name}.svg?by=cohort").text for name in ("cheated", "reason")}

    assert divided == {"cheated": True, "reason": True}
    assert get(app, "exam/results/year.svg?by=cohort").data == get(app, "exam/results/year.svg").data
    assert "First" in get(app, "exam/results/year.svg").text


def test_groups_that_lack_a_question_have_the_figures_of_the_others(public_app: Flask, storage: SQLiteStorage) -> None:
    """Few people of a group gave an answer to the first one, which is shown for no group; the page says so."""
    rare = {"type": "boolean", "name": "rare", "label": {"en": "Rare?"}, "public": True}
    asked = survey(questions=[rare, *document()["questions"]])
    storage.publish(asked)
    send(storage, asked, [(int(number == 0), int(number % 3 > 0), number % 3, number % 2) for number in range(50)])
    drawn = [fromstring(get(public_app, f"exam/results/cheated.svg?{query}").text)  # noqa: S314 - ours
             for query in ("by=cohort", "cohort=first")]  # fmt: skip
    beside, alone = (" ".join(each.itertext()) for each in drawn)
    (first,) = re.findall(r"Yes: ([0-9.]+% \([^)]+\))", alone)

    assert re.findall(r"First: ([0-9.]+% \([^)]+\))", beside) == [first]
    assert "Rare?" in get(public_app, "exam/results?by=cohort").text
    for query, said in (("", False), ("by=cohort", True), ("cohort=first", True)):
        assert ("fewer than 5 respondents" in get(public_app, f"exam/results?{query}").text) == said


def test_number_of_questions_for_each_person_is_that_of_every_arm(public_app: Flask, storage: SQLiteStorage) -> None:
    """One of three in one arm, of two in the other: the page does not say of how many."""
    coin = document()["questions"][0]
    items = [{**coin, "name": "only", "arm": "a"}, coin, {**coin, "name": "other"}]
    asked = survey(questions=items, arms=[{"name": "a"}, {"name": "b"}], ask=1)
    storage.publish(asked)
    send(storage, asked, [(None, 1, None, number % 2) for number in range(50)])

    assert "Private questions for each person</dt><dd>1</dd>" in get(public_app, "exam/results").text


def test_under_a_budget_no_exact_public_answers_are_shown(app: Flask, storage: SQLiteStorage) -> None:
    """Neither alone nor by group; the groups stay, since they are never published with noise."""
    again = {"type": "boolean", "name": "again", "label": {"en": "Again?"}, "public": True}
    replaced = storage.revisions("exam")[-1].digest
    storage.publish(survey(revision=2, replaces=replaced, questions=[*document()["questions"], again]))
    public = re.compile(r'<bdi id="q-again">Again[?]')
    addresses = ("exam/results", "exam/results?by=cohort", "exam/results?cohort=first")
    before = [get(app, address).text for address in addresses]
    storage.releases.begin("exam", b"opened\n")
    after = [get(app, address).text for address in addresses]

    assert [bool(public.search(text)) for text in (*before, *after)] == [True] * 3 + [False] * 3
    assert ["would undo the noise" in text for text in (*before, *after)] == [False] * 3 + [True] * 3
    assert all('id="q-reason">Why?' in text and 'id="q-year">Year?' in text for text in after)


def test_picture_and_table_are_whole_by_themselves(app: Flask, storage: SQLiteStorage) -> None:
    """They name survey, revision and digest, hold the page's figures, and refer to nothing."""
    digest = storage.revisions("exam")[-1].digest
    picture, table = (get(app, f"exam/results/reason.{kind}") for kind in ("svg", "csv"))
    drawn = fromstring(picture.text)  # noqa: S314 - ours
    words = " ".join(drawn.itertext())
    rows = list(DictReader(StringIO(table.text)))
    shown = analyse(revisions_of(storage, "exam")).questions[1].estimates

    assert f"exam, revision 1, {digest}" in words
    assert "Why?" in words
    assert "Share of respondents" in words
    assert not re.search("href|url[(]|<script|<style", picture.text)
    assert [float(row["raw"]) for row in rows] == [estimate.raw for estimate in shown]
    assert {(row["survey"], row["revision"], row["digest"]) for row in rows} == {("exam", "1", digest)}
    assert get(app, "exam/results/nothing.svg").status_code == 404


def test_ranges_of_the_square_wave_have_a_reason_and_no_limits(public_app: Flask, storage: SQLiteStorage) -> None:
    """On the page and in its picture, in every language; every other figure of the question keeps its limits."""
    age: dict[str, Any] = {"type": "integer", "name": "age", "label": {"en": "Age?"}, "min": "0", "max": "99"}
    age["mechanism"] = {"name": "square_wave", "odds": "3", "bins": 5}
    key = storage.publish(survey(questions=[age, *document()["questions"][1:]])).key
    storage.store([arrival(key, number, (number % 5 + 1, number % 3, number % 2)) for number in range(50)])
    for language in LANGUAGES:
        shown, picture = (
            get(public_app, f"exam/results{part}", **{"Accept-Language": language}).text for part in ("", "/age.svg")
        )
        why = Words(language).translate("results_no_limits")
        assert why.split(":")[0].split("：")[0] in " ".join(fromstring(picture).itertext())  # noqa: S314 - ours
        assert shown.count(why) == 1
        # The mean and five quantiles; of five ranges the point alone.
        charts = shown.partition('id="q-age"')[2].partition("<table")[0]
        assert (charts.count('class="interval"'), charts.count("<small>–</small>")) == (6, 5)


@pytest.mark.slow
def test_chart_is_a_png_too(app: Flask) -> None:
    """Of the size of the SVG, twice as fine; in Arabic too; letters that the font lacks are refused, not left out."""
    picture = get(app, "exam/results/reason.png")
    height = int(re.findall(r'height="(\d+)"', get(app, "exam/results/reason.svg").text)[0])
    assert picture.status_code == 200, picture.text
    with Image.open(BytesIO(picture.data)) as opened:
        assert (opened.format, opened.size) == ("PNG", (2 * 760, 2 * height))
        # Band and dot have their colours.
        colours = {colour for _, colour in opened.convert("RGB").getcolors(1 << 20) or ()}
    assert {(0x8F, 0xBC, 0xB5), (0x17, 0x3F, 0x3C)} <= colours
    assert get(app, "exam/results/reason.png", **{"Accept-Language": "ar"}).data.startswith(b"\x89PNG")
    assert get(app, "exam/results/reason.png", **{"Accept-Language": "hi"}).status_code == 404
    assert "reason.png" in get(app, "exam/results").text
    assert "reason.png" not in get(app, "exam/results", **{"Accept-Language": "hi"}).text


def test_plan_and_alarm_come_from_the_draft_that_was_published(app: Flask, storage: SQLiteStorage) -> None:
    """How many are to answer, and of how many; what a correction plans holds when that is published."""
    storage.drafts.finish("exam", PlannedSize(200, 40))
    storage.drafts.add("exam", b'{"people": 300, "group": 30}')
    told = get(app, "exam/results").text

    assert "50 of 200 planned" in told
    assert "50 reports, more than the 40 people in the group" in told


def test_plan_of_a_panel_counts_its_people_in_each_wave(public_app: Flask, storage: SQLiteStorage) -> None:
    asked = survey(waves=months(3))
    storage.publish(asked)
    send(storage, asked, [(1, 0, number % 2) for number in range(50)])
    storage.drafts.finish("exam", PlannedSize(40, 60))
    client = log_in(public_app)[0]

    pages = [client.get(page, base_url=SITE).text for page in ("/dashboard/surveys/exam/results", "/dashboard/")]
    assert ["50 of 120" in page for page in pages] == [True, True]
    assert "more than the" not in pages[0]


def test_worst_belief_is_of_a_person_whose_reports_are_counted(public_app: Flask, storage: SQLiteStorage) -> None:
    """A coin and odds of 3 are odds of 9 in one wave and of 81 in two, unless each wave asks other people."""
    told = []
    for name, more in (("exam", {}), ("others", {"fresh_samples": True})):
        asked = survey(name=name, waves=months(3), **more)
        storage.publish(asked)
        for wave in (0, 1):
            send(storage, asked, [(1, 0, number % 2) for number in range(50)], wave)
        pages = [get(public_app, f"{name}/results{chosen}").text for chosen in ("", "?wave=1")]
        told.append([re.findall(r"a belief of 10% becomes</dt><dd>(\d+)%", page) for page in pages])
    assert told == [[["90"], ["50"]], [["50"], ["50"]]]


def landmarks(shown: str) -> list[str]:
    """The names of the page's regions, open or not, as a screen reader lists them."""
    labelled = [re.sub("<[^>]*>", "", re.search(rf'id="{id}"[^>]*>(.*?)</[bh]', shown)[1])  # type: ignore[index]
                for id in re.findall(r'<section[^>]* aria-labelledby="([\w-]+)"', shown)]  # fmt: skip
    return labelled + re.findall(r'role="region" aria-label="([^"]*)"', shown)


def test_questions_of_equal_text_are_told_apart(app: Flask, storage: SQLiteStorage) -> None:
    """By their names, in headings, tables and pictures; and of one number each table has a name of its own."""
    asked = document()["questions"]
    number = next(each for each in every_type() if each["name"] == "weekly")
    twin = {**asked[0], "name": "again"}
    key = storage.publish(survey(name="twins", questions=[*asked, twin, number, {**number, "name": "later"}])).key
    storage.store([arrival(key, 99 + each, (each % 2, 0, 0, 1, each % 7, 3)) for each in range(50)])
    shown = get(app, "twins/results").text
    found = landmarks(shown)
    assert {"Cheated? (cheated)", "Cheated? (again)", "Why?", "Year?"} < set(found)
    assert len(found) > 12
    assert len(found) == len(set(found))


def test_people_who_may_have_reported_twice_are_told(app: Flask, storage: SQLiteStorage) -> None:
    for name in ("invited", "other"):
        key = storage.publish(blind_survey(name=name)).key
        storage.add_tokens(key, [bytes([number]) * 32 for number in range(7)], blind=True)
    storage.hold_invitations()
    told = []
    for release in ("other", "invited"):
        storage.reissue_invitations(storage.revisions(release)[0].key)
        shown = get(app, "invited/results").text
        told.append("reported twice, at most: 7" in shown)

    assert told == [False, True]


@pytest.mark.parametrize("waves", [1, 2])
def test_response_rate_is_reports_by_links_made(public_app: Flask, storage: SQLiteStorage, waves: int) -> None:
    """Of each wave, where a link is for all of them; never of a group, because a link is of nobody's group."""
    for each in (blind_survey(waves, name="blind"), survey(name="exam", access="token")):
        key = storage.publish(each).key
        storage.add_tokens(key, [bytes([number]) * 32 for number in range(200)], blind=each.is_blind)
        storage.store([arrival(key, 300 * key + number, (1, 0, number % 2)) for number in range(50)])

    def rate(address: str) -> list[str]:
        return re.findall("<dt>Response rate</dt><dd>(.*?)</dd>", get(public_app, address).text)

    assert "25%" in rate("exam/results")
    assert rate("exam/results?cohort=first") == []
    assert rate(f"blind/results?{'wave=0' if waves > 1 else ''}") == ["25%"]
    assert rate("blind/results") == (["25%"] if waves == 1 else [])
    assert ('<td class="number">25%</td>' in get(public_app, "blind/results").text) == (waves > 1)


def test_closed_survey_shows_its_rate_in_place_of_the_plan(public_app: Flask, storage: SQLiteStorage) -> None:
    """On Results and in the list of surveys; while it is open, how many of those planned have answered."""
    key = storage.publish(survey(access="token")).key
    storage.add_tokens(key, [bytes([number]) * 32 for number in range(200)])
    storage.store([arrival(key, number, (1, 0, number % 2)) for number in range(50)])
    storage.drafts.finish("exam", PlannedSize(80, None))
    client = log_in(public_app)[0]
    pages = ("/dashboard/surveys/exam/results", "/dashboard/")
    before = [client.get(page, base_url=SITE).text for page in pages]
    storage.close_survey("exam", 20_000)
    after = [client.get(page, base_url=SITE).text for page in pages]

    assert ["50 of 80" in text for text in before + after] == [True, True, False, False]
    assert ["Response rate 25%" in text for text in (before[1], after[1])] == [False, True]
    assert "<dt>Response rate</dt><dd>25%</dd>" in after[0]


def test_many_questions_are_one_line_each(public_app: Flask, storage: SQLiteStorage) -> None:
    asked = document()["questions"]
    many = [{**each, "name": f"{each['name']}{number}"} for number in range(5) for each in asked[:2]]
    for name, questions in (("few", asked), ("many", [*many, *(many[0] | {"name": f"n{n}"} for n in range(5))])):
        key = storage.publish(survey(name=name, questions=questions)).key
        values = tuple(0 if each["type"] == "select_one" else 1 for each in questions)
        storage.store([arrival(key, 100 * key + number, values) for number in range(50)])
    pages = {name: get(public_app, f"{name}/results").text for name in ("few", "many")}

    assert {name: text.count('<summary class="row">') for name, text in pages.items()} == {"few": 1, "many": 15}
    assert {name: text.count('class="card lines"') for name, text in pages.items()} == {"few": 1, "many": 1}


def test_shares_are_among_those_who_answered(public_app: Flask, storage: SQLiteStorage) -> None:
    first, *others = document()["questions"]
    questions = [{**first, "absent_category": True}, *others]
    key = storage.publish(survey(questions=questions)).key
    reported = [0] * 36 + [1] * 32 + [2] * 32
    storage.store([arrival(key, number, (value, 0, 0)) for number, value in enumerate(reported)])
    storage.close_survey("exam", 20_000)
    result = analyse(revisions_of(storage, "exam")).questions[0]
    answered, everybody = (get(public_app, f"exam/results{query}").text for query in ("", "?among=all"))
    declined = result.declined

    people = re.findall(r'<p class="people">(.*?)</p>', get(public_app, "exam/results?people=2000").text)

    assert "42.9%" in answered
    assert "600 of 2,000" in people[1]
    assert f"Among those who answered. No answer: 30.0% ({told(declined.low, declined.high)})." in answered
    assert "said yes" not in answered
    assert "42.9%" not in everybody
    assert "said yes" in everybody
    assert export_document(analyse(revisions_of(storage, "exam")))["questions"][0]["answered"]["people"] == "answered"


@pytest.mark.parametrize("others", [1, 12])
def test_mean_of_a_rating_is_beside_its_shares_once_the_survey_is_closed(
    public_app: Flask, storage: SQLiteStorage, others: int
) -> None:
    """With its limits, in the numbers of its points; also where each question is a line that opens."""
    first = document()["questions"][0]
    yes_no = [{**first, "name": f"q{number}"} for number in range(others + 1)]
    scale = [{"name": f"r{point}", "label": {"en": str(point)}} for point in range(3)]
    rating = {"type": "rating", "name": "risk", "label": {"en": "Risk?"}, "public": True, "choices": scale}
    key = storage.publish(survey(questions=[*yes_no, rating])).key
    storage.store([arrival(key, number, (*[0] * len(yes_no), number % 3)) for number in range(99)])
    client = log_in(public_app)[0]
    address = "/dashboard/surveys/exam/results"

    assert "Mean:" not in client.get(address, base_url=SITE).text
    storage.close_survey("exam", 20_000)
    assert "<p>Mean: 1.00 (0.84 to 1.16)</p>" in client.get(address, base_url=SITE).text


def test_reader_chooses_the_level_of_the_intervals(public_app: Flask, storage: SQLiteStorage) -> None:
    """Of the page and of each of its files; a level that is not offered is the usual one."""
    key = storage.publish(survey()).key
    storage.store([arrival(key, number, (number % 2, 0, 0)) for number in range(100)])
    storage.close_survey("exam", 20_000)
    usual, narrow = (get(public_app, f"exam/results?confidence={level}").text for level in ("57", "80"))
    row = analyse(revisions_of(storage, "exam"), confidence=0.8).questions[0].estimates[-1]
    rows = get(public_app, "exam/results/cheated.csv?confidence=80").text

    assert "about 95 of the 100" in usual
    assert "about 80 of the 100" in narrow
    assert told(row.low, row.high) in narrow
    assert told(row.low, row.high) not in usual
    assert ",0.8," in rows
    assert ",0.95," not in rows
    assert "confidence=80" in re.findall(r'href="(.*?export.json.*?)"', narrow)[0]


def test_snapshot_is_rendered_once_for_all_readers(
    app: Flask, storage: SQLiteStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another choice, another language and another snapshot are rendered anew; a wrong choice is refused each time."""
    rendered: list[str] = []
    build = results_page.view_of

    def count_views(*given: Any) -> ResultsView:
        rendered.append(results_page.words().language)
        return build(*given)

    monkeypatch.setattr(results_page, "view_of", count_views)
    client = log_in(app)[0]

    def get(choices: str = "", language: str = "en") -> TestResponse:
        path = f"/dashboard/surveys/exam/results{choices}"
        return client.get(path, base_url=SITE, headers={"Accept-Language": language})

    first = get().text
    assert [get().text for _ in range(3)] == [first] * 3
    assert len(rendered) == 1
    assert '<html lang="de"' in get(language="de").text
    assert get("?sort=size").status_code == 200
    assert [get("?wave=9").status_code for _ in range(2)] == [422, 422]
    assert rendered == ["en", "de", "en", "en", "en"]
    storage.close_survey("exam", 20_000)

    assert get().text != first
    assert len(rendered) == 6


def test_kept_renderings_are_few_and_go_with_their_survey() -> None:
    cache, made = RenderingCache(), []

    def get(name: str, key: int) -> None:
        cache.get(name, key, lambda: made.append((name, key)))  # type: ignore[arg-type, return-value, func-returns-value]

    for key in [*range(MOST_RENDERINGS), 0, MOST_RENDERINGS]:
        get("exam", key)
    assert len(made) == MOST_RENDERINGS + 1
    get("exam", 0)
    get("exam", 1)
    assert made[MOST_RENDERINGS + 1 :] == [("exam", 1)]
    cache.drop("exam")
    get("exam", 0)
    assert made[-1] == ("exam", 0)


def test_corrected_share_is_beside_the_other_one(public_app: Flask, storage: SQLiteStorage) -> None:
    """Once the survey is closed, in every language; the page says how many are careless, and draws both shares."""
    cheated, _, year = document()["questions"]
    anchor = {**cheated, "name": "moon", "public": True, "anchor": True, "known_share": "0"}
    del anchor["mechanism"]
    key = storage.publish(survey(questions=[cheated, anchor, year])).key
    values = [(int(number % 5 < 2), int(number % 20 == 0), number // 200) for number in range(400)]
    storage.store([arrival(key, number, each) for number, each in enumerate(values)])
    assert 'id="careless"' not in get(public_app, "exam/results").text
    storage.close_survey("exam", 20_000)
    for language in LANGUAGES:
        words, read = Words(language), {"Accept-Language": language}
        page = get(public_app, "exam/results", **read).text
        assert page.count(words.translate("results_corrected")) == 3
        assert words.translate("results_careless_assumed") in page
        assert words.translate("results_careless_both") not in page
        assert words.percent(0.1, 1) in page
        assert words.percent((0.3 - 0.05) / 0.9, 1) in page
        tables = get(public_app, "exam/tables?kind=compare&outcome=cheated&groups=year&among=careful", **read).text
        assert words.translate("joint_among_careful") in tables
        assert words.translate("note_careless_assumed")[1:] in tables
        assert '<option value="careful" selected>' in tables


def test_closed_survey_opens_on_its_figures(app: Flask, storage: SQLiteStorage) -> None:
    """Its bare address leads to Results, and not to an empty form of tables."""
    storage.close_survey("exam", 20_000)
    reply = get(app, "exam")

    assert (reply.status_code, reply.location) == (303, "/dashboard/surveys/exam/results")


def test_results_say_which_answers_the_server_never_had(public_app: Flask, storage: SQLiteStorage) -> None:
    said = "The server never had these answers"
    coin, open_ = {"mechanism": {"name": "coin_flip"}}, {"public": True}
    kinds = {"all": [coin] * 3, "some": [coin, coin, open_], "none": [open_] * 3}
    for name, kind in kinds.items():
        asked = [
            {"type": "boolean", "name": f"q{place}", "label": {"en": f"Q{place}"}, **how}
            for place, how in enumerate(kind)
        ]
        key = storage.publish(survey(name=name, questions=asked)).key
        storage.store([arrival(key, number, (0, 0, 0)) for number in range(50)])
    shown = {name: get(public_app, f"{name}/results").text for name in kinds}

    assert f"<p>{said}.</p>" in shown["all"]
    assert f"<p>{said}, except those that are not randomized.</p>" in shown["some"]
    assert said not in shown["none"]
