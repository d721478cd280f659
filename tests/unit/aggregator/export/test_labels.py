"""What the numbers in a file mean."""

from sottovoce.aggregator.export.labels import coding, option_labels, value_labels
from sottovoce.shared.spec import Question

from tests.surveys import every_type, survey

ASKED = {question.name: question for question in survey(questions=every_type()).questions}


def only(**changes: object) -> Question:
    """The question of a survey that asks but one."""
    asked = {"type": "boolean", "name": "q", "label": {"en": "Q?"}, "mechanism": {"name": "coin_flip"}} | changes
    return survey(questions=[{key: value for key, value in asked.items() if value is not None}]).questions[0]


def test_labels_of_values_are_in_the_language_asked_for() -> None:
    """Else in another one that there is."""
    choices = [{"name": "a", "label": {"en": "One", "de": "Eins"}}, {"name": "b", "label": {"en": "Two"}}]
    question = only(type="select_one", choices=choices, mechanism={"name": "kary_rr", "odds": "3"})

    assert value_labels(question, "de") == {0: "Eins", 1: "Two"}


def test_no_answer_is_a_value_of_its_own() -> None:
    """After the others."""
    question = only(mechanism={"name": "kary_rr", "odds": "3"}, absent_category=True)
    assert option_labels(question, "en") == ["No", "Yes", "No answer"]


def test_neutral_reports_are_called_a_and_b() -> None:
    """As on the receipts: a bare yes is no admission."""
    assert value_labels(survey(report_labels="neutral").questions[0], "en") == {0: "Report B", 1: "Report A"}


def test_every_kind_of_report_has_its_sentence() -> None:
    """It says that a value is a report and not the answer, but where it is the answer."""
    for question in ASKED.values():
        private = coding(question).startswith("A randomized report and not the answer. ")
        assert private == (question.mechanism is not None)
        assert len(coding(question).split(". ")) >= 1 + private


def test_masks_and_long_scales_have_no_labels() -> None:
    """A sentence says how they are read."""
    assert value_labels(ASKED["why"], "en") == {}
    assert value_labels(ASKED["town"], "en") == {}
    assert value_labels(only(type="integer", min=0, max=5000, mechanism=None, public=True), "en") == {}
