"""Rules of the browser's sources, who may import whom too, that a reader could check by eye."""

import re
from graphlib import TopologicalSorter
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from sottovoce.client.bundle import modules, parts, sentences

from tests.unit.client.test_catalogues import catalogue

WEB = files("sottovoce.client").joinpath("web")

APART = (
    "preview/aggregator.js",
    "preview/follow.js",
    "preview/pretend.js",
    "preview/storage.js",
    "try/estimate.js",
    "try/try.js",
    *(f"question/{path.name}" for path in WEB.joinpath("question").iterdir() if path.name.endswith(".js")),
)

"""Modules that no respondent's page asks for: as strictly kept as the others."""


def apart() -> dict[str, str]:
    asked = modules()
    return {path: WEB.joinpath(path).read_text(encoding="utf-8") for path in APART if path not in asked}


MADE = ("survey/sentences/", "survey/keys/")

"""Modules that are made from the catalogues and the table of the survey's keys."""

SOURCES = {path: source for path, source in {**modules(), **apart()}.items() if not path.startswith(MADE)}

CATALOGUE = {key: text for key, text in catalogue("en").items() if key not in sentences("en")["terminal"]}

HISTORY = r"history\.|pushState|replaceState"

# Signed 32-bit operations would make a draw beyond 2^31 negative.
BITWISE = r"[^|]\|[^|]|[^&]&[^&]|<<|>>|\^(?![\[(\\/])"

STORAGE = r"localStorage|sessionStorage|document\.cookie"

FORBIDDEN = (
    r"Math\.random",
    r"\beval\b|new Function|setTimeout\(\s*[\"'`]",
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment",
    STORAGE,
    HISTORY,
    r"location\.(href|hash|search)\s*=",
    r"sendBeacon|XMLHttpRequest|WebSocket|EventSource",
    r"console\.(log|info|debug|warn)",
    r"https?://",
    BITWISE,
)


def code_of(source: str) -> str:
    """A source without its comments, texts and regular expressions."""
    code = re.sub(r"^\s*(//.*|/\*(.|\n)*?\*/)$", "", source, flags=re.MULTILINE)
    return re.sub(r'"[^"\n]*"|/\^?[\[(\\][^\n]*?/[a-z]*(?=[;.,)])', '""', code)


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


def test_sources_avoid_what_could_betray_or_bias_and_the_rules_catch_it() -> None:
    code = {path: code_of(source) for path, source in SOURCES.items()}
    found = [(path, pattern) for path in code for pattern in FORBIDDEN if re.search(pattern, code[path])]
    # A signature's mask is laid over numbers of any length, which have no 32 bits to overflow. Steps are in the
    # browser's history by their number, with the language that was chosen; who leaves at once, or hands the device
    # on, leaves none of them there. A single question's frame has no database, and few lines to remember.
    assert sorted(found) == [
        ("form/kiosk.js", HISTORY),
        ("form/language_choice.js", HISTORY),
        ("form/leaving.js", HISTORY),
        ("form/start.js", HISTORY),
        ("form/step_view.js", HISTORY),
        ("question/draws_once.js", STORAGE),
        ("survey/blind_signatures.js", BITWISE),
    ]

    lines = [
        "const u = Math.random();",
        "node.innerHTML = text;",
        "localStorage.setItem(key, value);",
        "const mask = (1 << bits) - 1;",
        "const low = value & mask;",
        "const all = a | b;",
        "location.hash = answer;",
        "console.log(answers);",
    ]
    assert [line for line in lines if not any(re.search(pattern, code_of(line)) for pattern in FORBIDDEN)] == []


