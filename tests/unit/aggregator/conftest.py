"""What all tests of the aggregator share."""

import pytest
from flask import Flask
from jinja2 import FileSystemBytecodeCache


@pytest.fixture(scope="session", autouse=True)
def compiled_templates(tmp_path_factory: pytest.TempPathFactory) -> None:
    """
    Compile each template once for all applications of a process.

    Most tests make an application of their own, and each would compile the pages that it shows: that took longer
    than showing them.
    """
    Flask.jinja_options = {"bytecode_cache": FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))}
