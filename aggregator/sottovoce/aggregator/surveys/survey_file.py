"""Read survey files in YAML, or in JSON, which is a subset of YAML, and the questions that an aggregator publishes.

Error messages name the place in the file. Plain scalars are text, integers, true, false or null. Dates and decimals
stay text, as in the canonical survey. An unquoted yes, no, on or off is refused, because YAML 1.1 readers take it for a
boolean and YAML 1.2 readers for text.

An aggregator serves published questions, which lead on to another survey. An account publishes into the database, the
command ``question publish`` writes a file into the data folder.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from sottovoce.aggregator.storage import Storage
from sottovoce.shared.by_link.link_question import LinkQuestion
from sottovoce.shared.errors import Problem, Sentence, SpecError, cannot_read
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

MAX_BYTES = 4 * 1024 * 1024

FOLDER = "questions"
"""In the data folder; each node of several has its own."""


def write_published(data: Path, link: LinkQuestion) -> None:
    """Add a question to those that are served; raise OSError if it cannot be written."""
    (data / FOLDER).mkdir(exist_ok=True)
    (data / FOLDER / link.digest).write_bytes(link.canonical)


def read_published(storage: Storage, data: Path, digest: str) -> bytes | None:
    """Return the canonical bytes of a published question; None if there is none, or its bytes have another digest."""
    if not re.fullmatch("[0-9a-f]{64}", digest):
        return None
    document = storage.link_questions.document(digest)
    try:
        document = (data / FOLDER / digest).read_bytes() if document is None else document
    except OSError:
        return None
    return document if hashlib.sha256(document).hexdigest() == digest else None


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, limited to the scalars above, without duplicate keys, anchors and tags."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the library has it

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self.mistakes: list[Problem] = []
        """Mistakes that do not stop the reader, so that one message lists all of them."""
        self.root: yaml.Node | None = None

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _error(event.start_mark, "anchors and aliases are not allowed; quote a text that begins with & or *")
        node: yaml.Node | None = super().compose_node(parent, index)
        self.root = node  # nodes are completed from the leaves up, so the last one is the root
        if isinstance(node, yaml.ScalarNode) and node.style is None and _AMBIGUOUS.fullmatch(node.value):
            self.note(node, "yes, no, on and off must be written in quotes")
        return node

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> str:
        # JSON may write an emoji as two escapes, which are one character only together.
        return str(super().construct_scalar(node)).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        first: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                self.note(key, "a key must be text; quote it")
            elif key.value in first:
                self.note(key, "this key was used before")
            else:
                first[key.value] = key, value
        node.value = list(first.values())
        return super().construct_mapping(node, deep)

    def note(self, node: yaml.Node, message: str) -> None:
        """Record a mistake with its line and column."""
        self.mistakes.append(Problem("", _at(node.start_mark, message)))


_AMBIGUOUS = re.compile(r"yes|no|on|off", re.IGNORECASE)

_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|false)\Z"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:null|~|)\Z"), ["n", "~", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z"), list("-0123456789"))


def read_survey_file(path: Path) -> Survey:
    """Read the survey in a file. Raises SpecError, with all mistakes and their places, if the file cannot be read, is
    not YAML, or does not describe a survey.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None
    try:
        return _read_survey(data)
    except SpecError as error:
        error.file = str(path)
        raise


def _read_survey(data: bytes) -> Survey:
    if len(data) > MAX_BYTES:
        raise SpecError("the file is larger than 4 MiB")
    if not data.strip():
        raise SpecError("the file is empty")
    document, root, mistakes = _load(data)
    try:
        survey = parse_survey(document)
    except SpecError as error:
        problems = [*mistakes, *error.problems]
        raise SpecError(problems, {problem.pointer: place(problem.pointer, root) for problem in problems}) from None
    if mistakes:
        raise SpecError(mistakes)
    return survey


def yaml_text(document: Mapping[str, Any]) -> str:
    """Return a survey document as YAML that reads back as the same document."""
    return yaml.safe_dump(dict(document), allow_unicode=True, sort_keys=False, width=100)


def places_in(path: Path) -> Callable[[str], str]:
    """Return a function from JSON pointers to places in words, for a file without mistakes."""
    root = _load(path.read_bytes())[1]
    return lambda pointer: place(pointer, root)


