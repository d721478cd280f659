"""A survey's items in the terminal: what is shown, asked, refused, acknowledged, and told."""

import click
import pytest
from click.testing import CliRunner, Result
from sottovoce.client.terminal.interview import Interview, typed_number
from sottovoce.client.value_words import reported_in_words
from sottovoce.client.words import by_hand_in_words, odds_in_words
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.absences import COIN, absences, asks, by_hand, habits
from tests.documents import names, survey
from tests.surveys import document, survey as survey_of

HABITS = parse_survey(survey(*habits()))
HAND = parse_survey(survey(*by_hand(), privacy={"procedure": "own_coin"}, report_labels="neutral"))


def typed(asked: Survey, *lines: str, again: int | None = None) -> tuple[dict[str, object], str]:
    """The answers and what was said, when these lines are typed."""
    interview = Interview(asked)

    @click.command()
    def command() -> None:
        interview.run()
        if again is not None:
            interview.again(again)

    result: Result = CliRunner().invoke(command, input="".join(f"{line}\n" for line in lines))
    assert result.exception is None, result.output
    return interview.answers, result.output


def test_what_is_hidden_is_not_asked() -> None:
    answers, said = typed(HABITS, "1", "-", "1", "3", "-", "-")

    assert answers == {
        "smokes": "no", "taken_cannabis": None, "taken_sleeping": "never", "taken_painkillers": "often",
        "units_beer": None, "units_wine": None,
    }  # fmt: skip
    assert "cigarettes" not in said
    assert "pharmacy" not in said
    assert HABITS.encode(answers)


def test_everything_may_be_shown_and_answered() -> None:
    lines = ["2", "25", "n", "y", "2", "-", "-", "1 2", "99", "2.5", "0"]
    answers, said = typed(HABITS, *lines)

    assert answers["daily"] == "25"
    assert answers["why"] == ["pain", "sleep"]
    assert answers["units_beer"] == "2.5"
    assert said.count("I have read this.") == 2
    assert said.count("Think of the last twelve months.") == 1
    assert "How often have you taken these? – Cannabis" in said


def test_changed_answer_asks_what_it_shows_anew() -> None:
    """And only that; a note is not shown again."""
    answers, said = typed(HABITS, "1", "-", "-", "-", "-", "-", "2", "5", again=1)

    assert (answers["smokes"], answers["daily"]) == ("yes", "5")
    assert said.count("The first questions are about tobacco.") == 1


def test_refusal_is_offered_only_where_it_has_a_home() -> None:
    needed = parse_survey(survey(asks("boolean", "q", mechanism=COIN)))
    answers, said = typed(needed, "-", "2")

    assert answers == {"q": "yes"}
    assert "Prefer not to say" not in said
    assert "Enter a number from 1 to 2" in said


def test_vector_is_refused_as_a_whole() -> None:
    place = {"mechanism": {"name": "sampled_coordinate", "a": "3/5", "b": "2/5"}, "min": 0, "max": 4, "step": 2}
    zero = {"x0": 0, "x1": 0}
    asked = parse_survey(survey(asks("vector", "q", coordinates=names(2, "x"), **place, when_absent=zero)))

    assert typed(asked, "-")[0] == {"q": None}


def test_added_category_is_not_among_the_options() -> None:
    """It is what a refusal sends, and has a name of its own in reports."""
    _, said = typed(HABITS, "3", "1", "-", "-", "-", "-", "-")

    assert "Enter a number from 1 to 2" in said
    assert reported_in_words(HABITS, HABITS.questions[0], 2) == "no answer"


def test_instructions_for_coin_and_die_come_from_the_channel() -> None:
    _, said = typed(HAND, "1", "1", "2")

    assert "On heads: choose your true answer." in said
    assert "On tails, then tails: choose no, whatever is true." in said
    assert said.count("On 5 to 6: choose the opposite of your true answer.") == 2
    assert by_hand_in_words(HABITS.questions[0]) == []


def test_neutral_reports_have_no_bare_yes() -> None:
    stole = HAND.questions[0]

    assert [reported_in_words(HAND, stole, value) for value in (0, 1)] == ["Answer B", "Answer A"]
    assert "Yes is sent as A, no as B" in odds_in_words(stole)
    assert "A means" not in odds_in_words(absences().questions[1])


def test_only_the_drawn_questions_are_asked() -> None:
    coins = [asks("boolean", f"q{index}", mechanism=COIN) for index in range(4)]
    drawn = parse_survey(survey(*coins, ask=2))
    interview = Interview(drawn, (drawn.questions[1], drawn.questions[3]))

    @click.command()
    def command() -> None:
        interview.run()
        interview.again(2)

    result = CliRunner().invoke(command, input="1\n2\n1\n")
    assert result.exception is None, result.output
    assert interview.answers == {"q1": "no", "q3": "no"}
    assert result.output.count("2 of 2") == 2


@pytest.mark.parametrize(("text", "answer"), [("y", "yes"), ("Yes", "yes"), ("n", "no"), ("NO", "no"), ("2", "yes")])
def test_yes_and_no_may_be_typed(text: str, answer: str) -> None:
    asked = survey_of(questions=[document()["questions"][0]])

    assert typed(asked, text)[0] == {asked.questions[0].name: answer}


def test_option_may_be_typed_by_its_text() -> None:
    asked = survey_of(questions=[document()["questions"][2]])
    label = asked.questions[0].choices[1].label["en"]
    answers, said = typed(asked, f"{label}!", label.upper())

    assert answers == {"year": "second"}
    assert said.count("Enter a number from") == 1


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("12.5", "12.5"), ("12,5", "12.5"), (".35", "0.35"), ("-,5", "-0.5"), ("5.", "5"), ("+7", "7"), ("007", "7"),
        ("٣٫٥", "3.5"), ("۱۲", "12"), ("\u22122", "-2"), (" 3 ", "3"), ("0", "0"), ("2026-01-31", "2026-01-31"),
    ],
)  # fmt: skip
def test_number_is_read_as_it_was_meant(text: str, read: str) -> None:
    """Comma or point before the tenths, digits of any script, and what people leave out; dates stay as they are."""
    assert typed_number(text) == read


@pytest.mark.parametrize("text", ["1,000", "1,2,3", "1e1", "", ".", "-", "²", "½"])
def test_what_may_mean_two_numbers_is_left_as_it_is(text: str) -> None:
    """Such as thousands: a thousand is never taken for one; the question then asks again."""
    assert not typed_number(text).replace(".", "", 1).isdecimal()
