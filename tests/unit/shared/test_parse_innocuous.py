"""Questions that a fact of the person's own hides: channel, epsilon, and what does not go with them."""

import math
from fractions import Fraction
from typing import Any

import pytest
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import perturb
from sottovoce.client.words import odds_in_words, option_in_words, second_statement_in_words
from sottovoce.shared.by_hand.protection import drawn_by_device, hidden_by_facts, is_all_by_hand
from sottovoce.shared.errors import SpecError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.single_question import parse_question

from tests.documents import survey

COIN = {"type": "boolean", "name": "coin", "label": {"en": "C"}, "mechanism": {"name": "coin_flip"}}


def by_fact(name: str = "plagiarism", procedure: str = "crosswise", **innocuous: Any) -> dict[str, Any]:
    """A question with a second statement."""
    given = {"label": {"en": f"Second of {name}"}, "share": "1/4", "source": {"en": "S"}, **innocuous}
    return {"type": "boolean", "name": name, "label": {"en": "P"}, "procedure": procedure, "innocuous": given}


def channel(**innocuous: Any) -> InnocuousRR:
    """The channel of one question with these keys."""
    procedure = "unrelated_question" if "truth" in innocuous else "crosswise"
    made = parse_survey(survey(by_fact(procedure=procedure, **innocuous))).questions[0].mechanism
    assert isinstance(made, InnocuousRR)
    return made


@pytest.mark.parametrize(
    ("innocuous", "a", "b", "ratio"),
    [
        ({"share": "1/4"}, "3/4", "1/4", "3"),
        ({"share": "4/5"}, "4/5", "1/5", "4"),
        # The dearest of 1/4, 1/5 and 3/10; and of 4/5, 7/10 and 9/10.
        ({"share": "1/4", "se": "1/40"}, "3/4", "1/4", "4"),
        ({"share": "4/5", "se": "1/20"}, "4/5", "1/5", "9"),
        # a/b at 1/4 is 3/4 : 1/12, and at 1/5 11/15 : 1/15.
        ({"truth": "2/3"}, "3/4", "1/12", "9"),
        ({"truth": "2/3", "se": "1/40"}, "3/4", "1/12", "11"),
        # (1 - b) / (1 - a) counts where the innocuous answer is mostly yes.
        ({"truth": "1/2", "share": "9/10"}, "19/20", "9/20", "11"),
    ],
)
def test_epsilon_is_that_of_the_dearest_share(innocuous: dict[str, str], a: str, b: str, ratio: str) -> None:
    """At the share, and two standard errors away from it."""
    made = channel(**innocuous)
    assert (made.a, made.b, made.likelihood_ratio) == (Fraction(a), Fraction(b), Fraction(ratio))
    assert made.epsilon == pytest.approx(math.log(Fraction(ratio)))


def test_report_one_is_the_likelier_of_people_with_the_trait() -> None:
    """So that a > b whichever side of one half the share is on, and the words go with it."""
    assert channel(share="1/4").answers == ("crosswise_same", "crosswise_one")
    assert channel(share="3/4").answers == ("crosswise_one", "crosswise_same")
    assert [channel(share=share).explain()["yes"] for share in ("1/4", "3/4")] == [Fraction(3, 4), Fraction(1, 4)]


def test_device_sends_what_was_chosen_and_draws_nothing() -> None:
    """Only the coin beside it takes bytes."""
    made = parse_survey(survey(by_fact(), COIN))
    read: list[int] = []

    def zeros(size: int) -> bytes:
        read.append(size)
        return bytes(size)

    assert [perturb(made, (chosen, 0), Draws(zeros), {})[0] for chosen in (0, 1)] == [0, 1]
    assert sum(read) == 2
    assert [each.name for each in drawn_by_device(made)] == ["coin"]
    assert [each.name for each in hidden_by_facts(made)] == ["plagiarism"]
    assert not is_all_by_hand(made)


def test_words_name_both_statements_and_no_dice() -> None:
    """Nothing is said to be drawn."""
    made = parse_survey(survey(by_fact(share="3/4"), by_fact("drugs", "unrelated_question", truth="1/6")))
    crosswise, unrelated = made.questions
    assert [option_in_words(made, crosswise, value) for value in (0, 1)] == [
        "Exactly one is true", "Both or neither are true"]  # fmt: skip
    assert "25 choose “Exactly one is true”; of 100 others, 75" in odds_in_words(crosswise)
    channels = [each.mechanism for each in (crosswise, unrelated)]
    lines = [second_statement_in_words(made, each) for each in channels if isinstance(each, InnocuousRR)]
    assert lines[0][1].strip() == "Second of plagiarism"
    assert "On 1: answer the question above" in lines[1][0]


