import json
from collections.abc import Iterator
from contextlib import closing, nullcontext
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sottovoce.aggregator import mixture, open_data, open_results
from sottovoce.aggregator.analysis.estimates import RevisionCounts, analyse
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.text_report import in_words
from sottovoce.aggregator.analysis.worked_example import results_in_words
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.authoring.invitation_texts import ethics
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.export.catalogue import methods_lines
from sottovoce.aggregator.export.flow_chart import flow_chart
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.planning.lint import describe
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.surveys.survey_file import read_survey_file
from sottovoce.shared.errors import EstimateError, SurveyError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests import commands
from tests.exported import TODAY, published, send, source
from tests.unit.aggregator.api.conftest import post, program_of
from tests.unit.shared.test_schema import validate, validator

run = partial(commands.run, "results")

EXAMPLES = Path(__file__).parents[5] / "shared/sottovoce/examples/mechanisms"
CHEATERS, UNKNOWN = (read_survey_file(EXAMPLES / f"{each}.yaml") for each in ("cheater_detection", "unrelated_unknown"))
YES, N = (130, 240), (400, 500)


def reports(yes: tuple[int, int] = YES, n: tuple[int, int] = N) -> list[list[int | None]]:
    made: list[list[int | None]] = []
    for arm in (0, 1):
        own = [[int(place < yes[arm]), None, arm] for place in range(n[arm])]
        made += own if arm == 0 else [[other, value, last] for value, other, last in own]
    return made


def columns(survey: Survey, rows: list[list[int | None]]) -> Columns:
    table = np.array([[np.nan if each is None else each for each in row] for row in rows])
    return Columns.from_arrays(survey, {each.name: table[:, at] for at, each in enumerate(survey.questions)})


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("fielded")
    (folder / "data").mkdir()
    (folder / "files").mkdir()
    storage = published(folder / "data", CHEATERS, UNKNOWN)
    for survey in (CHEATERS, UNKNOWN):
        send(storage, survey, reports())
        storage.close_survey(survey.name, TODAY)
    write_folder(source(storage, CHEATERS), folder / "files")
    yield folder
    storage.close()


def test_shares_are_those_of_the_counts(place: Path) -> None:
    found = json.loads(run("mixture", CHEATERS.name, "copied_rare", "--data", str(place / "data"), "--json").stdout)
    alone = mixture("cheater_detection_symmetric", [(1 / 12, 5 / 12), (5 / 12, 1 / 12)], YES, N).document

    validator("mixture").validate(found)
    assert found["shares"] == alone["shares"]
    assert found["bounds"] == alone["bounds"]
    assert [each["name"] for each in found["groups"]] == ["copied_rare", "copied_often"]
    other = run("mixture", CHEATERS.name, "copied_often", "--data", str(place / "data"), "--json").stdout
    assert json.loads(other) == found
    unknown = json.loads(run("mixture", UNKNOWN.name, "cocaine_seldom", "--data", str(place / "data"), "--json").stdout)
    assert unknown["shares"] == mixture("unrelated_unknown", [1 / 3, 2 / 3], YES, N).document["shares"]


def test_epsilon_is_said_as_it_is(place: Path) -> None:
    """Of people who do as instructed, as long as the fact is not known; of an unknown share no guarantee."""
    cheaters = run("mixture", CHEATERS.name, "copied_rare", "--data", str(place / "data")).stdout
    assert "Epsilon of people who do as instructed is 1.95, in the worse group." in cheaters
    assert "as long as no one who sees a report knows the fact or the die" in cheaters
    assert "the answer is not known: yes is true of at least" in cheaters
    unknown = run("mixture", UNKNOWN.name, "cocaine_seldom", "--data", str(place / "data")).stdout
    assert "which is an estimate and no guarantee" in unknown


