"""One choice asks a random half directly, by arms, copies and planned comparisons; another shows columns in files."""

from dataclasses import replace
from typing import Any

import pytest
from sottovoce.aggregator.authoring.cost_and_precision import DraftFigures
from sottovoce.aggregator.authoring.diff import differences
from sottovoce.aggregator.authoring.draft import DraftItem, SurveyDraft
from sottovoce.aggregator.authoring.draft_blocks import protect_together
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.to_survey import (
    draft_of,
    file_columns,
    numbered_copies,
    set_direct_half,
    with_file_columns,
)
from sottovoce.aggregator.authoring.validation import place_of, problems_of, survey_of_draft
from sottovoce.shared.parse_item import planned_comparisons
from sottovoce.shared.spec import Survey

from tests.documents import names


def item(name: str, kind: str = "select_one", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "label": {"en": name}, "public": True, **more}


SEX = item("sex", choices=names(3))
YEAR = item("year", choices=names(6))
AGE = item("age", "integer", min=18, max=90)
CITY = item("city", choices=names(12))
SECRET = {"type": "boolean", "name": "cheated", "label": {"en": "c"}, "mechanism": {"name": "coin_flip"}}


def test_questions_are_taken_in_order_while_at_most_five_percent_are_alone() -> None:
    """Of 640 people, 18 combinations fit, 18 times 73 ages or 12 cities do not, and 11 bands of these would."""
    sex, year, age, city = file_columns({"questions": [SEX, SECRET, YEAR, AGE, CITY]}, 640, chooses=True)

    assert [(each.name, each.values, each.shown) for each in (sex, year, age, city)] == [
        ("sex", 3, True), ("year", 6, True), ("age", 73, False), ("city", 12, False)]  # fmt: skip
    assert year.alone == pytest.approx((17 / 18) ** 639)
    assert age.alone == pytest.approx((1 - 1 / (18 * 73)) ** 639)
    fitting, more = (
        next(file_columns({"questions": [item("all", choices=names(size))]}, 640, chooses=True)) for size in (213, 214)
    )
    assert fitting.alone <= 0.05 < more.alone
    assert (age.groups, city.groups, year.groups) == (213 // 18, 213 // 18, 0)


def test_questions_of_arms_divide_the_people_of_these_alone() -> None:
    """Of two arms with 12 answers each 24 combinations, not 288; bands are counted within the arm that is asked."""
    arms = [{"name": "x"}, {"name": "y"}]
    asked = [{**CITY, "arm": "x"}, {**CITY, "name": "town", "arm": ["y"]}, {**YEAR, "arm": "x"}, {**AGE, "arm": "x"}]
    found = [*file_columns({"questions": asked, "arms": arms}, 640, chooses=True)]

    combinations = [12 + 1, 12 + 12, 12 * 6 + 12, 12 * 6 * 73 + 12]
    assert [each.alone for each in found] == pytest.approx([(1 - 1 / each) ** 639 for each in combinations])
    assert [each.shown for each in found] == [True, True, True, False]
    assert [each.groups for each in found] == [0, 0, 0, (213 - 12) // (12 * 6)]


def test_questions_that_decide_who_is_asked_come_first() -> None:
    """Those that conditions of sensitive questions read, also of a matrix; not those of public ones or notes."""
    later = [
        {**SECRET, "visible_if": {"city": ["c0"]}},
        {"type": "matrix", "name": "m", "rows": names(2), "of": {"type": "boolean"}, "any_of": {"age": [18]}},
        {
            "type": "matrix",
            "name": "n",
            "of": {"type": "boolean", "public": True},
            "rows": [],
            "visible_if": {"year": ["c0"]},
        },
        {"type": "note", "name": "t", "label": {"en": "t"}, "visible_if": {"sex": ["c0"]}},
    ]
    found = [*file_columns({"questions": [SEX, YEAR, AGE, CITY, *later]}, 640, chooses=True)]

    assert [(each.name, each.decides, each.shown) for each in found] == [
        ("age", True, True), ("city", True, False), ("sex", False, False), ("year", False, False)]  # fmt: skip


def test_public_matrix_has_its_price_and_no_column() -> None:
    """Its rows are in no file: each combination of theirs counts, none of those after it, and no coarser form helps."""
    grid = {"type": "matrix", "name": "grid", "label": {"en": "g"}, "rows": names(3),
            "of": {"type": "select_one", "choices": names(7), "public": True}}  # fmt: skip
    gated = {**SECRET, "visible_if": {"grid_c1": ["c0"]}}
    found = [*file_columns({"questions": [SEX, grid, gated]}, 640, chooses=True)]

    assert [(each.name, each.values, each.shown, each.decides, each.groups) for each in found] == [
        ("grid", 343, False, True, 0), ("sex", 3, True, False, 0)]  # fmt: skip
    assert [each.alone for each in found] == pytest.approx([(342 / 343) ** 639, (2 / 3) ** 639])
    assert [each.decides for each in file_columns({"questions": [SEX, grid]}, 640, chooses=True)] == [False, False]
    assert with_file_columns({"questions": [grid, gated]}, 640) == {"questions": [grid, gated]}


def test_what_a_card_says_counts_before_the_rule() -> None:
    """A question that is added is one, also for those after it; one that is left out costs nothing."""
    columns = file_columns(
        {"questions": [{**SEX, "in_files": False}, {**AGE, "in_files": True}, YEAR]}, 640, chooses=True
    )
    assert [(each.name, each.shown) for each in columns] == [("sex", False), ("age", True), ("year", False)]
    assert not any(each.shown for each in file_columns({"questions": [SEX, YEAR]}, 640, chooses=False))
    assert next(file_columns({"questions": [{**SEX, "cohort": True}]}, 640, chooses=False)).shown


def test_document_says_yes_explicitly_and_nothing_else() -> None:
    """Each question that files have says ``in_files: true``, others and the cohort do not; conditions play no part."""
    later = {**YEAR, "visible_if": {"sex": ["c0"]}}
    found = with_file_columns({"questions": [{**SEX, "cohort": True}, SECRET, later, {**AGE, "in_files": False}]}, 640)
    assert [each.get("in_files") for each in found["questions"]] == [None, None, True, None]
    unfinished = with_file_columns({"questions": [item("y", choices=[])]}, None)
    assert unfinished == {"questions": [item("y", choices=[])]}


def drafted(*cards: DraftItem, **more: object) -> SurveyDraft:
    head = {"title": {"en": "Exams"}, "default_language": "en", "revision": 1, **more}
    return set_direct_half(SurveyDraft(head, cards, people=1000), wanted=True)


def card(name: str, harm: str = "clearly", kind: str = "boolean", **more: object) -> DraftItem:
    return DraftItem({"type": kind, "name": name, "label": {"en": f"{name}?"}, **more}, harm)


CHOICES = [{"name": name, "label": {"en": name}} for name in ("low", "middle", "high")]
WHOLE = (
    card("year", "public", "select_one", choices=CHOICES),
    card("copied"),
    card("caught", visible_if={"copied": "yes"}),
    card("story", "public", "note", visible_if={"copied": "yes"}),
    card("ways", kind="select_multiple", choices=CHOICES),
    card("means", kind="select_multiple", choices=CHOICES, visible_if={"copied": "yes"}),
    card("blade", visible_if={"means": "low"}),
    card("mood", kind="matrix", rows=CHOICES[:2], of={"type": "select_one", "choices": CHOICES}),
    card("moon", "clearly", anchor=True, known_share="0"),
)


def made(draft: SurveyDraft) -> Survey:
    return survey_of_draft(draft, "exams")


def test_each_sensitive_question_is_asked_once_in_either_half() -> None:
    found = {item.name: item for item in made(drafted(*WHOLE)).items}

    assert {name: item.arms for name, item in found.items()} == {
        **dict.fromkeys(("year", "ways", "moon"), ()),
        **dict.fromkeys(("copied", "caught", "story", "means", "blade", "mood"), ("protected",)),
        **{f"{name}_direct": ("direct",) for name in ("copied", "caught", "story", "mood")},
    }
    assert [condition.question for condition in found["caught_direct"].visible_if] == ["copied_direct"]
    assert [condition.question for condition in found["story_direct"].visible_if] == ["copied_direct"]
    pairs = [(found[name], found[f"{name}_direct"]) for name in ("copied", "caught", "mood")]
    for protected, direct in pairs:
        assert (direct.label, direct.rows) == (protected.label, protected.rows)
        assert all(question.mechanism is None for question in direct.questions)
        assert all(question.mechanism is not None for question in protected.questions)


def test_every_pair_is_compared_as_planned() -> None:
    found = [(each.question, each.against) for each in planned_comparisons(made(drafted(*WHOLE)))]

    assert found == [
        ("copied", "copied_direct"),
        ("caught", "caught_direct"),
        *((f"mood_{row}", f"mood_direct_{row}") for row in ("low", "middle")),
    ]


def test_figures_count_half_of_the_people() -> None:
    """A sensitive question needs twice as many; the cost to a person is that of the protected half."""
    everybody = set_direct_half(drafted(*WHOLE), wanted=False)
    halves, whole = DraftFigures(drafted(*WHOLE)), DraftFigures(everybody)

    needed = zip(WHOLE, halves.of_items, whole.of_items, strict=True)
    times = {each.name: one.needed / two.needed for each, one, two in needed if one and two and one.question.epsilon}
    assert times == {**dict.fromkeys(("copied", "caught", "means", "blade", "mood"), 2), "ways": 1, "moon": 1}
    assert halves.totals.epsilon == pytest.approx(made(drafted(*WHOLE)).epsilon)


def test_question_of_a_file_without_a_type_is_a_usual_one() -> None:
    """It asks for yes or no: nobody may decline who may not in the file, and half of the people are asked directly."""
    untyped = {key: SECRET[key] for key in SECRET if key != "type"}
    plain, typed = (draft_of({"title": {"en": "T"}, "questions": [asked]}) for asked in (untyped, SECRET))
    halves = survey_of_draft(set_direct_half(plain, True), "t")

    assert plain == typed
    assert plain.declining == "never"
    assert survey_of_draft(plain, "t").questions[0].absent is None
    assert [asked.name for asked in halves.questions] == ["cheated", "cheated_direct", "arm"]


def test_choice_is_taken_back_without_a_trace() -> None:
    before = SurveyDraft(drafted().head, WHOLE, people=1000)
    halves = set_direct_half(before, wanted=True)

    assert [each[:2] for each in differences(halves, before)] == [(None, "direct_half")]
    assert made(set_direct_half(halves, wanted=False)).document == made(before).document


def test_arms_of_ones_own_are_left_alone() -> None:
    own = SurveyDraft({"title": {"en": "Exams"}, "arms": [{"name": "a", "weight": 2}, {"name": "b", "weight": 1}]})
    assert set_direct_half(own, wanted=True) == own


@pytest.mark.parametrize("word", ["add:boolean", "copy:1", "step:0:badly", "down:1", "delete:1"])
def test_copies_follow_every_change(word: str) -> None:
    changed = change(drafted(card("year", "public"), card("copied"), card("moved"), card("story")), word)
    sensitive = [each.name for each in changed.cards if each.harm != "public" and "anchor" not in each.asked]
    copied = [each.name for number, each in numbered_copies(changed) if each is not changed.cards[number]]

    assert [each.removesuffix("_direct") for each in copied] == sensitive
    assert [each.name for each in changed.cards if each.asked.get("arm") == ["protected"]] == sensitive


def test_block_is_asked_in_the_protected_half_as_a_whole() -> None:
    """Its copies follow it, and an error in the survey leads to the card that it is about."""
    draft = protect_together(drafted(card("a"), card("b"), card("c")), [0, 1])
    found = made(draft)

    assert [item.name for item in found.items] == ["a", "b", "a_direct", "b_direct", "c", "c_direct"]
    assert {item.arms for item in found.items if item.block} == {("protected",)}
    pointers = ("/questions/0/items/1/label", "/questions/1/label", "/questions/2/label", "/questions/4/label")
    assert [place_of(draft, pointer).card for pointer in pointers] == [1, 0, 1, 2]


def test_correction_shows_the_choice_again() -> None:
    """The published survey has the copies; its draft has each question once, and makes the same survey."""
    blocked = protect_together(drafted(card("a", in_files=True), card("b"), card("c")), [0, 1])
    for draft in (drafted(*WHOLE), replace(drafted(*WHOLE), chooses_columns=True), blocked):
        again = draft_of(made(draft).document)
        assert again.direct_half
        assert [each.name for each in again.cards] == [each.name for each in draft.cards]
        assert made(again).digest == made(draft).digest
        assert SurveyDraft.read(again.dumped) == again


def test_correction_keeps_the_plan_that_was_published() -> None:
    """It may not change, so a question that the correction adds is asked in both ways and is not in it."""
    published = made(drafted(*WHOLE, order="random", keep_last=["copied", "moon"]))
    again = change(draft_of(published.document, 2), "copy:1")

    assert again.direct_half
    assert made(again).document["analysis_plan"] == published.document["analysis_plan"]
    assert "copied_2_direct" in {item.name for item in made(again).items}


def test_file_with_other_arms_is_no_such_choice() -> None:
    """A copy with another text stays a question of its own."""
    published = made(drafted(*WHOLE)).document
    questions = [dict(each) for each in published["questions"]]
    direct = next(each for each in questions if each["name"] == "copied_direct")
    direct["label"] = {"en": "Another text?"}
    assert not draft_of({**published, "questions": questions}).direct_half


def test_direct_answers_are_in_files_as_other_public_ones_are() -> None:
    """By how many people would be alone in their arm, or as the card says; never just since they are copies."""
    age = card("age", "public", "integer", min=1, max=99)

    def in_files(*cards: DraftItem, chooses: bool = True) -> list[str]:
        found = made(replace(drafted(*cards), chooses_columns=chooses)).questions
        return [each.name for each in found if "in_files" in each.marks]

    assert in_files(age, card("copied")) == ["age", "arm"]
    assert in_files(card("copied"), age) == ["copied_direct", "arm"]
    assert in_files(age, card("copied", in_files=True)) == ["age", "copied_direct", "arm"]
    assert in_files(card("copied", in_files=False), age) == ["age", "arm"]
    assert in_files(age, card("copied"), chooses=False) == ["arm"]
    # The ages would fit for 400 people, but not for those in one of two arms.
    few = replace(drafted(age, card("copied")), people=400, chooses_columns=True)
    assert [each.name for each in made(few).questions if "in_files" in each.marks] == ["copied_direct", "arm"]


def test_names_stay_short_and_free() -> None:
    """A name of 24 letters gets a copy of 24, and two that begin alike get two."""
    alike = [card(f"have_you_ever_cheated_{end}") for end in "ab"]
    found = [item.name for item in made(drafted(*alike)).items if item.arms == ("direct",)]
    assert found == ["have_you_ever_che_direct", "have_you_ever_che_dire_2"]


def test_only_what_goes_with_arms_is_offered() -> None:
    assert made(drafted(WHOLE[0])).arms == ()
    coin = replace(drafted(*WHOLE), head={**drafted(*WHOLE).head, "privacy": {"procedure": "own_coin"}})
    assert "halves" in {problem.place.field for problem in problems_of(coin, "exams")}
