"""The errors that Sottovoce raises on purpose; anything else that escapes is a bug.

SurveyError                  code, message; safe to show; never an answer, drawn byte or token
|- SpecError                 the survey itself is wrong                  both sides
|- AnswerError               the answer is not in the question's domain  client only
|- BudgetExhausted           charging would pass the budget              client, curator
|- TransportError            aggregator unreachable or refused           client only
|- ReportRejected            not admitted; reason from the closed list   aggregator
|- EstimateError             too few reports, no inverse                 aggregator
|  |- StillOpen              joint results of what is open               aggregator
|  `- OptionsError           no such analysis can be asked for           aggregator
`- StorageError              unavailable, conflict, old schema           aggregator
`- RevisionConflict       another revision was published first        aggregator

Their messages are English sentences that can be said in another language: they know how they were made. What is wrong
with a file or a name is said with a similar name, if there is one, and with the way to install an extra.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

REJECTIONS = (
    "malformed",
    "too_large",
    "length_required",
    "unsupported_type",
    "unknown_survey",
    "closed",
    "digest_mismatch",
    "out_of_range",
    "id_conflict",
    "withdrawn",
    "token_invalid",
    "busy",
)
"""The closed list of reasons for which a report is not admitted."""


MAY_PASS = frozenset({408, 425, 429})
"""Statuses below 500 that ask for another try."""


def did_you_mean(word: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return a sentence, with a space before it, that suggests the most similar of the known words; "" without one.

    ``cutoff`` is the similarity from which on a word is suggested, from 0 to 1.
    """
    # Only here: every start of the client would wait for it.
    from difflib import get_close_matches

    similar = get_close_matches(word, list(known), n=1, cutoff=cutoff)
    return f' Did you mean "{similar[0]}"?' if similar else ""


def cannot_read(path: Path, error: OSError) -> str:
    """Return a sentence on a file that could not be read; a missing one gets the name of a similar file beside it."""
    if isinstance(error, FileNotFoundError):
        names = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        return f'the file "{path}" was not found.{did_you_mean(path.name, names, cutoff=0.75)}'
    return f'the file "{path}" cannot be read: {_reason(path, error)}'


def cannot_write(path: Path, error: OSError) -> str:
    """Return a sentence on a file that could not be written."""
    if isinstance(error, FileExistsError):
        return f'the file "{path}" exists already; it was left as it is. Name another one'
    if not path.parent.is_dir():
        return f'the file "{path}" cannot be written: the folder "{path.parent}" does not exist'
    return f'the file "{path}" cannot be written: {_reason(path, error)}'


def _reason(path: Path, error: OSError) -> str:
    if isinstance(error, IsADirectoryError) or path.is_dir():
        return "it is a folder"
    if isinstance(error, PermissionError):
        return "you have no permission"
    return (error.strerror or "the system refuses").lower()


def install_command(extra: str) -> str:
    """Return the commands that install an extra from a checkout or a wheel.

    A bare ``sottovoce[...]`` would ask a package index, where the name may belong to others.
    """
    return f'pip install ".[{extra}]" in a checkout, or pip install "FILE.whl[{extra}]" with the file of the release'


class Sentence(str):
    """An English text that every function for texts accepts, and that catalogues can translate.

    Catalogues know it by its ``pattern``, the sentence with ``{places}``; ``values`` stand in them. The places are
    named for what stands there: ``variable``, ``other`` and ``variables`` for the names of a survey's variables,
    ``category`` and ``categories`` for those of ``variable``, ``row``, ``column`` and ``group`` for categories of a
    table, ``term`` and ``terms`` for those of a model, ``note``, ``reason``, ``reasons`` and ``limits`` for sentences.
    """

    __slots__ = ("pattern", "values")

    pattern: str
    values: Mapping[str, object]

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, object]]:
        """Keep how it was made, from one machine to another."""
        return (self.pattern,), dict(self.values)

    def __new__(cls, pattern: str, /, **values: object) -> "Sentence":
        """Fill the places of a pattern, one value each: whole numbers are grouped, several names are a tuple."""
        made = super().__new__(cls, pattern.format(**{name: _english(value) for name, value in values.items()}))
        made.pattern = pattern
        made.values = values
        return made


