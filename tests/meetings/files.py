"""Meetings in files of other people: randomized columns, rare groups, codes with one label, item counts."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pandas
import pyreadstat
from sottovoce.aggregator.analysis.data_file.list_experiment import list_experiment
from sottovoce.aggregator.analysis.data_file.read_table import read_table
from sottovoce.aggregator.export.results_client.open_data import open_data
from sottovoce.shared.errors import SurveyError

from tests.meetings.channels import Channel, two
from tests.meetings.meet import LIMIT, POINT, Faults, differs
from tests.meetings.reference import Group


def _data(draw: Random, folder: Path) -> Faults:
    """A randomized column of R's dotted name beside a group of a few people: nothing is suppressed or joined."""
    a, b = draw.choice([(0.75, 0.25), (0.9, 0.05)])
    people = [3, draw.randint(15, 40), draw.randint(100, 160)]
    lines, reported = ["group,rr.y"], []
    for group, count in enumerate(people):
        chance = draw.uniform(0.1, 0.6)
        of_group = [int(draw.random() < (a if draw.random() < chance else b)) for _ in range(count)]
        lines += [f"g{group},{('no', 'yes')[said]}" for said in of_group]
        reported.append(np.array(of_group))
    path = folder / "answers.csv"
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    made = Channel(("no", "yes"), (0, 1), two(a, b), 2)
    opened = open_data(path, {"rr.y": f"binary_rr a={a} b={b}"})
    (row,) = [each for each in opened.estimates if each["option"] == "yes"]
    every = np.concatenate(reported)
    yield from differs("share in a file", row, Group(made, every, np.ones(len(every))).share(1))
    try:
        opened.model(formula="rr.y ~ group", model="linear")
    except SurveyError as error:
        yield f"rr.y ~ group is refused: {error}"
    found = opened.compare(row["question"], "group").document["values"]
    if [each["group"] for each in found] != ["g0", "g1", "g2"]:
        yield f"groups of a file: {[each['group'] for each in found]}"
        return
    for each, of_group in zip(found, reported, strict=True):
        figure = Group(made, of_group, np.ones(len(of_group)), reports=len(every)).share(1)
        yield from differs(f"{each['group']} of a file", each, figure)


def _codes(draw: Random, folder: Path) -> Faults:
    """Two codes of SPSS with one label stay two answers."""
    codes = [draw.choices([1, 2, 3], [0.5, 0.3, 0.2])[0] for _ in range(200)]
    path = folder / "codes.sav"
    labels = {1.0: "Often", 2.0: "Often", 3.0: "Never"}
    pyreadstat.write_sav(pandas.DataFrame({"how": [float(code) for code in codes]}), path,
                         variable_value_labels={"how": labels})  # fmt: skip
    found = sorted(row["shown"] for row in open_data(path).shares("how").rows)
    right = sorted(codes.count(code) / len(codes) for code in labels)
    if not (len(found) == len(right) and np.allclose(found, right)):
        yield f"codes with one label: shares {found}, should be {right}"


def _list(draw: Random, folder: Path) -> Faults:
    """Item counts, perhaps written 2.0; an impossible difference of means is never shown as a share of 0 +- 0."""
    effect = draw.choice([-0.8, 0.15])
    counts = {half: [min(max(round(draw.gauss(2 + half * effect, 0.8)), 0), 3 + half) for _ in range(150)]
              for half in (0, 1)}  # fmt: skip
    written = draw.choice(["{}", "{}.0"])
    path = folder / "list.csv"
    lines = [f"{written.format(count)},{half}" for half, of in counts.items() for count in of]
    path.write_text("\n".join(["y,treat", *lines, ""]), encoding="utf-8")
    try:
        share = list_experiment(read_table(path), [["y"]], "treat", "1", 3)["share"]
    except SurveyError as error:
        yield f"item counts are refused: {error}"
        return
    means = [np.array(counts[half]) for half in (1, 0)]
    raw = float(means[0].mean() - means[1].mean())
    error = float(np.sqrt(sum(each.var(ddof=1) / len(each) for each in means)))
    if abs(share["raw"] - raw) > POINT or abs(share["std_error"] - error) > LIMIT:
        yield f"item counts: {share['raw']} +- {share['std_error']}, should be {raw} +- {error}"
    if not 0 <= raw <= 1 and share["shown"] is not None and share["low"] == share["high"]:
        yield f"item counts: {raw} is impossible and shown as {share['shown']}, {share['low']} to {share['high']}"


FILE_KINDS: dict[str, Callable[[Random, Path], Faults]] = {"data": _data, "codes": _codes, "list": _list}


def faults_of_file(seed: int, kind: str, folder: Path) -> list[str]:
    place = folder / f"file-{seed}"
    place.mkdir()
    return list(FILE_KINDS[kind](Random(f"file {seed}"), place))  # noqa: S311 - the same files in each run
