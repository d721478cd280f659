"""
The files of a survey as the page offers them: what each is for, and one of them made on request.

A file is written into an unlinked temporary file, sent from there and kept nowhere. Writing takes the turn of other
long computations, so that reports go on being admitted. Files of reports have their rows in an order drawn anew each
time, so that two of them have different sums; SHA256SUMS in everything.zip has those of the files beside it.
"""

import hashlib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from flask import current_app
from sottovoce.aggregator.analysis.estimates import revisions_of
from sottovoce.aggregator.export.archive import write_zip
from sottovoce.aggregator.export.catalogue import AT_ANY_TIME, OF_REPORTS, RELEASED, Source, Write
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.surveys.stored_surveys import unknown_survey

EVERYTHING = "everything.zip"

OFFERED: Mapping[str, Write] = {EVERYTHING: write_zip, **RELEASED, **OF_REPORTS, **AT_ANY_TIME}
"""All but those with public answers: nothing says yet how many people stand alone with theirs."""

OF_CLOSED = frozenset({EVERYTHING, *OF_REPORTS})

DRAWN_ANEW = frozenset({EVERYTHING, "reports.csv", "reports.sav", "reports.dta"})
"""Rows in an order drawn for each: no two are alike. reports.parquet is sorted."""

MEDIA_TYPES = {
    "zip": "application/zip",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "sav": "application/x-spss-sav",
    "dta": "application/x-stata-dta",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html; charset=utf-8",
    "xml": "application/xml",
    "json": "application/json",
    "yaml": "application/yaml",
    "md": "text/markdown; charset=utf-8",
    "py": "text/x-python; charset=utf-8",
    "R": "text/plain; charset=utf-8",
}
"""By the ending of a file's name."""


@dataclass(frozen=True)
class MadeFile:
    """
    A file of a survey.

    Attributes:
        size: in bytes.
        sha256: hexadecimal.
    """

    size: int
    sha256: str


def source_of(name: str, wave: int | None = None) -> Source:
    """
    What files of a survey are written from.

    Args:
        name: the survey's.
        wave: only this one; None for all.

    Raises:
        ReportRejected: no survey has this name.
    """
    storage = current_app.extensions["storage"]
    revisions = revisions_of(storage, name)
    if not revisions:
        raise unknown_survey()
    return Source(storage, revisions, current_app.extensions["clock"](), wave)


def offered(source: Source) -> list[str]:
    """The files that there are of a survey: noisy tables of public answers only once their budget is open."""
    return [file for file in OFFERED if source.released or file not in RELEASED]


def open_file(source: Source, file: str) -> tuple[BinaryIO, MadeFile]:
    """
    One file, open for reading, without a name on disk.

    Args:
        source: what it is written from.
        file: one of ``OFFERED``.

    Raises:
        EstimateError: it may not leave yet, or a library for it is missing.
        Refusal: there is no such file, or others are being written.
    """
    if file not in offered(source):
        raise Refusal("not_found", "the survey has no file of this name")
    with _written(source, file) as path:
        return path.open("rb"), _made(path)


def sums(source: Source, with_reports: bool) -> dict[str, MadeFile]:
    """
    Size and sum of each file, as one request would get it.

    Args:
        source: what they are written from.
        with_reports: also those that exist once a survey is closed.

    Raises:
        Refusal: others are being written.
    """
    found = {}
    for file in offered(source):
        if with_reports or file not in OF_CLOSED:
            with _written(source, file) as path:
                found[file] = _made(path)
    return found


@contextmanager
def _written(source: Source, file: str) -> Iterator[Path]:
    """A file that is gone at the end, but for whoever has it open."""
    with tempfile.TemporaryDirectory() as folder, current_app.extensions["joint_results"].turn():
        path = Path(folder) / file
        OFFERED[file](source, path)
        yield path


def _made(path: Path) -> MadeFile:
    with path.open("rb") as file:
        return MadeFile(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())
