"""Show the pages "Tables" and "Models": crosstabs, comparisons of groups, one-question or all-pairs tests, regressions.

The URL holds the whole request, so a shared link computes the same result again. Results can be downloaded, and the
page has code that reproduces them from the downloaded files of the survey:

Python      Calls the same function of this package on the unpacked everything.zip. Its files contain no public answers
            but the cohort and, without rare ones, those chosen for files; so others come from the aggregator.
R           Uses base R, reports.csv and channels.csv: cells and shares of a table with standard errors, among those who
            answered where some did not, and the linear model by corrected normal equations. It supports neither weights
            nor a third question, nor questions that are hidden from some, nor models of answers that may be missing.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from flask import Response, current_app, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sottovoce.aggregator.accounts.authentication import storage
from sottovoce.aggregator.analysis.mixtures.designs import DESIGNS
from sottovoce.aggregator.analysis.requests import Request
from sottovoce.aggregator.analysis.text_report import answer_in_words
from sottovoce.aggregator.api.joint_results import JointResults
from sottovoce.aggregator.estimators.question_variables import is_long
from sottovoce.aggregator.export.analysis_files import write_joint_csv, write_joint_xlsx
from sottovoce.aggregator.file_formats.provenance import About, write_marked
from sottovoce.aggregator.http.problems import COME_BACK, RETRY_AFTER, Refusal
from sottovoce.aggregator.http.routing import Route
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.planning.block_choice import pair_plan, pair_words
from sottovoce.aggregator.studio.labels import SurveyVariable, SurveyVariables
from sottovoce.aggregator.studio.request_context import attachment, is_of_studio, words
from sottovoce.aggregator.studio.results import run_analysis
from sottovoce.aggregator.studio.results.simulation_results import Rehearsed
from sottovoce.aggregator.studio.survey_frame import SurveyPage, draft_placeholder, published_page
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError

FILES: Mapping[str, tuple[Callable[[Path, Mapping[str, Any], About], None], str]] = {
    "answer.csv": (write_joint_csv, "text/csv; charset=utf-8"),
    "answer.xlsx": (write_joint_xlsx, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "answer.json": (write_marked, "application/json"),
}
"""File formats of a result, with their writers and media types."""


KINDS = {"tables": ("crosstab", "compare", "pairs", "test", "mixture", "estimate", "design", "list_experiment"),
         "models": ("regression", "items")}  # fmt: skip
"""Kinds of analysis on each page."""

STOP_SECONDS = 2
"""Seconds to wait until a stopped analysis has ended, so that its page says so."""

BEFORE_RESULTS = frozenset({"still_open", "empty"})
"""Reasons for a missing result that make the page show the expected precision instead."""

_SNIPPETS = (Path(__file__).parent / "snippets.R").read_text("utf-8")
_, _R_HEAD, _R_TABLE, _R_ANSWERED, _R_MODEL = re.split(r"(?m)^#: .*\n", _SNIPPETS)


def python_code(asked: run_analysis.AskedAnalysis, names: SurveyVariables, address: str) -> str:
    """Write Python code for an analysis; ``address`` is the URL of this aggregator."""
    survey = json.dumps(names.survey.name)
    place = '"FOLDER"  # everything.zip, unpacked'
    if not in_files(asked, names):
        place = f"{json.dumps(address)}, survey={survey}  # with your key in SOTTOVOCE_KEY"
    code, _, remark = place.partition("  # ")
    given = [f"{name}={value!r}" for name, value in asked.options.items() if name != "questions"]
    options = ", ".join([*map(repr, asked.options.get("questions", ())), *given])
    method = "model" if asked.kind == "regression" else asked.kind
    return (
        "from sottovoce.aggregator import open_results\n\n"
        f"results = open_results({code})  # {remark}\n"
        f"print(results.{method}({options}))\n"
    )


def r_code(asked: run_analysis.AskedAnalysis, names: SurveyVariables) -> str:
    """Write R code for an analysis; "" if base R with the files cannot reproduce it."""
    options, survey = asked.options, names.survey
    plain = not {*options} - {"rows", "columns", "groups", "outcome", "category", "on", "model"}
    found = [names.find(name) for name in _variables_of(asked, names)]
    known = [each for each in found if each is not None and each.categories]
    several = len(survey.waves) > 1 or survey.revision > 1
    # Shares among the people who were asked would need the reports of the question that decides it.
    plain = plain and not any(each.question.name in survey.conditional for each in known)
    plain = plain and not (asked.kind == "regression" and any(is_long(each.question) for each in known))
    if not plain or several or len(known) < max(len(found), 2) or not in_files(asked, names):
        return ""
    declined = ["TRUE" if each.question.domain.absent and not each.part else "FALSE" for each in known]
    if asked.kind == "regression":
        return "" if "TRUE" in declined else _r_model(known, options)
    if "TRUE" in declined:
        places = {"rows_declined": declined[0], "columns_declined": declined[1]}
        return _R_HEAD + _R_ANSWERED.format(rows=_r_scores(known[0]), columns=_r_scores(known[1]), **places)
    return _R_HEAD + _R_TABLE.format(rows=_r_scores(known[0]), columns=_r_scores(known[1]))


def in_files(asked: run_analysis.AskedAnalysis, names: SurveyVariables) -> bool:
    """Return True if the files contain all answers to the variables of an analysis, which may lack public ones."""
    margins: Mapping[str, Any] = asked.options.get("margins", {})
    found = [names.find(name) for name in (*_variables_of(asked, names), *margins)]
    return all(each is not None and (not each.public or "cohort" in each.question.marks) for each in found)


def _variables_of(asked: run_analysis.AskedAnalysis, names: SurveyVariables) -> Sequence[str]:
    """List the variables of an analysis, also those of its formula and its condition."""
    written = (names.variables_in(asked.options[key]) for key in ("formula", "where") if key in asked.options)
    return [*asked.named, *sorted(set().union(*written))]


def _r_model(known: Sequence[SurveyVariable], options: Mapping[str, Any]) -> str:
    outcome, *predictors = known
    if len(outcome.categories) != 2 or options.get("model") not in {None, "logit", "linear"}:
        return ""
    return _R_HEAD + _R_MODEL.format(outcome=_r_scores(outcome), predictors=", ".join(map(_r_scores, predictors)))


def _r_scores(variable: SurveyVariable) -> str:
    """Write an R matrix of scores with one named column for each category."""
    question, names = variable.question, [name for name, _ in variable.categories]
    if variable.public:
        columns = [f'as.numeric(reports[["{question.name}"]] == {code})' for code in range(len(names))]
    elif variable.part or names == ["no", "yes"]:
        yes = f'score("{question.name}", "{variable.part or "yes"}")'
        columns = [f"1 - {yes}", yes]
    else:
        columns = [f'score("{question.name}", "{name}")' for name in names]
    arguments = ", ".join(f'"{variable.name}={name}" = {column}' for name, column in zip(names, columns, strict=True))
    return f"cbind({arguments})"


@dataclass(frozen=True)
class JointSubject:
    """Data that an analysis uses: a published survey, a simulation (``rehearsed``) or an uploaded file (``of_file``).

    Attributes:
        page: key of the page, for the title.
        nothing: reason why no joint results exist; None if they do.
        document: function that computes the result document of a request.
        columns: names of all columns of a file.
        base: template that the page extends.
        endpoint_prefix: prefix of the endpoints of its pages.
    """

    frame: SurveyPage
    page: str
    names: SurveyVariables
    nothing: run_analysis.Why | None
    document: Callable[[Request], Mapping[str, Any]]
    rehearsed: Rehearsed | None = None
    of_file: bool = False
    columns: Sequence[str] = ()
    base: str = "survey_base.html"
    endpoint_prefix: str = "studio."

    @property
    def about(self) -> About:
        """Provenance to write into the files."""
        if self.rehearsed is not None:
            return self.rehearsed.about
        survey = self.names.survey
        stored = [] if self.of_file else storage().revisions(survey.name)
        return About.of(survey, revisions=[survey_of(each.document) for each in stored])


@lru_cache(maxsize=64)
def _variables(document: bytes, words: Words) -> SurveyVariables:
    """Label the variables of a survey; cached, since every page of its results needs all of them."""
    return SurveyVariables(survey_of(document), words)


def results() -> JointResults:
    """Return the runner of analyses."""
    found: JointResults = current_app.extensions["joint_results"]
    return found


def _published(name: str, page: str, file: str) -> JointSubject | Response:
    placeholder = None if file else draft_placeholder(name, page)
    if placeholder is not None:
        return Response(placeholder, content_type="text/html; charset=utf-8")
    frame = published_page(name, page)
    names = _variables(storage().revisions(name)[-1].document, words())
    return JointSubject(frame, page, names, run_analysis.why_nothing(name), partial(results().document, name))


def joint_page(subject: JointSubject, template: str) -> Response:
    """Render the page ``tables`` or ``models`` with its form, and the result if the URL requests one."""
    names, rehearsed = subject.names, subject.rehearsed
    asked = _asked(names, template)
    if asked is None and subject.nothing is None:
        results().jobs.prepare()
    made = run_analysis.answer_to(asked, subject.document) if asked else run_analysis.JointAnswer(why=subject.nothing)
    shown = None if made.document is None else answer_in_words(made.document, names)
    # Simulations get no code: it fetches reports from the aggregator or reads the downloaded files of real results.
    files: dict[str, str] = {}
    if made.document is not None:
        query, address = request.query_string.decode("ascii", "replace"), f"{subject.endpoint_prefix}{template}_file"
        urls = {file: url_for(address, name=subject.frame.name, file=file) for file in FILES}
        files = {file.partition(".")[2].upper(): f"{url}?{query}" for file, url in urls.items()}
    coded = asked if shown and rehearsed is None and not subject.of_file else None
    text = render_template(
        f"{template}.html",
        page=subject.page,
        base=subject.base,
        frame=subject.frame,
        names=names,
        designs=DESIGNS,
        columns=[{"name": name, "label": name} for name in subject.columns],
        asked=asked,
        why=made.why,
        calculating=made.calculating,
        back=_back(subject),
        nothing=subject.nothing,
        shown=shown,
        given=request.args,
        plan=pair_in_words(asked, names) if made.why and made.why.code in BEFORE_RESULTS else [],
        files=files,
        python=python_code(coded, names, current_app.extensions["settings"].public_url) if coded else "",
        r=r_code(coded, names) if coded else "",
        in_files=asked is None or in_files(asked, names),
        endpoint_prefix=subject.endpoint_prefix,
        rehearsed=rehearsed,
    )
    status = 202 if made.calculating else made.why.status if asked and made.why else 200
    reply = Response(text, status, content_type="text/html; charset=utf-8")
    if status in COME_BACK:
        reply.headers["Retry-After"] = RETRY_AFTER
    return reply


def _asked(names: SurveyVariables, template: str) -> run_analysis.AskedAnalysis | None:
    """Return the analysis in the URL, without an answer of another question than the outcome's, and with its groups."""
    asked = run_analysis.asked_analysis(request.args.to_dict(flat=False), KINDS[template])
    if asked is None or asked.kind != "compare":
        return asked
    # The form keeps the answer that was chosen when another question is chosen.
    outcome = names.find(asked.options.get("outcome", ""))
    answers = dict(outcome.categories) if outcome else {}
    stale = outcome is not None and asked.options.get("category") not in answers
    options = {key: value for key, value in asked.options.items() if not (stale and key == "category")}
    if "against" in options:
        options.setdefault("groups", ARM)
    return replace(asked, options=options)


