"""Correct the shares of a file's columns for careless reports, by columns with a known share of yes.

Model       As in ``estimators.careless.anchors``, but a careless person sends each report with probability 1/2,
            whatever the channel: answers may have been randomized by hand. With channel (a, b) that is a share
            (1/2 - b)/(a - b) of yes. In a survey devices randomize a careless answer; for Warner's, the crosswise and
            other channels with a + b = 1, both are 1/2.
Source      Atsusaka and Stevenson 2023 (the crosswise model with an anchor).
"""

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from sottovoce.aggregator.analysis.careless_results import CAREFUL, careless_document
from sottovoce.aggregator.analysis.report_columns import Columns, strata_of
from sottovoce.aggregator.estimators.by_hand.uncertain_share import of_strata
from sottovoce.aggregator.estimators.careless.anchors import YES, Careless, anchor_share, corrected_shares
from sottovoce.aggregator.estimators.matrix import MatrixChannel
from sottovoce.aggregator.estimators.question_variables import variables_of
from sottovoce.aggregator.estimators.support import IntervalRule
from sottovoce.shared.errors import EstimateError, Sentence
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.spec import Question

NO_COLUMN = "there is no column '{name}' for an anchor; there are: {names}"
TWO_REPORTS = "the anchor '{variable}' must have two answers and one channel of two reports, without se"
TOO_NEAR = (
    "the anchor '{variable}' cannot tell careless reports: they give a share of {share}, and its known share is within "
    "{least} of that"
)
KNOWN = "the known share of the anchor '{variable}' must be a number from 0 to 1, such as 0 or 1/20"
LEAST_SLOPE = 0.1
"""Distance of a known share from the share of random reports, as in a survey."""


def add_corrections(columns: Columns, document: dict[str, Any], known: Mapping[str, str], rule: IntervalRule) -> None:
    """Add the share of careless reports to a document of shares, and the corrected shares of yes/no columns.

    ``known`` is the share of yes by name of the anchor, such as "0" or "1/20". Raises EstimateError if an anchor is no
    yes/no column with one exactly known channel and a share that careless reports move.
    """
    asked = {each.name: each for each in columns.survey.questions}
    anchors = []
    for name, text in known.items():
        if name not in asked:
            raise EstimateError(NO_COLUMN, name=name, names=", ".join(asked))
        chance = _share_of_random(columns, asked[name])
        if chance is None or asked[name].inexact_fact:
            raise EstimateError(TWO_REPORTS, variable=name)
        share = _known_share(name, text)
        if abs(chance - share) < LEAST_SLOPE:
            raise EstimateError(TOO_NEAR, variable=name, share=f"{chance:.3g}", least=str(LEAST_SLOPE))
        found = anchor_share(asked[name], share, strata_of(columns, asked[name]), chance=chance)
        anchors += [] if found is None else [found]
    if not anchors:
        raise EstimateError("no row has an answer to an anchor")
    careless = Careless(tuple(anchors), rule.confidence)
    document["careless"] = careless_document(careless)
    left = []
    for result in document["questions"]:
        question = asked[result["name"]]
        chance = _share_of_random(columns, question)
        if chance is None or careless.raw >= 1:
            left.append(question.name)
        elif question.name not in {each.name for each in anchors}:
            result["corrected"] = {
                "people": CAREFUL,
                "estimates": _corrected(columns, question, chance, careless, rule),
            }
    if left:
        document["warnings"].append(Sentence("not corrected for careless reports: {variables}", variables=tuple(left)))


def _corrected(
    columns: Columns, question: Question, chance: float, careless: Careless, rule: IntervalRule
) -> list[dict[str, Any]]:
    both = columns.asked(question.name)
    n = int(both.sum())
    shared = [int((both & columns.asked(each.name)).sum()) / max(min(n, each.n), 1) for each in careless.anchors]
    found = of_strata(
        lambda strata, by: corrected_shares(strata, question.domain, None, careless, by, min(shared), chance),
        strata_of(columns, question),
        rule,
    )
    return [asdict(each) for each in found]


def _known_share(name: str, text: str) -> Fraction:
    try:
        share = Fraction(text)
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if not 0 <= share <= 1:
        raise EstimateError(KNOWN, variable=name)
    return share


def _share_of_random(columns: Columns, question: Question) -> float | None:
    """Return the share of yes that random reports give; None unless the column has two answers and one such channel."""
    mechanisms = {mechanism for mechanism, tally in strata_of(columns, question) if sum(tally.values())}
    [mechanism] = mechanisms if len(mechanisms) == 1 else [question.mechanism]
    two = mechanism is None or isinstance(mechanism, BinaryRR)
    two = two or (isinstance(mechanism, MatrixChannel) and len(mechanism.rows[0]) == 2)
    if len(mechanisms) != 1 or len(question.options) != 2 or not two:
        return None
    if mechanism is None:
        return 0.5
    a, b = variables_of(question)[0].channels[YES]
    return (0.5 - b) / (a - b)
