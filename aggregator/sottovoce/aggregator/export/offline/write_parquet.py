"""Write a folder of reports in bounded memory; its content depends on the multiset of reports only.

Rows are read in the order of the random ids and stored without them. DuckDB then groups, sorts and splits them into
parts, and spills to a temporary folder beyond its memory limit. Grouped and sorted rows have no order that could reveal
anything. The functions that all other exports use decide which revisions, waves and cohorts a file may contain.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from sottovoce.aggregator.analysis.availability import check_closed
from sottovoce.aggregator.analysis.estimates import analyse
from sottovoce.aggregator.analysis.report_columns import Progress
from sottovoce.aggregator.analysis.shown_columns import ReportColumns, blocks_of, named_cohorts
from sottovoce.aggregator.export.catalogue import Source
from sottovoce.aggregator.export.offline.locations import (
    FORMAT,
    NAME,
    Described,
    ExportedRevision,
    Manifest,
    OfWave,
    ReportFile,
    RevisionWave,
    place_of,
)
from sottovoce.aggregator.export.offline.offline_results import TYPES, ReportCounts, layout_of, limited, tally_rows
from sottovoce.aggregator.export.tables import parquet_options, quoted
from sottovoce.aggregator.file_formats.optional_imports import needed
from sottovoce.aggregator.storage.models import ALL
from sottovoce.aggregator.storage.pack_values import few, null
from sottovoce.aggregator.surveys.lifecycle import reports_so_far
from sottovoce.shared.durable import digest_of_file
from sottovoce.shared.errors import EstimateError

TOGETHER = 1 << 18
"""Number of rows to insert into DuckDB at a time."""

PART = 1 << 21
"""Number of rows of a part, except the last one."""


def write_reports(
    source: Source, folder: Path, public: bool = False, progress: Progress | None = None, part_rows: int = PART
) -> bytes:
    """Write the reports of a survey, or of one wave, into an existing, empty folder; return the bytes of the manifest.

    ``public`` includes answers to public questions; ``part_rows`` is the number of rows of a part.

    Raises:
        EstimateError: the reports are not available yet, there are none, or an optional library is not installed.
        StorageError: public answers are requested, but are published under a budget.
    """
    if public:
        source.check_not_released()
    check_closed(source.storage, [each.stored for each in source.revisions], source.wave, source.now)
    asked = [
        ExportedRevision(
            each.survey.digest, each.stored.closed, reports_so_far(each.stored), each.survey.canonical.decode()
        )
        for each in source.revisions
    ]
    about = dict(source.about.pairs), public, tuple(asked)
    manifest = Manifest(FORMAT, *about, (), _public(source), source.wave)
    described = Described(manifest, tuple(each.survey for each in source.revisions))
    with _table(folder.parent) as table:
        counts = _lay_down(source, described, table, progress)
        if not counts:
            raise EstimateError("there are no reports yet")
        waves, shown = [], _shown(source)
        for key in sorted({*counts, *shown}):
            rows = _Sorted(table, described, parquet_options(source.about))
            parts = _parts(rows, key, _named(source, described, table, key), folder, part_rows)
            tallies = {
                name: dict(sorted(found.items())) for name, found in counts.get(key, ReportCounts()).tallies.items()
            }
            waves.append(OfWave(*key, shown.get(key, 0), tallies, parts))
    written = msgspec.json.format(msgspec.json.encode(msgspec.structs.replace(manifest, waves=tuple(waves))), indent=2)
    (folder / NAME).write_bytes(written + b"\n")
    return written + b"\n"


def _public(source: Source) -> dict[int, dict[str, dict[int, int]]]:
    """Return the published counts of public questions by wave, without those that are published under a budget.

    The rows omit public answers, because combinations of them could identify people.
    """
    waves = sorted({wave for _, wave in _shown(source)})
    return {
        wave: {
            result.question.name: dict(result.tally)
            for result in analyse(source.revisions, wave=wave).questions
            if result.question.mechanism is None
        }
        for wave in waves
    }


def _shown(source: Source) -> dict[RevisionWave, int]:
    """Return the published revisions and waves, with their numbers of withdrawn reports."""
    return {
        (revision.survey.revision, cell.wave): cell.withdrawn
        for revision in source.revisions
        for cell in revision.cells
        if cell.cohort == ALL and source.wave in {None, cell.wave}
    }


def _parts(
    rows: "_Sorted", key: RevisionWave, named: Mapping[int, Sequence[int]], folder: Path, size: int
) -> tuple[ReportFile, ...]:
    name, count = rows.described.survey.name, rows.fill(key, named)
    return tuple(
        rows.write(folder / place_of(name, *key, number), start, start + size)
        for number, start in enumerate(range(0, count, size))
    )


@contextmanager
def _table(parent: Path) -> Iterator[Any]:
    """Open a connection with a temporary folder next to the new one, so that both are cleaned up after a crash."""
    duckdb = needed("duckdb")
    with limited(parent, on_disk=True) as connection:
        try:
            yield connection
        except (duckdb.IOException, duckdb.OutOfMemoryException):
            raise EstimateError(
                "the reports cannot be written: is there room for them on the disk, and in memory?"
            ) from None


def _lay_down(
    source: Source,
    described: Described,
    table: Any,  # noqa: ANN401 - the library's
    progress: Progress | None,
) -> dict[RevisionWave, ReportCounts]:
    """Store all rows in one table and count them before they are sorted and written, for a later check."""
    kinds = [f"c{place} {TYPES[width]}" for place, width in enumerate(described.widths)]
    table.sql(f"CREATE TABLE laid ({', '.join([*kinds, 'revision UINTEGER', 'wave USMALLINT'])})")
    counts: dict[RevisionWave, ReportCounts] = {}
    gathered: list[ReportColumns] = []
    whole, read = sum(each.stored.reports for each in source.revisions), 0
    for revision in source.revisions:
        layout = layout_of(described, revision.survey.revision)
        for block in blocks_of(source.storage, revision, described.columns, source.revisions, source.wave):
            of_wave = counts.setdefault((revision.survey.revision, int(block.wave[0])), ReportCounts())
            tally_rows(list(block.columns.values()), None, layout, of_wave)
            gathered.append(block)
            if sum(map(len, gathered)) >= TOGETHER:
                _insert(table, gathered)
                gathered = []
            read += len(block)
            if progress is not None:
                progress(read, whole)
    if gathered:
        _insert(table, gathered)
    return counts


def _insert(table: Any, blocks: Sequence[ReportColumns]) -> None:  # noqa: ANN401 - as above
    rows = zip(*[(*block.columns.values(), block.revision, block.wave) for block in blocks], strict=True)
    columns = [np.concatenate(parts) for parts in rows]
    table.register("block", needed("pandas").DataFrame(dict(enumerate(columns)), copy=False))
    table.sql("INSERT INTO laid SELECT * FROM block")


@dataclass(frozen=True)
class _Sorted:
    """Distinct, sorted rows of one revision and wave in DuckDB; ``options`` are those of its COPY statement."""

    table: Any
    described: Described
    options: str

    def fill(self, key: RevisionWave, named: Mapping[int, Sequence[int]]) -> int:
        """Select the rows of a revision and wave, and return their number; ``named`` has the allowed values by column
        index.
        """
        columns = [_column_sql(place, width, named.get(place)) for place, width in enumerate(self.described.widths)]
        self.table.sql(
            f"CREATE OR REPLACE TABLE sorted AS SELECT {', '.join(columns)}, count(*)::UINTEGER AS n FROM laid"  # noqa: S608
            f" WHERE revision = {key[0]} AND wave = {key[1]} GROUP BY ALL ORDER BY ALL"
        )
        ((rows,),) = self.table.sql("SELECT count(*) FROM sorted").fetchall()
        return int(rows)

    def write(self, path: Path, start: int, end: int) -> ReportFile:
        """Write the rows from ``start`` to before ``end`` as a part."""
        names = [*(f"c{place}" for place in range(len(self.described.widths))), "n"]
        # Question names consist of a-z, 0-9 and _; no other text of a survey is in this statement.
        columns = ", ".join(f'{each} AS "{name}"' for each, name in zip(names, self.described.header, strict=True))
        selection = f"FROM sorted WHERE rowid >= {start} AND rowid < {end}"
        path.parent.mkdir(parents=True, exist_ok=True)
        self.table.sql(f"COPY (SELECT {columns} {selection}) TO {quoted(str(path))} ({self.options})")
        ((rows, reports),) = self.table.sql(f"SELECT count(*), sum(n) {selection}").fetchall()
        return ReportFile(int(rows), int(reports), path.stat().st_size, digest_of_file(path))


def _column_sql(place: int, width: int, named: Sequence[int] | None) -> str:
    """Return the SQL of a column with null for missing values, and the number ``few`` for cohorts not named."""
    values = f"nullif(c{place}, {null(width)})"
    if named is None:
        return f"{values} AS c{place}"
    known = ", ".join(map(str, named)) or "NULL"
    left = f"WHEN c{place} <> {null(width)} THEN {few(width)}"
    return f"CASE WHEN c{place} IN ({known}) THEN {values} {left} END AS c{place}"


def _named(source: Source, described: Described, table: Any, key: RevisionWave) -> dict[int, list[int]]:  # noqa: ANN401 - as above
    """Return the cohorts that a file of this revision and wave may name, by column index."""
    places = [place for place, question in enumerate(described.columns) if "cohort" in question.marks]
    if described.manifest.public_rows or not places:
        return {}
    (place,) = places
    asked = f"c{place} <> {null(described.widths[place])}"
    rows = f"FROM laid WHERE revision = {key[0]} AND wave = {key[1]} AND {asked}"
    sizes = dict(table.sql(f"SELECT c{place}, count(*) {rows} GROUP BY 1").fetchall())
    (revision,) = (each for each in source.revisions if each.survey.revision == key[0])
    return {place: named_cohorts(sizes, revision, key[1])} if sizes else {}
