import re
from dataclasses import replace
from typing import Any

import pytest
from sottovoce.aggregator.authoring.draft import SurveyDraft
from sottovoce.aggregator.authoring.draft_blocks import compared
from sottovoce.aggregator.authoring.edit_commands import change
from sottovoce.aggregator.authoring.to_survey import draft_of
from sottovoce.aggregator.authoring.validation import problems_of, survey_of_draft
from sottovoce.aggregator.i18n.translator import Words
from sottovoce.aggregator.storage.sqlite.storage import SQLiteStorage
from sottovoce.aggregator.studio.design.sentences import Sentences
from sottovoce.aggregator.surveys.lifecycle import survey_of
from sottovoce.shared.mechanisms.joint_rr import JointRR

from tests.blocks import block, in_block
from tests.documents import Document, survey
from tests.unit.aggregator.studio.design.test_page import Researcher, newest

COIN = {"mechanism": {"name": "coin_flip"}}
DESIGN = "surveys/exam/design"


def asks(*names: str) -> list[Document]:
    return [in_block(name, **COIN) for name in names]


def drafted(*asked: Document, **changes: Any) -> SurveyDraft:
    return replace(draft_of(survey(*asked)), **changes)


def order(draft: SurveyDraft) -> str:
    """Names of the questions in order, those of blocks in brackets."""
    marked = "".join(f"[{card.name}]" if card.block else card.name for card in draft.cards)
    return marked.replace("][", "")


def test_questions_are_protected_together_published_and_separated_without_a_script(
    ann: Researcher, storage: SQLiteStorage
) -> None:
    questions = asks("a", "b", "c")
    storage.drafts.add("exam", replace(draft_of(survey(*questions)), declining="never").dumped)
    who = {"researcher.name.en": "Dr A"}
    chosen = {"together.0": "1", "together.2": "1"}
    reply = ann.post(DESIGN, version="1", do="together", **who, **chosen)
    assert reply.location.endswith("card=together")
    assert order(newest(storage, "exam")) == "[ac]b"
    page = ann.get(f"{DESIGN}?card=together")
    sentence = re.search(r"about ([\d,]+) people are needed together, instead of ([\d,]+) one by one", page)
    assert sentence
    together, apart = (int(number.replace(",", "")) for number in sentence.groups())
    assert together / apart == pytest.approx(9 / 16, abs=0.02)
    assert "at most 9 to 1 for people who know the others (5 to 1 for anyone else), instead of 3 to 1" in page
    assert "(epsilon 2.20 instead of 2.20)" in page
    assert "randomized together with those to: Question 2." in page
    assert "all 2 private questions" in page
    assert "Questions that are protected together count as one here." in page
    assert ann.post(DESIGN, version="2", do="publish", **who).location.endswith("/publish")
    ann.post("surveys/exam/publish", version="2")
    published = survey_of(storage.revisions("exam")[0].document)
    [made] = published.blocks
    assert (made.mechanism, made.questions) == (JointRR(made.mechanism.odds, 0, (2, 2)), (0, 1))
    assert made.mechanism.odds == 9

    ann.post("surveys/exam/design/correct")
    assert order(newest(storage, "exam")) == "[ac]b"
    assert survey_of_draft(newest(storage, "exam"), "exam").blocks == published.blocks
    ann.post(DESIGN, version="1", do=f"separate:{made.name}")
    separated = survey_of_draft(newest(storage, "exam"), "exam")
    assert [question.mechanism.dump()["a"] for question in separated.questions if question.mechanism] == ["3/4"] * 3


def test_fewer_questions_of_a_block_are_asked_of_each_person(ann: Researcher, storage: SQLiteStorage) -> None:
    questions = block(*map(in_block, "abcd"), odds="20", radius=1)
    storage.drafts.add("exam", replace(draft_of(survey(questions)), declining="never").dumped)
    [name] = newest(storage, "exam").blocks
    choices = ann.get(f"{DESIGN}?card=together").partition(f'name="ask.{name}"')[2].partition("</select>")[0]
    assert re.findall('value="(.*?)"', choices) == ["", "3", "2"]
    kept = compared(newest(storage, "exam"), name)
    ann.post(DESIGN, version="1", **{f"ask.{name}": "3"})
    drawn = compared(newest(storage, "exam"), name)
    published = survey_of_draft(newest(storage, "exam"), "exam").blocks[0]
    assert (published.mechanism.ask, published.mechanism.odds) == (3, 20)
    assert kept
    assert drawn
    assert (drawn.odds, drawn.questions) == (kept.odds, 3)
    assert 'value="3" selected' in ann.get(f"{DESIGN}?card=together").partition(f'name="ask.{name}"')[2]
    # A number that cannot be drawn asks all.
    ann.post(DESIGN, version="2", **{f"ask.{name}": "7"})
    again = compared(newest(storage, "exam"), name)
    assert again
    assert (again.odds, again.questions) == (20, 4)
    assert drawn.people < again.people <= kept.people