def joint_file(subject: JointSubject, template: str, file: str) -> Response:
    """Write the requested result of the page ``tables`` or ``models`` to one of ``FILES``.

    Raises:
        Refusal: no such file, no analysis in the URL, or the analysis is impossible or the server busy; has the reason.
    """
    survey, about = subject.names.survey, subject.about
    asked = _asked(subject.names, template)
    if file not in FILES or asked is None:
        raise Refusal("not_found", "the address names no analysis, or no file of it")
    made = run_analysis.answer_to(asked, subject.document)
    if made.calculating is not None:
        # The page shows how far it is, and has the links to the files again when it is finished.
        return redirect(_back(subject), 303)  # type: ignore[return-value]
    if made.document is None:
        why = made.why or run_analysis.Why("internal")
        reason = "; ".join(f"{option} {reason}".strip() for option, reason in why.details)
        raise Refusal("estimate_impossible" if why.code == "empty" else why.code, reason)
    write, media_type = FILES[file]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / file, made.document, about)
        body = (Path(folder) / file).read_bytes()
    called = f"{about.prefix}{survey.name}-{survey.revision}-{asked.kind}{Path(file).suffix}"
    return attachment(body, media_type, called)


def end_analysis(name: str, job: str) -> ResponseReturnValue:
    """Stop a running analysis, or forget a stopped one so that it is computed again; then show its page."""
    return end_job(name, job, url_for("studio.tables", name=name))


