"""A survey's planned comparisons: what they name must be there; defaults are written out; without a plan nothing is."""

from typing import Any

import pytest
from sottovoce.shared.errors import SpecError
from sottovoce.shared.parse_item import PlannedComparison, planned_comparisons
from sottovoce.shared.parse_survey import load_survey, parse_survey

from tests.documents import names, survey as document_of, wrong_places
from tests.vectors.arms import COIN, arms, asks


def study(*plan: dict[str, Any], **more: Any) -> dict[str, Any]:
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
    assert f"/analysis_plan/0{key}" in wrong_places(study(planned))


def test_plan_needs_arms_and_names_nothing_twice() -> None:
    """One comparison twice is one; without arms there is nothing to compare."""
    year = {"question": "year", "by": "arm"}
    with pytest.raises(SpecError, match="planned twice"):
        parse_survey(study(year, {**year, "confidence": "0.95"}))
    with pytest.raises(SpecError, match="goes with arms only"):
        parse_survey(document_of(asks("copied", mechanism=COIN), analysis_plan=[{"question": "copied", "by": "arm"}]))


def half(name: str, arm: str, truth: str = "1/2", **fact: str) -> dict[str, Any]:
    told = {"share": "1/6", "label": "Born in January?", **fact}
    innocuous = {**told, "truth": truth, "label": {"en": told["label"]}, "source": {"en": "Calendar"}}
    return asks(name, arm, procedure="unrelated_question", innocuous=innocuous)


def designed(first: dict[str, Any], second: dict[str, Any], design: str, **more: Any) -> dict[str, Any]:
    plan = {"question": first["name"], "against": second["name"], "design": design, **more}
    return document_of(first, second, arms=arms(1, 1), analysis_plan=[plan])


CROSSED = {"procedure": "crosswise", "innocuous": {"label": {"en": "Born in March?"}, "share": "1/6",
                                                   "source": {"en": "Calendar"}}}  # fmt: skip
RARE, OFTEN = half("rare", "direct"), half("often", "protected", share="5/6", label="Born later?")
RANGE = {"share": "1/2", "se": "1/5"}
SELDOM, MOSTLY = half("seldom", "direct", "1/3", **RANGE), half("mostly", "protected", "2/3", **RANGE)
COINS = asks("flipped", "direct", mechanism=COIN), asks("again", "protected", mechanism=COIN)


@pytest.mark.parametrize(
    ("pair", "design"), [((RARE, OFTEN), "cheater_detection"), ((SELDOM, MOSTLY), "unrelated_unknown")]
)
def test_two_arms_may_ask_one_question_with_unlike_odds(pair: tuple[Any, Any], design: str) -> None:
    """One fact may hide the answers of two arms, since no person is in both; a design has no measure."""
    survey = load_survey(parse_survey(designed(*pair, design)).canonical)

    assert planned_comparisons(survey) == [
        PlannedComparison(pair[0]["name"], confidence="0.95", against=pair[1]["name"], design=design)
    ]


@pytest.mark.parametrize(
    ("pair", "design", "why"),
    [
        (COINS, "cheater_detection", "a cheater's no gets the noise of an honest no: the cheaters cannot be"),
        (COINS, "unrelated_unknown", "the share of the other answer is known"),
        ((asks("one", "direct", **CROSSED), asks("other", "protected", **CROSSED)), "cheater_detection", "plain no"),
        ((asks("one", "direct", **CROSSED), asks("other", "protected", **CROSSED)), "unrelated_unknown", "plain no"),
        ((RARE, {**RARE, "name": "same", "arm": "protected"}), "cheater_detection", "both groups have the same odds"),
        ((SELDOM, {**SELDOM, "name": "same", "arm": "protected"}), "unrelated_unknown", "the same odds"),
        ((RARE, {**OFTEN, "arm": "direct"}), "cheater_detection", "is asked in an arm of the question"),
        ((RARE, OFTEN), "unrelated_unknown", "needs the same statement, share and se"),
        ((half("one", "direct", "1/3"), half("other", "protected", "2/3")), "unrelated_unknown", "needs se"),
        ((SELDOM, MOSTLY), "cheater_detection", "leave out se"),
        ((RARE, OFTEN), "lie_detector", "one of"),
    ],
)
def test_designs_that_tell_no_share_are_refused(pair: tuple[Any, Any], design: str, why: str) -> None:
    """With the reason: drawn by the device, crosswise, equal odds, one arm, or a share unlike the design's."""
    with pytest.raises(SpecError, match=why):
        parse_survey(designed(*pair, design))


@pytest.mark.parametrize(
    "mistake", [{"procedure": "crossed"}, {"innocuous": {"share": "1/6"}}, {"mechanism": COIN}, {"cohort": True}]
)
def test_fact_with_a_mistake_is_not_one_that_a_device_draws(mistake: dict[str, Any]) -> None:
    """So that the design of two procedures is not told to need them."""
    places = wrong_places(designed({**RARE, **mistake}, OFTEN, "cheater_detection"))
    assert {place.split("/")[1] for place in places} == {"questions"}


def test_unknown_design_is_the_only_mistake() -> None:
    """Its questions are not held against another design."""
    assert wrong_places(designed(RARE, OFTEN, "lie_detector")) == ["/analysis_plan/0/design"]


def test_designs_have_no_measure_and_each_arm_its_fact() -> None:
    """A design estimates its own shares; in one arm, one fact hides one answer."""
    with pytest.raises(SpecError, match="it has shares of its own"):
        parse_survey(designed(RARE, OFTEN, "cheater_detection", measure="ratio"))
    both = [{**RARE, "arm": ["direct", "protected"]}, {**OFTEN, "innocuous": RARE["innocuous"]}]
    with pytest.raises(SpecError, match="is used by another question"):
        parse_survey(document_of(*both, arms=[*arms(1, 1), {"name": "third"}]))
