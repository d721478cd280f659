"""``crosstab``, ``compare``, ``pairs``, ``regress``, ``weights``: of a database, a folder or an aggregator the same."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from sottovoce.aggregator.accounts.authentication import new_key
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.i18n.translator import LANGUAGES, Words
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.cli.process import aggregator, free_port

from tests.commands import done, refused, run
from tests.exported import source
from tests.surveys import survey
from tests.unit.aggregator.analysis.closed_surveys import states
from tests.unit.shared.test_schema import validator

VERBS = {
    "crosstab": ["--rows", "cheated", "--columns", "reason"],
    "compare": ["--outcome", "cheated", "--groups", "reason"],
    "associations": [],
    "test": ["--question", "cheated", "--share", "yes=0.3"],
    "regress": ["--outcome", "cheated", "--on", "reason", "--model", "linear"],
    "weights": ["--to", "margins.yaml"],
}
SCHEMAS = {"compare": "comparison", "associations": "pairs", "regress": "regression"}
"""Of verbs whose answers are called otherwise."""
MODEL = ["--outcome", "cheated", "--on", "year"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    storage = states(folder / "data")
    (folder / "files").mkdir()
    write_folder(source(storage, survey(name="done")), folder / "files")
    storage.close()
    (folder / "margins.yaml").write_text("year: {first: 0.5, second: 0.5}\n")
    return folder


@pytest.fixture(autouse=True)
def _inside(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(place)


def told(verb: str, *words: str) -> Any:
    ended = done(run(*verb.split(), *words, "--json"))
    return json.loads(ended.stdout)


@pytest.mark.parametrize("verb", VERBS)
def test_verb_answers_of_what_is_closed_and_of_try_outs(verb: str) -> None:
    for name in ("done", "tried"):
        validator(SCHEMAS.get(verb, verb)).validate(told("results", verb, name, *VERBS[verb], "--data", "data"))
    for name, said in [
        ("open", "the survey is open: tables of two questions"),
        ("none", 'survey "none" was not found in data/'),
        ("empty", "there are no reports yet"),
    ]:
        ended = run("results", verb, name, *VERBS[verb], "--data", "data")
        assert (ended.exit_code, ended.stdout, said in ended.stderr) == (1, "", True)


def test_number_may_begin_with_its_point() -> None:
    """As papers write shares; a second point, or none of the digits, is no number."""
    words = "--from", "files", "--question", "cheated", "--share"
    assert told("results test", *words, "yes=.3") == told("results test", *words, "yes=0.3")
    for given in ("yes=.", "yes=.3.1"):
        assert "must hold a number" in run("results", "test", *words, given).stderr


def test_model_by_formula_is_that_of_outcome_and_predictors() -> None:
    usual = told("results", "regress", "done", "--outcome", "cheated", "--on", "year", "--data", "data")
    formula = "cheated ~ year"
    found = told("results", "regress", "done", formula, "--data", "data")
    assert found == {**usual, "formula": formula}
    assert alike(told("results", "regress", formula, "--from", "files"), found)

    among = ["--where", "year = first", "--confidence", "0.9"]
    there = told("results", "regress", "done", "cheated ~ reason", "--model", "linear", *among, "--data", "data")
    validator("regression").validate(there)
    assert (there["where"], there["confidence"], there["n"] < usual["n"]) == ("year = first", 0.9, True)
    assert "90% interval" in run("results", "crosstab", "done", *VERBS["crosstab"], *among, "--data", "data").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["done"], "name the model"),
        (["done", "cheated ~ eval(year)"], "formula, column 11: there is no such function"),
        (["done", "cheated ~ year", "--where", "year = third"], "'year' is one of: first, second"),
        (["done", "cheated ~ year", "--where", "cheated = yes"], "'cheated' is randomized"),
    ],
)
def test_model_that_is_not_understood_is_refused(words: list[str], said: str) -> None:
    ended = run("results", "regress", *words, "--data", "data")
    assert ended.exit_code != 0
    assert said in ended.stderr


def test_own_columns_stand_beside_the_reports_of_a_folder(place: Path) -> None:
    """One line for each report; elsewhere reports have no order."""
    lines = [f"{'ab'[row % 2]}" for row in range(400)]
    (place / "arms.csv").write_text("\n".join(["arm", *lines, ""]))
    found = told(
        "results", "regress", "cheated ~ arm", "--model", "linear", "--from", "files", "--covariates", "arms.csv"
    )

    assert [each["term"] for each in found["coefficients"]] == ["(constant)", "arm=b"]
    ended = run("results", "regress", "done", "cheated ~ arm", "--covariates", "arms.csv", "--data", "data")
    assert (ended.exit_code, "--covariates is for --from" in ended.stderr) == (2, True)


@pytest.fixture(scope="module")
def address(place: Path) -> Iterator[tuple[str, str]]:
    """The address of an aggregator on the same database, and a researcher's key."""
    settings = Settings(data=place / "data", port=free_port())
    token, digest = new_key()
    storage = SQLiteStorage(place / "data" / "sottovoce.sqlite")
    storage.add_researcher("ann", digest)
    storage.close()
    with aggregator(settings):
        yield settings.url, token