def end_job(queue: str, job: str, otherwise: str) -> ResponseReturnValue:
    """Stop or forget a job of a survey's or file's queue; redirect to the form's studio page, else to ``otherwise``."""
    found = results().jobs.find(queue, job)
    if found is None:
        raise Refusal("not_found", "this analysis is not here any more")
    if request.form.get("again"):
        results().jobs.forget(found)
    else:
        results().jobs.stop(found)
        found.finished.wait(STOP_SECONDS)
    back = request.form.get("back", "")
    return redirect(back if is_of_studio(back) else otherwise, 303)


def pair_in_words(asked: run_analysis.AskedAnalysis | None, names: SurveyVariables) -> list[str]:
    """Describe the expected precision of an analysis of two questions; empty for any other number of questions."""
    options = asked.options if asked else {}
    named = [options.get(key) for key in ("rows", "groups", "columns", "outcome")]
    predictors = options.get("on") or [None]
    found = [names.find(name) for name in (*named, predictors[0]) if name]
    questions = [each.question for each in found if each is not None]
    if len(questions) != 2:
        return []
    try:
        return pair_words(pair_plan(names.survey, questions[0], questions[1]), names.words)
    except EstimateError:
        return []


def _back(subject: JointSubject) -> str:
    """Return the path of the page with the same request."""
    page = request.endpoint.removesuffix("_file") if request.endpoint else ""
    return f"{url_for(page, name=subject.frame.name)}?{request.query_string.decode('ascii', 'replace')}"


