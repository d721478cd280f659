"""Join the browser's modules: many files in the source, few requests on the wire.

Modules are joined, dependencies first, without imports, exports, whole-line comments and indentation; wrapped lines are
joined. Nothing is renamed, so that a reader of the served script reads the source. The same sources give the same
bytes.

The page comes in parts, each a script: ``respondent`` is needed from the link to the first step, and the
others, asked for when they are needed, import from it by name. Where a module says ``import(...)``, the script has
``arriving(...)`` of ``parts.js``, with the part that holds the imported module. ``whole`` is all of them in one, with
what is imported in place. The last line, written here, starts the page, and says where the script is, and how the
other parts are had. ``previewed`` is all of them before a pretended aggregator, for a researcher's preview.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from posixpath import dirname, join as join_path, normpath

from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.survey_keys import DEFAULTS, MARKS, REQUIRED, SURVEY, SURVEY_MARKS, SURVEY_TEXTS

PARTS = {
    "respondent": ("form/start.js",),
    "answering": ("form/steps_flow.js", "form/language_choice.js"),
    "sending": ("form/after_send.js", "device/answer_path.js", "form/steps/receipt.js"),
    "more_types": (
        "survey/rare.js",
        "survey/more_items.js",
        "device/randomizers.js",
        "form/number_input.js",
        "form/rare_items.js",
    ),
    "waves": ("survey/mechanisms/memoized_rr.js", "survey/waves.js", "survey/sentences/wave.js", "device/memo.js"),
    "asked": ("survey/asked.js", "device/question_sample.js"),
    "coins": ("survey/own_coin.js", "form/by_hand/own_coin_view.js"),
    "orders": ("survey/order/order.js", "device/order_draw.js"),
    "arms": ("survey/arms/arms.js", "device/arm_draw.js"),
    "blocks": ("survey/blocks.js", "device/joint_rr.js"),
    "extras": ("form/folds.js", "form/saving.js", "form/steps/before.js", "form/steps/withdraw.js"),
    "sections": ("form/steps/sections.js",),
    "facts": ("survey/by_hand/innocuous.js", "form/by_hand/second_statement.js"),
    "leaving": ("form/leaving.js",),
    "institution": ("form/institution.js",),
    "kiosk": ("form/kiosk.js",),
    "screening": ("survey/screen_out.js",),
    "returning": ("form/steps/refused.js", "device/revisions.js"),
    "blind": ("form/steps/later.js", "device/waiting.js", "device/redemption.js", "survey/redemption.js"),
}
"""The modules that each part of the page begins with; those of the first open the form."""

RARE = (
    *("more_types", "waves", "asked", "coins", "facts", "orders", "arms", "blocks", "leaving", "kiosk", "screening"),
    *("blind", "institution", "sections"),
)
"""The parts that only few surveys need."""

FOR_RARE_PREVIEWS = tuple(part for part in RARE if part != "more_types")
"""The parts that most previews go without."""

PREVIEW = "preview/pretend.js"
"""The module that a researcher's preview has before all others; no respondent is given it."""

LISTS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "survey/keys/survey.js": {
        # Canonical form has every default written out, so what an author may leave out is required there.
        "SURVEY_REQUIRED": sorted(REQUIRED | DEFAULTS),
        "SURVEY_OPTIONAL": [key for key in SURVEY if key not in {*REQUIRED, *DEFAULTS}],
        "SURVEY_TEXTS": SURVEY_TEXTS,
        "SURVEY_MARKS": SURVEY_MARKS,
    },
    "survey/keys/item.js": {"ITEM_MARKS": sorted(MARKS)},
}
"""The modules that are made from the table of the survey's keys: names of lists, and the keys in them."""

