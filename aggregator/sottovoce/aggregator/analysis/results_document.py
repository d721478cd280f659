"""Write results for publication, ``sottovoce-export/1``: counts and estimates, without single reports or ids.

People are counted where every member of a known finite group has answered. The fixed-population limits of
``estimators.fixed_population`` hold for n people with one report each, all of them counted, through one channel. They
are computed only where the counts show that this is so:

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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from sottovoce.aggregator.analysis.careless_results import careful_people, careless_document
from sottovoce.aggregator.analysis.estimates import QuestionResult, RevisionCounts, SurveyResults
from sottovoce.aggregator.analysis.published_counts import is_split
from sottovoce.aggregator.estimators import Estimate
from sottovoce.aggregator.estimators.fixed_population import MOST, PeopleCount, people_count
from sottovoce.aggregator.storage.hash_chain import ChainHead
from sottovoce.shared.answers import Grid
from sottovoce.shared.errors import EstimateError
from sottovoce.shared.release import release
from sottovoce.shared.spec import Question

FORMAT = "sottovoce-export/1"

TOWARDS = {"raw": 0, "clipped": 0} | {
    f"{prefix}{end}": towards
    for prefix in ("", "simultaneous_", "band_")
    for end, towards in (("low", -1), ("high", 1))
}
TOWARDS |= {"lowest": -1, "highest": 1}
"""Rounding direction of each figure in the question's unit; limits are rounded outward, so no interval shrinks."""


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
    answered = [each for each in revisions if each.stored.reports or any(cell.reports for cell in each.cells)]
    # Stored and published numbers are compared, because a withdrawal after the last publication shows in one only.
    stored = sum(each.stored.reports for each in answered)
    # Ordered: the first reason that holds is the one a researcher can act on.
    found = {
        "open": not results.closed,
        "revisions": len(answered) > 1,
        "cohort": results.cohort is not None,
        "waves": results.wave is None and sum(map(bool, results.waves)) > 1,
        "withdrawn": bool(results.withdrawn) or stored < sum(results.waves),
        "number": results.reports != people or stored > sum(results.waves),
        "large": people > MOST,
    }
    return Population(people, next((reason for reason, is_so in found.items() if is_so), ""))


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


# Each view of a closed survey repeats the same counts, group and channel, and the limits are slow to compute.
_people_count = lru_cache(maxsize=4096)(people_count)


def export_document(
    results: SurveyResults,
    journal: ChainHead | None = None,
    group: Population | None = None,
    arms: Sequence[tuple[str, SurveyResults]] = (),
) -> dict[str, Any]:
    """Return the results as one JSON object; its schema is ``export.schema.json`` in ``sottovoce.shared.schema``.

    Args:
        journal: head of the journal at the time of export, for a later ``db journal verify --head``.
        group: finite population, if every member answered: shares are then also given as numbers of people.
        arms: results of each random arm, with its name.
    """
    survey = results.survey
    dates = {key: survey.document.get(key) for key in ("opens", "closes")}
    return {
        # First in the file, so that a reader does not mistake a test run for the real survey.
        **({"trial": True} if survey.trial else {}),
        "format": FORMAT,
        "survey": survey.name,
        "revision": survey.revision,
        "digest": survey.digest,
        # Results state the version, because estimators may change between releases.
        "version": release(),
        "title": dict(survey.title),
        "dates": {**dates, "waves": survey.document.get("waves", [])},
        "closed": results.closed,
        "received": results.received,
        "reports": results.reports,
        "withdrawn": results.withdrawn,
        "cohort": results.cohort,
        "wave": results.wave,
        "epsilon_total": results.epsilon,
        "questions": [_question(result, group) for result in results.questions],
        **({"arms": [_arm(*each) for each in arms]} if arms else {}),
        **({} if results.careless is None else {"careless": careless_document(results.careless)}),
        **({"withheld": list(results.withheld)} if results.withheld else {}),
        **({} if journal is None else {"journal": str(journal)}),
    }


def _arm(name: str, results: SurveyResults) -> dict[str, Any]:
    """Return the results of an arm: of the questions that several arms ask."""
    shown = [each for each in results.questions if each.n and is_split(results.survey, each.question)]
    return {"name": name, "reports": results.reports, "questions": [_question(each, None) for each in shown]}


def _question(result: QuestionResult, group: Population | None) -> dict[str, Any]:
    question = result.question
    named = {"options": {each.name: dict(each.label) for each in question.choices}} if question.choices else {}
    document = {
        "name": question.name,
        "type": question.type,
        "label": dict(question.label),
        **named,
        "mechanism": mechanism_document(question),
        "epsilon": result.epsilon,
        "n": result.n,
        **({"asked_only": result.asked_only} if result.conditional else {}),
        **({"asked_in_part": True} if result.asked_in_part else {}),
        "tally": {str(value): count for value, count in result.tally.items()},
        **_estimates(result, group),
    }
    if question.absent is not None and not question.domain.absent:
        document["when_absent"] = question.answer(question.absent)
    if result.protection:
        document["protection"] = [{"share": share, "estimate": asdict(each)} for share, each in result.protection]
    if question.domain.absent:
        document["answered"] = {"people": result.described, "estimates": [*map(asdict, result.answered)]}
    if result.corrected:
        document["corrected"] = {"people": careful_people(question), "estimates": [*map(asdict, result.corrected)]}
    return document


def _estimates(result: QuestionResult, group: Population | None) -> dict[str, Any]:
    """Return mean, histogram and quantiles for a number; a list of estimates for other questions."""
    if result.question.kind.truth != "number":
        return {"estimates": [asdict(estimate) | _people(estimate, group) for estimate in result.estimates]}
    grid = result.question.domain.grid
    mean, histogram, quantiles = (
        [_figures(estimate, grid) for estimate in result.of_kind(kind)] for kind in ("mean", "share", "quantile")
    )
    return {"mean": mean[0], "histogram": histogram, "quantiles": quantiles}


def _people(estimate: Estimate, group: Population | None) -> dict[str, Any]:
    """Return limits for the number of people in the group; empty where they are not available."""
    count = None if group is None else group.count(estimate)
    return {} if count is None else {"people": asdict(count)}


def _figures(estimate: Estimate, grid: Grid | None) -> dict[str, Any]:
    """Return an estimate with figures formatted in the question's unit; differences remain plain numbers."""
    document = asdict(estimate)
    if grid is not None and estimate.kind != "share":
        known = {key: towards for key, towards in TOWARDS.items() if document[key] is not None}
        document |= {key: grid.figure(document[key], towards) for key, towards in known.items()}
    return document


def estimates_of(asked: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each estimate of a question in an export with the people whom it describes."""
    whole = [asked["mean"], *asked["histogram"], *asked["quantiles"]] if "mean" in asked else asked["estimates"]
    people = "asked" if asked.get("asked_only") else "perhaps_asked" if asked.get("asked_in_part") else "all"
    yield from ((people, estimate) for estimate in whole)
    for part in (asked.get("answered"), asked.get("corrected")):
        if part is not None:
            yield from ((part["people"], estimate) for estimate in part["estimates"])


def mechanism_document(question: Question) -> dict[str, Any] | None:
    """Return the mechanism as written in the survey file; None for a public question."""
    return None if question.mechanism is None else question.mechanism.dump()