_PATH = "/dashboard/surveys/<name>"


def joint_routes(
    prefix: str, path: str, subject: Callable[[str, str, str], JointSubject | Response], summaries: Sequence[str]
) -> Iterator[Route]:
    """Yield the routes of the pages "Tables" and "Models" and of their files.

    Args:
        prefix: of their endpoints.
        path: that their paths begin with.
        subject: function of a name, a page and a file ("" for none); returns the page to show instead where there is no
            subject.
        summaries: of tables, of their files, of models and of theirs.
    """

    def show(name: str, page: str, file: str = "") -> Response:
        found = subject(name, page, file)
        if isinstance(found, Response):
            return found
        return joint_file(found, page, file) if file else joint_page(found, page)

    for page, told in (("tables", summaries[:2]), ("models", summaries[2:])):
        view = partial(show, page=page)
        for (end, place), summary in zip((("", ""), ("_file", "/<file>")), told, strict=True):
            yield Route(f"{prefix}{page}{end}", "GET", f"{path}/{page}{place}", view, summary)


_SUMMARIES = (
    "Analyse tables of questions.", "Download the table as a file.",
    "Fit a regression.", "Download the model as a file.",
)  # fmt: skip
ROUTES = (
    *joint_routes("studio.", _PATH, _published, _SUMMARIES),
    Route("studio.end_analysis", "POST", f"{_PATH}/analyses/<job>", end_analysis, "Stop an analysis, or try it again."),
)
"""Routes of the pages "Tables" and "Models", and of their files."""
