from dataclasses import replace
from typing import Any

import pytest
from sottovoce.aggregator.authoring.conditions import conditions_of, earlier_questions
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures
from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft, empty_draft
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.sensitivity_levels import NEW, Scale, posted_scale, scale_of, typed_ends
from sottovoce.aggregator.authoring.to_survey import draft_of, survey_document
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.studio.design.page import posted_draft
from sottovoce.shared.errors import SpecError

CHOICES = [{"name": name, "label": {"en": name.title()}} for name in ("never", "once", "often")]
CARDS = (
    {"type": "select_one", "name": "how", "choices": CHOICES},
    {"type": "integer", "name": "age", "min": "18", "max": "65"},
    {"type": "select_multiple", "name": "which", "choices": CHOICES},
    {"type": "boolean", "name": "last"},
)


def draft() -> SurveyDraft:
    cards = tuple(DraftItem({**card, "label": {"en": f"{card['name']}?"}}) for card in CARDS)
    return replace(empty_draft("T", "en"), cards=cards, people=100)


def typed(*forms: dict[str, str]) -> SurveyDraft:
    made = draft()
    for form in forms:
        made = posted_draft({f"q3.{key}": value for key, value in form.items()}, made)
    return made


def shown(made: SurveyDraft) -> dict[str, object]:
    last = survey_document(made, "t")["questions"][3]
    return {key: last[key] for key in ("visible_if", "any_of") if key in last}


def keys(made: SurveyDraft) -> set[str]:
    return {each.key for each in problems_of(made, "t") if each.grave and each.key.startswith("condition")}


def test_chosen_question_begins_with_a_valid_condition() -> None:
    """Before what to choose in it is on the page."""
    assert shown(typed({"if0": "how"})) == {"visible_if": {"how": ["once", "often"]}}
    assert shown(typed({"if0": "age"})) == {"visible_if": {"age": {"min": "18"}}}
    assert keys(typed({"if0": "how"}, {"if0": "age"})) == set()


def test_all_or_any_must_hold() -> None:
    rows = {"if0": "how", "shown0": "how", "of0.how.once": "1", "of0.how.often": "1", "if1": "age", "shown1": "age",
            "min1.age": "20", "max1.age": "30", "if2": "how", "if3": ""}  # fmt: skip
    wanted = {"how": ["once", "often"], "age": {"min": "20", "max": "30"}}
    assert shown(typed(rows)) == {"visible_if": wanted}
    assert shown(typed({**rows, "mode": "any"})) == {"any_of": wanted}
    assert shown(typed(rows, {"if0": ""})) == {}


def test_none_of_them_follows_the_options() -> None:
    made = typed({"if0": "how", "shown0": "how", "not0": "1", "of0.how.never": "1"})
    ((row,), _) = conditions_of(made.cards[3])
    assert (row.options, row.negated) == (("never",), True)
    assert shown(made) == {"visible_if": {"how": ["once", "often"]}}
    more = posted_draft({"q0.options.en": "Never\nOnce\nOften\nDaily"}, made)
    assert shown(more) == {"visible_if": {"how": ["once", "often", "daily"]}}


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ({}, "condition_empty"),
        (
            {"if0": "how", "shown0": "how", "not0": "1"} | {f"of0.how.{c['name']}": "1" for c in CHOICES},
            "condition_empty",
        ),
        ({"if0": "gone"}, ""),
    ],
)
def test_condition_without_an_answer_is_told(rows: dict[str, str], problem: str) -> None:
    """A question that nobody or everybody would see is a slip of the pen."""
    assert keys(typed({"if0": "how", "shown0": "how", **rows})) == ({problem} if problem else set())


def test_condition_on_a_question_that_changed_its_type_is_told() -> None:
    """Options of what is a number now."""
    made = posted_draft({"q0.type": "integer", "q0.min": "0", "q0.max": "9"}, typed({"if0": "how"}))
    assert keys(made) == {"condition_option"}