def test_files_and_python_and_plan_give_the_same(place: Path) -> None:
    stored = run("mixture", CHEATERS.name, "copied_rare", "--data", str(place / "data"), "--json").stdout
    read = run("mixture", "copied_rare", "--from", str(place / "files"), "--json").stdout
    assert json.loads(read) == json.loads(stored)
    result = open_results(place / "files").mixture("copied_rare")
    assert dict(result.document) == json.loads(stored)
    assert [row["name"] for row in result.rows] == ["pi", "beta", "gamma"]
    planned = run("compare", CHEATERS.name, "--planned", "--data", str(place / "data"), "--json").stdout
    assert json.loads(planned)["comparisons"][0]["comparison"] == json.loads(stored)
    shown = run("compare", CHEATERS.name, "--planned", "--data", str(place / "data")).stdout
    assert "Always say no (gamma)" in shown


def test_programs_ask_by_http(place: Path) -> None:
    with closing(published(place / "data")) as storage:
        client = program_of(create_app(Settings(public_url="https://survey.example.org"), storage, now, {}))
        path = f"/api/v1/surveys/{CHEATERS.name}/mixture"
        good, refused = (post(client, path, {"question": name}) for name in ("copied_rare", "arm"))
    validator("mixture").validate(good.json)
    assert good.status_code == 200
    assert (refused.status_code, "is in no design" in refused.json["detail"]) == (422, True)


def corrected(survey: Survey, document: dict[str, Any]) -> Columns:
    """Return the reports of a survey and of its second revision."""
    second = parse_survey({**document, "revision": 2})
    first, later = columns(survey, reports()), columns(second, reports((70, 120), (200, 250)))
    return Columns(
        (survey, second),
        {name: np.concatenate([first.values[name], later.values[name]]) for name in first.values},
        np.concatenate([first.wave, later.wave]),
        np.repeat([0, 1], [len(first), len(later)]).astype(np.uint8),
    )


def test_revisions_with_other_odds_are_groups_of_their_own() -> None:
    """A corrected share of the fact gives its reports their own chances, and one more degree of freedom."""
    document: dict[str, Any] = json.loads(CHEATERS.canonical)
    document["questions"][0]["innocuous"]["share"] = "1/5"
    found = parse_request("mixture", {"question": "copied_rare"}).document(corrected(CHEATERS, document))

    assert [(each["name"], each["n"]) for each in found["groups"]] == [
        ("copied_rare", 400), ("copied_rare, revision 2", 200), ("copied_often", 750),
    ]  # fmt: skip
    assert found["misfit"]["df"] == 1
    assert "copied_rare, copied_rare (Fassung 2), copied_often" in in_words(found, Words("de"))[0].title


@pytest.mark.parametrize(("truth", "mixed"), [("1/3", False), ("1/6", True)])
def test_corrected_second_statement_is_not_mixed_where_its_chance_changed_too(truth: str, mixed: bool) -> None:
    """With equal chances both arms have the same mixture of two shares, which the design estimates as one."""
    document: dict[str, Any] = json.loads(UNKNOWN.canonical)
    for each in document["questions"][:2]:
        each["innocuous"]["label"]["en"] = "Have you been to a cinema this year?"
    document["questions"][0]["innocuous"]["truth"] = truth
    with pytest.raises(EstimateError, match="two unknown shares") if mixed else nullcontext():
        parse_request("mixture", {"question": "cocaine_seldom"}).document(corrected(UNKNOWN, document))


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("crosstab", {"rows": "copied_rare", "columns": "arm"}),
        ("compare", {"outcome": "copied_rare", "groups": "arm", "against": "copied_often"}),
        ("test", {"question": "copied_often", "shares": {"yes": 0.2}}),
    ],
)
def test_question_of_a_design_alone_says_what_it_takes_for_granted(kind: str, options: dict[str, Any]) -> None:
    """People who always say no make each share too low, also where two arms are compared; the design says nothing."""
    notes = [str(each) for each in parse_request(kind, options).document(columns(CHEATERS, reports()))["warnings"]]
    named = [name for name in ("copied_rare", "copied_often") if name in options.values()]
    for name in named:
        assert any(f"'{name}' by itself takes everybody to do as instructed" in each for each in notes)
    assert sum("by itself" in each for each in notes) == len(named)
    asked = {"question": "cocaine_mostly", "shares": {"yes": 0.2}}
    unknown = parse_request("test", asked).document(columns(UNKNOWN, reports()))["warnings"]
    assert any("by itself takes the stated share of yes to the second question" in each for each in unknown)
    told = results_in_words(analyse([RevisionCounts.closed_with(CHEATERS, 0, [])]))
    assert sum("by itself takes everybody to do as instructed" in each for each in told) == 2
    own = parse_request("mixture", {"question": "copied_rare"}).document(columns(CHEATERS, reports()))["warnings"]
    assert not any("by itself" in each for each in own)


