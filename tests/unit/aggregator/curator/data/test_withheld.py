"""Once a budget is open, no page, route, file or command depends on a public answer that noise protects."""

import io
import json
import re
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import combinations
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp
from typing import Any
from urllib.parse import urlencode

import duckdb
import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.app import create_app
from sottovoce.aggregator.clock import now
from sottovoce.aggregator.export.catalogue import SINGLE, WITH_PUBLIC
from sottovoce.aggregator.export.results_client.sources import StoredReports
from sottovoce.aggregator.settings import Settings
from sottovoce.aggregator.storage.copy import save
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.surveys.lifecycle import next_revision
from sottovoce.cli.main import main
from sottovoce.client.question_page import question_assets
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.spec import Survey

from tests.commands import done, refused, run
from tests.exported import NOW, answered, published
from tests.surveys import survey
from tests.unit.aggregator.accounts.test_authentication import log_in
from tests.unit.aggregator.api.conftest import program_of
from tests.unit.aggregator.curator.data.test_released_tables import asked
from tests.unit.aggregator.studio.joint_pages import SITE

NOISY = ("hours", "again")
GATED = "phone"
"""A private question that only people who answered yes to ``again`` are asked."""
EVERY = ("cheated", "reason", "year", *NOISY, GATED)
RECORDS = ([(4, 1)] * 107 + [(9, 0)] * 93, [(2, 0)] * 161 + [(7, 1)] * 39)
"""Public answers of two surveys that differ in all people and agree in everything else."""
Options = tuple[tuple[str, Mapping[str, Any]], ...]
OPTIONS: Options = (
    *(("crosstab", {"rows": rows, "columns": columns}) for rows, columns in combinations(EVERY, 2)),
    *(("compare", {"outcome": "cheated", "groups": groups}) for groups in EVERY[2:]),
    ("compare", {"outcome": GATED, "groups": "year"}),
    ("regression", {"outcome": GATED, "on": ["year"]}),
    *(("regression", {"outcome": "cheated", "on": [on]}) for on in EVERY[1:]),
    ("crosstab", {"rows": "cheated", "columns": "reason", "where": "again=yes"}),
    ("crosstab", {"rows": "cheated", "columns": "year", "margins": {"again": {"no": 0.5, "yes": 0.5}}}),
    *(("test", {"question": question}) for question in EVERY),
    ("pairs", {}),
    ("pairs", {"where": "again=yes"}),
    ("weights", {"margins": {"again": {"no": 0.5, "yes": 0.5}}}),
)
FEW: Options = OPTIONS[::2]
"""Some of each kind, and one of each kind that names a noisy answer: they are asked of pages and of the API."""
SKIPPED = {"job", "account", "folder", "code", "rehearse", "analyze"}
"""Parts of addresses that read no survey's answers: simulations and files of others."""
OWN = re.compile(
    r"(?<!\.)\b[0-9a-f]{16,}|\b[0-9a-f]{8}(?=</code>)|nonce-[^']+|\d\d:\d\d:\d\d(\.\d+)?"
    r"|[A-Za-z0-9+/_-]{40,}=*|process_\w+(\{.*\})? .*"
)
"""Parts of a reply that differ between any two runs: tokens, digests, times, and figures of the process."""


def gated() -> Survey:
    """The survey with its public answers in files of reports, and with one more question, hidden by one of them."""
    written = asked().document["questions"]
    questions = [{**each, "in_files": True} if each["name"] in NOISY else each for each in written]
    hidden = {"absent_category": True, "visible_if": {"again": "yes"}, "mechanism": {"epsilon": "1"}}
    return survey(questions=[*questions, {**written[0], "name": GATED, **hidden}])


def opened(folder: Path, heads: Path) -> None:
    heads.mkdir()
    done(
        CliRunner(env={"SOTTOVOCE_LEDGER_ANCHOR_DIR": str(heads)}).invoke(
            main, ["curator", "bind", "--survey", "exam", "--data", str(folder), "--epsilon", "1"]
        )
    )


