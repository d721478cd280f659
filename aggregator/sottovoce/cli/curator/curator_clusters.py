"""``curator cluster``: centres of clusters and a picture of them."""

from pathlib import Path

import click
from sottovoce.aggregator.curator.clusters.cluster import cluster_svg
from sottovoce.aggregator.curator.clusters.cluster_grid import MOST_NUMBERS
from sottovoce.aggregator.curator.clusters.cluster_question import LloydOptions, cluster_question, in_thousandths
from sottovoce.cli.command import command
from sottovoce.cli.curator.curator_data import FILE
from sottovoce.cli.curator.question_request import CuratorRequest, question_options
from sottovoce.cli.output import check_free, write_text
from sottovoce.shared.errors import SpecError


@command(example="sottovoce curator cluster people.csv income age --k 3 --epsilon 1")
@click.option("--k", type=int, required=True, help="Clusters.")
@click.option(
    "--method",
    type=click.Choice(["grid", "lloyd"]),
    help="A noisy grid, or Lloyd's algorithm with noise. [default: grid for up to ten numbers, else lloyd]",
)
@click.option("--iterations", type=int, help="Of lloyd; fixed, epsilon is shared among them. [default: 5]")
@click.option("--empty", type=click.Choice(["redraw", "keep"]), help="Of lloyd: an empty cluster's centre. [redraw]")
@click.option("--ball", type=click.Choice(["l1"]), help="Of lloyd: shrink points into this ball. [default: a box]")
@click.option("--radius", type=int, help="Of the ball, in steps from the middle of each number.")
@click.option("--svg", type=FILE, help="Also draw centres and noisy sizes to this file.")
@question_options
def cluster(  # noqa: PLR0913, PLR0917 - one option each
    asked: CuratorRequest,
    k: int,
    method: str | None,
    iterations: int | None,
    empty: str | None,
    ball: str | None,
    radius: int | None,
    svg: Path | None,
) -> None:
    """Centres of k clusters of some numbers, their noisy sizes and how near their members are."""
    check_free(svg, [".svg"], force=False)
    if (ball is None) != (radius is None):
        raise SpecError("--ball l1 needs --radius, and --radius needs --ball l1")
    taken = method or ("grid" if len(asked.columns) <= MOST_NUMBERS else "lloyd")
    lloyd = _lloyd_options(taken, iterations, empty, radius)
    found = asked.answer(lambda declared: cluster_question(declared, asked.columns, k, lloyd))
    if svg is not None:
        places = in_thousandths(found["values"], asked.data.declaration, asked.columns)
        write_text(cluster_svg(places, 1000), svg)


def _lloyd_options(method: str, iterations: int | None, empty: str | None, radius: int | None) -> LloydOptions | None:
    if method == "grid" and (iterations, empty, radius) != (None, None, None):
        raise SpecError("--iterations, --empty and --ball are of --method lloyd; a grid has none")
    if method == "grid":
        return None
    return LloydOptions(5 if iterations is None else iterations, empty == "keep", radius)
