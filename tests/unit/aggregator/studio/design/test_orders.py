import io
import re
from typing import Any

import pytest
from sottovoce.aggregator.authoring.draft import read_arms, read_plan, written_arms, written_plan
from sottovoce.aggregator.authoring.to_survey import card_of, draft_of, survey_document
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.page import KEPT, public_answers, screened_out, with_order, written_last
from sottovoce.shared import canonical
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey as document_of
from tests.unit.aggregator.studio.design.test_page import Researcher, newest
from tests.vectors.arms import COIN, arms, asks, two_arms

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
    made = with_order({**CHOICE, "order": "random", "keep_last": ["c0"]}, order, last)

    assert {key: made[key] for key in ("order", "keep_last") if key in made} == found
    again = with_order(made, str(made.get("order", "")), written_last(card_of(made)))
    assert again == made


def test_type_without_options_has_no_order() -> None:
    for kind in ("boolean", "integer", "note"):
        assert "order" not in with_order({**asks("a", kind=kind), "order": "random"}, "random", "1"), kind


def test_plan_is_written_and_read() -> None:
    draft = draft_of(parse_survey(study()).document)

    assert written_plan(draft) == "copied against direct, ratio, 0.99\nyear by arm, category c1"
    read = read_plan(written_plan(draft)) or []
    assert [{"measure": "difference", "confidence": "0.95", **each} for each in read] == PLAN
    assert read_plan(" \n") is None
    assert read_plan("copied")
    assert read_plan(",")


def test_survey_becomes_the_same_survey_again() -> None:
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
    design = begin(ann, parse_survey(study()).document)
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
    draft = draft_of({**study(), "analysis_plan": [{"question": "gone", "by": "arm"}]})
    assert "analysis_plan" in [each.place.field for each in problems_of(draft, "exam") if each.grave]

    document = study()
    document["questions"][0]["keep_last"] = ["c1", "c2", "c3"]
    assert "q0.keep_last" in [each.place.field for each in problems_of(draft_of(document), "exam") if each.grave]


def test_invite_shows_the_link_of_the_tablet(ann: Researcher, storage: SQLiteStorage) -> None:
    for name, more in (("tablet", {"kiosk": True}), ("cards", {"kiosk": True, "access": "token"}), ("plain", {})):
        made = parse_survey({**document_of(asks("copied", mechanism=COIN), name=name), **more})
        storage.publish(made)
        page = ann.get(f"surveys/{name}/invite")
        assert ("Link for the tablet" in page) == (name != "plain")
        assert ("&amp;staff=" in page) == (name == "tablet")


FACT = {"label": {"en": "My mother was born in March."}, "share": "1/4", "source": {"en": "Census"}, "fact": "month"}
HIDDEN = asks("copied", kind="boolean", procedure="crosswise", innocuous=FACT)


def with_fact(**more: Any) -> dict[str, Any]:
    return document_of(
        asks("year", kind="select_one", choices=names(2), public=True), asks("cheated", mechanism=COIN), HIDDEN, **more
    )


def begin(ann: Researcher, document: dict[str, Any]) -> str:
    file = io.BytesIO(canonical.dump(document))
    ann.post("new", **{"from": "file", "file": (file, "exam.json")})
    return "surveys/vector/design"


def test_procedure_of_a_file_is_shown_and_kept(ann: Researcher, storage: SQLiteStorage) -> None:
    document = parse_survey(with_fact()).document
    design = begin(ann, document)
    page = ann.get(design)
    assert '<option value="crosswise" selected>' in page
    assert 'name="q2.innocuous.share" type="text" value="1/4"' in page
    assert 'name="q2.harm"' not in page

    ann.post(design, version="1", **{"title.en": "Exams"}, do="save")
    assert survey_document(newest(storage, "vector"), "vector")["questions"][2]["innocuous"] == FACT
    posted = {"q2.procedure": "unrelated_question", "q2.innocuous.truth": "2/3", "q2.innocuous.se": "1/100"}
    ann.post(design, version="2", **posted, **{"q2.innocuous.source.en": "Statistics"}, do="save")
    changed = survey_of_draft(newest(storage, "vector"), "vector").document["questions"][2]
    assert changed["procedure"] == "unrelated_question"
    assert changed["innocuous"] == {**FACT, "truth": "2/3", "se": "1/100", "source": {"en": "Statistics"}}


def test_public_question_of_a_file_without_a_text_is_shown(ann: Researcher) -> None:
    nameless = {"type": "boolean", "name": "member", "public": True}
    page = ann.get(begin(ann, document_of(asks("cheated", mechanism=COIN), nameless)))
    assert '<option value="1">Question 2</option>' in page
    assert 'href="#q1.label"' in page


