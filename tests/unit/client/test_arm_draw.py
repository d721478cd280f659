"""Random arms, ``ask: m`` and blocks on the device: drawn before anything is shown, kept, and charged once."""

import math
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from sottovoce.aggregator.intake.admission import check_values
from sottovoce.aggregator.surveys.privacy_limit import check_affordable
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import Key, MemoryLedger
from sottovoce.client.question_sample import draw_arm, draw_asked
from sottovoce.client.respondent import Respondent, encode, randomize
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import AnswerError, BudgetExhausted, ReportRejected, SpecError
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import dump_report, parse_report, report_length
from sottovoce.shared.spec import Survey

from tests.blocks import block, blocks, in_block
from tests.documents import Document, names, one_of, question, survey, wrong_places
from tests.property.channels import distribution
from tests.unit.client.fakes import Session, acknowledge
from tests.vectors.arms import COIN, arms, asks, drawn_arms, three_arms, two_arms

ANSWERS = {"year": "c0", "cheated": "yes", "cheated_direct": "yes"}


def respondent(asked: Survey | Document, ledger: object, **options: object) -> tuple[Respondent, Session]:
    session = Session(acknowledge)
    survey = asked if isinstance(asked, Survey) else parse_survey(asked)
    return Respondent(survey, Transport("https://a.example", session, lambda _: None), ledger, **options), session  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [(1, 1), (1, 4, 2), (3, 1, 1, 1000)])
def test_law_of_the_arm_is_its_weights(weights: tuple[int, ...]) -> None:
    asked = parse_survey(survey(asks("q", public=True), arms=arms(*weights)))
    found = distribution(lambda draws: draw_arm(asked, draws))

    assert found == {arm: Fraction(weight, sum(weights)) for arm, weight in enumerate(weights)}


def test_arm_survives_restarts_tabs_links_and_waves(tmp_path: object) -> None:
    """Many programs at once, with other tokens and waves, and a correction, are told the same arm."""
    waves = [{"opens": f"2026-0{month}-01T00:00:00Z", "closes": f"2026-0{month + 1}-01T00:00:00Z"} for month in (1, 2)]
    document = two_arms(access="token", waves=waves)

    def told(turn: int) -> str:
        version = {**document, "revision": 1 + turn % 3}
        return respondent(version, FileLedger(tmp_path), token=f"TOKEN{turn}", wave=turn % 2)[0].arm  # type: ignore[arg-type]

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(told, range(32)))) == 1


def test_arm_is_kept_when_a_correction_adds_another() -> None:
    """It is known by its name, wherever the name stands among the arms."""
    ledger = MemoryLedger()
    unused = Draws(lambda _count: pytest.fail("drawn again"))
    drawn = respondent(two_arms(), ledger)[0].arm
    more = {**two_arms(), "arms": [{"name": "new", "weight": 1000}, *arms(1, 1)[::-1]], "revision": 2}

    assert respondent(more, ledger, draws=unused)[0].arm == drawn


def test_arm_is_drawn_anew_in_each_wave_only_where_the_survey_says_so() -> None:
    """With fair arms, forty waves of one person in one arm would be a miracle."""
    ledger = MemoryLedger()
    days = [f"2026-{1 + day // 28:02}-{1 + day % 28:02}T00:00:00Z" for day in range(41)]
    waves = [{"opens": opens, "closes": closes} for opens, closes in pairwise(days)]

    told = {respondent(two_arms(waves=waves, arms_per_wave=True), ledger, wave=wave)[0].arm for wave in range(40)}
    assert told == {"direct", "protected"}


def test_nothing_is_drawn_before_the_arm_is_needed() -> None:
    """Whoever leaves at Start is in no arm."""
    silent = Draws(lambda _count: pytest.fail("drawn at Start"))
    me, _ = respondent(two_arms(), MemoryLedger(), draws=silent)

    assert not me.drawn
    assert me.cost == me.survey.epsilon