def plain(body: bytes, name: str) -> str:
    """Content without what differs between any two runs; rows of files of reports in order."""
    if name.endswith(".zip") or body[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "\n".join(f"{each}: {plain(archive.read(each), each)}" for each in sorted(archive.namelist()))
    if body[:4] == b"PAR1":
        with NamedTemporaryFile(suffix=".parquet") as file:
            file.write(body)
            file.flush()
            return str(sorted(map(str, duckdb.read_parquet(file.name).fetchall())))
    if name.endswith((".sav", ".dta")):
        return str(len(body))
    # The last digits of sums depend on the order of the rows, which random ids decide.
    text = re.sub(r"-?\d+\.\d{9,}(e-\d+)?", lambda found: f"{float(found[0]):.6f}", body.decode(errors="replace"))
    return "\n".join(sorted(OWN.sub("#", text.replace("-0.000000", "0.000000")).splitlines()))


def replies(folder: Path, served: Options) -> dict[str, str]:
    """What every route, file, analysis and command gives of a survey, by its address; pages and API of ``served``."""
    storage = SQLiteStorage(folder / "sottovoce.sqlite")
    # The page of an account counts the minutes since its owner came.
    moment = now()
    app = create_app(Settings(public_url=SITE, data=folder), storage, lambda: moment, question_assets())
    found = {address: plain(body, address) for address, body in _served(app, served)}
    reports = StoredReports(storage, "exam", lambda: NOW)
    for kind, options in OPTIONS:
        try:
            found[f"{kind} {options}"] = plain(str(reports.answer(kind, dict(options))).encode(), "")
        except EstimateError as error:
            found[f"{kind} {options}"] = str(error)
    storage.close()
    # The writers of single files are those of all: where few are asked, only files that "all" leaves out come alone.
    alone = WITH_PUBLIC if served is FEW else SINGLE
    for name in ("json", "all", "everything.zip", "parquet", "parquet-with-public", *alone):
        out = Path(mkdtemp(dir=folder.parent)) / name
        words = ("results", "export", "exam", "--data", folder, "--format", name, "--out", out, "--yes")
        ended = run(*words)
        found[f"export {name}"] = plain(ended.output.replace(str(out.parent), "").encode(), "")
        for path in sorted(each for each in (out, *out.rglob("*")) if each.is_file()):
            found[f"export {name} {path.name}"] = plain(path.read_bytes(), path.name)
    return found


def _served(app: Flask, served: Options) -> Iterator[tuple[str, bytes]]:
    client: FlaskClient = log_in(app)[0]
    api = program_of(app, "bea")
    for rule in sorted(app.url_map.iter_rules(), key=str):
        if "GET" in rule.methods and not SKIPPED & {*rule.arguments, *rule.rule.split("/")}:
            for address in _addresses(rule.rule, served):
                yield address, _read(client, address)
    for kind, options in served:
        address = f"/api/v1/surveys/exam/{kind}"
        reply = api.post(address, json=options)
        while reply.status_code == 202:
            time.sleep(0.05)
            reply = api.get(reply.headers["Location"])
        yield f"{address} {options}", reply.data


def _read(client: FlaskClient, address: str) -> bytes:
    reply = client.get(address, base_url=SITE, headers={"Accept-Language": "en"})
    while reply.status_code == (303 if "answer.json" in address else 202):
        time.sleep(0.05)
        reply = client.get(address, base_url=SITE, headers={"Accept-Language": "en"})
    # Two pages of an error would be equal whatever they hid.
    assert reply.status_code < 500, address
    return reply.data


def _addresses(rule: str, served: Options) -> Iterator[str]:
    path = rule.replace("<name>", "exam").replace("<same>", "x").replace("<path:name>", "x")
    queries = [""]
    if path.endswith(("/results", "/estimates", "/export", "export.json", "<question>.csv", "<question>.svg")):
        queries = ["", "?cohort=first", "?by=cohort", "?people=200", "?sort=size", "?wave=0"]
    if path.endswith("<file>") and "/files/" in path:
        yield from (path.replace("<file>", file) for file in (*SINGLE, "everything.zip"))
        return
    if "/tables" in path or "/models" in path:
        files = ("answer.json",) if path.endswith("<file>") else ("",)
        asked = ({"kind": kind, **options} for kind, options in served if "margins" not in options)
        yield from (f"{path.replace('<file>', file)}?{urlencode(each, True)}" for file in files for each in asked)
        return
    for place, question in enumerate(EVERY if "<question>" in path else ("",)):
        # Of a question itself, where few are asked: as it is, and each in one of the other ways.
        few = ["", queries[(place + 4) % len(queries)]] if question and served is FEW else queries
        yield from (path.replace("<question>", question) + query for query in dict.fromkeys(few))


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder, heads = tmp_path / "data", tmp_path / "heads"
    filled(folder, RECORDS[0])
    opened(folder, heads)
    monkeypatch.setenv("SOTTOVOCE_LEDGER_ANCHOR_DIR", str(heads))
    return folder


def filled(folder: Path, public: Sequence[tuple[int, int]]) -> None:
    folder.mkdir(parents=True)
    own = [(int(i * i % 11 < 4), i * i % 7 % 3, int(i < 90)) for i in range(len(public))]
    with closing(published(folder)) as storage:
        answered(storage, gated(), [(*row, *each, sum(row) % 3) for row, each in zip(own, public, strict=True)])


@pytest.mark.parametrize(
    ("has_budget", "served"),
    [(True, FEW), *(pytest.param(each, OPTIONS, marks=pytest.mark.slow) for each in (True, False))],
    ids=["some", "all", "before"],
)
def test_nothing_depends_on_answers_that_noise_protects(tmp_path: Path, has_budget: bool, served: Options) -> None:
    """Every route, file, analysis and command of two surveys that differ in all these answers; before, many differ."""
    made = []
    for name, public in zip(("one", "other"), RECORDS, strict=True):
        folder = tmp_path / name / "data"
        filled(folder, public)
        if has_budget:
            opened(folder, tmp_path / f"heads of {name}")
        made.append(replies(folder, served))
    assert list(made[0]) == list(made[1])
    different = [address for address in made[0] if made[0][address] != made[1][address]]
    if has_budget:
        assert {each: (made[0][each], made[1][each]) for each in different} == {}
        assert len(made[0]) > 5 * len(served)
    else:
        assert len(different) > 40


def test_cohort_is_never_published_with_noise(data: Path) -> None:
    """Alone, with others, or in a condition: refused before anything is charged, as results show its exact counts."""
    here = ("--survey", "exam", "--data", data, "--epsilon", "1/2")
    for words in (["histogram", "year"], ["histogram", "again", "year"], ["top", "year"],
                  ["count", "--where", "year=first"], ["count", "--where", "again=yes & year=first"]):  # fmt: skip
        assert "its exact counts are part of the results" in refused(run("curator", words[0], *here, *words[1:])).output
    ended = run("results", "crosstab", "exam", "--data", data, "--rows", "year", "--columns", "again",
                "--release-epsilon", "1/2")  # fmt: skip
    assert "its exact counts are part of the results" in ended.output
    assert json.loads(run("curator", "budget", *here[:4], "--json").stdout)["left"] == "1"


def test_cohort_alone_opens_no_budget(tmp_path: Path) -> None:
    """There is nothing that noise could protect."""
    folder = tmp_path / "data"
    folder.mkdir()
    with closing(published(folder)) as storage:
        answered(storage, survey(), [(1, 0, 1)] * 30)
    ended = refused(run("results", "export", "exam", "--data", folder, "--release-epsilon", "1", "--yes"))
    assert "its exact counts are part of the results" in ended.output
    with closing(published(folder)) as storage:
        assert not storage.releases.has_any("exam")


def test_revision_cannot_make_a_cohort_of_a_noisy_question(data: Path) -> None:
    """Its exact group sizes would be shown beside the noisy tables; the former cohort may become one again."""
    plainly = [{key: value for key, value in each.items() if key != "cohort"} for each in asked().document["questions"]]
    again, year = (
        survey(revision=2, questions=[{**each, "cohort": True} if each["name"] == name else each for each in plainly])
        for name in ("again", "year")
    )
    with closing(published(data)) as storage:
        assert "cohort" in next_revision(storage, year).questions[2].marks
        with pytest.raises(SpecError, match="the exact sizes of groups would undo the noise"):
            next_revision(storage, again)


def test_former_cohort_stays_exact(data: Path, tmp_path: Path) -> None:
    """A question that was ever the cohort is never published with noise, though no revision need ask it so any more."""
    assert run("survey", "reopen", "exam", "--data", data).exit_code == 0
    plainly = [{key: value for key, value in each.items() if key != "cohort"} for each in asked().document["questions"]]
    with closing(published(data)) as storage:
        storage.publish(next_revision(storage, survey(revision=2, questions=plainly)))
    assert run("survey", "close", "exam", "--data", data, "--yes").exit_code == 0
    ended = run("curator", "top", "--survey", "exam", "--data", data, "year", "--epsilon", "1/2")
    assert "its exact counts are part of the results" in ended.output
    out = tmp_path / "export.json"
    assert run("results", "export", "exam", "--data", data, "--out", out).exit_code == 0
    assert json.loads(out.read_text(encoding="utf-8"))["withheld"] == list(NOISY)


def test_analysis_from_before_the_budget_is_not_given_after_it(tmp_path: Path) -> None:
    """Its address was known; the page and a new request compute it again, or refuse."""
    folder = tmp_path / "data"
    filled(folder, RECORDS[0])
    storage = SQLiteStorage(folder / "sottovoce.sqlite")
    app = create_app(Settings(public_url=SITE, data=folder), storage, now, {})
    joint = app.extensions["joint_results"]
    request = parse_request("crosstab", {"rows": "cheated", "columns": "again"})
    assert joint.document("exam", request)["cells"]
    (job,) = joint.jobs._jobs
    assert joint.find("exam", job) is not None
    opened(folder, tmp_path / "heads")
    assert joint.find("exam", job) is None
    with pytest.raises(EstimateError, match="would undo the noise"):
        joint.document("exam", request)
    storage.close()


def test_backup_from_before_the_budget_gives_nothing_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no ledger, and the folder of heads knows that there was one."""
    folder, before, heads = (tmp_path / name for name in ("data", "before", "heads"))
    filled(folder, RECORDS[0])
    before.mkdir()
    with closing(published(folder)) as storage:
        save(storage, before / "sottovoce.sqlite")
    opened(folder, heads)
    monkeypatch.setenv("SOTTOVOCE_LEDGER_ANCHOR_DIR", str(heads))
    ended = run("results", "export", "exam", "--data", before)
    assert json.loads(ended.stdout)["withheld"] == list(NOISY)
    assert (
        run("results", "crosstab", "exam", "--data", before, "--rows", "again", "--columns", "cheated").exit_code == 1
    )
    zipped = tmp_path / "everything.zip"
    ended = done(run("results", "export", "exam", "--data", before, "--format", zipped.name, "--out", zipped))
    refused = run("results", "export", "exam", "--data", before, "--release-epsilon", "100", "--yes")
    assert refused.exit_code == 1
    assert "its head says that there was one; restore it" in refused.output

    storage = SQLiteStorage(before / "sottovoce.sqlite")
    settings = Settings(public_url=SITE, data=before, ledger_anchor_dir=str(heads))
    client: FlaskClient = log_in(create_app(settings, storage, now, {}))[0]
    document = client.get("/dashboard/surveys/exam/results/export.json", base_url=SITE).json
    assert document["withheld"] == list(NOISY)
    for page in ("files", "privacy", "results"):
        assert client.get(f"/dashboard/surveys/exam/{page}", base_url=SITE).status_code == 200
    storage.close()
