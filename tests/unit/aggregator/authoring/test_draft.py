import keyword
import math
import re
from dataclasses import replace
from fractions import Fraction
from itertools import groupby, permutations
from pathlib import Path
from typing import Any

import pytest
from sottovoce.aggregator.authoring.cost_and_precision import (
    DraftFigures,
    Totals,
    figures_of,
    panel_of,
    question_of,
    steps_of,
)
from sottovoce.aggregator.authoring.draft import (
    LONGEST_QUESTION,
    DraftItem,
    DraftSample,
    SurveyDraft,
    arms_of,
    empty_draft,
    is_given,
    question_name,
)
from sottovoce.aggregator.authoring.draft_blocks import (
    compared_selection,
    joinable_cards,
    protect_together,
    refitted,
    suggested,
)
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.templates import all_templates
from sottovoce.aggregator.authoring.to_survey import draft_of, survey_document, with_slugs
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.export.statistics_files import allowed_names
from sottovoce.aggregator.planning.block_choice import cell_half_width, pair_share
from sottovoce.shared import canonical
from sottovoce.shared.arms.arms import share_asked
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.parse_survey import parse_survey

from tests.blocks import block, blocks, in_block
from tests.documents import Document, question, survey
from tests.random_surveys import random_survey
from tests.surveys import document, every_type, months
from tests.vectors.arms import drawn_arms, three_arms, two_arms

TEXTS = {
    "en": (
        "During the last twelve months, have you ever copied from another student in an exam?",
        "copied_another_student",
    ),
    "de": ("Haben Sie in den letzten zwölf Monaten in einer Prüfung abgeschrieben?", "prufung_abgeschrieben"),
    "es": ("¿Ha copiado alguna vez en un examen durante los últimos doce meses?", "copiado_examen"),
    "fr": ("Avez-vous déjà triché lors d'un examen ces douze derniers mois ?", "triche_examen"),
    "pt-BR": ("Alguma vez copiou num exame durante os últimos doze meses?", "copiou_exame"),
    "ar": ("هل سبق لك أن غششت في امتحان؟", "q1"),
    "hi": ("क्या आपने कभी परीक्षा में नकल की है?", "q1"),
    "zh-Hans": ("您在考试中作过弊吗？", "q1"),
}

COIN = {"mechanism": {"name": "coin_flip"}}

ARMS = [{"name": "short", "weight": 1}, {"name": "long", "weight": 3}]

PAGE = Path(__file__).parents[4] / "docs" / "how_to" / "plan_and_test.md"


def rows() -> list[str]:
    found = []
    for template in all_templates():
        draft = draft_of(template.document)
        made = compared_selection(draft, joinable_cards(draft))
        if made is not None:
            found.append(
                f"| {template.name} | {made.questions} | {made.people_apart:,}, {made.epsilon_apart:.2f}, "
                f"{made.odds_apart:.1f}:1 | {made.people:,}, {made.epsilon:.2f}, {made.odds:.1f}:1 "
                f"({made.odds_alone:.1f}:1) |"
            )
    return found


@pytest.mark.parametrize("language", TEXTS)
def test_name_has_the_telling_words(language: str) -> None:
    text, name = TEXTS[language]
    assert question_name(text, "q1", language) == name


@pytest.mark.parametrize("text", ["If?", "Have you been there?", "3 times a day", "x" * 400, "While", "str5", "Wave"])
def test_name_is_valid_in_every_program(text: str) -> None:
    name = question_name(text, "q1", "en")
    assert len(name) <= LONGEST_QUESTION
    assert allowed_names([name], 29) == [name]
    assert name.isidentifier()
    assert not keyword.iskeyword(name)


def test_equal_texts_get_different_short_names() -> None:
    cards = tuple(DraftItem({"type": "boolean", "name": f"q{n}", "label": {"en": "y" * 60}}) for n in range(12))
    names = [card.name for card in with_slugs(SurveyDraft({}, cards)).cards]
    assert len(set(names)) == len(names)
    assert max(map(len, names)) == LONGEST_QUESTION