def alike(one: Any, other: Any) -> bool:
    """The same but for the last digits, in which sums in another order differ."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == (pytest.approx(other, rel=1e-6, abs=1e-9) if isinstance(one, float) else other)


@pytest.mark.external
@pytest.mark.parametrize("verb", ["crosstab", "compare", "regress"])
def test_folder_and_address_give_what_the_database_gives(
    verb: str, address: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The address exactly; a folder's rows stand in another order."""
    url, key = address
    monkeypatch.setenv("SOTTOVOCE_KEY", key)
    here = told("results", verb, "done", *VERBS[verb], "--data", "data")

    assert told("results", verb, "done", *VERBS[verb], "--url", url) == here
    assert alike(told("results", verb, *VERBS[verb], "--from", "files"), here)


@pytest.mark.external
def test_key_comes_from_a_file_and_never_from_the_command_line(
    address: tuple[str, str], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, key = address
    (place / "key").write_text(key + "\n")
    (place / "wrong").write_text("researcher-no")
    words = ["done", *VERBS["crosstab"], "--url", url]

    assert run("results", "crosstab", *words, "--key-file", "key").exit_code == 0
    monkeypatch.setenv("SOTTOVOCE_KEY_FILE", "key")
    assert run("results", "crosstab", *words).exit_code == 0
    monkeypatch.delenv("SOTTOVOCE_KEY_FILE")
    for more, said in [
        ([], "a researcher's key is needed"),
        (["--key-file", "wrong"], "does not take this key"),
        (["--key-file", "none"], 'no key: the file "none" was not found'),
    ]:
        ended = run("results", "crosstab", *words, *more)
        assert (ended.exit_code, said in ended.stderr) == (1, True)
    assert "--key " not in run("results", "crosstab", "--help").stdout


@pytest.mark.external
def test_aggregator_says_why_it_refuses(address: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    url, key = address
    monkeypatch.setenv("SOTTOVOCE_KEY", key)
    cases = [
        (["open", *VERBS["crosstab"], "--url", url], "the survey is open"),
        (["none", *VERBS["crosstab"], "--url", url], "no survey has this name"),
        (["done", "--rows", "cheated", "--columns", "cheated", "--url", url], "asked for twice"),
        (["done", *VERBS["crosstab"], "--url", "http://survey.example.org"], "must begin with https"),
        (["done", *VERBS["crosstab"], "--url", f"http://127.0.0.1:{free_port()}"], "cannot be reached"),
        (["../x", *VERBS["crosstab"], "--url", url], "no name of a survey"),
    ]
    for words, said in cases:
        ended = run("results", "crosstab", *words)
        assert (ended.exit_code, said in ended.stderr) == (1, True), ended.stderr


def test_weights_are_written_for_the_rows_of_a_file_and_read_again(place: Path) -> None:
    """The regression with them is the one with the margins; without a file there is no order to write them in."""
    words = ["--to", "margins.yaml", "--out", "w.csv", "--force"]
    with_public(place)
    done(run("results", "weights", "--from", "public", *words))
    one, other = (
        told("results", "regress", "--from", "public", *MODEL, "--weights", given)
        for given in ("w.csv", "margins.yaml")
    )
    unwritten = refused(run("results", "weights", "done", "--data", "data", *words))
    no_order = refused(run("results", "regress", "done", "--data", "data", *MODEL, "--weights", "w.csv"))

    assert one == other
    assert one["deff"] > 1
    assert "--out is for --from" in unwritten.stderr
    assert "one weight a report needs" in no_order.stderr


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("crosstab", ["--rows", "cheated", "--columns", "reason"]),
        ("compare", ["--outcome", "cheated", "--groups", "year"]),
    ],
)
def test_tables_take_margins_and_weights(place: Path, verb: str, words: list[str]) -> None:
    with_public(place)
    done(run("results", "weights", "--from", "public", "--to", "margins.yaml", "--out", "w.csv", "--force"))
    one = told("results", verb, "--from", "public", *words, "--weights", "w.csv")

    assert one == told("results", verb, "--from", "public", *words, "--weights", "margins.yaml")
    assert one["deff"] > 1
    printed = run("results", verb, "--from", "public", *words, "--weights", "w.csv").stdout
    assert "Design effect of the weights (Kish): 1.0" in printed


