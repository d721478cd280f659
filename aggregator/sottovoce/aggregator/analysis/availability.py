"""Check that joint results are available, and suppress small cells of public answers, which no noise protects.

Joint results exist for closed surveys, closed waves and test runs. Their intervals are valid for one look only, and two
results could be subtracted while reports still arrive. An open survey therefore has only the published counts of each
question, for all respondents and by cohort.

Reopened    Results of a first and a later close could be subtracted as well. After a later close, joint results exist
            only if that close showed everything (see ``close_survey``), so that all results are of one state.
Waves       Reports of a wave that is over can be neither sent nor withdrawn, and no correction opens it again; reports
            that came at its last moment may be stored within ``STORED_WITHIN``. A survey of one wave has to be closed.
Groups      Answers to a public variable that fewer than 5 respondents gave are left out of rows and columns beside a
            randomized variable, and the note has their n: its reports are protected one by one, and both ways have the
            same reports, so neither less the other tells of them. Beside a public variable the margins would tell their
            answers, so they are one group, ``few``; of arms, it has their names. The smallest of the other categories
            join it until it has at least 5, as for cohorts.
Cells       In a table of two public variables, cells with 1 to 4 respondents are suppressed. Other cells of their row
            and column are suppressed as well (secondary suppression), until each row and column has either none or at
            least two suppressed cells with at least 5 respondents together, and no small one follows from all margins.
            Otherwise the margins would reveal them. Counts of subsets, and within a public third question, still do:
            ``docs/analysis_explained.md`` says so.
Minima      The limits protect published tables; they are pointless for an analyst who has the rows.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import count

import numpy as np
from numpy.typing import NDArray
from sottovoce.aggregator.estimators.variable import ChoiceVariable, Variable
from sottovoce.aggregator.storage import StoredSurvey
from sottovoce.aggregator.storage.report_reader import ReadableReports
from sottovoce.aggregator.surveys.lifecycle import survey_of, wave_state
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError, Sentence, StillOpen

STILL_OPEN = (
    "the survey is open: tables of two questions, regressions, weights and files of reports exist once it is closed,"
    " and for each wave once that is closed; until then there are the results of each question"
)
REOPENED = (
    "the survey was closed before, and since then fewer than {least} reports came, or some were withdrawn, in a "
    "group of respondents (revision, wave, cohort): this result and an earlier one would differ by these people "
    "alone; reopen the survey until there are more"
)
NO_SURVEY = "there is no survey of this name"
NO_WAVE = "the survey has no such wave"

STORED_WITHIN = timedelta(minutes=2)
"""Time until the last reports of a wave are stored, also while a node writes the whole database anew."""

FEW = "few"
"""Name of the group of answers that few people gave each."""

LISTED = ", "
"""Sign between the names of arms that are counted together; no name of an arm has it."""

LEAST = 5
"""Smallest number of respondents in a nonempty group by public answers."""

LEFT_OUT = "'{variable}': answers of fewer than {least} people are left out: {categories} (n = {n})"


def few_among(names: Sequence[str]) -> str:
    """Return the name of the group of rare answers, with underscores before it where an answer has that name."""
    return next(name for name in (f"{'_' * length}{FEW}" for length in count()) if name not in names)


def small(variable: Variable, counts: Sequence[int], least: int = LEAST) -> list[int]:
    """Return the places of the answers to a public choice that under ``least`` respondents gave, the rarest first."""
    if not (variable.public and isinstance(variable, ChoiceVariable)):
        return []
    answered = sorted(range(len(counts) - variable.absent), key=lambda place: (counts[place], place))
    return [place for place in answered if 0 < counts[place] < least]


def left_out(variable: Variable, counts: Sequence[int], least: int = LEAST) -> tuple[Variable, tuple[Sentence, ...]]:
    """Return a variable without its small categories, and a note on them; unchanged if no category would stay."""
    few = sorted(small(variable, counts, least))
    kept = [place for place in range(len(counts)) if place not in few]
    answered = kept[: len(kept) - variable.absent]
    if not few or not any(counts[place] for place in answered):
        return variable, ()
    told = tuple(variable.categories[place] for place in few)
    number = sum(counts[place] for place in few)
    note = Sentence(LEFT_OUT, variable=variable.full_name, least=least, categories=told, n=number)
    return _grouped(variable, [[place] for place in kept], [variable.categories[place] for place in kept]), (note,)


def merged(variable: Variable, counts: Sequence[int], least: int = LEAST) -> Variable:
    """Return a public choice with categories of under ``least`` respondents merged; other variables unchanged."""
    if not (variable.public and isinstance(variable, ChoiceVariable)):
        return variable
    answered = range(len(counts) - variable.absent)
    by_size = sorted(answered, key=lambda place: (counts[place], place))
    joined = small(variable, counts, least)
    rest = [place for place in by_size if counts[place] >= least]
    while rest and 0 < sum(counts[place] for place in joined) < least:
        joined.append(rest.pop(0))
    if not joined:
        return variable
    groups = [[place] for place in answered if place not in joined] + [sorted(joined)]
    # People who gave no answer stay the last category.
    groups += [[place] for place in range(len(answered), len(counts))]
    few = few_among(variable.categories)
    if variable.question == ARM:
        few = LISTED.join(variable.categories[place] for place in sorted(joined))
    return _grouped(variable, groups, [few if each[0] in joined else variable.categories[each[0]] for each in groups])


def _grouped(variable: Variable, groups: Sequence[Sequence[int]], names: Sequence[str]) -> Variable:
    """Return a choice whose categories are groups of the places of its own."""
    if not isinstance(variable, ChoiceVariable):
        raise AssertionError("only choices have small groups")
    whole = variable.supports
    return replace(
        variable,
        categories=tuple(names),
        supports=lambda reported: np.stack([whole(reported)[:, group].any(axis=1) for group in groups], axis=1),
    )


def hidden(counts: NDArray[np.int64], least: int = LEAST) -> NDArray[np.bool_]:
    """Return a mask of the cells to suppress in a table of two public variables, (rows, columns), by respondents."""
    hide = (counts > 0) & (counts < least)
    # ``hide.T`` is a view, so suppressing a cell of a column changes ``hide`` as well.
    while not (all([_covered(hide, counts, least), _covered(hide.T, counts.T, least)]) and _open(hide, counts, least)):
        pass
    return hide


def _open(hide: NDArray[np.bool_], counts: NDArray[np.int64], least: int) -> bool:
    """Suppress one more cell if a small one follows from all margins together; return True if none does."""
    rows, columns = np.nonzero(hide)
    of_cells = np.concatenate([rows == np.arange(len(hide))[:, None], columns == np.arange(hide.shape[1])[:, None]])
    # What no change within the margins moves follows from them, as a bridge between two blocks of suppressed cells.
    follows = np.einsum("ij,ji->i", np.linalg.pinv(of_cells.astype(float)), of_cells) > 1 - 1e-6
    follows &= (counts[rows, columns] > 0) & (counts[rows, columns] < least)
    if hide.all() or not follows.any():
        return True
    line = np.arange(len(hide))[:, None] == rows[follows][0]
    free = ~hide & (line if (~hide & line).any() else True)
    hide.flat[np.where(free, counts, counts.max() + 1).argmin()] = True
    return False


def _covered(hide: NDArray[np.bool_], counts: NDArray[np.int64], least: int) -> bool:
    """Suppress one more cell in the first row that reveals its suppressed cells; return True if there is none."""
    for cells, line in zip(hide, counts, strict=True):
        # They follow from the margin, or sum to less than ``least``.
        reveals = bool(cells.any()) and (int(cells.sum()) < 2 or int(line[cells].sum()) < least)
        if reveals and not cells.all():
            # Prefer columns that already have suppressed cells, then nonempty cells, then small ones.
            ranks = zip(~np.asarray(hide.any(axis=0)), line == 0, line, range(len(line)), strict=True)
            *_, best = min(rank for rank, is_hidden in zip(ranks, cells, strict=True) if not is_hidden)
            cells[best] = True
            return False
    return True


def check_closed(storage: ReadableReports, revisions: Sequence[StoredSurvey], wave: int | None, now: datetime) -> None:
    """Check that joint results, regressions, weights and files of reports are available for a wave, or (None) for all.

    Raises:
        EstimateError: the survey or wave does not exist, or an earlier result could be subtracted.
        StillOpen: the survey or wave is open, and the survey is not a test run.
    """
    if not revisions:
        raise EstimateError(NO_SURVEY)
    surveys = [survey_of(stored.document) for stored in revisions]
    windows = [survey.waves[wave] for survey in surveys if wave is not None and 0 <= wave < len(survey.waves)]
    if wave is not None and not windows:
        raise EstimateError(NO_WAVE)
    # Test runs have invented answers, so there is nothing to protect.
    if surveys[-1].trial:
        return
    is_closed = all(stored.closed for stored in revisions)
    # A closed wave is available while later waves of the survey are still open.
    if not is_closed:
        several = any(len(survey.waves) > 1 for survey in surveys)
        if not (windows and several and all(wave_state(each, now - STORED_WITHIN) == "closed" for each in windows)):
            raise StillOpen(STILL_OPEN)
    of_wave = None if is_closed else wave
    # The difference of two joint tables would be a table of the few people who came or left in between.
    if any(stored.was_closed for stored in revisions) and storage.changed_since_shown(surveys[-1].name, of_wave):
        raise EstimateError(REOPENED, least=surveys[-1].release_batch)