@pytest.mark.parametrize(
    ("questions", "more", "place"),
    [
        ([by_fact(share="1/2")], {}, "/questions/0/innocuous/share"),
        ([by_fact(share="49/100", se="1/200")], {}, "/questions/0/innocuous/share"),
        ([by_fact(share="1/21")], {}, "/questions/0/innocuous/share"),
        ([by_fact(share="19/20", se="1/1000")], {}, "/questions/0/innocuous/share"),
        ([by_fact(procedure="triangular")], {}, "/questions/0/procedure"),
        ([by_fact(procedure="unrelated_question", truth="3/4")], {}, "/questions/0/innocuous/truth"),
        ([{**by_fact(), "public": True}], {}, "/questions/0/public"),
        ([{**by_fact(), "absent_category": True}], {}, "/questions/0/absent_category"),
        ([by_fact(fact="birthday"), by_fact("other", fact="birthday")], {}, "/questions/1/innocuous"),
        ([by_fact(label={"en": "M"}), by_fact("other", label={"en": "M"}, fact="x")], {}, "/questions/1/innocuous"),
        ([by_fact(fact="birthday"), by_fact("other", fact="month_of_birth")], {}, "/questions/1/innocuous"),
        ([by_fact(label={"en": "Born in May?"}), by_fact("other", label={"de": "Mai", "en": "BORN  in May."})], {},
         "/questions/1/innocuous"),
        ([by_fact(fact="birthday"), {**COIN, "name": "birth_month"}], {}, "/questions/1/name"),
        ([by_fact(fact="house_number"), {**COIN, "name": "your_house_number"}], {}, "/questions/1/name"),
        ([by_fact(), {**COIN, "when_absent": "no", "visible_if": {"plagiarism": "yes"}}], {},
         "/questions/1/visible_if"),
        ([by_fact()], {"privacy": {"procedure": "own_coin"}}, "/questions/0/procedure"),
        ([by_fact()], {"waves": [{"opens": f"2027-0{month}-01T00:00:00Z", "closes": f"2027-0{month + 1}-01T00:00:00Z"}
                                 for month in (1, 3)]}, "/questions/0/procedure"),
        ([{"block": "b", "mechanism": {"epsilon": "1"}, "items": [by_fact(), by_fact("other")]}], {},
         "/questions/0/items/0/procedure"),
    ],
)  # fmt: skip
def test_what_would_give_the_fact_away_is_refused(questions: list[Any], more: dict[str, Any], place: str) -> None:
    """Each with its place."""
    with pytest.raises(SpecError) as caught:
        parse_survey(survey(*questions, **more))
    assert place in [problem.pointer for problem in caught.value.problems]


def test_facts_of_other_people_and_statements_named_as_facts_are_others() -> None:
    """A mother's birthday is not a father's; a statement is not the fact of another one."""
    named = {"first": "birthday", "second": "mother_birthday", "third": "father_date_of_birth", "fourth": "may"}
    asked = [by_fact(name, fact=fact) for name, fact in named.items()]
    parse_survey(survey(*asked, by_fact("fifth", label={"en": "May", "de": "Mai"})))


def test_fact_in_another_word_is_no_question_about_it() -> None:
    """A language is not an age."""
    parse_survey(survey(by_fact(fact="age"), {**COIN, "name": "language"}))


def test_canonical_survey_is_read_back_and_a_single_question_is_refused() -> None:
    """A study's other questions are unknown to a single one."""
    asked = by_fact(share="361/1461", se="1/200", fact="birthday")
    made = parse_survey(survey(asked))
    assert load_survey(made.canonical).questions == made.questions
    with pytest.raises(SpecError) as caught:
        parse_question(asked)
    assert caught.value.problems[0].pointer == "/procedure"


def test_channel_with_an_uncertain_share_is_not_the_plain_one() -> None:
    """Counts of both are not added."""
    assert channel(share="1/4") != channel(share="1/4", se="1/100")
    assert channel(share="1/4") != BinaryRR(Fraction(3, 4), Fraction(1, 4))
