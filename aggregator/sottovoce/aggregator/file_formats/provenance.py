"""Provenance of exported files (survey, epsilon of a report, version of the software), and JSON documents as text."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.release import release
from sottovoce.shared.spec import Survey

TRIAL = "TEST RUN: not the real survey; nothing here is a result"
"""Warning in each file of a test run."""

SIMULATED = "SIMULATION: this program made up all people and answers; nothing here is a result"
"""Warning in each file of a simulation; importing refuses files that have it."""

SIMULATED_BEFORE = "REHEARSAL: all people were invented"
"""Beginning of the same warning in files of releases before 0.4, which importing refuses as well."""

INVENTED = "this is a simulation: its people and answers are made up; take a file of real reports"
"""Reason for which importing refuses a file of a simulation."""

MANIFEST = "manifest.json"
"""File in the folder of a simulation only: the warning, the settings and the list of files."""


@dataclass(frozen=True)
class About:
    """Provenance of a file: newest revision of the survey, version of the software, if reports are simulated, and the
    largest epsilon of a report of earlier revisions, whose reports the file may count.
    """

    survey: Survey
    version: str
    rehearsal: bool = False
    earlier: float = 0.0

    @classmethod
    def of(cls, survey: Survey, rehearsal: bool = False, revisions: Iterable[Survey] = ()) -> "About":
        """Return the provenance of a file that the running version writes."""
        return cls(survey, release(), rehearsal, max((each.epsilon for each in revisions), default=0.0))

    @property
    def marks(self) -> Mapping[str, str]:
        """Warning by its keyword, ``rehearsal`` or ``trial``; empty for files with results."""
        if self.rehearsal:
            return {"rehearsal": SIMULATED}
        return {"trial": TRIAL} if self.survey.trial else {}

    @property
    def warning(self) -> str:
        """Warning as a sentence; "" for files with results."""
        return "".join(self.marks.values())

    @property
    def prefix(self) -> str:
        """Prefix of file names, so that the name shows a test run or simulation; "" for files with results."""
        return f"{self.warning.partition(':')[0].replace(' ', '-')}-" if self.warning else ""

    @property
    def line(self) -> str:
        """Provenance in one line, without the warning."""
        survey = self.survey
        earlier = f", of earlier revisions up to {self.pairs['epsilon']}" if self.earlier > survey.epsilon else ""
        return (
            f"survey {survey.name}; revision {survey.revision}; digest {survey.digest}; "
            f"epsilon of a report {show_epsilon(survey.epsilon)}{earlier}; sottovoce {self.version}"
        )

    @property
    def lines(self) -> list[str]:
        """Warning, if there is one, then the line."""
        return [*self.marks.values(), self.line]

    @property
    def pairs(self) -> dict[str, str]:
        """Provenance as pairs of name and value, with the warning first if there is one."""
        survey = self.survey
        return {
            **self.marks,
            "survey": survey.name,
            "revision": str(survey.revision),
            "digest": survey.digest,
            "epsilon": f"{show_epsilon(max(survey.epsilon, self.earlier))}",
            "version": self.version,
        }


def marked(document: Mapping[str, Any], about: About) -> dict[str, Any]:
    """Put the warning of a simulation first in a document, under a key that readers of real files refuse."""
    return {**(about.marks if about.rehearsal else {}), **document}


def write_marked(path: Path, document: Mapping[str, Any], about: About) -> None:
    """Write a document as JSON, unchanged except for the warning of a simulation at its head."""
    path.write_text(json_text(marked(document, about)), encoding="utf-8")


def json_text(document: dict[str, Any]) -> str:
    """Format a document as text with its first key in the first line, where a warning is seen at once."""
    return json.dumps(document, indent=2, ensure_ascii=False).replace("{\n  ", "{", 1) + "\n"
