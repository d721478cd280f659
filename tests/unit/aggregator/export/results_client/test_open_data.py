import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import requests
import sottovoce.aggregator
from sottovoce.aggregator import OpenResults, estimate, open_data, open_results
from sottovoce.aggregator.analysis.data_file.parse_channel import parse_channel
from sottovoce.aggregator.analysis.report_columns import Columns
from sottovoce.aggregator.analysis.requests import KINDS_OF_REQUEST, parse_request
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.export.results_client import http_source
from sottovoce.aggregator.export.results_client.http_source import AddressReports
from sottovoce.aggregator.i18n.translator import ENGLISH
from sottovoce.aggregator.planning.vectorized_randomizers import BatchDraws, seeded, simulate
from sottovoce.shared.errors import EstimateError, SpecError, TransportError
from sottovoce.shared.spec import Question

from tests.conftest import Running, start
from tests.exported import drawn, files_of, send, source
from tests.surveys import every_type, survey
from tests.unit.aggregator.analysis.closed_surveys import states
from tests.unit.aggregator.analysis.regression.test_declining import columns

N = 4000
LEVELS = ("never", "once", "often")
MATRIX = [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.05, 0.25, 0.7]]


@pytest.fixture(scope="module")
def truth() -> dict[str, np.ndarray]:
    draws = np.random.default_rng(1965)
    year = draws.integers(0, 2, N)
    cheated = draws.random(N) < 1 / (1 + np.exp(1.5 - 1.0 * year))
    often = np.where(cheated, draws.choice(3, N, p=[0.1, 0.4, 0.5]), draws.choice(3, N, p=[0.8, 0.15, 0.05]))
    return {"year": year, "cheated": cheated, "often": often, "income": draws.gamma(2, 15_000, N).round(2)}


