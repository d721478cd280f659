"""Notes, matrices, absence, conditions and innocuous facts: what is read, what is refused, what is encoded."""

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import perturb
from sottovoce.client.words import odds_in_words, option_in_words, second_statement_in_words
from sottovoce.shared.by_hand.protection import drawn_by_device, hidden_by_facts, is_all_by_hand
from sottovoce.shared.errors import AnswerError, SpecError
from sottovoce.shared.mechanisms.binary_rr import BinaryRR
from sottovoce.shared.mechanisms.innocuous_rr import InnocuousRR
from sottovoce.shared.mechanisms.kary_rr import KaryRR
from sottovoce.shared.parse_survey import load_survey, parse_survey
from sottovoce.shared.single_question import parse_question

from tests.absences import COIN, FULL, KARY, absences, asks, either
from tests.documents import names, problems_of, survey
from tests.vectors.items import any_answers

SURVEY = absences()

VALUES = (1, 1, 0, 1, 2, 3, (2, 0), 0, 2, 4)

"""The true values of ``FULL``."""


def problems(*questions: dict[str, Any], **more: Any) -> list[tuple[str, str]]:
    """(pointer, message) of every mistake in a survey of these questions."""
    return problems_of(survey(*questions, **more))


FLIP = {"type": "boolean", "name": "coin", "label": {"en": "C"}, "mechanism": {"name": "coin_flip"}}


def by_fact(name: str = "plagiarism", procedure: str = "crosswise", **innocuous: Any) -> dict[str, Any]:
    given = {"label": {"en": f"Second of {name}"}, "share": "1/4", "source": {"en": "S"}, **innocuous}
    return {"type": "boolean", "name": name, "label": {"en": "P"}, "procedure": procedure, "innocuous": given}


def channel(**innocuous: Any) -> InnocuousRR:
    procedure = "unrelated_question" if "truth" in innocuous else "crosswise"
    made = parse_survey(survey(by_fact(procedure=procedure, **innocuous))).questions[0].mechanism
    assert isinstance(made, InnocuousRR)
    return made


def test_items_are_shown_and_questions_and_rows_reported() -> None:
    """A matrix is one item, and as many questions as it has rows."""
    assert [item.type for item in SURVEY.items] == [
        "note", "boolean", "boolean", "select_one", "note", "acknowledge", "boolean", "integer", "select_multiple",
        "vector", "matrix", "matrix",
    ]  # fmt: skip
    assert [question.name for question in SURVEY.questions] == list(FULL)
    assert SURVEY.questions == tuple(question for item in SURVEY.items for question in item.questions)
    assert [row.name for row in SURVEY.items[10].rows] == ["r0", "r1"]

    many = [asks("matrix", f"m{i}", rows=names(50), of=MATRIX["of"]) for i in range(5)]

    assert ("/questions", "must report 1 to 200 answers, each row of a matrix one") in problems(*many)


def test_row_is_called_by_matrix_and_row_in_every_language() -> None:
    """A text that is missing in a language is taken from the default one."""
    assert SURVEY.questions[-1].label == {"en": "Spent – Home", "de": "Spent – Haus"}


def test_epsilon_adds_over_rows() -> None:
    single = asks("rating", "q", choices=names(3), mechanism=KARY)
    rows = {"rows": names(2), "of": {"type": "rating", "choices": names(3), "mechanism": KARY}}
    matrix = parse_survey(survey(asks("matrix", "m", **rows)))

    assert matrix.epsilon == 2 * parse_survey(survey(single)).epsilon


def test_canonical_form_reads_back_as_the_same_survey() -> None:
    """Defaults and orders are written out, so that two files that mean the same have one digest."""
    loaded = load_survey(SURVEY.canonical)
    written = {item["name"]: item for item in json.loads(SURVEY.canonical)["questions"]}

    assert loaded == SURVEY
    assert written["brand"]["visible_if"] == {"smokes": ["yes"]}
    assert written["quit"]["visible_if"] == {"brand": ["c0", "c2"]}
    assert written["which"]["visible_if"] == {"adult": ["yes"], "age": {"min": "2", "max": "4"}}
    assert written["place"]["when_absent"] == {"x0": "0", "x1": "2"}
    assert written["spent"]["of"]["when_absent"] == "1"


