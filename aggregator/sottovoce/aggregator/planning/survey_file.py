"""
Survey files as authors write them: YAML, or JSON, which is YAML.

Plain scalars are text, whole numbers, true, false or null. Dates and decimals stay text, as in the canonical survey;
an unquoted yes, no, on or off is refused, because half of all YAML readers would take it for true or false.
"""

import re
from pathlib import Path
from typing import Any

import yaml
from sottovoce.shared.errors import Problem, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

MAX_BYTES = 4 * 1024 * 1024


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with the few scalars above, and without duplicate keys, anchors and tags."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 - as the library has it

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
            raise _error(event.start_mark, "anchors and aliases are not allowed")
        node: yaml.Node | None = super().compose_node(parent, index)
        if isinstance(node, yaml.ScalarNode) and node.style is None and _AMBIGUOUS.fullmatch(node.value):
            raise _error(node.start_mark, "yes, no, on and off must be written in quotes")
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                raise _error(key.start_mark, "a key must be text")
            if key.value in seen:
                raise _error(key.start_mark, "this key was used before")
            seen.add(key.value)
        return super().construct_mapping(node, deep)


_AMBIGUOUS = re.compile(r"yes|no|on|off", re.IGNORECASE)

_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:true|false)\Z"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:null|~|)\Z"), ["n", "~", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z"), list("-0123456789"))


def read_survey_file(path: Path) -> Survey:
    """
    The survey in a file.

    Raises:
        SpecError: the file cannot be read, is not YAML, or does not describe a survey; with every mistake found.
    """
    try:
        data = path.read_bytes()
    except OSError:
        raise SpecError("the file cannot be read") from None
    if len(data) > MAX_BYTES:
        raise SpecError("the file is larger than 4 MiB")
    return parse_survey(parse_yaml(data))


def parse_yaml(data: bytes) -> object:
    """
    The document in YAML bytes.

    Raises:
        SpecError: with the line and column, never the text found there.
    """
    try:
        # _Loader is a safe loader: it makes nothing but text, numbers, true, false, null, lists and maps.
        return yaml.load(data.decode(), Loader=_Loader)  # noqa: S506
    except UnicodeDecodeError:
        raise SpecError("the file is not UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = error.problem if isinstance(error, _Own) else "this is not valid YAML"
        raise SpecError([Problem("", f"{where}{problem}")]) from None
    except (yaml.YAMLError, RecursionError, ValueError):
        raise SpecError("the file is not valid YAML") from None


class _Own(yaml.MarkedYAMLError):
    """A refusal in our own words, which repeat nothing."""


def _error(mark: yaml.Mark, message: str) -> _Own:
    return _Own(problem=message, problem_mark=mark)
