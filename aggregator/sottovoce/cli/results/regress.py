"""``regress``: models of one question by others, in closed surveys and waves."""

from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.declining import DECLINING
from sottovoce.aggregator.analysis.regression.regression import MODELS
from sottovoce.cli.command import command
from sottovoce.cli.results.run_analysis import answer, given
from sottovoce.cli.results.survey_source import (
    among_careful_option,
    confidence_option,
    source_options,
    wave_option,
    weights_option,
    where_option,
)


@command(example="sottovoce results regress exam --outcome cheated --on year,age")
@source_options
@click.argument("formula", required=False)
@click.option("--outcome", default=None, help="Question that is explained, without a FORMULA.")
@click.option("--on", default=None, help="Questions that explain it, with commas between them, without a FORMULA.")
@click.option("--model", type=click.Choice(MODELS), default=None, help="[default: what suits the outcome]")
@click.option(
    "--errors", type=click.Choice(list(KINDS)), default="observed", show_default=True, help="Kind of standard errors."
)
@among_careful_option
@click.option(
    "--declining",
    type=click.Choice(DECLINING),
    default=None,
    help="A logit of declining on the public predictors, or one common share. [default: the first, if enough declined]",
)
@click.option("--cluster", default=None, help="Public question whose categories are clusters.")
@click.option("--at", multiple=True, help="Predict for people like these: year=first,age=30; may be given many times.")
@click.option("--no-strata", is_flag=True, help="Leave waves and revisions out of the predictors.")
@weights_option
@wave_option
@where_option
@confidence_option
def regress(  # noqa: PLR0913, PLR0917 - one option each
    formula: str | None, outcome: str | None, on: str | None, model: str | None, errors: str, among: str | None,
    declining: str | None, cluster: str | None, at: tuple[str, ...], no_strata: bool, weights: Path | None,
    wave: int | None, where: str | None, confidence: float | None, as_json: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Explain one question of SURVEY by others.

    Name them by --outcome and --on, or by a FORMULA as in R: "cheated ~ year * sex + age + I(age^2)". --weights names
    margins that the reports are to agree with, or with --from a CSV of one weight for each line of the file of reports.
    """
    if formula is None and "~" in (place["survey"] or ""):
        # The name of the survey may be left out with --from, so that the formula comes first.
        formula, place["survey"] = place["survey"], None
    if formula is None and (outcome is None or on is None):
        raise click.UsageError('name the model: a FORMULA such as "y ~ a * b", or --outcome and --on')
    predictors = None if on is None else [name.strip() for name in on.split(",")]
    people = [_row(words) for words in at] or None
    options = given(
        formula=formula, outcome=outcome, on=predictors, model=model, errors=errors, among=among, declining=declining,
        cluster=cluster, at=people, wave=wave, where=where, confidence=confidence, strata=False if no_strata else None,
    )  # fmt: skip
    answer("regression", options, weights, as_json, place)


def _row(words: str) -> dict[str, str]:
    """From "year=first,age=30" to a row of predictors."""
    parts = [part.partition("=") for part in words.split(",")]
    if not all(name.strip() and value.strip() for name, _, value in parts):
        raise click.UsageError("--at is written as question=answer,question=answer")
    return {name.strip(): value.strip() for name, _, value in parts}
