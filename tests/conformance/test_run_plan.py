"""The runs that are planned for whole clients hold every answer, every pair and every report, and end as planned."""

import io
import itertools
from datetime import UTC, datetime

import pytest
from sottovoce.client.draws import Draws
from sottovoce.client.memo import draw_memo
from sottovoce.client.question_sample import draw_asked
from sottovoce.client.redemption import prepare
from sottovoce.client.respondent import encode, randomize
from sottovoce.client.waiting import draw_send_at
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey

from tests import documents
from tests.absences import absences, by_hand
from tests.conformance.run_plan import Run, VectorPlan, plan_runs, present_of
from tests.conformance.signing_keys import MODULI
from tests.conformance.wire_runs import CORRECTION, EARLIER, FORGET, IN_VAIN, PLAIN, RETRY, WITHDRAW, course_of
from tests.surveys import every_type, survey

SIGNED = survey(ask=1, access={"blind": [spell_modulus(MODULI[0])]}, privacy={"send_within_hours": 24})

TIMED = survey(privacy={"send_at_seconds": 180})


def report_of(asked: Survey, vector: VectorPlan, run: Run) -> tuple[Report, bytes]:
    """What the agreed client makes of a tape, and the bytes that it leaves."""
    source = io.BytesIO(vector.tape(run))
    draws = Draws(source.read)
    places = draw_asked(asked, draws)
    ids = [each.report_id for each in prepare(asked.moduli, draws)]
    memo = draw_memo(asked, draws) if asked.memoized else None
    report = randomize(asked, encode(asked, run.answers, places), draws, memo=memo, report_id=(ids or [""])[0])
    present = datetime.fromtimestamp(present_of(asked, 0) or 0, UTC)
    draw_send_at(asked, 0, draws, present, present)
    return report, source.read()


@pytest.mark.parametrize(
    "asked",
    [survey(), survey(ask=1), absences(), survey(name="every", questions=every_type()), SIGNED, TIMED],
    ids=["one", "ask", "absences", "every", "signed", "set moments"],
)
def test_every_run_ends_in_its_vector(asked: Survey) -> None:
    plan = plan_runs(asked, quick=True)

    for vector in plan.vectors:
        for run in vector.runs:
            report, rest = report_of(asked, vector, run)
            assert (report.values, report.report_id, rest) == (run.outputs, vector.id_in(asked, 0), b"")


def test_all_answers_and_reports_are_tried() -> None:
    """Where the domains are small; refusals and what is hidden by them too."""
    asked = absences()
    plan = plan_runs(asked)
    runs = [run for vector in plan.vectors for run in vector.runs]

    assert plan.spread == ("place",)
    for place, question in enumerate(asked.questions):
        if question.mechanism is not None and question.name not in plan.spread:
            seen = {run.outputs[place] for run in runs}
            assert seen - {None} == {y for y in range(question.largest + 1) if question.admits(y)}
    assert {run.answers.get("smokes") for run in runs} == {"yes", "no", None}
    assert any("smokes" not in run.answers for run in runs)


def test_every_digit_stands_at_every_place_of_an_id() -> None:
    """A client that looks for one shows itself; of two neighbours each is the other with all bits turned round."""
    ids = [vector.id_in(survey(), 0) for vector in plan_runs(survey()).vectors]

    assert all({identity[place] for identity in ids[:16]} == {*"0123456789abcdef"} for place in range(32))
    for one, other in zip(ids[::2], ids[1::2], strict=False):
        assert int(one, 16) ^ int(other, 16) == (1 << 128) - 1
    assert len({*ids}) == len(ids)


def test_spread_is_named() -> None:
    grid = documents.number(0, 900, 1, {"name": "geometric", "ratio": "999/1000"})
    plan = plan_runs(parse_survey(documents.survey({**grid, "name": "far"}, *survey().document["questions"])))

    assert plan.spread == ("far",)
    assert "but of far a spread" in plan.scope


def test_what_people_toss_themselves_is_sent_as_it_is() -> None:
    asked = parse_survey(documents.survey(*by_hand(), privacy={"procedure": "own_coin"}))
    plan = plan_runs(asked)
    runs = [run for vector in plan.vectors for run in vector.runs]

    assert plan.spread == ()
    assert {run.tape for run in runs} == {b""}
    assert {run.outputs[0] for run in runs} == {0, 1}
    assert all(run.outputs == asked.encode(run.answers, range(len(asked.questions))) for run in runs)


def test_plan_is_always_the_same() -> None:
    """So that a finding can be found again."""
    assert plan_runs(survey()) == plan_runs(survey())


def test_each_course_ends_with_a_withdrawal_and_with_forgetting() -> None:
    """Whether the number of kinds is odd or even, no kind meets one end only."""
    asked = survey()
    courses = [course_of(asked, vector) for vector in plan_runs(asked).vectors]
    kinds = (PLAIN, RETRY, CORRECTION, IN_VAIN, EARLIER)

    assert {(course.kind, course.end) for course in courses} == set(itertools.product(kinds, (FORGET, WITHDRAW)))
