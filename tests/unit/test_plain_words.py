"""The language of the product: docstrings are whole sentences, and texts name who acts."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.unit.test_imports import ROOT, SOURCES, tree_of

FRAGMENT = re.compile(r"(What|Whether|That|Those|Its|Of|Who|Where|How|Which)\b")
VAGUE = re.compile(r"\b(whoever|somebody|nobody|(?:is|are)\s+told|that\s+of)\b", re.IGNORECASE)
SUFFIXES = {".py", ".js", ".mjs", ".html", ".R"}
EXCEPTIONS: dict[str, str] = {}
"""Path, or beginning of one, and the reason; at most 30."""


def texts() -> Iterator[tuple[str, str]]:
    """Yield path and content of product code, templates, schemas, English catalogues and documents."""
    paths = [path for side in ("shared", "client", "aggregator") for path in (ROOT / side).rglob("*")]
    wanted = [path for path in paths if path.suffix in SUFFIXES or is_english(path)]
    for path in sorted([*wanted, *documents(), ROOT / "README.md"]):
        yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


def documents() -> Iterator[Path]:
    """Yield every document but decisions, which are dated records."""
    yield from (path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "decisions")


def is_english(path: Path) -> bool:
    is_text = path.name == "options.json" or path.name.endswith(".schema.json")
    return path.suffix == ".json" and ("en" in {path.stem, path.parent.name} or is_text)


def docstrings(source: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the docstring of the module and of its public classes and functions."""
    for node in ast.walk(tree_of(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name, text = getattr(node, "name", "module"), ast.get_docstring(node)
            if text and not name.startswith("_"):
                yield name, text


@cache
def of_product() -> list[tuple[str, str]]:
    """Return "path: name" and docstring of every public name of the product."""
    places = [(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in SOURCES]
    return [(f"{place}: {name}", text) for place, source in places for name, text in docstrings(source)]


def test_docstrings_have_five_words() -> None:
    """Fewer words repeat the name, and give no shape, unit or condition."""
    assert [place for place, text in of_product() if len(text.split()) < 5] == []


def test_docstrings_open_with_a_verb_or_a_noun() -> None:
    """A clause such as "What is sent" is no sentence; "Return the bytes to send" is one."""
    assert [place for place, text in of_product() if FRAGMENT.match(text)] == []


def test_texts_name_who_acts() -> None:
    """Code, schemas, English texts and documents say "people", "the server" or "you"."""
    found = {path: sorted({match[0] for match in VAGUE.finditer(text)}) for path, text in texts()}
    assert {path: words for path, words in found.items() if words and not path.startswith(tuple(EXCEPTIONS))} == {}


def test_exceptions_are_few_and_needed() -> None:
    vague = [path for path, text in texts() if VAGUE.search(text)]
    assert len(EXCEPTIONS) <= 30
    assert all(EXCEPTIONS.values())
    assert [place for place in EXCEPTIONS if not any(path.startswith(place) for path in vague)] == []


def test_the_rules_find_what_breaks_them() -> None:
    """A fragment, a vague word over two lines, and neither in a plain sentence."""
    assert [text for _, text in docstrings('"""Whether it ends."""\ndef _own():\n    """Its size."""')] == [
        "Whether it ends."
    ]
    assert FRAGMENT.match("Whether it ends.")
    assert VAGUE.search("The size is that\nof the file, as Nobody said.")
    assert not VAGUE.search("People are asked to answer that offer.")