@pytest.fixture(scope="module")
def path(truth: dict[str, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> Path:
    draws = np.random.default_rng(1969)
    report = np.where(draws.random(N) < 0.8, truth["cheated"], ~truth["cheated"])
    often = [draws.choice(3, p=MATRIX[each]) for each in truth["often"]]
    lines = (
        f"P{number},{('no', 'yes')[int(r)]},{LEVELS[o]},{('first', 'last')[y]},{i}"
        for number, (r, o, y, i) in enumerate(zip(report, often, truth["year"], truth["income"], strict=True))
    )
    found = tmp_path_factory.mktemp("data") / "answers.csv"
    found.write_text("\n".join(["id,cheated,how.often,year,income", *lines, ""]))
    return found


CHANNELS = {"cheated": "warner 0.8", "how.often": {"matrix": MATRIX, "levels": LEVELS}}


def test_shares_tables_and_models_find_the_truth(path: Path, truth: dict[str, np.ndarray]) -> None:
    """Within three standard errors of the people themselves."""
    data = open_data(path, CHANNELS)

    assert data.questions == ("cheated", "how.often", "year", "income")
    shares = {(row["question"], row["option"]): row for row in data.shares().rows}
    true = {("cheated", "yes"): truth["cheated"].mean()}
    true |= {("how.often", level): (truth["often"] == place).mean() for place, level in enumerate(LEVELS)}
    for key, share in true.items():
        assert abs(shares[key]["raw"] - share) < 3 * shares[key]["std_error"]
    assert shares["income", "mean"]["raw"] == pytest.approx(truth["income"].mean())
    cells = {(row["row"], row["column"]): row for row in data.crosstab("how.often", "cheated").rows}
    for (row, column), cell in cells.items():
        both = (truth["often"] == LEVELS.index(row)) & (truth["cheated"] == (column == "yes"))
        assert abs(cell["raw"] - both.mean()) < 3 * cell["std_error"]
    groups = {row["group"]: row for row in data.compare("cheated", "year", "yes").rows}
    for place, group in enumerate(("first", "last")):
        assert groups[group]["low"] < truth["cheated"][truth["year"] == place].mean() < groups[group]["high"]
    slope = next(row for row in data.regress("cheated", ["year"]).rows if row["term"] == "year=last")
    assert abs(slope["estimate"] - 1.0) < 3 * slope["std_error"]
    assert data.regress("how.often", ["year", "income"]).document["model"] == "multinomial"
    assert len(data.frame()) == len(data.estimates) == 7
    assert "cheated: yes" in str(data.shares("cheated"))


def test_tables_equal_those_of_a_survey_of_this_system(tmp_path: Path) -> None:
    """The survey's own channels through a file and through reports: the same figures."""
    draws = np.random.default_rng(3)
    asked = survey()
    values = {each.name: draws.integers(0, each.largest + 1, 500) for each in asked.questions}
    columns = Columns.from_arrays(asked, values)
    rows = zip(*([each.options[v] for v in values[each.name]] for each in asked.questions), strict=True)
    path = written(tmp_path, "\n".join([",".join(values), *map(",".join, rows)]))
    channels = {each.name: _matrix(each) for each in asked.questions if each.mechanism is not None}

    for kind, options in (
        ("crosstab", {"rows": "cheated", "columns": "reason"}),
        ("compare", {"outcome": "reason", "groups": "year"}),
        ("regression", {"outcome": "cheated", "on": ["year"]}),
    ):
        request = parse_request(kind, options)
        found = request.document(open_data(path, channels).columns)
        assert found == approximately(request.document(columns))


def _matrix(asked: Question) -> dict[str, object]:
    size = range(len(asked.options))
    rows = [[str(asked.mechanism.probability(y, x)) for y in size] for x in size]  # type: ignore[union-attr]
    return {"matrix": rows, "levels": asked.options}


def approximately(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: approximately(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [approximately(each) for each in value]
    return pytest.approx(value, abs=1e-9) if isinstance(value, float) else value


def written(folder: Path, text: str) -> Path:
    path = folder / "data.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_channel_beside_the_answer_is_used(tmp_path: Path) -> None:
    rows = ["yes,binary_rr a=3/4 b=1/4,1"] * 30 + ["no,binary_rr a=3/4 b=1/4,1"] * 70 + ["yes,warner 0.9,0"] * 40
    rows += ["no,warner 0.9,1"] * 60 + [",,"]
    data = open_data(written(tmp_path, "\n".join(["cheated,cheated_channel,cheated_once", *rows])))

    [row] = data.shares().rows
    one, other = (
        estimate({"yes": yes, "no": 100 - yes}, text).rows[0] for yes, text in ((30, "coin_flip"), (40, "warner 0.9"))
    )
    assert data.questions == ("cheated",)
    assert (row["n"], row["method"]) == (200, "pooled")
    assert one["raw"] < row["raw"] < other["raw"]


def test_channels_come_from_yaml_and_from_a_survey_file(tmp_path: Path) -> None:
    path = written(tmp_path, "cheated,x\n" + "yes,B\n" * 30 + "no,A\n" * 70)
    (tmp_path / "channels.yaml").write_text(
        'x: {matrix: [["3/4", "1/4"], ["1/4", "3/4"]], levels: [A, B]}\ncheated: coin_flip\n'
    )
    shares = {row["question"]: row for row in open_data(path, tmp_path / "channels.yaml").shares().rows}
    assert (shares["x"]["raw"], shares["x"]["option"]) == (pytest.approx(0.1), "B")
    assert shares["cheated"]["raw"] == pytest.approx(0.1)

    (tmp_path / "survey.yaml").write_bytes(survey().canonical)
    of_survey = {row["question"]: row for row in open_data(path).shares().rows}
    assert of_survey["cheated"]["raw"] == pytest.approx(0.1)
    assert of_survey["x"]["a"] == 1


@pytest.mark.parametrize(
    ("text", "channels", "message"),
    [
        ("x\nyes\nperhaps\n", {"x": "coin_flip levels=no,yes"}, "line 3, column 'x': the channel cannot report"),
        ("x\nyes\nno\nperhaps\n", {"x": "coin_flip"}, "line 4, column 'x': the channel cannot report"),
        ("x\nyes\nno\nYes\n", {"x": "coin_flip"}, "line 4, column 'x': the channel cannot report"),
        ("x\nsame\ndifferent\nyes\n", {"x": "crosswise 1/4"}, "line 4, column 'x': the channel cannot report"),
        ("x[value],x[channel]\nno,coin_flip\nyes,coin_flip\nperhaps,coin_flip\n", {},
         "line 4, column 'x': the channel cannot report this value; it reports: no, yes"),
        ("x,y\nyes,1\n", {"z": "coin_flip"}, "has no column 'z'; it has: x, y"),
        ("x\nyes\n", {"x": "coin"}, "column 'x', channel: is no channel"),
        ("x,x_channel\nyes,coin_flip\nno,coin\n", {}, "line 3, column 'x_channel': is no channel"),
        ("x,x_channel\nyes,coin_flip\nno,\n", {}, "line 3, column 'x_channel': the answer has no channel"),
        ("x,x_channel\nyes,coin_flip\nno,public\n", {}, "some rows are public"),
        ("x\n1\nb\n", {"x": "number"}, "line 3, column 'x': is not a number"),
        ("x\n\n,\n", {}, "line 3: 2 cells"),
        ("x,y\n,NA\n", {}, "all cells are empty"),
    ],
)  # fmt: skip
def test_mistake_is_named_with_its_place(tmp_path: Path, text: str, channels: dict[str, str], message: str) -> None:
    with pytest.raises(SpecError) as raised:
        open_data(written(tmp_path, text), channels)
    assert message in str(raised.value)
    assert "perhaps" not in str(raised.value)


def test_numbers_of_any_range_are_predictors(tmp_path: Path) -> None:
    """An income in cents, of which each person has another."""
    draws = np.random.default_rng(2)
    income = draws.integers(0, 10**9, 2000)
    yes = draws.random(2000) < np.where(income > 5 * 10**8, 0.7, 0.3)
    rows = "\n".join(f"{('no', 'yes')[int(y)]},{i}" for y, i in zip(yes, income, strict=True))
    data = open_data(written(tmp_path, f"x,income\n{rows}\n"), {"x": "binary_rr a=3/4 b=1/4"})
    slope = data.regress("x", ["income"]).rows[-1]
    assert slope["low"] > 0


def test_counts_alone_give_a_share() -> None:
    """The textbook's 100 people: 2 x .30 - 1/2."""
    [row] = estimate({"yes": 30, "no": 70}, "coin_flip").rows
    assert (row["raw"], row["option"]) == (pytest.approx(0.1), "yes")
    assert (round(row["low"], 3), round(row["high"], 3)) == (0.0, 0.302)
    [narrow] = estimate({"yes": 30, "no": 70}, "coin_flip", confidence=0.8).rows
    assert narrow["high"] < row["high"]
    even = {"a": 1, "b": 0}
    rows = estimate(even, {"matrix": [[Fraction(3, 4), Fraction(1, 4)], [0.25, 0.75]], "levels": ["a", "b"]}).rows
    assert rows[0]["n"] == 1


@pytest.mark.parametrize(
    ("counts", "mechanism", "interval"),
    [
        ({}, "coin_flip", "wilson"),
        ({"yes": -1, "no": 2}, "coin_flip", "wilson"),
        ({"yes": 1.5, "no": 2}, "coin_flip", "wilson"),
        ({"yes": 1, "no": 2}, "public", "wilson"),
        ({"yes": 1, "perhaps": 2}, "coin_flip", "wilson"),
        ({"yes": 1, "no": 2}, "coin_flip", "bootstrap"),
    ],
)
def test_impossible_counts_are_refused(counts: dict[str, int], mechanism: str, interval: str) -> None:
    with pytest.raises((EstimateError, SpecError)):
        estimate(counts, mechanism, interval)


def test_unknown_column_is_refused(path: Path) -> None:
    data = open_data(path, CHANNELS)
    with pytest.raises(EstimateError, match=r"there are: cheated, how\.often"):
        data.shares("cheat")
    with pytest.raises(EstimateError, match="cheated"):
        data.crosstab("cheat", "year")


def test_public_names_are_the_agreed_ones() -> None:
    names = ["JointResult", "OpenData", "OpenResults", "estimate", "mixture", "open_data", "open_results", "randomize"]
    assert sottovoce.aggregator.__all__ == names == sorted(sottovoce.aggregator.PUBLIC)
    assert all(getattr(sottovoce.aggregator, name).__doc__ for name in names)


@pytest.mark.parametrize(
    "text", ["geometric ratio=1/3", "rounding_rr a=3/4 b=1/4", "square_wave odds=3 bins=12 width=2"]
)
def test_numbers_with_noise_have_their_mean(tmp_path: Path, text: str) -> None:
    """Drawn by the simulation of this system, from 10 to 60; in the number's own unit where a report is a number."""
    channel = f"{text} min=10 max=60"
    asked = parse_channel(channel).asked or pytest.fail("no number")
    mechanism = asked.mechanism
    assert mechanism is not None
    true = np.random.default_rng(9).integers(0, 51, 4000)
    reports = simulate(mechanism, true, BatchDraws(seeded("numbers")))
    shown = reports + 10 if mechanism.report_kind == "number" else reports
    data = open_data(written(tmp_path, "age\n" + "\n".join(map(str, shown))), {"age": channel})

    found = data.shares()
    mean = next(row for row in found.rows if row["kind"] == "mean")
    assert abs(mean["raw"] - (true.mean() + 10)) < 4 * mean["std_error"]
    # The ranges of a square wave have no limits, and the table says why.
    assert (ENGLISH.words.translate("results_no_limits") in str(found)) == (mechanism.name == "square_wave")


def test_files_of_reports_are_not_taken_for_answers(tmp_path: Path) -> None:
    """Their cells are codes of mechanisms; their folder says of which."""
    (tmp_path / "survey.yaml").write_bytes(survey().canonical)
    with pytest.raises(SpecError, match="open its folder"):
        open_data(written(tmp_path, "cheated,reason,_wave,_revision\n1,0,0,1\n"))
    with pytest.raises(SpecError, match="line 2, column 'cheated': the question's channel cannot report"):
        open_data(written(tmp_path, "cheated\n7\n"))


def test_states_count_who_answered_of_who_saw_the_button(tmp_path: Path) -> None:
    """In the document and in words; a column of other texts with such a name is an answer of its own."""
    path = tmp_path / "data.csv"
    kept = ["yes,{},1,answered", "no,{},device,answered", "yes,{},visit,answered", ",,,declined", ",,,closed", ",,,"]
    rows = [row.format("binary_rr a=3/4 b=1/4") + ",Ohio" for row in kept]
    path.write_text("\n".join(["us,us_channel,us_once,us_state,home_state", *rows]))
    found = open_data(path)
    assert found.states == {"us": (3, 5)}
    assert found.questions == ("us", "home_state")
    assert found.shares("us").document["questions"][0]["shown"] == 5
    assert "us: 3 answered of 5 who saw the button." in str(found.shares("us"))
    path.write_text("us,us_state\nyes,Ohio\nno,Utah\n")
    assert open_data(path).questions == ("us", "us_state")


def test_dotted_names_are_taken_as_the_file_has_them(tmp_path: Path) -> None:
    """In formulas, options, conditions and margins: the longest column that begins the name."""
    file = tmp_path / "r.csv"
    lines = [f"{'yes' if i % 3 else 'no'},{'old' if i % 2 else 'young'},{i % 30}" for i in range(300)]
    file.write_text("\n".join(["rr.q1,rr_q1,age.in.years", *lines, ""]))
    data = open_data(file, {"rr.q1": "coin_flip"})
    margins = {"rr_q1": {"old": 0.4, "young": 0.6}}

    assert data.questions == ("rr.q1", "rr_q1", "age.in.years")
    model = data.regress("rr.q1 ~ rr_q1 * age.in.years", where="age.in.years > 0").document
    assert (model["outcome"], model["n"]) == ("rr.q1", 290)
    assert [one["term"] for one in model["ame"]] == ["rr_q1=young", "age.in.years"]
    assert data.crosstab("rr.q1", "rr_q1", margins=margins).document["rows"] == "rr.q1"


EVERY = survey(questions=every_type())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("opened")
    storage = states(place / "data")
    (place / "files").mkdir()
    write_folder(source(storage, survey(name="done")), place / "files")
    storage.close()
    return place / "files"


JOB = "0123456789abcdef0123456789abcdef"


def replies(monkeypatch: pytest.MonkeyPatch, *given: tuple[int, dict[str, Any]]) -> list[tuple[str, str]]:
    """Let the aggregator give these replies, one after another; returns the requests as they come."""
    asked: list[tuple[str, str]] = []

    def request(method: str, url: str, **_: object) -> requests.Response:
        reply = requests.Response()
        reply.status_code, document = given[len(asked)]
        reply._content = json.dumps(document).encode()
        reply.headers["Location"] = f"https://elsewhere.example/api/v1/surveys/exam/analyses/{JOB}"
        asked.append((method, url))
        return reply

    monkeypatch.setattr(requests, "request", request)
    monkeypatch.setattr(http_source, "ASK_AGAIN", 0)
    return asked


def test_folder_gives_estimates_tables_and_models(folder: Path) -> None:
    """Frozen objects, whose rows are flat and whose words are the command line's."""
    results = open_results(folder)
    table = results.crosstab("cheated", "reason")
    model = results.model("cheated", on=["reason"], model="linear")

    assert [row["option"] for row in results.estimates if row["question"] == "reason"] == ["time", "fear", "fun"]
    assert table.document["n"] == 400
    assert [(row["row"], row["column"]) for row in table.rows][:2] == [("no", "time"), ("no", "fear")]
    assert {row["term"] for row in model.rows} == {"(constant)", "reason=fear", "reason=fun"}
    assert [row["group"] for row in results.compare("cheated", "reason").rows] == ["time", "fear", "fun"]
    assert "400 reports contain both questions" in str(table)
    assert model.warnings == tuple(model.document["warnings"])


def test_methods_name_every_option_of_their_request() -> None:
    for kind, request in KINDS_OF_REQUEST.items():
        method = getattr(OpenResults, "model" if kind == "regression" else kind, None)
        if method is not None:
            parameters = set(inspect.signature(method).parameters) - {"self", "weights", "options"}
            documented = set(re.findall(r"``([a-z_]+)``", inspect.getdoc(method) or "")) - {"declined", "options"}
            assert parameters | documented == {each.name for each in fields(request)}, kind
            assert not parameters & documented, kind


def test_pairs_of_a_subset_are_those_of_the_command_line(folder: Path) -> None:
    """Every analysis takes a condition."""
    table = open_results(folder).pairs(where="year = first")
    assert table.document["where"] == "year = first"


@pytest.mark.parametrize("library", ["pandas", pytest.param("polars", marks=pytest.mark.slow), None])
def test_frame_comes_in_the_library_that_is_asked_for(folder: Path, library: str | None) -> None:
    frame = open_results(folder).crosstab("cheated", "reason").frame(library)

    assert type(frame).__module__.partition(".")[0] == (library or "pandas")
    assert frame.shape == (6, 7)
    assert list(frame["column"]) == ["time", "fear", "fun"] * 2


def test_frame_of_estimates_holds_every_type_of_question(tmp_path: Path) -> None:
    files_of(tmp_path, (EVERY, drawn(EVERY, 60)))
    results = open_results(tmp_path / "files" / "export.json")

    assert set(results.frame()["question"]) == {question.name for question in EVERY.questions}
    assert {"mean", "share", "quantile"} == set(results.frame()["kind"])


@pytest.mark.slow
def test_plot_has_a_point_and_a_line_for_each_figure(folder: Path, tmp_path: Path) -> None:
    table = open_results(folder).crosstab("cheated", "reason")
    figure = table.plot()
    points = figure.axes[0].containers[0].lines[0].get_xdata()
    figure.savefig(tmp_path / "table.svg")

    assert list(points) == [row["shown"] for row in table.rows]
    assert figure.axes[0].get_xlabel() == "estimate with 95% limits"
    assert figure.axes[0].get_yticklabels()[0].get_text() == "no, time"
    assert (tmp_path / "table.svg").stat().st_size > 1000


@pytest.mark.slow
def test_plot_names_shares_among_those_who_answered(tmp_path: Path) -> None:
    """Beside those of all, which have the question's name alone."""
    rows = [f'{each},"kary_rr odds=3 levels=no,yes,absent"' for each in ["no"] * 27 + ["yes"] * 19 + ["absent"] * 14]
    (tmp_path / "host.csv").write_text("\n".join(["q,q_channel", *rows]))
    drawn = [label.get_text() for label in open_data(tmp_path / "host.csv").plot().axes[0].get_yticklabels()]

    assert ["answered" in label for label in drawn].count(True) == 2


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Running]:
    tried = survey(name="tried", trial=True)
    with start(tmp_path / "data", tried) as running:
        storage = running.storage()
        send(storage, tried, drawn(tried, 60))
        storage.close()
        yield running


@pytest.mark.external
def test_address_gives_the_same_with_a_key(asked: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    results = open_results(asked.url, survey="tried", key=asked.token)
    monkeypatch.setenv("SOTTOVOCE_KEY", asked.token)

    assert results.crosstab("cheated", "year").document["n"] == 60
    assert open_results(asked.url, survey="tried").estimates == results.estimates
    with pytest.raises(TransportError, match="does not take this key"):
        open_results(asked.url, survey="tried", key="wrong")
    with pytest.raises(SpecError, match="name the survey"):
        open_results(asked.url)


@pytest.mark.parametrize(
    ("content", "said"),
    [("{", "cannot be read as JSON"), ("[]", "is no export"), (json.dumps({"format": "x"}), "is no export")],
)
def test_file_that_is_no_export_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "some.json").write_text(content)
    with pytest.raises(SpecError, match=said):
        open_results(tmp_path / "some.json")


def test_what_is_not_there_is_said(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(EstimateError, match="an export holds no reports"):
        open_results(folder / "export.json").crosstab("cheated", "reason")
    for name in ("survey.json", "reports.csv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    bare = open_results(tmp_path)
    assert bare.crosstab("cheated", "reason").document["n"] == 400
    private = [row for row in open_results(folder).estimates if row["question"] != "year"]
    assert [row for row in bare.estimates if row["question"] != "year"] == private
    assert len(bare.frame()) == len(bare.estimates)
    with pytest.raises(SpecError, match="another survey"):
        open_results(folder, survey="other")
    with pytest.raises(EstimateError, match="a frame is one of: pandas, polars"):
        open_results(folder).frame("excel")
    with pytest.raises(AttributeError, match="no attribute 'close_results'"):
        _ = sottovoce.aggregator.close_results

    def missing(name: str) -> Any:
        raise ModuleNotFoundError(name=name)

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(EstimateError, match="needs pandas or polars"):
        open_results(folder).frame()
    with pytest.raises(EstimateError, match=r"\.\[plot\]"):
        open_results(folder).plot()


def test_python_gives_shares_and_models_of_those_who_answered(tmp_path: Path) -> None:
    """Rows of both in the estimates, with whom they describe; tables and models as everywhere."""
    reports = columns((0.05, 0.35))
    (tmp_path / "survey.json").write_bytes(reports.survey.canonical)
    rows = zip(*(reports.values[each.name].tolist() for each in reports.survey.questions), strict=True)
    lines = [",".join(each.name for each in reports.survey.questions), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "reports.csv").write_text("\n".join(lines) + "\n")
    results = open_results(tmp_path)
    compared, model = results.compare("y", "g"), results.model("y", on=["g"], declining="common")

    assert [row["declined"] for row in compared.rows] == [
        one["shown"] for one in compared.document["declined"]
    ]  # fmt: skip
    assert model.document["people"] == "answered"
    assert {row["term"] for row in model.rows} == {"(constant)", "g=yes"}
    assert results.crosstab("g", "y", among="all").document.get("people") is None


def test_long_analysis_is_fetched_from_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the aggregator that was named, wherever the reply points: the key goes nowhere else."""
    asked = replies(monkeypatch, (202, {}), (202, {}), (200, {"format": "sottovoce-pairs/1"}))

    assert AddressReports("https://a.example", "exam", "key").answer("pairs", {}) == {"format": "sottovoce-pairs/1"}
    address = f"https://a.example/api/v1/surveys/exam/analyses/{JOB}"
    assert asked == [("POST", "https://a.example/api/v1/surveys/exam/pairs"), ("GET", address), ("GET", address)]


def test_stopped_analysis_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    replies(monkeypatch, (202, {}), (422, {"code": "analysis_stopped", "detail": "stopped after 60 seconds"}))

    with pytest.raises(TransportError, match="stopped after 60 seconds"):
        AddressReports("https://a.example", "exam", "key").answer("pairs", {})