def totals_of(written: SurveyDraft) -> Totals:
    return DraftFigures(written).totals


def draft(**changes: object) -> SurveyDraft:
    return replace(draft_of(document()), people=1000, **changes)  # type: ignore[arg-type]


def asks(*cards: dict[str, object], **changes: object) -> SurveyDraft:
    made = tuple(
        DraftItem({"type": "boolean", "name": f"q{number + 1}", "label": {"en": "?"}, **card})
        for number, card in enumerate(cards)
    )
    return replace(empty_draft("T", "en"), cards=made, **changes)  # type: ignore[arg-type]


def grave(wrong: SurveyDraft) -> dict[str, str]:
    """What keeps a draft from being published: its field by the key of its sentence."""
    return {problem.key: problem.place.field for problem in problems_of(wrong, "t") if problem.grave}


def test_survey_becomes_a_draft_and_the_same_survey_again() -> None:
    """Every type, every mechanism and arms: a copy asks the very same, with the very same channels."""
    for whole in (document(), document(questions=every_type()), two_arms(), three_arms(), drawn_arms()):
        asked = parse_survey(whole)
        assert survey_of_draft(draft_of(asked.document), asked.name).document == asked.document


@pytest.mark.parametrize("declining", ["own", "never"])
@pytest.mark.parametrize("harm", ["little", "clearly", "badly"])
def test_correction_keeps_the_levels_of_all_types(harm: str, declining: str) -> None:
    """Publishing turns an epsilon into integers; the level and the planned analysis are found again."""
    options = {"choices": [{"name": name, "label": {"en": name}} for name in ("a", "b", "c")]}
    numbers = {"type": "integer", "min": "0", "max": "60", "step": "1"}
    kinds = ({}, {"type": "select_one", **options}, {"type": "select_multiple", **options, "max_choices": 3}, numbers)
    cards = asks(*kinds, numbers, declining=declining).cards
    before = [replace(card, harm=harm) for card in (*cards[:-1], replace(cards[-1], use="explain"))]
    published = survey_of_draft(replace(asks(), cards=tuple(before), declining=declining), "exam")

    after = draft_of(published.document)

    assert [card.harm for card in after.cards] == [harm] * len(before)
    assert after.cards[-1].use == "explain"
    assert survey_of_draft(after, "exam").questions == published.questions


def test_draft_is_read_as_it_was_written() -> None:
    twice = [{"name": "a", "label": {}}] * 2
    unfinished = draft_of(document(questions=[
        {"type": "boolean", "name": "a", "label": {}, "mechanism": {}},
        {"type": "matrix", "name": "b", "rows": [], "of": {"type": "select_one", "choices": twice, "mechanism": {}}},
        {"block": "c", "items": [{"type": "integer", "min": "1."}, {"type": "note", "arm": "x"}], "arm": []},
    ]))  # fmt: skip
    for each in (draft(), empty_draft("", "de"), asks({}), unfinished):
        assert SurveyDraft.read(each.dumped) == each


FORMER: dict[str, Any] = {
    "cards": [{"asked": {"name": "q1", "type": "boolean"}, "harm": "badly", "mechanism": None, "use": ""}],
    "declining": "own", "format": "sottovoce-draft/1", "group": None, "head": {"title": {"en": "T"}}, "people": 500,
    "tags": ["en", "de"],
}  # fmt: skip

"""A draft as release 0.4.0 stored it."""

MORE = {
    "blocks": {"b": {"name": "joint_rr", "odds": "3", "radius": 1, "ask": 2}},
    "chooses_columns": True,
    "direct_half": True,
    "saved": "2026",
    "stamp": "4f.3",
}

"""What it stored where there was something to say."""


