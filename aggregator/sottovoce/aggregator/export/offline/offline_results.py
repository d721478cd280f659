"""Results from a folder of reports: check its files against the manifest, count them, and estimate as a server does."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.analysis.report_columns import Progress
from sottovoce.aggregator.estimators import DEFAULT_RULE, IntervalRule
from sottovoce.aggregator.export.offline.count import (
    Engine,
    ReportCounts,
    count_by_duckdb,
    count_by_numpy,
    count_shard,
    shards_of,
)
from sottovoce.aggregator.export.offline.locations import ReportFolder
from sottovoce.aggregator.export.offline.manifest import Described, OfWave, RevisionWave, read_manifest
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.models import ALL
from sottovoce.shared.errors import EstimateError, SpecError

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
