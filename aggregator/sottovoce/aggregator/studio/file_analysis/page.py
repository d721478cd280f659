"""Show the page "Analyze a file": answers that were randomized elsewhere, with tables and models as of a survey.

The upload stays in the memory of this node, for a while, for the account that sent it. The process that takes reports
never reads it: all analyses run in a process of their own.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import Any

from flask import Flask, Response, current_app, g, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import VISITOR, is_visitor, visitor_id
from sottovoce.aggregator.analysis.data_file.data_columns import described_survey
from sottovoce.aggregator.analysis.data_file.file_analysis import COLUMNS, SHARES, FileAnalysis, UploadedFile
from sottovoce.aggregator.analysis.data_file.parse_channel import DESIGNS
from sottovoce.aggregator.analysis.data_file.read_table import FORMATS, IN_MEMORY
from sottovoce.aggregator.analysis.jobs.queue import OF_VISITORS, AnalysisStopped
from sottovoce.aggregator.analysis.requests import Request, parse_request
from sottovoce.aggregator.analysis.text_report import answer_in_words
from sottovoce.aggregator.analysis.variable_names import VariableNames
from sottovoce.aggregator.api.joint_results import Calculating
from sottovoce.aggregator.http.memory_request import MemoryRequest
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.request_context import words
from sottovoce.aggregator.studio.results.analysis_page import JointSubject, end_job, joint_routes, results
from sottovoce.aggregator.studio.survey_frame import SurveyPage
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.by_link.link_question import parse_link
from sottovoce.shared.errors import EstimateError, SpecError

UPLOAD_BYTES = 100 << 20
"""Largest file; ``intake.request_limits`` refuses larger requests before they are read."""

VISITOR_BYTES = 10 << 20
"""The same for visitors without an account."""

QUESTION_BYTES = 1 << 16
"""What is read of a question's file."""

GONE, REFUSED = 410, 422
OF_STAFF = "file:"
_QUEUES = (OF_STAFF, OF_VISITORS)
PREFIX = "studio.analyzed_"
FIELD = "channel."
LONGEST_CHANNEL = 500

IDLE = 15 * 60
"""Seconds from the last use until a file is dropped."""

MOST_BYTES = 500 << 20
"""Bytes of all files of a node."""

VISITORS_AT_ONCE = 4
"""Files of visitors without an account that a node keeps at once."""

_DROP_SECONDS = 60


@dataclass(frozen=True)
class KeptFile:
    """File with its channels, its sender's account id in hexadecimal, and the monotonic time of its last use."""

    account: str
    file: UploadedFile
    used: float


class UploadedFiles:
    """Files of one node; ``dropped`` is called with each dropped file's id, ``seconds`` is a monotonic clock."""

    def __init__(self, dropped: Callable[[str], None], seconds: Callable[[], float] = monotonic) -> None:
        self._dropped = dropped
        self._seconds = seconds
        self._lock = Lock()
        self._files: dict[str, KeptFile] = {}
        self._timer: Timer | None = None

    def add(self, account: str, name: str, data: bytes, links: tuple[str, ...] = ()) -> str | None:
        """Keep a file of an account or a visitor and return its id; None if there is no room.

        The same file again has the id that it has. Of a visitor's files only the last is kept; of an account's, those
        not used for longest make room for a new one. ``links`` as in ``UploadedFile``.
        """
        self.drop_idle()
        file = UploadedFile(name, data, {}, links)
        with self._lock:
            others = [kept for kept in self._files.values() if kept.account != account]
            mine = {id: kept for id, kept in self._files.items() if kept.account == account}
            same = [id for id, kept in mine.items() if replace(kept.file, channels={}) == file]
            visitors = sum(kept.account.startswith(VISITOR) for kept in others)
            room = MOST_BYTES - (0 if same else len(data)) - sum(len(kept.file.data) for kept in others)
            if room < 0 or (account.startswith(VISITOR) and visitors >= VISITORS_AT_ONCE):
                return None
            gone = []
            for id, kept in sorted(mine.items(), key=lambda each: each[1].used, reverse=True):
                room -= len(kept.file.data)
                if id not in same and (room < 0 or account.startswith(VISITOR)):
                    gone.append(id)
                    del self._files[id]
            id = same[0] if same else os.urandom(16).hex()
            self._files[id] = KeptFile(account, mine[id].file if same else file, self._seconds())
        for each in gone:
            self._dropped(each)
        self._schedule()
        return id

    def find(self, account: str, id: str) -> UploadedFile | None:
        """Return a file of an account, and keep it on; None if it is not here."""
        self.drop_idle()
        with self._lock:
            kept = self._files.get(id)
            if kept is None or kept.account != account:
                return None
            self._files[id] = replace(kept, used=self._seconds())
            return kept.file

    def set_channels(self, account: str, id: str, channels: Mapping[str, str]) -> bool:
        """Set the channels of a file's columns, by name; return False if the file is not here."""
        with self._lock:
            kept = self._files.get(id)
            if kept is None or kept.account != account:
                return False
            self._files[id] = replace(kept, file=replace(kept.file, channels=dict(channels)), used=self._seconds())
            return True

    def drop(self, account: str, id: str) -> None:
        """Drop a file of an account."""
        with self._lock:
            kept = self._files.get(id)
            mine = kept is not None and kept.account == account
            if mine:
                del self._files[id]
        if mine:
            self._dropped(id)

    def drop_idle(self) -> None:
        """Drop the files that were not used for long."""
        last = self._seconds() - IDLE
        with self._lock:
            idle = [id for id, kept in self._files.items() if kept.used <= last]
            for id in idle:
                del self._files[id]
        for id in idle:
            self._dropped(id)

    def _schedule(self) -> None:
        """Drop idle files also if no one asks for any."""
        if self._timer is None or not self._timer.is_alive():
            self._timer = Timer(_DROP_SECONDS, self._drop_in_turn)
            self._timer.daemon = True
            self._timer.start()

    def _drop_in_turn(self) -> None:
        self._timer = None
        self.drop_idle()
        if self._files:
            self._schedule()