def test_what_does_not_go_together_is_refused() -> None:
    whole = columns(CHEATERS, reports())
    asked = parse_request("mixture", {"question": "copied_rare"})
    with pytest.raises(SurveyError, match="mixture and weights do not go together"):
        asked.document(whole, np.ones(len(whole)))
    with pytest.raises(SurveyError, match="no report contains 'copied_often'"):
        asked.document(columns(CHEATERS, reports()[:400]))
    with pytest.raises(SurveyError, match="'arm' is in no design of the survey's analysis_plan"):
        parse_request("mixture", {"question": "arm"}).document(whole)
    for words, why in (
        (["exam", "copied", "--p", ".7"], "a QUESTION has its design"),
        (["exam"], "name a SURVEY and a QUESTION of its design"),
        (
            ["--design", "mangat", "--p", ".7", "--yes", "20", "--n", "50", "--url", "https://a.org"],
            "none of the options",
        ),
    ):
        ended = run("mixture", *words)
        assert (ended.exit_code, why in ended.stderr) == (2, True)


def with_year() -> tuple[Survey, list[list[int | None]]]:
    document: dict[str, Any] = json.loads(CHEATERS.canonical)
    choices = [{"name": name, "label": {"en": name}} for name in ("first", "last")]
    year = {"type": "select_one", "name": "year", "label": {"en": "Year"}, "choices": choices, "public": True}
    survey = parse_survey({**document, "questions": [*document["questions"], year]})
    return survey, [[*row[:2], place % 3 == 0, row[2]] for place, row in enumerate(reports((88, 242)))]


def test_formula_is_the_model_of_the_same_reports_in_a_file(tmp_path: Path) -> None:
    survey, rows = with_year()
    asked = parse_request("mixture", {"question": "copied_often", "formula": "~ year"})
    found = asked.document(columns(survey, rows))
    validate("mixture", found)
    lines = [f"{row[0] if row[1] is None else row[1]},{row[3]},{'last' if row[2] else 'first'}" for row in rows]
    (tmp_path / "rows.csv").write_text("\n".join(["y,arm,year", *lines]))
    odds = {"0": "1/12,5/12", "1": "5/12,1/12"}
    alone = open_data(tmp_path / "rows.csv").mixture("y", "cheater_detection_symmetric", odds, "arm", formula="~ year")

    theirs, ours = alone.document["model"], found["model"]
    assert theirs["log_likelihood"] == pytest.approx(ours["log_likelihood"])
    figures = [{each["term"]: each["estimate"] for each in model["coefficients"]} for model in (theirs, ours)]
    assert figures[0] == pytest.approx(figures[1], abs=1e-6)
    assert ours["n"] == sum(N)


