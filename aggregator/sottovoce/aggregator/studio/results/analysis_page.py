"""What the pages of tables and of models share: what they are given, how they reply, and the answer as a file."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from flask import Response, current_app, render_template, request, url_for
from sottovoce.aggregator.analysis.requests import Request
from sottovoce.aggregator.export.analysis_files import write_joint_csv, write_joint_json, write_joint_xlsx
from sottovoce.aggregator.file_formats.provenance import About
from sottovoce.aggregator.http.problems import COME_BACK, RETRY_AFTER, Refusal
from sottovoce.aggregator.i18n.formatting import FiguresInWords
from sottovoce.aggregator.planning.pair_power import pair_plan
from sottovoce.aggregator.studio.labels import SurveyVariables
from sottovoce.aggregator.studio.language import words
from sottovoce.aggregator.studio.results.code_snippets import in_files, python_code, r_code
from sottovoce.aggregator.studio.results.model_view import ModelsInWords
from sottovoce.aggregator.studio.results.run_analysis import (
    AskedAnalysis,
    JointAnswer,
    Why,
    answer_to,
    asked_analysis,
    why_nothing,
)
from sottovoce.aggregator.studio.results.simulation_results import ROOM, Rehearsed
from sottovoce.aggregator.studio.results.table_view import ShownAnswer, TablesInWords
from sottovoce.aggregator.studio.survey_frame import SurveyPage, published_page
from sottovoce.aggregator.surveys.stored_surveys import newest, survey_of
from sottovoce.shared.errors import EstimateError

FILES: Mapping[str, tuple[Callable[[Path, Mapping[str, Any], About], None], str]] = {
    "answer.csv": (write_joint_csv, "text/csv; charset=utf-8"),
    "answer.xlsx": (write_joint_xlsx, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "answer.json": (write_joint_json, "application/json"),
}
"""The forms in which an answer can be kept."""


BEFORE_RESULTS = frozenset({"still_open", "empty"})
"""Why there is nothing yet: then a page says what there will be."""


def names_of(name: str) -> SurveyVariables:
    """
    The variables of a published survey, in the reader's language.

    Raises:
        ReportRejected: no survey has this name.
    """
    return SurveyVariables(survey_of(newest(current_app.extensions["storage"], name).document), words())


@dataclass(frozen=True)
class JointSubject:
    """
    What an analysis is of: a published survey, or invented people.

    Attributes:
        frame: of the page.
        page: its word for the title.
        names: the variables.
        nothing: why there are no joint results at all; None if there are.
        document: answers an analysis.
        about: what files say of themselves.
        rehearsed: the rehearsal, if it is one.
    """

    frame: SurveyPage
    page: str
    names: SurveyVariables
    nothing: Why | None
    document: Callable[[Request], Mapping[str, Any]]
    about: About
    rehearsed: Rehearsed | None = None

    @property
    def room(self) -> str:
        """What the names of its routes begin with."""
        return "studio." if self.rehearsed is None else ROOM


def published_subject(name: str, page: str) -> JointSubject:
    """
    A published survey.

    Args:
        name: the survey's.
        page: its word.

    Raises:
        ReportRejected: no survey has this name.
    """
    frame, names = published_page(name, page), names_of(name)
    answer = partial(current_app.extensions["joint_results"].document, name)
    return JointSubject(frame, page, names, why_nothing(name), answer, About.of(names.survey))


def joint_page(subject: JointSubject, template: str, kinds: Sequence[str]) -> Response:
    """
    A page with its fields, and the answer if one is asked for.

    Args:
        subject: whose it is.
        template: ``tables`` or ``models``.
        kinds: of analysis that it makes; the first is the form's.
    """
    names, rehearsed = subject.names, subject.rehearsed
    asked = asked_analysis(request.args.to_dict(flat=False), kinds)
    made = answer_to(asked, subject.document) if asked else JointAnswer(why=subject.nothing)
    shown = in_words(made, names)
    # Code fetches reports from the aggregator, or reads files that are not those of a rehearsal.
    coded = asked if shown and rehearsed is None else None
    text = render_template(
        f"{template}.html",
        page=subject.page,
        frame=subject.frame,
        names=names,
        asked=asked,
        why=made.why,
        nothing=subject.nothing,
        shown=shown,
        given=request.args,
        plan=pair_in_words(asked, names) if made.why and made.why.code in BEFORE_RESULTS else [],
        files=_files(subject, template, asked) if made.document is not None else {},
        python=python_code(coded, names, current_app.extensions["settings"].public_url) if coded else "",
        r=r_code(coded, names) if coded else "",
        in_files=asked is None or in_files(asked, names),
        room=subject.room,
        rehearsed=rehearsed,
    )
    status = made.why.status if asked and made.why else 200
    reply = Response(text, status, content_type="text/html; charset=utf-8")
    if status in COME_BACK:
        reply.headers["Retry-After"] = RETRY_AFTER
    return reply


def joint_file(subject: JointSubject, file: str, kinds: Sequence[str]) -> Response:
    """
    The same answer to keep.

    Args:
        subject: whose it is.
        file: one of ``FILES``.
        kinds: of analysis that the page makes.

    Raises:
        EstimateError: there is no such answer; says why.
        Refusal: there is no such file, nothing was asked for, or others are being answered.
    """
    survey, about = subject.names.survey, subject.about
    asked = asked_analysis(request.args.to_dict(flat=False), kinds)
    if file not in FILES or asked is None:
        raise Refusal("not_found", "the address names no analysis, or no file of it")
    made = answer_to(asked, subject.document)
    if made.document is None:
        why = made.why or Why("internal")
        told = "; ".join(f"{option} {reason}".strip() for option, reason in why.details)
        raise Refusal("estimate_impossible" if why.code == "empty" else why.code, told)
    write, media_type = FILES[file]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / file, made.document, about)
        body = (Path(folder) / file).read_bytes()
    called = f"{about.prefix}{survey.name}-{survey.revision}-{asked.kind}{Path(file).suffix}"
    reply = Response(body, content_type=media_type)
    reply.headers["Content-Disposition"] = f"attachment; filename={called}"
    return reply


def in_words(made: JointAnswer, names: SurveyVariables) -> ShownAnswer | None:
    """The answer as people read it; None if there is none."""
    if made.document is None:
        return None
    tables, models = TablesInWords(names), ModelsInWords(names)
    writers = {
        "sottovoce-crosstab/1": tables.crosstab,
        "sottovoce-comparison/1": tables.compare,
        "sottovoce-pairs/1": tables.pairs,
        "sottovoce-regression/1": models.regression,
    }
    return writers[made.document["format"]](made.document)


def pair_in_words(asked: AskedAnalysis | None, names: SurveyVariables) -> list[str]:
    """What the two questions of an analysis will allow once there are reports; nothing if there are not two."""
    options = asked.options if asked else {}
    chosen = [options.get(key) for key in ("rows", "groups", "columns", "outcome")]
    predictors = options.get("on") or [None]
    found = [names.find(name) for name in (*chosen, predictors[0]) if name]
    questions = [each.question for each in found if each is not None]
    if len(questions) != 2:
        return []
    try:
        plan = pair_plan(names.survey, questions[0], questions[1])
    except EstimateError:
        return []
    say, write = names.words.say, FiguresInWords(names.words)
    told = [say("joint_plan_share", share=write.share(plan.share))]
    if plan.cell is not None and plan.difference is not None and plan.odds_ratio is not None:
        told.append(say("joint_plan_cell", cell=plan.cell, difference=plan.difference, odds=plan.odds_ratio))
    return told


def _files(subject: JointSubject, template: str, asked: AskedAnalysis | None) -> dict[str, str]:
    if asked is None:
        return {}
    query, name = request.query_string.decode("ascii", "replace"), subject.frame.name
    address = f"{subject.room}{template}_file"
    return {file.partition(".")[2].upper(): f"{url_for(address, name=name, file=file)}?{query}" for file in FILES}