@pytest.mark.parametrize("mechanism", ["odd", None, ["odd"]])
def test_block_of_an_imported_file_without_a_mechanism_is_kept(
    ann: Researcher, storage: SQLiteStorage, mechanism: object
) -> None:
    questions = block(*map(in_block, "abc")) | {"mechanism": mechanism}
    storage.drafts.add("exam", draft_of(survey(questions)).dumped)
    [name] = newest(storage, "exam").blocks
    assert ann.post(DESIGN, version="1", **{f"ask.{name}": "2"}).status_code < 400
    assert newest(storage, "exam").blocks == {name: {"mechanism": mechanism}}


def test_what_is_ticked_is_compared_before_it_is_done(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", replace(draft_of(survey(*asks("a", "b", "c"))), declining="never").dumped)
    page = ann.post(DESIGN, version="1", by="script", **{"together.1": "1", "together.2": "1"}).text
    assert "at most 9 to 1" in page.partition('id="selection"')[2].partition("</p>")[0]
    assert [*re.findall(r'name="together\.(\d)" value="1" checked', page)] == ["1", "2"]
    one = ann.post(DESIGN, version="1", by="script", **{"together.1": "1", "together.x": "1", "together.9": "1"}).text
    assert "instead of" not in one.partition('id="selection"')[2].partition("</p>")[0]
    assert not newest(storage, "exam").blocks


@pytest.mark.parametrize(("names", "ticked"), [("ab", ["0", "1"]), ("abc", [])])
def test_only_a_selection_with_odds_up_to_9_is_ticked_beforehand(
    ann: Researcher, storage: SQLiteStorage, names: str, ticked: list[str]
) -> None:
    """Of three coin flips somebody who knows two answers would learn the third with odds of 20: nothing is ticked."""
    storage.drafts.add("exam", replace(draft_of(survey(*asks(*names))), declining="never").dumped)
    page = ann.get(f"{DESIGN}?card=together")
    assert re.findall(r'name="together\.(\d)" value="1" checked', page) == ticked
    assert page.count('name="together.') == len(names)


def test_cards_move_with_their_block_and_past_others(ann: Researcher, storage: SQLiteStorage) -> None:
    """A block stays in one piece; the page stays at the card that was moved."""
    storage.drafts.add("exam", draft_of(survey(*asks("a"), block(in_block("b"), in_block("c")), *asks("d"))).dumped)
    moves = {"up:1": ("[bc]ad", "q0"), "down:1": ("a[bc]d", "q2"), "down:0": ("[bc]ad", "q2"), "up:3": ("[bc]da", "q2"),
             "up:2": ("d[bc]a", "q0"), "down:2": ("da[bc]", "q3"), "up:3 ": ("da[cb]", "q2")}  # fmt: skip
    for version, (word, (wanted, place)) in enumerate(moves.items(), 1):
        reply = ann.post(DESIGN, version=str(version), do=word.strip())
        assert order(newest(storage, "exam")) == wanted, word
        assert reply.location.endswith(f"#{place}"), word
    assert order(change(newest(storage, "exam"), "up:0")) == "da[cb]"
    assert order(change(newest(storage, "exam"), "to:0:3")) == "a[cb]d"
    assert order(change(newest(storage, "exam"), "to:2:0")) == "[cb]da"
    assert order(change(newest(storage, "exam"), "down:3")) == "da[cb]"


def test_a_block_fits_the_cards_that_it_gets_and_loses() -> None:
    """The odds stay, the radius is one that these questions have; one question alone has no block."""
    draft = drafted(block(*map(in_block, "abcde"), odds="20", radius=4))
    for left in (4, 3, 2):
        draft = change(draft, "delete:0")
        [made] = survey_of_draft(draft, "exam").blocks
        assert (made.mechanism.odds, made.mechanism.sizes) == (20, (2,) * left)
    more = change(draft, "copy:1")
    assert survey_of_draft(more, "exam").blocks[0].mechanism.sizes == (2, 2, 2)
    alone = change(draft, "delete:0")
    assert (order(alone), alone.blocks, alone.cards[0].harm) == ("e", {}, "clearly")


def test_cards_between_and_conditions_are_heeded_when_cards_are_gathered() -> None:
    """Below where a question depends on one between, above where one between depends on it."""
    a, b, c = asks("a", "b", "c")
    declining = {"absent_category": True}
    below = drafted(a, {**b, **declining}, {**c, **declining, "visible_if": {"b": ["yes"]}})
    assert order(change(below, "together:0.2")) == "b[ac]"
    above = drafted(a, {**b, **declining, "visible_if": {"a": ["yes"]}}, c)
    assert order(change(above, "together:0.2")) == "[ac]b"
    assert change(above, "together:") == change(above, "together:1") == change(above, "together:9") == above


def test_more_than_devices_allow_for_one_question_is_not_spent() -> None:
    """Of three coin flips, which cost 3.30, a block spends at most 3."""
    joined = change(drafted(*asks("a", "b", "c")), "together:0.1.2")
    found = compared(joined, "together")
    assert found is not None
    # Odds of 20 1/12 are never shown as 20, for which devices have a limit.
    assert "at most 20.1 to 1" in Sentences(Words("en")).together(found)
    assert 2.9 < survey_of_draft(joined, "exam").epsilon <= 3
    assert not [each for each in problems_of(joined, "exam") if each.grave and each.key == "dear_question"]


@pytest.mark.parametrize(
    ("name", "change_to", "key"),
    [
        ("a", {"type": "integer", "min": "0", "max": "9"}, "other"),
        ("a", {"visible_if": {"year": ["c0"]}, "absent_category": True}, "condition_block"),
    ],
)
def test_what_a_block_cannot_have_is_told_with_a_way_out(name: str, change_to: Document, key: str) -> None:
    year = in_block("year", 3, public=True)
    cards = [*drafted(year, block(in_block("a"), in_block("b"))).cards]
    place = next(number for number, card in enumerate(cards) if card.name == name)
    cards[place] = replace(cards[place], asked={**cards[place].asked, **change_to})
    draft = replace(drafted(year, block(in_block("a"), in_block("b"))), cards=tuple(cards))
    [told] = [each for each in problems_of(draft, "exam") if each.key == key and each.grave]
    assert told.place.card == place
    assert told.mend
    assert not [each for each in problems_of(change(draft, told.mend), "exam") if each.key == key and each.grave]


@pytest.mark.parametrize(
    ("names", "options", "said"),
    [("ab", 60, ""), ("abcdefghijkl", 2, ""), ("abcdefghijklm", 2, "12"), ("abc", 60, "65,536 combinations")],
)
def test_the_largest_blocks_are_made_and_larger_ones_are_told(names: str, options: int, said: str) -> None:
    """2 of 60 options and 12 yes/no questions fit; a refused selection says why, and is taken apart again."""
    epsilon = {"mechanism": {"epsilon": "0.4"}}
    joined = change(
        drafted(*(in_block(name, options, **epsilon) for name in names)),
        f"together:{'.'.join(map(str, range(len(names))))}",
    )
    told = [each for each in problems_of(joined, "exam") if each.grave and each.mend.startswith("separate:")]
    assert [said in str(each.values["message"]) for each in told] == ([True] if said else [])
    assert all(not change(joined, each.mend).blocks for each in told)


@pytest.mark.parametrize(
    "wrong",
    [
        {"mechanism": "coin"}, {"mechanism": None}, {"mechanism": {"name": "joint_rr", "odds": "1", "radius": 0}},
        {"items": [{}]}, {"block": "A block"}, {"mechanism": {"epsilon": []}},
    ],
)  # fmt: skip
def test_a_file_with_a_wrong_block_becomes_a_draft_that_says_so(
    ann: Researcher, storage: SQLiteStorage, wrong: Document
) -> None:
    storage.drafts.add("exam", draft_of(survey({**block(in_block("a"), in_block("b")), **wrong}, *asks("c"))).dumped)
    assert "to mend before publishing" in ann.get(DESIGN)
    assert ann.post(DESIGN, version="1", do="save", **{"title.en": "Other"}).status_code == 303
    assert "to mend before publishing" in ann.get(DESIGN)
    for word in ("down:0", "copy:0", "delete:0"):
        assert ann.post(DESIGN, version=str(len(storage.drafts.versions("exam"))), do=word).status_code == 303


def test_a_change_of_a_block_is_shown_in_words(ann: Researcher, storage: SQLiteStorage) -> None:
    storage.drafts.add("exam", replace(draft_of(survey(*asks("a", "b"))), declining="never").dumped)
    ann.post(DESIGN, version="1", do="publish", **{"researcher.name.en": "Dr A"})
    ann.post("surveys/exam/publish", version=str(storage.drafts.versions("exam")[0]))
    ann.post("surveys/exam/design/correct")
    ann.post(DESIGN, version="1", do="together", **{"together.0": "1", "together.1": "1"})
    page = ann.get("surveys/exam/publish").partition("What it changes</summary>")[2]
    assert "Questions protected together" in page
    assert "odds 9, radius 0" in page
    assert "{" not in page.partition("</details>")[0]