def test_draft_of_the_former_release_opens() -> None:
    """With what it says and no more; a key that no draft has is left out."""
    cards = (DraftItem(FORMER["cards"][0]["asked"], "badly"),)
    plain = SurveyDraft(FORMER["head"], cards, people=500, tags=("en", "de"))
    entry = {"mechanism": {"name": "joint_rr", "odds": "3", "radius": 1}, "ask": 2}
    joined = replace(plain, cards=(replace(cards[0], block="b"),), blocks={"b": entry}, direct_half=True)
    in_block = {**FORMER, **MORE, "cards": [{**FORMER["cards"][0], "block": "b"}]}
    for stored, draft in ((FORMER, plain), (in_block, replace(joined, chooses_columns=True))):
        opened = SurveyDraft.read(canonical.dump({**stored, "unknown": 1}))
        assert opened == draft == SurveyDraft.read(opened.dumped)
        assert (opened.stamp, opened.saved) == (stored.get("stamp", ""), stored.get("saved", ""))


def test_stored_draft_is_the_surveys_document_and_the_authors_notes() -> None:
    joined = draft_of(blocks(block(*map(in_block, "abc")) | {"ask": 2}).document)
    own = replace(joined.cards[0], block="", harm="other", mechanism={"epsilon": "2"})
    stored = canonical.load(replace(joined, cards=(*joined.cards, own), people=500).dumped)
    entry, item = stored["survey"]["questions"]

    assert stored["survey"]["title"] == joined.head["title"]
    assert entry.keys() == {"block", "mechanism", "ask", "items"}
    assert (entry["ask"], [each["name"] for each in entry["items"]]) == (2, ["a", "b", "c"])
    assert item["mechanism"] == {"epsilon": "2"}
    assert stored["notes"] == {
        "people": 500, "tags": ["en"], "declining": joined.declining,
        "cards": [{"harm": card.harm, "use": card.use} for card in (*joined.cards, own)],
    }  # fmt: skip


def test_prefer_not_to_say_puts_odds_of_three_to_one_in_the_coins_place() -> None:
    own = draft(declining="own")
    question = survey_of_draft(own, "exam").questions[0]
    assert isinstance(question.mechanism, KaryRR)
    assert question.mechanism.dump()["odds"] == "3"
    assert [step.reported_of_100 for step in steps_of(own, own.cards[0]) if step.harm == "clearly"] == [(60, 20)]
    assert [step.reported_of_100 for step in steps_of(draft(), own.cards[0])] == [(88, 12), (75, 25), (67, 33)]


@pytest.mark.parametrize("way", [{}, {"when_absent": []}])
def test_correction_lets_nobody_decline_who_could_not(way: Document) -> None:
    """A multiple choice has a way to decline, or none, beside questions that have one."""
    choices = [{"name": name, "label": {"en": name}} for name in ("x", "y")]
    asked = parse_survey(document(questions=[
        {"type": "boolean", "name": "a", "label": {"en": "A?"}, "mechanism": {"epsilon": "1"}, "absent_category": True},
        {"type": "select_multiple", "name": "b", "label": {"en": "B?"}, "choices": choices,
         "mechanism": {"epsilon": "1"}, **way},
    ]))  # fmt: skip

    assert survey_of_draft(draft_of(asked.document), asked.name).digest == asked.digest


@pytest.mark.parametrize("declining", ["own", "never"])
def test_stronger_protection_never_looks_franker(declining: str) -> None:
    """For one of 2 to 40 answers, whatever mechanism each level has; and a guess is better than none."""
    for options in range(2, 41):
        choices = [{"name": f"o{number}", "label": {"en": f"Option {number}"}} for number in range(options)]
        asked = {"type": "select_one", "name": "one", "label": {"en": "Which?"}, "choices": choices}
        one = DraftItem(asked, "clearly")
        guessed = [step.guessed_of_100 for step in steps_of(replace(draft(), cards=(one,), declining=declining), one)]
        found = [each[0] for each in guessed if each]
        assert len(found) == 3
        assert found == sorted(found, reverse=True)
        assert all(each and each[0] >= each[1] for each in guessed)


