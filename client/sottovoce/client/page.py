"""
Assembles the respondent's page: many modules in the source, few requests on the wire.

``respondent.js`` is what stands between the link and the form; ``later.js`` is asked for once the form is ready, or at
once by a survey that needs it. What ``later.js`` needs of the first file it imports from there by name.

The modules of ``web/`` are joined, dependencies first, without imports, exports, whole-line comments and indentation;
wrapped lines are joined, and the style is treated alike. Nothing is renamed, so that whoever reads the served script
reads the source. The same sources give the same bytes.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import NamedTuple

ENTRY = "main.js"
LATER = "later.js"
PAGE = "respondent.html"

_HEADER = "// Sottovoce, Apache-2.0; made by page.py\n"
_IMPORT = re.compile(r'^import \{([\w\s,$]*)\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
_DECLARATION = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let|var) ([\w$]+)", re.MULTILINE)
_INDENTATION = re.compile(r"^[ \t]+|\n(?=\n)", re.MULTILINE)
_WRAP = re.compile(r"(?<=[{,(\[])\n|,?\n(?=[)\]])|\n(?=})")
_BESIDE = re.compile(r"\S.*\s//\s")
_EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
_LENT = re.compile(r"^export \{[^}]*\};$", re.MULTILINE)
_LOADING = "import(`./later.js${again}`)"
_TYPES = {
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
}

# What may stand at the left margin once comments and imports are gone: anything else is not joined safely.
_MARGIN = re.compile(r"(export )?(async )?(function\*?|class|const) [\w$]+|[}\])]|if \(| |$")


class Asset(NamedTuple):
    """One file as it is served."""

    body: bytes
    content_type: str


def assemble() -> dict[str, Asset]:
    """The page's files by the name under which they are served, in a fixed order."""
    early, late = split(modules(ENTRY), modules(LATER))
    texts = {
        **{f"catalogues/{tag}.json": _compact(f"catalogues/{tag}.json") for tag in languages()},
        "later.js": late,
        "respondent.css": re.sub(r"(?<=[{;,])\n", "", tidy(_read("respondent.css"))),
        PAGE: _read(PAGE),
        "respondent.js": early,
    }
    return {name: Asset(text.encode(), _TYPES[name.rpartition(".")[2]]) for name, text in texts.items()}


def path_of(name: str, survey: str) -> str:
    """The path under which an aggregator serves a file of the page."""
    return f"/s/{survey}" if name == PAGE else f"/assets/{name}"


def languages() -> list[str]:
    """The tags of the catalogues that there are, sorted."""
    names = (item.name for item in files("sottovoce.client").joinpath("web", "catalogues").iterdir())
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json"))


def modules(*entries: str) -> dict[str, str]:
    """The source of every module that the entries need, by default all, dependencies first."""
    found: dict[str, str] = {}
    for entry in entries or (ENTRY, LATER):
        _visit(entry, found, ())
    return found


def split(early: dict[str, str], late: dict[str, str]) -> tuple[str, str]:
    """Two modules: the early one, and one of what only ``late`` has, which imports the rest from the early one."""
    late = {path: source for path, source in late.items() if path not in early}
    parts = _parts({**early, **late})
    lent = {
        name
        for path, source in late.items()
        for names, target in _IMPORT.findall(source)
        if _resolve(path, target) in early
        for name in _split(names)
    }
    names = ", ".join(sorted(lent))
    first = "".join(parts[path] for path in early) + f"export {{ {names} }};\n"
    second = f'import {{ {names} }} from "./respondent.js";\n' + "".join(parts[path] for path in late)
    return _HEADER + first, f"{_HEADER}{second}export {{ LATER }};\n"


def opened(scripts: Mapping[str, str] | None = None) -> dict[str, str]:
    """
    The page's scripts with last lines that let an audit or a test reach all that their modules export.

    Args:
        scripts: by name, as they were served; by default our own.
    """
    early = modules(ENTRY)
    late = {path: source for path, source in modules(LATER).items() if path not in early}
    found = {}
    for name, sources in (("respondent.js", early), ("later.js", late)):
        script = assemble()[name].body.decode() if scripts is None else scripts[name]
        names = _EXPORTED.findall("".join(sources.values()))
        found[name] = f"{_LENT.sub('', script)}export {{ {', '.join(names)} }};\n"
    return found


def join(sources: dict[str, str]) -> str:
    """
    One module from several, given dependencies first.

    Raises:
        ValueError: a default export, a renamed import, two declarations of one name, or another construct that
            means something else once modules share a scope.
    """
    return _HEADER + "".join(_parts(sources).values())


def _parts(sources: dict[str, str]) -> dict[str, str]:
    owner: dict[str, str] = {}
    exported: dict[str, set[str]] = {}
    parts = {}
    for path, source in sources.items():
        for names, target in _IMPORT.findall(source):
            for name in _split(names):
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
        parts[path] = _WRAP.sub("", re.sub(r"^export ", "", tidy(body), flags=re.MULTILINE))
    return parts


def tidy(source: str) -> str:
    """A script or a style without whole-line comments, indentation and blank lines."""
    return _INDENTATION.sub("", _COMMENT.sub("", source)).strip() + "\n"


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
        if _BESIDE.search(line):
            raise ValueError(f"{path}: a comment beside code would swallow what is joined to it: {line}")
        if line.count("`") % 2:
            raise ValueError(f"{path}: a text over several lines would lose its indentation: {line}")
    if re.search(r"\bimport\s*\(|\bimport\.meta\b", body.replace(_LOADING, "")):
        raise ValueError(f"{path}: a module is only imported by name, at the top")


def _split(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


def _resolve(path: str, target: str) -> str:
    parts = path.split("/")[:-1]
    for part in target.split("/"):
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _compact(path: str) -> str:
    return json.dumps(json.loads(_read(path)), ensure_ascii=False, separators=(",", ":"))


def _read(path: str) -> str:
    return files("sottovoce.client").joinpath("web", *path.split("/")).read_text(encoding="utf-8")
