"""Who may import whom among the browser's modules."""

import re
from graphlib import TopologicalSorter

from sottovoce.client.bundle import parts

from tests.unit.client.test_web_sources import SOURCES

RULES = {
    # folder: what its modules may import
    "survey": ("survey",),
    "device": ("survey", "device"),
    "form": ("survey", "device", "form"),
    "preview": ("survey", "preview"),
    "question": ("survey", "device", "form", "question"),
    "try": ("survey", "device", "form", "question", "try"),
}
IMPORT = re.compile(r'(?:^import [^;]* from |\bimport\()"([^"]+)"', re.MULTILINE)


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


def test_every_module_imports_only_what_its_folder_may() -> None:
    """No arrow goes up, at once or later."""
    found = {path: forbidden(path, source) for path, source in SOURCES.items()}
    assert {path: targets for path, targets in found.items() if targets} == {}


def test_no_circle_of_modules() -> None:
    """What is imported later counts as well."""
    graph = {path: imports_of(path, source) for path, source in SOURCES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(SOURCES)


def test_import_rule_catches_breaches() -> None:
    """The rules would catch these."""
    breaches = [
        ("survey/parse_item.js", "../device/draws.js"),
        ("survey/mechanisms/numbers.js", "../../form/dom.js"),
        ("device/respondent.js", "../form/dom.js"),
        ("preview/pretend.js", "../device/draws.js"),
    ]
    wrong = [form for path, to in breaches
             for form in (f'import {{ x }} from "{to}";', f'const x = await import("{to}");')
             if not forbidden(path, f"{SOURCES[path]}{form}\n")]  # fmt: skip
    assert wrong == []


def test_nothing_of_the_first_part_arrives_later() -> None:
    """What is there already is imported at once; every other module is in one part."""
    first, *later = parts().values()
    arriving = {target for path, source in SOURCES.items()
                for target in imports_of(path, "\n".join(re.findall(r'import\("[^"]+"', source)))}  # fmt: skip

    assert arriving
    assert arriving & first.keys() == set()
    assert [target for target in arriving if sum(target in part for part in later) != 1] == []
