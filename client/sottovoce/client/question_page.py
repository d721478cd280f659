"""Assemble the page of a single question and the element that asks it in a page of another system.

The page is one file, for a window and for a frame: script, style and the sentences of all languages are in it, so that
nothing is fetched after it. It belongs on an origin of its own.
"""

import json
import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from sottovoce.client.bundle import join, modules, read, sentences
from sottovoce.client.page import PageFile, digest_source, inline_css, inline_json
from sottovoce.shared.by_link.link_question import EMPTY
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.single_question import element_name

PLACE = "/q/1/"
"""Path of the page at an aggregator; its number changes if page and element no longer understand each other."""

_POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; connect-src 'none'; base-uri 'none'; "
    "form-action 'none'"
)
_SCRIPTS = {
    "element.js": ("question/element.js", "defineQuestion();\n", "SottovoceQuestion, toColumns"),
    "frame.js": ("question/frame_way.js", "bringFrame();\n", "bringFrame"),
    "core.js": (
        "question/every_mechanism.js question/core.js question/columns.js",
        "bringEveryMechanism();\n",
        "Draws, describeQuestion as describe, randomizeQuestion as randomize, toColumns",
    ),
    "jspsych.js": ("question/jspsych.js", "", "SottovoceQuestionPlugin"),
    "surveyjs.js": ("question/surveyjs.js", "", "registerSottovoceQuestion"),
}
"""Each module for other pages: what it is joined from, its last line, what it exports."""

VERSION = "0.4.0"
"""Version of the npm package, and of the program that records name."""

_PACKAGE = {
    "name": "@sottovoce/question",
    "version": VERSION,
    "description": "One private question in any survey: randomized in the respondent's browser.",
    "author": "The Sottovoce authors",
    "license": "Apache-2.0",
    "type": "module",
    "sideEffects": ["./element*.js", "./frame.js"],
    "exports": {
        ".": {"types": "./element.d.ts", "default": "./element.js"},
        **{
            f"./{name}": {"types": f"./{name}.d.ts", "default": f"./{name}.js"}
            for name in ("core", "frame", "jspsych", "surveyjs")
        },
        "./block.html": "./block.html",
        "./frame.html": "./index.html",
    },
}
"""Description of the npm package."""

_VARIED = re.compile("^(date_)?odds_")
"""Beginnings of keys that the script puts together with a name in it."""

_NEVER_SAID = {"public", "public_note", "cohort_note", "odds_waves", "error_load", "same_person_note"}
"""Keys that modules shared with the form name, and that no single question needs."""


@cache
def question_page() -> PageFile:
    """Return the page, with the policy that allows its own script and style and nothing else."""
    return _page("question/page.js", "startPage();\n")


@cache
def block_page() -> PageFile:
    """Return the page of questions that are randomized together, ``block.html`` in the same folder."""
    return _page("question/block_page.js", "startBlockPage();\n")


@cache
def link_page() -> PageFile:
    """Return the page of published questions, which ``published_page`` fills."""
    return _page("question/link.js", "startLink();\n", ("question/frame.css", "question/link.css"), EMPTY)


@cache
def try_page() -> PageFile:
    """Return the page to try one question without a server, ``docs/try.html``, which needs and sends nothing."""
    return _page("try/try.js", "startTry();\n", ("question/frame.css", "try/try.css"), section="try")


def _page(
    entry: str,
    start: str,
    styles: Sequence[str] = ("question/frame.css",),
    held: str = "",
    section: str = "question_page",
) -> PageFile:
    script = "\n" + join(modules(entry)) + start
    style = "".join(inline_css(read(path)) for path in styles)
    policy = _POLICY.format(script=digest_source(script), style=digest_source(style))
    parts = [
        held,
        f'<script type="application/json" id="sentences">{inline_json(_sentences(script, section))}</script>',
        f'<script type="module">{script}</script>',
        f"<style>{style}</style>",
    ]
    page = read("question/frame.html").replace("<!-- parts -->", "\n".join(filter(None, parts)))
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return PageFile(page.replace("<!-- policy -->", meta).encode(), "text/html; charset=utf-8", policy=policy)


@cache
def question_scripts() -> dict[str, str]:
    """Return the modules for pages of other systems by file name, each without imports."""
    return {name: _module(*parts) for name, parts in _SCRIPTS.items()}


def former_elements() -> list[bytes]:
    """Return the element's script of former releases, which lines in other surveys name by its hash."""
    stored = files("sottovoce.client").joinpath("web", "question", "former")
    return [item.read_bytes() for item in stored.iterdir() if item.name.endswith(".txt")]


def _named_elements() -> dict[str, bytes]:
    scripts = [question_scripts()["element.js"].encode(), *former_elements()]
    return {element_name(script): script for script in scripts}


def question_assets() -> dict[str, PageFile]:
    """Return page and element as an aggregator serves them, by name."""
    own = {"question.js": "element.js", "question_frame.js": "frame.js"}
    bodies = {name: question_scripts()[module].encode() for name, module in own.items()} | _named_elements()
    scripts = {name: PageFile(body, "text/javascript; charset=utf-8") for name, body in bodies.items()}
    pages = {"question.html": question_page(), "question_block.html": block_page(), "question_link.html": link_page()}
    return pages | scripts


def question_files() -> dict[str, bytes]:
    """Return the files for a static host and the npm package ``@sottovoce/question``, by path.

    The page, ``index.html``, must be on another origin than the survey around it.
    """
    package = files("sottovoce.client").joinpath("web", "question", "package")
    beside = {item.name: item.read_bytes() for item in sorted(package.iterdir(), key=lambda item: item.name)}
    scripts = {name: text.encode() for name, text in question_scripts().items()}
    described = json.dumps(_PACKAGE, indent=2).encode()
    pages = {"index.html": question_page().body, "block.html": block_page().body}
    return {**pages, "package.json": described, **scripts, **_named_elements(), **beside}


def _module(entries: str, start: str, exports: str) -> str:
    return f"{join(modules(*entries.split()))}{start}export {{ {exports} }};\n"


def _sentences(script: str, section: str) -> dict[str, dict[str, str]]:
    """Return the sentences that the script names, by language."""
    named = {"language", *re.findall(r"""["'](\w+)["']""", script)}
    kinds = {*re.findall(r'reportKind = "(\w+)"', script)}
    found = {}
    for tag in sorted(LANGUAGES):
        texts = sentences(tag)[""] | sentences(tag)[section]
        kept = [key for key in texts if key in named or _VARIED.sub("", key) in kinds]
        found[tag] = {key: texts[key] for key in kept if key not in _NEVER_SAID}
    return found