def test_grid_is_made_in_the_form() -> None:
    made = change(draft(), "add:matrix")
    made = posted_draft({"q4.label.en": "Grid"}, made)
    assert {"no_rows", "few_options"} & {each.key for each in problems_of(made, "t")}
    made = posted_draft({"q4.rows.en": "At work\nAt home", "q4.options.en": "Yes\nNo"}, made)
    made = posted_draft({"q4.rows.en": "At the office\nAt home"}, made)
    grid = survey_document(made, "t")["questions"][4]
    assert [(row["name"], row["label"]["en"]) for row in grid["rows"]] == [
        ("office", "At the office"),
        ("home", "At home"),
    ]
    assert [choice["name"] for choice in grid["of"]["choices"]] == ["yes", "no"]
    assert [each.key for each in problems_of(made, "t") if each.grave] == []


def test_names_of_options_follow_their_texts_until_something_names_them() -> None:
    """A name that was not made of the text stays, and so do all names of a correction."""
    wrong = "Nevr\nOnce\nOften"
    edit = {f"q{number}.options.en": wrong for number in (0, 2)}

    def options(made: SurveyDraft) -> list[list[str]]:
        return [[choice["name"] for choice in made.cards[number].asked["choices"]] for number in (0, 2)]

    first = draft()
    assert options(posted_draft(edit, first)) == [["nevr", "once", "often"]] * 2
    again = posted_draft({field: "Never\nOnce\nOften" for field in edit}, posted_draft(edit, first))
    assert options(again) == options(first)
    depends = typed({"if0": "how", "of0.how.never": "1"})
    assert options(posted_draft(edit, depends)) == [["never", "once", "often"], ["nevr", "once", "often"]]
    correction = replace(first, head={**first.head, "revision": 2})
    assert options(posted_draft(edit, correction)) == options(first)
    numbered = [{"name": f"code{place}", "label": choice["label"]} for place, choice in enumerate(CHOICES)]
    own = replace(first.cards[0], asked={**first.cards[0].asked, "choices": numbered})
    coded = replace(first, cards=(own, *first.cards[1:]))
    assert options(posted_draft(edit, coded))[0] == ["code0", "code1", "code2"]


@pytest.mark.parametrize(
    ("labels", "ticked"),
    [
        (("Never", "Once", "Often"), ["o1", "o2"]),
        (("Oft", "Selten", "Nie"), ["o0", "o1"]),
        (("Red", "Green"), ["o0"]),
        (("No", "Never"), ["o0"]),
    ],
)
def test_condition_begins_with_the_answers_after_which_more_is_asked(
    labels: tuple[str, ...], ticked: list[str]
) -> None:
    """Not with a denial; and with the answers that the condition of a question between them already names."""
    choices = [{"name": f"o{place}", "label": {"en": label}} for place, label in enumerate(labels)]
    asked = DraftItem({"type": "select_one", "name": "ways", "label": {}, "choices": choices}, "public")
    followed = DraftItem({"type": "boolean", "name": "a", "label": {}, "visible_if": {"ways": ["o1"]}})
    cards = (asked, DraftItem({"type": "boolean", "name": "b", "label": {}}), DraftItem({"type": "note", "label": {}}))

    assert earlier_questions(SurveyDraft({}, cards), 2)[0].first == ticked
    assert earlier_questions(SurveyDraft({}, (asked, followed, *cards[1:])), 3)[0].first == ["o1"]


def grid() -> SurveyDraft:
    """A grid of two rows whose names and whose own name follow their texts, and a question that may depend on one."""
    asked: dict[str, Any] = {"type": "select_one", "choices": CHOICES}
    rows = [{"name": name, "label": {"en": name.title()}} for name in ("beer", "wine")]
    cards = (
        DraftItem({"type": "matrix", "name": "q1", "label": {"en": "Drinks?"}, "rows": rows, "of": asked}),
        DraftItem({"type": "boolean", "name": "q2", "label": {"en": "Alone?"}}),
    )
    return replace(empty_draft("T", "en"), cards=cards, people=100)


