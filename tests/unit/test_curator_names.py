"""``sottovoce.curator``: every form of a table has one budget, and what is wrong costs nothing."""

import inspect
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sottovoce import curator
from sottovoce.cli.tree import CURATOR
from sottovoce.shared.errors import SurveyError

from tests.commands import run
from tests.journey.test_running_pages import command_of

AGES, YEARS = [18, 20, 19, 23] * 25, ["first", "second", "other", "first"] * 25
AGE = {"minimum": "16", "maximum": "26", "step": "1", "centre": "20"}
DECLARED = {"record": "one student", "columns": {"age": AGE, "year": {"categories": ["first", "second", "other"]}}}
ROWS = [list(row) for row in zip(AGES, YEARS, strict=True)]
FORMS = {
    "mapping": {"age": AGES, "year": YEARS},
    "arrays": {"age": np.array(AGES, dtype=float), "year": np.array(YEARS)},
    "rows": ROWS,
    "mappings": [{"age": age, "year": year} for age, year in ROWS],
    "array": np.array(ROWS, dtype=object),
    "pandas": pd.DataFrame({"age": AGES, "year": YEARS}),
}
Bind = Callable[..., curator.BoundData]


@pytest.fixture
def bind(tmp_path: Path) -> Bind:
    (tmp_path / "heads").mkdir()
    (tmp_path / "data").mkdir()

    def bound(data: Any, declaration: Any = DECLARED, **terms: Any) -> curator.BoundData:
        given = {"epsilon": 1000, "heads": tmp_path / "heads", **terms}
        return curator.bind(data, declaration, tmp_path / "data" / "class.budget", **given)

    return bound


def test_questions_have_the_options_of_the_command_line() -> None:
    """The same names and defaults; only there are weights of names, a picture, and Lloyd's options one by one."""
    of_place = {"words", "survey", "declaration", "data", "as_json", "yes", "weight", "svg"}
    renamed = {"conditions": {"where"}, "lloyd": {"method", "iterations", "empty", "ball", "radius"}}
    for verb in CURATOR.places.keys() & vars(curator).keys() - {"bind"}:
        found, _ = command_of(["curator", verb])
        terminal = {each.name: each.default for each in found.params if each.name not in of_place}
        python = inspect.signature(getattr(curator, verb)).parameters
        named = [renamed.get(name, {name}) for name in python if name not in {"data", "column", "columns"}]

        assert set().union(*named) == terminal.keys(), verb
        shown = {name: default for name, default in terminal.items() if isinstance(default, str)}
        assert {name: str(python[name].default) for name in shown} == shown


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_a_table_gives_the_same_answers(bind: Bind, form: str) -> None:
    """At this epsilon the noise is as good as none."""
    data = bind(FORMS[form])

    assert curator.count(data, "year=first & age>=20", epsilon=100).values == {"count": 25}
    assert curator.histogram(data, "year", epsilon=100).table == {"first": 50, "second": 25, "other": 25}
    assert curator.sum(data, "age", epsilon=100).values["sum"] == 2000
    assert curator.mean(data, "age", epsilon=100).values == {"mean": 20.0, "n": 100}
    assert curator.quantiles(data, "age", 0.3, "3/5", epsilon=100).table == {"3/10 of age": 19.0, "3/5 of age": 20.0}
    assert curator.vector(data, "age", epsilon=100).table == {"age, steps from its centre": 0}
    assert curator.top(data, "year", epsilon=100).values["name"] == "first"
    assert curator.cluster(data, "age", k=1, epsilon=100).values["noisy_sizes"] == [100]
    assert curator.cluster(data, "age", k=1, epsilon=100, lloyd=curator.LloydOptions(1)).values["noisy_sizes"] == [100]
    assert data.left == 100


