"""Write all files of a survey into one folder, or one zip archive, with the SHA-256 of each."""

import hashlib
import tempfile
import zipfile
from pathlib import Path

from sottovoce.aggregator.export.catalogue import Source, together
from sottovoce.aggregator.file_formats.json_text import json_text
from sottovoce.aggregator.file_formats.provenance import MANIFEST, About

SUMS = "SHA256SUMS"
"""Name of the file of checksums, in the format of ``sha256sum -c``."""

_BLOCK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed date makes archives reproducible; zip has no earlier one


def write_folder(source: Source, folder: Path) -> None:
    """
    Write all files without exact public answers into an existing, empty folder.

    Raises:
        EstimateError: reports are not available yet, or a library for one of the files is missing.
    """
    names = []
    for name, write in together(source):
        write(source, folder / name)
        names.append(name)
    # The sums are computed from disk, so they cover what was really written.
    sums = {name: _sha256(folder / name) for name in names}
    if source.set_up is not None:
        manifest = {**source.about.pairs, "rehearsal": True, "set": source.set_up, "sha256": sums}
        (folder / MANIFEST).write_text(json_text(manifest), encoding="utf-8")
    lines = [f"{found}  {name}\n" for name, found in sums.items()]
    # Parquet and statistics files may hide their provenance, so the checksum file states it as a comment.
    (folder / SUMS).write_text(f"# {'; '.join(source.about.lines)}\n" + "".join(lines), encoding="utf-8")


def write_zip(source: Source, path: Path) -> None:
    """
    Write the same files as one zip archive; its entries have a fixed date.

    Raises:
        EstimateError: as for ``write_folder``.
    """
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".", suffix=".part") as place:
        write_folder(source, Path(place))
        _pack(Path(place), path, source.about)


def _pack(folder: Path, path: Path, about: About) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = "; ".join(about.lines).encode()
        for file in sorted(folder.iterdir()):
            entry = zipfile.ZipInfo(f"{about.prefix if about.rehearsal else ''}{about.survey.name}/{file.name}", _EPOCH)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o600 << 16
            with file.open("rb") as read, archive.open(entry, "w", force_zip64=True) as write:
                while block := read.read(_BLOCK):
                    write.write(block)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
