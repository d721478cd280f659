"""Offer downloads for a paper, an archive or a colleague, each written on request, on the page "Files"."""

import base64
from collections.abc import Iterator
from typing import Any, BinaryIO

from flask import Response, render_template, request
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.authoring.draft import whole_number
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.results import download_files
from sottovoce.aggregator.studio.results.run_analysis import Why, why_nothing
from sottovoce.aggregator.studio.survey.release_page import release_state
from sottovoce.aggregator.studio.survey_frame import draft_placeholder, published_page
from sottovoce.aggregator.surveys.lifecycle import newest, survey_of

BLOCK = 1 << 16
"""Number of bytes sent at a time."""


def files(name: str) -> str:
    """List the files; with ``?sums=1`` also the size and SHA-256 of each."""
    if (placeholder := draft_placeholder(name, "files")) is not None:
        return placeholder
    survey = survey_of(newest(storage(), name).document)
    wave = _wave()
    nothing = why_nothing(name, wave)
    return files_list(
        download_files.source_of(name, wave),
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
            made = download_files.sums(source, with_reports=nothing is None)
        except Refusal:
            busy = True
    return render_template(
        "files.html",
        offered=download_files.by_purpose(download_files.offered(source)),
        of_closed=download_files.OF_CLOSED,
        missing=download_files.missing_formats(),
        drawn_anew=download_files.DRAWN_ANEW,
        nothing=nothing,
        made=made,
        busy=busy,
        **shown,
    )


def file(name: str, file: str) -> Response:
    """Download a file, with its SHA-256 in the header ``Repr-Digest``."""
    return file_reply(download_files.source_of(name, _wave()), name, file)


def file_reply(source: Source, name: str, file: str) -> Response:
    """Write one of ``OFFERED`` and send it with its SHA-256.

    Raises:
        EstimateError: the survey must be closed first.
        Refusal: no such file, or the server is busy with another long computation.
    """
    opened, made = download_files.open_file(source, file)
    reply = Response(_blocks(opened), content_type=download_files.MEDIA_TYPES[file.rpartition(".")[2]])
    # If the client disconnects early or sends HEAD, the generator never runs and would leave the file open.
    reply.call_on_close(opened.close)
    reply.content_length = made.size
    reply.headers["Content-Disposition"] = f"attachment; filename={source.about.prefix}{name}-{file}"
    # RFC 9530.
    reply.headers["Repr-Digest"] = f"sha-256=:{base64.b64encode(bytes.fromhex(made.sha256)).decode()}:"
    return reply


def _blocks(opened: BinaryIO) -> Iterator[bytes]:
    with opened:
        while block := opened.read(BLOCK):
            yield block


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