def test_use_of_a_number_decides_its_mechanism() -> None:
    """For good, which is why it is asked for."""
    number = {"type": "integer", "min": "0", "max": "10"}
    names = {}
    for use in ("average", "spread", "explain"):
        made = asks(number)
        question = question_of(made, replace(made.cards[0], harm="little", use=use))
        names[use] = question.mechanism.name if question and question.mechanism else ""
    assert names == {"average": "level_table", "spread": "square_wave", "explain": "geometric"}


def test_margin_of_the_coin_is_the_textbooks() -> None:
    """With 1,000 people 6 points, openly 3, for which 4,269 people are needed."""
    found = figures_of(draft(), draft().cards[0])
    assert (round(found.margin or 0, 3), round(found.openly or 0, 3), found.needed) == (0.062, 0.031, 4269)


def test_declining_as_an_answer_of_its_own_needs_more_people() -> None:
    """As many more as the two ways need for the same margin; a public question and a choice of several have no such."""
    ways = {way: figures_of(draft(declining=way), draft().cards[0]) for way in ("own", "never")}
    own, never = ways["own"], ways["never"]
    assert own
    assert never
    assert (own.declining, own.wanted) == (never.declining, never.wanted)
    assert own.declining == (own.needed or 0) - (never.needed or 0) > 1000
    public = replace(draft().cards[0], harm="public")
    several = {"type": "select_multiple", "choices": [{"name": n, "label": {"en": n}} for n in "ab"]}
    for made, card in ((draft(cards=(public,)), public), (asks(several), asks(several).cards[0])):
        found = figures_of(made, card)
        assert found
        assert found.declining is None


def test_asking_each_person_fewer_questions_costs_less_and_needs_more() -> None:
    whole, half = totals_of(draft()), totals_of(change(draft(), "ask:1"))
    assert half.epsilon == pytest.approx(whole.epsilon / 2)
    assert [number for number, _ in half.goals] == [1]
    assert half.goals[0][1].needed == pytest.approx(2 * (whole.goals[0][1].needed or 0), abs=2)
    assert (whole.pairs, half.pairs) == (1.0, 0.0)


def test_cell_of_a_table_has_the_margin_of_the_formula() -> None:
    """1,637 reports for two coin flips, fewer for one and a public question; and those that hold both are fewer."""
    two = asks({}, {}, declining="never")
    one = replace(two, cards=(two.cards[0], replace(two.cards[1], harm="public")))
    assert totals_of(replace(two, people=1637)).cell == pytest.approx(0.05, abs=1e-4)
    # 427, if the rows are the public answers; the other way round it is a little wider.
    told = totals_of(replace(one, people=427)).cell
    assert told == totals_of(replace(one, people=427, cards=one.cards[::-1])).cell
    assert 0.05 < (told or 0) < 0.055

    three = replace(asks({}, {}, {}, declining="never"), people=3 * 1637)
    assert totals_of(change(three, "ask:2")).cell == pytest.approx(0.05, abs=1e-4)
    assert [totals_of(each).cell for each in (two, change(three, "ask:1"))] == [None, None]
    number = {"type": "integer", "min": "0", "max": "10"}
    assert totals_of(replace(asks({}, number), people=1000)).cell is None


DRAWN = block(*map(in_block, "abc")) | {"ask": 2}

COINS = [{**question({"name": "coin_flip"}), "name": name} for name in ("x", "y")]


@pytest.mark.parametrize(
    ("questions", "more"),
    [
        ([DRAWN], {}),
        ([DRAWN, COINS[0]], {}),
        ([COINS[0], {**COINS[1], "arm": "v"}, DRAWN | {"arm": "u"}], {"arms": [{"name": "u"}, {"name": "v"}]}),
        ([*COINS, block(*map(in_block, "ab"))], {"ask": 2}),
    ],
)
def test_cell_has_the_reports_of_those_who_are_asked_both(questions: list[Document], more: Document) -> None:
    """In their arm, and in the set that a block draws, as the planner of a survey counts them."""
    made = blocks(*questions, **more)
    private = [made.questions[index] for index in made.private]
    reports = [(*pair, 5000 * pair_share(made, *pair)) for pair in permutations(private, 2)]
    widths = [cell_half_width(*each) or 0 for each in reports if each[-1]]
    assert totals_of(replace(draft_of(made.document), people=5000)).cell == pytest.approx(max(widths))


