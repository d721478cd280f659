"""The assembler: what it joins, what it refuses, what the page weighs."""

import gzip
import json
import re

import pytest
from sottovoce.aggregator.demo.data import demo_survey
from sottovoce.client.page import assemble, join, modules
from sottovoce.shared.spec import Survey

from tests.surveys import every_type, survey

BUDGET = 20 * 1024
"""Bytes of the whole page with the demonstration's five questions, compressed as a proxy would."""

LARGE_BUDGET = 21 * 1024
"""The same for ten questions of mixed types."""


def test_assemble_gives_the_four_files() -> None:
    """The names under which the aggregator serves them, with their types."""
    types = {name: asset.content_type for name, asset in assemble().items()}

    assert types == {
        "catalogues/en.json": "application/json",
        "respondent.css": "text/css; charset=utf-8",
        "respondent.html": "text/html; charset=utf-8",
        "respondent.js": "text/javascript; charset=utf-8",
    }


def test_assemble_is_deterministic() -> None:
    """The same sources give the same bytes in the same order."""
    assert list(assemble().items()) == list(assemble().items())


def weight(asked: Survey) -> int:
    """Page, style, script, catalogue and spec together."""
    bodies = [*(asset.body for asset in assemble().values()), asked.canonical]
    return sum(len(gzip.compress(body, 9, mtime=0)) for body in bodies)


def test_page_keeps_its_byte_budget() -> None:
    """Five questions."""
    assert weight(demo_survey()) <= BUDGET


def test_page_of_mixed_types_keeps_its_byte_budget() -> None:
    """Ten questions of every type."""
    assert weight(survey(questions=every_type()[:10])) <= LARGE_BUDGET


def test_joined_script_has_no_seams() -> None:
    """Imports, exports and whole-line comments are gone; one comment says where the source is."""
    script = assemble()["respondent.js"].body.decode()

    assert re.findall(r"^(?:import|export)\b.*", script, re.MULTILINE) == []
    assert len(re.findall(r"^\s*(?://|/\*)", script, re.MULTILINE)) == 1


def test_modules_come_after_what_they_need() -> None:
    """Dependencies first, the entry last, and no file of the folder left out."""
    order = list(modules())

    assert order[-1] == "main.js"
    assert order.index("rational.js") < order.index("draws.js") < order.index("respondent.js")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("export default function f() {}\n", "cannot be joined"),
        ("export { f };\n", "cannot be joined"),
        ("export * from './a.js';\n", "cannot be joined"),
        ('import f from "./a.js";\n', "cannot be joined"),
        ('import * as a from "./a.js";\n', "cannot be joined"),
        ('import { one as two } from "./a.js";\n', "not exported"),
        ('import { two } from "./a.js";\n', "not exported"),
        ('import { one } from "./late.js";\n', "not exported"),
        ("const one = 2;\n", "also declared in a.js"),
        ("let count = 0;\n", "cannot be joined"),
        ("const { x } = y;\n", "cannot be joined"),
        ("await fetch('/');\n", "cannot be joined"),
        ("run();\n", "cannot be joined"),
        ("const one = [ // two,\n  2,\n];\n", "beside code"),
        ("const text = `one\n  two`;\n", "lose its indentation"),
        ("function f() {\n  return import('./a.js');\n}\n", "only imported by name"),
    ],
)
def test_join_refuses_what_changes_its_meaning(source: str, message: str) -> None:
    """A construct that is not the same in a shared scope stops the assembler."""
    with pytest.raises(ValueError, match=message):
        join({"a.js": "export const one = 1;\n", "b.js": source, "late.js": "export const late = 1;\n"})


def test_join_drops_only_whole_line_comments() -> None:
    """A comment sign inside a line of code is left alone."""
    comments = "/** Doc: a * b.\n * More.\n */\n// Why.\n"
    source = comments + 'export const url = "https://a";\n\n\n  // gone\nconst b = 1;\n'

    joined = join({"a.js": source}).partition("\n")[2]
    assert joined == 'const url = "https://a";\nconst b = 1;\n'


def test_circle_of_modules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two modules that need each other have no order."""
    sources = {"main.js": 'import { b } from "./b.js";\n', "b.js": 'import { m } from "./main.js";\n'}
    monkeypatch.setattr("sottovoce.client.page._read", sources.__getitem__)
    with pytest.raises(ValueError, match="circle"):
        modules()


def test_catalogue_is_flat_text() -> None:
    """Sentences by key, nothing else, so that other programs can fill them too."""
    catalogue = json.loads(assemble()["catalogues/en.json"].body)

    assert all(isinstance(sentence, str) and sentence for sentence in catalogue.values())
    assert catalogue["language"] == "en"