def test_predictions_are_told_where_they_are_asked_for(place: Path) -> None:
    with_public(place)
    words = ["--from", "public", *MODEL]
    ended = run("results", "regress", *words, "--at", "year=first", "--at", "year = second")

    assert "Text for your paper" in ended.stdout
    assert [line.split()[1] for line in ended.stdout.partition("Predictions")[2].splitlines()[4:6]] == [
        "year=first", "year=second"
    ]  # fmt: skip
    assert len(told("results", "regress", *words, "--at", "year=second")["predictions"]) == 1
    assert run("results", "regress", *words, "--at", "year").exit_code == 2


def test_results_are_told_in_sentences() -> None:
    ended = run("results", "associations", "done", "--data", "data")

    assert "cheated · year" in ended.stdout
    assert "all 3 pairs that reports could contain" in ended.stdout

    table = run("results", "crosstab", "done", "--rows", "cheated", "--columns", "year", "--data", "data").stdout
    model = run("results", "regress", "done", "--outcome", "cheated", "--on", "year", "--data", "data").stdout

    for words in ("shares of all (95% interval)", "400 reports contain both questions", "Chi-square",
                  "Odds ratio", "If 1 in 100 of all reports were forged"):  # fmt: skip
        assert words in table
    for words in (
        "Logit model of “cheated” (400 reports)",
        "tandard errors",
        "For comparison: the linear model",
        "Notes on this result",
    ):
        assert words in model


