"""The promise on the wire: of a known truth nothing is seen but what the channel lets through."""

from typing import Any

import pytest
from sottovoce.client import perturb
from sottovoce.shared.spec import Question

from tests.blocks import block, in_block
from tests.surveys import every_type, survey
from tests.unit.audit.test_blocks import separate
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
        return question.options[round(share * (len(question.options) - 1))]
    number = grid.text(round(share * grid.steps))
    return dict.fromkeys(question.options, number) if question.kind.truth == "numbers" else number


TRUTHS = [{question.name: answer_to(question, share) for question in ASKED.questions} for share in (0, 0.4, 1)]
# Public answers are sent as they are, so they are the same for everybody here.
TRUTHS = [{**truth, **{q.name: TRUTHS[0][q.name] for q in ASKED.questions if q.mechanism is None}} for truth in TRUTHS]


def test_reports_tell_what_the_channel_lets_through() -> None:
    """Every mechanism, also that of a block; three truths, 500 people each."""
    check(ASKED, TRUTHS, watch(ASKED, TRUTHS, 500))


def test_whole_visit_looks_the_same_for_every_truth() -> None:
    """Survey, then report, on a connection of their own: two requests, and the same heads."""
    seen = watch(ASKED, TRUTHS, 10, whole=True)

    check_form(ASKED, seen)
    assert {len(person.requests) for person in seen} == {2}


def test_client_that_draws_each_question_of_a_block_by_itself_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its questions has its own frequencies, and their combinations have not."""
    asked = survey(questions=[block(in_block("smokes"), in_block("drinks"))])
    truths = [{"smokes": "no", "drinks": "no"}, {"smokes": "yes", "drinks": "no"}]
    check_frequencies(asked, truths, watch(asked, truths, 1000))
    monkeypatch.setattr(perturb.block, "randomize", separate)
    with pytest.raises(AssertionError, match="another frequency"):
        check_frequencies(asked, truths, watch(asked, truths, 1000))


def test_time_does_not_tell_the_truth() -> None:
    """Ranks of the time that the client takes, 300 people of each truth, in random order."""
    coin = survey(questions=ASKED.document["questions"][:1])
    check_times(watch(coin, [{"ever": "no"}, {"ever": "yes"}], 300))


@pytest.mark.slow
def test_twenty_thousand_reports_of_each_truth_tell_no_more() -> None:
    """Every mechanism, three truths, 20,000 people each."""
    check(ASKED, TRUTHS, watch(ASKED, TRUTHS, 20_000))
