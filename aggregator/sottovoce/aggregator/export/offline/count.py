"""
From parts to counts: by numpy, which is the reference, or by DuckDB.

Tallies add, so that parts may be counted in any order, by any number of processes; memory is that of a group of rows
or of the counts, however many reports there are.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.shown_columns import place_in
from sottovoce.aggregator.export.offline.manifest import Described
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.aggregator.storage.reports.batch_columns import is_null, tally
from sottovoce.shared.errors import SpecError

ROWS = 1 << 20
"""Of a group: so many are in memory at a time."""

MEMORY = "512MB"
"""What DuckDB may take before it writes to its temporary folder."""

BETWEEN = "200MB"
"""What it writes of tables on the disk before it puts them in order there."""

TYPES = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER", 8: "UBIGINT"}
"""DuckDB's names for unsigned numbers of so many bytes."""


@dataclass(frozen=True)
class Counted:
    """
    A column that is counted.

    Attributes:
        place: which column of a part it is.
        options: over how many options its values are bit masks; 0 for other values.
        largest: value that its mechanism can report.
    """

    name: str
    place: int
    options: int
    largest: int


@dataclass(frozen=True)
class Layout:
    """
    What the parts of one revision hold.

    Attributes:
        header: names of all columns, how often a row is there last.
        widths: bytes of a value of each but the last.
        counted: the columns that are counted.
    """

    header: tuple[str, ...]
    widths: tuple[int, ...]
    counted: tuple[Counted, ...]


@dataclass
class Counts:
    """
    What has been counted.

    Attributes:
        rows: of the files.
        reports: that they stand for.
        tallies: by question the number of reports by counted value.
    """

    rows: int = 0
    reports: int = 0
    tallies: dict[str, dict[int, int]] = field(default_factory=dict)

    def add(self, other: "Counts") -> None:
        """Counts of other rows."""
        self.rows += other.rows
        self.reports += other.reports
        for name, found in other.tallies.items():
            into = self.tallies.setdefault(name, {})
            for value, count in found.items():
                into[value] = into.get(value, 0) + count


Engine = Callable[[Sequence[Path], Layout], Counts]


def layout_of(described: Described, revision: int) -> Layout:
    """How the parts of a revision are counted: what it asked, and its private questions alone."""
    survey = described.of_revision(revision)
    private = {q.name for q in described.survey.questions if q.mechanism is not None}
    found = []
    for place, question in enumerate(described.columns):
        asked = place_in(survey, question)
        if asked is not None and question.name in private:
            options, largest = survey.masks.get(asked, 0), survey.questions[asked].largest
            found.append(Counted(question.name, place, options, largest))
    return Layout(described.header, described.widths, tuple(found))


def tally_rows(columns: Sequence[np.ndarray], times: np.ndarray | None, layout: Layout, into: Counts) -> None:
    """
    Count some rows: the one kernel of the reference, of an export's check and of every machine of a cluster.

    Args:
        columns: unsigned values, a column each; all bits set where a question was not asked.
        times: how many reports each row stands for; None for one.
        layout: what the columns are.
        into: is added to.

    Raises:
        SpecError: a value is out of range.
    """
    rows = len(columns[0])
    if times is not None and bool((times == 1).all()):
        times = None
    found = Counts(rows, rows if times is None else int(times.sum(dtype=np.uint64)))
    for column in layout.counted:
        values, counts = columns[column.place], times
        unasked = is_null(values)
        if unasked.any():
            values, counts = values[~unasked], None if counts is None else counts[~unasked]
        if len(values) and int(values.max()) > column.largest:
            raise SpecError(out_of_range(column))
        found.tallies[column.name] = tally(values, column.options, counts)
    into.add(found)


def count_by_numpy(paths: Sequence[Path], layout: Layout) -> Counts:
    """
    The reference: columns as DuckDB reads them, counted by ``tally_rows``, a group of rows at a time.

    Args:
        paths: of parts of one revision.
        layout: of it.

    Raises:
        SpecError: a file is no part of this survey's.
    """
    found = Counts()
    for path in paths:
        for columns, times in read_rows(path, layout):
            tally_rows(columns, times, layout, found)
    return found


