"""Read the reader's choices on the page "Results" from the parameters of its URL."""

from collections.abc import Mapping
from dataclasses import dataclass

from sottovoce.aggregator.authoring.draft import whole_number
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.shared.arms.arms import ARM

LEVELS = ("80", "90", "99")
"""Confidence levels of the intervals in percent that can be chosen beside the usual 95."""

ORDERS = ("size", "asked")

MOST_PEOPLE = 10_000_000_000
"""Largest accepted number of people; more than the population of the Earth."""


@dataclass(frozen=True)
class ViewOptions:
    """Choices of the reader, from the parameters of the URL.

    Attributes:
        cohort: name of a group of cohorts; None for all respondents.
        wave: wave as text of the URL, not yet validated; None for all.
        by: ``arm`` (the default, for surveys with arms), ``cohort`` or ``wave`` to compare estimates side by side; ""
            for none of them.
        order: ``size`` or ``asked`` for the order of options; "" for by size, and public questions as asked.
        people: size of the whole group, to show shares as numbers of people; None to show shares only.
        is_refused: True if the size of the group is not a valid number.
        among_all: True for shares among all people, also where some did not answer.
        level: confidence level of the intervals in percent, one of ``LEVELS``; "" for the usual one.
        zoomed: True for axes that span the intervals only, not all of the possible range.
    """

    cohort: str | None
    wave: str | None
    by: str
    order: str
    people: int | None
    is_refused: bool
    among_all: bool = False
    level: str = ""
    zoomed: bool = False

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "ViewOptions":
        """Parse the parameters of the URL."""
        written = query.get("people", "").strip()
        people = whole_number(written, len(str(MOST_PEOPLE))) or 0
        known = 1 <= people <= MOST_PEOPLE
        by = query.get("by", ARM)
        return cls(
            query.get("cohort") or None,
            query.get("wave") or None,
            by if by in {ARM, "cohort", "wave"} else "",
            query.get("sort", "") if query.get("sort") in ORDERS else "",
            people if known else None,
            bool(written) and not known,
            query.get("among") == "all",
            query.get("confidence", "") if query.get("confidence") in LEVELS else "",
            query.get("axis") == "zoom",
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
            "by": None if self.by == ARM else self.by,
            "sort": self.order or None,
            "people": self.people,
            "among": "all" if self.among_all else None,
            "confidence": self.level or None,
            "axis": "zoom" if self.zoomed else None,
        }
