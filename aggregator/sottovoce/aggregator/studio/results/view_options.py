"""Choices of the reader on the page "Results", from the parameters of its URL."""

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.aggregator.estimators import DEFAULT_RULE

LEVELS = ("80", "90", "99")
"""Confidence levels of the intervals in percent that can be chosen beside the usual 95."""

MOST_PEOPLE = 10_000_000_000
"""Largest accepted number of people; more than the population of the Earth."""


@dataclass(frozen=True)
class ViewOptions:
    """
    Choices of the reader, from the parameters of the URL.

    Attributes:
        cohort: name of a group of cohorts; None for all respondents.
        wave: wave as text of the URL, not yet validated; None for all.
        by: ``cohort`` or ``wave`` to compare estimates side by side; "" for neither.
        by_size: True to sort options by size, largest first.
        people: size of the whole group, to show shares as numbers of people; None to show shares only.
        is_refused: True if the size of the group is not a valid number.
        among_all: True for shares among all people, also where some did not answer.
        level: confidence level of the intervals in percent, one of ``LEVELS``; "" for the usual one.
    """

    cohort: str | None
    wave: str | None
    by: str
    by_size: bool
    people: int | None
    is_refused: bool
    among_all: bool = False
    level: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "ViewOptions":
        """Parse the parameters of the URL."""
        written = query.get("people", "").strip()
        people = (
            int(written) if written.isascii() and written.isdigit() and len(written) <= len(str(MOST_PEOPLE)) else 0
        )
        known = 1 <= people <= MOST_PEOPLE
        by = query.get("by", "")
        return cls(
            query.get("cohort") or None,
            query.get("wave") or None,
            by if by in {"cohort", "wave"} else "",
            query.get("sort") == "size",
            people if known else None,
            bool(written) and not known,
            query.get("among") == "all",
            query.get("confidence", "") if query.get("confidence") in LEVELS else "",
        )

    @property
    def confidence(self) -> float:
        """Nominal coverage of the intervals."""
        return int(self.level) / 100 if self.level else DEFAULT_RULE.confidence

    @property
    def address(self) -> dict[str, object]:
        """Parameters of a URL with the same view; None leaves a parameter out."""
        return {
            "cohort": self.cohort,
            "wave": self.wave,
            "by": self.by or None,
            "sort": "size" if self.by_size else None,
            "people": self.people,
            "among": "all" if self.among_all else None,
            "confidence": self.level or None,
        }
