"""Tables, comparisons and models among those who answered, as pages show them in every language."""

from itertools import product
from typing import Any

from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.result_view import ShownAnswer
from sottovoce.aggregator.analysis.text_report import answer_in_words
from sottovoce.aggregator.export.analysis_files import joint_rows
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.results.analysis_page import r_code
from sottovoce.aggregator.studio.results.run_analysis import AskedAnalysis

from tests.unit.aggregator.analysis.regression.test_declining import columns
from tests.unit.aggregator.studio.joint_pages import app, client, get

__all__ = ["app", "client"]

REPORTS = columns((0.05, 0.35))
REQUESTS: dict[str, dict[str, Any]] = {
    "crosstab": {"rows": "g", "columns": "y"},
    "compare": {"outcome": "y", "groups": "g"},
    "regression": {"outcome": "y", "on": ["g"]},
}


def shown(kind: str, language: str = "en", reports: Columns = REPORTS, **more: Any) -> ShownAnswer:
    """The result as a page shows it."""
    document = parse_request(kind, {**REQUESTS[kind], **more}).document(reports)
    found = answer_in_words(document, SurveyVariables(reports.survey, Words(language)))
    assert found is not None
    return found


def test_page_says_whom_figures_describe() -> None:
    """In the reader's language, below the figures; not where they describe all."""
    for kind, language in product(REQUESTS, LANGUAGES):
        people = Words(language).translate("joint_among_answered")
        told, of_all = (
            " ".join(sentence for table in shown(kind, language, **more).tables for sentence in table.sentences)
            for more in ({}, {"among": "all"})
        )
        assert (people in told, people in of_all) == (True, False), (kind, language)


def test_share_of_no_answer_is_beside_each_row() -> None:
    """The last column."""
    for table in (shown(kind).tables[0] for kind in ("crosstab", "compare")):
        assert table.headings[-1] == "No answer"
        assert [len(line) for line in table.lines] == [len(table.headings)] * 2


def test_model_shows_that_of_declining_and_the_test_of_a_common_share() -> None:
    """And the sentence that declining may go with the answer."""
    found = shown("regression")
    told = " ".join(sentence for table in found.tables for sentence in table.sentences)

    assert "Model of declining: the log odds of no answer" in [table.title for table in found.tables]
    assert "Likelihood-ratio test of one common share of declined answers: " in told
    assert found.notes[0].startswith("This describes those who answered; if declining goes with the answer itself")


def test_files_hold_the_same_people_and_shares() -> None:
    """A row for each share of no answer, for the model of declining and for its test."""
    rows = {kind: joint_rows(parse_request(kind, REQUESTS[kind]).document(REPORTS)) for kind in REQUESTS}
    figures = {kind: [row[0] for row in found] for kind, found in rows.items()}

    assert figures["crosstab"].count("declined") == figures["compare"].count("declined") == 2
    assert figures["regression"].count("declining coefficients") == 2
    assert "common share of declined answers" in figures["regression"]
    assert all("among" in found for found in figures.values())


def test_no_sentence_for_a_paper_where_a_cell_is_empty() -> None:
    """Of a group in which the estimate of yes is not above 0."""
    reported, group = REPORTS.values["y"].copy(), REPORTS.values["g"]
    reported[(group == 1) & (reported == 1)] = 0
    empty = Columns(REPORTS.revisions, {**REPORTS.values, "y": reported}, REPORTS.wave, REPORTS.revision)

    assert shown("compare", reports=empty).paper == ""
    for kind in ("crosstab", "compare"):
        assert shown(kind).paper.endswith(" those who answered. n also counts those who gave no answer.")


def test_no_code_for_r_where_people_may_leave_a_question_unanswered() -> None:
    """Its sums of scores are of all people."""
    assert r_code(AskedAnalysis("compare", REQUESTS["compare"]), SurveyVariables(REPORTS.survey, Words("en"))) == ""


def test_form_offers_the_answers_of_the_chosen_question_only(client: FlaskClient) -> None:
    """None before one is chosen; an answer of another question is forgotten."""
    before = get(client, "done/tables").text
    after = get(client, "done/tables?kind=compare&outcome=reason&groups=cheated&category=yes").text

    assert 'name="category"' not in before
    options = after.partition('name="category"')[2].partition("</select>")[0]
    assert options.count("<option") == 4
    assert 'value="yes"' not in options
    assert 'id="refused"' not in after
