"""
``manifest.json`` of a folder of reports, ``sottovoce-reports/1``: what was asked, which parts there are.

    survey=NAME/revision=R/wave=W/part-0000.parquet
    manifest.json

A part has a column for each question of the newest revision, as a rule the private ones and the cohort, in its order
and its narrowest unsigned type, null where it was not asked; last ``n``, how many reports are this very row. The rows
of a revision and wave are distinct and sorted, and cut into parts of so many rows: what is written follows from the
multiset of reports alone, and has no order, id or time that could tell anything. No name in a manifest is ever a path.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
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
"""Bytes of a manifest."""

Whole = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Tally = dict[Whole, Whole]
"""How many reports by counted value."""


class ReportFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file: its rows, the reports that they stand for, its size and its SHA-256."""

    rows: Whole
    reports: Whole
    bytes: Whole
    sha256: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


class OfWave(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The reports of one revision and wave; ``tallies`` of private questions, counted before rows were written."""

    revision: Whole
    wave: Annotated[int, msgspec.Meta(ge=0, lt=1 << 16)]
    withdrawn: Whole
    tallies: dict[str, Tally]
    parts: tuple[ReportFile, ...]

    @property
    def reports(self) -> int:
        """How many there are."""
        return sum(part.reports for part in self.parts)


class ExportedRevision(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A revision: its canonical bytes as text, whether it is closed, and how many reports are told of it."""

    digest: str
    closed: bool
    received: Whole
    canonical: str


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """
    What a folder of reports says of itself.

    Attributes:
        about: as every file has it, a try-out's mark first.
        public_rows: the rows have the answers to public questions.
        asked: the revisions, oldest first.
        waves: of each revision, and each wave.
        public: by wave and public question the counts that results show, none where they are published under a budget.
            Rows tell no more of them than they must.
        wave: the one that was written; None for all of them.
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
    """
    A manifest whose surveys have been read.

    Attributes:
        manifest: as it was written.
        surveys: the revisions, oldest first.
    """

    manifest: Manifest
    surveys: tuple[Survey, ...]

    @property
    def survey(self) -> Survey:
        """The newest revision."""
        return self.surveys[-1]

    @cached_property
    def columns(self) -> tuple[Question, ...]:
        """The questions that have a column."""
        return tuple(questions_in(self.survey, self.manifest.public_rows))

    @property
    def header(self) -> tuple[str, ...]:
        """The columns' names."""
        return (*(question.name for question in self.columns), extra_name("n", [q.name for q in self.columns]))

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Bytes of each column's type but the last one's."""
        asked = [question for survey in self.surveys for question in survey.questions]
        return tuple(column_type(question, asked).itemsize for question in self.columns)

    def of_revision(self, number: int) -> Survey:
        """The survey as this revision asks it."""
        return next(survey for survey in self.surveys if survey.revision == number)

    @property
    def parts(self) -> Iterator[tuple[OfWave, str, ReportFile]]:
        """Each part with whose it is, and its place in the folder."""
        for of_wave in self.manifest.waves:
            for number, part in enumerate(of_wave.parts):
                yield of_wave, place_of(self.survey.name, of_wave.revision, of_wave.wave, number), part


def place_of(survey: str, revision: int, wave: int, part: int) -> str:
    """
    Where a part lies in its folder, with ``/`` between.

    Args:
        survey: its name.
        revision: whose reports.
        wave: of theirs, from 0.
        part: from 0.
    """
    return f"survey={survey}/revision={revision}/wave={wave}/part-{part:04}.parquet"


def dump_manifest(manifest: Manifest) -> bytes:
    """The text of the file; the same manifest, the same bytes."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=2) + b"\n"


def read_manifest(data: bytes) -> Described:
    """
    The manifest in these bytes.

    Raises:
        SpecError: it is none, or holds what no export holds.
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


def says_format(data: bytes) -> bool:
    """Whether these bytes mean to be such a manifest, whole or not: the format is the first thing in it."""
    return re.match(rb'\s*\{\s*"format"\s*:\s*"sottovoce-reports/', data) is not None


def _check(described: Described) -> None:
    manifest, surveys = described.manifest, described.surveys
    if not surveys:
        raise SpecError(f"{NAME} holds no survey")
    if any(survey.digest != asked.digest for survey, asked in zip(surveys, manifest.asked, strict=True)):
        raise SpecError(f"{NAME}: the digest is not that of the survey beside it")
    numbers = [survey.revision for survey in surveys]
    if len({survey.name for survey in surveys}) > 1 or numbers != sorted(set(numbers)):
        raise SpecError(f"{NAME}: its surveys are not the revisions of one survey, oldest first")
    keys = [(of_wave.revision, of_wave.wave) for of_wave in manifest.waves]
    most = {survey.revision: len(survey.waves) for survey in surveys}
    if len(set(keys)) < len(keys) or any(wave >= most.get(revision, 0) for revision, wave in keys):
        raise SpecError(f"{NAME}: names a revision or wave that there is not, or one of them twice")
    _check_public(described)


def _check_public(described: Described) -> None:
    public = {q.name: q for q in described.survey.questions if q.mechanism is None}
    for tallies in described.manifest.public.values():
        known = set(tallies) <= set(public)
        if not known or any(not public[name].admits(value) for name, found in tallies.items() for value in found):
            raise SpecError(f"{NAME}: counts what is no answer to a public question")


def merged(tallies: Iterable[Mapping[int, int]]) -> dict[int, int]:
    """The sum of several tallies, ascending."""
    found: dict[int, int] = {}
    for tally in tallies:
        for value, count in tally.items():
            found[value] = found.get(value, 0) + count
    return dict(sorted(found.items()))