def test_absent_category_is_one_of_the_channel_with_its_odds() -> None:
    """The third answer of a coin flip, at the same odds."""
    asked = parse_survey(survey(asks("boolean", "q", mechanism=COIN, absent_category=True)))
    three = {"name": "kary_rr", "odds": "3"}
    written = parse_survey(survey(asks("boolean", "q", mechanism=three, absent_category=True)))
    mechanism = asked.questions[0].mechanism

    assert isinstance(mechanism, KaryRR)
    assert [mechanism.probability(value, 1) for value in (1, 0, 2)] == [Fraction(3, 5), Fraction(1, 5), Fraction(1, 5)]
    assert mechanism.epsilon == parse_survey(survey(asks("boolean", "q", mechanism=COIN))).epsilon
    assert asked.digest == written.digest

    asked = parse_survey(survey(asks("boolean", "q", mechanism={"epsilon": "1"}, absent_category=True))).questions[0]

    assert (asked.options, asked.absent, asked.largest) == (("no", "yes", "absent"), 2, 2)
    assert asked.mechanism.name == "kary_rr"


@pytest.mark.parametrize("answers", [*any_answers()])
def test_one_condition_of_any_of_is_enough(answers: dict[str, str | None]) -> None:
    """Beside visible_if both must hold; what was refused holds for nothing."""
    values = either().encode(answers)
    one = "yes" in (answers["smokes"], answers["drinks"])

    assert values[3:] == (one, one and answers["adult"] == "yes")


def test_any_of_reads_back_and_names_what_may_be_hidden() -> None:
    """In the order of the questions; a survey without the key keeps its digest."""
    asked = either()

    assert load_survey(asked.canonical).items == asked.items
    assert asked.document["questions"][4]["any_of"] == {"smokes": ["yes"], "drinks": ["yes"]}
    assert asked.conditional == {"help", "paid"}
    assert "any_of" not in SURVEY.canonical.decode()


@pytest.mark.parametrize(
    ("after", "pointer"),
    [({}, "/after"), ("https://a.example", "/after"), ({"link": "http://a.example"}, "/after/link"),
     ({"link": "https://a.example/{id}"}, "/after/link"), ({"text": "Help"}, "/after/text"), ({"to": 1}, "/after/to")],
)  # fmt: skip
def test_what_is_told_afterwards_is_a_text_or_one_link_for_all(after: object, pointer: str) -> None:
    """Another scheme, a place for somebody's own number, or nothing at all is refused."""
    assert [place for place, _ in problems(FIRST, after=after)] == [pointer]


def test_everything_shown_is_encoded_as_answered() -> None:
    assert SURVEY.encode(FULL) == VALUES


@pytest.mark.parametrize(
    ("changed", "values"),
    [
        ({"smokes": "no"}, (1, 0, 1, 0, 2, 3, (2, 0), 0, 2, 4)),  # hides brand, and with it quit
        ({"smokes": None}, (1, 2, 1, 0, 2, 3, (2, 0), 0, 2, 4)),
        ({"brand": "c1"}, (1, 1, 1, 0, 2, 3, (2, 0), 0, 2, 4)),
        ({"brand": None}, (1, 1, 1, 0, 2, 3, (2, 0), 0, 2, 4)),  # not as if c1 had been answered
        ({"age": "1"}, (1, 1, 0, 1, 1, 0, (0, 1), 0, 2, 4)),
        ({"age": "4"}, (1, 1, 0, 1, 4, 3, (2, 0), 3, 3, 4)),
        ({"age": None}, (1, 1, 0, 1, 1, 0, (0, 1), 3, 3, 4)),  # the fixed 1 is no answer: it shows no matrix
        ({"adult": "no"}, (0, 1, 0, 1, 2, 0, (0, 1), 0, 2, 4)),
        ({"which": []}, (1, 1, 0, 1, 2, 0, (0, 1), 0, 2, 4)),
        ({"often_r1": None, "spent_home": None}, (1, 1, 0, 1, 2, 3, (2, 0), 0, 3, 1)),
    ],
)
def test_what_is_hidden_or_refused_has_its_fixed_value(changed: dict[str, Any], values: tuple[Any, ...]) -> None:
    assert SURVEY.encode({**FULL, **changed}) == values


