"""``curator cluster``: centres of clusters and a picture of them."""

from pathlib import Path

import click
from sottovoce.aggregator.curator.clusters.cluster import cluster_svg
from sottovoce.aggregator.curator.clusters.cluster_grid import MOST_NUMBERS
from sottovoce.aggregator.curator.clusters.cluster_question import LloydOptions, cluster_question, in_thousandths
from sottovoce.cli.command import command
from sottovoce.cli.curator.curator_data import FILE, CuratorRequest, question_options
from sottovoce.cli.output_file import check_free, write_text
from sottovoce.shared.errors import SpecError


@command(example="sottovoce curator cluster people.csv income age --k 3 --epsilon 1")
@click.option("--k", type=int, required=True, help="Clusters.")
@click.option(
    "--method",
    type=click.Choice(["grid", "lloyd"]),
    help="A noisy grid, or Lloyd's algorithm with noise. [default: grid for one or two numbers, else lloyd]",
)
@click.option("--iterations", type=int, help="Of lloyd; fixed, epsilon is shared among them. [default: 5]")
@click.option("--empty", type=click.Choice(["redraw", "keep"]), help="Of lloyd: an empty cluster's centre. [redraw]")
@click.option("--svg", type=FILE, help="Also draw centres and noisy sizes to this file.")
@question_options
def cluster(
    asked: CuratorRequest, k: int, method: str | None, iterations: int | None, empty: str | None, svg: Path | None
) -> None:
    """Centres of k clusters of some numbers, their noisy sizes and how near their members are."""
    check_free(svg, [".svg"], force=False)
    lloyd = _lloyd_options(method or ("grid" if len(asked.columns) <= MOST_NUMBERS else "lloyd"), iterations, empty)
    found = asked.answer(lambda declared: cluster_question(declared, asked.columns, k, lloyd))
    if svg is not None:
        places = in_thousandths(found["values"], asked.data.declaration, asked.columns)
        write_text(cluster_svg(places, 1000), svg)


def _lloyd_options(method: str, iterations: int | None, empty: str | None) -> LloydOptions | None:
    if method == "grid" and (iterations, empty) != (None, None):
        raise SpecError("--iterations and --empty are of --method lloyd; a grid has none")
    return None if method == "grid" else LloydOptions(5 if iterations is None else iterations, empty == "keep")
