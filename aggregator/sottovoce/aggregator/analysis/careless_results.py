"""Estimate the share of careless people in a survey's reports, and the shares of its questions corrected for them."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from sottovoce.aggregator.estimators.answered_shares import StratumTally
from sottovoce.aggregator.estimators.by_hand.uncertain_share import of_strata
from sottovoce.aggregator.estimators.careless.anchors import Careless, anchor_share, corrected_shares
from sottovoce.aggregator.estimators.support import Estimate, IntervalRule
from sottovoce.shared.arms.arms import is_arm, share_asked
from sottovoce.shared.spec import Question, Survey

CAREFUL, CAREFUL_ANSWERED = "careful", "careful_answered"
"""People whom a corrected share describes: those who read the questions, of whom some may give no answer."""


def anchors_of(survey: Survey) -> tuple[Question, ...]:
    """Return the questions with a known share of yes."""
    return tuple(question for question in survey.questions if question.known_share is not None)


def careful_people(question: Question) -> str:
    """Return the people whom the corrected shares of a question describe."""
    return CAREFUL_ANSWERED if question.domain.absent else CAREFUL


def correct_careless(
    survey: Survey, strata: Mapping[str, Sequence[StratumTally]], withheld: Collection[str], rule: IntervalRule
) -> tuple[Careless | None, Mapping[str, Sequence[Estimate]]]:
    """Estimate the share of careless people, None without anchors or reports, and the corrected shares by question.

    Args:
        survey: the newest revision.
        strata: (mechanism, tally) of each revision, by name of the questions that have estimates.
        withheld: names of questions without exact results, which must not follow from others.
    """
    known = [each for each in anchors_of(survey) if each.name in strata and each.name not in withheld]
    careless = careless_of(strata, known, rule.confidence, rule.waves)
    if careless is None:
        return None, {}
    asked = [each for each in survey.questions if each.name in strata and is_corrected(survey, each)]
    return careless, {each.name: _corrected(survey, each, strata[each.name], careless, rule) for each in asked}


def careless_of(
    strata: Mapping[str, Sequence[StratumTally]], known: Sequence[Question], confidence: float, waves: int = 1
) -> Careless | None:
    """Estimate the share of careless people; None without anchors or reports.

    Args:
        strata: (mechanism, tally) of each revision, by name of the question.
        known: the anchors to use.
        confidence: nominal coverage of its limits.
        waves: number of waves of the same people.
    """
    found = [
        anchor_share(each, each.known_share, strata[each.name], waves) for each in known if each.known_share is not None
    ]
    anchors = tuple(each for each in found if each is not None)
    return Careless(anchors, confidence) if anchors else None


def is_correctable(survey: Survey, question: Question) -> bool:
    """Return True for questions with categories but the anchors and those that are hidden from some people."""
    # Careless people do not come to hidden questions as often as others do.
    asked_of_all = question.known_share is None and question.name not in survey.conditional
    by_die = question.by_fact is not None and not question.by_fact.is_crosswise
    # Where a die selects the question, random answers are no random truths.
    return asked_of_all and question.kind.takes_category and not by_die


def is_corrected(survey: Survey, question: Question) -> bool:
    """Return True for questions whose shares Results correct: those that can be, without the drawn arm."""
    return is_correctable(survey, question) and not is_arm(survey, question)


def _corrected(
    survey: Survey, question: Question, strata: Sequence[StratumTally], careless: Careless, rule: IntervalRule
) -> Sequence[Estimate]:
    if survey.is_sampled or survey.arms:
        rule = rule.when_asked(share_asked(survey, survey.questions.index(question)))
    names = {each.name for each in careless.anchors}
    known = [survey.questions.index(each) for each in anchors_of(survey) if each.name in names]
    place, of = survey.questions.index(question), partial(share_asked, survey)
    together = min(float(of(place, anchor) / min(of(place), of(anchor))) for anchor in known)
    answers = question.domain, question.absent, careless
    return of_strata(lambda moved, by: corrected_shares(moved, *answers, by, together), strata, rule)


def careless_document(careless: Careless) -> dict[str, Any]:
    """Return the share of careless people, and the anchors that it follows from, as JSON."""
    low, high = careless.limits
    return {
        "raw": careless.raw,
        "clipped": careless.clipped,
        "std_error": careless.std_error,
        "low": low,
        "high": high,
        "confidence": careless.confidence,
        "agreement": careless.agreement,
        "anchors": [
            {
                "name": each.name,
                "known_share": each.known,
                "share_at_random": each.chance,
                "share": each.raw,
                "careless": each.careless,
                "n": each.n,
            }
            for each in careless.anchors
        ],
    }
