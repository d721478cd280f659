"""File of one question for other systems, and the address of its frame, for ``question`` and ``audit``."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import click
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.errors import SpecError
from sottovoce.shared.file_errors import cannot_read
from sottovoce.shared.single_question import SingleBlock, SingleQuestion, is_frame_address, parse_asked, parse_question

Asked = TypeVar("Asked", SingleQuestion, SingleQuestion | SingleBlock)


def read_question(path: Path) -> SingleQuestion:
    """Return the question in a file.

    Raises:
        SpecError: it is no question; the message names the file, the key and what to change.
        ClickException: the file cannot be read.
    """
    return _read(path, parse_question)


def read_asked(path: Path) -> SingleQuestion | SingleBlock:
    """Return the question or block in a file; it raises what ``read_question`` does."""
    return _read(path, parse_asked)


def _read(path: Path, parse: Callable[[object], Asked]) -> Asked:
    try:
        return parse(parse_yaml(path.read_bytes()))
    except OSError as error:
        raise click.ClickException(cannot_read(path, error)) from None
    except SpecError as error:
        error.file = path.name
        raise


def check_frame_address(address: str | None, option: str) -> str:
    """Return the address of a frame's folder, or refuse it with a ``UsageError`` that names the option.

    Args:
        address: as given; None if it was not.
        option: that gave it.
    """
    if address and is_frame_address(address):
        return address
    raise click.UsageError(f"{option} is the frame's address, such as https://q.example.org/q/1/")