def test_answer_may_be_left_out_only_where_absence_has_a_home() -> None:
    """A missing entry is no answer; a question without a home must be answered."""
    assert SURVEY.encode({"adult": "yes"}) == (1, 2, 1, 0, 1, 0, (0, 1), 3, 3, 1)
    for answers in ({}, {"adult": None}):
        with pytest.raises(AnswerError, match="'adult': the answer is missing"):
            SURVEY.encode(answers)


@pytest.mark.parametrize("extra", [{"welcome": True}, {"sure": True}, {"often": "c0"}, {"smokes": "absent"}])
def test_only_questions_are_answered_and_only_with_their_own_options(extra: dict[str, Any]) -> None:
    """Notes and matrices have no answer, and the added category has one way in: no answer."""
    with pytest.raises(AnswerError):
        SURVEY.encode({**FULL, **extra})


MATRIX = {"rows": names(2), "of": {"type": "boolean", "mechanism": COIN}}

NUMBER = asks("integer", "q", min=0, max=3, public=True)

FIRST = asks("select_one", "first", choices=names(3), mechanism=KARY, when_absent="c0")


@pytest.mark.parametrize(
    ("questions", "pointer", "message"),
    [
        (
            [asks("boolean", "q", mechanism={"name": "warner", "truth": "3/4"}, absent_category=True)],
            "/questions/0/mechanism", "choice of three",
        ),
        ([asks("boolean", "q", mechanism=COIN, absent_category="yes")], "/questions/0/absent_category", "true"),
        ([{**FIRST, "absent_category": True}], "/questions/0/absent_category", "one of the two"),
        (
            [asks("integer", "q", min=0, max=3, mechanism={"epsilon": "1"}, absent_category=True)],
            "/questions/0/absent_category", "give it when_absent",
        ),
        (
            [asks("select_one", "q", choices=[{"name": n, "label": {"en": n}} for n in ("absent", "b")],
                  mechanism=KARY, absent_category=True)],
            "/questions/0/absent_category", "named absent",
        ),
        ([{**FIRST, "when_absent": "c9"}], "/questions/0/when_absent", "not one of its options"),
        ([{**FIRST, "when_absent": None}], "/questions/0/when_absent", "not one of its options"),
        (
            [asks("select_multiple", "q", choices=names(2), mechanism={"epsilon": "1"}, when_absent=["c0"])],
            "/questions/0/when_absent", "empty list",
        ),
        (
            [asks("integer", "q", min=0, max=3, mechanism={"epsilon": "1"}, when_absent=9)],
            "/questions/0/when_absent", "between min and max",
        ),
        (
            [FIRST, asks("boolean", "q", mechanism=COIN, visible_if={"first": "c0"})],
            "/questions/1/visible_if", "when_absent or absent_category",
        ),
        ([FIRST, asks("note", "n", visible_if={"first": "c9"})], "/questions/1/visible_if/first", "options"),
        ([FIRST, asks("note", "n", visible_if={"first": []})], "/questions/1/visible_if/first", "options"),
        ([FIRST, asks("note", "n", visible_if={"first": {"min": 1}})], "/questions/1/visible_if/first", "options"),
        ([FIRST, asks("note", "n", visible_if={})], "/questions/1/visible_if", "must be a map"),
        ([FIRST, asks("note", "n", any_of={})], "/questions/1/any_of", "must be a map"),
        ([FIRST, asks("boolean", "q", mechanism=COIN, any_of={"first": "c0"})], "/questions/1/any_of", "when_absent"),
        (
            [FIRST, asks("boolean", "q", public=True, when_absent="no", any_of={"first": "c0"})],
            "/questions/1/any_of", "give that answer away",
        ),
        ([FIRST, asks("note", "n", visible_if=["first"])], "/questions/1/visible_if", "must be a map"),
        ([asks("note", "n", visible_if={"first": "c0"}), FIRST], "/questions/0/visible_if/first", "earlier"),
        ([{**FIRST, "visible_if": {"first": "c0"}}], "/questions/0/visible_if/first", "earlier"),
        ([FIRST, asks("note", "n"), asks("note", "m", visible_if={"n": "c0"})], "/questions/2/visible_if/n", "earlier"),
        (
            [asks("matrix", "m", **MATRIX), asks("note", "n", visible_if={"m": "yes"})],
            "/questions/1/visible_if/m", "earlier",
        ),
        (
            [FIRST, asks("boolean", "q", public=True, when_absent="no", visible_if={"first": "c0"})],
            "/questions/1/visible_if", "give that answer away",
        ),
        (
            [NUMBER, asks("note", "n", visible_if={"q": {"min": 3, "max": 1}})],
            "/questions/1/visible_if/q", "not be more",
        ),
        (
            [NUMBER, asks("note", "n", visible_if={"q": {"min": "0.5"}})],
            "/questions/1/visible_if/q", "grid",
        ),
        ([asks("note", "n")], "/questions", "must report 1 to 200"),
        ([FIRST, asks("note", "n", mechanism=COIN)], "/questions/1/mechanism", "not a known key"),
        ([FIRST, asks("note", "first")], "/questions/1/name", "used twice"),
        (
            [FIRST, asks("note", "n", visible_if={"first": "c2"}), asks("boolean", "first", mechanism=COIN)],
            "/questions/2/name", "used twice",
        ),
        ([asks("matrix", "m", **MATRIX), asks("note", "m_c1")], "/questions/1/name", "used twice"),
        ([asks("boolean", "m_c1", mechanism=COIN), asks("matrix", "m", **MATRIX)], "/questions/1/name", "used twice"),
        ([asks("matrix", "m", rows=names(2))], "/questions/0/of", "missing"),
        ([asks("matrix", "m", of=MATRIX["of"])], "/questions/0/rows", "missing"),
        ([asks("matrix", "m", **{**MATRIX, "rows": []})], "/questions/0/rows", "1 to 50"),
        ([asks("matrix", "m", **{**MATRIX, "rows": names(1) * 2})], "/questions/0/rows/1/name", "used twice"),
        ([asks("matrix", "m" * 62, **MATRIX)], "/questions/0/rows/0/name", "too long"),
        ([asks("matrix", "m", **MATRIX, mechanism=COIN)], "/questions/0/mechanism", "not a known key"),
        (
            [asks("matrix", "m", rows=names(2), of={"type": "boolean", "public": True, "cohort": True})],
            "/questions/0/of/cohort", "not a known key",
        ),
        ([asks("matrix", "m", rows=names(2), of={"type": "vector"})], "/questions/0/of/type", "must be one of"),
        ([asks("matrix", "m", rows=names(2), of={"type": "matrix"})], "/questions/0/of/type", "must be one of"),
    ],
)  # fmt: skip
def test_mistake_is_told_where_it_is(questions: list[dict[str, Any]], pointer: str, message: str) -> None:
    found = problems(*questions)

    assert [message in text for place, text in found if place == pointer] == [True], found


