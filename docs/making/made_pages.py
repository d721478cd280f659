"""Pages that are made when the site is built, of what the program says of itself; none of them can grow old."""

import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import sottovoce.aggregator
import sottovoce.curator
from sottovoce.aggregator.app import ROUTES
from sottovoce.aggregator.http.openapi import describe
from sottovoce.aggregator.settings import describe as describe_settings
from sottovoce.cli.main import main
from sottovoce.client import FileLedger, MemoryLedger, Respondent
from sottovoce.shared.mechanisms import MECHANISMS, PRESETS

ROOT = Path(__file__).parents[2]

OUTSIDE = (
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "deploy/README.md",
    "deploy/runbook.md",
    "shared/README.md",
    "shared/sottovoce/examples/README.md",
    "client/README.md",
    "aggregator/README.md",
    "tests/README.md",
)
"""Documents that stand beside what they are about, and not in ``docs/``; the site has them under ``project/``."""

PYTHON: tuple[tuple[str, Any], ...] = (
    ("sottovoce.client", Respondent),
    ("sottovoce.client", FileLedger),
    ("sottovoce.client", MemoryLedger),
    *(("sottovoce.aggregator", getattr(sottovoce.aggregator, name)) for name in sottovoce.aggregator.__all__),
    *(("sottovoce.curator", getattr(sottovoce.curator, name)) for name in sottovoce.curator.__all__),
)
"""The public names: where each is imported from, and what it is."""

_SECTION = re.compile(r"^(Args|Attributes|Raises|Returns|Yields):$")
_MARKDOWN = re.compile(r"([\\*_>\[\]|])")


def made_pages() -> dict[str, str]:
    """Every made page: its place in the site, and its Markdown."""
    pages = {f"mathematics/{name}.md": mathematics(name) for name in MECHANISMS}
    pages |= {f"project/{path}": (ROOT / path).read_text(encoding="utf-8") for path in OUTSIDE}
    return pages | {
        "mathematics/README.md": all_mathematics(),
        "reference/command_line.md": command_line(),
        "reference/settings.md": settings(),
        "reference/http.md": http(),
        "reference/python.md": python(),
        "fair_data.md": notebook(ROOT / "docs" / "fair_data.ipynb"),
    }


def all_mathematics() -> str:
    """The list of mechanisms, each with its first line."""
    rows = [f"| [`{name}`]({name}.md) | {_title(name)} | {_also(name)} |" for name in MECHANISMS]
    head = (
        "# The mathematics, mechanism by mechanism\n\nEach page is the text at the head of the mechanism's own module."
    )
    return "\n".join([f"{head}\n", "| mechanism | what it does | also known as |", "|---|---|---|", *rows, ""])


def _also(name: str) -> str:
    return ", ".join(f"`{preset}`" for preset, of in PRESETS.items() if of == name)


def _document(name: str) -> str:
    return inspect.getdoc(inspect.getmodule(MECHANISMS[name])) or ""


def _title(name: str) -> str:
    return " ".join(_escaped(_document(name).partition("\n\n")[0]).split())


def mathematics(name: str) -> str:
    """The page of one mechanism, of its module's docstring: a heading for each of its parts."""
    lines = [f"# `{name}`", "", f"{_title(name)}", ""]
    for line in _document(name).partition("\n\n")[2].splitlines():
        if line and not line[0].isspace():
            lines += ["", f"## {line}", ""]
        else:
            lines.append(line.removeprefix("    "))
    return "\n".join(_laid_out(lines)) + "\n"


def _laid_out(lines: list[str]) -> Iterator[str]:
    """Prose as prose; what is indented further stands in columns, and keeps them."""
    inside = False
    for line in lines:
        columns = line.startswith("  ")
        if columns != inside and (columns or line.strip()):
            yield "```text" if columns else "```\n"
            inside = columns
        yield line if inside or line.startswith("#") else _escaped(line)
    if inside:
        yield "```"


def _escaped(text: str) -> str:
    """Markdown that reads as this text does; what stands between double backticks stays code."""
    parts = re.split(r"(``.*?``)", text)
    plain = (part if part.startswith("``") else _MARKDOWN.sub(r"\\\1", part).replace("<", "&lt;") for part in parts)
    return "".join(plain)


def command_line() -> str:
    """Every command with its help."""
    return "# The command line\n\nThe help of every command.\n" + _helped("sottovoce", main, None)


def _helped(name: str, command: click.Command, above: click.Context | None) -> str:
    context = click.Context(command, info_name=name, parent=above, terminal_width=90)
    text = f"\n## `{context.command_path}`\n\n```text\n{command.get_help(context)}\n```\n"
    under = command.list_commands(context) if isinstance(command, click.Group) else ()
    found = ((each, command.get_command(context, each)) for each in under)
    return text + "".join(_helped(each, below, context) for each, below in found if below is not None)


