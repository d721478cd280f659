"""What every file says of itself: which survey it is of, what a report costs, and which version wrote it."""

from dataclasses import dataclass
from importlib.metadata import version

from sottovoce.shared.spec import Survey

TRIAL = "TRIAL: a try-out and not the real survey; nothing here is a result"
"""The first line of each file of a try-out."""


@dataclass(frozen=True)
class About:
    """
    A file's provenance.

    Attributes:
        survey: the newest revision.
        version: of this software.
    """

    survey: Survey
    version: str

    @classmethod
    def of(cls, survey: Survey) -> "About":
        """Written by the version that is running."""
        return cls(survey, version("sottovoce"))

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
        """The warning of a try-out first, then the line."""
        return [TRIAL, self.line] if self.survey.trial else [self.line]

    @property
    def pairs(self) -> dict[str, str]:
        """By name; "trial" is there only for a try-out."""
        survey = self.survey
        trial = {"trial": TRIAL} if survey.trial else {}
        return trial | {
            "survey": survey.name,
            "revision": str(survey.revision),
            "digest": survey.digest,
            "epsilon": f"{survey.epsilon:.6g}",
            "version": self.version,
        }