def test_question_may_depend_on_a_public_one() -> None:
    """What is public gives nothing private away."""
    public = asks("boolean", "q", public=True)
    for more in ({"mechanism": COIN}, {"public": True}):
        parse_survey(survey(public, asks("boolean", "r", when_absent="no", visible_if={"q": "yes"}, **more)))


def test_report_labels_are_neutral_for_yes_and_no_only() -> None:
    """The default leaves the canonical survey as it is."""
    assert [q.neutral for q in absences(report_labels="neutral").questions[:4]] == [False, True, False, True]
    assert absences(report_labels="plain").digest == SURVEY.digest
    assert problems(FIRST, report_labels="kind")[0][0] == "/report_labels"


CHOICE = {"type": "select_one", "choices": names(2), "mechanism": KARY}

MOON = {"type": "boolean", "name": "moon", "label": {"en": "Moon?"}, "public": True, "anchor": True}


@pytest.mark.parametrize(
    ("asked", "pointer", "message"),
    [
        (MOON, "known_share", "is missing"),
        (MOON | {"known_share": "1/2"}, "known_share", "must be from 0 to 1, and at least 0.1 away from 1/2"),
        (MOON | {"known_share": "2/5", "when_absent": "no"}, "known_share", "must be from 0 to 1"),
        (MOON | {"known_share": "2"}, "known_share", "must be from 0 to 1"),
        (MOON | {"known_share": "none"}, "known_share", "must be a fraction"),
        (MOON | {"known_share": "0", "anchor": False}, "anchor", "must be true, or left out"),
        (CHOICE | {"anchor": True, "known_share": "0"}, "anchor", "only a yes/no question can be an anchor"),
        ({"mechanism": COIN, "known_share": "0"}, "known_share", "goes with anchor: true only"),
    ],
)
def test_anchor_must_tell_careless_people_from_others(asked: dict[str, Any], pointer: str, message: str) -> None:
    """Its known share is not that of random answers among the options shown, the way out among them."""
    [(place, said)] = problems({"type": "boolean", **asked, "name": "moon", "label": {"en": "M"}})
    assert place == f"/questions/0/{pointer}"
    assert said.startswith(message)


