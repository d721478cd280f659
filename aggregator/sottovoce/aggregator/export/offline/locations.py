"""Locations of folders of reports: a local directory, or a bucket (``s3://``, with pyarrow's S3 client)."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Protocol

from sottovoce.aggregator.export.offline.manifest import LARGEST, NAME, ReportFile, states_format
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.durable import digest_of_file
from sottovoce.shared.errors import SpecError, StorageError

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
    """Say whether a local folder has a manifest of reports; the manifest of a simulation has another format."""
    try:
        return states_format(folder.manifest())
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
