"""The assembler of scripts: what it joins, and what it refuses."""

import re
from functools import cache

import pytest
from sottovoce.client.bundle import PARTS, join, modules, parts, split, whole

from tests.page_files import page_files


@cache
def scripts() -> dict[str, str]:
    files = page_files()
    return {part: files[f"{part}.js"].body.decode() for part in PARTS}


def test_joined_script_has_no_seams() -> None:
    for part, script in scripts().items():
        seams = ["export"] if part == "respondent" else ["import", "export"]

        assert re.findall(r"^(?:import|export)\b", script, re.MULTILINE) == seams, part
        assert len(re.findall(r"^\s*(?://|/\*)", script, re.MULTILINE)) == (part == "respondent"), part


def test_split_lends_what_the_later_parts_need() -> None:
    """The first part exports exactly what the others import, and they what arrives with them."""
    early = {
        "a.js": "export const one = 1;\nexport const two = 2;\n",
        "main.js": 'const go = () => import("./late.js").then(({ three }) => three);\n',
    }
    late = {
        "late.js": 'import { two } from "./a.js";\n'
        'export const three = async () => (await import("./more.js")).five;\nconst four = two;\n'
    }
    more = {"more.js": 'import { one } from "./a.js";\nexport const five = one;\n', "own.js": "export const six = 6;\n"}
    scripts = split({"respondent": early, "answering": late, "extras": more})

    early_script = (
        'const one = 1;\nconst two = 2;\nconst go = () => arriving("answering").then(({ three }) => three);\n'
        "export { arriving, one, two };\nstart(import.meta.url, "
    )
    assert early_script in scripts["respondent"]
    assert scripts["answering"].endswith(
        'import { arriving, two } from "./respondent.js";\n'
        'const three = async () => (await arriving("extras")).five;\nconst four = two;\n'
        "export { three };\n"
    )
    assert scripts["extras"].endswith(
        'import { one } from "./respondent.js";\nconst five = one;\nconst six = 6;\nexport { five };\n'
    )


@pytest.mark.parametrize("target", ["a.js", "nowhere.js"])
def test_only_a_module_of_a_later_part_arrives(target: str) -> None:
    """What the first part has is there already; what no part has never comes."""
    early = {"a.js": "export const one = 1;\n", "main.js": f'const go = () => import("./{target}");\n'}
    with pytest.raises(ValueError, match="arrives later"):
        split({"respondent": early, "answering": {"late.js": "export const two = 2;\n"}})


def test_module_of_two_later_parts_belongs_to_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """No module is there twice: what it remembers would be too. The page's own entry stays last."""
    sources = {
        "form/main.js": "const go = 1;\n",
        "form/both.js": "export const both = 1;\n",
        "form/late.js": 'import { both } from "./both.js";\nexport const X = both;\n',
        "form/other.js": 'import { both } from "./both.js";\nexport const Y = both;\n',
    }
    entries = {"respondent": ("form/main.js",), "answering": ("form/late.js",), "extras": ("form/other.js",)}
    monkeypatch.setattr("sottovoce.client.bundle.read", sources.__getitem__)
    monkeypatch.setattr("sottovoce.client.bundle.PARTS", entries)

    assert {part: list(found) for part, found in parts().items()} == {
        "respondent": ["form/both.js", "form/main.js"],
        "answering": ["form/late.js"],
        "extras": ["form/other.js"],
    }


def test_modules_come_after_what_they_need() -> None:
    order = list(modules("form/start.js"))

    assert order[-1] == "form/start.js"
    assert order.index("survey/rational.js") < order.index("device/draws.js") < order.index("device/respondent.js")
    later = modules(*(entry for part, entries in PARTS.items() for entry in entries if part != "respondent"))
    assert not {"form/start.js", "form/form.js"} & set(later)


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
    comments = "/** Doc: a * b.\n * More.\n */\n// Why.\n"
    source = comments + 'export const url = "https://a";\n\n\n  // gone\nconst b = 1;\n'

    joined = join({"a.js": source}).partition("\n")[2]
    assert joined == 'const url = "https://a";\nconst b = 1;\n'


def test_joined_module_is_taken_where_it_stands() -> None:
    """By its own names, or as a whole under a name that none of them can hide; what is not there does not arrive."""
    early = (
        'const go = async () => [await import("./late.js"), await import("./lost.js")];\nasync function run() {\n'
        '  const { one } = await import("./late.js");\n  return one + (await import("./late.js")).one;\n}\n'
    )
    joined = join({"late.js": "export const one = 1;\n", "main.js": early}).partition("\n")[2]

    assert joined == (
        'const one = 1;\nconst go = async () => [await Promise.resolve(MODULES["late.js"]), await arriving("")];\n'
        'async function run() {return one + one;}\nconst MODULES = {"late.js": { one },\n};\n'
    )


def test_circle_of_modules_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {"form/start.js": 'import { b } from "./b.js";\n', "form/b.js": 'import { m } from "./start.js";\n'}
    monkeypatch.setattr("sottovoce.client.bundle.read", sources.__getitem__)
    with pytest.raises(ValueError, match="circle"):
        modules()


def test_whole_script_loads_nothing_later() -> None:
    """One module without seams, with all that both files hold; and nothing that would end a script element."""
    script = whole()

    assert re.findall(r"^(?:import|export)\b|import\(", script, re.MULTILINE) == []
    assert sorted(re.findall(r"^(?:function|class) \w+", script, re.M)) == sorted(
        name for script in scripts().values() for name in re.findall(r"^(?:function|class) \w+", script, re.M)
    )
    assert "</script" not in script
    assert "<!--" not in script