DEVICE_SETTINGS = (
    ("SOTTOVOCE_LEDGER", "folder in which the client remembers its reports, on the respondent's device"),
    ("SOTTOVOCE_KEY", "key for commands that ask a server (`--url`)"),
    ("SOTTOVOCE_KEY_FILE", "file that holds this key"),
)


def settings() -> str:
    """Return the page of every environment variable."""
    rows = [
        f"| `{name}` | {f'`{default}`' if default else ''} | {meant} |" for name, default, meant in describe_settings()
    ]
    others = [f"| `{name}` | {meant} |" for name, meant in DEVICE_SETTINGS]
    return "\n".join(
        [
            "# Settings\n\nOf the server; `NAME_FILE` names a file that holds the value.\n",
            *("| variable | default | meaning |", "|---|---|---|", *rows),
            "\nOf commands:\n",
            *("| variable | meaning |", "|---|---|", *others, ""),
        ]
    )


def http() -> str:
    """Every operation of the described API."""
    described = describe(ROUTES)
    text = (
        f"# HTTP\n\n{described['info']['description']}\n\nAn aggregator gives this as OpenAPI 3.1 at `/openapi.json`.\n"
    )
    for path, at in described["paths"].items():
        for method in (each for each in at if each != "parameters"):
            text += f"\n## `{method.upper()} {path}`\n\n{_operation(at[method])}"
    return text + _all_routes()


def _all_routes() -> str:
    """Return the table of every route, those of pages included."""
    rows = [f"| {each.method} | `{each.path}` | {_escaped(each.summary)} | `{each.endpoint}` |" for each in ROUTES]
    head = "\n## All routes\n\n[Who may do what](../access.md) has the rights of each name.\n"
    return "\n".join([head, "| method | path | what it does | name |", "|---|---|---|---|", *rows, ""])


def _operation(operation: Mapping[str, Any]) -> str:
    key = " Needs a key." if operation["security"] else ""
    lines = [f"{operation['summary']}{key}", ""]
    for each in operation.get("parameters", []):
        lines += [f"* `?{each['name']}=` {each['description']}"]
    for media in operation.get("requestBody", {}).get("content", {}).values():
        lines += [f"* takes `{_schema(media)}`"]
    for status, reply in operation["responses"].items():
        gives = ", ".join(f"`{_schema(media, name)}`" for name, media in reply.get("content", {}).items())
        lines += [f"* {status}: {reply['description']}{f' Gives {gives}.' if gives else ''}"]
    return "\n".join([*lines, ""])


def _schema(media: Mapping[str, Any], otherwise: str = "") -> str:
    found: str = media["schema"].get("$ref", otherwise)
    return f"{found.rpartition('/')[2]}.schema.json" if found.startswith("#") else found


def python() -> str:
    """The public names of both sides."""
    return "# Python\n\nFor respondents' programs, and for analysts.\n" + "".join(
        _named(place, found) for place, found in PYTHON
    )


def _named(place: str, found: Any) -> str:  # noqa: ANN401 - a class or a function
    text = f"\n## `{found.__name__}`\n\n```python\nfrom {place} import {found.__name__}\n\n{_call(found)}\n```\n\n"
    text += _docstring(inspect.getdoc(found) or "")
    members: Mapping[str, Any] = vars(found) if inspect.isclass(found) else {}
    shown = {name: member for name, member in members.items() if not name.startswith("_") and _documented(member)}
    return text + "".join(_member(name, member) for name, member in shown.items())


def _documented(member: Any) -> bool:  # noqa: ANN401
    return callable(member) or isinstance(member, property | classmethod)


def _member(name: str, member: Any) -> str:  # noqa: ANN401
    function: Callable[..., Any] = getattr(member, "fget", None) or getattr(member, "__func__", member)
    call = f"`.{name}`" if isinstance(member, property) else f"`.{_call(function, name)}`"
    return f"\n### {call}\n\n{_docstring(inspect.getdoc(member) or '')}"


def _call(found: Callable[..., Any], name: str = "") -> str:
    given = [each for each in inspect.signature(found).parameters.values() if each.name not in {"self", "cls"}]
    return f"{name or found.__name__}({', '.join(str(each.replace(annotation=each.empty)) for each in given)})"


def _docstring(text: str) -> str:
    """Google's style as Markdown: each section a list."""
    lines: list[str] = []
    for line in text.splitlines():
        section, item = _SECTION.match(line), re.match(r"^    (\w[\w, *]*): (.*)$", line)
        if section:
            lines += [f"**{section[1]}**", ""]
        elif item:
            lines += [f"* `{item[1]}`: {item[2]}"]
        else:
            lines += [line.removeprefix("    ") if line.startswith("        ") else line]
    return "\n".join([*lines, ""])


def notebook(path: Path) -> str:
    """A notebook as a page: its texts, its code, and what the code printed."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown":
            parts.append(cell["source"])
        else:
            parts.append(f"```python\n{cell['source']}\n```")
            parts += [f"```text\n{output['text']}```" for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"
