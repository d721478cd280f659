"""Order of questions, options and rows, the tablet and the planned comparisons on the page Design."""

import io
from typing import Any

import pytest
from sottovoce.aggregator.authoring.draft import read_plan, written_plan
from sottovoce.aggregator.authoring.to_survey import card_of, draft_of, survey_document
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.page import with_order, written_last
from sottovoce.shared import canonical
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey as document_of
from tests.unit.aggregator.studio.design.test_page import Researcher, newest
from tests.vectors.arms import COIN, arms, asks

CHOICE = asks("year", kind="select_one", choices=names(4), public=True)
PLAN = [
    {"question": "copied", "measure": "ratio", "confidence": "0.99", "against": "direct"},
    {"question": "year", "measure": "difference", "confidence": "0.95", "by": "arm", "category": "c1"},
]


def study(**more: Any) -> dict[str, Any]:
    return document_of(
        {**CHOICE, "order": "random", "keep_last": ["c2", "c3"]},
        asks("direct", "direct", public=True),
        asks("copied", "protected", mechanism=COIN),
        arms=arms(1, 1),
        order="random",
        analysis_plan=PLAN,
        **more,
    )


@pytest.mark.parametrize(
    ("order", "last", "found"),
    [
        ("", "2", {}),
        ("random", "", {"order": "random"}),
        ("random", "0", {"order": "random"}),
        ("random", "2", {"order": "random", "keep_last": ["c2", "c3"]}),
        ("random", "9", {"order": "random", "keep_last": ["c0", "c1", "c2", "c3"]}),
        ("random", "c1, c3", {"order": "random", "keep_last": ["c1", "c3"]}),
        ("reversed_half", "1", {"order": "reversed_half", "keep_last": ["c3"]}),
        ("sideways", "1", {}),
    ],
)
def test_order_is_read(order: str, last: str, found: dict[str, Any]) -> None:
    """How many stay at the end, or which; written again as it was."""
    made = with_order({**CHOICE, "order": "random", "keep_last": ["c0"]}, order, last)

    assert {key: made[key] for key in ("order", "keep_last") if key in made} == found
    again = with_order(made, str(made.get("order", "")), written_last(card_of(made)))
    assert again == made


def test_type_without_options_has_no_order() -> None:
    """After a change of type, none is left."""
    for kind in ("boolean", "integer", "note"):
        assert "order" not in with_order({**asks("a", kind=kind), "order": "random"}, "random", "1"), kind


def test_plan_is_written_and_read() -> None:
    """One comparison a line, defaults left out; what is none of it is kept for the survey's checks."""
    draft = draft_of(parse_survey(study()).document)

    assert written_plan(draft) == "copied against direct, ratio, 0.99\nyear by arm, category c1"
    read = read_plan(written_plan(draft)) or []
    assert [{"measure": "difference", "confidence": "0.95", **each} for each in read] == PLAN
    assert read_plan(" \n") is None
    assert read_plan("copied")
    assert read_plan(",")


def test_survey_becomes_the_same_survey_again() -> None:
    """Nothing is lost on the way through a draft."""
    asked = parse_survey(study())
    assert survey_of_draft(draft_of(asked.document), asked.name).document == asked.document


def test_names_made_of_texts_stand_in_the_whole_survey() -> None:
    """A question that is named by its text is so in the plan, in the order and for people whom it is not for."""
    document = study()
    document["questions"] = [{**each, "name": f"q{n}"} for n, each in enumerate(document["questions"], 1)]
    document["analysis_plan"] = [{"question": "q3", "against": "q2"}]
    document["keep_last"] = ["q1"]
    document["after"] = {"screen_out": {"when": {"q1": ["c0"]}, "text": {"en": "Thank you."}}}
    found = survey_document(draft_of(document), "exam")

    written = [each["name"] for each in found["questions"]]
    assert "q1" not in written
    assert found["analysis_plan"] == [{"question": written[2], "against": written[1]}]
    assert found["keep_last"] == [written[0]]
    assert found["after"]["screen_out"]["when"] == {written[0]: ["c0"]}


def test_fields_are_shown_kept_and_changed(ann: Researcher, storage: SQLiteStorage) -> None:
    """From a file; after a save of something else; and by the fields themselves, without a script."""
    file = io.BytesIO(canonical.dump(parse_survey(study()).document))
    ann.post("new", **{"from": "file", "file": (file, "exam.json")})
    design = "surveys/vector/design"
    page = ann.get(design)
    assert '<option value="random" selected>' in page
    assert 'name="q0.keep_last" type="text" value="2"' in page
    assert "copied against direct, ratio, 0.99\nyear by arm, category c1</textarea>" in page

    ann.post(design, version="1", **{"title.en": "Exams"}, do="save")
    assert survey_of_draft(newest(storage, "vector"), "vector").document["analysis_plan"] == PLAN
    ann.post(
        design,
        version="2",
        **{"q0.order": "reversed_half", "q0.keep_last": "1", "order": "", "kiosk": "1", "analysis_plan": ""},
        do="save",
    )
    found = survey_document(newest(storage, "vector"), "vector")
    assert (found["questions"][0]["order"], found["questions"][0]["keep_last"]) == ("reversed_half", ["c3"])
    assert (found["kiosk"], "order" in found, "analysis_plan" in found) == (True, False, False)


def test_mistakes_lead_to_their_field() -> None:
    """A plan that names a deleted question, and too many that stay at the end."""
    draft = draft_of({**study(), "analysis_plan": [{"question": "gone", "by": "arm"}]})
    assert "analysis_plan" in [each.place.field for each in problems_of(draft, "exam") if each.grave]

    document = study()
    document["questions"][0]["keep_last"] = ["c1", "c2", "c3"]
    assert "q0.keep_last" in [each.place.field for each in problems_of(draft_of(document), "exam") if each.grave]


def test_invite_shows_the_link_of_the_tablet(ann: Researcher, storage: SQLiteStorage) -> None:
    """With a code of staff; where people have cards, without one; other surveys have no such link."""
    for name, more in (("tablet", {"kiosk": True}), ("cards", {"kiosk": True, "access": "token"}), ("plain", {})):
        made = parse_survey({**document_of(asks("copied", mechanism=COIN), name=name), **more})
        storage.publish(made)
        page = ann.get(f"surveys/{name}/invite")
        assert ("Link for the tablet" in page) == (name != "plain")
        assert ("&amp;staff=" in page) == (name == "tablet")
