"""``list-experiment``: the share of a sensitive item from a file of item counts."""

from pathlib import Path

import click
from sottovoce.aggregator.analysis.data_file.list_experiment import MOST_ITEMS
from sottovoce.aggregator.analysis.data_file.list_experiment import list_experiment as estimate
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.cli.command import command
from sottovoce.cli.results.run_analysis import show
from sottovoce.cli.results.survey_source import confidence_option


@command(example="sottovoce results list-experiment answers.csv --count items --arm half")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--count", required=True, multiple=True, help="Column: how many items apply; once a half if they differ.")
@click.option("--second", multiple=True, help="Of a double list: column of the counts of the second list.")
@click.option("--arm", required=True, help="Column of the two random halves.")
@click.option("--treated", default="1", show_default=True, help="Value of --arm where --count has the sensitive item.")
@click.option(
    "--items",
    type=click.IntRange(1, MOST_ITEMS),
    default=None,
    help="Items without the sensitive one. [default: the largest count without it]",
)
@confidence_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON on standard output.")
def list_experiment(  # noqa: PLR0913, PLR0917 - one option each
    file: Path, count: tuple[str, ...], second: tuple[str, ...], arm: str, treated: str, items: int | None,
    confidence: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Estimate a sensitive share from FILE (CSV, TSV, XLSX, Parquet, SPSS, Stata), a row for each person.

    One random half counted how many items of a list apply, the other half how many of a list with one item more.
    """
    columns = [each for each in (count, second) if each]
    show(estimate(read_table(file), columns, arm, treated, items, confidence or 0.95), as_json)
