"""Ask for clusters of some numbers, each measured in its own steps."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from sottovoce.aggregator.curator.clipping import Ball
from sottovoce.aggregator.curator.clusters.cluster import Box, Lloyd, check_grid, cluster, grid_cluster
from sottovoce.aggregator.curator.declaration import DataRecords, Declaration, NumberColumn, Values
from sottovoce.aggregator.curator.neighbouring_relation import Neighbours
from sottovoce.aggregator.curator.questions import CuratorQuestion, different_names, number_column
from sottovoce.aggregator.curator.release import Release, ReleaseTerms
from sottovoce.shared.errors import SpecError
from sottovoce.shared.exact_noise import ExactNoise


@dataclass(frozen=True)
class LloydOptions:
    """Options of DP-Lloyd.

    Attributes:
        iterations: of Lloyd's algorithm, which share epsilon.
        keep_empty: a cluster with a noisy count below 1 keeps its centre instead of getting a new one.
        radius: of the L1 ball around the middle of all columns, in steps, to which points are shrunk; None for a box.
    """

    iterations: int = 5
    keep_empty: bool = False
    radius: int | None = None


ClusterRelease = Callable[[Values, ReleaseTerms, ExactNoise], Release]


def cluster_question(
    declaration: Declaration, names: Sequence[str], k: int, lloyd: LloydOptions | None = None
) -> CuratorQuestion:
    """Return the question for the centres of k clusters of some numbers, each number measured in its own steps.

    Args:
        k: number of clusters; at most the number of records where that is public.
        lloyd: use DP-Lloyd with these options; None for the noisy grid, which is for one to ten numbers.
    """
    numbers = {name: number_column(declaration, name) for name in different_names(names)}
    # Twice the distance from the middle in steps: an integer for odd numbers of steps too, and symmetric around 0.
    steps = tuple(number.steps for number in numbers.values())
    form: dict[str, Any] = {"verb": "cluster", "columns": list(numbers), "k": k}
    try:
        release = _by_grid(Box(steps), k) if lloyd is None else _by_lloyd(steps, k, lloyd)
    except ValueError as error:
        raise SpecError(str(error)) from None
    if lloyd is None:
        form["method"] = "grid"
    else:
        form |= {"iterations": lloyd.iterations, "empty": "keep" if lloyd.keep_empty else "redraw"}
        form |= {} if lloyd.radius is None else {"ball": "l1", "radius": lloyd.radius}

    def draw(records: DataRecords, terms: ReleaseTerms, draws: ExactNoise) -> Release:
        if terms.neighbours is Neighbours.REPLACE and k > records.count:
            raise SpecError("there are fewer records than clusters; how many records there are is public")
        rows = np.stack([2 * records.columns[name] - number.steps for name, number in numbers.items()], axis=1)
        made = release(rows, terms, draws)
        centres = [_in_declared_order(centre, numbers.values()) for centre in made.values["centres"]]
        note = "distances, and the errors of sums, count in half steps of each column's grid"
        return replace(made, values={**made.values, "centres": centres}, notes=(*made.notes, note))

    return CuratorQuestion(form, tuple(numbers), draw, tuple(numbers))


def _by_grid(box: Box, k: int) -> ClusterRelease:
    check_grid(box, k)
    return lambda rows, terms, draws: grid_cluster(rows, box, k, terms, draws)


def _by_lloyd(steps: tuple[int, ...], k: int, options: LloydOptions) -> ClusterRelease:
    domain = Box(steps) if options.radius is None else Ball(1, 2 * options.radius, len(steps))
    lloyd = Lloyd(domain, k, options.iterations, options.keep_empty)
    return lambda rows, terms, draws: cluster(rows, lloyd, terms, draws)


def _in_declared_order(centre: Sequence[int], numbers: Iterable[NumberColumn]) -> list[str]:
    found = zip(centre, numbers, strict=True)
    return [str(number.minimum + Fraction(each + number.steps, 2) * number.step) for each, number in found]


def in_thousandths(values: Mapping[str, Any], declaration: Declaration, names: Sequence[str]) -> dict[str, Any]:
    """Rescale the centres for ``cluster_svg``: -1000 at the lower bound of each column, 1000 at the upper bound.

    ``names`` are the columns in the order of coordinates.
    """
    numbers = [number_column(declaration, name) for name in names]

    def place(text: str, number: NumberColumn) -> int:
        return round(2000 * (Fraction(text) - number.minimum) / (number.maximum - number.minimum)) - 1000

    centres = [[place(*each) for each in zip(centre, numbers, strict=True)] for centre in values["centres"]]
    return {**values, "centres": centres}
