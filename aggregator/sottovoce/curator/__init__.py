"""Answer questions from data in trusted hands with noise, in Python: as ``sottovoce curator``, under the same budget.

    data = bind(ages, declaration, "class.budget", epsilon=1)
    print(mean(data, "age", epsilon=0.25))

Data are a list, a numpy array, a mapping of columns, a pandas or polars frame, or the path of a file. Every answer is
recorded in the budget before it is returned; the same question has the same answer, and costs nothing again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from sottovoce.aggregator.curator.budget import Budget, spent
from sottovoce.aggregator.curator.clusters.cluster import LloydOptions, cluster_question
from sottovoce.aggregator.curator.data.data_set import DataSet, open_data_set, open_ledger_anchor
from sottovoce.aggregator.curator.data.read_records import cell_texts, encode_texts, read_declaration, values_digest
from sottovoce.aggregator.curator.declaration import FORMAT, Declaration, parse_declaration
from sottovoce.aggregator.curator.ledger.ledger_anchor import LedgerFile
from sottovoce.aggregator.curator.noisy_max import EXPONENTIAL, NOISES
from sottovoce.aggregator.curator.parse_epsilon import parse_delta, parse_epsilon
from sottovoce.aggregator.curator.questions import (
    CuratorQuestion,
    count_question,
    histogram_question,
    names_question,
    number_question,
    quantile_question,
    top_question,
    vector_question,
)
from sottovoce.aggregator.curator.release import Neighbours
from sottovoce.aggregator.curator.text_report import answer_document, answer_lines, bound_document, bound_lines
from sottovoce.aggregator.settings import Settings
from sottovoce.shared.errors import SpecError

__all__ = [
    "BoundData",
    "NoisyAnswer",
    "bind",
    "cluster",
    "count",
    "histogram",
    "mean",
    "quantiles",
    "sum",
    "top",
    "vector",
]

Amount = str | int | float | Fraction
"""An epsilon or delta: ``"1/4"``, ``"ln 2"`` or a number, which is taken as it is printed (0.1 is one tenth)."""


@dataclass(frozen=True)
class BoundData:
    """Data under a budget. Printed, it says what does not fit the declaration: exact, for the curator alone.

    Attributes:
        data_set: the data, their declaration and their budget.
        document: number of records, cells not as declared, and the terms of the budget.
        useless: answer also if the error may exceed the whole range of the answer.
    """

    data_set: DataSet
    document: Mapping[str, Any]
    useless: bool = False

    @property
    def left(self) -> Fraction:
        """Epsilon that the budget has left."""
        ledger = self.data_set.budget.read()
        return ledger.terms.epsilon - spent(ledger).epsilon

    def __str__(self) -> str:
        return "\n".join(bound_lines(self.document))


@dataclass(frozen=True)
class NoisyAnswer:
    """An answer that is in the budget. Printed, it reads as in the terminal.

    Attributes:
        document: question, values, sensitivity, error, charge and what was spent, as JSON.
    """

    document: Mapping[str, Any]

    @property
    def values(self) -> dict[str, Any]:
        """The answer's values; numbers that are not whole are floats."""
        return {key: value if key == "name" else _numbers(value) for key, value in self.document["values"].items()}

    @property
    def table(self) -> dict[str, Any]:
        """Number of each name, for answers that have several."""
        labels, values = self.document["names"], self.values
        counts = values.get("counts")
        if isinstance(counts, dict):
            return counts
        lists = [each for each in values.values() if isinstance(each, list) and len(each) == len(labels)]
        return dict(zip(labels, lists[0], strict=True)) if lists else {}

    def __str__(self) -> str:
        return "\n".join(answer_lines(self.document))


def bind(
    data: Any,  # noqa: ANN401 - lists, arrays and frames
    declaration: Mapping[str, Any] | str | Path,
    budget: str | Path | None = None,
    *,
    epsilon: Amount,
    delta: Amount | None = None,
    neighbours: str = Neighbours.REPLACE.value,
    heads: str | Path | None = None,
    useless: bool = False,
) -> BoundData:
    """Check data once and open their budget; again with the same data and terms, the budget goes on.

    Args:
        data: a list of cells or rows, a numpy array, a mapping of columns, a pandas or polars frame, or the path of a
            CSV or Parquet file, whose budget it shares with the terminal.
        declaration: content of DATA.yaml (``format`` may be left out), or its path.
        budget: path of the budget's file; None for a file, whose budget is beside it.
        epsilon: of everything that will ever be answered, for good.
        delta: likewise; None for 1/n^2 under replace-one, else 0.
        neighbours: ``replace-one`` or ``add/remove``.
        heads: folder of ledger anchors, outside the budget's; None for ``SOTTOVOCE_LEDGER_ANCHOR_DIR``.
        useless: answer also questions whose error may exceed the whole range of the answer.

    Raises:
        SurveyError: data, declaration or terms are invalid, or the budget belongs to other data or terms.
    """
    _check_choice("neighbours", neighbours, [each.value for each in Neighbours])
    anchor = Settings.from_environment().ledger_anchor_dir if heads is None else str(heads)
    amounts = parse_epsilon(str(epsilon)), None if delta is None else parse_delta(str(delta))
    found = _data_set(data, declaration, budget, anchor)
    return BoundData(found, bound_document(*found.bind(*amounts, Neighbours(neighbours))), useless)