@pytest.mark.parametrize("kept", ["", "[]", "[0]", "[300]", '"direct"', "null", "[102,111,117,114,116,104]"])
def test_damaged_arm_is_no_reason_to_draw_again(tmp_path: object, kept: str) -> None:
    """Else a person could choose."""
    _ = respondent(two_arms(), FileLedger(tmp_path))[0].arm  # type: ignore[arg-type]
    next(tmp_path.iterdir()).write_text(f'{{"drawn":{kept}}}')  # type: ignore[attr-defined]

    with pytest.raises(BudgetExhausted, match="cannot be read"):
        _ = respondent(two_arms(), FileLedger(tmp_path))[0].arm  # type: ignore[arg-type]


@pytest.mark.parametrize(("byte", "arm", "values"), [(0, 0, [0, 1, None]), (1, 1, [0, None, 1])])
def test_report_has_the_arm_and_its_questions_alone(byte: int, arm: int, values: list[object]) -> None:
    """Null elsewhere; what the answers say of the arm, or of questions of another one, is not looked at."""
    me, session = respondent(two_arms(), MemoryLedger(), draws=Draws(lambda count: bytes([byte] * count)))
    me.answer({**ANSWERS, "arm": "third"})
    body = session.requests[0][2]["data"]
    report = parse_report(body)

    assert list(report.values[:-1])[:2] == values[:2]
    assert report.values[-1] == arm
    assert [value is None for value in report.values] == [value is None for value in [*values, arm]]
    check_values(me.survey, report.values)


def test_reports_are_equally_long_in_all_arms() -> None:
    """A number of seven digits in one arm, and nulls in the others."""
    lengths = set()
    for byte in range(7):
        for income in ("0", "1000000"):
            ledger = MemoryLedger()
            _ = respondent(three_arms(), ledger, draws=Draws(lambda _count, arm=byte: bytes([arm])))[0].arm  # type: ignore[misc]
            me, session = respondent(three_arms(), ledger)
            me.answer({"income": income, "a": "yes", "b": "no", "rows_r0": "yes", "rows_r1": "no"})
            lengths.add(len(session.requests[0][2]["data"]))
    assert len(lengths) == 1


@pytest.mark.parametrize(
    "values", [(0, 1, None, 1), (0, None, 1, 0), (0, 1, 1, 0), (0, None, None, 1), (0, 1, None, 2), (0, 1, None, -1),
               (0, 1, None, None), (None, 1, None, 0), (0, 1, None), (0, 1, None, 0, 0)],
)  # fmt: skip
def test_values_of_no_arm_are_refused(values: tuple[int | None, ...]) -> None:
    asked = parse_survey(two_arms())
    with pytest.raises(AnswerError, match="as many answers"):
        randomize(asked, values, Draws(lambda _count: pytest.fail("drawn")))
    with pytest.raises(ReportRejected):
        check_values(asked, values)


def test_epsilon_is_that_of_the_dearest_arm() -> None:
    """Whichever arm chance takes, the price that is told and charged is the same."""
    asked = parse_survey(
        survey(
            asks("all", mechanism=COIN),
            asks("one", "direct", mechanism={"epsilon": "2"}),
            asks("two", "protected", mechanism={"epsilon": "0.5"}),
            arms=arms(1, 1),
        )
    )
    every, one, _two, arm = [question.epsilon for question in asked.questions]

    assert asked.epsilon == pytest.approx(every + one)
    assert arm == 0


def test_set_of_the_arm_is_drawn_evenly_and_kept(tmp_path: Path) -> None:
    """Each pair of the four units with the same chance; a new visit, another link and a correction give no other."""
    asked = parse_survey(drawn_arms())
    found = distribution(lambda draws: draw_asked(asked, draws, 1))
    units = asked.units_by_arm[1]
    sets = [tuple(sorted({0, 7, *one, *other})) for one, other in combinations(units, 2)]
    assert found == dict.fromkeys(sets, Fraction(1, len(sets)))
    assert [draw_asked(asked, Draws(), arm) for arm in (0, 2)] == [(0, 1, 7), (0, 2, 7)]

    def places(turn: int) -> tuple[int, ...]:
        return respondent({**drawn_arms(), "revision": 1 + turn % 3}, FileLedger(tmp_path))[0].places

    assert len({places(turn) for turn in range(12)}) == 1


