"""Public answers of a closed survey go through a budget as a file's records do."""

import json
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.curator.data.survey_source import survey_declaration
from sottovoce.aggregator.curator.declaration import Categories, NumberColumn
from sottovoce.shared.spec import Survey

from tests.commands import done, refused, run
from tests.exported import published, send
from tests.surveys import document, survey


def asked() -> Survey:
    """A private question, the cohort, and public ones of other types."""
    label = {"en": "?"}
    more: list[dict[str, Any]] = [
        {"type": "integer", "name": "hours", "label": label, "min": "0", "max": "9", "step": "1", "public": True},
        {"type": "boolean", "name": "again", "label": label, "public": True},
    ]
    return survey(questions=[*document()["questions"], *more])


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with 200 reports of a survey that is closed."""
    (tmp_path / "heads").mkdir()
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("SOTTOVOCE_LEDGER_ANCHOR_DIR", str(tmp_path / "heads"))
    made = asked()
    storage = published(folder, made)
    send(storage, made, [(1, 0, 1, 4, 1)] * 150 + [(0, 1, 0, 9, 0)] * 50)
    storage.close()
    return folder


def test_declaration_follows_from_the_survey() -> None:
    """Public questions alone, by their type; of the cohort nothing can be asked."""
    declared = survey_declaration([asked()])
    assert {name: type(kind) for name, kind in declared.columns.items()} == {"hours": NumberColumn, "again": Categories}
    assert declared.exact == ("year",)


def test_closed_survey_is_asked_under_its_budget(data: Path) -> None:
    """Not before it is closed; then its exact public answers are no longer written."""
    here = ["--survey", "exam", "--data", data]
    assert "open" in refused(run("curator", "bind", *here, "--epsilon", "1000")).output
    assert run("survey", "close", "exam", "--data", data).exit_code == 0
    bound = run("curator", "bind", *here, "--epsilon", "1000", "--json")
    assert json.loads(bound.stdout)["records"] == 200

    answers = {}
    for words in (
        ["histogram", "again"],
        ["count", "--where", "hours<=4 & again=yes"],
        ["mean", "hours"],
        ["top", "again"],
    ):
        ended = done(run("curator", words[0], *here, *words[1:], "--epsilon", "200", "--json"))
        answers[words[0]] = json.loads(ended.stdout)["values"]
    assert answers["histogram"]["counts"][:2] == [50, 150]
    assert answers["count"] == {"count": 150}
    assert answers["mean"]["mean"] == "21/4"
    assert answers["top"]["name"] == "yes"

    out = data.parent / "reports-with-public.csv"
    written = refused(run("results", "export", "exam", "--data", data, "--format", out.name, "--out", out, "--yes"))
    assert "a budget for this survey's public answers was opened" in written.output
    assert not out.exists()