def with_public(place: Path) -> None:
    """A folder made by hand: the survey, and reports with a byte order mark and other ends of lines."""
    folder = place / "public"
    folder.mkdir(exist_ok=True)
    (folder / "survey.json").write_text(survey(name="done").canonical.decode())
    rows = [f"{i % 2},{i % 3},{int(i % 5 > 1)}" for i in range(400)]
    (folder / "reports.csv").write_bytes(("\ufeff" + "\r\n".join(["cheated,reason,year", *rows, ""])).encode())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("weight\n1\n", "there are 1 weights for 400 reports"),
        ("weight\n1\n-1\n", "line 3: the weight is missing, or not a number above 0"),
        ("weight\n1\n\n", "line 3: is empty"),
        ("weight\nnan\n", "line 2: the weight is missing"),
        ("weight\n1\n\0\n", "wrong.csv, line 3: cannot be read as CSV"),
        ('weight\n1\n"2', "line 3: cannot be read as CSV; check the quotation marks"),
        ("w\n1\n", "line 1: the header must be 'weight'"),
        ("weight,x\n1,2\n", "line 1: the header must be"),
        ("weight\n1,2\n", "line 2: 2 cells where the header has 1"),
        ("weight\n" + "1\n" * 399 + "60\n", "more than 50 times the smallest"),
    ],
)
def test_wrong_weights_are_refused_with_their_line(place: Path, text: str, said: str) -> None:
    with_public(place)
    (place / "wrong.csv").write_text(text)
    ended = run("results", "regress", "--from", "public", *MODEL, "--weights", "wrong.csv")

    assert (ended.exit_code, said in ended.stderr) == (1, True), ended.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("year: {third: 1}", "names no cell"),
        ("cheated: {'no': 0.5, 'yes': 0.5}", "is randomized"),
        ("year: {first: 0.5, second: 0.4}", "do not add up to 1"),
        ("year: {first: 100, second: 300}", None),
        ("year: {first: much}", "must hold a number for each category"),
        ("year: 3", "must hold a map of categories"),
        ("- year", "must name at least one question"),
        ("{", "margins.yaml: line"),
        ("none: {first: 1}", 'the survey has no question "none"'),
    ],
)
def test_wrong_margins_are_refused(place: Path, tmp_path: Path, text: str, said: str | None) -> None:
    """With the question, or the line; numbers of people are as good as shares."""
    with_public(place)
    (tmp_path / "margins.yaml").write_text(text)
    ended = run("results", "weights", "--from", "public", "--to", str(tmp_path / "margins.yaml"))

    assert ended.exit_code == (0 if said is None else 1), ended.stderr
    assert said is None or said in ended.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "name the SURVEY"),
        (["done", "--from", "files", "--data", "data"], 2, "three places"),
        (["other", "--from", "files"], 1, "another survey"),
        (["--from", "nowhere"], 1, "there is no such folder"),
        (["--from", "files", "--wave", "3"], 1, "there are no reports yet"),
        (["--from", "private"], 1, "the file of reports has no column 'year'"),
    ],
)
def test_place_that_is_none_is_refused(place: Path, words: list[str], code: int, said: str) -> None:
    with_public(place)
    (place / "private").mkdir(exist_ok=True)
    (place / "private" / "survey.json").write_text(survey(name="done").canonical.decode())
    (place / "private" / "reports.csv").write_text("cheated,reason\n0,1\n1,2\n")
    ended = run("results", "crosstab", "--rows", "cheated", "--columns", "year", *words)

    assert (ended.exit_code, said in ended.stderr) == (code, True), ended.stderr


@pytest.mark.parametrize("language", ["ar", "de", "zh"])
def test_tables_speak_the_language_of_the_environment(language: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", f"{language}_XX.UTF-8")
    shown = run("results", "crosstab", "done", *VERBS["crosstab"], "--data", "data").stdout
    words = Words(next(each for each in LANGUAGES if each.startswith(language)))

    assert words.count("joint_pair_reports", 400) in shown
    assert max(cell_len(line) for line in shown.splitlines() if line[:1] in tuple("┏┃┡│└")) == 80


def test_names_that_do_not_fit_are_folded_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a narrow terminal, since a name is looked up in the survey file as it stands."""
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    monkeypatch.setenv("COLUMNS", "40")
    shown = run("results", "associations", "done", "--data", "data").stdout

    assert "…" not in shown


@pytest.mark.parametrize("language", ["de", "ar"])
def test_lines_are_at_most_80_columns_and_broken_at_no_unbroken_space(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A percentage keeps its sign; from right to left each cell is set apart, and the first column is the last one."""
    monkeypatch.setenv("LC_ALL", f"{language}_XX.UTF-8")
    shown = run("results", "crosstab", "done", *VERBS["crosstab"], "--data", "data").stdout.splitlines()
    cells = [cell.strip() for line in shown if line[:1] == "│" for cell in line.strip("│").split("│")]

    assert max(map(cell_len, shown)) <= 80
    assert [cell for cell in cells if cell.startswith("%")] == []
    assert all(line.count("\u2067") + line.count("\u2068") == line.count("\u2069") for line in shown)
    headings = next(line for line in shown if line[:1] == "┃").split("┃")
    assert "cheated" in headings[-2 if language == "ar" else 1]


@pytest.mark.parametrize(
    "words",
    [
        ["crosstab", "--rows", "cheeted", "--columns", "reason"],
        ["regress", "reason ~ cheeted"],
        ["regress", "--outcome", "reason", "--on", "cheeted"],
        ["associations", "--where", "cheeted = yes"],
    ],
    ids=" ".join,
)
def test_similar_name_is_suggested_wherever_a_question_is_named(words: list[str]) -> None:
    verb, *options = words
    told = run("results", verb, *options, "--from", "files").output

    assert 'the survey has no question "cheeted". Did you mean "cheated"?' in " ".join(told.split())
