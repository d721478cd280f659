"""Write all files of a survey into one folder, or one zip archive, with the SHA-256 of each."""

import logging
import tempfile
import zipfile
from errno import ENOSPC
from os import strerror
from pathlib import Path
from shutil import disk_usage

from sottovoce.aggregator.export.catalogue import Source, Write, together
from sottovoce.aggregator.file_formats.provenance import MANIFEST, About, json_text
from sottovoce.shared.durable import digest_of_file
from sottovoce.shared.errors import EstimateError, StillOpen, StorageError

SUMS = "SHA256SUMS"
"""Name of the file of checksums, in the format of ``sha256sum -c``."""

FAILED = "FAILED.txt"
"""Name of the list of files that could not be written; there is none if all were."""

_BLOCK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed date makes archives reproducible; zip has no earlier one
_log = logging.getLogger("sottovoce")


def check_room(source: Source, path: Path, files: int) -> None:
    """Raise OSError if a file with so many tables of reports could take more than half of what is free on its disk.

    The database may be on the same disk, and would have no room for reports meanwhile.
    """
    reports = sum(cell.reports for each in source.revisions for cell in each.cells)
    row = sum(max(map(len, [*each.options, "2026-11-30"])) + 1 for each in source.about.survey.questions)
    if disk_usage(path.parent).free < 2 * files * reports * row:
        raise OSError(ENOSPC, strerror(ENOSPC), str(path))


def write_file(source: Source, name: str, write: Write, path: Path) -> None:
    """Write one file.

    Raises:
        EstimateError: the file is not available, or could not be written; the message names the file.
        StorageError: the database is unavailable, or forbids the file.
        OSError: the folder is away, or has no room.
    """
    try:
        write(source, path)
    except (OSError, StillOpen, StorageError):
        raise
    except EstimateError as error:
        raise EstimateError(f"{name} was not written: {error}") from None
    except Exception as error:
        # Not all libraries say why they could not write.
        if disk_usage(path.parent).free < _BLOCK:
            raise OSError(ENOSPC, strerror(ENOSPC), str(path)) from None
        # Libraries of file formats raise what they like. Their messages may repeat data, so only the log has them.
        _log.exception("%s could not be written", name)
        raise EstimateError(
            f"{name} was not written: its format cannot hold this survey ({type(error).__name__}); take another file"
        ) from error


def write_folder(source: Source, folder: Path) -> list[str]:
    """Write all files without exact public answers into an existing, empty folder; return a sentence for each that
    failed.

    A file that fails is left out and named in ``FAILED``; the others are complete. Raises EstimateError if reports are
    not available yet.
    """
    _ = source.reports  # Refuses an open survey before anything is written.
    names, failed = [], []
    for name, write in together(source):
        try:
            write_file(source, name, write, folder / name)
            names.append(name)
        except EstimateError as error:
            failed.append(str(error))
            (folder / name).unlink(missing_ok=True)
    if failed:
        (folder / FAILED).write_text("".join(f"{line}\n" for line in (*source.about.lines, *failed)), encoding="utf-8")
        names.append(FAILED)
    # The sums are computed from disk, so they cover what was really written.
    sums = {name: digest_of_file(folder / name) for name in names}
    if source.set_up is not None:
        manifest = {**source.about.pairs, "rehearsal": True, "set": source.set_up, "sha256": sums}
        (folder / MANIFEST).write_text(json_text(manifest), encoding="utf-8")
    lines = [f"{found}  {name}\n" for name, found in sums.items()]
    # Parquet and statistics files may hide their provenance, so the checksum file states it as a comment.
    (folder / SUMS).write_text(f"# {'; '.join(source.about.lines)}\n" + "".join(lines), encoding="utf-8")
    return failed


def write_zip(source: Source, path: Path) -> list[str]:
    """Write the same files as one zip archive, whose entries have a fixed date, and return what ``write_folder``
    does.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".", suffix=".part") as place:
        failed = write_folder(source, Path(place))
        _pack(Path(place), path, source.about)
    return failed


def _pack(folder: Path, path: Path, about: About) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = "; ".join(about.lines).encode()
        for file in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(f"{about.prefix if about.rehearsal else ''}{about.survey.name}/{file.name}", _EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            with file.open("rb") as read, archive.open(entry, "w", force_zip64=True) as write:
                while block := read.read(_BLOCK):
                    write.write(block)
