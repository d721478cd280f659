"""``open_results``: the same figures as everywhere, as frames and pictures for analysts in Python."""

import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import requests
import sottovoce.aggregator
from sottovoce.aggregator import OpenResults, open_results
from sottovoce.aggregator.analysis.requests import KINDS_OF_REQUEST
from sottovoce.aggregator.export.archive import write_folder
from sottovoce.aggregator.export.results_client import http_source
from sottovoce.aggregator.export.results_client.http_source import AddressReports
from sottovoce.shared.errors import EstimateError, SpecError, TransportError

from tests.conftest import Running, start
from tests.exported import TODAY, drawn, published, send, source
from tests.surveys import every_type, survey
from tests.unit.aggregator.analysis.closed_surveys import states
from tests.unit.aggregator.analysis.regression.test_declining import columns

EVERY = survey(questions=every_type())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All files of a closed survey."""
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
    """As a parameter or in the docstring, and none that the request has not."""
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
    """Without a name in the first that is installed."""
    frame = open_results(folder).crosstab("cheated", "reason").frame(library)

    assert type(frame).__module__.partition(".")[0] == (library or "pandas")
    assert frame.shape == (6, 7)
    assert list(frame["column"]) == ["time", "fear", "fun"] * 2


def test_frame_of_estimates_holds_every_type_of_question(tmp_path: Path) -> None:
    """Numbers have means and quantiles, dates are dates."""
    storage = published(tmp_path, EVERY)
    send(storage, EVERY, drawn(EVERY, 60))
    storage.close_survey(EVERY.name, TODAY)
    (tmp_path / "files").mkdir()
    write_folder(source(storage, EVERY), tmp_path / "files")
    storage.close()
    results = open_results(tmp_path / "files" / "export.json")

    assert set(results.frame()["question"]) == {question.name for question in EVERY.questions}
    assert {"mean", "share", "quantile"} == set(results.frame()["kind"])


@pytest.mark.slow
def test_plot_has_a_point_and_a_line_for_each_figure(folder: Path, tmp_path: Path) -> None:
    """Named by its texts; it can be written as a picture."""
    table = open_results(folder).crosstab("cheated", "reason")
    figure = table.plot()
    points = figure.axes[0].containers[0].lines[0].get_xdata()
    figure.savefig(tmp_path / "table.svg")

    assert list(points) == [row["shown"] for row in table.rows]
    assert figure.axes[0].get_xlabel() == "estimate with 95% limits"
    assert figure.axes[0].get_yticklabels()[0].get_text() == "no, time"
    assert (tmp_path / "table.svg").stat().st_size > 1000


@pytest.fixture
def asked(tmp_path: Path) -> Iterator[Running]:
    """A running aggregator with a try-out."""
    tried = survey(name="tried", trial=True)
    with start(tmp_path / "data", tried) as running:
        storage = running.storage()
        send(storage, tried, drawn(tried, 60))
        storage.close()
        yield running


@pytest.mark.external
def test_address_gives_the_same_with_a_key(asked: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """From an argument or the environment; a wrong one is refused."""
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
    """An export holds no reports; libraries may be missing, and names unknown."""
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
