"""Joint results over HTTP: for researchers, of what is closed, and without taking every thread."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.accounts.authentication import PUBLIC
from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.jobs.queue import AnalysisLimits, Compute
from sottovoce.aggregator.analysis.requests import KINDS_OF_REQUEST, parse_request
from sottovoce.aggregator.api import analysis
from sottovoce.aggregator.api.joint_results import ColumnsCache, JointResults
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.settings import Settings
from sottovoce.shared.errors import StorageError

from tests.exported import drawn, published, send
from tests.surveys import months, survey
from tests.unit.aggregator.analysis.closed_surveys import OPTIONS, REPORTS, states
from tests.unit.aggregator.api.conftest import post, program_of
from tests.unit.shared.test_schema import validator

SCHEMAS = {**dict(zip(OPTIONS, OPTIONS, strict=True)), "compare": "comparison"}


LINEAR = {**OPTIONS["regression"], "model": "linear"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    storage = states(tmp_path_factory.mktemp("states"))
    yield create_app(Settings(public_url="https://survey.example.org"), storage, now, {})
    storage.close()


@pytest.fixture(scope="module")
def researcher(app: Flask) -> FlaskClient:
    return program_of(app)


def ask(client: FlaskClient, survey: str, kind: str, body: Any) -> tuple[int, Any]:
    reply = post(client, f"/api/v1/surveys/{survey}/{kind}", body)
    return reply.status_code, reply.json


def test_every_kind_of_analysis_has_its_route_for_researchers_only(app: Flask) -> None:
    """Walks the URL map: no kind without a route, none of them public."""
    found = {str(rule.rule).rsplit("/", 1)[1]: rule.endpoint for rule in app.url_map.iter_rules()
              if rule.endpoint.startswith("joint.")}  # fmt: skip

    assert set(found) - {"<job>"} == set(KINDS_OF_REQUEST) == {*OPTIONS, "mixture", "items"}
    assert not PUBLIC & set(found.values())
    assert all(ask(app.test_client(), "done", kind, OPTIONS[kind])[0] == 401 for kind in OPTIONS)


@pytest.mark.parametrize("kind", OPTIONS)
def test_joint_results_exist_for_what_is_closed_and_for_try_outs(researcher: FlaskClient, kind: str) -> None:
    replies = {name: ask(researcher, name, kind, OPTIONS[kind]) for name in ("done", "tried", "open", "none", "empty")}

    assert {name: status for name, (status, _) in replies.items()} == {
        "done": 200, "tried": 200, "open": 409, "none": 404, "empty": 422,
    }  # fmt: skip
    for name in ("done", "tried"):
        validator(SCHEMAS[kind]).validate(replies[name][1])
    for name in ("open", "none", "empty"):
        validator("problem").validate(replies[name][1])
    assert replies["open"][1]["code"] == "still_open"
    assert "the survey is open: tables of two questions" in replies["open"][1]["detail"]
    assert replies["empty"][1]["detail"] == "there are no reports yet"


def test_table_within_groups_keeps_to_its_schema(researcher: FlaskClient) -> None:
    status, found = ask(researcher, "done", "crosstab", {**OPTIONS["crosstab"], "within": "year"})

    assert (status, [table["category"] for table in found["tables"]]) == (200, ["first", "second"])
    validator("crosstab").validate(found)


def test_weighted_regression_is_made_from_margins(researcher: FlaskClient) -> None:
    status, found = ask(researcher, "done", "regression", {**OPTIONS["regression"], **OPTIONS["weights"]})

    assert (status, found["linear"]["std_error_kind"]) == (200, "sandwich")
    assert found["deff"] > 1


@pytest.mark.parametrize("kind", ["crosstab", "compare"])
def test_tables_are_made_with_the_weights_of_margins(researcher: FlaskClient, kind: str) -> None:
    """Their figures change, and what the weights cost stands with them."""
    _, plain = ask(researcher, "done", kind, OPTIONS[kind])
    status, weighted = ask(researcher, "done", kind, {**OPTIONS[kind], **OPTIONS["weights"]})

    validator(SCHEMAS[kind]).validate(weighted)
    assert (status, plain["deff"]) == (200, pytest.approx(1))
    assert weighted["deff"] > 1.0001
    assert (plain["n"], plain["independence"]["statistic"]) != (weighted["n"], weighted["independence"]["statistic"])


@pytest.mark.parametrize("kind", ["crosstab", "compare"])
def test_limits_of_a_document_stand_in_their_order(researcher: FlaskClient, kind: str) -> None:
    _, found = ask(researcher, "done", kind, OPTIONS[kind])

    figures = found["cells"] + found["conditional"] if kind == "crosstab" else found["values"] + found["differences"]
    assert all(one["low"] <= one["shown"] <= one["high"] for one in figures if one["shown"] is not None)
    assert any(one["low"] < one["high"] for one in figures)


def test_every_pair_is_tested_with_q_values(researcher: FlaskClient) -> None:
    _, table = ask(researcher, "done", "crosstab", {"rows": "cheated", "columns": "year"})
    status, found = ask(researcher, "done", "pairs", {})

    pairs = {(one["first"], one["second"]): one for one in found["pairs"]}
    assert (status, found["reports"], found["possible"], len(pairs)) == (200, 400, 3, 3)
    assert {key: pairs["cheated", "year"][key] for key in ("statistic", "df", "p")} == pytest.approx(
        table["independence"]
    )
    assert all(one["p"] <= one["q"] for one in pairs.values())
    assert [one["p"] for one in found["pairs"]] == sorted(one["p"] for one in found["pairs"])


def test_regression_predicts_what_was_asked_for(researcher: FlaskClient) -> None:
    at = [{"year": "first"}, {"year": "second"}]
    status, found = ask(researcher, "done", "regression", {**LINEAR, "at": at})

    validator("regression").validate(found)
    assert (status, [one["at"] for one in found["predictions"]]) == (200, at)
    assert all(one["low"] < one["estimate"] < one["high"] for one in found["predictions"])
    assert "predictions" not in ask(researcher, "done", "regression", LINEAR)[1]


@pytest.mark.parametrize(
    ("kind", "body", "places"),
    [
        ("crosstab", {}, ["/rows", "/columns"]),
        ("crosstab", {"rows": 17, "columns": ["SECRET"]}, ["/rows", "/columns"]),
        ("crosstab", {"rows": "cheated", "columns": "reason", "SECRET": 1}, [""]),
        ("crosstab", {"rows": "cheated", "columns": "reason", "wave": -1}, ["/wave"]),
        ("crosstab", {"rows": "cheated", "columns": "reason", "wave": True}, ["/wave"]),
        ("crosstab", [], [""]),
        ("crosstab", b"{SECRET", [""]),
        ("crosstab", b'{"rows": NaN}', [""]),
        ("crosstab", b"[" * 60_000, [""]),
        ("regression", {"outcome": "cheated", "on": "SECRET"}, ["/on"]),
        ("regression", {"outcome": "cheated", "on": []}, ["/on"]),
        ("regression", {"outcome": "cheated", "on": ["year"], "errors": "SECRET", "model": 3}, ["/model", "/errors"]),
        ("regression", {"outcome": "cheated", "on": ["year"], "at": {}}, ["/at"]),
        ("regression", {"outcome": "cheated", "on": ["year"], "at": [{"year": ["SECRET"]}]}, ["/at"]),
        ("regression", {"outcome": "cheated", "on": ["year"], "at": [{"year": True}]}, ["/at"]),
        ("regression", {"outcome": "cheated", "on": ["year"], "at": [{}] * 1001}, ["/at"]),
        ("pairs", {"rows": "SECRET"}, [""]),
        ("crosstab", {"rows": "cheated", "columns": "reason", "margins": []}, ["/margins"]),
        ("weights", {"margins": {}}, ["/margins"]),
        ("weights", {"margins": {"year": 3}}, ["/margins"]),
        ("weights", {"margins": {"year": {"first": "SECRET"}}}, ["/margins"]),
        ("weights", {"margins": {"year": {"first": "-1"}}}, ["/margins"]),
        ("weights", {"margins": {"year": {"first": 10**400}}}, ["/margins"]),
        ("test", {"question": "cheated", "mean": 10**400}, ["/mean"]),
    ],
)
def test_wrong_options_are_told_by_their_places(
    researcher: FlaskClient, kind: str, body: Any, places: list[str]
) -> None:
    status, problem = ask(researcher, "done", kind, body)

    assert (status, problem["code"]) == (422, "options_invalid")
    assert [one["pointer"] for one in problem["problems"]] == places
    assert "SECRET" not in json.dumps(problem)
    validator("problem").validate(problem)


@pytest.mark.parametrize(
    ("kind", "body", "said"),
    [
        ("crosstab", {"rows": "cheated", "columns": "cheated"}, "asked for twice"),
        ("crosstab", {"rows": "cheated", "columns": "reason", "within": "cheated"}, "asked for twice"),
        ("crosstab", {"rows": "cheated", "columns": "year", "wave": 7}, "no such wave"),
        ("regression", {"outcome": "reason", "on": ["year"], "model": "logit"}, "more than two categories"),
        ("weights", {"margins": {"cheated": {"no": 0.5, "yes": 0.5}}}, "randomized"),
        ("weights", {"margins": {"year": {"SECRET": 1}}}, "names no cell"),
        ("weights", {"margins": {"year x year": {"first": 1}}}, "names no cell"),
        ("weights", {"margins": {"SECRET": {"first": 1}}}, "no such question"),
        ("crosstab", {"rows": "SECRET", "columns": "year"}, "no such question; there are: cheated, reason, year"),
        ("crosstab", {"rows": "cheated.SECRET", "columns": "year"}, "is asked for as: cheated"),
        ("compare", {"outcome": "cheated", "groups": "year", "category": "SECRET"}, "no category of this name"),
        ("regression", {"outcome": "cheated", "on": ["SECRET"]}, "no such question"),
        ("regression", {"outcome": "cheated", "on": ["year"], "cluster": "SECRET"}, "no such question"),
        ("regression", {**LINEAR, "at": [{"SECRET": 1}]}, "there are: year"),
        ("regression", {**LINEAR, "at": [{"year": "SECRET"}]}, "one of: first, second"),
        ("regression", {**LINEAR, "at": [{}]}, "lacks what"),
        ("compare", {"outcome": "cheated", "groups": "year", "margins": {"SECRET": {"x": 1}}}, "no such question"),
        ("weights", {"margins": {"year x year": {"first x first": 1}}}, "leaves out"),
    ],
)
def test_what_cannot_be_had_is_refused_with_its_sentence(
    researcher: FlaskClient, kind: str, body: dict[str, Any], said: str
) -> None:
    status, problem = ask(researcher, "done", kind, body)

    assert (status, problem["code"]) == (422, "estimate_impossible")
    assert said in problem["detail"]
    assert "SECRET" not in problem["detail"]


def test_long_analysis_has_an_address_of_its_own(
    app: Flask, researcher: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked again there until it has ended, or cancelled there; after a restart it is not there any more."""
    monkeypatch.setattr("sottovoce.aggregator.api.joint_results.WAIT_SECONDS", 0)
    go, jobs = Event(), app.extensions["joint_results"].jobs

    def held(_: Compute) -> Document:
        go.wait(60)
        return {}

    jobs.drop("done")
    assert jobs.submit("done", "held", held) is not None
    first = post(researcher, "/api/v1/surveys/done/crosstab", {"rows": "year", "columns": "reason"})
    assert (first.status_code, first.headers["Retry-After"]) == (202, "2")
    validator("analysis-progress").validate(first.json)
    again = researcher.get(first.location)
    assert (again.status_code, again.json["state"], again.json["place"]) == (202, "waiting", 1)
    assert ask(researcher, "done", "crosstab", {"rows": "year", "columns": "reason"})[1]["place"] == 1

    ended = researcher.delete(first.location)
    validator("analysis-progress").validate(ended.json)
    assert ended.json["state"] == "finished"
    stopped = researcher.get(first.location)
    assert (stopped.status_code, stopped.json["code"]) == (422, "analysis_stopped")
    assert "cancelled" in stopped.json["detail"]

    assert ask(researcher, "done", "crosstab", {"rows": "year", "columns": "reason"})[0] == 202
    go.set()
    found = jobs.find("done", first.location.rpartition("/")[2])
    found.finished.wait()
    assert researcher.get(first.location).json["format"] == "sottovoce-crosstab/1"
    jobs.drop("done")
    gone = researcher.get(first.location)
    assert (gone.status_code, gone.json["code"]) == (404, "not_found")
    assert "restarted" in gone.json["detail"]