def _data_set(data: Any, declaration: Any, budget: str | Path | None, anchor: str) -> DataSet:  # noqa: ANN401
    if isinstance(data, str | Path):
        if budget is not None or isinstance(declaration, Mapping):
            raise SpecError("the budget of a file is beside it, and its declaration a file; name no other budget")
        return open_data_set(Path(data), Path(declaration), anchor)
    if budget is None:
        raise SpecError("name the file of the budget, such as class.budget")
    place = Path(budget)
    heads = open_ledger_anchor(anchor, place.parent)
    declared = _declared(declaration)
    texts = cell_texts(data, declared)
    found = Budget(LedgerFile(place), values_digest(texts), declared.digest, heads)
    return DataSet(partial(encode_texts, texts, declared), declared, found)


def _declared(declaration: Mapping[str, Any] | str | Path) -> Declaration:
    if isinstance(declaration, Mapping):
        return parse_declaration({"format": FORMAT, **declaration})
    return read_declaration(Path(declaration))


def count(data: BoundData, *conditions: str, epsilon: Amount, most: int | None = None) -> NoisyAnswer:
    """Count the records that meet a condition, or each of several.

    Args:
        data: from ``bind``.
        conditions: such as ``"year=first & age>=20"``.
        epsilon: cost of the answer.
        most: of several conditions, how many one record may meet; None for all.
    """
    return _ask(data, epsilon, count_question(data.data_set.declaration, conditions, most))


def histogram(data: BoundData, *columns: str, epsilon: Amount) -> NoisyAnswer:
    """Count the records in each declared cell of the columns, empty cells too.

    Args:
        data: from ``bind``.
        columns: names of columns of categories, or of numbers with few steps.
        epsilon: cost of the answer.
    """
    return _ask(data, epsilon, histogram_question(data.data_set.declaration, columns))


def names(data: BoundData, column: str, *, epsilon: Amount, delta: Amount) -> NoisyAnswer:
    """Count the common names of a column of text, which are not declared.

    Args:
        data: from ``bind``.
        column: its name.
        epsilon: cost of the answer.
        delta: largest probability that a name of one record is shown.
    """
    return _ask(data, epsilon, names_question(data.data_set.declaration, column, parse_delta(str(delta))))


def sum(data: BoundData, column: str, *, epsilon: Amount) -> NoisyAnswer:
    """Add up a number over all records.

    Args:
        data: from ``bind``.
        column: its name.
        epsilon: cost of the answer.
    """
    return _ask(data, epsilon, number_question("sum", data.data_set.declaration, column))


def mean(data: BoundData, column: str, *, epsilon: Amount) -> NoisyAnswer:
    """Average a number over all records.

    Args:
        data: from ``bind``.
        column: its name.
        epsilon: cost of the answer.
    """
    return _ask(data, epsilon, number_question("mean", data.data_set.declaration, column))


def quantiles(data: BoundData, column: str, *at: Amount, epsilon: Amount) -> NoisyAnswer:
    """Return the median of a number, or other quantiles.

    Args:
        data: from ``bind``.
        column: its name.
        at: such as 0.25 or "1/3"; none for the median. Several share epsilon.
        epsilon: cost of the answer.
    """
    return _ask(data, epsilon, quantile_question(data.data_set.declaration, column, [*map(str, at)]))


def vector(
    data: BoundData, *columns: str, epsilon: Amount, delta: Amount = 0, radius: int | None = None, norm: int = 2
) -> NoisyAnswer:
    """Add up several numbers and marks at once, by Laplace or Gaussian noise, whichever errs less.

    Args:
        data: from ``bind``.
        columns: names of columns of numbers or marks.
        epsilon: cost of the answer.
        delta: that Gaussian noise may use.
        radius: in steps; longer records are shrunk.
        norm: of the radius, 1 or 2.
    """
    _check_choice("norm", norm, (1, 2))
    asked = vector_question(data.data_set.declaration, columns, norm, radius, parse_delta(str(delta)))
    return _ask(data, epsilon, asked)


def top(data: BoundData, column: str, *, epsilon: Amount, noise: str = EXPONENTIAL.name) -> NoisyAnswer:
    """Return the most frequent name or mark of a column, without its number.

    Args:
        data: from ``bind``.
        column: its name.
        epsilon: cost of the answer.
        noise: ``exponential``, or ``Laplace``, the textbook's.
    """
    _check_choice("noise", noise, tuple(NOISES))
    return _ask(data, epsilon, top_question(data.data_set.declaration, column, noise))


def cluster(data: BoundData, *columns: str, k: int, epsilon: Amount, lloyd: LloydOptions | None = None) -> NoisyAnswer:
    """Return centres of clusters of some numbers, with their noisy sizes.

    Args:
        data: from ``bind``.
        columns: names of columns of numbers.
        k: number of clusters.
        epsilon: cost of the answer.
        lloyd: the textbook's DP-Lloyd with these options; None for the noisy grid.
    """
    return _ask(data, epsilon, cluster_question(data.data_set.declaration, columns, k, lloyd))


def _ask(data: BoundData, epsilon: Amount, question: CuratorQuestion) -> NoisyAnswer:
    amount = parse_epsilon(str(epsilon))
    if not data.useless and (words := data.data_set.useless(question, amount)):
        raise SpecError(f"{words}; bind(..., useless=True) asks all the same, and nothing was charged")
    return NoisyAnswer(answer_document(data.data_set.ask(question, amount), question.names))


def _check_choice(name: str, value: object, allowed: Sequence[object]) -> None:
    if value not in allowed:
        raise SpecError(f"{name} must be {' or '.join(map(str, allowed))}")


def _numbers(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Turn fractions written as text into floats, in lists too."""
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    return float(Fraction(value)) if isinstance(value, str) else value
