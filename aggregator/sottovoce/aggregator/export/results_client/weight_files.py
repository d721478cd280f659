"""Read margins and weights from files, and write weights."""

import csv
import math
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.analysis.request_options import read_shares
from sottovoce.aggregator.analysis.requests import parse_request
from sottovoce.aggregator.analysis.weights import MarginShares
from sottovoce.aggregator.surveys.survey_file import parse_yaml
from sottovoce.shared.errors import SpecError, cannot_read

LARGEST = 1 << 20
"""Largest size of a file of margins in bytes."""
MOST = 100_000_000

HEADER = "weight"


def read_margins(path: Path) -> MarginShares:
    """Read known margins from YAML or JSON: ``question: {category: share}``, or joint ``a x b: {one x other: share}``.

    Raises SurveyError if the file cannot be read or contains no margins.
    """
    data = _bytes(path)
    try:
        given = parse_yaml(data)
    except SpecError as error:
        raise SpecError(f"{path.name}: {'; '.join(problem.message for problem in error.problems)}") from None
    parse_request("weights", {"margins": given})
    return read_shares(given)


def read_weights(path: Path) -> NDArray[np.float64]:
    """Read weights from CSV: a header ``weight``, then one weight per line. The analysis checks their number later.

    Raises SpecError, with the line, if the file cannot be read or a line is no number above 0.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            if next(lines, None) != [HEADER]:
                raise SpecError(f"{path.name}, line 1: the header must be '{HEADER}', with nothing beside it")
            found = [_weight(line, f"{path.name}, line {number}") for number, line in enumerate(islice(lines, MOST), 2)]
    except (OSError, UnicodeDecodeError, csv.Error):
        raise SpecError(f"{path.name} cannot be read as CSV") from None
    return np.array(found, dtype=float)


def weights_csv(weights: Sequence[float]) -> str:
    """Return weights as CSV, in the form that ``read_weights`` reads."""
    return "\n".join([HEADER, *(repr(weight) for weight in weights), ""])


def _weight(line: Sequence[str], place: str) -> float:
    if len(line) != 1:
        raise SpecError(f"{place}: there must be one weight, and nothing beside it")
    try:
        weight = float(line[0])
    except ValueError:
        weight = math.nan
    if not (math.isfinite(weight) and weight > 0):
        raise SpecError(f"{place}: the weight is missing, or not a number above 0")
    return weight


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise SpecError(cannot_read(path, error)) from None
    if len(data) > LARGEST:
        raise SpecError(f"{path.name} is larger than 1 MiB")
    return data