def test_anchor_is_asked_of_everybody_and_outside_blocks() -> None:
    """Else its known share would not be that of the reports."""
    first = asks("boolean", "first", mechanism=COIN)
    hidden = asks("boolean", "hidden", mechanism=COIN, anchor=True, known_share="0", when_absent="no")
    found = problems(first, {**hidden, "visible_if": {"first": "yes"}})
    assert found == [("/questions/1/visible_if", "an anchor is asked of everybody and has no conditions")]

    anchor = {"type": "boolean", "name": "moon", "label": {"en": "M"}, "anchor": True, "known_share": "0"}
    block = {"block": "b", "mechanism": {"epsilon": "2"}, "items": [{**anchor, "name": "a"}, anchor]}
    found = problems(block)
    assert found[0] == ("/questions/0/items/0/anchor", "an anchor is not in a block, whose questions share their noise")


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
    made = parse_survey(survey(by_fact(), FLIP))
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
        ([by_fact(fact="birthday"), {**FLIP, "name": "birth_month"}], {}, "/questions/1/name"),
        ([by_fact(fact="house_number"), {**FLIP, "name": "your_house_number"}], {}, "/questions/1/name"),
        ([by_fact(), {**FLIP, "when_absent": "no", "visible_if": {"plagiarism": "yes"}}], {},
         "/questions/1/visible_if"),
        ([by_fact()], {"privacy": {"procedure": "own_coin"}}, "/questions/0/procedure"),
        ([by_fact()], {"waves": [{"opens": f"2027-0{month}-01T00:00:00Z", "closes": f"2027-0{month + 1}-01T00:00:00Z"}
                                 for month in (1, 3)]}, "/questions/0/procedure"),
        ([{"block": "b", "mechanism": {"epsilon": "1"}, "items": [by_fact(), by_fact("other")]}], {},
         "/questions/0/items/0/procedure"),
    ],
)  # fmt: skip
def test_what_would_give_the_fact_away_is_refused(questions: list[Any], more: dict[str, Any], place: str) -> None:
    assert place in dict(problems(*questions, **more))


def test_facts_of_others_and_in_other_words_give_nothing_away() -> None:
    """A question about the same fact is the only one that does."""
    named = {"first": "birthday", "second": "mother_birthday", "third": "father_date_of_birth", "fourth": "may"}
    asked = [by_fact(name, fact=fact) for name, fact in named.items()]
    parse_survey(survey(*asked, by_fact("fifth", label={"en": "May", "de": "Mai"})))

    parse_survey(survey(by_fact(fact="age"), {**FLIP, "name": "language"}))


def test_canonical_survey_is_read_back_and_a_single_question_is_refused() -> None:
    """A study's other questions are unknown to a single one."""
    asked = by_fact(share="361/1461", se="1/200", fact="birthday")
    made = parse_survey(survey(asked))
    assert load_survey(made.canonical).questions == made.questions
    with pytest.raises(SpecError) as caught:
        parse_question(asked)
    assert caught.value.problems[0].pointer == "/procedure"


def test_channel_with_an_uncertain_share_is_not_the_plain_one() -> None:
    assert channel(share="1/4") != channel(share="1/4", se="1/100")
    assert channel(share="1/4") != BinaryRR(Fraction(3, 4), Fraction(1, 4))
