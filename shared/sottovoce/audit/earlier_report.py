"""A device that has answered another survey before: some of the whole runs of the Python client are made on one."""

from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

from sottovoce.audit.instead import environment
from sottovoce.audit.library_person import LibraryPerson
from sottovoce.audit.python_code import standing_in
from sottovoce.audit.runs import Run, plan_runs
from sottovoce.audit.watched_device import Watch, watched
from sottovoce.shared.spec import Survey

_NAMES = ("earlier", "before")
_turns = count()


def answer_before(survey: Survey, turn: int, home: Path) -> None:
    """
    Answer another survey, in every eighth vector: yes in one run and no in the next, and report the same.

    Args:
        survey: that is answered afterwards.
        turn: the number of the vector.
        home: an empty folder.
    """
    if turn % 8 != 1:
        return
    earlier, runs = _runs(next(name for name in _NAMES if name != survey.name))
    run = runs[next(_turns) % len(runs)]
    watch = Watch(earlier, run.tape, (), home)
    # What goes wrong here goes wrong in the runs that are compared as well.
    with environment({"HOME": str(home)}), watched(watch), suppress(Exception):
        LibraryPerson(earlier, run.answers, watch, 0).answer(home / "ledger")


@cache
def _runs(name: str) -> tuple[Survey, tuple[Run, ...]]:
    """A survey of one coin, and a run with each of its answers; all of them report the same."""
    earlier = standing_in({"type": "boolean", "name": "q", "mechanism": {"name": "coin_flip"}}, name=name)
    runs = plan_runs(earlier, quick=True).vectors[0].runs
    return earlier, tuple({str(run.answers): run for run in runs}.values())
