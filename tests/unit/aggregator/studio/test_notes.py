"""What analyses say of their results, and why there are none, is said in the reader's language and without names."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.documents import RINGS, UNEVEN
from sottovoce.aggregator.analysis.regression.fit_likelihood import BY_RATIO, NO_LIMITS, NOT_FOUND, ONE_SHARE
from sottovoce.aggregator.analysis.regression.regression import ALONE, CLASH, CLUSTERED, SANDWICH
from sottovoce.aggregator.analysis.requests import UNWEIGHTED, WEIGHTED_TWICE
from sottovoce.aggregator.analysis.selection import FEW_ASKED, FEW_DECLINED, SAME_PEOPLE, THOSE_WHO_ANSWERED
from sottovoce.aggregator.analysis.tables.all_pairs import NOT_TESTED
from sottovoce.aggregator.analysis.tables.crosstab import SMALL
from sottovoce.aggregator.analysis.tables.table import TOO_FEW
from sottovoce.aggregator.estimators.numeric import ENDS
from sottovoce.aggregator.estimators.variable import SAME_REPORT
from sottovoce.aggregator.i18n.translator import Words, sections
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.shared.errors import Sentence

from tests.surveys import survey
from tests.unit.aggregator.studio.joint_pages import app, client, document, get

__all__ = ["app", "client"]

ROOT = Path(__file__).parents[4] / "aggregator" / "sottovoce" / "aggregator"
SPOKEN = [*sorted((ROOT / "analysis").rglob("*.py")), ROOT / "estimators" / "question_variables.py"]

NOT_ON_A_PAGE = {
    "report_columns.py": "columns of files",
    "shown_columns.py": "columns of files",
    "estimates.py": "parameters of programs",
    "text_report.py": "the command line",
    "data_columns.py": "the same",
    "parse_channel.py": "the same",
    "list_experiment.py": "files and their designs, which a page shows in English",
    "designs.py": "the same",
    "mixture.py": "the same",
    "anchored_shares.py": "the same",
    "planned_comparisons.py": "the command line and the API",
    "column_channel.py": "mistakes in files and their channels, which a page shows in English",
}
"""Modules whose sentences no page shows, and why."""

FOR_PROGRAMS = {
    # Of the joint fit of a block, which Python has.
    "{variables} are not questions of one block",
    "the answers have more than {most} combinations",
    "several revisions were answered: take the reports of one",
    # Of folders of a survey's files, which the terminal and Python read.
    FEW_ASKED,
    FEW_DECLINED,
    UNWEIGHTED,
    WEIGHTED_TWICE,
    ALONE,
    CLASH,
    "must be an object of options",
    "unknown option; there are: {known}",
    "must be the name of a question, or of a question and its option with a dot between them",
    "must be a list of at least one name",
    "must be a list of 1 to {most} objects",
    "must hold for each row an object of predictors, each with a category or a number",
    "must name at least one question with the shares of its categories",
    "must hold a map of categories and shares for each question",
    "the confidence must lie between 0 and 1",
    "must be a number from 0.5 to below 1, such as 0.9",
    "must be a map of categories and known shares",
    "must be a number",
    "goes without shares: a question has either of them",
    "must be a text",
    "must be true or false",
    "goes without a formula, which names the predictors itself",
    "goes without a formula, which says num(name) for each scale that is a number",
    "goes without at and declining: its coefficients hold within a cluster",
    "must be from {least} to {most}",
    # Of files and their designs, which a page shows in English.
    "goes without this analysis, which takes all rows of a file",
    "{kind} takes a file with a row for each person; for a survey, download its files and analyze those",
    "names a group twice",
    "must name p of each group, such as 1=1/4 2=3/4",
    "the errors must be one of: {known}",
    "the model must be one of: {known}",
    "the people must be one of: {known}",
    "declining must be one of: {known}",
    "expected errors are for yes/no answers reported as yes or no; choose observed",
    "a likelihood-ratio test compares two maxima, and one of these models has none",
    "there is no cell of this name; rows: {rows}; columns: {columns}",
    "some reports cannot have come from any cell that is left; is a cell possible after all?",
    "a row names what is no predictor; there are: {known}",
    "name at least one margin",
    "a share of '{variable}' names no cell; the categories are: {known}",
    "the file of reports has no column '{variable}': public answers are in a file of their own (reports-with-public)",
    "there is no survey of this name",
    "a correction by anchors and weights, strata or clusters do not go together; leave one out",
    "simultaneous limits do not go with an innocuous share that has a standard error; limits of each cell by itself do",
}
"""What the fields of a page cannot bring about."""


NOTES = (
    RINGS, UNEVEN, SMALL, TOO_FEW, SAME_PEOPLE, CLUSTERED, SANDWICH, NOT_FOUND, BY_RATIO, NO_LIMITS, SAME_REPORT, ENDS,
    THOSE_WHO_ANSWERED, ONE_SHARE, NOT_TESTED,
)  # fmt: skip
"""Those that are no calls."""


def _constants(tree: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.body:
        if not isinstance(node, ast.Assign):
            continue
        target, value = node.targets[0], node.value
        pairs = zip(target.elts, value.elts, strict=True) if isinstance(target, ast.Tuple) and isinstance(
            value, ast.Tuple) else [(target, value)]  # fmt: skip
        for name, text in pairs:
            if isinstance(name, ast.Name) and isinstance(text, ast.Constant) and isinstance(text.value, str):
                found[name.id] = text.value
    return found


def _calls(path: Path) -> Iterator[tuple[ast.Call, str]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known = _constants(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not node.args:
            continue
        if node.func.id in {"Sentence", "EstimateError", "ValueError", "Problem", "TokenReader"}:
            told = node.args[-1]
            if isinstance(told, ast.Constant) and isinstance(told.value, str):
                yield node, told.value
            elif isinstance(told, ast.Name) and told.id in known:
                yield node, known[told.id]
            elif isinstance(told, ast.JoinedStr):
                yield node, ast.unparse(told)


def test_every_reason_and_note_of_an_analysis_has_its_sentence() -> None:
    """Whatever the modules of joint results say is in the catalogue, or can be seen by programs only."""
    told = {pattern for path in SPOKEN if path.name not in NOT_ON_A_PAGE for _, pattern in _calls(path)}
    english = set(sections("en")["notes"].values())
    # Arrays of weights and clusters come from programs only.
    lost = {pattern for pattern in told - english - FOR_PROGRAMS if not pattern.startswith("f'")}
    assert lost == set()
    assert len(told & english) > 50
    assert set(NOTES) <= english


def test_places_of_every_sentence_have_their_values() -> None:
    """One that lacked a value would fail in the very moment in which it is needed."""
    for path in SPOKEN:
        for call, pattern in _calls(path):
            if isinstance(call.func, ast.Name) and (call.func.id == "Sentence" or call.keywords):
                given = {each.arg for each in call.keywords if each.arg}
                places = {name for _, name, _, _ in Formatter().parse(pattern) if name}
                spread = any(each.arg is None for each in call.keywords)
                assert given == places or (spread and given < places), (path.name, pattern)


def test_names_in_notes_are_labels() -> None:
    """A variable, its categories and a note within a note are said as people know them."""
    asked = survey(name="done")
    names = SurveyVariables(asked, Words("de"))
    label = names.label("year")
    cell = Sentence("{row}, {column}: {note}", row="first", column="yes", note=(
        "too few reports: the limits are more than half of the range apart"))  # fmt: skip
    few = Sentence("'{variable}': fewer than {least} people said {categories}; leave this predictor out",
                   variable="year", least=1234, categories=("first", "second"))  # fmt: skip

    assert few == "'year': fewer than 1,234 people said first, second; leave this predictor out"
    assert names.note(cell, row="year", column="cheated") == (
        "First, Ja: Zu wenige Meldungen: Die Grenzen liegen weiter auseinander als die Hälfte des Bereichs."
    )
    # A category that was named in small letters keeps them at the beginning, too.
    small = Sentence("{group}: {note}", group="first", note="few")
    assert SurveyVariables(asked, Words("en")).note(small) == "first: few."
    assert names.note(few) == (
        f"„{label}“: Weniger als 1.234 Menschen sagten First, Second; lassen Sie diese Frage als Erklärung weg."
    )
    assert names.note("something that no catalogue has") == "Something that no catalogue has."


@pytest.mark.parametrize(("language", "told"), [("de", "ist zweimal gewählt"), ("ar", "اختير"), ("en", "asked for")])
def test_page_refuses_in_the_readers_language(client: FlaskClient, language: str, told: str) -> None:
    page = get(client, "done/tables?kind=crosstab&rows=cheated&columns=cheated", language).text
    refused = page.partition('id="refused"')[2].partition("</div>")[0]

    assert told in refused
    assert 'lang="en"' not in refused
    assert "cheated" not in refused.replace("Have you ever cheated", "")


def test_notes_of_a_model_are_in_the_readers_language(app: Flask, client: FlaskClient) -> None:
    told = document(app, "done", "regression", outcome="cheated", on=["reason"])["warnings"]
    page = get(client, "done/models?kind=regression&outcome=cheated&on=reason", "de").text
    notes = re.findall("<li>(.*?)</li>", page.partition('id="notes"')[2].partition("</section>")[0])

    assert told
    assert [len(notes), notes[0]] == [
        len(told),
        "Für dieses Modell und dieses Rauschen sind 400 Meldungen wenig; eine Faustregel verlangt 1.250.",
    ]
