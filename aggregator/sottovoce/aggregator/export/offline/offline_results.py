"""Results from a folder of reports: check its files against the manifest, count them, and estimate as a server does.

Reports in Parquet parts are counted with numpy (the reference) or DuckDB. Tallies are additive, so parts may be counted
in any order, by any number of processes. A shard is a group of parts that are counted in one task, on one machine or on
a cluster. Memory is bounded by a group of rows or by the counts, for any number of reports.

With Dask distributed many machines count: the reference kernel, one shard of parts per task. A shard is counted by a
pure function, so Dask can repeat the tasks of a lost worker. Results are summed here, once for each shard. Every
machine needs the folder under the same path, or access to the bucket.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.report_columns import Progress, place_in
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.export.offline.locations import (
    Described,
    OfWave,
    ReportFile,
    ReportFolder,
    RevisionWave,
    read_manifest,
)
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import null
from sottovoce.aggregator.storage.reports.batch_columns import is_null, tally
from sottovoce.shared.errors import EstimateError, SpecError

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


Work = Callable[["Opened", Progress], dict[RevisionWave, ReportCounts]]
"""Function that counts all parts, by revision and wave."""


@dataclass(frozen=True)
class Opened:
    """An open folder of reports."""

    place: ReportFolder
    described: Described

    @property
    def reports(self) -> int:
        """Number of reports in the folder."""
        return sum(of_wave.reports for of_wave in self.described.manifest.waves)


def open_folder(place: ReportFolder) -> Opened:
    """Open a folder of reports. Its parts are hashed and read later, when they are counted.

    Raises SpecError if there is no such folder, a part is missing, or a Parquet file is not in the manifest.
    """
    described = read_manifest(place.manifest())
    named, there = {path for _, path, _ in described.parts}, place.parts()
    for path in sorted(named - there):
        raise SpecError(f"{path} is missing: the manifest names it")
    # A stray file may belong to another export; counting it, or ignoring it, could both be wrong.
    if there - named:
        raise SpecError("the folder holds a Parquet file that its manifest does not name: it is of another export")
    return Opened(place, described)


def _count_here(engine: Engine, folder: Opened, progress: Progress) -> dict[RevisionWave, ReportCounts]:
    """Count all parts one after the other on this machine."""
    found: dict[RevisionWave, ReportCounts] = {}
    done = 0
    for shard in shards_of(folder.place, folder.described):
        found.setdefault(shard.key, ReportCounts()).add(count_shard(shard, engine))
        done += shard.reports
        progress(done, folder.reports)
    return found


HERE: dict[str, Work] = {"numpy": partial(_count_here, count_by_numpy), "duckdb": partial(_count_here, count_by_duckdb)}
"""Engines for one machine, by name."""


def results_of(
    folder: Opened, work: Work, progress: Progress, rule: IntervalRule = DEFAULT_RULE, wave: int | None = None
) -> SurveyResults:
    """Count a folder again and estimate its results, which equal those of the server for the closed survey or wave.

    ``wave`` None is all in the folder; EstimateError if it does not contain this wave. Raises SpecError if a part does
    not match the manifest.
    """
    manifest = folder.described.manifest
    if wave is not None and manifest.wave not in {None, wave}:
        raise EstimateError("the folder holds another wave than the one that is asked for")
    found = work(folder, progress)
    for of_wave in manifest.waves:
        _check(of_wave, found.get(of_wave.key, ReportCounts()))
    wave = manifest.wave if wave is None else wave
    return analyse(_revisions(folder.described, found), None, rule.method, wave, rule.confidence)


def _check(of_wave: OfWave, counts: ReportCounts) -> None:
    """Check that the counts equal those made before the rows were written; raise SpecError otherwise."""
    expected = sum(part.rows for part in of_wave.parts), of_wave.reports
    tallies = {name: tally for name, tally in counts.tallies.items() if tally}
    if (counts.rows, counts.reports) != expected or tallies != {k: v for k, v in of_wave.tallies.items() if v}:
        raise SpecError(
            f"the counts of revision {of_wave.revision}, wave {of_wave.wave} are not those of the manifest: one of the"
            " two was changed"
        )


def _revisions(described: Described, found: dict[RevisionWave, ReportCounts]) -> list[RevisionCounts]:
    """Return the revisions with the cells of all respondents, as from a database."""
    revisions, counts_of = [], described.manifest.public.values()
    public = frozenset(each.name for each in described.survey.questions if each.mechanism is None)
    # What the folder has no counts of is published under a budget.
    withheld = public.difference(*counts_of) if counts_of else frozenset()
    for key, (asked, survey) in enumerate(zip(described.manifest.asked, described.surveys, strict=True)):
        about = survey.name, survey.revision, survey.digest, survey.canonical
        stored = StoredSurvey(key, *about, asked.closed, asked.received)
        places = {question.name: place for place, question in enumerate(survey.questions)}
        cells = {}
        for of_wave in (each for each in described.manifest.waves if each.revision == survey.revision):
            counts = found.get(of_wave.key, ReportCounts())
            counted = {places[name]: dict(tally) for name, tally in counts.tallies.items()}
            cells[of_wave.wave] = Cell(of_wave.wave, ALL, of_wave.reports, of_wave.withdrawn, counted)
        if survey is described.survey:
            for wave, tallies in described.manifest.public.items():
                cell = cells.get(wave, Cell(wave, ALL, 0, 0, {}))
                counted = {places[name]: dict(tally) for name, tally in tallies.items()}
                cells[wave] = replace(cell, tallies={**cell.tallies, **counted})
        revisions.append(RevisionCounts(stored, survey, tuple(cells.values()), bool(withheld), withheld))
    return revisions


CONNECT_TIMEOUT = "30s"
"""Timeout for the connection to a scheduler."""

WORKER_MEMORY = "1GiB"
"""Memory limit of a worker on this machine."""


def on_cluster(scheduler: str | None = None, shard_bytes: int = SHARD) -> Work:
    """Return a function that counts a folder with Dask, in shards of at least ``shard_bytes``.

    ``scheduler`` is the address of a running one; None starts a local cluster with a worker for each core. The function
    raises ``EstimateError`` if no cluster answers, or too many workers are lost.
    """

    def work(folder: Opened, progress: Progress) -> dict[RevisionWave, ReportCounts]:
        with _client(scheduler) as client:
            return count_on(client, folder, progress, shard_bytes)

    return work


def count_on(
    client: Any,  # noqa: ANN401 - Dask's
    folder: Opened,
    progress: Progress,
    shard_bytes: int = SHARD,
) -> dict[RevisionWave, ReportCounts]:
    """Count all parts of a folder on a cluster, in shards of at least ``shard_bytes``.

    Raises SpecError if a part does not match the manifest, EstimateError if too many workers were lost.
    """
    distributed = needed("distributed", "cluster")
    shards = list(shards_of(folder.place, folder.described, shard_bytes))
    # pure=False: a repeated export under the same path must be counted again.
    futures = client.map(count_shard, shards, pure=False)
    wanted = {future.key: shard for future, shard in zip(futures, shards, strict=True)}
    came: dict[str, ReportCounts] = {}
    try:
        # A future whose worker was lost may complete twice; its key makes sure that it counts once.
        for future, counts in distributed.as_completed(futures, with_results=True):
            came[future.key] = counts
            progress(sum(wanted[key].reports for key in came), folder.reports)
    except (distributed.KilledWorker, distributed.scheduler.KilledWorker):
        raise EstimateError("the cluster gave up: workers ended again and again while they counted") from None
    found: dict[RevisionWave, ReportCounts] = {}
    for key, counts in came.items():
        found.setdefault(wanted[key].key, ReportCounts()).add(counts)
    return found


@contextmanager
def _client(scheduler: str | None) -> Iterator[Any]:
    distributed = needed("distributed", "cluster")
    if scheduler is None:
        here = distributed.LocalCluster(
            threads_per_worker=1, memory_limit=WORKER_MEMORY, dashboard_address="127.0.0.1:0"
        )
        with here as cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        client = distributed.Client(scheduler, timeout=CONNECT_TIMEOUT)
    except (OSError, ValueError):
        raise EstimateError("no scheduler answers at this address") from None
    with client:
        yield client
