"""Offer downloads for a paper, an archive or a colleague, each written on request, on the page "Files".

A file is written to a temporary folder, sent from there and stored nowhere. The files of one survey are written one at
a time, so that the server keeps admitting reports. Files of reports shuffle their rows on each request, so two
downloads have different checksums; SHA256SUMS in everything.zip lists those of the files in the same archive.
"""

import base64
import hashlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from flask import Response, current_app, render_template, request
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.analysis.jobs.child import return_memory
from sottovoce.aggregator.analysis.published_counts import revisions_of
from sottovoce.aggregator.authoring.draft import whole_number
from sottovoce.aggregator.export.archive import check_room, write_file, write_zip
from sottovoce.aggregator.export.catalogue import AT_ANY_TIME, OF_REPORTS, RELEASED, Source, Write
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.request_context import shown_institution, words
from sottovoce.aggregator.studio.results.run_analysis import Why, why_nothing
from sottovoce.aggregator.studio.survey.release_page import release_state
from sottovoce.aggregator.studio.survey_frame import draft_placeholder, published_page
from sottovoce.aggregator.surveys.lifecycle import newest, survey_of, unknown_survey
from sottovoce.shared.errors import EstimateError

EVERYTHING = "everything.zip"

OFFERED: Mapping[str, Write] = {EVERYTHING: write_zip, **RELEASED, **OF_REPORTS, **AT_ANY_TIME}
"""
All files except those with exact public answers.

Those are left out because the page does not show how many respondents are unique by their public answers.
"""

PURPOSES: Mapping[str, Sequence[str]] = {
    "all": (EVERYTHING,),
    "paper": ("estimates.csv", "estimates.xlsx", "methods.md"),
    "programs": ("reports.csv", "reports.parquet", "channels.csv", "scores.csv", "analysis.R", "analysis.py"),
    "spss": ("reports.sav", "reports.dta"),
    "archive": ("codebook.html", "ddi.xml", "export.json", "preregistration.json"),
    "study": ("survey.yaml", "survey.json"),
    "public": tuple(RELEASED),
}
"""Files by purpose, in the order of the page; every key of ``OFFERED`` once."""

OF_CLOSED = frozenset({EVERYTHING, *OF_REPORTS})

DRAWN_ANEW = frozenset({EVERYTHING, "reports.csv", "reports.sav", "reports.dta"})
"""Files whose rows are shuffled on each request, so no two downloads are equal; reports.parquet is sorted."""

_LIBRARIES = {
    "reports.parquet": ("pandas", "duckdb"),
    "reports.sav": ("pandas", "pyreadstat"),
    "reports.dta": ("pandas", "pyreadstat"),
}
"""Optional libraries that a file needs."""

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
"""Media types by the extension of the file name."""


@dataclass(frozen=True)
class MadeFile:
    """Size in bytes, and SHA-256 in hexadecimal, of a file."""

    size: int
    sha256: str


def source_of(name: str, wave: int | None) -> Source:
    """Build the source of a survey's files, of all waves or one; raise ReportRejected if no survey has this name."""
    storage = current_app.extensions["storage"]
    revisions = revisions_of(storage, name)
    if not revisions:
        raise unknown_survey()
    return Source(storage, revisions, current_app.extensions["clock"](), wave, institution=shown_institution(name))


def offered(source: Source) -> list[str]:
    """List the files that a survey offers; noisy tables of public answers need an opened privacy budget."""
    return [file for file in OFFERED if source.has_tables or file not in RELEASED]


def sums(source: Source, with_reports: bool) -> dict[str, MadeFile]:
    """Write every file, or those that exist before the close, and return sizes and checksums; raise Refusal if busy."""
    found = {}
    for file in offered(source):
        if with_reports or file not in OF_CLOSED:
            # A file that fails has no checksum; its own link says why.
            with suppress(EstimateError), _written(source, file) as path:
                found[file] = _made(path)
    return found


