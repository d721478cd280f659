"""In what an audit samples, an honest client raises an alarm at most as often as ``--alpha`` says."""

import pytest
from sottovoce.audit.check import FAILED
from sottovoce.audit.run import Order, sampled
from sottovoce.shared.parse_survey import parse_survey

from tests.documents import one_of, question, survey

ALPHA = 0.05
SURVEY = parse_survey(survey(question({"name": "coin_flip"}), {**one_of(3, {"epsilon": "1"}), "name": "three"}))


def alarms(audits: int, reports: int) -> int:
    """In how many audits of the honest client, with so many reports of each person, some sampled part fails."""
    order = Order(SURVEY, reports, ALPHA)
    return sum(any(check.outcome == FAILED for check in sampled(order)) for _ in range(audits))


def test_honest_client_raises_few_alarms() -> None:
    """Of 25 audits at alpha .05 not 7: as many would come once in 6,000 times if each had its whole alpha."""
    assert alarms(25, 60) < 7


@pytest.mark.slow
@pytest.mark.parametrize("reports", [100, 300, 1_000])
def test_honest_client_raises_alarms_at_most_as_often_as_alpha_says(reports: int) -> None:
    """Of 400 audits at alpha .05 no more than 32: 20, and two and three quarters of a standard deviation."""
    found = alarms(400, reports)
    print(f"{found} alarms in 400 audits with {reports} reports of each person")

    assert found <= 32