def read_rows(path: Path, layout: Layout) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
    """
    The rows of a part, some at a time: its columns, and how often each row is there.

    Args:
        path: of the part.
        layout: of its revision.
    """
    with opened([path], layout) as table:
        names = [f"c{place}" for place in range(len(layout.widths))]
        chosen = [f"coalesce({name}, {null(width)})::{TYPES[width]} AS {name}"
                  for name, width in zip(names, layout.widths, strict=True)]  # fmt: skip
        rows = table.project(", ".join([*chosen, "n"]))
        for start in range(0, len(table), ROWS):
            found = rows.limit(ROWS, start).fetchnumpy()
            yield [np.ma.getdata(found[name]) for name in names], np.ma.getdata(found["n"])


def count_by_duckdb(paths: Sequence[Path], layout: Layout) -> Counts:
    """
    The same counts by DuckDB's own grouping, on all cores of this machine.

    Args:
        paths: of parts of one revision.
        layout: of it.

    Raises:
        SpecError: a file is no part of this survey's.
    """
    with opened(paths, layout) as table:
        ((rows, reports),) = table.aggregate("count(*), coalesce(sum(n), 0)").fetchall()
        tallies = {column.name: _grouped(table, column) for column in layout.counted}
    return Counts(int(rows), int(reports), tallies)


def _grouped(table: Any, column: Counted) -> dict[int, int]:  # noqa: ANN401 - the library's relation
    name = f"c{column.place}"
    if not column.options:
        rows = table.aggregate(f"{name}, sum(n)", name).fetchall()
        found = {int(value): int(count) for value, count in sorted(row for row in rows if row[0] is not None)}
        largest = max(found, default=0)
    else:
        bits = [f"sum(n * (({name}::UBIGINT >> {bit}) & 1))" for bit in range(column.options)]
        asked = f"sum(n) FILTER ({name} IS NOT NULL)"
        (counts,) = table.aggregate(", ".join([*bits, asked, f"max({name})"])).fetchall()
        found = {value: int(count) for value, count in enumerate(counts[:-1]) if count}
        largest = counts[-1] or 0
    if largest > column.largest:
        raise SpecError(out_of_range(column))
    return found


def out_of_range(column: Counted) -> str:
    """What is said of a value that cannot be."""
    return f"column '{column.name}': a value is out of range: no report of this question can be it"


@contextmanager
def opened(paths: Sequence[Path], layout: Layout) -> Iterator[Any]:
    """
    Parts as DuckDB's relation, with columns c0, c1, ... and n: no name of a question is part of a statement.

    Args:
        paths: of the parts.
        layout: what they must hold.

    Raises:
        SpecError: a file is no Parquet, or has other columns.
    """
    duckdb = needed("duckdb")
    with limited(Path(tempfile.gettempdir())) as connection:
        try:
            table = connection.read_parquet([str(path) for path in paths], hive_partitioning=False)
            kinds = [*(TYPES[width] for width in layout.widths), TYPES[4]]
            if (tuple(table.columns), [str(kind) for kind in table.types]) != (layout.header, kinds):
                raise SpecError("a part has other columns than the survey's questions, or of another type")
            column = duckdb.ColumnExpression
            numbered = [f"c{place}" for place in range(len(layout.widths))] + ["n"]
            yield table.select(*[column(name).alias(new) for name, new in zip(layout.header, numbered, strict=True)])
        except duckdb.Error:
            raise SpecError("a part cannot be read as Parquet") from None


@contextmanager
def limited(beside: Path, on_disk: bool = False) -> Iterator[Any]:
    """
    A connection of DuckDB with bounded memory, and a temporary folder for what is beyond it.

    Args:
        beside: where that folder is made.
        on_disk: tables lie in it too. Others may be swapped out, but their lists of blocks may not: of twenty columns
            these fill the memory somewhere above twenty million rows.
    """
    with tempfile.TemporaryDirectory(prefix="sottovoce-", dir=beside) as place:
        config = {"memory_limit": MEMORY, "temp_directory": place, "checkpoint_threshold": BETWEEN}
        with needed("duckdb").connect(f"{place}/rows" if on_disk else ":memory:", config=config) as connection:
            yield connection