def test_condition_may_name_a_row_of_a_grid() -> None:
    assert [each.label["en"] for each in earlier_questions(grid(), 1)] == ["Beer", "Wine"]
    row = {"q1.if0": "q1_wine", "q1.shown0": "q1_wine", "q1.not0": "1", "q1.of0.q1_wine.never": "1"}
    made = posted_draft(row, grid())
    said = survey_document(made, "t")["questions"]
    edited = posted_draft({"q0.rows.en": "Beer\nRed wine"}, made).cards[0].asked["rows"]

    assert (said[1]["name"], said[1]["visible_if"]) == ("alone", {"drinks_wine": ["once", "often"]})
    assert keys(made) == set()
    assert [each["name"] for each in edited] == ["beer", "wine"]
    assert keys(change(made, "delete:0")) == {"condition_gone"}
    assert keys(change(made, "down:0")) == {"condition_later"}


@pytest.mark.parametrize(("order", "names"), [(0, ["drinks", "drinks_wine_2"]), (1, ["drinks_wine", "drinks_2"])])
def test_no_question_is_named_as_a_row_of_a_grid_is(order: int, names: list[str]) -> None:
    """Both names follow the texts; whichever comes second makes way."""
    asked = posted_draft({"q1.label.en": "Drinks wine?"}, grid())
    made = change(asked, "down:0") if order else asked

    assert [each["name"] for each in survey_document(made, "t")["questions"]] == names
    assert [each for each in problems_of(made, "t") if each.grave] == []


def test_condition_on_a_row_is_copied_with_its_grid() -> None:
    """Half of the people are asked grid and question directly."""
    made = posted_draft({"q1.if0": "q1_wine", "direct_half": "1"}, grid())
    said = {each["name"]: each.get("visible_if") for each in survey_document(made, "t")["questions"]}
    wanted = ["once", "often"]

    assert said == {"drinks": None, "drinks_direct": None, "alone": {"drinks_wine": wanted},
                    "alone_direct": {"drinks_direct_wine": wanted}}  # fmt: skip
    assert draft_of(survey_document(made, "t")).direct_half


TAGS = ("en", "de")
MOOD = Scale(1, 5, {"en": "bad", "de": "schlecht"}, {"en": "good", "de": ""})


def test_scale_is_its_options_and_they_are_the_scale() -> None:
    """Named as their numbers, so that SPSS and Stata have these codes; only the ends have words."""
    found = MOOD.choices(TAGS)
    assert [each["name"] for each in found] == ["1", "2", "3", "4", "5"]
    assert found[0]["label"] == {"en": "1 = bad", "de": "1 = schlecht"}
    assert (found[2]["label"], found[4]["label"]) == ({"en": "3", "de": "3"}, {"en": "5 = good", "de": "5"})
    assert scale_of(found, TAGS) == MOOD
    assert scale_of([{**each, "name": f"o{each['name']}"} for each in found], TAGS) is None
    assert scale_of(found[:1], TAGS) is None
    assert scale_of([*found[:2], *found[3:]], TAGS) is None


@pytest.mark.parametrize(
    "ends", [("", "5"), ("5", "5"), ("5", "1"), ("0", "21"), ("a", "5"), ("-1", "5"), ("0", "9999")]
)
def test_half_typed_ends_leave_the_former_ones_and_keep_the_labels(ends: tuple[str, str]) -> None:
    form = {"q0.first": ends[0], "q0.last": ends[1], "q0.low.en": "awful", "q0.high.de": "gut"}
    kept = Scale(1, 5, {"en": "awful", "de": ""}, {"en": "", "de": "gut"}, ends)
    assert posted_scale(form, "q0", TAGS, MOOD) == kept
    assert posted_scale(form, "q0", TAGS, None) is None
    assert posted_scale({}, "q0", TAGS, MOOD) is None