@pytest.mark.parametrize(("visible_if", "has_fields"), [({}, True), ({"visible_if": {"year": ["c0"]}}, False)])
def test_conditions_of_two_kinds_are_a_files(ann: Researcher, visible_if: dict[str, Any], has_fields: bool) -> None:
    """The page has fields for those of which any must hold; of both kinds at once it only offers to leave them out."""
    asked = [asks(name, kind="select_one", choices=names(2), public=True) for name in ("year", "place")]
    tied = {"any_of": {"year": ["c0"], "place": ["c1"]}, **visible_if, "when_absent": "no"}
    page = ann.get(begin(ann, document_of(*asked, asks("cheated", mechanism=COIN, **tied))))
    assert ('<option value="any" selected>' in page) == has_fields
    assert ('value="uncondition:2"' in page) != has_fields


def test_procedure_is_chosen_and_left_on_the_page(ann: Researcher, storage: SQLiteStorage) -> None:
    design = begin(ann, parse_survey(document_of(asks("cheated", public=True), asks("b", mechanism=COIN))).document)
    ann.post(design, version="1", **{"q0.procedure": "crosswise", "q0.harm": "public"}, do="save")
    page = ann.get(design)
    assert 'name="q0.innocuous.label.en"' in page
    draft = newest(storage, "vector")
    assert "q0.procedure" in {each.place.field for each in problems_of(draft, "vector") if each.grave}

    fact = {"label.en": "My mother was born in March.", "share": "1/4", "source.en": "Census"}
    ann.post(
        design,
        version="2",
        **{"q0.procedure": "crosswise"},
        **{f"q0.innocuous.{key}": value for key, value in fact.items()},
        do="save",
    )
    survey = survey_of_draft(newest(storage, "vector"), "vector")
    assert survey.document["questions"][0]["procedure"] == "crosswise"
    assert survey.questions[0].mechanism is not None
    ann.post(design, version="3", **{"q0.procedure": "crosswise", "q0.type": "integer"}, do="save")
    assert not {"procedure", "innocuous"} & newest(storage, "vector").cards[0].asked.keys()


def test_people_are_screened_out_by_a_public_answer(ann: Researcher, storage: SQLiteStorage) -> None:
    design = begin(ann, parse_survey(with_fact()).document)
    page = ann.get(design)
    assert [each.value for each in public_answers(newest(storage, "vector"))] == ["year=c0", "year=c1"]
    assert 'value="cheated=' not in page

    posted = {"when": "year=c1", "text.en": "Not for you.", "link": "https://panel.example/out"}
    ann.post(design, version="1", **{f"after.screen_out.{key}": value for key, value in posted.items()}, do="save")
    found = problems_of(newest(storage, "vector"), "vector")
    assert [each.place.field for each in found if each.grave] == ["after.text"]
    ann.post(design, version="2", **{"after.text.en": "Thank you."}, do="save")
    draft = newest(storage, "vector")
    assert survey_of_draft(draft, "vector").document["after"]["screen_out"] == {
        "text": {"en": "Not for you."},
        "link": "https://panel.example/out",
        "when": {"year": ["c1"]},
    }
    assert screened_out(draft) == "year=c1"
    nothing = dict.fromkeys(posted, "")
    ann.post(design, version="3", **{f"after.screen_out.{key}": value for key, value in nothing.items()}, do="save")
    assert survey_document(newest(storage, "vector"), "vector")["after"] == {"text": {"en": "Thank you."}}


def test_text_without_an_answer_is_an_error_at_the_field(ann: Researcher, storage: SQLiteStorage) -> None:
    """It would be shown to nobody."""
    design = begin(ann, parse_survey(with_fact()).document)
    ann.post(design, version="1", **{"after.screen_out.when": "", "after.screen_out.text.en": "Bye."}, do="save")
    found = problems_of(newest(storage, "vector"), "vector")
    assert "after.screen_out" in {each.place.field for each in found if each.grave}


@pytest.mark.parametrize("when", [{"year": ["c0", "c1"]}, {"year": ["c0"], "age": {"min": "1", "max": "2"}}])
def test_condition_that_only_a_file_can_say_is_kept(
    ann: Researcher, storage: SQLiteStorage, when: dict[str, Any]
) -> None:
    document = with_fact(after={"text": {"en": "Done."}, "screen_out": {"when": when, "text": {"en": "Bye."}}})
    document["questions"].append(asks("age", kind="integer", public=True, min="0", max="99"))
    design = begin(ann, parse_survey(document).document)
    before = newest(storage, "vector")
    assert screened_out(before) == KEPT
    ann.post(design, version="1", **{"after.screen_out.when": KEPT, "after.screen_out.text.en": "Thanks."}, do="save")
    after = newest(storage, "vector").head["after"]["screen_out"]
    assert after == {"when": before.head["after"]["screen_out"]["when"], "text": {"en": "Thanks."}}


