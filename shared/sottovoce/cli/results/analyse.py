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
_among = click.option("--among", type=click.Choice(AMONG), help="[default: those who answered, where they are known]")
_weights = click.option(
    "--weights", type=click.Path(path_type=Path), help="Margins (.yaml, .json), or one a report (.csv)."
)


@command(example="sottovoce results crosstab exam --rows cheated --columns year")
@source_options
@click.option("--rows", required=True, help="Question whose categories are the rows; an option as question.option.")
@click.option("--columns", required=True, help="Question whose categories are the columns.")
@click.option("--within", default=None, help="A table for each category of this public question.")
@_among
@_weights
@_wave
@click.option(
    "--release-epsilon", default=None, help="Of two public questions: publish their table with noise, for so much."
)
@click.option("--yes", is_flag=True, help="With --release-epsilon, open the budget without asking.")
def crosstab(  # noqa: PLR0913, PLR0917 - one option each
    rows: str, columns: str, within: str | None, among: str | None, weights: Path | None, wave: int | None,
    as_json: bool, release_epsilon: str | None, yes: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Tabulate two questions of SURVEY: shares with limits, one test, and the strength of their association."""
    if release_epsilon is not None:
        if place["survey"] is None or any((within, among, weights, place["folder"], place["url"])) or wave is not None:
            raise click.UsageError("--release-epsilon is of all of a closed SURVEY in a data folder, without weights")
        release_tables(place["survey"], release_epsilon, (rows, columns), place["data"], None, yes)
        return
    answer(
        "crosstab", given(rows=rows, columns=columns, within=within, among=among, wave=wave), weights, as_json, place
    )


@command(example="sottovoce results compare exam --outcome cheated --groups year")
@source_options
@click.option("--outcome", required=True, help="Question that is compared.")
@click.option("--groups", required=True, help="Question whose categories are the groups.")
@click.option("--category", default=None, help="Of the outcome. [default: its last answer; yes of a yes/no question]")
@_among
@_weights
@_wave
def compare(  # noqa: PLR0913, PLR0917 - one option each
    outcome: str, groups: str, category: str | None, among: str | None, weights: Path | None, wave: int | None,
    as_json: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """The share of a category, or the mean of a number, among groups of SURVEY."""
    answer(
        "compare",
        given(outcome=outcome, groups=groups, category=category, among=among, wave=wave),
        weights,
        as_json,
        place,
    )


@command(example="sottovoce results associations exam")
@source_options
@_wave
def associations(wave: int | None, as_json: bool, **place: Any) -> None:  # noqa: ANN401
    """Test all pairs of questions of SURVEY for association, with q values against findings by chance."""
    answer("pairs", given(wave=wave), None, as_json, place)


@command(example="sottovoce results regress exam --outcome cheated --on year,age")
@source_options
@click.option("--outcome", required=True, help="Question that is explained.")
@click.option("--on", required=True, help="Questions that explain it, with commas between them.")
@click.option("--model", type=click.Choice(MODELS), default=None, help="[default: what suits the outcome]")
@click.option("--errors", type=click.Choice(list(KINDS)), default="observed", show_default=True)
@_among
@click.option(
    "--declining",
    type=click.Choice(DECLINING),
    default=None,
    help="A logit of declining on the public predictors, or one common share. [default: the first, if enough declined]",
)
@click.option("--cluster", default=None, help="Public question whose categories are clusters.")
@click.option("--at", multiple=True, help="Predict for people like these: year=first,age=30; may be given many times.")
@_weights
@_wave
def regress(  # noqa: PLR0913, PLR0917 - one option each
    outcome: str, on: str, model: str | None, errors: str, among: str | None, declining: str | None,
    cluster: str | None, at: tuple[str, ...],
    weights: Path | None, wave: int | None, as_json: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """
    Explain one question of SURVEY by others. --weights names margins that the reports are to agree with, or with --from
    a CSV of one weight for each line of the file of reports.
    """
    predictors = [name.strip() for name in on.split(",")]
    people = [_row(words) for words in at] or None
    options = given(
        outcome=outcome, on=predictors, model=model, errors=errors, among=among, declining=declining, cluster=cluster,
        at=people, wave=wave,
    )  # fmt: skip
    answer("regression", options, weights, as_json, place)


def _row(words: str) -> dict[str, str]:
    """From "year=first,age=30" to a row of predictors."""
    parts = [part.partition("=") for part in words.split(",")]
    if not all(name.strip() and value.strip() for name, _, value in parts):
        raise click.UsageError("--at is written as question=answer,question=answer")
    return {name.strip(): value.strip() for name, _, value in parts}