def test_own_protection_has_its_figures_too() -> None:
    own = replace(draft().cards[0], harm="other", mechanism={"name": "binary_rr", "a": "4/5", "b": "1/5"})
    assert [(step.harm, step.reported_of_100) for step in steps_of(draft(), own)][3:] == [("other", (80, 20))]
    assert [step.harm for step in steps_of(draft(), draft().cards[0])] == ["little", "clearly", "badly"]


def test_whoever_answers_in_every_wave_spends_all_of_it() -> None:
    """Once there are two waves, and the draft is a survey."""
    whole = asks({}, {}, declining="never")
    head = {**whole.head, "waves": months(2)}
    panel = panel_of(replace(whole, head=head), "t")
    assert (panel.waves, panel.epsilon) == (2, pytest.approx(2 * totals_of(whole).epsilon))
    public = tuple(replace(card, harm="public") for card in whole.cards)
    others = (whole, replace(whole, head=head, cards=public), replace(whole, head=head, cards=()))
    assert [panel_of(each, "t") for each in others] == [None, None, None]


def test_empty_draft_says_what_it_lacks() -> None:
    assert grave(empty_draft("", "en")) == {"no_title": "title", "no_question": "add"}
    assert grave(asks({"label": {}})) == {"no_label": "q0.label"}
    assert grave(asks({"type": "select_one"})) == {"few_options": "q0.options"}
    assert grave(asks({"type": "integer"})) == {"no_bounds": "q0.min"}
    assert grave(asks({"type": "integer", "min": "9", "max": "1"})) == {"bad_bounds": "q0.min"}


def test_option_that_a_condition_names_may_not_go_unseen() -> None:
    two = [{"name": name, "label": {"en": name}} for name in ("a", "b")]
    broken = asks({"type": "select_one", "choices": two}, {"visible_if": {"q1": ["c"]}})
    assert grave(broken) == {"condition_option": "q1.condition"}
    mend = next(problem.mend for problem in problems_of(broken, "t") if problem.key == "condition_option")
    assert grave(change(broken, mend)) == {}
    assert grave(asks({"visible_if": {"gone": ["yes"]}})) == {"condition_gone": "q0.condition"}
    assert grave(asks({"visible_if": {"q2": ["yes"]}}, {})) == {"condition_later": "q0.condition"}
    assert grave(asks({}, {"visible_if": {"q1": ["yes"]}}, declining="never")) == {"condition_absent": "q1.condition"}


def test_survey_that_devices_refuse_cannot_be_published() -> None:
    dear = asks({})
    dear = replace(dear, cards=(replace(dear.cards[0], harm="other", mechanism={"epsilon": "4"}),))
    assert grave(dear) == {"dear_question": "q0.harm"}
    assert grave(change(dear, "step:0:little")) == {}
    many = asks(*[{}] * 5)
    many = replace(many, cards=tuple(replace(card, harm="little") for card in many.cards))
    assert grave(many) == {"dear_survey": "ask"}
    mend = next(problem.mend for problem in problems_of(many, "t") if problem.key == "dear_survey")
    assert mend == "ask:4"
    assert grave(change(many, mend)) == {}


def test_mend_never_makes_a_survey_unpublishable() -> None:
    """Fewer questions cannot be asked where one depends on a private one; protecting a public one costs too much."""
    many = asks(*[{}] * 4, {"visible_if": {"q1": ["yes"]}})
    many = replace(many, cards=tuple(replace(card, harm="little") for card in many.cards))
    assert [problem.mend for problem in problems_of(many, "t") if problem.key == "dear_survey"] == [""]

    full = asks({"type": "integer", "min": "0", "max": "999", "step": "1"}, *[{}] * 4)
    levels = ("public", *["little"] * 4)
    cards = tuple(replace(card, harm=harm) for card, harm in zip(full.cards, levels, strict=True))
    full = replace(full, cards=cards, people=100)
    assert grave(full) == {}
    assert grave(change(full, "step:0:little")) == {"dear_survey": "ask"}
    assert [problem.mend for problem in problems_of(full, "t") if problem.key == "alone"] == [""]


