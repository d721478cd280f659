"""
Whether everybody of a known group has answered, so that results tell how many of these very people it is.

The fixed-population limits of ``estimators.fixed_population`` hold for n people with one report each, all of them
counted, through one channel. So they are given only where the counts can say that:

Closed      While reports come, whoever has not answered is missing.
Revision    One: a person could have answered two, and a pooled estimate has no one channel.
Wave        One: added up, the same people are counted more than once.
Everybody   All respondents: of which cohort somebody is, only the report says.
Number      As many reports are shown as there are people, and as many are stored: what was taken back, or came after a
            reopening and stays unshown, would leave somebody out.
Question    Each report speaks of the option: not where ``ask`` or the channel draws one of several. Of a bit mask each
            option by itself is X = Bin(T, a) + Bin(n - T, b), as it is of a single value. An answer that was not given
            counts as what the survey says, as a category of its own or as a fixed answer: the number is of people of
            whom that would be sent.

That each person sent one report only the researcher can know: links for one person each make sure of it.
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
    """
    The people that a survey is about.

    Attributes:
        of: how many they are.
        refused: why their number cannot be told exactly: ``open``, ``revisions``, ``waves``, ``cohort``, ``withdrawn``,
            ``number`` or ``large``; "" if it can.
    """

    of: int
    refused: str

    def count(self, estimate: Estimate) -> PeopleCount | None:
        """How many of them an option is true of; None where that cannot be told exactly."""
        a, b, count = estimate.a, estimate.b, estimate.count
        if self.refused or estimate.kind != "share" or a is None or b is None or count is None or estimate.n != self.of:
            return None
        return _people_count(count, self.of, a, b)


def group_of(revisions: Sequence[RevisionCounts], results: SurveyResults, people: int) -> Population:
    """
    Whether everybody of a group has answered.

    Args:
        revisions: all of the survey.
        results: what is shown of them.
        people: how many belong to the group, as the researcher says.
    """
    return Population(people, _refused(revisions, results, people))


def whole_group(revisions: Sequence[RevisionCounts], results: SurveyResults, people: int) -> Population:
    """
    The same, for a program, which is told so where not everybody has answered.

    Args:
        revisions: all of the survey.
        results: what is shown of them.
        people: how many belong to the group, as the researcher says.

    Raises:
        EstimateError: how many of these very people it is cannot be told.
    """
    group = group_of(revisions, results, people)
    if group.refused:
        raise EstimateError(f"of how many of these people something is true cannot be told: {_WHY[group.refused]}")
    return group


_WHY = {
    "open": "the survey is not closed",
    "revisions": "reports came to several revisions",
    "cohort": "only a part of the respondents is shown",
    "waves": "several waves are added up; choose one",
    "withdrawn": "somebody has taken a report back",
    "number": "there are not as many reports as people",
    "large": f"in a group of more than {MOST} it is no different from a sample",
}


def _refused(revisions: Sequence[RevisionCounts], results: SurveyResults, people: int) -> str:
    answered = [each for each in revisions if each.stored.reports or any(cell.reports for cell in each.cells)]
    stored = sum(each.stored.reports for each in answered)
    several = results.wave is None and sum(map(bool, results.waves)) > 1
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


# The same count, group and channel come again at each look at a closed survey.
_people_count = lru_cache(maxsize=4096)(people_count)
