"""What every file says of itself: which survey it is of, what a report costs, and which version wrote it."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version

from sottovoce.shared.spec import Survey

TRIAL = "TRIAL: a try-out and not the real survey; nothing here is a result"
"""The first line of each file of a try-out."""

REHEARSAL = "REHEARSAL: all people were invented by this program; nobody answered, and nothing here is a result"
"""The first line of each file of a rehearsal; who reads files back refuses what says so."""


INVENTED = "this is a rehearsal: the people in it were invented, and nobody answered"
"""Why it is refused."""

MANIFEST = "manifest.json"
"""In the folder of a rehearsal alone: that it is one, what was set, and its files."""


@dataclass(frozen=True)
class About:
    """
    A file's provenance.

    Attributes:
        survey: the newest revision.
        version: of this software.
        rehearsal: its reports were invented.
    """

    survey: Survey
    version: str
    rehearsal: bool = False

    @classmethod
    def of(cls, survey: Survey, rehearsal: bool = False) -> "About":
        """
        Written by the version that is running.

        Args:
            survey: the newest revision.
            rehearsal: its reports were invented.
        """
        return cls(survey, version("sottovoce"), rehearsal)

    @property
    def marks(self) -> Mapping[str, str]:
        """What must not be taken for results, by the word for it; nothing for what may."""
        if self.rehearsal:
            return {"rehearsal": REHEARSAL}
        return {"trial": TRIAL} if self.survey.trial else {}

    @property
    def warning(self) -> str:
        """The same as a sentence; "" for what may."""
        return "".join(self.marks.values())

    @property
    def prefix(self) -> str:
        """What the name of a file begins with, so that nobody has to open it to know."""
        return "".join(f"{word.upper()}-" for word in self.marks)

    @property
    def line(self) -> str:
        """In one line."""
        survey = self.survey
        return (
            f"survey {survey.name}; revision {survey.revision}; digest {survey.digest}; "
            f"epsilon of a report {survey.epsilon:.6g}; sottovoce {self.version}"
        )

    @property
    def lines(self) -> list[str]:
        """The warning of a try-out or a rehearsal first, then the line."""
        return [*self.marks.values(), self.line]

    @property
    def pairs(self) -> dict[str, str]:
        """By name; "trial" or "rehearsal" is there only for one."""
        survey = self.survey
        return {
            **self.marks,
            "survey": survey.name,
            "revision": str(survey.revision),
            "digest": survey.digest,
            "epsilon": f"{survey.epsilon:.6g}",
            "version": self.version,
        }
