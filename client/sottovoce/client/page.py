"""Assemble the respondent's page: as the aggregator serves it, for a static host, and as one file to save.

The style is inline, allowed by its digest in the CSP, so that a form is ready after five requests at most. If the
page does not come from the aggregator, a block of JSON in it, ``setup``, names the aggregator that it reports to.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from sottovoce.client.bundle import RARE, parts, previewed, read, sentences, split, tidy, whole
from sottovoce.shared.errors import TransportError
from sottovoce.shared.languages import LANGUAGES
from sottovoce.shared.spec import Survey

_ADDRESS = re.compile(r"(https://[A-Za-z0-9.-]+|http://(localhost|127\.0\.0\.1))(:[0-9]+)?(/[A-Za-z0-9._~/-]*)?")
_EXPORTED = re.compile(r"^export (?:async )?(?:function|class|const) (\w+)", re.MULTILINE)
_LENT = re.compile(r"^export \{[^}]*\};$", re.MULTILINE)
_NOWHERE = "https://aggregator.invalid"
_TYPES = {"html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8", "json": "application/json"}


class PageFile(NamedTuple):
    """A file as it is served.

    Attributes:
        style: how a content security policy names the style within it.
        folder: named by the digest of all that is in it, the page among them; empty for what is not in it.
        policy: the whole content security policy of a page that any site may hold in a frame; empty for others.
    """

    body: bytes
    content_type: str
    style: str = ""
    folder: str = ""
    policy: str = ""


class Preview(NamedTuple):
    """The form as a researcher tries it before it is published.

    Attributes:
        pieces: the page around its setup, and around what stands above the form.
        script: how a content security policy names its one script.
        style: how it names the style.
    """

    pieces: tuple[str, str, str]
    script: str
    style: str


def assemble() -> dict[str, PageFile]:
    """Return the files that the aggregator serves, by name, in a fixed order."""
    scripts = {f"{part}.js": script for part, script in split(parts()).items()}
    beside = {**catalogues(), **scripts}
    # The page contains the folder's name, so its digest is computed from the page without the name.
    folder = _version({**beside, "respondent.html": _served("")})
    within = {**beside, "respondent.html": _served(folder)}
    parts_by_use = {name: f"../assets/{folder}/{name}" for name in ("respondent.html", *scripts)}
    used = [parts_by_use.pop(f"{part}.js") for part in RARE]
    worker = _worker(folder, [*parts_by_use.values()], used)
    without = {"sw.js": worker, "saved.json": inline_json(_saved())}
    return {
        **{name: _asset(name, text, folder) for name, text in within.items()},
        **{name: _asset(name, text) for name, text in without.items()},
    }


def by_path(files: Mapping[str, PageFile], survey: str) -> dict[str, PageFile]:
    """Return the files by the paths under which an aggregator serves them: the page also to those who keep it."""
    page = files["respondent.html"]
    return {
        **{path_of(name, file, survey): file for name, file in files.items()},
        f"/assets/{page.folder}/respondent.html": page,
    }


def path_of(name: str, file: PageFile, survey: str) -> str:
    """Return the path under which an aggregator serves a file, of this name in ``assemble``, to those who open the
    page.
    """
    own = {"respondent.html": f"/s/{survey}", "sw.js": "/s/sw.js"}
    return own.get(name, "/".join(["/assets", *filter(None, [file.folder]), name]))


def opened(scripts: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the page's scripts with last lines that let an audit or a test reach all that their modules export.

    ``scripts`` are by name, as they were served; by default our own.
    """
    sources_of, found = parts(), {}
    served = scripts or {f"{part}.js": script for part, script in split(sources_of).items()}
    for part, sources in sources_of.items():
        script = served[f"{part}.js"]
        names = _EXPORTED.findall("".join(sources.values()))
        found[f"{part}.js"] = f"{_LENT.sub('', script)}export {{ {', '.join(names)} }};\n"
    return found


def static_page(aggregator: str) -> dict[str, bytes]:
    """Return the files for a static host, by path: a page that reports to ``aggregator``, and checks its parts by
    digests. Raises TransportError if that is not the address of an aggregator.
    """
    texts, script = catalogues(), whole()
    digests = {_tag(name): _integrity(text) for name, text in texts.items()}
    setup = {"aggregator": _address(aggregator), "catalogues": digests}
    part = f'<script type="module" src="respondent.js" crossorigin integrity="{_integrity(script)}"></script>'
    page = _html(_policy("'self'", aggregator), _setup(setup), part)
    texts = {"index.html": page, "respondent.js": script, **texts}
    texts["sw.js"] = _worker(_version(texts), ["./", "respondent.js"])
    return {name: text.encode() for name, text in texts.items()}


def saved_page(aggregator: str, survey: Survey | None = None) -> bytes:
    """Return one file that needs no host: script, sentences and, if given, the survey are within it. Raises
    TransportError if ``aggregator`` is not the address of one.
    """
    address = _address(aggregator)
    policy, setup, rest = _saved()
    held = ""
    if survey is not None:
        parts = {"name": survey.name, "digest": survey.digest[:32], "text": survey.canonical.decode()}
        held = f',"survey":{inline_json(parts)}'
    return f"{policy}{address}{setup}{inline_json(address)}{held}{rest}".encode()