def test_public_answers_that_single_people_out_are_told_with_a_mend() -> None:
    """For so many people as are expected; the question with the most answers is named, and protecting it mends it."""
    few = asks({}, {"type": "integer", "min": "0", "max": "99", "step": "1"})
    few = replace(few, cards=tuple(replace(card, harm="public") for card in few.cards))

    def told(wrong: SurveyDraft) -> list[tuple[str, object]]:
        found = [problem for problem in problems_of(wrong, "t") if problem.key == "alone"]
        assert not any(problem.grave for problem in found)
        return [(problem.place.field, problem.values["cells"]) for problem in found]

    assert told(few) == told(replace(few, people=None)) == told(replace(few, people=1499)) == [("q1.harm", 300)]
    assert told(replace(few, people=1500)) == []
    assert told(change(few, "step:1:little")) == []
    number = {"type": "integer", "min": "0", "max": "99", "step": "1", "when_absent": "0"}
    apart = asks({}, *({**number, "visible_if": {"q1": [each]}} for each in ("yes", "no")))
    apart = replace(apart, people=999, cards=tuple(replace(card, harm="public") for card in apart.cards))
    assert told(apart) == [("q1.harm", 201)]


def test_texts_that_nobody_could_show_are_told() -> None:
    """Ten thousand letters; marks that turn the direction, which a button takes out; markup is a text like any."""
    turned = asks({"label": {"en": "a\u202eb"}})
    assert grave(turned) == {"direction": "q0.label"}
    assert change(turned, "straighten:0").cards[0].asked["label"] == {"en": "ab"}
    assert grave(asks({"label": {"en": "x" * 10_000}})) == {"long_text": "q0.label"}
    assert grave(asks({"label": {"en": "<script>alert(1)</script>"}})) == {}


def test_missing_translation_leads_to_its_field() -> None:
    """To the first one: the title, also where the survey has a neutral title, which stands further down the page."""
    translated = {"title": {"en": "T", "de": "T"}, "researcher": {"name": {"en": "Ada"}}, "revision": 1}
    neutral = {"title": {"en": "T"}, "neutral_title": {"en": "Notes"}, "revision": 1}
    for head, told in ((translated, ("researcher.name", 1)), (neutral, ("title", 2))):
        found = problems_of(asks({"label": {"en": "?", "de": "?"}}, head=head, tags=("en", "de")), "t")
        assert [(each.place.field, each.values["missing"]) for each in found if each.key == "untranslated"] == [told]


def test_buttons_move_copy_and_delete_cards_and_ignore_what_is_gone() -> None:
    start = draft()
    names = [card.name for card in start.cards]
    assert [card.name for card in change(start, "down:0").cards] == [names[1], names[0], names[2]]
    assert [card.name for card in change(start, "copy:0").cards] == ["cheated", "cheated_2", "reason", "year"]
    assert [card.name for card in change(start, "delete:1").cards] == ["cheated", "year"]
    assert [card.name for card in change(start, "to:0:2").cards] == [*names[1:], names[0]]
    assert [card.name for card in change(start, "to:2:0").cards] == [names[2], *names[:2]]
    cards = ("up:0", "down:2", "delete:3", "to:1:1", "to:1:x", "up:x")
    for word in (*cards, "nothing", "ask:x", "ask:²", "wait:²", "language:<b>"):
        assert change(start, word) == start


def test_added_and_copied_questions_are_named_by_their_texts() -> None:
    text = {"label": {"en": "Ever cheated?"}}
    copied = change(change(asks(text, {}, text), "delete:1"), "copy:1")
    assert [question.name for question in survey_of_draft(copied, "t").questions] == [
        "cheated",
        "cheated_2",
        "cheated_3",
    ]
    added = change(change(asks(text, {}, text), "delete:0"), "add:boolean").cards
    assert len({card.name for card in added}) == len(added)
    assert not any(is_given(card.name) for card in added)


