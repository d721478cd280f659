"""The audit of a block: the honest client passes, and clients that break what is promised of it do not."""

from collections.abc import Callable, Sequence

import pytest
from sottovoce.audit.check import FAILED, PASSED
from sottovoce.audit.histories import check_histories, histories_of
from sottovoce.audit.run import Order, audit
from sottovoce.client import randomizers
from sottovoce.client.draws import Draws
from sottovoce.client.randomizers import randomize_joint_rr as honest
from sottovoce.shared.mechanisms.joint_rr import JointMember, JointRR
from sottovoce.shared.parse_survey import parse_survey
from sottovoce.shared.spec import Survey

from tests.documents import names, survey
from tests.vectors.blocks import COIN, asks, block

Randomize = Callable[[JointRR, Sequence[int], Draws], Sequence[int]]


def blocks() -> Survey:
    """A block with a condition inside and one on a question outside, and a coin."""
    hidden = asks("b", "select_one", choices=names(3), absent_category=True, visible_if={"a": "yes"})
    outside = asks("c", when_absent="no", visible_if={"coin": "yes"})
    return parse_survey(survey(asks("coin", mechanism=COIN), block("three", "9", 1, asks("a"), hidden, outside)))


def separate(joint: JointRR, values: Sequence[int], draws: Draws) -> Sequence[int]:
    """Each question with its own channel: right one by one, and wrong together."""
    members = [JointMember(joint, position, "three") for position in range(len(values))]
    return tuple(draws.pick(member.weights(value)) for member, value in zip(members, values, strict=True))


def leaking(joint: JointRR, values: Sequence[int], draws: Draws) -> Sequence[int]:
    first, _, *rest = honest(joint, values, draws)
    return (first, values[1], *rest)


def swapping(joint: JointRR, values: Sequence[int], draws: Draws) -> Sequence[int]:
    """A report that reads more where the first answer is yes."""
    reported = honest(joint, values, draws)
    return honest(joint, values, draws) if values[0] else reported


@pytest.mark.parametrize("planted", [separate, leaking, swapping])
def test_planted_client_is_flagged(planted: Randomize, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the exact law of what it reports for all combinations of the answers."""
    histories, lacking = histories_of(blocks())
    assert ([history.subject for history in histories], lacking) == (["three together"], [])
    assert [check.outcome for check in check_histories(histories)] == [PASSED]
    monkeypatch.setattr(randomizers, "randomize_joint_rr", planted)
    assert [check.outcome for check in check_histories(histories)] == [FAILED]


def test_audit_of_a_survey_with_a_block_passes() -> None:
    """Both clients: integers, the law of the block, what is refused, and whole runs."""
    checks = audit(Order(blocks(), quick=True), lambda _name, _total: lambda _share: None)
    assert [check for check in checks if check.outcome == FAILED] == []
    assert {check.part for check in checks if check.subject == "three together"} == {"python", "javascript"}