@contextmanager
def _written(source: Source, file: str) -> Iterator[Path]:
    """Write a file for the duration of the context; a handle opened inside it stays readable afterwards."""
    name = source.about.survey.name
    with tempfile.TemporaryDirectory() as folder, current_app.extensions["joint_results"].turn(name):
        path = Path(folder) / file
        if file in OF_CLOSED:
            check_room(source, path, len(OF_REPORTS) if file == EVERYTHING else 1)
        write_file(source, file, OFFERED[file], path)
        return_memory()
        yield path


def _made(path: Path) -> MadeFile:
    with path.open("rb") as file:
        return MadeFile(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def files(name: str) -> str:
    """List the files; with ``?sums=1`` also the size and SHA-256 of each."""
    if (placeholder := draft_placeholder(name, "files")) is not None:
        return placeholder
    survey = survey_of(newest(storage(), name).document)
    wave = _wave()
    nothing = why_nothing(name, wave)
    return files_list(
        source_of(name, wave),
        page="files",
        frame=published_page(name, "files"),
        survey=survey,
        release=None if nothing or wave is not None else release_state(name),
        nothing=nothing,
        names=SurveyVariables(survey, words()),
        wave=wave,
        endpoint_prefix="studio.",
    )


def files_list(source: Source, *, nothing: Why | None, **shown: Any) -> str:  # noqa: ANN401 - of the template
    """Return the page with the files of a source; ``nothing`` is the reason why there are no reports yet."""
    made, busy = {}, False
    if request.args.get("sums") == "1":
        try:
            made = sums(source, with_reports=nothing is None)
        except Refusal:
            busy = True
    names = offered(source)
    groups = {purpose: [file for file in group if file in names] for purpose, group in PURPOSES.items()}
    return render_template(
        "files.html",
        offered={purpose: group for purpose, group in groups.items() if group},
        of_closed=OF_CLOSED,
        missing={file for file, names in _LIBRARIES.items() if not all(map(find_spec, names))},
        drawn_anew=DRAWN_ANEW,
        nothing=nothing,
        made=made,
        busy=busy,
        **shown,
    )


def file(name: str, file: str) -> Response:
    """Download a file, with its SHA-256 in the header ``Repr-Digest``."""
    return file_reply(source_of(name, _wave()), name, file)


def file_reply(source: Source, name: str, file: str) -> Response:
    """Write one of ``OFFERED`` and send it with its SHA-256.

    Raises:
        EstimateError: the survey must be closed first, or an optional library is missing.
        Refusal: no such file, or the server is busy with another long computation.
    """
    if file not in offered(source):
        raise Refusal("not_found", "the survey has no file of this name")
    with _written(source, file) as path, path.open("rb") as opened:
        # Its bytes stay on the disk, and are sent from there: with a million reports they are some 200 MB.
        content, made = mmap(opened.fileno(), 0, access=ACCESS_READ), _made(path)
    reply = Response([content], content_type=MEDIA_TYPES[file.rpartition(".")[2]], direct_passthrough=True)  # type: ignore[arg-type]
    reply.content_length = made.size
    reply.headers["Content-Disposition"] = f"attachment; filename={source.about.prefix}{name}-{file}"
    # RFC 9530.
    reply.headers["Repr-Digest"] = f"sha-256=:{base64.b64encode(bytes.fromhex(made.sha256)).decode()}:"
    return reply


def _wave() -> int | None:
    given = request.args.get("wave", "")
    wave = whole_number(given, 4)
    if given and wave is None:
        raise Refusal("malformed", "wave is a whole number from 0")
    return wave


_PATH = "/dashboard/surveys/<name>/files"

ROUTES = (
    Route("studio.files", "GET", _PATH, files, "List the survey's files."),
    Route("studio.file", "GET", f"{_PATH}/<file>", file, "Download one of the survey's files."),
)
"""Routes of the page "Files", and of each file."""
