"""Who may import whom among the browser's modules, and what only the registry and the bundles may know."""

import re

import pytest
from sottovoce.client.bundle import PARTS, modules

from tests.unit.client.test_web_sources import SOURCES

RULES = {
    # folder: what its modules may import
    "registry.js": (),
    "survey": ("survey", "registry.js"),
    "device": ("survey", "device", "registry.js"),
    "form": ("survey", "device", "form", "registry.js"),
    "preview": ("survey", "preview"),
    "bundles": ("survey", "device", "form"),
}
IMPORT = re.compile(r'^import [^;]* from "([^"]+)";$', re.MULTILINE)
BUNDLE = re.compile(
    r"(?:import \{[^}]*\} from \"[^\"]+\";\n)+\n/\*\*(?:[^*]|\*(?!/))*\*/\nexport const [A-Z_]+ = \{[\w\s,:{}]*\};\n"
)


def imports_of(path: str, source: str) -> list[str]:
    """The modules that a source imports, as paths in the folder."""
    found = []
    for target in IMPORT.findall(source):
        parts = path.split("/")[:-1]
        for step in target.split("/"):
            if step == "..":
                parts.pop()
            elif step != ".":
                parts.append(step)
        found.append("/".join(parts))
    return found


def forbidden(path: str, source: str) -> list[str]:
    """The imports that the rule of its folder does not allow."""
    allowed = RULES[path.partition("/")[0]]
    return [target for target in imports_of(path, source) if target.partition("/")[0] not in allowed]


def knows_parts(path: str, source: str) -> bool:
    """Whether a module names a later part of the page, where only the registry and the bundles may."""
    later = "|".join(part for part in PARTS if part != "respondent")
    # `waves` and `blind` are keys of a survey too, and `sending` a sentence; as a part each would be an only argument.
    alone = "|".join(part for part in later.split("|") if part not in {"waves", "blind", "sending"})
    named = rf'["`]({later})\.js["`]|\w\(["`]({later})["`]\)|["`]({alone})["`]'
    return path != "registry.js" and re.search(named, source) is not None


def is_bundle(source: str) -> bool:
    """Whether a source is imports and one export, a list without logic."""
    return BUNDLE.fullmatch(source) is not None


def test_every_module_imports_only_what_its_folder_may() -> None:
    """No arrow goes up, and nothing imports a bundle."""
    found = {path: forbidden(path, source) for path, source in SOURCES.items()}
    assert {path: targets for path, targets in found.items() if targets} == {}


def test_import_rule_catches_breaches() -> None:
    """The rules would catch these."""
    breaches = [
        ("registry.js", "./survey/errors.js"),
        ("survey/parse_item.js", "../device/draws.js"),
        ("survey/mechanisms/geometric.js", "../../form/dom.js"),
        ("device/respondent.js", "../form/dom.js"),
        ("device/respondent.js", "../bundles/waves.js"),
        ("form/form.js", "../bundles/answering.js"),
        ("form/steps/practice.js", "../../bundles/extras.js"),
        ("bundles/main.js", "./waves.js"),
        ("bundles/main.js", "../registry.js"),
    ]
    sources = {(path, to): f'{SOURCES[path]}import {{ x }} from "{to}";\n' for path, to in breaches}
    assert [breach for breach, source in sources.items() if not forbidden(breach[0], source)] == []


def test_no_module_knows_a_part() -> None:
    """What is needed is asked for by its own name."""
    assert [path for path, source in SOURCES.items() if knows_parts(path, source)] == []


def test_rule_about_parts_catches_breaches() -> None:
    """The rule would catch these."""
    lines = ['load("waves");', "import(`more_types.js`);", 'const part = "extras";', 'const file = "waves.js";']
    assert [line for line in lines if not knows_parts("form/form.js", line)] == []


def test_every_bundle_is_a_list() -> None:
    """Imports and one export; every import is in it."""
    bundles = {path: SOURCES[path] for path in modules() if path.startswith("bundles/")}
    imported = [(path, name) for path, source in bundles.items()
                for names in re.findall(r"^import \{([^}]*)\}", source, re.MULTILINE)
                for name in re.findall(r"\w+", names)]  # fmt: skip

    assert [path for path, source in bundles.items() if not is_bundle(source)] == []
    assert [(path, name) for path, name in imported if len(re.findall(rf"\b{name}\b", bundles[path])) < 2] == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("export const WAVES", "const COUNT = 1;\n\nexport const WAVES"),
        ("memoized_rr: MemoizedRR", "memoized_rr: MemoizedRR.parse()"),
        ("memoized_rr: MemoizedRR", "memoized_rr: () => MemoizedRR"),
        ("\n};\n", "\n};\n\nexport function more() {}\n"),
        ("\n};\n", "\n};\n\nexport const MORE = {};\n"),
    ],
)
def test_rule_about_bundles_catches_a_breach(right: str, wrong: str) -> None:
    """The rule would catch these."""
    source = SOURCES["bundles/waves.js"]
    assert right in source
    assert not is_bundle(source.replace(right, wrong, 1))
