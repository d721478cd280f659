"""
Join the browser's modules: many files in the source, few requests on the wire.

Modules are joined, dependencies first, without imports, exports, whole-line comments and indentation; wrapped lines are
joined. Nothing is renamed, so that a reader of the served script reads the source. The same sources give the same
bytes.

The page comes in parts, each a script: ``respondent`` is needed from the link to the first step, and the
others, asked for when they are needed, import from it by name. ``whole`` is all of them in one. The last line, written
here, starts the page with the entries of the parts that are in the script, and says where the script is, and how the
other parts are had. ``previewed`` is all of them before a pretended aggregator, for a researcher's preview.
"""

import re
from importlib.resources import files

PARTS = {
    "respondent": "bundles/main.js",
    "answering": "bundles/answering.js",
    "sending": "bundles/sending.js",
    "more_types": "bundles/more_types.js",
    "waves": "bundles/waves.js",
    "extras": "bundles/extras.js",
    "returning": "bundles/returning.js",
    "blind": "bundles/blind.js",
}
"""The module that each part of the page begins with; the first part opens the form."""

RARE = ("more_types", "waves", "blind")
"""The parts that only few surveys need."""

PREVIEW = "preview/pretend.js"
"""What a researcher's preview of the form has before all that; no respondent is given it."""

_HEADER = "// Sottovoce, Apache-2.0; made by bundle.py\n"
_IMPORT = re.compile(r'^import \{([\w\s,$]*)\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)
_COMMENT = re.compile(r"^[ \t]*(//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
_DECLARATION = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let|var) ([\w$]+)", re.MULTILINE)
_INDENTATION = re.compile(r"^[ \t]+|\n(?=\n)", re.MULTILINE)
_WRAP = re.compile(r"(?<=[{,(\[])\n|,?\n(?=[)\]])|\n(?=})")
_BESIDE = re.compile(r"\s//\s")
_START = "start([MAIN], import.meta.url, (file) => import(`./${file}`));\n"

# What may stand at the left margin once comments and imports are gone: anything else is not joined safely.
_MARGIN = re.compile(r"(export )?(async )?(function\*?|class|const) [\w$]+|[}\])]|if \(| |$")


def modules(*entries: str) -> dict[str, str]:
    """The source of every module that the entries need, by default all, dependencies first."""
    found: dict[str, str] = {}
    for entry in entries or PARTS.values():
        _visit(entry, found, ())
    return found


def parts() -> dict[str, dict[str, str]]:
    """The modules of each part, dependencies first; what two of the later parts need belongs to the first."""
    first, *later = PARTS
    needed = {part: modules(PARTS[part]) for part in later}
    # A module that two later parts need must exist once, or its state would exist twice.
    shared = [path for part in later for path in needed[part] if sum(path in other for other in needed.values()) > 1]
    early = modules(*shared, PARTS[first])
    return {
        first: early,
        **{part: {path: source for path, source in needed[part].items() if path not in early} for part in later},
    }


def split(sources: dict[str, dict[str, str]]) -> dict[str, str]:
    """A script for each part; the later ones import from the first, and export what bears their name."""
    first, *later = sources
    bodies = _bodies({path: source for part in sources.values() for path, source in part.items()})
    joined = {part: "".join(bodies[path] for path in sources[part]) for part in sources}
    borrowed = {part: _borrowed(sources[part], sources[first]) for part in later}
    lent = ", ".join(sorted({name for names in borrowed.values() for name in names}))
    scripts = {first: f"{joined[first]}export {{ {lent} }};\n{_START}"}
    for part in later:
        seam = f'import {{ {", ".join(borrowed[part])} }} from "./{first}.js";\n'
        scripts[part] = f"{seam}{joined[part]}export {{ {part.upper()} }};\n"
    return {part: _HEADER + script for part, script in scripts.items()}


def whole() -> str:
    """Everything in one module: nothing is fetched later."""
    return _whole([], "")


def previewed(is_rare: bool = True) -> str:
    """
    As ``whole``, before a pretended aggregator, and with nothing of the browser's storage.

    Args:
        is_rare: also with the part for surveys whose reports are signed or wait.
    """
    return _whole([PREVIEW], "pretend();\n", frozenset() if is_rare else frozenset({"blind"}))


def _whole(more: list[str], before: str, without: frozenset[str] = frozenset()) -> str:
    first, *later = [part for part in PARTS if part not in without]
    script = join(modules(*(PARTS[part] for part in later), *more, PARTS[first]))
    entries = ", ".join(["MAIN", *(part.upper() for part in later)])
    return f"{script}{before}start([{entries}], import.meta.url);\n"


def join(sources: dict[str, str]) -> str:
    """
    One module from several, given dependencies first.

    Raises:
        ValueError: a default export, a renamed import, two declarations of one name, or another construct that
            means something else once modules share a scope.
    """
    return _HEADER + "".join(_bodies(sources).values())


def _bodies(sources: dict[str, str]) -> dict[str, str]:
    owner: dict[str, str] = {}
    exported: dict[str, set[str]] = {}
    bodies = {}
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
            # Joined modules share one scope, in which a second declaration is a syntax error or, worse, another
            # meaning.
            if name in owner:
                raise ValueError(f"{path}: {name} is also declared in {owner[name]}")
            owner[name] = path
        bodies[path] = _WRAP.sub("", re.sub(r"^export ", "", tidy(body), flags=re.MULTILINE))
    return bodies


def _borrowed(late: dict[str, str], early: dict[str, str]) -> list[str]:
    names = {
        name
        for path, source in late.items()
        for listed, target in _IMPORT.findall(source)
        if _resolve(path, target) in early
        for name in _split(listed)
    }
    return sorted(names)


def tidy(source: str) -> str:
    """A script or a style without whole-line comments, indentation and blank lines."""
    return _INDENTATION.sub("", _COMMENT.sub("", source)).strip() + "\n"


def _visit(path: str, found: dict[str, str], ancestors: tuple[str, ...]) -> None:
    if path in ancestors:
        raise ValueError(f"{path}: modules import each other in a circle")
    if path in found:
        return
    source = read(path)
    for _, target in _IMPORT.findall(source):
        _visit(_resolve(path, target), found, (*ancestors, path))
    found[path] = source


def _check_margin(path: str, body: str) -> None:
    for line in body.splitlines():
        if not _MARGIN.match(line):
            raise ValueError(f"{path}: this line cannot be joined with other modules: {line}")
        if _BESIDE.search(line.lstrip()):
            raise ValueError(f"{path}: a comment beside code would swallow what is joined to it: {line}")
        # Template literals over several lines would change when indentation is removed.
        if line.count("`") % 2:
            raise ValueError(f"{path}: a text over several lines would lose its indentation: {line}")
    if re.search(r"\bimport\s*\(|\bimport\.meta\b", body):
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


def read(path: str) -> str:
    """A source in the folder ``web``."""
    return files("sottovoce.client").joinpath("web", *path.split("/")).read_text(encoding="utf-8")