def test_means_stay_in_their_module() -> None:
    """One module speaks to the network (and the entry loads the catalogue), one remembers, one keeps, one erases."""
    means = {
        "fetch": {"device/transport.js", "form/start.js"},
        "indexedDB": {"device/ledger.js", "form/kiosk.js"},
        "caches": {"device/offline.js"},
        "serviceWorker": {"device/offline.js"},
        "postMessage": {"question/element.js", "question/frame.js", "question/window.js"},
        "localStorage": {"question/draws_once.js"},
    }
    code = {path: code_of(source) for path, source in SOURCES.items()}
    assert means == {word: {path for path in code if re.search(rf"\b{word}\b", code[path])} for word in means}


def test_no_module_is_forgotten() -> None:
    scripts = {path.relative_to(str(WEB)).as_posix() for path in Path(str(WEB)).rglob("*.js")}

    # The service worker is a program of its own.
    assert scripts == {*SOURCES, "sw.js"}


def test_sources_are_small_and_documented() -> None:
    """At most 300 lines; every export is introduced by a comment."""
    lines = {path: ["", *source.splitlines()] for path, source in SOURCES.items()}
    exports = [(path, before, line) for path in lines for before, line in pairwise(lines[path])
               if line.startswith("export ")]  # fmt: skip

    assert [path for path in lines if len(lines[path]) > 301] == []
    assert [(path, line) for path, before, line in exports if not before.rstrip().endswith("*/")] == []


def test_style_knows_no_left_and_right() -> None:
    """Whatever stands at the start of a line stands there in every script."""
    style = re.sub(r"/\*.*?\*/", "", WEB.joinpath("respondent.css").read_text(encoding="utf-8"), flags=re.DOTALL)
    sided = re.findall(r"[^{};]*\b(?:left|right)\b[^{};]*", style)
    # Four lengths in a row are top, right, bottom, left.
    four = re.findall(r"(?:margin|padding|inset|radius|border-[a-z]+)\s*:(?:\s+[^\s;]+){4};", style)
    assert (sided, four) == ([], [])


def test_every_sentence_is_used_and_every_use_has_one() -> None:
    texts = "".join(SOURCES.values())
    named = set(re.findall(r'"([a-z][a-z0-9_]*)"', texts))
    kinds = re.findall(r'reportKind = "(\w+)"', texts)
    made = {f"odds_{kind}" for kind in kinds} | {"language", "yes", "no"}
    # What a fact of the person's own hides.
    made |= {"odds_crosswise", "odds_unrelated_question"}
    made |= {f"own_{action}" for action in ("truth", "opposite", "yes", "no")}
    # What is said of a block in the place of the usual sentence.
    made |= {"odds_together_yes_no", "odds_together_option", "belief_one_together", "belief_all_together"}
    # What a type has a sentence of its own for, such as the latest date in place of the largest number.
    made |= {f"date_odds_{kind}" for kind in kinds} & set(CATALOGUE)
    # Blocks have sentences of their own, whose keys end so.
    made |= {key for key in CATALOGUE if key.startswith("belief_") and key.endswith("_together")}
    made |= {f"odds_together_{kind}" for kind in ("yes_no", "option")}
    made |= {f"status_{kind}" for kind in ("checking", "offline", "retired", "token")}
    ends = ("withdraw", "forget", "withdrawn", "forgotten", "load", "kept", "refused", "failed")
    made |= {f"{end}_{part}" for end in ends for part in ("title", "note")}
    used = {key for key in CATALOGUE if key in named | made or re.search(rf"\b{key}\b", texts)}

    assert set(CATALOGUE) == used
    assert {key for key in named if key.startswith("error_")} <= set(CATALOGUE)
    assert made <= set(CATALOGUE)


def test_modules_import_only_what_their_folder_may_and_in_no_circle() -> None:
    """No arrow goes up, at once or later; a breach would be caught."""
    found = {path: forbidden(path, source) for path, source in SOURCES.items()}
    assert {path: targets for path, targets in found.items() if targets} == {}

    graph = {path: imports_of(path, source) for path, source in SOURCES.items()}
    assert len(list(TopologicalSorter(graph).static_order())) >= len(SOURCES)

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
