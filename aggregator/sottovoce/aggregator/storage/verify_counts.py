"""Check that stored counts, shown counts and token counters agree with the rows of reports, as of one moment."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from sottovoce.aggregator.storage.invitations.blind_invitations import HELD
from sottovoce.aggregator.storage.models import ID, ReportBatch, StoragePlan
from sottovoce.aggregator.storage.pack_values import LETTERS
from sottovoce.aggregator.storage.reports.batch_columns import change
from sottovoce.aggregator.storage.sql_storage import Rows, Storage
from sottovoce.shared.arms.arms import asked_of, reports_by_question
from sottovoce.shared.errors import SurveyError
from sottovoce.shared.parse_survey import load_survey
from sottovoce.shared.spec import Survey

CellKey = tuple[int, int, int]
"""Key of a cell: (survey, wave, cohort)."""

CountKey = tuple[int, int, int, int, int]
"""Key of a count: (survey, wave, cohort, question, counted value)."""


class CheckedRevision(NamedTuple):
    """Published revision as the checks see it.

    Attributes:
        key: number of the revision in this database.
        title: name and revision for messages.
        survey: the parsed survey; None if the stored text does not match its digest, name and revision.
        purged: ids and tombstones were deleted.
    """

    key: int
    name: str
    title: str
    survey: Survey | None
    purged: bool


class Tokens(NamedTuple):
    """Counters of tokens: created, spent (as of the last purge), revoked, held since a day, dropped at a purge."""

    created: int = 0
    spent: int = 0
    revoked: int = 0
    held: int = 0
    held_since: int | None = None
    dropped: int = 0


@dataclass(frozen=True)
class StoredTotals:
    """Totals stored in addition to reports, by cell, by place, or by survey key, read as of one moment for checks.

    Attributes:
        arrived: reports by cell, summed over slots.
        withdrawn: withdrawn reports by cell, summed over slots.
        counts: live counts by place, summed over slots.
        shown: shown arrived, shown withdrawn and, after the first close, reports at the close; by cell.
        shown_counts: shown counts by place.
        tombstones: hashes of withdrawn reports, by survey key.
        tokens: counters of tokens, by key of the first revision.
        good_tokens: valid tokens and unredeemed invitations, by key of the first revision.
        redeemed: redeemed invitations, by key of the first revision.
        held: invitations held after a restore, by key of the first revision.
    """

    arrived: Counter[CellKey] = field(default_factory=Counter)
    withdrawn: Counter[CellKey] = field(default_factory=Counter)
    counts: Counter[CountKey] = field(default_factory=Counter)
    shown: dict[CellKey, tuple[int, int, int | None]] = field(default_factory=dict)
    shown_counts: dict[CountKey, int] = field(default_factory=dict)
    tombstones: Counter[int] = field(default_factory=Counter)
    tokens: dict[int, Tokens] = field(default_factory=dict)
    good_tokens: Counter[int] = field(default_factory=Counter)
    redeemed: Counter[int] = field(default_factory=Counter)
    held: Counter[int] = field(default_factory=Counter)


def wrong_shown(key: int, survey: Survey, totals: StoredTotals) -> Iterator[str]:
    """Describe shown counts of a revision that cannot be a copy of its live counts.

    Shown counts are a copy at an earlier moment, which is not stored. The numbers of reports that arrived and were
    withdrawn since are known, and bound each shown count from both sides.
    """
    cells = [cell for cell in totals.shown if cell[0] == key]
    if not all(_may_be_shown(cell, totals) for cell in cells):
        yield "the numbers of shown reports cannot have been those of the rows"
    counted_cells = {place[:3] for place, number in totals.shown_counts.items() if place[0] == key and number}
    if not counted_cells <= set(cells) or not all(_may_be_counted(cell, survey, totals) for cell in cells):
        yield "the shown counts cannot have been those of the rows"


def _may_be_shown(cell: CellKey, totals: StoredTotals) -> bool:
    arrived, withdrawn, at_close = totals.shown[cell]
    # After the first close, a cell is shown again only when it has grown.
    close = 0 if at_close is None else at_close
    return (
        0 <= withdrawn <= totals.withdrawn[cell]
        and arrived <= totals.arrived[cell]
        and 0 <= close <= arrived - withdrawn <= totals.arrived[cell]
    )


def _may_be_counted(cell: CellKey, survey: Survey, totals: StoredTotals) -> bool:
    arrived, withdrawn, _ = totals.shown[cell]
    shown = {place[3:]: number for place, number in totals.shown_counts.items() if place[:3] == cell}
    live = {place[3:]: number for place, number in totals.counts.items() if place[:3] == cell}
    come, gone = totals.arrived[cell] - arrived, totals.withdrawn[cell] - withdrawn
    moved = all(-gone <= live.get(place, 0) - shown.get(place, 0) <= come for place in shown.keys() | live.keys())
    return moved and _adds_up(shown, survey, arrived - withdrawn)


def _adds_up(shown: dict[tuple[int, int], int], survey: Survey, reports: int) -> bool:
    """Return True if the counts hold exactly as many answers a report as the survey asks of a respondent."""
    answered = [
        question.reports({value: number for (of, value), number in shown.items() if of == index})
        for index, question in enumerate(survey.questions)
    ]
    if not all(0 <= number <= reports for number in shown.values()):
        return False
    last = len(survey.questions) - 1
    sizes = [shown.get((last, arm), 0) for arm in range(len(survey.arms))] or [reports]
    if sum(sizes) != reports:
        return False
    asked = [*zip(sizes, survey.units_by_arm, strict=True)]
    most = reports_by_question(survey, sizes)
    # Public questions are asked of everybody in the arm, and of the others as many units as the survey says.
    whole = all(answered[index] == most[index] for index in range(len(answered)) if index not in survey.private)
    people = {unit: sum(answered[index] for index in unit) / number for unit, number in survey.asked_by_unit.items()}
    together = all(answered[index] <= people[unit] <= most[index] for unit in survey.units for index in unit)
    asked_units = sum(size * asked_of(survey, drawn) for size, drawn in asked)
    return whole and together and sum(people.values()) == asked_units


# Rows counted at a time: large enough for numpy to be fast, small enough for the memory of a small machine.
_CHUNK = 20_000


def wrong_counts(storage: Storage) -> list[str]:
    """Describe stored digests, cells, counts, shown counts and tokens that contradict the rows; empty if none do."""
    with storage.snapshot() as rows:
        revisions = [_revision(*row) for row in rows("surveys")]
        totals = _read_totals(rows)
        # Without a valid survey text, the columns of its reports have no meaning.
        known = {one.key: one.survey for one in revisions if one.survey is not None}
        cells, counts, invalid = _recount(rows("reports"), known)
    spent = _count_spent_tokens(revisions, totals)
    messages = [f"{one.title}: {words}" for one in revisions for words in _wrong_cells(one, totals, cells, counts)]
    messages += [
        f"{one.title}: {words}" for one in revisions for words in _wrong_token_counts(one, totals, spent[one.key])
    ]
    return messages + [f"rows of reports that hold no values of their survey: {invalid}"] * (invalid > 0)


def is_copy(source: Storage, target: Storage) -> bool:
    """Return True if two databases hold the same surveys, equal counts and the same survey log."""
    return _figures(source) == _figures(target)


def _figures(storage: Storage) -> tuple[Any, ...]:
    return [(row, storage.live_counts(row.key), storage.cells(row.key)) for row in storage.surveys()], storage.record()


def _wrong_cells(
    one: CheckedRevision, totals: StoredTotals, cells: Counter[Any], counts: Counter[Any]
) -> Iterator[str]:
    if one.survey is None:
        yield "the text is not the one of its digest"
        return
    if (
        _nonzero_counts(one.key, totals.arrived - totals.withdrawn) != _nonzero_counts(one.key, cells)
        or min(totals.withdrawn.values(), default=0) < 0
    ):
        yield "the numbers of reports by wave and cohort are not those of the rows"
    if _nonzero_counts(one.key, totals.counts) != _nonzero_counts(one.key, counts):
        yield "the counts are not those of the rows"
    withdrawn = sum(_nonzero_counts(one.key, totals.withdrawn).values())
    if not one.purged and withdrawn != totals.tombstones[one.key]:
        yield "the number of withdrawn reports differs from the number of rows kept for them"
    yield from wrong_shown(one.key, one.survey, totals)


def _count_spent_tokens(revisions: list[CheckedRevision], totals: StoredTotals) -> Counter[int]:
    """Return the number of spent tokens, by the key of the first revision.

    Each report of a survey with tokens spent one, withdrawn reports included. Redeemed invitations are counted from
    their own rows: nothing links them to reports.
    """
    first: dict[str, int] = {}
    spent: Counter[int] = Counter()
    for one in revisions:
        if one.survey is not None and one.survey.asks_for_token:
            spent[first.setdefault(one.survey.name, one.key)] += sum(_nonzero_counts(one.key, totals.arrived).values())
        spent[one.key] += totals.redeemed[one.key]
    return spent


def _wrong_token_counts(one: CheckedRevision, totals: StoredTotals, spent: int) -> Iterator[str]:
    created, noted, revoked, held, since, dropped = totals.tokens.get(one.key, Tokens())
    gone = created - revoked - held - dropped - totals.good_tokens[one.key]
    # The last purge deletes the rows of redeemed invitations and stores their number in ``spent``.
    spent += noted if one.survey is not None and one.survey.is_blind else 0
    if min(created, revoked, gone, held, dropped) < 0 or gone != spent:
        yield "the numbers of tokens contradict each other"
    if held != totals.held[one.key] or (since is None) == (held > 0):
        yield "the number of held invitations differs from the number of rows"


def _revision(
    key: int, name: str, revision: int, digest: str, document: bytes, _closed_on: object, purged: int, _retired: int
) -> CheckedRevision:
    survey = None
    if hashlib.sha256(document).hexdigest() == digest:
        with suppress(SurveyError):
            survey = load_survey(bytes(document))
    if survey is not None and (survey.name, survey.revision) != (name, revision):
        survey = None
    return CheckedRevision(key, name, f"{name} revision {revision}", survey, bool(purged))


def _read_totals(rows: Rows) -> StoredTotals:
    totals = StoredTotals()
    for *cell, _, arrived, withdrawn in rows("cells"):
        totals.arrived[tuple(cell)] += arrived
        totals.withdrawn[tuple(cell)] += withdrawn
    for *place, _, reports in rows("counts"):
        totals.counts[tuple(place)] += reports
    for *cell, arrived, withdrawn, at_close in rows("shown_cells"):
        totals.shown[tuple(cell)] = (arrived, withdrawn, at_close)
    for *place, reports in rows("shown_counts"):
        totals.shown_counts[tuple(place)] = reports
    totals.tokens.update({key: Tokens(*numbers) for key, *numbers in rows("token_counts")})
    totals.tombstones.update(key for key, _ in rows("tombstones"))
    totals.good_tokens.update(key for key, _ in rows("tokens"))
    for key, _, blinded in rows("blind_invitations"):
        kind = totals.good_tokens if blinded is None else totals.held if bytes(blinded) == HELD else totals.redeemed
        kind[key] += 1
    return totals


def _recount(reports: Iterable[tuple[Any, ...]], known: dict[int, Survey]) -> tuple[Counter[Any], Counter[Any], int]:
    """Return reports by cell, reports by counted value, and the number of rows whose values do not fit their survey."""
    cells: Counter[Any] = Counter()
    counts: Counter[Any] = Counter()
    invalid = 0
    rows = iter(reports)
    while chunk := list(islice(rows, _CHUNK)):
        for (key, wave, width), packed in _by_shape(row for row in chunk if row[0] in known).items():
            size = 1 + width * len(known[key].questions)
            good = [values for values in packed if width in LETTERS and len(values) == size]
            invalid += len(packed) - len(good)
            if good:
                survey = known[key]
                plan = StoragePlan(key, survey.cohort, survey.release_batch, None, survey.masks)
                added = change([ReportBatch(plan, wave, bytes(ID * len(good)), b"".join(good))])
                cells.update({tuple(cell): number for *cell, number in added.cells})
                counts.update({tuple(place): number for *place, number in added.counts})
    return cells, counts, invalid


def _by_shape(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[int, int, int], list[bytes]]:
    """Group packed values by survey, wave and the width in their first byte."""
    groups: dict[tuple[int, int, int], list[bytes]] = {}
    for key, _, wave, values in rows:
        groups.setdefault((key, wave, values[0] if values else 0), []).append(values)
    return groups


def _nonzero_counts(key: int, counter: Counter[Any]) -> dict[Any, int]:
    """Return the nonzero numbers of one revision."""
    return {place: number for place, number in counter.items() if place[0] == key and number}
