"""The researchers' pages: server-rendered, no script, no cookie but the session's. Everything from snapshots."""

from collections.abc import Mapping, Sequence
from importlib.resources import files

from flask import Blueprint, Response, current_app, g, jsonify, render_template, request
from sottovoce.aggregator.access.roles import Verdict, may
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.projection import norm_sub
from sottovoce.aggregator.results.export import export_document
from sottovoce.aggregator.results.in_words import limits, yes_in_words
from sottovoce.aggregator.results.routes import results_of
from sottovoce.aggregator.survey_life import list_surveys
from sottovoce.aggregator.web.conditional import unless_known
from sottovoce.shared.answers import Grid
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon
from sottovoce.shared.spec import Question

blueprint = Blueprint("dashboard", __name__, url_prefix="/dashboard")


@blueprint.get("/", strict_slashes=False)
def surveys() -> str:
    """The surveys that one may know of."""
    known = [row for row in list_surveys(current_app.extensions["storage"]) if g.actor.role(row.name)]
    open_to = {row.name for row in known if may(g.actor, "dashboard.survey", row.name) is Verdict.ALLOWED}
    return render_template("surveys.html", surveys=known, open_to=open_to)


@blueprint.get("/surveys/<name>")
def survey(name: str) -> str:
    """One survey's results, for all respondents for ``?cohort=`` or for ``?wave=``."""
    results = results_of(name, request.args.get("cohort") or None, wave=request.args.get("wave"))
    return render_template(
        "survey.html",
        results=results,
        survey=results.survey,
        link=current_app.extensions["settings"].link(results.survey.name, results.survey.digest),
    )


@blueprint.get("/surveys/<name>/export.json")
def download(name: str) -> Response:
    """The same results as a file to keep."""
    results = results_of(name, request.args.get("cohort") or None, wave=request.args.get("wave"))
    reply = jsonify(export_document(results))
    reply.headers["Content-Disposition"] = "attachment; filename=export.json"
    return unless_known(reply)


@blueprint.get("/style.css")
def style() -> Response:
    """The pages' style sheet."""
    sheet = files("sottovoce.aggregator.studio").joinpath("static/dashboard.css").read_bytes()
    return Response(sheet, content_type="text/css; charset=utf-8")


@blueprint.app_template_filter("figure")
def figure(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    A share as a percentage with one decimal, another figure as the grid's own numbers are written.

    Args:
        value: a figure; None is a dash.
        estimate: says what kind of figure it is.
        grid: of a question with numbers, which writes its own.
    """
    if value is None:
        return "–"
    return f"{value * 100:.1f} %" if estimate.kind == "share" else _number(value, grid)


@blueprint.app_template_filter("difference")
def difference(value: float | None, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    How far two such figures lie apart.

    Args:
        value: a figure; None is a dash.
        estimate: says what kind of figure it is.
        grid: of a question with numbers, which writes its own.
    """
    unit = "" if grid is None or value is None or estimate.kind == "share" else grid.unit
    return f"{figure(value, estimate)}{unit}"


blueprint.add_app_template_filter(limits)
blueprint.add_app_template_filter(yes_in_words)


@blueprint.app_template_filter("interval")
def interval(estimate: Estimate, still_open: bool, grid: Grid | None = None) -> str:
    """
    Those limits in words.

    Args:
        estimate: says what kind of figure it is.
        still_open: whether more reports may come.
        grid: of a question with numbers, which writes its own.
    """
    return _range(*limits(estimate, still_open), estimate, grid)


@blueprint.app_template_filter("together")
def together(estimate: Estimate, grid: Grid | None = None) -> str:
    """The limits that hold for all options of the question at once."""
    return _range(estimate.simultaneous_low, estimate.simultaneous_high, estimate, grid)


@blueprint.app_template_filter("bars")
def bars(estimates: Sequence[Estimate], whole: bool) -> list[tuple[Estimate, float | None]]:
    """Each estimate with the length of its bar; where the options are a whole, the bars are shares that sum to 1."""
    raw = [estimate.raw for estimate in estimates if estimate.raw is not None]
    if whole and len(raw) == len(estimates):
        return list(zip(estimates, norm_sub(raw), strict=True))
    return [(estimate, estimate.clipped) for estimate in estimates]


@blueprint.app_template_filter("place")
def place(value: float, estimate: Estimate) -> str:
    """Where a figure lies in its possible range, from 0 to 100."""
    return f"{100 * (value - estimate.lowest) / (estimate.highest - estimate.lowest):.3f}"


@blueprint.app_template_filter("tick")
def tick(part: int, estimate: Estimate, grid: Grid | None = None) -> str:
    """
    What stands under the axis at this part of 100 of the range.

    Args:
        part: of 100 of the range.
        estimate: says what kind of figure it is.
        grid: of a question with numbers, which writes its own.
    """
    value = estimate.lowest + part / 100 * (estimate.highest - estimate.lowest)
    if estimate.kind == "share":
        return f"{value * 100:.0f}{' %' if part == 100 else ''}"
    return _number(value, grid)


def _range(low: float, high: float, estimate: Estimate, grid: Grid | None) -> str:
    if estimate.kind == "share":
        return f"{low * 100:.1f} to {high * 100:.1f} %"
    return f"{_number(low, grid, -1)} to {_number(high, grid, 1)}"


def _number(value: float, grid: Grid | None, towards: int = 0) -> str:
    """Four digits and a real minus sign; as the grid writes it, where that is no number."""
    written = value if grid is None else grid.figure(value, towards)
    return written if isinstance(written, str) else f"{written:.4g}".replace("-", "−")


@blueprint.app_template_filter("epsilon")
def epsilon(value: float) -> str:
    """Epsilon with two decimals, rounded up."""
    return show_epsilon(value)


@blueprint.app_template_filter("when_absent")
def when_absent(question: Question, labels: Mapping[str, str]) -> str:
    """What an answer that was not given is counted as: the share or mean includes it."""
    answer = question.answer(question.absent if question.absent is not None else 0)
    if isinstance(answer, Mapping):
        answer = ", ".join(f"{labels.get(name, name)} {number}" for name, number in answer.items())
    return f"no answer counts as {labels.get(answer, answer) if isinstance(answer, str) else 'none of them'}"


@blueprint.app_template_filter("numbers")
def numbers(mechanism: Mechanism) -> str:
    """What textbooks call a mechanism, where they do, its name and its numbers."""
    dumped = mechanism.dump()
    parameters = [f"{key} {value}" for key, value in dumped.items() if isinstance(value, int | str) and key != "name"]
    known = f"{mechanism.known_as} · " if mechanism.known_as else ""
    return f"{known}{mechanism.name}{': ' if parameters else ''}{', '.join(parameters)}"
