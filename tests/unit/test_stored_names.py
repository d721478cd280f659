"""Names that outlive a release: stored by devices and databases, sent over the wire, or written into exported scripts.

Code may be renamed and moved freely; these may not, or what an earlier release stored is no longer found.
"""

import importlib
import re
import sys
from pathlib import Path

import pytest
import sottovoce.client
from sottovoce.aggregator import open_results
from sottovoce.aggregator.i18n.translator import LANGUAGE_COOKIE
from sottovoce.aggregator.storage.connect import FILE

from tests.page_files import page_files

ROOT = Path(__file__).parents[2]

FORMATS = {
    "batch", "blind", "budget", "comparison", "crosstab", "data", "draft", "export", "items", "ledger", "mixture",
    "pairs", "planned", "preregistration", "privacy", "progress", "question", "receipt", "record", "records",
    "redeem", "redemption", "regression", "rehearsal", "release", "report", "reports", "revisions", "shares",
    "status", "survey", "test", "token", "tokens", "verification", "weights", "withdrawal",
}  # fmt: skip
"""Formats of documents and of bytes that are hashed, each ``sottovoce-NAME/1``, a draft's ``/2``."""

STARTED_BY_NAME = ("sottovoce.cli.main:main", "sottovoce.cli.worker:make_app")
"""Modules that installed commands, containers and units of the operating system name."""


def test_formats_have_the_names_of_earlier_releases() -> None:
    """A device or an archive that holds one of them finds its reader, and a new format has a line here."""
    named = set()
    for path in (path for side in ("shared", "client", "aggregator") for path in (ROOT / side).rglob("*")):
        if path.suffix in {".py", ".js"} and "audit" not in path.parts:
            named |= set(re.findall(r"sottovoce-([a-z]+)/[12]\b", path.read_text(encoding="utf-8")))

    assert named == FORMATS


@pytest.mark.parametrize("name", STARTED_BY_NAME)
def test_modules_started_by_name_are_there(name: str) -> None:
    """The server imports its worker by name."""
    module, _, function = name.partition(":")

    assert callable(getattr(importlib.import_module(module), function))


def test_exported_scripts_find_the_names_that_they_import() -> None:
    """A script that was exported years ago says ``from sottovoce.aggregator import open_results``."""
    assert callable(open_results)
    assert sottovoce.client.__all__ == ["FileLedger", "MemoryLedger", "Respondent"]
    assert "sottovoce.aggregator" in sys.modules


def test_browsers_find_what_they_have_stored() -> None:
    served = {name: file.body.decode() for name, file in page_files().items() if name.endswith((".js", ".html"))}
    code = "".join(served.values())

    assert "sw.js" in served
    assert {"sottovoce-page-", "sottovoce-kept"} <= set(re.findall(r"sottovoce-(?:page-|kept)", code))
    assert 'DATABASE = "sottovoce"' in code
    assert re.search(r"name = DATABASE\) \{[^}]*\.open\(name, 1\)", code)


def test_server_finds_what_it_has_stored() -> None:
    assert FILE == "sottovoce.sqlite"
    assert LANGUAGE_COOKIE == "sottovoce-language"
