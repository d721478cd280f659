"""``reidentify``: who could be found in a table that is published as it is."""

from pathlib import Path

import click
from sottovoce.aggregator.curator.data.data_set import read_table
from sottovoce.aggregator.curator.reidentify_words import reidentify_document, reidentify_lines, write_coarsened
from sottovoce.cli.command import command
from sottovoce.cli.curator.curator_data import FILE, declaration_option, json_option, print_document


@command(example="sottovoce curator reidentify people.csv --sensitive illness")
@click.argument("file", type=FILE)
@click.option("--public", multiple=True, help="A column that others may know. [default: all but the sensitive one]")
@click.option("--sensitive", help="The column that they should not learn.")
@click.option("--with", "other", type=FILE, help="A second table of an attacker, with its .yaml in the same folder.")
@click.option("--k", type=click.IntRange(2), default=5, show_default=True, help="People whom every group should have.")
@click.option("--out", type=click.Path(path_type=Path), help="Also write the coarsened table to this new CSV file.")
@declaration_option
@json_option
def reidentify(  # noqa: PLR0913, PLR0917 - one option each
    file: Path,
    public: tuple[str, ...],
    sensitive: str | None,
    other: Path | None,
    k: int,
    out: Path | None,
    declaration: Path | None,
    as_json: bool,
) -> None:
    """Report who could be identified if FILE was published without noise; for its curator's own eyes."""
    if other is not None and sensitive is None:
        raise click.UsageError("--with needs --sensitive, the column that both tables have")
    table = read_table(file, declaration, public, sensitive)
    second = None if other is None else read_table(other, None, (), sensitive)
    print_document(reidentify_document(table, second, k), reidentify_lines, as_json)
    if out is not None:
        write_coarsened(table, k, out)
