"""A survey's planned comparisons: what they name must be there; defaults are written out; without a plan nothing is."""

from typing import Any

import pytest
from sottovoce.shared.arms.analysis_plan import PlannedComparison, planned_comparisons
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_survey import load_survey, parse_survey

from tests.documents import names
from tests.documents import survey as document_of
from tests.vectors.arms import COIN, arms, asks


def study(*plan: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A document with a question of each arm and three of all arms."""
    return document_of(
        asks("year", kind="select_one", choices=names(2), public=True),
        asks("drugs", kind="select_multiple", choices=names(3), mechanism={"epsilon": "1"}),
        asks("age", kind="integer", public=True, min="0", max="99"),
        asks("direct", "direct", public=True),
        asks("copied", "protected", mechanism=COIN),
        arms=arms(1, 1),
        **({"analysis_plan": list(plan)} if plan else {}),
        **more,
    )


def test_defaults_are_written_out() -> None:
    """The digest covers them; the canonical survey reads as itself."""
    survey = parse_survey(study({"question": "copied", "against": "direct"}, {"question": "drugs.c1", "by": "arm"}))

    assert survey.document["analysis_plan"] == [
        {"question": "copied", "measure": "difference", "confidence": "0.95", "against": "direct"},
        {"question": "drugs.c1", "measure": "difference", "confidence": "0.95", "by": "arm"},
    ]
    assert planned_comparisons(load_survey(survey.canonical))[0] == PlannedComparison(
        "copied", "difference", "0.95", against="direct"
    )
    assert "analysis_plan" not in parse_survey(study()).document


@pytest.mark.parametrize(
    ("planned", "key"),
    [
        ({"question": "copied"}, ""),
        ({"question": "year", "by": "arm", "against": "direct"}, ""),
        ({"question": "none", "by": "arm"}, "/question"),
        ({"question": "drugs", "by": "arm"}, "/question"),
        ({"question": "drugs.none", "by": "arm"}, "/question"),
        ({"question": "year.c1", "by": "arm"}, "/question"),
        ({"question": "copied", "by": "arm"}, "/by"),
        ({"question": "copied", "by": "year"}, "/by"),
        ({"question": "copied", "against": "year"}, "/against"),
        ({"question": "copied", "against": "copied"}, "/against"),
        ({"question": "copied", "against": "none"}, "/against"),
        ({"question": "year", "by": "arm", "category": "none"}, "/category"),
        ({"question": "age", "by": "arm", "measure": "ratio"}, "/measure"),
        ({"question": "age", "by": "arm", "category": "7"}, "/category"),
        ({"question": "year", "by": "arm", "measure": "odds"}, "/measure"),
        ({"question": "year", "by": "arm", "confidence": "1"}, "/confidence"),
        ({"question": "year", "by": "arm", "confidence": "0.4"}, "/confidence"),
        ({"question": "year", "by": "arm", "alpha": "0.05"}, "/alpha"),
    ],
)
def test_mistakes_have_a_pointer(planned: dict[str, Any], key: str) -> None:
    """Each at its key."""
    with pytest.raises(SpecError) as refused:
        parse_survey(study(planned))
    assert f"/analysis_plan/0{key}" in [problem.pointer for problem in refused.value.problems]


def test_plan_needs_arms_and_names_nothing_twice() -> None:
    """One comparison twice is one; without arms there is nothing to compare."""
    year = {"question": "year", "by": "arm"}
    with pytest.raises(SpecError, match="planned twice"):
        parse_survey(study(year, {**year, "confidence": "0.95"}))
    with pytest.raises(SpecError, match="goes with arms only"):
        parse_survey(document_of(asks("copied", mechanism=COIN), analysis_plan=[{"question": "copied", "by": "arm"}]))
