"""Questions of ``curator`` whose answer is no number: the winner, and clusters."""

from pathlib import Path

import click
from sottovoce.aggregator.curator.cluster_picture import cluster_svg
from sottovoce.aggregator.curator.questions import cluster_question, in_thousandths, top_question
from sottovoce.aggregator.files.curated import read_declaration
from sottovoce.aggregator.files.data_set import declaration_file
from sottovoce.cli.curator_data import FILE, answer, declaration_option, epsilon_option, json_option
from sottovoce.cli.output_file import check_free, write_text


@click.command()
@click.argument("file", type=FILE)
@click.argument("column")
@epsilon_option
@declaration_option
@json_option
def top(file: Path, column: str, epsilon: str, declaration: Path | None, as_json: bool) -> None:
    """The most frequent name or mark of a column; its number is a question of its own."""
    answer(file, declaration, epsilon, lambda declared: top_question(declared, column), as_json)


@click.command()
@click.argument("file", type=FILE)
@click.argument("columns", nargs=-1, required=True)
@click.option("--k", type=int, required=True, help="Clusters.")
@click.option("--iterations", type=int, default=5, show_default=True, help="Fixed; epsilon is shared among them.")
@click.option(
    "--empty",
    type=click.Choice(["redraw", "keep"]),
    default="redraw",
    show_default=True,
    help="What becomes of the centre of a cluster that seems empty.",
)
@click.option("--svg", type=FILE, help="Also draw centres and noisy sizes to this file.")
@epsilon_option
@declaration_option
@json_option
def cluster(  # noqa: PLR0913, PLR0917 - one option each
    file: Path,
    columns: tuple[str, ...],
    k: int,
    iterations: int,
    empty: str,
    svg: Path | None,
    epsilon: str,
    declaration: Path | None,
    as_json: bool,
) -> None:
    """Centres of k clusters of some numbers, by Lloyd's algorithm with noise."""
    check_free(svg, [".svg"], force=False)
    keep = empty == "keep"
    found = answer(
        file, declaration, epsilon, lambda declared: cluster_question(declared, columns, k, iterations, keep), as_json
    )
    if svg is not None:
        declared = read_declaration(declaration_file(file, declaration))
        write_text(cluster_svg(in_thousandths(found["values"], declared, columns), 1000), svg)