_SECTION = re.compile(r"survey/sentences/(\w+)\.js")
_HEADER = "// Sottovoce, Apache-2.0; made by bundle.py\n"
_IMPORT = re.compile(r'^import \{([\w\s,$]*)\} from "(\.[\w./-]+\.js)";\n', re.MULTILINE)
_LATER = re.compile(r'\bimport\("(\.[\w./-]+\.js)"\)')
_BY_NAME = re.compile(
    r'^[ \t]*const \{ [\w, ]+ \} = await import\("([^"]+)"\);\n|\(await import\("([^"]+)"\)\)\.', re.MULTILINE
)
_COMMENT = re.compile(r"^[ \t]*(//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
_DECLARATION = re.compile(r"^(export )?(?:async )?(?:function\*?|class|const|let|var) ([\w$]+)", re.MULTILINE)
_INDENTATION = re.compile(r"^[ \t]+|\n(?=\n)", re.MULTILINE)
_WRAP = re.compile(r"(?<=[{,(\[])\n|,?\n(?=[)\]])|\n(?=})")
_WORD = re.compile(r"[\w$]+")
_BESIDE = re.compile(r"\s//\s")
_START = "start(import.meta.url, (file) => import(`./${file}`));\n"

# What may stand at the left margin once comments and imports are gone: anything else is not joined safely.
_MARGIN = re.compile(r"(export )?(async )?(function\*?|class|const) [\w$]+|[}\])]|if \(| |$")


def modules(*entries: str) -> dict[str, str]:
    """Return the source of every module that the entries need, by default all, dependencies first."""
    found: dict[str, str] = {}
    for entry in entries or [entry for each in PARTS.values() for entry in each]:
        _visit(entry, found, ())
    return found


def parts() -> dict[str, dict[str, str]]:
    """Return the modules of each part, dependencies first; what two of the later parts need belongs to the first."""
    first, *later = PARTS
    needed = {part: modules(*PARTS[part]) for part in later}
    # A module that two later parts need must exist once, or its state would exist twice.
    shared = [path for part in later for path in needed[part] if sum(path in other for other in needed.values()) > 1]
    early = modules(*shared, *PARTS[first])
    return {
        first: early,
        **{part: {path: source for path, source in needed[part].items() if path not in early} for part in later},
    }


def split(sources: dict[str, dict[str, str]]) -> dict[str, str]:
    """Make a script for each part; the later ones import from the first, and export what is imported when they arrive.
    Raises ValueError if a module that arrives later is in no later part, or ``join`` raises it.
    """
    first, *later = sources
    together = {path: source for part in sources.values() for path, source in part.items()}
    holders = {path: part for part in later for path in sources[part]}
    bodies = _bodies(together, lambda path: f'arriving("{_holder(path, holders)}")')
    joined = {part: "".join(bodies[path] for path in sources[part]) for part in sources}
    borrowed = {part: _borrowed(sources[part], sources[first]) for part in later}
    lent = ", ".join(sorted({name for names in borrowed.values() for name in names}))
    scripts = {first: f"{_HEADER}{joined[first]}export {{ {lent} }};\n{_START}"}
    wanted = {target for path, source in together.items() for target in _arrivals(path, source)}
    for part in later:
        names = [name for path in sources[part] if path in wanted for name in _named_elsewhere(path, together)]
        seam = f'import {{ {", ".join(borrowed[part])} }} from "./{first}.js";\n'
        scripts[part] = f"{seam}{joined[part]}export {{ {', '.join(names)} }};\n"
    return scripts


def previewed(is_rare: bool = True) -> str:
    """Return ``whole`` before a pretended aggregator, with nothing of the browser's storage.

    ``is_rare`` adds ``FOR_RARE_PREVIEWS``.
    """
    return whole([PREVIEW], "pretend();\n", () if is_rare else FOR_RARE_PREVIEWS)


def whole(more: Sequence[str] = (), before: str = "", without: Sequence[str] = ()) -> str:
    """Return everything in one module, so that nothing is fetched later; ``more`` modules come first, ``before`` is
    called first.
    """
    first, *later = [part for part in PARTS if part not in without]
    script = join(modules(*(entry for part in later for entry in PARTS[part]), *more, *PARTS[first]))
    return f"{script}{before}start(import.meta.url);\n"


def join(sources: dict[str, str]) -> str:
    """Join modules, given dependencies first.

    Raises ValueError for a default export, a renamed import, two declarations of one name, or another construct that
    means something else once modules share a scope.
    """
    sources = {path: _without_arrivals(path, source, sources) for path, source in sources.items()}
    present = {target for path, source in sources.items() for target in _arrivals(path, source)} & sources.keys()
    named = [f'"{path}": {{ {", ".join(_named_elsewhere(path, sources))} }},\n' for path in sorted(present)]
    # What is not in the script does not arrive.
    bodies = _bodies(sources, lambda path: f'Promise.resolve(MODULES["{path}"])' if path in present else 'arriving("")')
    return "".join([_HEADER, *bodies.values(), *(["const MODULES = {", *named, "};\n"] if named else [])])


def _without_arrivals(path: str, source: str, sources: Mapping[str, str]) -> str:
    """Return a source that takes by name what would arrive by name: it is in the same script."""
    return _BY_NAME.sub(lambda found: "" if _resolve(path, found[1] or found[2]) in sources else found[0], source)


def _holder(path: str, holders: Mapping[str, str]) -> str:
    if path not in holders:
        raise ValueError(f"{path}: nothing of the first part arrives later, and no later part has this module")
    return holders[path]


def _bodies(sources: dict[str, str], arrival: Callable[[str], str]) -> dict[str, str]:
    """Return the modules as they are joined; ``arrival`` gives what stands for the import of a module that arrives
    later.
    """
    owner: dict[str, str] = {}
    exported: dict[str, set[str]] = {}
    bodies = {}
    for path, source in sources.items():
        for names, target in _IMPORT.findall(source):
            for name in _split(names):
                if name not in exported.get(_resolve(path, target), set()):
                    raise ValueError(f"{path}: {name} is not exported by {target}")
        body = _IMPORT.sub("", _COMMENT.sub("", source))
        for target in _LATER.findall(body):
            body = body.replace(f'import("{target}")', arrival(_resolve(path, target)))
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
    # What stands in the place of an import is of the first part, too.
    return sorted(names | ({"arriving"} if any(_LATER.search(source) for source in late.values()) else set()))


def _arrivals(path: str, source: str) -> list[str]:
    """Return the modules that a source imports when it needs them."""
    return [_resolve(path, target) for target in _LATER.findall(_COMMENT.sub("", source))]


def _named_elsewhere(path: str, sources: Mapping[str, str]) -> list[str]:
    """Return what a module exports and another one names: the rest is for tests and twins."""
    others = [_words(source) for other, source in sources.items() if other != path]
    exported = _DECLARATION.findall(_COMMENT.sub("", sources[path]))
    return [name for mark, name in exported if mark and any(name in words for words in others)]


@cache
def _words(source: str) -> frozenset[str]:
    return frozenset(_WORD.findall(source))


def tidy(source: str) -> str:
    """Return a script or a style without whole-line comments, indentation and blank lines."""
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
    return normpath(join_path(dirname(path), target))


def read(path: str) -> str:
    """Return a source in the folder ``web``, or a module made here: of a section of the catalogues, or of keys."""
    if section := _SECTION.fullmatch(path):
        texts = {tag: sentences(tag)[section[1]] for tag in LANGUAGES}
        return f"export const {section[1].upper()}_SENTENCES = {json.dumps(texts, ensure_ascii=False, indent=2)};\n"
    if lists := LISTS.get(path):
        return "".join(f"export const {name} = {json.dumps(keys)};\n" for name, keys in lists.items())
    return files("sottovoce.client").joinpath("web", *path.split("/")).read_text(encoding="utf-8")


@cache
def sentences(tag: str) -> dict[str, dict[str, str]]:
    """Return a language's sentences by section; those that every page has are under the empty name."""
    found: dict[str, str | dict[str, str]] = json.loads(read(f"catalogues/{tag}.json"))
    sections = {name: texts for name, texts in found.items() if isinstance(texts, dict)}
    return {"": {key: text for key, text in found.items() if isinstance(text, str)}, **sections}
