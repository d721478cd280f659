"""Manifest of a folder of reports, ``manifest.json`` in format ``sottovoce-reports/1``: the survey, and a list of
parts.

    survey=NAME/revision=R/wave=W/part-0000.parquet
    manifest.json

A part has a column for each exported question of the newest revision (by default the private ones and the cohort), in
the survey's order and the narrowest unsigned type, null where not asked. The last column ``n`` is the number of reports
equal to this row. The rows of a revision and wave are distinct and sorted, and split into parts of fixed size. The
files depend on the multiset of reports only: no order, id or time can reveal anything. A manifest contains no paths:
readers derive them from the validated survey name and from numbers.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

import msgspec
from sottovoce.aggregator.analysis.shown_columns import column_type, questions_in
from sottovoce.aggregator.export.tables import extra_name
from sottovoce.aggregator.file_formats.provenance import MANIFEST
from sottovoce.shared.errors import SpecError, SurveyError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Question, Survey

FORMAT: Literal["sottovoce-reports/1"] = "sottovoce-reports/1"
NAME = MANIFEST
LARGEST = 1 << 28
"""Most bytes to read of a manifest."""

Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
RevisionWave = tuple[int, int]
Tally = dict[Whole, Whole]
"""Number of reports by counted value."""


class ReportFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part, with its number of rows, number of reports, size in bytes and SHA-256."""

    rows: Whole
    reports: Whole
    bytes: Whole
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class OfWave(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Reports of one revision and wave; ``tallies`` of private questions were counted before the rows were written."""

    revision: Whole
    wave: Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)]
    withdrawn: Whole
    tallies: dict[str, Tally]
    parts: tuple[ReportFile, ...]

    @property
    def key(self) -> RevisionWave:
        """Revision and wave of these reports."""
        return self.revision, self.wave

    @property
    def reports(self) -> int:
        """Number of reports in all parts."""
        return sum(part.reports for part in self.parts)


class ExportedRevision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A revision: its canonical survey as text, whether it is closed, and the published number of reports."""

    digest: str
    closed: bool
    received: Whole
    canonical: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Manifest of a folder of reports.

    Attributes:
        about: provenance, as in every file; the mark of a test run comes first.
        public_rows: whether the rows contain answers to public questions.
        asked: the revisions, oldest first.
        waves: entries of each revision and wave.
        public: published counts by wave and public question, without those that are published under a budget. They
            replace the columns of public questions, which the rows omit by default.
        wave: the exported wave; None for all.
    """

    format: Literal["sottovoce-reports/1"]
    about: dict[str, str]
    public_rows: bool
    asked: tuple[ExportedRevision, ...]
    waves: tuple[OfWave, ...]
    public: dict[Whole, dict[str, Tally]]
    wave: Whole | None = None


@dataclass(frozen=True)
class Described:
    """A manifest as written, with its parsed revisions, oldest first."""

    manifest: Manifest
    surveys: tuple[Survey, ...]

    @property
    def survey(self) -> Survey:
        """Newest revision of the survey."""
        return self.surveys[-1]

    @cached_property
    def columns(self) -> tuple[Question, ...]:
        """Questions that have a column."""
        return tuple(questions_in(self.survey, self.manifest.public_rows))

    @property
    def header(self) -> tuple[str, ...]:
        """Names of the columns of a part."""
        return (*(question.name for question in self.columns), extra_name("n", [q.name for q in self.columns]))

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Width in bytes of each column except the last."""
        asked = [question for survey in self.surveys for question in survey.questions]
        return tuple(column_type(question, asked).itemsize for question in self.columns)

    @property
    def parts(self) -> Iterator[tuple[OfWave, str, ReportFile]]:
        """Yield (revision and wave entry, relative path, part) for all parts."""
        for of_wave in self.manifest.waves:
            for number, part in enumerate(of_wave.parts):
                yield of_wave, place_of(self.survey.name, of_wave.revision, of_wave.wave, number), part


def place_of(survey: str, revision: int, wave: int, part: int) -> str:
    """Return the relative path of a part in its folder, with ``/`` as separator; ``wave`` and ``part`` count from 0."""
    return f"survey={survey}/revision={revision}/wave={wave}/part-{part:04}.parquet"


def read_manifest(data: bytes) -> Described:
    """Parse and validate a manifest.

    Raises SpecError if the bytes are no manifest, or its content is inconsistent.
    """
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise SpecError(f"{NAME} is no manifest of reports ({FORMAT})") from None
    try:
        surveys = tuple(load_survey(asked.canonical.encode()) for asked in manifest.asked)
    except SurveyError:
        raise SpecError(f"{NAME}: a survey in it cannot be read") from None
    described = Described(manifest, surveys)
    _check(described)
    return described


def states_format(data: bytes) -> bool:
    """Say whether the bytes start like a manifest of reports, even a truncated or invalid one."""
    return re.match(rb'\s*\{\s*"format"\s*:\s*"sottovoce-reports/', data) is not None


def _check(described: Described) -> None:
    manifest, surveys = described.manifest, described.surveys
    if not surveys:
        raise SpecError(f"{NAME} holds no survey")
    if any(survey.digest != asked.digest for survey, asked in zip(surveys, manifest.asked, strict=True)):
        raise SpecError(f"{NAME}: the digest differs from that survey's own digest")
    numbers = [survey.revision for survey in surveys]
    if len({survey.name for survey in surveys}) > 1 or numbers != sorted(set(numbers)):
        raise SpecError(f"{NAME}: its surveys are not the revisions of one survey, oldest first")
    # A duplicate entry would be counted twice.
    keys = [of_wave.key for of_wave in manifest.waves]
    most = {survey.revision: len(survey.waves) for survey in surveys}
    if len(set(keys)) < len(keys) or any(wave >= most.get(revision, 0) for revision, wave in keys):
        raise SpecError(f"{NAME}: names a revision or wave that there is not, or one of them twice")
    public = {q.name: q for q in described.survey.questions if q.mechanism is None}
    for tallies in described.manifest.public.values():
        known = set(tallies) <= set(public)
        if not known or any(not public[name].admits(value) for name, found in tallies.items() for value in found):
            raise SpecError(f"{NAME}: counts what is no answer to a public question")
