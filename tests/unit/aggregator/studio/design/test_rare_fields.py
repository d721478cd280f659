"""A fact that hides an answer, and people whom a survey is not for, on the page Design without a script."""

import io
from typing import Any

import pytest
from sottovoce.aggregator.authoring.to_survey import survey_document
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.page import KEPT, public_answers, screened_out
from sottovoce.shared import canonical
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import names, survey as document_of
from tests.unit.aggregator.studio.design.test_page import Researcher, newest
from tests.vectors.arms import COIN, asks

FACT = {"label": {"en": "My mother was born in March."}, "share": "1/4", "source": {"en": "Census"}, "fact": "month"}
HIDDEN = asks("copied", kind="boolean", procedure="crosswise", innocuous=FACT)


def study(**more: Any) -> dict[str, Any]:
    """A public question, one that a coin protects and one that a fact hides."""
    return document_of(
        asks("year", kind="select_one", choices=names(2), public=True), asks("cheated", mechanism=COIN), HIDDEN, **more
    )


def begin(ann: Researcher, document: dict[str, Any]) -> str:
    """The address of the page Design of a draft from a file."""
    file = io.BytesIO(canonical.dump(document))
    ann.post("new", **{"from": "file", "file": (file, "exam.json")})
    return "surveys/vector/design"


def test_procedure_of_a_file_is_shown_and_kept(ann: Researcher, storage: SQLiteStorage) -> None:
    """Also after a save of something else; each of its fields can be changed."""
    document = parse_survey(study()).document
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
    """With its number among those that could divide the respondents, and with the problem at its field."""
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
    """The fields appear with the next page; an unfinished one is an error at its field; another type has none."""
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
    """The field offers public answers alone; without an answer, text and link, nothing is written."""
    design = begin(ann, parse_survey(study()).document)
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
    design = begin(ann, parse_survey(study()).document)
    ann.post(design, version="1", **{"after.screen_out.when": "", "after.screen_out.text.en": "Bye."}, do="save")
    found = problems_of(newest(storage, "vector"), "vector")
    assert "after.screen_out" in {each.place.field for each in found if each.grave}


@pytest.mark.parametrize("when", [{"year": ["c0", "c1"]}, {"year": ["c0"], "age": {"min": "1", "max": "2"}}])
def test_condition_that_only_a_file_can_say_is_kept(
    ann: Researcher, storage: SQLiteStorage, when: dict[str, Any]
) -> None:
    """Until another is chosen."""
    document = study(after={"text": {"en": "Done."}, "screen_out": {"when": when, "text": {"en": "Bye."}}})
    document["questions"].append(asks("age", kind="integer", public=True, min="0", max="99"))
    design = begin(ann, parse_survey(document).document)
    before = newest(storage, "vector")
    assert screened_out(before) == KEPT
    ann.post(design, version="1", **{"after.screen_out.when": KEPT, "after.screen_out.text.en": "Thanks."}, do="save")
    after = newest(storage, "vector").head["after"]["screen_out"]
    assert after == {"when": before.head["after"]["screen_out"]["when"], "text": {"en": "Thanks."}}
