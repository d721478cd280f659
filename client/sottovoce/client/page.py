"""
Assembles the respondent's page: many modules in the source, few requests on the wire.

The modules of ``web/`` are joined, dependencies first, without imports, exports and whole-line comments; nothing is
renamed or shortened, so that whoever reads the served script reads the source. The same sources give the same bytes.
"""

import re
from importlib.resources import files
from typing import NamedTuple

ENTRY = "main.js"

_HEADER = "// Sottovoce, Apache-2.0. Joined from client/sottovoce/client/web by page.py; nothing else was changed.\n"
_IMPORT = re.compile(r'^import \{([\w\s,$]*)\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
_DECLARATION = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let|var) ([\w$]+)", re.MULTILINE)
_TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "json": "application/json"}
_OTHERS = ("respondent.html", "respondent.css", "catalogues/en.json")

# What may stand at the left margin once comments and imports are gone: anything else is not joined safely.
_MARGIN = re.compile(r"(export )?(async )?(function\*?|class|const) [\w$]+|[}\])]|if \(| |$")


class Asset(NamedTuple):
    """One file as it is served."""

    body: bytes
    content_type: str


def assemble() -> dict[str, Asset]:
    """The page's files by the name under which they are served, in a fixed order."""
    assets = {name: Asset(_read(name).encode(), _TYPES[name.rpartition(".")[2]]) for name in _OTHERS}
    assets["respondent.js"] = Asset(join(modules()).encode(), "text/javascript; charset=utf-8")
    return dict(sorted(assets.items()))


def modules() -> dict[str, str]:
    """The source of every module that the entry needs, dependencies first."""
    found: dict[str, str] = {}
    _visit(ENTRY, found, ())
    return found


def join(sources: dict[str, str]) -> str:
    """
    One module from several, given dependencies first.

    Raises:
        ValueError: a default export, a renamed import, two declarations of one name, or another construct that
            means something else once modules share a scope.
    """
    owner: dict[str, str] = {}
    exported: dict[str, set[str]] = {}
    parts = [_HEADER]
    for path, source in sources.items():
        for names, target in _IMPORT.findall(source):
            for name in filter(None, (name.strip() for name in names.split(","))):
                if name not in exported.get(_resolve(path, target), set()):
                    raise ValueError(f"{path}: {name} is not exported by {target}")
        body = _IMPORT.sub("", _COMMENT.sub("", source))
        _check_margin(path, body)
        declared = _DECLARATION.findall(body)
        exported[path] = {name for mark, name in declared if mark}
        for _, name in declared:
            if name in owner:
                raise ValueError(f"{path}: {name} is also declared in {owner[name]}")
            owner[name] = path
        parts.append(re.sub(r"^export ", "", re.sub(r"\n{2,}", "\n", body.strip() + "\n"), flags=re.MULTILINE))
    return "".join(parts)


def _visit(path: str, found: dict[str, str], ancestors: tuple[str, ...]) -> None:
    if path in ancestors:
        raise ValueError(f"{path}: modules import each other in a circle")
    if path in found:
        return
    source = _read(path)
    for _, target in _IMPORT.findall(source):
        _visit(_resolve(path, target), found, (*ancestors, path))
    found[path] = source


def _check_margin(path: str, body: str) -> None:
    for line in body.splitlines():
        if not _MARGIN.match(line):
            raise ValueError(f"{path}: this line cannot be joined with other modules: {line}")
    if re.search(r"\bimport\s*\(|\bimport\.meta\b", body):
        raise ValueError(f"{path}: a module is only imported by name, at the top")


def _resolve(path: str, target: str) -> str:
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _read(path: str) -> str:
    return files("sottovoce.client").joinpath("web", *path.split("/")).read_text(encoding="utf-8")