def test_all_forms_of_a_table_have_one_budget(bind: Bind) -> None:
    """A second look, in another form and spelling of epsilon, is the first one again."""
    answers = [curator.count(bind(form), "age>=20", epsilon=each)
               for form, each in zip(FORMS.values(), [0.1, "1/10", Fraction(1, 10), "0.10", "1e-1", "0,1"],
                                     strict=True)]  # fmt: skip

    assert len({str(answer.values) for answer in answers}) == 1
    assert [answer.document["recorded_before"] for answer in answers] == [False] + [True] * 5
    assert "Entry 1 (recorded before, and cost nothing now)" in str(answers[-1])


@pytest.mark.slow
def test_polars_frame_is_read_as_one_of_pandas(bind: Bind) -> None:
    import polars as pl

    frames = [pl.DataFrame({"age": AGES, "year": YEARS}), FORMS["pandas"]]
    answers = [curator.count(bind(frame), "year=first & age>=20", epsilon=100) for frame in frames]

    assert answers[0].values == answers[1].values == {"count": 25}
    assert [answer.document["recorded_before"] for answer in answers] == [False, True]


def test_missing_and_undeclared_cells_are_counted_as_in_a_file(bind: Bind) -> None:
    data = bind(pd.DataFrame({"age": [float("nan"), 99.0, None, 18], "year": ["first", None, "third", "second"]}))

    assert curator.sum(data, "age", epsilon=500).values["sum"] == 20 + 26 + 20 + 18
    assert curator.histogram(data, "year", epsilon=500).table == {"first": 1, "second": 1, "other": 2}
    assert "age: 3 not as declared" in str(data)
    assert "year: 2 not as declared" in str(data)


def test_list_of_one_column_and_marks(bind: Bind) -> None:
    """Cells may name several marks in either way."""
    data = bind([["a", "b"], "b", "a;b", None] * 9, {"record": "one", "columns": {"habits": {"marks": ["a", "b"]}}})

    assert curator.vector(data, "habits", epsilon=900).table == {"habits=a": 18, "habits=b": 27}


def test_names_that_are_not_declared(bind: Bind) -> None:
    """Common ones alone, under (epsilon, delta)."""
    data = bind(["often"] * 90 + ["once"], {"record": "one", "columns": {"town": {"text": 20}}}, delta=1e-4)
    answer = curator.names(data, "town", epsilon=10, delta=1e-6)

    assert list(answer.table) == ["often"]
    assert answer.document["charge"]["delta"] == "1/1000000"
    with pytest.raises(SurveyError, match="need --delta"):
        curator.names(data, "town", epsilon=10, delta=0)


def test_names_of_too_few_records_are_not_sold(bind: Bind) -> None:
    """Where the threshold is above the number of records, no name could be shown."""
    data = bind(["often"] * 30, {"record": "one", "columns": {"town": {"text": 20}}})

    with pytest.raises(SurveyError, match=r"may reach 54, and .* epsilon 1\.1 would do"):
        curator.names(data, "town", epsilon="1/2", delta=1e-6)
    assert data.left == 1000


def test_file_has_the_budget_of_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "heads").mkdir()
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("SOTTOVOCE_LEDGER_ANCHOR_DIR", str(tmp_path / "heads"))
    file = tmp_path / "data" / "class.csv"
    file.write_text("age\n" + "18\n" * 50)
    file.with_suffix(".yaml").write_text(
        "format: sottovoce-data/1\nrecord: one\ncolumns:\n  age: {minimum: 16, maximum: 26, step: 1, centre: 20}\n"
    )
    data = curator.bind(file, file.with_suffix(".yaml"), epsilon=2)
    asked = run("curator", "mean", file, "age", "--epsilon", "1")

    answer = curator.mean(data, "age", epsilon=1)
    assert asked.exit_code == 0
    assert answer.document["recorded_before"]
    assert data.left == 1


SECRET = "SECRET"


