"""Where a folder of reports lies: on a disk, or in a bucket (``s3://``, by pyarrow's own client)."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Protocol

from sottovoce.aggregator.export.offline.manifest import LARGEST, NAME, ReportFile, says_format
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.shared.errors import SpecError, StorageError

BUCKET = "s3://"
ENDPOINT, REGION = "AWS_ENDPOINT_URL", "AWS_DEFAULT_REGION"
"""Variables of the environment, beside those of who may come in, that AWS' own programs know as well."""

_BLOCK = 1 << 20


class ReportFolder(Protocol):
    """A folder of reports. It is sent to other machines, so that it holds an address and nothing that is open."""

    def manifest(self) -> bytes:
        """
        The bytes of the manifest.

        Raises:
            SpecError: there is none.
        """

    def parts(self) -> set[str]:
        """Where Parquet files lie in it, with ``/`` between."""

    def whole(self, path: str, part: ReportFile) -> AbstractContextManager[Path]:
        """
        The file of a part, once its hash has been found to be the manifest's.

        Args:
            path: in the folder.
            part: as the manifest has it.

        Raises:
            SpecError: it is missing, or is another file.
        """


def place_named(name: str | Path) -> "LocalFolder | Bucket":
    """The folder of this path, or the one in a bucket of this address."""
    return Bucket(name) if isinstance(name, str) and name.startswith(BUCKET) else LocalFolder(Path(name))


def is_countable(folder: "LocalFolder") -> bool:
    """Whether a folder on a disk has a manifest of reports; a rehearsal's folder has another one."""
    try:
        return says_format(folder.manifest())
    except SpecError:
        return False


@dataclass(frozen=True)
class LocalFolder:
    """A folder on a disk."""

    path: Path

    def manifest(self) -> bytes:
        """The bytes of the manifest."""
        try:
            with (self.path / NAME).open("rb") as file:
                return file.read(LARGEST)
        except OSError:
            raise SpecError(_none(self.path.is_dir())) from None

    def parts(self) -> set[str]:
        """Where Parquet files lie in it."""
        return {path.relative_to(self.path).as_posix() for path in self.path.rglob("*.parquet")}

    @contextmanager
    def whole(self, path: str, part: ReportFile) -> Iterator[Path]:
        """
        The file itself.

        Args:
            path: in the folder.
            part: as the manifest has it.
        """
        try:
            with (self.path / path).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:
            raise SpecError(_missing(path)) from None
        _check_hash(path, part, found)
        yield self.path / path


@dataclass(frozen=True)
class Bucket:
    """A folder in a bucket; who may read it, and where that is, AWS' own variables of the environment say."""

    address: str

    def manifest(self) -> bytes:
        """The bytes of the manifest."""
        with self._asked() as (store, root), store.open_input_stream(f"{root}/{NAME}") as file:
            return bytes(file.read(LARGEST))

    def parts(self) -> set[str]:
        """Where Parquet files lie in it."""
        with self._asked() as (store, root):
            return {path for path in self._files(store, root) if path.endswith(".parquet")}

    @contextmanager
    def whole(self, path: str, part: ReportFile) -> Iterator[Path]:
        """
        A copy on this machine's disk, hashed as it comes, which goes when it has been read.

        Args:
            path: in the folder.
            part: as the manifest has it.
        """
        with tempfile.TemporaryDirectory(prefix="sottovoce-") as folder:
            copy = Path(folder, PurePosixPath(path).name)
            with self._asked(path) as (store, root), store.open_input_stream(f"{root}/{path}") as stream:
                found = _copied(stream, copy)
            _check_hash(path, part, found)
            yield copy

    def check_new(self) -> None:
        """
        Refuse a place that holds something: nothing is ever written over.

        Raises:
            StorageError: it does, or cannot be reached.
        """
        with self._asked() as (store, root):
            if self._files(store, root):
                raise StorageError("there is something at this address already; it was left as it is: name another one")

    def take(self, folder: Path) -> None:
        """
        Copy a folder here. The manifest comes last: without it, what is here is no folder of reports.

        Raises:
            StorageError: it cannot be written.
        """
        files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
        try:
            with self._asked() as (store, root):
                for path in sorted(files, key=lambda path: path.name == NAME):
                    with (folder / path).open("rb") as read, store.open_output_stream(f"{root}/{path}") as write:
                        shutil.copyfileobj(read, write, _BLOCK)
        except SpecError:
            raise StorageError("the bucket cannot be written to") from None

    @contextmanager
    def _asked(self, path: str = NAME) -> Iterator[tuple[Any, str]]:
        """Pyarrow's file system, and the folder's path in it; what it reports is told in our words."""
        files = needed("pyarrow.fs", "cluster")
        try:
            # No other address is asked where the bucket lies: the environment says it, or it is where AWS begins.
            store = files.S3FileSystem(endpoint_override=os.environ.get(ENDPOINT), region=os.environ.get(REGION))
            yield store, self.address.removeprefix(BUCKET).rstrip("/")
        except FileNotFoundError:
            raise SpecError(_none(True) if path == NAME else _missing(path)) from None
        except (OSError, ValueError):
            raise SpecError("the bucket cannot be reached, or lets nobody in with these AWS_ variables") from None

    def _files(self, store: Any, root: str) -> set[str]:  # noqa: ANN401 - the library's
        found = store.get_file_info(
            needed("pyarrow.fs", "cluster").FileSelector(root, allow_not_found=True, recursive=True)
        )
        return {each.path.removeprefix(f"{root}/") for each in found if each.is_file}


def _copied(stream: BinaryIO, copy: Path) -> str:
    """The SHA-256 of what was copied."""
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