def test_files_of_a_survey_take_half_of_the_threads_and_leave_one(app: Flask) -> None:
    """With four threads one of them works and one waits; the third is told to come back, and others go ahead."""
    results = JointResults(app.extensions["joint_results"]._cache, app.extensions["storage"], 4, AnalysisLimits())
    entered: list[str] = []

    def work() -> None:
        with results.turn("done"):
            entered.append("second")

    waiting = Thread(target=work)
    with results.turn("done"):
        waiting.start()
        while results._slots._value > 1:
            sleep(0.001)
        with pytest.raises(Refusal, match="busy"), results.turn("done"):
            pass
        with results.turn("open"):
            entered.append("other")
            with pytest.raises(Refusal, match="busy"), results.turn("tried"):
                pass
    waiting.join()
    assert entered == ["other", "second"]


def test_idle_columns_are_dropped_in_a_thread_of_their_own(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looked for now and then as long as there are any; a database that is down only puts it off."""
    storage, seconds, looks = app.extensions["storage"], [0.0], Event()
    kept = ColumnsCache(storage, now, lambda: seconds[0])
    monkeypatch.setattr("sottovoce.aggregator.api.joint_results.REFRESH_SECONDS", 0.001)
    down = storage.surveys

    def surveys() -> Any:
        looks.set()
        monkeypatch.setattr(storage, "surveys", down)
        raise StorageError("down")

    monkeypatch.setattr(storage, "surveys", surveys)
    JointResults(kept, storage, 4, AnalysisLimits()).document("done", parse_request("crosstab", OPTIONS["crosstab"]))
    assert looks.wait(10)
    assert len(kept) == 1
    seconds[0] = 3600.0
    deadline = monotonic() + 10
    while len(kept) and monotonic() < deadline:
        sleep(0.001)
    assert len(kept) == 0


def test_deleted_survey_leaves_no_columns(tmp_path: Path) -> None:
    storage = states(tmp_path / "gone")
    app = create_app(Settings(), storage, now, {})
    client = program_of(app)
    assert ask(client, "done", "crosstab", OPTIONS["crosstab"])[0] == 200
    kept = app.extensions["joint_results"]._cache
    assert len(kept) == 1

    assert client.delete("/api/v1/surveys/done").status_code == 200
    assert len(kept) == 0
    assert ask(client, "done", "crosstab", OPTIONS["crosstab"])[0] == 404
    storage.close()


def test_analysis_of_a_closed_wave_tells_of_no_report_of_another(tmp_path: Path) -> None:
    """Its address, and whether it is computed anew, stay as they are while reports of an open wave arrive."""
    asked = survey(waves=[*months(1), {"opens": "2026-02-01T00:00:00Z", "closes": "2099-01-01T00:00:00Z"}])
    storage = published(tmp_path, asked)
    send(storage, asked, drawn(asked, REPORTS))
    app = create_app(Settings(), storage, now, {})
    wave, jobs = {**OPTIONS["crosstab"], "wave": 0}, app.extensions["joint_results"].jobs
    assert ask(program_of(app), "exam", "crosstab", wave)[0] == 200
    before = {*jobs._jobs}
    for _ in range(3):
        send(storage, asked, drawn(asked, 1), wave=1)
        assert ask(program_of(app), "exam", "crosstab", wave)[0] == 200

    assert ({*jobs._jobs}, len(before)) == (before, 1)
    storage.close()


def test_description_of_each_route_tells_the_options() -> None:
    described = {route.body: route.body_schema for route in analysis.ROUTES if route.body_schema}
    for kind, options in OPTIONS.items():
        assert options.keys() <= described[f"{kind}-request"]["properties"].keys()
