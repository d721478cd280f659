"""Locations of folders of reports: a local directory, or a bucket (``s3://``, with pyarrow's S3 client).

The manifest of a folder, ``manifest.json`` in format ``sottovoce-reports/1``, has the survey, and a list of parts.

    survey=NAME/revision=R/wave=W/part-0000.parquet
    manifest.json

A part has a column for each exported question of the newest revision (by default the private ones and the cohort), in
the survey's order and the narrowest unsigned type, null where not asked. The last column ``n`` is the number of reports
equal to this row. The rows of a revision and wave are distinct and sorted, and split into parts of fixed size. The
files depend on the multiset of reports only: no order, id or time can reveal anything. A manifest contains no paths:
readers derive them from the validated survey name and from numbers.
"""

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, BinaryIO, Literal, Protocol

import msgspec
from sottovoce.aggregator.analysis.shown_columns import column_type, questions_in
from sottovoce.aggregator.export.tables import extra_name
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.file_formats.provenance import MANIFEST
from sottovoce.shared.durable import digest_of_file
from sottovoce.shared.errors import SpecError, StorageError, SurveyError
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


BUCKET = "s3://"
ENDPOINT, REGION = "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION"
"""Environment variables that are read in addition to the AWS credentials; AWS' own programs use the same names."""

_BLOCK = 1 << 20


class ReportFolder(Protocol):
    """A folder of reports. Cluster workers receive pickled copies, so it holds an address and no open resources."""

    def manifest(self) -> bytes:
        """Read the bytes of the manifest; raise SpecError if there is none."""

    def parts(self) -> set[str]:
        """Return the relative paths of all Parquet files, with ``/`` as separator."""

    def whole(self, path: str, part: ReportFile) -> AbstractContextManager[Path]:
        """Open the file of a part, at a relative path, after its hash was checked against the manifest.

        Raises SpecError if the file is missing, or its hash differs.
        """


def place_named(name: str | Path) -> "LocalFolder | Bucket":
    """Return the local folder of a path, or the bucket of an ``s3://`` address."""
    return Bucket(name) if isinstance(name, str) and name.startswith(BUCKET) else LocalFolder(Path(name))


def is_countable(folder: "LocalFolder") -> bool:
    """Say whether a local folder has a manifest of reports, valid or not; a simulation has one of another format."""
    try:
        return re.match(rb'\s*\{\s*"format"\s*:\s*"sottovoce-reports/', folder.manifest()) is not None
    except SpecError:
        return False


@dataclass(frozen=True)
class LocalFolder:
    """A folder in the local file system."""

    path: Path

    def manifest(self) -> bytes:
        """Read the bytes of the manifest."""
        try:
            with (self.path / NAME).open("rb") as file:
                return file.read(LARGEST)
        except OSError:
            raise SpecError(_none(self.path.is_dir())) from None

    def parts(self) -> set[str]:
        """Return the relative paths of all Parquet files."""
        return {path.relative_to(self.path).as_posix() for path in self.path.rglob("*.parquet")}

    @contextmanager
    def whole(self, path: str, part: ReportFile) -> Iterator[Path]:
        """Yield the path of the file itself."""
        try:
            found = digest_of_file(self.path / path)
        except OSError:
            raise SpecError(_missing(path)) from None
        _check_hash(path, part, found)
        yield self.path / path


@dataclass(frozen=True)
class Bucket:
    """A folder in a bucket; the AWS environment variables give credentials, endpoint and region."""

    address: str

    def manifest(self) -> bytes:
        """Read the bytes of the manifest."""
        with self._asked() as (store, root), store.open_input_stream(f"{root}/{NAME}") as file:
            return bytes(file.read(LARGEST))

    def parts(self) -> set[str]:
        """Return the relative paths of all Parquet files."""
        with self._asked() as (store, root):
            return {path for path in self._files(store, root) if path.endswith(".parquet")}

    @contextmanager
    def whole(self, path: str, part: ReportFile) -> Iterator[Path]:
        """Yield the path of a temporary local copy, hashed during the download and deleted on exit."""
        with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
            copy = Path(folder, PurePosixPath(path).name)
            with self._asked(path) as (store, root), store.open_input_stream(f"{root}/{path}") as stream:
                found = _copied(stream, copy)
            _check_hash(path, part, found)
            yield copy

    def check_new(self) -> None:
        """Check that the location is empty, because exports never overwrite files.

        Raises StorageError if it is not, SpecError if the bucket cannot be reached.
        """
        with self._asked() as (store, root):
            if self._files(store, root):
                raise StorageError("there is something at this address already; it was left as it is: name another one")

    def take(self, folder: Path) -> None:
        """Upload a folder, the manifest last, so that an interrupted upload is not mistaken for a complete folder.

        Raises StorageError if the bucket cannot be written to.
        """
        files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        try:
            with self._asked() as (store, root):
                # False sorts before True: the manifest comes last.
                for path in sorted(files, key=lambda path: path.name == NAME):
                    with (folder / path).open("rb") as read, store.open_output_stream(f"{root}/{path}") as write:
                        shutil.copyfileobj(read, write, _BLOCK)
        except SpecError:
            raise StorageError("the bucket cannot be written to") from None

    @contextmanager
    def _asked(self, path: str = NAME) -> Iterator[tuple[Any, str]]:
        """Open pyarrow's file system; yield it with the folder's path in it, and translate its errors."""
        files = needed("pyarrow.fs", "cluster")
        try:
            # Unlike FileSystem.from_uri, this class does not ask AWS for the region of the bucket: the environment
            # gives it, or AWS' default applies.
            store = files.S3FileSystem(endpoint_override=os.environ.get(ENDPOINT), region=os.environ.get(REGION))
            yield store, self.address.removeprefix(BUCKET).rstrip("/")
        except FileNotFoundError:
            raise SpecError(_none(True) if path == NAME else _missing(path)) from None
        except (OSError, ValueError):
            raise SpecError("the bucket cannot be reached, or refuses these AWS_ variables") from None

    def _files(self, store: Any, root: str) -> set[str]:  # noqa: ANN401 - the library's
        found = store.get_file_info(
            needed("pyarrow.fs", "cluster").FileSelector(root, allow_not_found=True, recursive=True)
        )
        return {each.path.removeprefix(f"{root}/") for each in found if each.is_file}


def _copied(stream: BinaryIO, copy: Path) -> str:
    """Copy a stream to a file and return its SHA-256."""
    digest = hashlib.sha256()
    with copy.open("wb") as file:
        while block := stream.read(_BLOCK):
            digest.update(block)
            file.write(block)
    return digest.hexdigest()


def _check_hash(path: str, part: ReportFile, found: str) -> None:
    if found != part.sha256:
        raise SpecError(
            f"{path} is not the file that was exported: its SHA-256 is another one than the manifest's. It was changed,"
            " cut off, or is of another export"
        )


def _none(is_folder: bool) -> str:
    return f"the folder has no {NAME}: it is no folder of reports" if is_folder else "there is no such folder"


def _missing(path: str) -> str:
    return f"{path} is missing: the manifest names it"