def test_unnamed_questions_are_named_by_their_texts() -> None:
    made = survey_of_draft(asks({"label": {"en": "Ever cheated?"}}, {"visible_if": {"q1": ["yes"]}}), "t")
    assert [question.name for question in made.questions] == ["cheated", "q2"]
    assert made.items[1].visible_if[0].question == "cheated"


@pytest.mark.parametrize("declining", ["own", "counted", "never", "each"])
def test_question_that_the_persons_own_fact_hides_stays_as_it_is(declining: str) -> None:
    """Design gives it no mechanism and no way to decline; it has no levels to choose from."""
    hidden = {"label": {"en": "My mother was born in spring."}, "share": "1/4", "source": {"en": "The calendar."}}
    asked = {"type": "boolean", "name": "cheated", "label": {"en": "Cheated?"}, "procedure": "crosswise"}
    written = document(questions=[{**asked, "innocuous": hidden}])
    draft = replace(draft_of(written), declining=declining)
    assert survey_of_draft(draft, "exam").digest == parse_survey(written).digest
    assert steps_of(draft, draft.cards[0]) == []
    assert figures_of(draft, draft.cards[0]) is not None


def test_draft_costs_what_its_dearest_arm_costs() -> None:
    asked = [
        in_block("a", **COIN, arm="short"), in_block("b", **COIN, arm="long"),
        in_block("c", **COIN, arm=["long"]), in_block("d", **COIN, arm="long"), in_block("e", **COIN),
    ]  # fmt: skip
    draft = draft_of(survey(*asked, arms=ARMS))
    figures = DraftFigures(draft)
    assert figures.totals.epsilon == pytest.approx(survey_of_draft(draft, "exam").epsilon)
    assert figures.totals.epsilon == pytest.approx(4 * 1.0986123)
    needed = [each.needed for each in figures.of_items if each and each.needed]
    assert [round(each / needed[4], 2) for each in needed] == [4, 1.33, 1.33, 1.33, 1]


def test_cards_of_one_arm_are_protected_together() -> None:
    asked = [in_block("a", **COIN, arm="short"), *(in_block(name, **COIN, arm="long") for name in "bcd")]
    draft = draft_of(survey(*asked, arms=ARMS))
    assert protect_together(draft, [0, 1]) == draft
    joined = survey_of_draft(protect_together(draft, [1, 2, 3]), "exam")
    [block] = joined.blocks
    assert (block.questions, [item.arms for item in joined.items]) == ((1, 2, 3), [("short",), *[("long",)] * 3])
    assert survey_of_draft(draft_of(joined.document), "exam").questions == joined.questions


@pytest.mark.parametrize(
    "wrong", ["short", 5, None, [5], [{"name": 5}], [{"weight": "2"}], [{"name": "a", "weight": 0}]]
)
def test_what_is_no_arm_is_left_to_the_checks_of_the_survey(wrong: Document) -> None:
    """Nothing in a file makes the figures fail."""
    draft = draft_of(survey(in_block("a", **COIN, arm=wrong), arms=wrong))
    alone = DraftFigures(draft_of(survey(in_block("a", **COIN)))).of_items[0]
    assert DraftFigures(draft).of_items[0] == alone is not None
    assert all(weight == 1 for weight in arms_of(draft).values())
    assert DraftFigures(draft).totals.epsilon >= 0


def test_empty_draft_costs_nothing() -> None:
    assert [DraftFigures(draft_of(survey(**more))).totals.epsilon for more in ({}, {"arms": ARMS})] == [0, 0]


