"""Answers from a file instead of an interview; the file is only read, and nothing of it is ever repeated."""

from pathlib import Path
from typing import BinaryIO

from sottovoce.client.respondent import Respondent, encode
from sottovoce.client.terminal.screen import tell
from sottovoce.shared import canonical
from sottovoce.shared.errors import AnswerError


def read_answers(file: BinaryIO, me: Respondent) -> dict[str, object]:
    """
    The answers in a file, checked whole before anything is drawn.

    Raises:
        AnswerError: it is not JSON, or an answer is missing or does not fit; nothing of the file is repeated.
    """
    try:
        answers: dict[str, object] = canonical.load(file.read())
    except ValueError as error:
        raise AnswerError(f"the file of answers {error}") from None
    encode(me.survey, answers, me.places)
    return answers


def tell_what_remains(file: BinaryIO | None) -> None:
    """The last words: where true answers can still be seen, if anywhere; without a file they were typed."""
    if file is None:
        tell("\nYour answers may still be visible in this terminal. Close it if other people use it.")
    elif file.name not in {"-", "<stdin>"}:
        tell(f"\nThe file {Path(file.name).name} still holds your true answers: delete it.")