def error_message(error: Exception) -> str:
    """Return the message of an error: its ``Sentence`` if it was raised with one, which ``str`` would lose."""
    first = error.args[0] if error.args else ""
    return first if isinstance(first, str) else str(error)


def _english(value: object) -> str:
    if isinstance(value, tuple):
        return ("; " if any(isinstance(each, Sentence) for each in value) else ", ").join(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


class Problem(NamedTuple):
    """A mistake in a survey file: where (JSON pointer, "" for the whole) and what."""

    pointer: str
    message: str


class SurveyError(Exception):
    """The base of the tree; ``code`` is stable, the message is safe to show to anyone."""

    code = "error"


class SpecError(SurveyError):
    """The survey itself is wrong; ``problems`` are every mistake found.

    ``places``: where their pointers lead, in words, if it was read from a file; ``file``: its name as given, or "".
    """

    code = "spec_invalid"
    file = ""

    def __init__(self, problems: Sequence[Problem] | str, places: Mapping[str, str] | None = None) -> None:
        self.places = places or {}
        self.problems = (Problem("", problems),) if isinstance(problems, str) else tuple(problems)
        super().__init__("; ".join(f"{p.pointer or '/'}: {p.message}" for p in self.problems))

    def __reduce__(self) -> tuple[type["SpecError"], tuple[object, ...]]:
        """Keep the same error from one machine to another, and not one that quotes itself."""
        return type(self), (self.problems, dict(self.places))


class AnswerError(SurveyError):
    """The answer is not in the question's domain; the message names the question, never the answer."""

    code = "answer_invalid"


class BudgetExhausted(SurveyError):
    """The survey asks for more epsilon than the respondent allows, or for a second draw."""

    code = "budget_exhausted"


class DrawnElsewhere(BudgetExhausted):
    """A report drawn here with another token is unacknowledged, and the person has not said whether it is theirs."""

    def __init__(self) -> None:
        super().__init__("with another link an answer was drawn here and not accepted; was that you?")


class AnsweredPersonally(BudgetExhausted):
    """A report was drawn here with a personal link; a survey that is open to all now would get a second one."""

    def __init__(self) -> None:
        super().__init__(
            "this survey was answered here with a personal link, and now says that it is open to all, which no survey "
            "does; nothing was drawn and nothing was sent"
        )


class TransportError(SurveyError):
    """The aggregator could not be reached, or refused.

    ``status`` is None when no reply came; ``reason`` is the problem document's ``code``, or None.
    """

    code = "transport"

    def __init__(self, message: str, status: int | None = None, reason: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason

    @property
    def is_final(self) -> bool:
        """The aggregator has refused, and the same request will be refused again."""
        return self.status is not None and 400 <= self.status < 500 and self.status not in MAY_PASS


class NotYet(TransportError):
    """The report waits on the device until ``send_at``, in seconds since 1970, that was drawn with it.

    No request is sent before.
    """

    def __init__(self, send_at: int) -> None:
        super().__init__("the report waits on this device until its moment; nothing was sent")
        self.send_at = send_at


class ReportRejected(SurveyError):
    """The report is not admitted; ``code`` is one of ``REJECTIONS``."""

    def __init__(self, reason: str, message: str) -> None:
        if reason not in REJECTIONS:
            raise ValueError("a rejection reason is one of the closed list")
        super().__init__(message)
        self.code = reason


class EstimateError(SurveyError):
    """No estimate exists for these counts; ``values`` stand in the places of the message, as in a ``Sentence``."""

    code = "estimate_impossible"

    def __init__(self, message: str, /, **values: object) -> None:
        super().__init__(Sentence(message, **values) if values else message)


class StillOpen(EstimateError):
    """The requested result exists only after the survey, or the wave, is closed."""

    code = "still_open"


class OptionsError(EstimateError):
    """The options of an analysis are none, with every mistake; messages name the option, never what was given."""

    code = "options_invalid"

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(f"{one.pointer.lstrip('/') or 'the options'}: {one.message}" for one in problems))


class StorageError(SurveyError):
    """The database is unavailable, in conflict, or of an unknown schema."""

    code = "storage"


class RevisionConflict(StorageError):
    """Another revision of the survey was published first; nothing was stored."""

    code = "revision_conflict"
