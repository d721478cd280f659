"""Count the reports in Parquet parts with numpy (the reference) or DuckDB.

Tallies are additive, so parts may be counted in any order, by any number of processes. A shard is a group of parts that
are counted in one task, on one machine or on a cluster. Memory is bounded by a group of rows or by the counts, for any
number of reports.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.report_columns import place_in
from sottovoce.aggregator.export.offline.locations import ReportFolder
from sottovoce.aggregator.export.offline.manifest import Described, ReportFile, RevisionWave
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.aggregator.storage.reports.batch_columns import is_null, tally
from sottovoce.shared.errors import SpecError

ROWS = 1 << 20
"""Number of rows in memory at a time."""

MEMORY = "512MB"
"""DuckDB's memory limit; beyond it, DuckDB spills to its temporary folder."""

BETWEEN = "200MB"
"""Size of DuckDB's write-ahead log that triggers a checkpoint."""

TYPES = {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER", 8: "UBIGINT"}
"""DuckDB's names of unsigned integer types, by width in bytes."""


@dataclass(frozen=True)
class Counted:
    """A column to count.

    Attributes:
        name: name of the question.
        place: index of the column in a part.
        options: number of options if its values are bit masks, else 0.
        largest: largest value that its mechanism can report.
    """

    name: str
    place: int
    options: int
    largest: int


@dataclass(frozen=True)
class Layout:
    """Columns of the parts of one revision.

    Attributes:
        header: names of all columns; the last one is the multiplicity of the row.
        widths: bytes per value of each column except the last.
    """

    header: tuple[str, ...]
    widths: tuple[int, ...]
    counted: tuple[Counted, ...]


@dataclass
class ReportCounts:
    """Counts of reports; ``tallies`` are numbers of reports by question and counted value, ``rows`` of the file's
    rows.
    """

    rows: int = 0
    reports: int = 0
    tallies: dict[str, Counter[int]] = field(default_factory=dict)

    def add(self, other: "ReportCounts") -> None:
        """Add the counts of other rows."""
        self.rows += other.rows
        self.reports += other.reports
        for name, found in other.tallies.items():
            self.tallies.setdefault(name, Counter()).update(found)


Engine = Callable[[Sequence[Path], Layout], ReportCounts]


def layout_of(described: Described, revision: int) -> Layout:
    """Return the layout of a revision's parts; only private questions that the revision asks are counted."""
    survey = next(survey for survey in described.surveys if survey.revision == revision)
    private = {q.name for q in described.survey.questions if q.mechanism is not None}
    found = []
    for place, question in enumerate(described.columns):
        asked = place_in(survey, question)
        if asked is not None and question.name in private:
            options, largest = survey.masks.get(asked, 0), survey.questions[asked].largest
            found.append(Counted(question.name, place, options, largest))
    return Layout(described.header, described.widths, tuple(found))


def tally_rows(columns: Sequence[np.ndarray], times: np.ndarray | None, layout: Layout, into: ReportCounts) -> None:
    """Count some rows; the common kernel of the numpy reference, of the check of exports and of cluster workers.

    ``columns`` have unsigned values, all bits set where a question was not asked; ``times`` is the multiplicity of each
    row, None for 1. Raises SpecError if a value is out of range.
    """
    rows = len(columns[0])
    # Counting without weights is faster and common.
    if times is not None and bool((times == 1).all()):
        times = None
    found = ReportCounts(rows, rows if times is None else int(times.sum(dtype=np.uint64)))
    for column in layout.counted:
        values, counts = columns[column.place], times
        unasked = is_null(values)
        if unasked.any():
            values, counts = values[~unasked], None if counts is None else counts[~unasked]
        if len(values) and int(values.max()) > column.largest:
            raise SpecError(out_of_range(column))
        found.tallies[column.name] = Counter(tally(values, column.options, counts))
    into.add(found)


def count_by_numpy(paths: Sequence[Path], layout: Layout) -> ReportCounts:
    """Count parts of one revision with numpy, the reference: DuckDB reads the columns, ``tally_rows`` counts groups of
    rows.

    Raises SpecError if a file is not a part of this survey.
    """
    found = ReportCounts()
    for path in paths:
        for columns, times in read_rows(path, layout):
            tally_rows(columns, times, layout, found)
    return found


def read_rows(path: Path, layout: Layout) -> Iterator[tuple[list[np.ndarray], np.ndarray]]:
    """Yield the rows of a part in groups: the columns, and the multiplicity of each row."""
    with opened([path], layout) as table:
        names = [f"c{place}" for place in range(len(layout.widths))]
        projection = [f"coalesce({name}, {null(width)})::{TYPES[width]} AS {name}"
                  for name, width in zip(names, layout.widths, strict=True)]  # fmt: skip
        rows = table.project(", ".join([*projection, "n"]))
        for start in range(0, len(table), ROWS):
            found = rows.limit(ROWS, start).fetchnumpy()
            yield [np.ma.getdata(found[name]) for name in names], np.ma.getdata(found["n"])


def count_by_duckdb(paths: Sequence[Path], layout: Layout) -> ReportCounts:
    """Count parts as ``count_by_numpy`` does, but with DuckDB's own grouping, on all cores of this machine."""
    with opened(paths, layout) as table:
        ((rows, reports),) = table.aggregate("count(*), coalesce(sum(n), 0)").fetchall()
        tallies = {column.name: Counter(_grouped(table, column)) for column in layout.counted}
    return ReportCounts(int(rows), int(reports), tallies)


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
    """Return the error message for a value that its mechanism cannot report."""
    return f"column '{column.name}': a value is out of range: no report of this question can be it"


@contextmanager
def opened(paths: Sequence[Path], layout: Layout) -> Iterator[Any]:
    """Open parts as a DuckDB relation with columns c0, c1, ... and n.

    The columns are renamed so that no question name becomes part of an SQL statement. Raises SpecError if a file is not
    Parquet, or has other columns.
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
def limited(parent: Path, on_disk: bool = False) -> Iterator[Any]:
    """Open a DuckDB connection with bounded memory that spills to a temporary folder in ``parent``.

    ``on_disk`` stores tables in that folder too: in-memory tables can be spilled, but their block lists cannot, and
    with twenty columns they fill the memory somewhere above twenty million rows.
    """
    with tempfile.TemporaryDirectory(prefix="sottovoce-", dir=parent) as place:
        config = {"memory_limit": MEMORY, "temp_directory": place, "checkpoint_threshold": BETWEEN}
        with needed("duckdb").connect(f"{place}/rows" if on_disk else ":memory:", config=config) as connection:
            yield connection


SHARD = 64 << 20
"""Minimum size of a shard in bytes; counting a smaller one would take less time than scheduling it."""


@dataclass(frozen=True)
class Shard:
    """Parts of one revision and wave (``key``) that are counted together; sent to a worker.

    ``parts`` are the relative path and manifest entry of each.
    """

    key: RevisionWave
    place: ReportFolder
    layout: Layout
    parts: tuple[tuple[str, ReportFile], ...]

    @property
    def reports(self) -> int:
        """Number of reports in the shard."""
        return sum(part.reports for _, part in self.parts)


def shards_of(place: ReportFolder, described: Described, least: int = SHARD) -> Iterator[Shard]:
    """Yield shards of at least ``least`` bytes, except the last one of each revision and wave."""
    for key, parts in groupby(described.parts, key=lambda each: each[0].key):
        layout, gathered = layout_of(described, key[0]), list[tuple[str, ReportFile]]()
        for _, path, part in parts:
            gathered.append((path, part))
            if sum(part.bytes for _, part in gathered) >= least:
                yield Shard(key, place, layout, tuple(gathered))
                gathered = []
        if gathered:
            yield Shard(key, place, layout, tuple(gathered))


def count_shard(shard: Shard, engine: Engine = count_by_numpy) -> ReportCounts:
    """Count a shard, on any machine that can read the folder, with the function ``engine``.

    Raises SpecError if a part is missing, or does not match the manifest.
    """
    # Downloaded copies of all parts must exist until the engine has read them.
    with ExitStack() as open_parts:
        files = [open_parts.enter_context(shard.place.whole(path, part)) for path, part in shard.parts]
        return engine(files, shard.layout)