def register(app: Flask) -> None:
    """Let uploads stay in memory, and make the place for them; their jobs are dropped with them."""
    app.request_class = MemoryRequest
    jobs = app.extensions["joint_results"].jobs

    def drop(id: str) -> None:
        for queue in _QUEUES:
            jobs.drop(f"{queue}{id}")

    app.extensions["uploaded_files"] = UploadedFiles(drop)


def _files() -> UploadedFiles:
    found: UploadedFiles = current_app.extensions["uploaded_files"]
    return found


def _account() -> str:
    """Return the id of the account or visitor whose files they are."""
    return visitor_id() if is_visitor() else str(g.actor.account.id.hex())


def _queue(id: str) -> str:
    """Return the name under which the jobs of a file wait; no survey has a name with a colon."""
    return f"{OF_VISITORS if is_visitor() else OF_STAFF}{id}"


def _most_bytes() -> int:
    return VISITOR_BYTES if is_visitor() else UPLOAD_BYTES


def analyze() -> Response:
    """Show the form for an upload."""
    if not is_visitor():
        results().jobs.prepare()
    return _upload_form()


def _upload_form(refused: str = "", status: int = 200, detail: str = "") -> Response:
    text = render_template(
        "analyze.html",
        refused=words().translate(refused) if refused else "",
        detail=detail,
        kinds=",".join(IN_MEMORY),
        all_kinds=IN_MEMORY == FORMATS,
        most=_most_bytes() >> 20,
    )
    return Response(text, status)


def upload() -> ResponseReturnValue:
    """Keep the uploaded file in memory, and show its columns."""
    sent = request.files.get("file")
    if sent is None or not sent.filename:
        return _upload_form("analyze_nothing", REFUSED)
    name = Path(sent.filename).name[-100:]
    if Path(name).suffix.lower() not in IN_MEMORY:
        return _upload_form("analyze_other_kind", REFUSED)
    data = sent.read(_most_bytes() + 1)
    if len(data) > _most_bytes():
        raise Refusal("too_large")
    try:
        given = [each for each in request.files.getlist("question") if each.filename]
        links = tuple(parse_link(parse_yaml(each.read(QUESTION_BYTES))).canonical.decode() for each in given)
    except SpecError as error:
        return _upload_form("analyze_other_question", REFUSED, str(error))
    id = _files().add(_account(), name, data, links)
    if id is None:
        return _upload_form("analyze_no_place" if is_visitor() else "analyze_no_room", 503)
    return redirect(url_for("studio.analyzed", name=id), 303)


def analyzed(name: str) -> Response:
    """Show the columns of a file with their channels, and the shares."""
    file = _files().find(_account(), name)
    if file is None:
        return _upload_form("analyze_again", GONE)
    try:
        found = _computed(name, file, FileAnalysis(SHARES, {}))
    except Calculating as calculating:
        return _page(name, file, calculating=calculating)
    except AnalysisStopped as stopped:
        if _files().find(_account(), name) is None:
            return _upload_form("analyze_again", GONE)
        return _page(name, file, stopped=_told(stopped))
    except EstimateError as error:
        return _page(name, file, columns=_columns_or_none(name, file), detail=_told(error))
    return _page(name, file, columns=found, shares=answer_in_words(found["shares"], VariableNames(words())))


def _told(error: EstimateError) -> str:
    return VariableNames(words()).translate_note(error.args[0])


