"""Random arms on the device: drawn once by their weights, kept by name, reported as a public value of their own."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from sottovoce.aggregator.intake.admission import check_values
from sottovoce.client.draws import Draws
from sottovoce.client.file_ledger import FileLedger
from sottovoce.client.ledger import MemoryLedger
from sottovoce.client.question_sample import draw_arm, draw_asked
from sottovoce.client.respondent import Respondent, randomize
from sottovoce.client.transport import Transport
from sottovoce.shared.errors import AnswerError, BudgetExhausted, ReportRejected
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.report import parse_report

from tests.documents import Document, survey
from tests.property.channels import distribution
from tests.unit.client.fakes import Session, acknowledge
from tests.vectors.arms import COIN, arms, asks, drawn_arms, three_arms, two_arms

ANSWERS = {"year": "c0", "cheated": "yes", "cheated_direct": "yes"}


def respondent(document: Document, ledger: object, **options: object) -> tuple[Respondent, Session]:
    session = Session(acknowledge)
    asked = parse_survey(document)
    return Respondent(asked, Transport("https://a.example", session, lambda _: None), ledger, **options), session  # type: ignore[arg-type]


@pytest.mark.parametrize("weights", [(1, 1), (1, 4, 2), (3, 1, 1, 1000)])
def test_law_of_the_arm_is_its_weights(weights: tuple[int, ...]) -> None:
    """Computed from the code, exactly."""
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
    """By the device, before anything is drawn, and by the aggregator."""
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
