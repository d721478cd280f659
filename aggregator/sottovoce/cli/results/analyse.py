"""``crosstab``, ``compare``, ``associations``, ``test``, ``regress``, ``weights``, ``mixture``, ``items``: of surveys.

``mixture`` has shares of designs with two samples or several draws, also of a file or from counts alone; ``items`` has
several yes/no questions of each person together, as one trait or as their sum.
"""

from functools import partial
from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.analysis.mixtures.mixture import mixture_of_counts
from sottovoce.aggregator.analysis.planned_comparisons import planned_document
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.export.results_client.sources import FolderReports, read_margins, read_weights, weights_csv
from sottovoce.cli.command import PATH, check_free, command, write_text
from sottovoce.cli.results import run_analysis
from sottovoce.cli.results.release import release_tables
from sottovoce.shared.errors import SpecError


@command(example="sottovoce results crosstab exam --rows cheated --columns year")
@run_analysis.source_options
@run_analysis.request_options("crosstab", "rows", "columns", "within", "among")
@run_analysis.weighted_options
@click.option("--release-epsilon", help="Of two public questions: publish their table with noise, for so much.")
@click.option("--yes", is_flag=True, help="With --release-epsilon, open the budget without asking.")
def crosstab(
    weights: Path | None, release_epsilon: str | None, yes: bool, **given: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Tabulate two questions of SURVEY: shares with limits, one test, and the strength of their association."""
    if release_epsilon is not None:
        others = (given[name] for name in ("within", "among", "where", "confidence", "folder", "url"))
        if given["survey"] is None or any((*others, weights)) or given["wave"] is not None:
            raise click.UsageError("--release-epsilon is of all of a closed SURVEY in a data folder, without weights")
        release_tables(given["survey"], release_epsilon, (given["rows"], given["columns"]), given["data"], None, yes)
        return
    run_analysis.answer("crosstab", given, weights)


@command(example="sottovoce results compare exam --outcome cheated --groups year")
@run_analysis.source_options
@run_analysis.request_options("compare", "outcome", "groups", required=False)
@click.option("--planned", is_flag=True, help="Instead, make all comparisons that the survey's analysis_plan names.")
@run_analysis.request_options("compare", "against", "category", "among")
@run_analysis.weighted_options
def compare(planned: bool, weights: Path | None, **given: Any) -> None:  # noqa: ANN401
    """The share of a category, or the mean of a number, among groups of SURVEY."""
    options, as_json, place = run_analysis.split("compare", given)
    if planned and (options or weights):
        raise click.UsageError("--planned makes the comparisons as they were planned: no other option goes with it")
    if planned:
        reports = run_analysis.reports_of(**place)
        run_analysis.show(planned_document(reports.survey, partial(run_analysis.ask, reports)), as_json)
        return
    for option in ("outcome", "groups"):
        if option not in options:
            raise click.UsageError(f"Missing option '--{option}'.")
    run_analysis.answer("compare", given, weights)


@command(example="sottovoce results associations exam")
@run_analysis.source_options
@run_analysis.subset_options
def associations(**given: Any) -> None:  # noqa: ANN401
    """Test all pairs of questions of SURVEY for association, with q values against findings by chance."""
    run_analysis.answer("pairs", given)


@command(example="sottovoce results test exam --question cheated --share yes=0.3")
@run_analysis.source_options
@run_analysis.request_options("test", "question", "shares", "mean", "among")
@run_analysis.level_options
def test(shares: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Test the shares of one question of SURVEY, or the mean of a number, against known values."""
    parts = [words.rpartition("=") for words in shares]
    if not all(name.strip() for name, _, _ in parts):
        raise click.UsageError("--share is written as CATEGORY=SHARE, such as yes=0.3")
    if len({name.strip() for name, _, _ in parts}) < len(parts):
        raise click.UsageError("--share names a category twice")
    known = {name.strip(): share.strip() for name, _, share in parts} or None
    run_analysis.answer("test", {**given, "shares": known})


@command(example="sottovoce results regress exam --outcome cheated --on year,age")
@run_analysis.source_options
@click.argument("formula", required=False)
@run_analysis.request_options("regression", "outcome", "on", "model", "errors", "among", "declining", "scales")
@run_analysis.request_options("regression", "cluster", "cluster_effect", "points", "at", "strata")
@run_analysis.weighted_options
def regress(on: str | None, at: tuple[str, ...], weights: Path | None, **given: Any) -> None:  # noqa: ANN401
    """Explain one question of SURVEY by others.

    Name them by --outcome and --on, or by a FORMULA as in R: "cheated ~ year * sex + age + I(age^2)". --weights names
    margins that the reports are to agree with, or with --from a CSV of one weight for each line of the file of reports.
    """
    if given["formula"] is None and "~" in (given["survey"] or ""):
        # The name of the survey may be left out with --from, so that the formula comes first.
        given["formula"], given["survey"] = given["survey"], None
    if given["formula"] is None and (given["outcome"] is None or on is None):
        raise click.UsageError('name the model: a FORMULA such as "y ~ a * b", or --outcome and --on')
    predictors = None if on is None else [name.strip() for name in on.split(",")]
    people = [_row(words) for words in at] or None
    run_analysis.answer("regression", {**given, "on": predictors, "at": people}, weights)


def _row(words: str) -> dict[str, str]:
    """From "year=first,age=30" to a row of predictors."""
    parts = [part.partition("=") for part in words.split(",")]
    if not all(name.strip() and value.strip() for name, _, value in parts):
        raise click.UsageError("--at is written as question=answer,question=answer")
    return {name.strip(): value.strip() for name, _, value in parts}


@command(example="sottovoce results weights exam --to margins.yaml")
@run_analysis.source_options
@click.option("--to", "margins", type=PATH, required=True, help="What is known, as YAML or JSON.")
@click.option("--out", type=PATH, help="With --from: CSV of one weight a report.")
@click.option("--force", is_flag=True, help="Replace the file if there is one.")
def weights(margins: Path, out: Path | None, force: bool, as_json: bool, **place: Any) -> None:  # noqa: ANN401
    """Weights that make the reports of SURVEY agree with known margins of public questions, and what they cost."""
    check_free(out, [".csv"], force)
    reports, known = run_analysis.reports_of(**place), read_margins(margins)
    if out is not None and not isinstance(reports, FolderReports):
        raise SpecError("--out is for --from: only the reports in a file have an order that weights could be in")
    document = run_analysis.ask(reports, "weights", {"margins": known})
    if out is not None and isinstance(reports, FolderReports):
        write_text(weights_csv(reports.weights(known)), out)
    run_analysis.show(document, as_json)


@command(
    example="sottovoce results mixture answers.csv --response y --design mangat --p .7\n"
    "sottovoce results mixture --design kuk --p .6 --p .2 --counts 0:60,1:40\n"
    "sottovoce results mixture exam copied_rare"
)
@run_analysis.source_options
@click.argument("question", required=False)
@run_analysis.request_options("design", "design", "p", required=False)
@run_analysis.request_options("design", "response", "group", "draws", required=False)
@run_analysis.request_options("mixture", "formula")
@click.option("--weights", help="Column of weights, or a file of one a row (.csv).")
@click.option("--yes", help="Of counts alone: reports of yes by group, such as 200,330.")
@click.option("--n", "reports", help="Of counts alone: all reports by group, such as 500,500.")
@click.option("--counts", help="Of counts alone, of kuk: people by number of red cards, such as 0:5,1:4.")
@run_analysis.level_options
def mixture(
    question: str | None, weights: str | None, yes: str | None, reports: str | None, counts: str | None,
    **given: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Estimate shares of SURVEY, by a QUESTION of a design that it plans; of a data file; or from counts alone.

    For designs whose probabilities hold an unknown share: of yes to the other question, of liars or of cheaters. Two
    random groups with different p, or several draws a person, tell it.
    """
    options, as_json, place = run_analysis.split("design", given)
    alone, of_file = (yes, reports, counts), options.keys() - {"formula", "confidence", "where", "wave"}
    if question is not None or place["folder"] is not None:
        if of_file or any(each is not None for each in (*alone, weights)):
            raise click.UsageError("a QUESTION has its design: --formula, --where, --wave, --confidence go with it")
        if question is None:
            # The name of the survey may be left out with --from.
            place["survey"], question = None, place["survey"]
        run_analysis.answer("mixture", {**options, **place, "as_json": as_json, "question": question})
        return
    if not options.keys() >= {"design", "p"}:
        raise click.UsageError("name a SURVEY and a QUESTION of its design; or --design and --p")
    file = place.pop("survey")
    if any(place.values()) or options.keys() & {"where", "wave"}:
        raise click.UsageError("a data file, or counts, goes with none of the options of a SURVEY, nor with --channel")
    if file is None:
        columns = weights or options.keys() & {"response", "group", "formula"}
        if columns or not (counts or (yes and reports)) or (counts and (yes or reports)):
            raise click.UsageError("name a FILE with --response; or --yes and --n, of kuk --counts, and no columns")
        known = _numbers(yes), _numbers(reports), _by_value(counts), options.get("draws", 1)
        asked, level = vars(parse_request("design", {**options, "response": "yes"})), options.get("confidence", 0.95)
        run_analysis.show(mixture_of_counts(options["design"], asked["p"], *known, level), as_json)
        return
    if "response" not in options or any(each is not None for each in alone):
        raise click.UsageError("a FILE goes with --response, and not with --yes, --n or --counts")
    of_rows = read_weights(Path(weights)) if weights and Path(weights).suffix == ".csv" else weights
    run_analysis.show_file("design", Path(file), options, as_json, of_rows)


def _numbers(text: str | None) -> list[int]:
    try:
        return [int(each) for each in text.split(",")] if text else []
    except ValueError:
        raise click.UsageError("--yes and --n are whole numbers with commas between them, such as 200,330") from None


def _by_value(text: str | None) -> dict[int, int] | None:
    try:
        pairs = [tuple(map(int, each.split(":"))) for each in text.split(",")] if text else []
        found = {value: count for value, count in pairs}
    except ValueError:
        raise click.UsageError("--counts is written as 0:5,1:4: numbers of red cards, and people with each") from None
    if len(found) < len(pairs):
        raise click.UsageError("--counts has a number of red cards twice")
    return found if text else None


@command(
    example="sottovoce results items exam cheated copied lied\n"
    "sottovoce results items answers.csv q1 q2 q3 --channel q1=coin_flip"
)
@run_analysis.source_options
@click.argument("questions", nargs=-1)
@run_analysis.request_options("items", "model")
@run_analysis.level_options
def items(questions: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401
    """Fit one trait behind yes/no QUESTIONS of SURVEY, or estimate how many of them are yes."""
    if given["folder"] is not None and given["survey"] is not None:
        # The name of the survey may be left out with --from.
        questions, given["survey"] = (given["survey"], *questions), None
    run_analysis.answer("items", {**given, "questions": questions})
