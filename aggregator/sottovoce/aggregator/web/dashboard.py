"""The researchers' pages: server-rendered, no script, no cookie but the session's. Everything from snapshots."""

from importlib.resources import files

from flask import Blueprint, Response, current_app, jsonify, render_template, request
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.export import export_document
from sottovoce.aggregator.web.results import results_of
from sottovoce.shared.mechanisms import Mechanism
from sottovoce.shared.rational import show_epsilon

blueprint = Blueprint("dashboard", __name__, url_prefix="/dashboard")


@blueprint.get("/")
def surveys() -> str:
    """All surveys."""
    return render_template("surveys.html", surveys=current_app.extensions["storage"].surveys())


@blueprint.get("/surveys/<name>")
def survey(name: str) -> str:
    """One survey's results, for all respondents or for ``?cohort=``."""
    results = results_of(name, request.args.get("cohort") or None)
    return render_template(
        "survey.html",
        results=results,
        survey=results.survey,
        link=f"{current_app.extensions['settings'].url}/s/{results.survey.name}#d={results.survey.digest[:32]}",
    )


@blueprint.get("/surveys/<name>/export.json")
def download(name: str) -> Response:
    """The same results as a file to keep."""
    reply = jsonify(export_document(results_of(name, request.args.get("cohort") or None)))
    reply.headers["Content-Disposition"] = "attachment; filename=export.json"
    return reply


@blueprint.get("/style.css")
def style() -> Response:
    """The pages' style sheet."""
    sheet = files("sottovoce.aggregator.web").joinpath("static/dashboard.css").read_bytes()
    return Response(sheet, content_type="text/css; charset=utf-8")


@blueprint.app_template_filter("percent")
def percent(share: float | None) -> str:
    """A share as a percentage with one decimal; a real minus sign."""
    return "–" if share is None else f"{share * 100:.1f} %".replace("-", "−")


@blueprint.app_template_filter("epsilon")
def epsilon(value: float) -> str:
    """Epsilon with two decimals, rounded up."""
    return show_epsilon(value)


@blueprint.app_template_filter("interval")
def interval(estimate: Estimate) -> str:
    """The interval as percentages."""
    return f"{estimate.low * 100:.1f} to {estimate.high * 100:.1f} %"


@blueprint.app_template_filter("numbers")
def numbers(mechanism: Mechanism) -> str:
    """A mechanism's name and its numbers."""
    parameters = (f"{key} {value}" for key, value in mechanism.dump().items() if key != "name")
    return f"{mechanism.name}: {', '.join(parameters)}"
