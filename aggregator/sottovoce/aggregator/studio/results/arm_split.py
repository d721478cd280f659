"""Count results by random arm for the page "Results" from the reports after the close, by the jobs of Tables."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flask import current_app
from sottovoce.aggregator.analysis.documents import Document
from sottovoce.aggregator.analysis.estimates import RevisionCounts
from sottovoce.aggregator.analysis.published_counts import CountedArm, arms_of, count_arms, has_split
from sottovoce.aggregator.api.joint_results import Calculating, JointResults
from sottovoce.aggregator.authoring.simulation import Rehearsal
from sottovoce.aggregator.http.problems import Refusal
from sottovoce.aggregator.studio.results.view_options import ViewOptions
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError

CALCULATING = "calculating"


def or_why(compute: Callable[[], Document]) -> tuple[Document | None, str]:
    """Return what a job has computed and "", or None and why not: ``calculating``, ``open`` or ``refused``."""
    try:
        return compute(), ""
    except (Calculating, Refusal):
        return None, CALCULATING
    except EstimateError as error:
        return None, "open" if error.code == "still_open" else "refused"


@dataclass(frozen=True)
class ArmSplit:
    """Counts of each arm, or the reason why there are none.

    Attributes:
        arms: the arms; empty if there are none, or if results by arm are not asked for.
        why: ``open``, ``calculating``, ``few`` or ``refused``; "" with counts, or if results are not split by arm.
    """

    arms: tuple[CountedArm, ...] = ()
    why: str = ""


NO_SPLIT = ArmSplit()


def arm_split(name: str, revisions: Sequence[RevisionCounts], choices: ViewOptions) -> ArmSplit:
    """Return the counts by arm for the choices of the reader; revisions are oldest first."""
    if not _is_asked(revisions[-1], choices):
        return NO_SPLIT
    joint: JointResults = current_app.extensions["joint_results"]
    counted, why = or_why(lambda: joint.arms(name))
    return ArmSplit(why=why) if counted is None else _split(revisions, counted)


def simulated_split(made: Rehearsal, choices: ViewOptions) -> ArmSplit:
    """Return the counts by arm of a simulation."""
    asked = _is_asked(made.revisions[-1], choices)
    return _split(made.revisions, count_arms(made.reports.columns)) if asked else NO_SPLIT


def _is_asked(newest: RevisionCounts, choices: ViewOptions) -> bool:
    # One cohort's people in one arm could be few: the two are not crossed here.
    return choices.by == ARM and not choices.cohort and has_split(newest.survey) and ARM not in newest.withheld


def _split(revisions: Sequence[RevisionCounts], counted: Document) -> ArmSplit:
    found = arms_of(revisions, counted)
    return ArmSplit(found, "" if found else "few")
