"""The assembler: what it joins, what it refuses, what the page weighs."""

import gzip
import json
import re

import pytest
from sottovoce.aggregator.demo.data import demo_survey
from sottovoce.client.page import assemble, join, languages, modules, split
from sottovoce.shared.parsing import parse_survey
from sottovoce.shared.spec import Survey

from tests.surveys import every_type, survey

READY_BUDGET = 24 * 1000
"""Bytes until the form is ready, compressed as a proxy would, with ten questions and one language."""

BUDGET = 30 * 1000
"""Bytes of everything that such a visit ever asks for."""


def ten_coins() -> Survey:
    """The demonstration's questions, twice."""
    asked = json.loads(demo_survey().canonical)
    del asked["privacy"]["max_epsilon_total"]
    again = [
        {**question, "name": f"{question['name']}_2"} for question in asked["questions"] if "public" not in question
    ]
    asked["questions"] = [*asked["questions"], *again, again[0] | {"name": "tenth"}]
    return parse_survey(asked)


def test_assemble_gives_every_file() -> None:
    """The names under which the aggregator serves them, with their types."""
    types = {name: asset.content_type for name, asset in assemble().items()}

    assert types == {
        **{f"catalogues/{tag}.json": "application/json" for tag in languages()},
        "later.js": "text/javascript; charset=utf-8",
        "respondent.css": "text/css; charset=utf-8",
        "respondent.html": "text/html; charset=utf-8",
        "respondent.js": "text/javascript; charset=utf-8",
    }


def test_assemble_is_deterministic() -> None:
    """The same sources give the same bytes in the same order."""
    assert list(assemble().items()) == list(assemble().items())


def weight(asked: Survey, language: str, *left_out: str) -> int:
    """Page, style, scripts, one catalogue and spec together, without these files."""
    others = {f"catalogues/{tag}.json" for tag in languages() if tag != language}
    bodies = [asset.body for name, asset in assemble().items() if name not in {*others, *left_out}]
    return sum(len(gzip.compress(body, 9, mtime=0)) for body in [asked.canonical, *bodies])


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("asked", [ten_coins(), survey(questions=every_type()[:10])], ids=["coins", "mixed"])
def test_page_keeps_its_byte_budget(asked: Survey, language: str) -> None:
    """Ten questions, of one kind and of ten, the page's own sentences in any of its languages."""
    assert language != "en" or weight(asked, language, "later.js") <= READY_BUDGET
    assert weight(asked, language) <= BUDGET


@pytest.mark.parametrize(("file", "seams"), [("respondent.js", ["export"]), ("later.js", ["import", "export"])])
def test_joined_script_has_no_seams(file: str, seams: list[str]) -> None:
    """Inner imports, exports and whole-line comments are gone; one comment says where the source is."""
    script = assemble()[file].body.decode()

    assert re.findall(r"^(?:import|export)\b", script, re.MULTILINE) == seams
    assert len(re.findall(r"^\s*(?://|/\*)", script, re.MULTILINE)) == 1


def test_split_lends_what_the_second_file_needs() -> None:
    """The first file exports exactly what the second imports; a module of both stays in the first."""
    early = {"a.js": "export const one = 1;\nexport const two = 2;\n", "main.js": "const go = 1;\n"}
    late = {"a.js": early["a.js"], "later.js": 'import { two } from "./a.js";\nexport const LATER = { two };\n'}
    first, second = split(early, late)

    assert first.endswith("const one = 1;\nconst two = 2;\nconst go = 1;\nexport { two };\n")
    assert second.endswith('import { two } from "./respondent.js";\nconst LATER = { two };\nexport { LATER };\n')


def test_modules_come_after_what_they_need() -> None:
    """Dependencies first, the entry last; the second file's modules need none that opens the form."""
    order = list(modules("main.js"))

    assert order[-1] == "main.js"
    assert order.index("rational.js") < order.index("draws.js") < order.index("respondent.js")
    assert not {"main.js", "form.js", "loading.js", "respondent.js"} & set(modules("later.js"))


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