def test_table_of_the_templates_is_true() -> None:
    found = rows()
    shown = re.findall(r"^\| [a-z_]+ \| \d+ \|.*", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown == found
    assert len(found) == len(all_templates()) - 2


@pytest.mark.parametrize("template", all_templates(), ids=lambda template: template.name)
def test_what_is_suggested_needs_fewer_people_and_costs_no_more(template: object) -> None:
    """And never leaves out what it costs: the odds about one answer, which are higher."""
    found = suggested(draft_of(template.document))  # type: ignore[attr-defined]
    if found is not None:
        assert found.people <= 0.8 * found.people_apart
        assert found.epsilon <= found.epsilon_apart
        assert found.odds_apart < found.odds <= 9
        assert found.odds_alone < found.odds


def test_question_that_names_a_block_itself_can_be_taken_out_of_it() -> None:
    """For good: the stored draft has neither the question in its block nor the block's name in the question."""
    asked = question({"name": "coin_flip"})
    draft = draft_of(survey({**asked, "block": "z"}))
    assert (draft.blocks, draft.cards[0].block) == ({"z": {}}, "z")
    apart = change(draft, "separate:z")
    assert SurveyDraft.read(apart.dumped) == apart
    assert survey_of_draft(apart, "t") == survey_of_draft(draft_of(survey(asked)), "t")


@pytest.mark.parametrize("first", range(0, 300, 60))
def test_random_surveys_are_joined_moved_and_separated(first: int) -> None:
    """Costs are the survey's; a block stays in one piece; separating gives each question its mechanism again."""
    for seed in range(first, first + 60):
        asked = random_survey(seed)
        draft = draft_of(asked.document)
        assert DraftFigures(draft).totals.epsilon == pytest.approx(asked.epsilon)
        firsts = [asked.questions.index(item.questions[0]) for item in asked.items if item.questions]
        sample = DraftSample(draft)
        places = [sample.rows.index(card) for card in draft.cards if card.type not in ("note", "acknowledge")]
        assert [share_asked(sample, place) for place in places] == [share_asked(asked, first) for first in firsts]
        before = {each.name: each.mechanism for each in survey_of_draft(draft, asked.name).questions}
        joined = change(draft, f"together:{'.'.join(map(str, joinable_cards(draft)[:4]))}")
        if joined != draft:
            survey = survey_of_draft(joined, asked.name)
            [new] = [block for block in survey.blocks if block.name not in draft.blocks]
            assert DraftFigures(joined).totals.epsilon == pytest.approx(survey.epsilon)
            apart = survey_of_draft(change(joined, f"separate:{new.name}"), asked.name)
            assert {each.name: each.mechanism for each in apart.questions} == before
        for step, word in enumerate(("down", "up", "copy", "delete", "down")):
            joined = change(joined, f"{word}:{(seed * (step + 1)) % max(len(joined.cards), 1)}")
            pieces = [name for name, _ in groupby(card.block for card in joined.cards) if name]
            assert sorted(pieces) == sorted(joined.blocks)


@pytest.mark.parametrize("ask", [-1, 0, 9, "two"])
def test_figures_of_a_draft_stand_beside_a_block_that_cannot_be_drawn(ask: object) -> None:
    """A file may ask for any number: the block has no figures then, and what is beside it has."""
    wrong = {**block(*map(in_block, "abc")), "ask": ask}
    draft = draft_of({**survey(wrong, question({"name": "coin_flip"})), "ask": ask})
    figures = DraftFigures(replace(draft, people=1000))
    assert [each is None for each in figures.of_items] == [True, True, True, False]
    assert figures.totals.epsilon == pytest.approx(math.log(3))


def test_draft_keeps_how_many_questions_of_a_block_are_asked() -> None:
    drawn = blocks(block(*map(in_block, "abcd")) | {"ask": 3})
    draft = draft_of(drawn.document, 1)
    assert survey_document(draft, drawn.name)["questions"][0]["ask"] == 3
    assert share_asked(DraftSample(draft), 0) == Fraction(3, 4)
    fewer = refitted(replace(draft, cards=draft.cards[1:]), "intimate")
    assert "ask" not in survey_document(fewer, drawn.name)["questions"][0]