def selected(page: str, field: str) -> str:
    options = page.partition(f'name="{field}"')[2].partition("</select>")[0]
    found = re.search(r"<option selected>([^<]*)<", options)
    return found[1] if found else ""


def test_draft_with_arms_opens_shows_and_keeps_them(ann: Researcher, storage: SQLiteStorage) -> None:
    name = "vector"
    page = ann.get(begin(ann, parse_survey(two_arms()).document))

    assert 'value="direct: 1, protected: 1"' in page
    assert [selected(page, f"q{card}.arm") for card in range(3)] == ["", "direct", "protected"]
    ann.post(f"surveys/{name}/design", version="1", **{"title.en": "Exams"}, do="save")
    draft = newest(storage, name)
    assert draft.title == "Exams"
    assert survey_document(draft, name)["arms"] == two_arms()["arms"]
    assert [card.asked.get("arm") for card in draft.cards] == [None, ["direct"], ["protected"]]


def test_arms_are_made_on_the_page(ann: Researcher, storage: SQLiteStorage) -> None:
    ann.post("new", **{"from": "empty", "title": "Life"})
    design = "surveys/life/design"
    ann.post(design, version="1", do="add:boolean")
    ann.post(design, version="2", **{"q0.label.en": "Ever?", "arms": "direct, protected : 2"}, do="save")
    ann.post(design, version="3", **{"q0.arm": "protected"}, do="save")
    assert newest(storage, "life").cards[0].asked["arm"] == ["protected"]
    assert "has no question" in ann.get(design)

    ann.post(design, version="4", **{"q0.arm": ""}, do="save")
    draft = newest(storage, "life")
    assert "arm" not in draft.cards[0].asked
    assert [(arm.name, arm.weight) for arm in survey_of_draft(draft, "life").arms] == [("direct", 1), ("protected", 2)]
    ann.post(design, version="5", **{"arms": ""}, do="save")
    assert survey_of_draft(newest(storage, "life"), "life").arms == ()


@pytest.mark.parametrize("text", ["one, two", "one: 3, two: 1", " one:1 ,two : 2,", ""])
def test_field_of_arms_is_read_as_it_is_written(text: str) -> None:
    draft = draft_of({**two_arms(), "arms": read_arms(text) or []})
    assert read_arms(written_arms(draft)) == read_arms(text)


def test_weight_that_is_none_leads_to_its_field(ann: Researcher) -> None:
    assert read_arms("one: many, two") == [{"name": "one", "weight": "many"}, {"name": "two", "weight": 1}]
    ann.post("new", **{"from": "empty", "title": "Life"})
    ann.post("surveys/life/design", version="1", **{"arms": "one"}, do="add:boolean")
    assert 'href="#arms"' in ann.get("surveys/life/design")


def test_half_is_asked_directly_by_one_choice_and_undone_by_it(ann: Researcher, storage: SQLiteStorage) -> None:
    """The page shows each question once and says so on its card; its fields for arms make room for the choice."""
    ann.post("new", **{"from": "empty", "title": "Life"})
    design = "surveys/life/design"
    ann.post(design, version="1", do="add:boolean")
    assert 'name="arms"' in ann.get(design)
    ann.post(design, version="2", **{"q0.label.en": "Ever?", "arms": "", "direct_half": "1"}, do="save")
    page, draft = ann.get(design), newest(storage, "life")

    assert [(each.name, each.arms) for each in survey_of_draft(draft, "life").items] == [
        ("ever", ("protected",)),
        ("ever_direct", ("direct",)),
    ]
    assert "Half of the people are asked this directly." in page
    assert all("are asked directly: what they admit is sent in clear (questions 2)" in ann.get(f"surveys/life/{where}")
               for where in ("publish", "privacy", "privacy/account.html"))  # fmt: skip
    assert ('name="arms"' in page, 'name="q0.arm"' in page, 'id="q1"' in page) == (False, False, False)
    ann.post(design, version="3", **{"direct_half": ""}, do="save")
    assert survey_of_draft(newest(storage, "life"), "life").arms == ()
    assert "How are sensitive questions asked?" in ann.get(design)
    ann.post(design, version="4", do="version:3")
    assert newest(storage, "life").direct_half
