"""A folder of reports, opened: its files are those of its manifest, and its counts give results as live ones do."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults, analyse
from sottovoce.aggregator.estimators import DEFAULT_RULE
from sottovoce.aggregator.export.offline.count import Counts, Engine, count_by_duckdb, count_by_numpy
from sottovoce.aggregator.export.offline.locations import ReportFolder
from sottovoce.aggregator.export.offline.manifest import Described, OfWave, merged, read_manifest
from sottovoce.aggregator.export.offline.shards import Key, count_shard, shards_of
from sottovoce.aggregator.storage import Cell, StoredSurvey
from sottovoce.aggregator.storage.interface import ALL
from sottovoce.shared.errors import EstimateError, SpecError
from sottovoce.shared.spec import Survey

Progress = Callable[[int, int], None]
"""Told how many of how many reports have been counted."""

Work = Callable[["Opened", Progress], dict[Key, Counts]]
"""Counts all parts, by revision and wave."""


@dataclass(frozen=True)
class Opened:
    """
    A folder of reports.

    Attributes:
        place: where it lies.
        described: its manifest.
    """

    place: ReportFolder
    described: Described

    @property
    def reports(self) -> int:
        """How many there are."""
        return sum(of_wave.reports for of_wave in self.described.manifest.waves)


def open_folder(place: ReportFolder) -> Opened:
    """
    The folder of reports at a place; its parts are read when they are counted, and their hashes before that.

    Raises:
        SpecError: there is none, a part is missing, or there is one that is not its own.
    """
    described = read_manifest(place.manifest())
    named, there = {path for _, path, _ in described.parts}, place.parts()
    for path in sorted(named - there):
        raise SpecError(f"{path} is missing: the manifest names it")
    if there - named:
        raise SpecError("the folder holds a Parquet file that its manifest does not name: it is of another export")
    return Opened(place, described)


def one_after_the_other(engine: Engine) -> Work:
    """All parts on this machine, with one of the engines."""

    def work(folder: Opened, progress: Progress) -> dict[Key, Counts]:
        found: dict[Key, Counts] = {}
        done = 0
        for shard in shards_of(folder.place, folder.described):
            found.setdefault(shard.key, Counts()).add(count_shard(shard, engine))
            done += shard.reports
            progress(done, folder.reports)
        return found

    return work


HERE: dict[str, Work] = {"numpy": one_after_the_other(count_by_numpy), "duckdb": one_after_the_other(count_by_duckdb)}
"""The engines of one machine."""


def key_of(of_wave: OfWave) -> Key:
    """Its revision and wave."""
    return of_wave.revision, of_wave.wave


def results_of(
    folder: Opened, work: Work, progress: Progress, interval: str = DEFAULT_RULE.method, wave: int | None = None
) -> SurveyResults:
    """
    The results of a folder: the live ones of what is closed, from counts made anew.

    Args:
        folder: of reports.
        work: counts them.
        progress: told how far it is.
        interval: how the intervals of shares are made.
        wave: only this one; None for all that the folder has.

    Raises:
        SpecError: a part is not what the manifest says.
        EstimateError: the folder has no such wave.
    """
    manifest = folder.described.manifest
    if wave is not None and manifest.wave not in {None, wave}:
        raise EstimateError("the folder holds another wave than the one that is asked for")
    found = work(folder, progress)
    for of_wave in manifest.waves:
        _check(of_wave, found.get(key_of(of_wave), Counts()))
    return analyse(_revisions(folder.described, found), None, interval, manifest.wave if wave is None else wave)


def _check(of_wave: OfWave, counts: Counts) -> None:
    """What was counted before the rows were written, and what was counted now, are the same to the last report."""
    expected = sum(part.rows for part in of_wave.parts), of_wave.reports
    tallies = {name: merged([tally]) for name, tally in counts.tallies.items() if tally}
    if (counts.rows, counts.reports) != expected or tallies != {k: v for k, v in of_wave.tallies.items() if v}:
        raise SpecError(
            f"the counts of revision {of_wave.revision}, wave {of_wave.wave} are not those of the manifest: one of the"
            " two was changed"
        )


def _revisions(described: Described, found: dict[Key, Counts]) -> list[RevisionCounts]:
    """The revisions with the cells of all respondents, as a database has them."""
    revisions = []
    for key, (asked, survey) in enumerate(zip(described.manifest.asked, described.surveys, strict=True)):
        stored = StoredSurvey(
            key, survey.name, survey.revision, survey.digest, survey.canonical, asked.closed, asked.received
        )
        cells = {
            each.wave: _cell(survey, each, found.get(key_of(each), Counts()))
            for each in described.manifest.waves
            if each.revision == survey.revision
        }
        if survey is described.survey:
            _add_public(described, cells)
        revisions.append(RevisionCounts(stored, survey, tuple(cells.values()), _withholds(described)))
    return revisions


def _withholds(described: Described) -> bool:
    """Whether public questions are not counted in it, because they are published under a budget."""
    told = described.manifest.public.values()
    return any(q.mechanism is None for q in described.survey.questions) and bool(told) and not any(told)


def _cell(survey: Survey, of_wave: OfWave, counts: Counts) -> Cell:
    places = {question.name: place for place, question in enumerate(survey.questions)}
    tallies = {places[name]: tally for name, tally in counts.tallies.items()}
    return Cell(of_wave.wave, ALL, of_wave.reports, of_wave.withdrawn, tallies)


def _add_public(described: Described, cells: dict[int, Cell]) -> None:
    """To the newest revision the counts of public questions, which are those of all revisions that ask the same."""
    places = {question.name: place for place, question in enumerate(described.survey.questions)}
    for wave, tallies in described.manifest.public.items():
        cell = cells.get(wave, Cell(wave, ALL, 0, 0, {}))
        public = {places[name]: tally for name, tally in tallies.items()}
        cells[wave] = replace(cell, tallies={**cell.tallies, **public})
