"""Count people, where every member of a known finite group has answered.

The fixed-population limits of ``estimators.fixed_population`` hold for n people with one report each, all of them
counted, through one channel. They are computed only where the counts show that this is so:

Closed      The survey is closed; while it is open, some members have not answered yet.
Revision    Reports came to one revision. A person could have answered two, and a pooled estimate has no single channel.
Wave        One wave is shown. In the sum of several, the same people are counted more than once.
Everybody   All respondents are shown. Cohort membership is known from reports only, so a cohort is no known group.
Number      The numbers of published and of stored reports both equal the number of people. A withdrawn report, or one
            that came after a reopening and is not published, would leave a person out.
Question    Every report carries the option: not where ``ask`` or the channel draws one of several. Each option of a bit
            mask follows X = Bin(T, a) + Bin(n - T, b), as a single value does. A missing answer counts as the survey
            defines it, as a category of its own or as a fixed answer.

Only the researcher can know that each person sent one report; personal links ensure it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sottovoce.aggregator.analysis.estimates import RevisionCounts, SurveyResults
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.fixed_population import MOST, PeopleCount, people_count
from sottovoce.shared.errors import EstimateError


@dataclass(frozen=True)
class Population:
    """A finite group of ``of`` people that a survey covers.

    ``refused`` says why numbers of people are not available: ``open``, ``revisions``, ``waves``, ``cohort``,
    ``withdrawn``, ``number`` or ``large``; "" if they are.
    """

    of: int
    refused: str

    def count(self, estimate: Estimate) -> PeopleCount | None:
        """Return limits for the number of people for whom the option is true; None if they are not available."""
        a, b, count = estimate.a, estimate.b, estimate.count
        if self.refused or estimate.kind != "share" or a is None or b is None or count is None or estimate.n != self.of:
            return None
        return _people_count(count, self.of, a, b, estimate.confidence)


def group_of(revisions: Sequence[RevisionCounts], results: SurveyResults, people: int) -> Population:
    """Check whether every member of a group of ``people`` has answered; ``refused`` of the result says why not."""
    return Population(people, _refused(revisions, results, people))


def whole_group(revisions: Sequence[RevisionCounts], results: SurveyResults, people: int) -> Population:
    """Return the group as ``group_of`` does; raise EstimateError with the reason if a member has not answered."""
    group = group_of(revisions, results, people)
    if group.refused:
        raise EstimateError(f"of how many of these people something is true cannot be told: {_WHY[group.refused]}")
    return group


_WHY = {
    "open": "the survey is not closed",
    "revisions": "reports came to several revisions",
    "cohort": "only a part of the respondents is shown",
    "waves": "several waves are added up; choose one",
    "withdrawn": "a person has withdrawn a report",
    "number": "there are not as many reports as people",
    "large": f"in a group of more than {MOST} it is no different from a sample",
}


def _refused(revisions: Sequence[RevisionCounts], results: SurveyResults, people: int) -> str:
    answered = [each for each in revisions if each.stored.reports or any(cell.reports for cell in each.cells)]
    # Stored and published numbers are compared, because a withdrawal after the last publication shows in one only.
    stored = sum(each.stored.reports for each in answered)
    several = results.wave is None and sum(map(bool, results.waves)) > 1
    # Ordered: the first reason that holds is the one a researcher can act on.
    found = {
        "open": not results.closed,
        "revisions": len(answered) > 1,
        "cohort": results.cohort is not None,
        "waves": several,
        "withdrawn": bool(results.withdrawn) or stored < sum(results.waves),
        "number": results.reports != people or stored > sum(results.waves),
        "large": people > MOST,
    }
    return next((reason for reason, is_so in found.items() if is_so), "")


# Each view of a closed survey repeats the same counts, group and channel, and the limits are slow to compute.
_people_count = lru_cache(maxsize=4096)(people_count)
