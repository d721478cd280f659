"""The promise on the wire: of a known truth nothing is seen but what the channel lets through."""

from collections.abc import Mapping
from typing import Any

import pytest
from sottovoce.client import Respondent, randomizers
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Question, Survey

from tests.blocks import block, in_block
from tests.surveys import every_type, survey
from tests.unit.audit.test_question_audit import separate
from tests.vectors.arms import three_arms, two_arms
from tests.wire import check, check_form, check_frequencies, check_times, watch

BLOCK = block(in_block("smokes"), in_block("drinks", 3), odds="20/19")
ASKED = survey(name="every", questions=[*every_type(), BLOCK])


def answer_to(question: Question, share: float) -> Any:
    """An answer this far up the scale: 0 is the first option, nothing or the least number, 1 the last or largest."""
    if question.kind.truth == "options":
        most = round(share * question.domain.max_choices)
        return list(question.options[len(question.options) - most :])
    grid = question.domain.grid
    if grid is None:
        named = list(question.domain.places)
        return named[round(share * (len(named) - 1))]
    number = grid.text(round(share * grid.steps))
    return dict.fromkeys(question.options, number) if question.kind.truth == "numbers" else number


TRUTHS = [{question.name: answer_to(question, share) for question in ASKED.questions} for share in (0, 0.4, 1)]
# Public answers are sent as they are, so they are the same for everybody here.
TRUTHS = [{**truth, **{q.name: TRUTHS[0][q.name] for q in ASKED.questions if q.mechanism is None}} for truth in TRUTHS]


def test_reports_tell_what_the_channel_lets_through() -> None:
    check(ASKED, TRUTHS, watch(ASKED, TRUTHS, 500))


def test_whole_visit_looks_the_same_for_every_truth() -> None:
    seen = watch(ASKED, TRUTHS, 10, whole=True)

    check_form(ASKED, seen)
    assert {len(person.requests) for person in seen} == {2}


def experiment() -> Survey:
    """Three arms of unequal weights, in which values take one digit or seven; a matrix and a block."""
    document = {key: value for key, value in three_arms().items() if key not in {"waves", "arms_per_wave"}}
    return parse_survey(document)


EXPERIMENT = experiment()
IN_ARMS = [{question.name: answer_to(question, share) for question in EXPERIMENT.questions} for share in (0, 1)]
IN_ARMS = [{**truth, "income": "1000000"} for truth in IN_ARMS]


def test_reports_of_all_arms_look_the_same() -> None:
    check(EXPERIMENT, IN_ARMS, watch(EXPERIMENT, IN_ARMS, 700))


def test_client_that_chooses_its_arm_by_the_answer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = parse_survey(two_arms())
    truths = [{"year": "c0", "cheated": answer, "cheated_direct": "no"} for answer in ("no", "yes")]
    honest = Respondent.encode

    def chosen(self: Respondent, answers: Mapping[str, object]) -> Any:
        if answers["cheated"] == "yes":
            self.__dict__ |= {"arm": "protected", "places": self.survey.places_by_arm[1]}
        return honest(self, answers)

    monkeypatch.setattr(Respondent, "encode", chosen)
    with pytest.raises(AssertionError, match="another frequency"):
        check_frequencies(asked, truths, watch(asked, truths, 200))


def test_client_that_draws_each_question_of_a_block_by_itself_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its questions has its own frequencies, and their combinations have not."""
    asked = survey(questions=[block(in_block("smokes"), in_block("drinks"))])
    truths = [{"smokes": "no", "drinks": "no"}, {"smokes": "yes", "drinks": "no"}]
    monkeypatch.setattr(randomizers, "randomize_joint_rr", separate)
    with pytest.raises(AssertionError, match="another frequency"):
        check_frequencies(asked, truths, watch(asked, truths, 1000))


def test_reports_of_a_drawn_block_look_the_same() -> None:
    asked = survey(questions=[block(*map(in_block, "abc"), odds="20") | {"ask": 2}])
    truths = [dict.fromkeys("abc", answer) for answer in ("no", "yes")]
    check(asked, truths, watch(asked, truths, 600))


def test_time_does_not_tell_the_truth() -> None:
    """Ranks of the time that the client takes, 300 people of each truth, in random order."""
    coin = survey(questions=ASKED.document["questions"][:1])
    check_times(watch(coin, [{"ever": "no"}, {"ever": "yes"}], 300))


@pytest.mark.slow
def test_twenty_thousand_reports_of_each_truth_tell_no_more() -> None:
    check(ASKED, TRUTHS, watch(ASKED, TRUTHS, 20_000))
