"""Cost of anchors in precision: standard errors of corrected shares, as multiples of the uncorrected ones.

The maths is in ``estimators.careless``: Var(corrected) = (v + g^2 (Var(lambda) - 2 s)) / (1 - lambda)^2 and
Var(uncorrected) = v for each report, for a careful share of ``SHARE`` and a careless one of ``CARELESS``.
"""

import math
from collections.abc import Iterator, Sequence

from sottovoce.aggregator.analysis.careless_results import anchors_of
from sottovoce.aggregator.estimators.careless.anchors import YES
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.shared.answers import random_answers
from sottovoce.shared.order.orders import ordered_lists
from sottovoce.shared.spec import Question, Survey

CARELESS = 0.1
SHARE = 0.1


def anchor_words(survey: Survey) -> Iterator[str]:
    """Yield a sentence on what the anchors of a survey cost, and what they would if they were public."""
    found = _errors(survey, public=False)
    if found is None:
        return
    names = ", ".join(anchor.name for anchor in anchors_of(survey))
    words = (
        f"shares are corrected for careless answers by {names}; where {CARELESS:.0%} of the people are careless, their "
        f"standard errors are {_times(found)} those of uncorrected shares"
    )
    public = _errors(survey, public=True)
    cheaper = any(anchor.mechanism is not None for anchor in anchors_of(survey)) and public is not None
    yield f"{words}; with public anchors, which cost no epsilon, {_times(public)}" if cheaper and public else words


def order_hint(survey: Survey) -> Iterator[str]:
    """Yield a suggestion where the correction supposes that careless people choose evenly, and the order is fixed."""
    ordered = {each.item for each in ordered_lists(survey)}
    fixed = [
        item.name
        for index, item in enumerate(survey.items)
        if index not in ordered and any(each.kind.truth == "option" for each in item.questions) and not item.rows
    ]
    if anchors_of(survey) and fixed:
        yield (
            f"/questions: '{fixed[0]}' is corrected by anchors as if careless people chose evenly among its options; "
            "order: random lets no option be the first for all"
        )


def _times(found: tuple[float, float]) -> str:
    low, high = (f"{each:.1f}" for each in found)
    return f"{low} times" if low == high else f"{low} to {high} times"


def _errors(survey: Survey, *, public: bool) -> tuple[float, float] | None:
    """Return the smallest and largest factor over the questions; None without any that is corrected."""
    asked = [each for each in survey.questions if each.known_share is None and each.name not in survey.conditional]
    corrected = [each for each in asked if each.kind.truth in {"yes_no", "option"}]
    if not anchors_of(survey) or not corrected:
        return None
    of_careless = _variance_of_careless(anchors_of(survey), public=public)
    found = [_factor(each, of_careless) for each in corrected]
    return min(found), max(found)


def _factor(question: Question, of_careless: float) -> float:
    at_random = float(random_answers(question.domain, question.absent)[YES])
    own = _variance(question, (1 - CARELESS) * SHARE + CARELESS * at_random)
    apart = (at_random - SHARE) ** 2 * (of_careless - 2 * CARELESS * (1 - CARELESS))
    return math.sqrt((own + apart) / own) / (1 - CARELESS)


def _variance_of_careless(anchors: Sequence[Question], *, public: bool) -> float:
    shared = CARELESS * (1 - CARELESS)
    precision = 0.0
    for each in anchors:
        known, at_random = float(each.known_share or 0), float(random_answers(each.domain, each.absent)[YES])
        yes = known + CARELESS * (at_random - known)
        variance = yes * (1 - yes) if public else _variance(each, yes)
        precision += 1 / (variance / (at_random - known) ** 2 - shared)
    return 1 / precision + shared


def _variance(question: Question, share: float) -> float:
    """Return the variance that one report gives an estimated share."""
    a, b = variables_of(question)[0].channels[YES]
    reported = b + (a - b) * share
    return reported * (1 - reported) / (a - b) ** 2