@pytest.mark.parametrize(
    ("data", "terms", "message"),
    [
        ([], {}, "there are no records"),
        ({"age": [], "year": []}, {}, "there are no records"),
        (7, {}, "must be a list, an array, a mapping of columns or a frame"),
        ({"age": SECRET, "year": []}, {}, "and not one text"),
        ([[SECRET]], {}, "a cell for each of the 2 declared columns"),
        ([[18, "first"], SECRET], {}, "a cell for each of the 2 declared columns"),
        ({"age": [1, 2], "year": [SECRET]}, {}, "different numbers of cells"),
        ({"age": [1]}, {}, "the declared column 'year' is missing"),
        ({"age": [1], "year": ["first"], SECRET: [1]}, {}, "is not declared"),
        (pd.DataFrame([[1, 2, SECRET]], columns=["age", "age", "year"]), {}, "twice"),
        (ROWS, {"epsilon": 0}, "epsilon must be"),
        (ROWS, {"epsilon": float("nan")}, "epsilon must be"),
        (ROWS, {"delta": "0.5"}, "delta must be below"),
        (ROWS, {"neighbours": SECRET}, "replace-one or add/remove"),
        (ROWS, {"heads": ""}, "SOTTOVOCE_LEDGER_ANCHOR_DIR"),
        (ROWS, {"declaration": {"columns": {}}}, "must"),
    ],
)
def test_what_cannot_be_bound_is_refused_and_opens_no_budget(
    bind: Bind, tmp_path: Path, data: Any, terms: dict[str, Any], message: str
) -> None:
    """No message repeats a cell."""
    with pytest.raises(SurveyError, match=message) as refused:
        bind(data, **terms)

    assert SECRET not in str(refused.value)
    assert [*(tmp_path / "data").iterdir()] == []


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda data: curator.count(data, epsilon=1), "needs 1 to 1,000 predicates"),
        (lambda data: curator.count(data, "age>=99", epsilon=1), "beyond its declared bounds"),
        (lambda data: curator.histogram(data, "year", "year", epsilon=1), "none twice"),
        (lambda data: curator.mean(data, "year", epsilon=1), "not declared as a number"),
        (lambda data: curator.vector(data, "age", epsilon=1, norm=3), "norm must be 1 or 2"),
        (lambda data: curator.top(data, "year", epsilon=1, noise="none"), "exponential or Laplace"),
        (lambda data: curator.cluster(data, "age", k=0, epsilon=1), "1 to 256 clusters"),
        (lambda data: curator.cluster(data, "age", k=101, epsilon=1), "fewer records than clusters"),
        (lambda data: curator.mean(data, "age", epsilon=-1), "epsilon must be"),
        (lambda data: curator.mean(data, "age", epsilon=True), "epsilon must be"),
        (lambda data: curator.mean(data, "age", epsilon=1001), "epsilon must be"),
    ],
)
def test_question_that_is_refused_costs_nothing(bind: Bind, ask: Callable[[Any], Any], message: str) -> None:
    data = bind(ROWS)

    with pytest.raises(SurveyError, match=message):
        ask(data)
    assert data.left == 1000


def test_spent_budget_and_budget_of_other_data_are_refused(bind: Bind) -> None:
    data = bind(ROWS, epsilon=1)
    curator.mean(data, "age", epsilon="3/4")

    with pytest.raises(SurveyError, match="nothing was released or charged"):
        curator.count(data, "age>=20", epsilon="1/2")
    with pytest.raises(SurveyError, match="the budget of another file, or the data were changed"):
        bind(ROWS[1:], epsilon=1)
    with pytest.raises(SurveyError, match="its terms are fixed for good"):
        bind(ROWS, epsilon=2)
    assert bind(ROWS, epsilon=1).left == data.left == Fraction(1, 4)


def test_one_record_under_each_relation(bind: Bind) -> None:
    """It is answered with noise as any other number of records."""
    assert curator.mean(bind([[18, "first"]]), "age", epsilon=500).values["mean"] == 18