@cache
def preview(is_rare: bool = True) -> Preview:
    """Return the form before a pretended aggregator, which no respondent is given.

    ``is_rare`` says that the survey needs one of ``bundle.FOR_RARE_PREVIEWS``.
    """
    script, style = "\n" + previewed(is_rare), _css() + tidy(read("preview/preview.css"))
    page = _html(_setup({}), f'<script type="module">{script}</script>').replace(_css(), style)
    before, _, rest = page.partition("{}</script>")
    between, after = rest.rsplit("<body>\n", 1)
    return Preview((before, f"</script>{between}<body>\n", after), digest_source(script), digest_source(style))


def _saved() -> list[str]:
    """Return a saved page around what is its own: the aggregator's address in its policy, and in its setup, with the
    survey.

    The aggregator serves these pieces, the same for everybody; the page joins them when a person saves it.
    """
    setup = {
        "aggregator": _NOWHERE,
        "catalogues": {_tag(name): json.loads(text) for name, text in catalogues().items()},
    }
    script = "\n" + whole()
    policy = _policy(digest_source(script), _NOWHERE)
    before, between, after = _html(policy, _setup(setup), f'<script type="module">{script}</script>').split(_NOWHERE)
    return [before, between.removesuffix('"'), after.removeprefix('"')]


def catalogues() -> dict[str, str]:
    """Return the sentences of every page by path, a file for each language, whichever parts are asked for."""
    texts = {tag: sentences(tag)[""] for tag in sorted(LANGUAGES)}
    dumped = {tag: json.dumps(text, ensure_ascii=False, separators=(",", ":")) for tag, text in texts.items()}
    return {f"catalogues/{tag}.json": text for tag, text in dumped.items()}


def content_type(name: str) -> str:
    """Return the media type of a file."""
    return _TYPES[name.rpartition(".")[2]]


def _asset(name: str, text: str, folder: str = "") -> PageFile:
    style = digest_source(_css()) if name.endswith(".html") else ""
    return PageFile(text.encode(), content_type(name), style, folder)


def _served(folder: str) -> str:
    """Return the page as an aggregator serves it: the only file but the worker that names the folder of the others."""
    # What every visit needs later is on its way while the first script is, whatever the survey is: a request after
    # Begin would show when questions were reached.
    later = [f'<link rel="modulepreload" href="../assets/{folder}/{part}.js">' for part in ("answering", "sending")]
    return _html(f'<script type="module" src="../assets/{folder}/respondent.js"></script>', *later)


def _html(*parts: str) -> str:
    return read("respondent.html").replace("<!-- parts -->", "\n".join([*parts, f"<style>{_css()}</style>"]))


def _css() -> str:
    return inline_css(read("respondent.css"))


def inline_css(source: str) -> str:
    """Return a style as it stands in a page: without comments, and without needless line ends and spaces."""
    return re.sub(r"(?<=[{};,])\n|(?<=:) ", "", tidy(source))


def _version(texts: Mapping[str, str]) -> str:
    """Return a version string that changes whenever one of these files does."""
    return sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:16]


def _worker(version: str, kept: list[str], used: Sequence[str] = ()) -> str:
    """Return the service worker; its first line changes whenever a file of the page does.

    It keeps ``kept`` in any case, the page first, and ``used`` if the visit has loaded it.
    """
    lines = [f'const VERSION = "{version}";', f"const FILES = {json.dumps(kept)};"]
    lines.append(f"const USED = {json.dumps([*used])};")
    return "\n".join([*lines, tidy(read("sw.js"))])


def _policy(script: str, aggregator: str) -> str:
    # A meta element cannot forbid framing; the script refuses to run in a frame instead.
    policy = (
        f"default-src 'none'; script-src {script}; style-src {digest_source(_css())}; img-src data:; "
        f"worker-src 'self'; connect-src 'self' {_address(aggregator)}/; base-uri 'none'; form-action 'none'"
    )
    return f'<meta http-equiv="Content-Security-Policy" content="{policy}">'


def _setup(setup: Mapping[str, object]) -> str:
    return f'<script type="application/json" id="setup">{inline_json(setup)}</script>'


def inline_json(value: object) -> str:
    """Return JSON that can stand within an element of a page."""
    # As a browser writes it; and nothing in it ends the element that it stands in.
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def _address(aggregator: str) -> str:
    if not _ADDRESS.fullmatch(aggregator):
        raise TransportError("the aggregator's address must look like https://host; nothing else is safe")
    return aggregator.rstrip("/")


def _tag(path: str) -> str:
    return path.removeprefix("catalogues/").removesuffix(".json")


def digest_source(text: str) -> str:
    """Return how a content security policy names an inline script or style."""
    return f"'sha256-{_digest(text)}'"


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()


def _integrity(text: str) -> str:
    return f"sha256-{_digest(text)}"
