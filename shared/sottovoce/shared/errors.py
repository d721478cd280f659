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
"""

from collections.abc import Mapping, Sequence
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
    """No estimate exists for these counts."""

    code = "estimate_impossible"


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
