"""``crosstab``, ``compare``, ``pairs``, ``regress``: joint results of closed surveys and waves."""

from pathlib import Path
from typing import Any

import click
from sottovoce.aggregator.analysis.described_people import AMONG
from sottovoce.aggregator.analysis.regression.covariance import KINDS
from sottovoce.aggregator.analysis.regression.declining import DECLINING
from sottovoce.aggregator.analysis.regression.regression import MODELS
from sottovoce.cli.command import command
from sottovoce.cli.results.release import release_tables
from sottovoce.cli.results.run_analysis import answer, given
from sottovoce.cli.results.survey_source import source_options

_wave = click.option("--wave", type=click.IntRange(0), default=None, help="Only this wave, counted from 0.")
_where = click.option(
    "--where", default=None, help='Only people of a subset: "year = first and age >= 18", by public questions.'
)
_confidence = click.option(
    "--confidence",
    type=click.FloatRange(0.5, 1, max_open=True),
    default=None,
    help="Level of the limits. [default: 0.95]",
)
_weights = click.option(
    "--weights", type=click.Path(path_type=Path), help="Margins (.yaml, .json), or one a report (.csv)."
)


@command(example="sottovoce results crosstab exam --rows cheated --columns year")
@source_options
@click.option("--rows", required=True, help="Question whose categories are the rows; an option as question.option.")
@click.option("--columns", required=True, help="Question whose categories are the columns.")
@click.option("--within", default=None, help="A table for each category of this public question.")
@_weights
@_wave
@_where
@_confidence
@click.option(
    "--release-epsilon", default=None, help="Of two public questions: publish their table with noise, for so much."
)
@click.option("--yes", is_flag=True, help="With --release-epsilon, open the budget without asking.")
def crosstab(  # noqa: PLR0913, PLR0917 - one option each
    rows: str, columns: str, within: str | None, weights: Path | None, wave: int | None, where: str | None,
    confidence: float | None, as_json: bool, release_epsilon: str | None, yes: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Tabulate two questions of SURVEY: shares with limits, one test, and the strength of their association."""
    if release_epsilon is not None:
        others = (within, weights, where, confidence, place["folder"], place["url"])
        if place["survey"] is None or any(others) or wave is not None:
            raise click.UsageError("--release-epsilon is of all of a closed SURVEY in a data folder, without weights")
        release_tables(place["survey"], release_epsilon, (rows, columns), place["data"], None, yes)
        return
    options = given(rows=rows, columns=columns, within=within, wave=wave, where=where, confidence=confidence)
    answer("crosstab", options, weights, as_json, place)


@command(example="sottovoce results compare exam --outcome cheated --groups year")
@source_options
@click.option("--outcome", required=True, help="Question that is compared.")
@click.option("--groups", required=True, help="Question whose categories are the groups.")
@click.option("--category", default=None, help="Of the outcome. [default: its last; yes of a yes/no question]")
@_weights
@_wave
@_where
@_confidence
def compare(  # noqa: PLR0913, PLR0917 - one option each
    outcome: str, groups: str, category: str | None, weights: Path | None, wave: int | None, where: str | None,
    confidence: float | None, as_json: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """The share of a category, or the mean of a number, among groups of SURVEY."""
    chosen = given(outcome=outcome, groups=groups, category=category)
    answer("compare", chosen | given(wave=wave, where=where, confidence=confidence), weights, as_json, place)


@command(example="sottovoce results associations exam")
@source_options
@_wave
@_where
def associations(wave: int | None, where: str | None, as_json: bool, **place: Any) -> None:  # noqa: ANN401
    """Test all pairs of questions of SURVEY for association, with q values against findings by chance."""
    answer("pairs", given(wave=wave, where=where), None, as_json, place)


@command(example="sottovoce results regress exam --outcome cheated --on year,age")
@source_options
@click.argument("formula", required=False)
@click.option("--outcome", default=None, help="Question that is explained, without a FORMULA.")
@click.option("--on", default=None, help="Questions that explain it, with commas between them, without a FORMULA.")
@click.option("--model", type=click.Choice(MODELS), default=None, help="[default: what suits the outcome]")
@click.option("--errors", type=click.Choice(list(KINDS)), default="observed", show_default=True)
@click.option("--among", type=click.Choice(AMONG), default=None, help="[default: those who answered, where known]")
@click.option(
    "--declining",
    type=click.Choice(DECLINING),
    default=None,
    help="A logit of declining on the public predictors, or one common share. [default: the first, if enough declined]",
)
@click.option("--cluster", default=None, help="Public question whose categories are clusters.")
@click.option("--at", multiple=True, help="Predict for people like these: year=first,age=30; may be given many times.")
@click.option("--no-strata", is_flag=True, help="Leave waves and revisions out of the predictors.")
@_weights
@_wave
@_where
@_confidence
def regress(  # noqa: PLR0913, PLR0917 - one option each
    formula: str | None, outcome: str | None, on: str | None, model: str | None, errors: str, among: str | None,
    declining: str | None, cluster: str | None, at: tuple[str, ...], no_strata: bool, weights: Path | None,
    wave: int | None, where: str | None, confidence: float | None, as_json: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """
    Explain one question of SURVEY by others, named by --outcome and --on or by a FORMULA as in R:
    "cheated ~ year * sex + age + I(age^2)". --weights names margins that the reports are to agree with, or with --from
    a CSV of one weight for each line of the file of reports.
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
