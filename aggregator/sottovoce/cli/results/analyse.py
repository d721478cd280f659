"""``crosstab``, ``compare``, ``associations``, ``test``: results of closed surveys and waves."""

from pathlib import Path
from typing import Any

import click
from sottovoce.cli.command import command
from sottovoce.cli.results.release import release_tables
from sottovoce.cli.results.run_analysis import answer, given, show_planned
from sottovoce.cli.results.survey_source import (
    among_careful_option,
    among_option,
    confidence_option,
    reports_of,
    source_options,
    wave_option,
    weights_option,
    where_option,
)


@command(example="sottovoce results crosstab exam --rows cheated --columns year")
@source_options
@click.option("--rows", required=True, help="Question whose categories are the rows; an option as question.option.")
@click.option("--columns", required=True, help="Question whose categories are the columns.")
@click.option("--within", default=None, help="A table for each category of this third question.")
@among_careful_option
@weights_option
@wave_option
@where_option
@confidence_option
@click.option(
    "--release-epsilon", default=None, help="Of two public questions: publish their table with noise, for so much."
)
@click.option("--yes", is_flag=True, help="With --release-epsilon, open the budget without asking.")
def crosstab(  # noqa: PLR0913, PLR0917 - one option each
    rows: str, columns: str, within: str | None, among: str | None, weights: Path | None, wave: int | None,
    where: str | None, confidence: float | None, as_json: bool, release_epsilon: str | None, yes: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Tabulate two questions of SURVEY: shares with limits, one test, and the strength of their association."""
    if release_epsilon is not None:
        others = (within, among, weights, where, confidence, place["folder"], place["url"])
        if place["survey"] is None or any(others) or wave is not None:
            raise click.UsageError("--release-epsilon is of all of a closed SURVEY in a data folder, without weights")
        release_tables(place["survey"], release_epsilon, (rows, columns), place["data"], None, yes)
        return
    options = given(rows=rows, columns=columns, within=within, among=among, wave=wave, where=where)
    options |= given(confidence=confidence)
    answer("crosstab", options, weights, as_json, place)


@command(example="sottovoce results compare exam --outcome cheated --groups year")
@source_options
@click.option("--outcome", default=None, help="Question that is compared.")
@click.option("--groups", default=None, help="Question whose categories are the groups; arm for random arms.")
@click.option("--planned", is_flag=True, help="Instead, make all comparisons that the survey's analysis_plan names.")
@click.option("--against", default=None, help="With --groups arm: the question of another arm, the reference.")
@click.option("--category", default=None, help="Of the outcome. [default: its last answer; yes of a yes/no question]")
@among_careful_option
@weights_option
@wave_option
@where_option
@confidence_option
def compare(  # noqa: PLR0913, PLR0917 - one option each
    outcome: str | None, groups: str | None, planned: bool, against: str | None, category: str | None,
    among: str | None, weights: Path | None, wave: int | None, where: str | None, confidence: float | None,
    as_json: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """The share of a category, or the mean of a number, among groups of SURVEY."""
    options = given(outcome=outcome, groups=groups, against=against, category=category, among=among)
    options |= given(wave=wave, where=where, confidence=confidence)
    if planned and (options or weights):
        raise click.UsageError("--planned makes the comparisons as they were planned: no other option goes with it")
    if planned:
        show_planned(reports_of(**place), as_json)
        return
    for option in ("outcome", "groups"):
        if option not in options:
            raise click.UsageError(f"Missing option '--{option}'.")
    answer("compare", options, weights, as_json, place)


@command(example="sottovoce results associations exam")
@source_options
@wave_option
@where_option
def associations(wave: int | None, where: str | None, as_json: bool, **place: Any) -> None:  # noqa: ANN401
    """Test all pairs of questions of SURVEY for association, with q values against findings by chance."""
    answer("pairs", given(wave=wave, where=where), None, as_json, place)


@command(example="sottovoce results test exam --question cheated --share yes=0.3")
@source_options
@click.option("--question", required=True, help="Question that is tested; an option as question.option.")
@click.option("--share", "shares", multiple=True, help="Known share: CATEGORY=SHARE; repeat. [default: equal shares]")
@click.option("--mean", type=float, default=None, help="Known mean of a number.")
@among_option
@wave_option
@where_option
@confidence_option
def test(  # noqa: PLR0913, PLR0917 - one option each
    question: str, shares: tuple[str, ...], mean: float | None, among: str | None, wave: int | None,
    where: str | None, confidence: float | None, as_json: bool, **place: Any,  # noqa: ANN401
) -> None:  # fmt: skip
    """Test the shares of one question of SURVEY, or the mean of a number, against known values."""
    parts = [words.rpartition("=") for words in shares]
    if not all(name.strip() for name, _, _ in parts):
        raise click.UsageError("--share is written as CATEGORY=SHARE, such as yes=0.3")
    if len({name.strip() for name, _, _ in parts}) < len(parts):
        raise click.UsageError("--share names a category twice")
    known = {name.strip(): share.strip() for name, _, share in parts} or None
    options = given(question=question, shares=known, mean=mean, among=among)
    answer("test", options | given(wave=wave, where=where, confidence=confidence), None, as_json, place)
