"""The runs that are planned for whole clients hold every answer, every pair and every report, and end as planned."""

import io
from datetime import UTC, datetime
from itertools import combinations, product

import pytest
from sottovoce.audit.javascript_way import form_document
from sottovoce.audit.runs import Run, plan_runs
from sottovoce.audit.test_keys import MODULI
from sottovoce.audit.waiting import present_of
from sottovoce.client.delivery import draw_send_at
from sottovoce.client.draws import Draws
from sottovoce.client.memo import draw_memo
from sottovoce.client.page import assemble
from sottovoce.client.question_sample import draw_asked
from sottovoce.client.redemption import prepare
from sottovoce.client.respondent import encode, randomize
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.redemption import spell_modulus
from sottovoce.shared.report import Report
from sottovoce.shared.spec import Survey

from tests import documents
from tests.absences import absences, by_hand, either
from tests.surveys import every_type, survey

SIGNED = survey(ask=1, access={"blind": [spell_modulus(MODULI[0])]}, privacy={"send_within_hours": 24})


def report_of(asked: Survey, run: Run) -> tuple[Report, bytes]:
    """What the agreed client makes of a tape, and the bytes that it leaves."""
    source = io.BytesIO(run.tape)
    draws = Draws(source.read)
    places = draw_asked(asked, draws)
    ids = [each.report_id for each in prepare(asked.moduli, draws)]
    memo = draw_memo(asked, draws) if asked.memoized else None
    report = randomize(asked, encode(asked, run.answers, places), draws, memo=memo, report_id=(ids or [""])[0])
    draw_send_at(asked, 0, draws, datetime.fromtimestamp(present_of(asked, 0), UTC))
    return report, source.read()


@pytest.mark.parametrize(
    "asked",
    [survey(), survey(ask=1), absences(), survey(name="every", questions=every_type()), SIGNED],
    ids=["one", "ask", "absences", "every", "signed"],
)
def test_every_run_ends_in_its_vector(asked: Survey) -> None:
    """The agreed client reads the whole tape and reports what was planned, whatever is answered."""
    plan = plan_runs(asked, quick=True)

    assert plan.unreached == 0
    for vector in plan.vectors:
        for run in vector.runs:
            report, rest = report_of(asked, run)
            assert (report.values, report.report_id, rest) == (vector.outputs, vector.report_id, b"")


def test_all_answers_pairs_and_reports_are_tried() -> None:
    """In each of eight vectors, where the domains are small; refusals and what is hidden by them too."""
    asked = absences()
    plan = plan_runs(asked)

    assert (plan.whole, plan.unreached, len(plan.vectors)) == (True, 0, 16)
    private = [asked.questions[index] for index in asked.private]
    for vector in plan.vectors[:8]:
        for one, other in combinations(private, 2):
            tried = {tuple(str(run.answers.get(each.name)) for each in (one, other)) for run in vector.runs}
            every = [{str(run.answers.get(each.name)) for run in vector.runs} for each in (one, other)]
            assert tried == set(product(*every))
    for place, question in enumerate(asked.questions):
        if question.mechanism is not None:
            seen = {vector.outputs[place] for vector in plan.vectors}
            assert seen == {y for y in range(question.largest + 1) if question.admits(y)}
    answered = [run.answers for vector in plan.vectors for run in vector.runs]
    assert {answers.get("smokes") for answers in answered} == {"yes", "no", None}
    assert any("smokes" not in answers for answers in answered)


def test_every_digit_stands_at_every_place_of_an_id() -> None:
    """A client that looks for one shows itself; of two neighbours each is the other with all bits turned round."""
    ids = [vector.report_id for vector in plan_runs(survey()).vectors]

    assert all({identity[place] for identity in ids[:16]} == {*"0123456789abcdef"} for place in range(32))
    for one, other in zip(ids[::2], ids[1::2], strict=False):
        assert int(one, 16) ^ int(other, 16) == (1 << 128) - 1
    assert len({*ids}) == len(ids)


def test_reports_of_two_questions_do_not_go_together() -> None:
    """Every pair of reports that any two questions can have, where they are few: none stands in for the other's."""
    plan = plan_runs(either())
    places = [place for place, question in enumerate(either().questions) if question.mechanism is not None]

    for one, other in combinations(places, 2):
        assert {(vector.outputs[one], vector.outputs[other]) for vector in plan.vectors} == set(
            product((0, 1), repeat=2)
        )


def test_what_is_not_tried_is_said() -> None:
    """A number with very many steps; one that draws so much that it cannot be led."""
    grid = documents.number(0, 900, 1, {"name": "geometric", "ratio": "999/1000"})
    plan = plan_runs(parse_survey(documents.survey({**grid, "name": "far"}, *survey().document["questions"])))

    assert (plan.unsteered, plan.whole) == (("far",), False)
    assert "of far one answer only" in plan.scope
    assert len({vector.outputs[0] for vector in plan.vectors}) == 1


def test_quick_plan_is_no_whole_one() -> None:
    """It has fewer vectors than a question has reports."""
    assert (plan_runs(survey()).whole, plan_runs(survey(), quick=True).spread) == (True, ("reason",))


def test_quick_plan_fills_the_form_in_a_few_times() -> None:
    """Some runs of each vector, ten times fewer than else: the form's own steps are what takes longest."""
    asked, files = survey(questions=every_type()), assemble()
    planned = [form_document(asked, plan_runs(asked, quick), files) or {} for quick in (True, False)]
    through = [{len(vector["runs"]) for vector in each["plan"]["vectors"]} for each in planned]

    assert through == [{8}, {10}]
    assert (plan_runs(asked, quick=True).forms, plan_runs(asked).forms) == (16, 160)


def test_nothing_is_steered_where_people_toss_themselves() -> None:
    """The device draws nothing but the id."""
    assert plan_runs(parse_survey(documents.survey(*by_hand(), privacy={"procedure": "own_coin"}))).vectors == ()


def test_plan_is_always_the_same() -> None:
    """So that a finding can be found again."""
    assert plan_runs(survey()) == plan_runs(survey())