def test_scale_is_added_and_typed_on_the_page() -> None:
    draft = change(empty_draft("Life", "en"), "add:scale")
    assert scale_of(draft.cards[0].treated["choices"], ("en",)) == Scale(0, 10, {"en": ""}, {"en": ""})
    # Models take a rating as a number, and Results have its mean.
    assert draft.cards[0].type == "rating"
    form = {"q0.label.en": "How well?", "q0.first": "1", "q0.last": "4", "q0.low.en": "badly", "q0.high.en": "well"}
    typed = posted_draft(form, draft)
    labels = [each["label"]["en"] for each in typed.cards[0].treated["choices"]]
    assert labels == ["1 = badly", "2", "3", "4 = well"]
    assert survey_of_draft(typed, "life").questions[0].options[:4] == ("1", "2", "3", "4")
    off = change(typed, "scale:0:off")
    assert [each["name"] for each in off.cards[0].treated["choices"]] == ["o1", "o2", "o3", "o4"]
    assert [each["label"]["en"] for each in off.cards[0].treated["choices"]] == labels
    assert change(off, "scale:0").cards[0].treated["choices"] == NEW.choices(("en",))
    assert change(change(empty_draft("Life", "en"), "add:select_one"), "scale:0").cards[0].type == "rating"


@pytest.mark.parametrize("ends", [("4", "1"), ("", "4"), ("0", "21"), ("1.5", "4"), ("a", "b")])
def test_impossible_ends_are_told_of_and_shown_again(ends: tuple[str, str]) -> None:
    """Until they are mended nothing is published; the former scale holds meanwhile, and each button keeps it."""
    draft = change(empty_draft("Life", "en"), "add:scale")
    form = {"q0.label.en": "How well?", "q0.first": "1", "q0.last": "4", "q0.low.en": "badly", "q0.high.en": "well"}
    typed = posted_draft({**form, "q0.first": ends[0], "q0.last": ends[1]}, posted_draft(form, draft))
    problem = next(each for each in problems_of(typed, "life") if each.grave and each.place.card == 0)

    assert (problem.key, problem.place.field, problem.values) == ("bad_scale", "q0.first", {"most": 21})
    assert typed.cards[0].treated["ends"].split("\n") == [*ends]
    assert scale_of(typed.cards[0].treated["choices"], ("en",)) == Scale(1, 4, {"en": "badly"}, {"en": "well"})
    with pytest.raises(SpecError):
        survey_of_draft(typed, "life")
    for mended in (posted_draft(form, typed), change(typed, "scale:0:off"), change(typed, "scale:0")):
        assert not any(each.key == "bad_scale" for each in problems_of(mended, "life"))
    assert posted_draft({**form, "q0.type": "boolean"}, typed).cards[0].treated.get("ends") is None


def test_saving_adds_nothing_to_a_scale_whose_ends_are_right() -> None:
    """Also in a matrix: else a save without a change would be a new version, and a correction would name it."""
    assert [*map(typed_ends, ({"ends": 5}, {"ends": ["1", "5"]}, {"ends": "5"}, {"ends": "5\n1"}))][:3] == [()] * 3
    scale = {"type": "rating", "choices": NEW.choices(("en",))}
    rows = [{"name": name, "label": {"en": name}} for name in "ab"]
    for asked in (scale, {"type": "matrix", "rows": rows, "of": scale}):
        begun = replace(empty_draft("Life", "en"), cards=(DraftItem({"name": "q", "label": {"en": "How?"}, **asked}),))
        saved = posted_draft({"q0.type": "rating", "q0.first": "0", "q0.last": "10"}, begun)
        wrong = posted_draft({"q0.type": "rating", "q0.first": "10", "q0.last": "0"}, begun)
        assert {**saved.cards[0].treated} == {**begun.cards[0].treated}
        assert {*wrong.cards[0].treated} - {*saved.cards[0].treated} == {"ends"}
        assert DraftFigures(wrong).totals == DraftFigures(saved).totals
        assert "ends" not in change(wrong, "scale:0").cards[0].treated