def parse_yaml(data: bytes) -> object:
    """Parse YAML; raises SpecError with line and column, but never the text there."""
    document, _, mistakes = _load(data)
    if mistakes:
        raise SpecError(mistakes)
    return document


def _load(data: bytes) -> tuple[object, yaml.Node | None, list[Problem]]:
    """Return the document, its root node, and the mistakes that did not stop the reader."""
    try:
        # Safe: _Loader creates only text, integers, booleans, null, lists and maps, never Python objects.
        loader = _Loader(data.decode())
        return loader.get_single_data(), loader.root, loader.mistakes
    except UnicodeDecodeError:
        raise SpecError("the file is not UTF-8") from None
    except yaml.MarkedYAMLError as error:
        # For a quote that is never closed, report where it was opened, not the end of the file.
        is_open = "quoted scalar" in (error.context or "")
        mark = (error.context_mark if is_open else None) or error.problem_mark or error.context_mark
        template = "this is not valid YAML: {reason}"
        problem = str(error.problem) if isinstance(error, _Own) else Sentence(template, reason=_hint(error))
        raise SpecError(_at(mark, problem) if mark else problem) from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise SpecError("the file is not valid YAML") from None


def _hint(error: yaml.MarkedYAMLError) -> str:
    """Return advice on the mistake, found by words of the library's message."""
    message = f"{error.context} {error.problem}"
    return next((hint for words, hint in _HINTS.items() if words in message), _ANY)


def _at(mark: yaml.Mark, message: str) -> Sentence:
    line, column = str(mark.line + 1), str(mark.column + 1)
    return Sentence("line {line}, column {column}: {reason}", line=line, column=column, reason=message)


_HINTS = {
    "quoted scalar": "the quotation mark that opens here is never closed, or a \\ stands in double quotes",
    "mapping values are not allowed": "quote a text that has a colon and a space in it",
    "'\\t'": "indent with spaces, not with tabs",
    "cannot start any token": "quote a text that begins with @, ` or %",
    "could not find expected ':'": "a key needs a colon after it; quote a text that goes over several lines",
    "flow": Sentence("quote a text that has one of , ? [ ] {{ }} in it, and close every bracket and brace"),
    "tag": "quote a text that begins with !",
    "block scalar": "quote a text that begins with | or >",
    "block collection": "check the indentation",
    "block mapping": "check the indentation, and quote the whole of a text that begins with a quotation mark",
}
"""Advice by words in PyYAML's message; the first match wins."""

_ANY = "quote texts that have a colon and a space in them, or begin with a sign"


class _Own(yaml.MarkedYAMLError):
    """An error with this program's own message, which does not quote the file."""


def _error(mark: yaml.Mark, message: str) -> _Own:
    return _Own(problem=message, problem_mark=mark)


_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
"""Valid names, which messages may quote; other text could be anything, so messages leave it out."""

_ONE = {"questions": "question", "choices": "choice", "coordinates": "coordinate", "rows": "row", "waves": "wave"}


def place(pointer: str, root: yaml.Node | None) -> str:
    """Return a JSON pointer in words, as "question 3 'cheated', choice 1, label, line 14"; "" for the whole document.

    The line is where the deepest existing part of the pointer begins below ``root``.
    """
    words: list[str] = []
    node, line = root, None
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        child = _child(node, key)
        if child is not None:
            line, node = child
        else:
            node = None
        if key.isdigit() and words and words[-1] in _ONE:
            words[-1] = f"{_ONE[words[-1]]} {int(key) + 1}{_name(node)}"
        else:
            words.append(key)
    return ", ".join(words + ([] if line is None else [f"line {line}"]))


def _child(node: yaml.Node | None, key: str) -> tuple[int, yaml.Node] | None:
    """Return the line and the node of a key or index, or None."""
    if isinstance(node, yaml.MappingNode):
        for written, value in node.value:
            if written.value == key:
                return written.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and key.isdigit() and int(key) < len(node.value):
        item = node.value[int(key)]
        return item.start_mark.line + 1, item
    return None


def _name(node: yaml.Node | None) -> str:
    child = _child(node, "name")
    name = child[1].value if child else None
    return f" '{name}'" if isinstance(name, str) and _PLAIN.fullmatch(name) else ""
