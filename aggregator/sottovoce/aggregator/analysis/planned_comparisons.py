"""Make the planned comparisons of a survey once it is closed, each exactly as its ``analysis_plan`` says.

The limits of each comparison are those of one comparison; they are not adjusted for the number of comparisons.
"""

from collections.abc import Callable
from typing import Any

from sottovoce.aggregator.analysis.documents import Document
from sottovoce.shared.arms.arms import ARM
from sottovoce.shared.errors import EstimateError, error_message
from sottovoce.shared.parse_item import PlannedComparison, planned_comparisons
from sottovoce.shared.spec import Survey

PLANNED = "sottovoce-planned/1"
NO_PLAN = "the survey plans no comparisons: its file has no analysis_plan"


def planned_document(survey: Survey, answer: Callable[[str, dict[str, Any]], Document]) -> Document:
    """Make all planned comparisons of a survey; ``answer`` makes one of a kind of request and its options.

    Returns ``comparisons``: for each the plan, the ``sottovoce-comparison/1`` or, of a design, ``sottovoce-mixture/1``
    document or None, and the problem or None. Raises EstimateError if the survey has no plan, is open, or a computation
    was stopped.
    """
    plan = planned_comparisons(survey)
    if not plan:
        raise EstimateError(NO_PLAN)
    return {
        "format": PLANNED,
        "survey": survey.name,
        "digest": survey.digest,
        "comparisons": [_made(each, answer) for each in plan],
    }


def _made(planned: PlannedComparison, answer: Callable[[str, dict[str, Any]], Document]) -> Document:
    kind, options = "mixture", {"question": planned.question}
    if not planned.design:
        kind, options = "compare", {"outcome": planned.question, "groups": ARM}
        options |= {key: given for key in ("against", "category") if (given := getattr(planned, key))}
    try:
        comparison = answer(kind, {**options, "confidence": float(planned.confidence)})
        return {"planned": planned.dump(), "comparison": comparison, "problem": None}
    except EstimateError as error:
        # A comparison that the reports do not allow is reported beside the others, so that none is left out silently.
        if error.code != EstimateError.code:
            raise
        return {"planned": planned.dump(), "comparison": None, "problem": error_message(error)}
