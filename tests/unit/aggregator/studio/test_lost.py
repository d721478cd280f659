"""What a spreadsheet loses, and what no survey may be, is said in the reader's language."""

import ast
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

import pytest
from flask import Flask
from sottovoce.aggregator.authoring.draft import empty_draft
from sottovoce.aggregator.authoring.validation import problems_of
from sottovoce.aggregator.i18n.translator import Words, sections
from sottovoce.aggregator.storage.accounts.models import Account
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.shared.errors import Sentence

from tests.surveys import survey
from tests.unit.aggregator.authoring.workbooks import workbook
from tests.unit.aggregator.studio.staff import browser, press

ROOT = Path(__file__).parents[4]
AUTHORING = ROOT / "aggregator" / "sottovoce" / "aggregator" / "authoring"
TELLING = {"Sentence": 0, "UnsupportedConditionError": 0, "LeftOut": 3, "_leave": 1, "left_out": 0}
"""What tells of something that was lost, and which of its arguments says what."""

LOST = workbook(
    survey=[
        ["type", "name", "label", "relevant", "mechanism"],
        ["select_one yn", "cheated", "Have you cheated?", "", "wildly"],
        ["text", "why", "Why?"],
        ["select_one yn", "again", "And again?", "${cheated} + 1 > 1"],
        ["integer", "age", "How old?"],
    ],
    choices=[["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "no", "No"]],
)


@pytest.fixture(autouse=True)
def accounts(storage: SQLiteStorage) -> None:
    storage.publish(survey())
    storage.access.add_account(Account(b"a" * 16, "Ann"))
    storage.access.grant(b"a" * 16, "exam", "owner")


def _texts(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    named = {
        node.targets[0].id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            said = node.args[TELLING[name]] if name in TELLING else None
            said = named.get(said.id) if isinstance(said, ast.Name) else said
            parts = [said.body, said.orelse] if isinstance(said, ast.IfExp) else [said]
            yield from (part.value for part in parts if isinstance(part, ast.Constant) and part.value)
        if isinstance(node, ast.FunctionDef) and node.name == "_unsupported":
            yield from (
                each.value.value
                for each in ast.walk(node)
                if isinstance(each, ast.Return) and isinstance(each.value, ast.Constant)
            )
    if isinstance(homeless := named.get("_UNSUPPORTED"), ast.Dict):
        yield from (each.value for each in homeless.values if isinstance(each, ast.Constant))


def _english() -> Mapping[str, str]:
    return sections("en")["workbooks"] | sections("en")["refusals"]


def test_everything_that_can_be_lost_has_its_sentence() -> None:
    modules = {"workbook", "xlsx_safety", "xlsform", "xlsform_relevant"}
    told = {text for path in AUTHORING.glob("*.py") if path.stem in modules for text in _texts(path)}

    assert told - set(_english().values()) == set()
    assert len(told) > 50


def test_every_refusal_of_the_catalogue_is_one_that_is_made() -> None:
    """A sentence whose English was changed in one place only would never be found again."""
    sources = [*(ROOT / "shared").rglob("*.py")]
    text = re.sub(r'"\s*\n?\s*"', "", "\n".join(path.read_text(encoding="utf-8") for path in sources))
    text = text.replace('_EARLIER + "', "").replace("{_EARLIER}", "")
    refusals = [each for key, each in _english().items() if key.startswith("refused_")]

    assert [each for each in refusals if each.removeprefix(
        "may name earlier questions only, neither notes, matrices nor vectors; ") not in text] == []  # fmt: skip
    assert len(refusals) > 20


@pytest.mark.parametrize(
    ("language", "told"),
    [
        ("de", [
            "survey, Zeile 2, Spalte mechanism: nicht bekannt",
            "Spalte required: Fragen, die im Formular leer bleiben dürfen: 2",
            "survey, Zeile 3: Freitext macht Menschen erkennbar",
            "Bedingung, die sich nicht übernehmen lässt (eine Funktion oder ein Zeichen",
            "survey, Zeile 5: Beide Enden werden gebraucht: Schreiben Sie als constraint . &gt;= 0 and . &lt;= 120",
        ]),
        ("en", ["survey, row 3: free text identifies people", "column relevant: a condition with a function"]),
    ],
)  # fmt: skip
def test_what_was_lost_is_told_in_the_readers_language(app: Flask, language: str, told: list[str]) -> None:
    client = browser(app, Account(b"a" * 16, "Ann").id, language)
    page = press(client, "/dashboard/new", **{"from": "file", "file": (BytesIO(LOST), "form.xlsx")}).text
    listed = page.partition("<main")[2].rpartition("<ul>")[2].partition("</ul>")[0]

    assert [each for each in told if each not in listed] == []
    assert listed.count("<li>") == 5
    assert len(app.extensions["storage"].drafts.drafts()) == 1


@pytest.mark.parametrize("constraint", [". >= 17.5 and . <= 99.9", ". >= date('2026-13-45')", "[/x] and . > 1e9"])
def test_form_with_a_strange_constraint_begins_a_draft(app: Flask, constraint: str) -> None:
    data = workbook(
        survey=[["type", "name", "label", "constraint"], ["integer", "n", "N [/x]?", constraint],
                ["select_one yn", "a", "A?", ""]],
        choices=[["list_name", "name", "label"], ["yn", "yes", "Yes"], ["yn", "no", "No"]],
    )  # fmt: skip
    client = browser(app, Account(b"a" * 16, "Ann").id, "en")
    page = press(client, "/dashboard/new", **{"from": "file", "file": (BytesIO(data), "form.xlsx")})
    assert page.status_code == 200
    assert "<li>survey, row 2" in page.text


def test_nothing_that_can_be_asked_is_said_with_its_reasons(app: Flask) -> None:
    data = workbook(survey=[["type", "name", "label"], ["text", "why", "Why?"], ["hidden", "x", ""]])
    client = browser(app, Account(b"a" * 16, "Ann").id, "de")
    page = press(client, "/dashboard/new", **{"from": "file", "file": (BytesIO(data), "form.xlsx")}).text

    assert "gestellt werden kann; survey, Zeile 2: Freitext" in page
    assert "; survey, Zeile 3: ein verborgener Wert" in page


def test_design_says_in_the_readers_language_what_parsing_refuses() -> None:
    draft = empty_draft("Exams", "en")
    head = {"opens": "2026-02-01T00:00:00Z", "closes": "2026-01-01T00:00:00Z", "privacy": {"release_batch": 0},
            "after": {"link": "ftp://x"}}  # fmt: skip
    problems = problems_of(type(draft)(**{**vars(draft), "head": {**draft.head, **head}}), "exam")
    said = " ".join(Sentences(Words("de")).problem(each) for each in problems if each.key == "other")

    assert "Das Ende muss nach dem Anfang liegen" in said
    assert "Es muss eine ganze Zahl von 1 bis 1000000 sein" in said
    assert "die mit https beginnt, für alle dieselbe" in said


def test_sentence_within_a_sentence_is_said_too() -> None:
    """As far as the catalogue has it."""
    known = Sentence("{field}: {reason}", field="choices", reason="is used twice")

    assert Words("de").in_this_language(known) == "choices: Der Name ist zweimal gebraucht"
