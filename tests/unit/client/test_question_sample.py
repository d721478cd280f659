"""``ask: m``: one set of questions, drawn before any is shown, whatever the answers; the others say nothing."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Key, MemoryLedger
from sottovoce.client.question_sample import draw_asked
from sottovoce.client.respondent import Respondent, encode, randomize
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import AnswerError, BudgetExhausted, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import dump_report, parse_report, report_length

from tests.documents import names, one_of, question, survey
from tests.property.channels import distribution
from tests.unit.client.fakes import Session, acknowledge

COIN = {"name": "coin_flip"}
GROUP = {"type": "select_one", "name": "group", "label": {"en": "G"}, "choices": names(2), "public": True}


def items(private=4):
    """So many yes/no questions, and one public question in their midst."""
    coins = [{**question(COIN), "name": f"q{index}"} for index in range(private)]
    return [*coins[:2], GROUP, *coins[2:]]


def asking(ask, private=4, **more):
    return parse_survey(survey(*items(private), ask=ask, **more))


def respondent(asked, ledger, *replies, **options):
    """(respondent, session)."""
    session = Session(*(replies or (acknowledge,)))
    return Respondent(asked, Transport("https://a.example", session, lambda _: None), ledger, **options), session


def asked_names(person):
    return tuple(q.name for q in person.asked)


@pytest.mark.parametrize(("private", "ask"), [(2, 1), (4, 1), (4, 3), (5, 2), (6, 3)])
def test_every_set_is_exactly_equally_likely(private, ask):
    """Computed from the code: no set is preferred, and the public question is in all of them."""
    asked = asking(ask, private)
    found = distribution(lambda draws: draw_asked(asked, draws))

    assert len(found) == len(list(combinations(range(private), ask)))
    assert set(found.values()) == {Fraction(1, len(found))}
    assert all(2 in drawn and len(drawn) == ask + 1 and list(drawn) == sorted(drawn) for drawn in found)


def test_set_survives_restarts_and_other_tabs(tmp_path):
    """Thirty-two programs at once, and one later, are all told the same set."""
    asked = asking(2, 8)
    with ThreadPoolExecutor(8) as pool:
        told = set(pool.map(lambda _: asked_names(respondent(asked, FileLedger(tmp_path))[0]), range(32)))

    assert told == {asked_names(respondent(asked, FileLedger(tmp_path))[0])}
    assert {path.suffix for path in tmp_path.iterdir()} == {".drawn"}


@pytest.mark.parametrize("kind", [FileLedger, MemoryLedger])
def test_set_is_drawn_once(tmp_path, kind):
    """A later visit, of whichever revision, takes what is kept and reads no random byte for it."""
    ledger = FileLedger(tmp_path) if kind is FileLedger else MemoryLedger()
    told = asked_names(respondent(asking(2), ledger)[0])
    unused = Draws(lambda _count: pytest.fail("drawn again"))
    revised = asking(2, revision=2)

    assert asked_names(respondent(asking(2), ledger, draws=unused)[0]) == told
    assert asked_names(respondent(revised, ledger, draws=unused)[0]) == told


def test_set_is_recorded_before_it_is_told():
    """If the ledger cannot write, nobody sees a question."""

    class Full(MemoryLedger):
        def prepare(self, _key, _digest, _draw):
            raise BudgetExhausted("the ledger cannot be written; nothing was sent")

    with pytest.raises(BudgetExhausted):
        _ = respondent(asking(2), Full())[0].asked


def test_revisions_with_the_same_questions_ask_the_same_set():
    """Whoever opens the links of several versions has no choice between sets, wherever the questions stand in them."""
    ledger = MemoryLedger()
    versions = [asking(6, 12, revision=number) for number in range(1, 13)]
    reordered = parse_survey(survey(*items(12)[::-1], ask=6))
    told = {frozenset(asked_names(respondent(asked, ledger)[0])) for asked in [*versions, reordered]}

    assert len(told) == 1


def test_set_is_for_one_choice_of_questions_and_one_wave():
    """A set of other questions, of another number, or in another wave is drawn for itself."""
    ledger = MemoryLedger()
    others = [asking(6, 12), asking(5, 12), asking(6, 13)]
    days = [f"2026-01-{day:02}T00:00:00Z" for day in range(1, 14)]
    waves = [{"opens": opens, "closes": closes} for opens, closes in pairwise(days)]
    told = {asked_names(respondent(asking(6, 12, waves=waves), ledger, wave=wave)[0]) for wave in range(12)}

    assert [len(asked_names(respondent(asked, ledger)[0])) for asked in others] == [7, 6, 7]
    assert len(told) > 1


@pytest.mark.parametrize(
    "drawn", ["", "0", '"0"', "[0]", "[0,1,2,3]", "[9,1,2]", "[2,1,0]", "[0,1,2,9]", "[0,1,true]", "null"]
)
def test_damaged_set_is_no_reason_to_draw_again(tmp_path, drawn):
    """A second set could be chosen for what it asks."""
    _ = respondent(asking(2), FileLedger(tmp_path))[0].asked
    next(tmp_path.iterdir()).write_text(f'{{"drawn":{drawn}}}')

    with pytest.raises(BudgetExhausted, match="cannot be read"):
        _ = respondent(asking(2), FileLedger(tmp_path))[0].asked


def test_report_carries_exactly_the_asked_answers():
    """Null elsewhere; answers to other questions are not looked at, not even for their form."""
    me, session = respondent(asking(2), MemoryLedger())
    answers = {q.name: "yes" if q.mechanism else "c1" for q in me.asked}
    me.answer({**{f"q{index}": "sentinel" for index in range(4)}, **answers})

    report = parse_report(session.requests[0][2]["data"])
    told = tuple(q for q, value in zip(me.survey.questions, report.values, strict=True) if value is not None)
    assert told == me.asked
    assert report.values[2] == 1


def test_every_asked_answer_is_needed():
    """Leaving one out would let absence tell something."""
    me, session = respondent(asking(2), MemoryLedger())
    answers = {q.name: "yes" if q.mechanism else "c1" for q in me.asked}

    for name in answers:
        with pytest.raises(AnswerError, match=f"question '{name}': the answer is missing"):
            me.answer({key: answer for key, answer in answers.items() if key != name})
    assert session.requests == []


@pytest.mark.parametrize(
    "values",
    [(0, 0, 0, 0, 0), (0, None, 0, None, None), (None,) * 5, (0, 0, None, None, None), (0, 0, 0, 0, None),
     # Three private answers, and the public one left out for it.
     (0, None, None, 0, 0)],
)  # fmt: skip
def test_randomize_refuses_another_number_of_answers(values):
    """The charge is for m questions."""
    with pytest.raises(AnswerError, match="as many answers"):
        randomize(asking(2), values, Draws())


def test_length_is_the_same_for_every_set_and_answer():
    """Values of one to three digits beside nulls of four."""
    wide = [{**one_of(count, {"name": "kary_rr", "odds": "3"}), "name": f"k{count}"} for count in (2, 11, 1000, 150)]
    for ask in (1, 2, 3):
        asked = parse_survey(survey(*wide, ask=ask))
        lengths = set()
        for drawn in combinations(range(4), ask):
            for option in (0, -1):
                answers = {q.name: q.options[option] for q in asked.questions}
                report = randomize(asked, encode(asked, answers, drawn), Draws())
                lengths.add(len(dump_report(report, asked)))
        assert lengths == {report_length(asked, 0)}


def test_epsilon_is_that_of_the_costliest_questions():
    """The set is drawn after the price is told."""
    costs = ("2", "0.5", "1", "1.5")
    questions = [{**question({"epsilon": cost}), "name": f"q{index}"} for index, cost in enumerate(costs)]
    asked = parse_survey(survey(*questions, ask=2))

    assert Fraction("3.4999") < asked.epsilon <= 3.5


@pytest.mark.parametrize("ask", [0, 4, 5, -1, True, "2", None])
def test_ask_must_leave_something_out_and_something_in(ask):
    """From 1 to one less than the private questions; otherwise the key is a mistake."""
    with pytest.raises(SpecError, match="/ask: must be a whole number from 1"):
        asking(ask)


def test_questions_are_asked_about_equally_often():
    """In the running client, over many devices."""
    asked = asking(1, 4)
    counts = Counter(q.name for _ in range(400) for q in respondent(asked, MemoryLedger())[0].asked)

    assert counts["group"] == 400
    assert all(60 < counts[f"q{index}"] < 140 for index in range(4))


def test_ask_does_not_go_with_own_coins_or_conditions():
    """The software draws nothing under own coins; what a condition looks at may not be asked."""
    for more, pointer in [({"privacy": {"procedure": "own_coin"}}, "/ask"), ({}, "/questions/1/visible_if")]:
        coins = [{**question(COIN), "name": f"q{index}"} for index in range(3)]
        if not more:
            coins[1]["visible_if"] = {"question": "q0", "is": "yes"}
        with pytest.raises(SpecError) as caught:
            parse_survey(survey(*coins, ask=1, **more))
        assert pointer in [problem.pointer for problem in caught.value.problems]


@pytest.mark.parametrize("ended", ["withdrawn", "forgotten"])
def test_set_goes_with_its_report(tmp_path, ended):
    """Once the report has ended nothing is asked again, so which questions it answered is nobody's business."""
    ledger = FileLedger(tmp_path)
    me, _ = respondent(asking(2), ledger)
    me.answer({q.name: "yes" if q.mechanism else "c1" for q in me.asked})
    other = asking(2, name="other")
    kept = asked_names(respondent(other, ledger)[0])
    ledger.end(Key("https://a.example", me.survey.name), ended)

    assert [path.suffix for path in sorted(tmp_path.iterdir())].count(".drawn") == 1
    assert asked_names(respondent(other, ledger)[0]) == kept
    with pytest.raises(BudgetExhausted, match=ended):
        me.answer({})