def _columns_or_none(name: str, file: UploadedFile) -> Mapping[str, Any] | None:
    """Return the columns of a file whose channels are wrong; None of a file that cannot be read."""
    try:
        return _computed(name, file, FileAnalysis(COLUMNS, {}))
    except (EstimateError, Calculating):
        return None


def _page(name: str, file: UploadedFile, **shown: Any) -> Response:  # noqa: ANN401 - of the template
    text = render_template(
        "analyzed.html",
        frame=_frame(name, file),
        page="analyze",
        file=file,
        designs=DESIGNS,
        endpoint_prefix=PREFIX,
        back=url_for("studio.analyzed", name=name),
        **{"columns": None, "shares": None, "calculating": None, "detail": "", "stopped": "", **shown},
    )
    status = 202 if shown.get("calculating") else REFUSED if shown.keys() & {"detail", "stopped"} else 200
    return Response(text, status)


def _frame(name: str, file: UploadedFile) -> SurveyPage:
    return SurveyPage(name, file.name, "closed", False, "", (), (), "")


def _computed(name: str, file: UploadedFile, asked: FileAnalysis) -> Mapping[str, Any]:
    """Return the document of an analysis of a file, computed in a process of its own."""
    key = asked.kind, sorted(asked.options.items()), sorted(({} if asked.kind == COLUMNS else file.channels).items())
    return results().computed(_queue(name), key, lambda compute: compute(asked, file))


def change(name: str) -> ResponseReturnValue:
    """Set the channels of a file's columns, or delete the file."""
    if request.form.get("delete"):
        _files().drop(_account(), name)
        return redirect(url_for("studio.analyze"), 303)
    given = {key.removeprefix(FIELD): " ".join(text.split())[:LONGEST_CHANNEL]
             for key, text in request.form.items() if key.startswith(FIELD) and text.strip()}  # fmt: skip
    if not _files().set_channels(_account(), name, given):
        return _upload_form("analyze_again", GONE)
    # Pressing the button again tries an analysis again that was stopped.
    results().jobs.drop(_queue(name))
    return redirect(url_for("studio.analyzed", name=name), 303)


def _subject(name: str, page: str, _file: str) -> JointSubject | Response:
    """Return the subject of tables and models, or the page to show instead."""
    if is_visitor() and request.args.get("formula"):
        raise Refusal("forbidden", "a formula needs an account: sign in, or choose outcome and predictors")
    file = _files().find(_account(), name)
    if file is None:
        return _upload_form("analyze_again", GONE)
    try:
        read = _computed(name, file, FileAnalysis(SHARES, {}))
    except (Calculating, EstimateError):
        # The page of the file shows how far it is, or what is wrong.
        return redirect(url_for("studio.analyzed", name=name), 303)  # type: ignore[return-value]
    names = SurveyVariables(described_survey("file", read["questions"]), words())
    columns = [each["name"] for each in read["columns"]]
    document = partial(_document, name, file)
    return JointSubject(
        _frame(name, file), page, names, None, document, of_file=True, columns=columns, base="analyzed_base.html",
        endpoint_prefix=PREFIX,
    )  # fmt: skip


def _document(name: str, file: UploadedFile, asked: Request) -> Mapping[str, Any]:
    options = {key: value for key, value in vars(asked).items() if value is not None}
    parse_request(asked.kind, options)
    return _computed(name, file, FileAnalysis(asked.kind, options))


def end(name: str, job: str) -> ResponseReturnValue:
    """Stop a running analysis of a file, or forget a stopped one; then show its page."""
    if _files().find(_account(), name) is None:
        return _upload_form("analyze_again", GONE)
    return end_job(_queue(name), job, url_for("studio.analyzed", name=name))


_PATH = "/dashboard/analyze"
_SUMMARIES = (
    "Analyze tables of a file's columns.", "Download a table of a file's columns.",
    "Fit a regression of a file's columns.", "Download a model of a file's columns.",
)  # fmt: skip

ROUTES = (
    Route("studio.analyze", "GET", _PATH, analyze, "Choose a file to analyze."),
    Route("studio.analyze_upload", "POST", _PATH, upload, "Upload a file to analyze."),
    Route("studio.analyzed", "GET", f"{_PATH}/<name>", analyzed, "Show columns and shares."),
    Route("studio.analyzed_change", "POST", f"{_PATH}/<name>", change, "Set channels of a file, or delete it."),
    *joint_routes(PREFIX, f"{_PATH}/<name>", _subject, _SUMMARIES),
    Route("studio.analyzed_end_analysis", "POST", f"{_PATH}/<name>/analyses/<job>", end,
          "Stop an analysis of a file, or try it again."),
)  # fmt: skip
"""Routes of the page "Analyze a file"."""
