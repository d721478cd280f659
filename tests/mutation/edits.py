"""Small edits of source files: a few tokens of one function become others.

An edit names its place by file, function, tokens and occurrence, never by line or by quoted text. Layout, comments,
docstrings and the rest of the function may therefore change freely.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]

_STRING = r'"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'"
_SYMBOL = r"\*\*|\+\+|--|//|<<|>>>?|[=!]==?|<=|>=|->|=>|&&|\|\||\?\?|\?\.|\.\.\.|[-+*/%&|^@:]=|\S"
_NUMBER = r"\d[\w.]*"
PYTHON = re.compile(rf'(?P<skip>#[^\n]*|\w*"""[\s\S]*?""")|\w*(?:{_STRING})|{_NUMBER}|\w+|{_SYMBOL}')
JAVASCRIPT = re.compile(rf"(?P<skip>//[^\n]*|/\*[\s\S]*?\*/)|{_STRING}|`(?:\\.|[^`\\])*`|{_NUMBER}|#?[\w$]+|{_SYMBOL}")


@dataclass(frozen=True)
class Edit:
    """The ``nth`` occurrence, from 1, of ``change`` in a function becomes ``to``; ``in_string``: a part of a text."""

    name: str
    file: str
    function: str
    change: str
    to: str
    nth: int
    in_string: bool
    notes: dict[str, Any]

    def apply(self, text: str) -> str:
        tokens = PYTHON if self.file.endswith(".py") else JAVASCRIPT
        begin, end = (_python_function if tokens is PYTHON else _javascript_function)(text, self.function)
        if self.in_string:
            words = r"\s+".join(map(re.escape, self.change.split()))
            spans = [match.span() for match in re.compile(words).finditer(text, begin, end)]
        else:
            wanted = [match[0] for match in tokens.finditer(self.change)]
            found = [match for match in tokens.finditer(text, begin, end) if match["skip"] is None]
            runs = [found[index : index + len(wanted)] for index in range(len(found) - len(wanted) + 1)]
            spans = [(run[0].start(), run[-1].end()) for run in runs if [match[0] for match in run] == wanted]
        if len(spans) < self.nth:
            raise LookupError(f"{self.name}: {self.function} in {self.file} has {len(spans)} times: {self.change}")
        start, stop = spans[self.nth - 1]
        return text[:start] + self.to + text[stop:]


def load_edits(path: Path) -> Iterator[Edit]:
    """Yield the edits of a list, whose keys are paths of source files."""
    for file, entries in yaml.safe_load(path.read_text(encoding="utf-8")).items():
        for entry in entries:
            own = {key: entry.pop(key) for key in ("name", "function", "change", "to")}
            nth, in_string = entry.pop("nth", 1), entry.pop("in_string", False)
            yield Edit(file=file, nth=nth, in_string=in_string, notes=entry, **own)


def _python_function(text: str, name: str) -> tuple[int, int]:
    """Return where a function, or a constant of a module or class, begins and ends."""
    body: list[ast.stmt] = ast.parse(text).body
    span = (0, 0)
    for part in name.split("."):
        node = next((each for each in reversed(body) if part in _names(each)), None)
        if node is None:
            raise LookupError(f"no function {name}")
        span = node.lineno - 1, node.end_lineno or 0
        body = getattr(node, "body", [])
    lines = text.splitlines(keepends=True)
    begin, end = (len("".join(lines[:line])) for line in span)
    return begin, end


def _names(node: ast.stmt) -> list[str]:
    """Return the names that a statement gives to what it defines."""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    return [getattr(each, "id", getattr(each, "name", "")) for each in [node, *targets]]


def _javascript_function(text: str, name: str) -> tuple[int, int]:
    """Return where a function, method or constant begins and ends, found by its name and its indentation."""
    signature = rf"^([ ]*)(?:[\w ]+ )?\*?{re.escape(name)}(?:\([^\n]*{{| = [^\n]*)\n(?:(?:\1[ )}}\]][^\n]*)?\n)*"
    found = re.search(signature, text, re.MULTILINE)
    if found is None:
        raise LookupError(f"no function {name}")
    return found.span()
