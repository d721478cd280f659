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


@pytest.mark.parametrize("path", SOURCES)
def test_module_imports_only_what_its_folder_may(path: str) -> None:
    """No arrow goes up, and nothing imports a bundle."""
    assert forbidden(path, SOURCES[path]) == []


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("registry.js", "./survey/errors.js"),
        ("survey/parse_item.js", "../device/draws.js"),
        ("survey/mechanisms/geometric.js", "../../form/dom.js"),
        ("device/respondent.js", "../form/dom.js"),
        ("device/respondent.js", "../bundles/waves.js"),
        ("form/form.js", "../bundles/answering.js"),
        ("form/steps/practice.js", "../../bundles/extras.js"),
        ("bundles/main.js", "./waves.js"),
        ("bundles/main.js", "../registry.js"),
    ],
)
def test_import_rule_catches_a_breach(path: str, target: str) -> None:
    """The rules would catch these."""
    assert forbidden(path, f'{SOURCES[path]}import {{ x }} from "{target}";\n') != []


@pytest.mark.parametrize("path", SOURCES)
def test_module_knows_no_part(path: str) -> None:
    """What is needed is asked for by its own name."""
    assert not knows_parts(path, SOURCES[path])


@pytest.mark.parametrize(
    "line", ['load("waves");', "import(`more_types.js`);", 'const part = "extras";', 'const file = "waves.js";']
)
def test_rule_about_parts_catches_a_breach(line: str) -> None:
    """The rule would catch these."""
    assert knows_parts("form/form.js", line)


@pytest.mark.parametrize("path", [path for path in modules() if path.startswith("bundles/")])
def test_bundle_is_a_list(path: str) -> None:
    """Imports and one export; every import is in it."""
    source = SOURCES[path]
    names = re.findall(r"\w+", " ".join(re.findall(r"^import \{([^}]*)\}", source, re.MULTILINE)))

    assert is_bundle(source)
    assert [name for name in names if len(re.findall(rf"\b{name}\b", source)) < 2] == []


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