GROUP = {"type": "select_one", "name": "group", "label": {"en": "G"}, "choices": names(2), "public": True}


def items(private=4):
    coins = [{**question(COIN), "name": f"q{index}"} for index in range(private)]
    return [*coins[:2], GROUP, *coins[2:]]


def asking(ask, private=4, **more):
    return parse_survey(survey(*items(private), ask=ask, **more))


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
    asked = asking(2, 8)
    with ThreadPoolExecutor(8) as pool:
        told = set(pool.map(lambda _: asked_names(respondent(asked, FileLedger(tmp_path))[0]), range(32)))

    assert told == {asked_names(respondent(asked, FileLedger(tmp_path))[0])}
    assert {path.suffix for path in tmp_path.iterdir()} == {".drawn"}


def test_set_is_drawn_once(ledger):
    """A later visit, of whichever revision, takes what is kept and reads no random byte for it."""
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
    with pytest.raises(SpecError, match="/ask: must be a whole number from 1"):
        asking(ask)


def test_questions_are_asked_about_equally_often():
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
        assert pointer in wrong_places(survey(*coins, ask=1, **more))


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


TWO = ("a", "b")


def of_odds(*odds):
    """A survey with a block of two yes/no questions at each of these odds."""
    made = [
        block(*(in_block(f"{name}{place}") for name in TWO), odds=each, name=f"block{place}")
        for place, each in enumerate(odds)
    ]
    return blocks(*made)


@pytest.mark.parametrize("options", [2, 60])
def test_a_block_is_charged_once(tmp_path, options):
    """Not once a question; the report has one length for whatever is answered."""
    survey, ledger = blocks(block(in_block("a", options), in_block("b", options))), FileLedger(tmp_path)
    last = "yes" if options == 2 else "c59"
    me, _ = respondent(survey, ledger)
    body = me.answer({"a": last, "b": last})["body"].encode()
    assert len(body) == report_length(survey, 0)
    assert parse_report(body).survey == survey.name
    assert ledger.spent("https://a.example") == pytest.approx(math.log(9), abs=1e-12)


@pytest.mark.parametrize("odds", [("20", "20"), ("20", "7")])
def test_blocks_within_the_limits_are_answered(odds):
    """Two at odds of 20 cost 5.99 together, each less than 3."""
    survey = of_odds(*odds)
    check_affordable(survey)
    me, _ = respondent(survey, MemoryLedger())
    assert me.answer(dict.fromkeys((question.name for question in survey.questions), "yes"))["body"]


@pytest.mark.parametrize(("odds", "words"), [(("21",), "one question"), (("20", "20", "20"), "in total")])
def test_blocks_beyond_a_limit_are_refused_by_server_and_device(odds, words):
    """The odds of one question alone are never held against the limit: 21 is refused, although 11 to 1 is shown."""
    survey = of_odds(*odds)
    with pytest.raises(SpecError) as refused:
        check_affordable(survey)
    # Once for a block, and not once for each of its questions.
    assert len(refused.value.problems) == 1
    with pytest.raises(BudgetExhausted, match=words):
        respondent(survey, MemoryLedger())


def test_block_of_twelve_is_answered():
    """4,096 combinations, of which the radius makes many alike; every value is a category."""
    names = "abcdefghijkl"
    survey = blocks(block(*map(in_block, names), odds="20", radius=5))
    me, _ = respondent(survey, MemoryLedger())
    report = parse_report(me.answer(dict.fromkeys(names, "yes"))["body"].encode())
    assert set(report.values) <= {0, 1}
    assert len(report.values) == len(names)