@pytest.mark.parametrize(
    ("formula", "rare", "why"),
    [
        ("~ arm", 0, "'arm' is a column of the design itself"),
        ("~ copied_rare", 0, "'copied_rare' is a column of the design itself"),
        ("~ nothing", 0, "the survey asks no such question"),
        ("~ year", 3, "fewer than 5 people said last"),
    ],
)
def test_formula_of_a_survey_is_refused_as_a_model_is(formula: str, rare: int, why: str) -> None:
    survey, rows = with_year()
    if rare:
        rows = [[*row[:2], int(place < rare), row[3]] for place, row in enumerate(rows)]
    with pytest.raises(SurveyError, match=why):
        parse_request("mixture", {"question": "copied_rare", "formula": formula}).document(columns(survey, rows))


def test_formula_goes_with_cheater_detection_alone() -> None:
    asked = parse_request("mixture", {"question": "cocaine_seldom", "formula": "~ 1"})
    with pytest.raises(SurveyError, match="a formula and unrelated_unknown do not go together"):
        asked.document(columns(UNKNOWN, reports()))


def test_lint_and_methods_say_what_the_design_is(place: Path) -> None:
    """For whom epsilon holds, and for whom it is infinite; of an unknown share, that it rests on the stated range."""
    told = "The planned design cheater_detection of copied_rare and copied_often estimates people who always say no as"
    epsilon = "Epsilon holds for people who do as instructed; it is infinite for anyone who sees a report and knows the"
    assert told in (lines := "\n".join(describe(CHEATERS)))
    assert epsilon in lines
    assert "rest on the stated range of that share" in "\n".join(describe(UNKNOWN))
    codebook = (place / "files/codebook.html").read_text(encoding="utf-8")
    assert codebook.count(f"<p>{told}") == 2
    methods = " ".join((place / "files/methods.md").read_text(encoding="utf-8").split())
    assert told in methods


FACTS = (
    "Answered on 1–3 of a die that no one else sees; on any other number, this one is answered instead: “Was your "
    "mother born in January or February?” Only in “rare”: 50% of the people.",
    "Answered on 1–3 of a die that no one else sees; on any other number, this one is answered instead: “Was your "
    "mother born in one of the months March to December?” Only in “often”: 50% of the people.",
)


def test_texts_and_files_say_what_each_arm_reads(place: Path) -> None:
    """The second statement word for word, at the question of its arm: both arms have the same question."""
    told = ethics(CHEATERS, "en")
    codebook = unescape((place / "files/codebook.html").read_text(encoding="utf-8"))
    methods = " ".join((place / "files/methods.md").read_text(encoding="utf-8").split())
    for fact, statement in zip(FACTS, ("in January or February?”", "March to December?”"), strict=True):
        for text in (told, methods, codebook.replace("</p>\n<p>", " ")):
            assert text.count(fact) == 1
        listed = flow_chart(CHEATERS, Words("en"), "en").partition("<details>")[2]
        assert unescape(listed).count(statement) == 1
    assert told.count("(hidden by a fact of the person’s own, epsilon 1.95)") == 2
    assert "The planned design cheater_detection of rare and often estimates" in told
    assert "changed by chance, epsilon" not in told


def test_source_of_a_fact_is_in_the_language_of_the_survey(tmp_path: Path) -> None:
    """As the statement is, whichever language stands first in the file."""
    document = json.loads(CHEATERS.canonical)
    document["questions"][0]["innocuous"]["source"]["de"] = "Zwei von zwölf Monaten."
    survey = parse_survey(document)
    with closing(published(tmp_path, survey)) as storage:
        methods = "\n".join(methods_lines((found := source(storage, survey)).results, found.about))

    assert "Two of twelve months" in methods
    assert "Zwei von" not in methods


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_it(language: str) -> None:
    for survey, second in ((CHEATERS, "born in January or February?"), (UNKNOWN, "bought a book in the last twelve")):
        told = ethics(survey, language)
        assert second in told
        assert second in flow_chart(survey, Words(language), language)
        assert "{" not in told
        assert len(set(told.split("\n\n"))) == told.count("\n\n") + 1
